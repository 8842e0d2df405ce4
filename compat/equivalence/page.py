"""The result of `verify` as one self-contained HTML page: no script, no network, light and dark, printable."""

from __future__ import annotations

import ast
import html
import math
from typing import Any

_STYLE = """
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#f3f4f6;--line:#d0d7de;--good:#116329;--bad:#b42318;
--open:#7a4d00}
@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#161b22;--line:#30363d;--good:#56d364;
--bad:#ff7b72;
--open:#e3b341}
}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:72rem;margin:2rem auto;
padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 .5rem}
.verdict{font-size:1.25rem;padding:.8rem 1rem;border-left:.4rem solid;background:var(--soft)}
td>.good,td>.bad,td>.open{white-space:nowrap}
.good{color:var(--good)}
.bad{color:var(--bad)}
.open{color:var(--open)}
table{border-collapse:collapse;width:100%;margin:.6rem 0}
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:anywhere}
th{background:var(--soft)}
code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:var(--soft);padding:.6rem;overflow:auto;
white-space:pre-wrap}
section{border-top:1px solid var(--line);margin-top:1.5rem}
figure{display:inline-block;margin:.4rem 1rem .4rem 0}
figcaption{font-size:12px}
summary{cursor:pointer;font-weight:600}
svg{background:var(--soft)}
svg text{fill:var(--fg)}
@media print{body{max-width:none;margin:0}
details>*{display:block}
section{break-inside:avoid-page}
}
"""
_CLASS = {"proved": "good", "bitwise": "good", "close": "good", "different": "bad", "unchecked": "open"}
_MARK = {"proved": "✓", "bitwise": "✓", "close": "≈", "different": "✗", "unchecked": "?"}


def page(document: dict[str, Any]) -> str:
    """The whole page for what `verify --output-format json` prints."""
    results, unchecked = document["results"], document["unchecked"]
    bad = [r for r in results if r["verdict"] == "different"]
    unsure = len(unchecked) + sum(r["verdict"] == "unchecked" for r in results)
    if bad:
        kind, line = (
            "bad",
            f"✗ {len(bad)} of {len(results)} comparisons differ: {', '.join(r['name'] for r in bad[:6])}",
        )
    elif unsure:
        kind, line = "open", f"? {len(results)} comparisons, none differs; {unsure} not checked"
    elif results:
        proved = sum(r["verdict"] == "proved" for r in results)
        kind, line = "good", f"✓ all {len(results)} comparisons are equal, {proved} of them proved"
    else:
        kind, line = "open", "? nothing was compared"
    parts = [
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width,initial-scale=1'><title>Linen and NNX side by side</title>",
        f"<style>{_STYLE}</style></head><body><h1>Linen and NNX side by side</h1>",
        f"<p class='verdict {kind}'>{_text(line)}</p>",
        "<p><small>proved: equal for every input of these shapes. bitwise, close: run and compared. "
        "unchecked: not compared, with the reason.</small></p>",
        _overview(results),
        *(_module(r) for r in results),
        _unchecked(unchecked),
        "</body></html>",
    ]
    return "\n".join(parts)


def _text(value: Any) -> str:
    return html.escape(str(value))


def _mark(verdict: str) -> str:
    return f"<span class='{_CLASS[verdict]}'>{_MARK[verdict]} {verdict}</span>"


def _overview(results: list[dict[str, Any]]) -> str:
    if not results:
        return ""
    rows = "".join(
        f"<tr><td><a href='#m{i}'>{_text(r['name'])}</a></td><td>{_mark(r['verdict'])}</td>"
        f"<td>{', '.join(_text(c['name']) + ' ' + _mark(c['verdict']) for c in r['checks'])}</td></tr>"
        for i, r in enumerate(_numbered(results))
    )
    return f"<table><thead><tr><th>module<th>verdict<th>checks</tr></thead><tbody>{rows}</tbody></table>"


def _numbered(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for i, r in enumerate(results):
        r["number"] = i
    return results


def _module(r: dict[str, Any]) -> str:
    parts = [f"<section id='m{r['number']}'><h2>{_text(r['name'])} {_mark(r['verdict'])}</h2>"]
    if r.get("origin"):
        parts.append(f"<p>Example from <code>{_text(r['origin'])}</code>, {r['seconds']} s</p>")
    rows = "".join(
        f"<tr><td>{_text(c['name'])}</td><td>{_mark(c['verdict'])}</td><td>{_text(c['detail'])}</td></tr>"
        for c in r["checks"]
    )
    parts.append(f"<table><thead><tr><th>check<th>verdict<th>detail</tr></thead><tbody>{rows}</tbody></table>")
    for check in r["checks"]:
        parts.append(_divergences(check))
        parts.append(_histogram(check))
    parts.append(_losses(r.get("losses") or {}))
    parts.append(_costs(r.get("costs") or {}))
    if r["variables"]:
        parts.append(_variables(r))
    return "".join([*parts, "</section>"])


def _divergences(check: dict[str, Any]) -> str:
    found = check.get("divergences") or []
    if not found:
        return ""
    items = "".join(
        f"<h4>{_text(check['name'])}: where {_text(d['output'])} parts: {_text(d['reason'])}</h4>"
        f"<pre>Linen: {_text(d['left']['what'])}\n       {_text(d['left']['source'])}\n"
        f"NNX:   {_text(d['right']['what'])}\n       {_text(d['right']['source'])}</pre>"
        for d in found[:3]
    )
    return items


def _histogram(check: dict[str, Any]) -> str:
    """Differences of all elements by order of magnitude, one bar for each power of ten from 1e-12."""
    counts = [0] * 13
    for difference in check.get("differences") or []:
        for i, n in enumerate(difference.get("histogram") or []):
            counts[i] += n
    if not any(counts):
        return ""
    top = max(math.log10(n + 1) for n in counts)
    bars = "".join(
        f"<rect x='{10 + 30 * i}' y='{110 - 90 * math.log10(n + 1) / top:.1f}' width='24' "
        f"height='{90 * math.log10(n + 1) / top:.1f}' fill='#4f83cc'><title>{n}</title></rect>"
        f"<text x='{10 + 30 * i}' y='124' font-size='9'>1e{i - 12}</text>"
        for i, n in enumerate(counts)
    )
    return (
        f"<figure><svg width='410' height='130' role='img' aria-label='differences'>{bars}</svg>"
        f"<figcaption>{_text(check['name'])}: elements that differ, by size of the difference (logarithmic)"
        "</figcaption></figure>"
    )


def _losses(losses: dict[str, list[float]]) -> str:
    """Loss curves of both sides in one picture."""
    series = {k: [x for x in v if math.isfinite(x)] for k, v in losses.items() if len(v) > 1}
    if not series or not all(series.values()):
        return ""
    low, high = min(map(min, series.values())), max(map(max, series.values()))
    span = (high - low) or 1.0
    lines = []
    for (name, values), color, dash in zip(series.items(), ("#4f83cc", "#d9822b"), ("", "6 4")):
        points = " ".join(
            f"{10 + 380 * i / (len(values) - 1):.1f},{110 - 95 * (v - low) / span:.1f}" for i, v in enumerate(values)
        )
        lines.append(
            f"<polyline points='{points}' fill='none' stroke='{color}' stroke-width='2' stroke-dasharray='{dash}'>"
            f"<title>{_text(name)}</title></polyline>"
        )
    legend = ", ".join(f"{_text(k)}: {v[0]:.6g} to {v[-1]:.6g}" for k, v in series.items())
    return (
        f"<figure><svg width='400' height='120' role='img' aria-label='loss'>{''.join(lines)}</svg>"
        f"<figcaption>loss, {legend}</figcaption></figure>"
    )


def _costs(costs: dict[str, Any]) -> str:
    """FLOPs, memory, collectives and shardings of the compiled programs."""
    from .cost_table import rows

    found = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows(costs))
    head = "<tr><th>compiled<th>Linen<th>NNX</tr>"
    return f"<table><thead>{head}</thead><tbody>{found}</tbody></table>" if found else ""


def _variables(r: dict[str, Any]) -> str:
    rows = []
    with_specs = any("linen_spec" in v for v in r["variables"])
    for v in r["variables"]:
        same = v["linen_shape"] == v["nnx_shape"]
        cells = [v["linen"], v["nnx"], v["linen_shape"], v["nnx_shape"]]
        row = "".join(f"<td><code>{_text(c)}</code></td>" for c in cells)
        if with_specs:
            one, two = v.get("linen_spec", ""), v.get("nnx_spec", "")
            same = same and one == two
            row += f"<td><code>{_text(one)}</code>{_layout(v['linen_shape'], one, r['mesh'])}</td>"
            row += f"<td><code>{_text(two)}</code>{_layout(v['nnx_shape'], two, r['mesh'])}</td>"
        rows.append(f"<tr class='{'' if same else 'bad'}'>{row}</tr>")
    specs = "<th>Linen spec<th>NNX spec" if with_specs else ""
    head = f"<tr><th>Linen key<th>NNX path<th>Linen<th>NNX{specs}</tr>"
    return (
        f"<details open><summary>{len(rows)} variables</summary><table><thead>{head}</thead>"
        f"<tbody>{''.join(rows)}</tbody></table></details>"
    )


def _layout(shape: str, spec: str, mesh: dict[str, int]) -> str:
    """A picture of how the last two dimensions of an array are cut over the mesh: one colour for each part.

    Parts beyond 16 in a direction are drawn as 16; the caption has the true numbers.
    """
    if not mesh or "[" not in shape:
        return ""
    dims = ast.literal_eval(shape[shape.index("[") :])
    entries = _entries(spec)
    parts = [math.prod(mesh.get(a, 1) for a in (entries[i] if i < len(entries) else ())) for i in range(len(dims))]
    parts = [1, 1, *parts]
    rows, columns = min(parts[-2], 16), min(parts[-1], 16)
    cells = "".join(
        f"<rect x='{80 * c / columns:.1f}' y='{48 * i / rows:.1f}' width='{80 / columns:.1f}' height='{48 / rows:.1f}' "
        f"fill='hsl({(210 + 360 * (i * columns + c) / max(1, rows * columns)) % 360:.0f} 55% 55%)' stroke='var(--bg)'/>"
        for i in range(rows)
        for c in range(columns)
    )
    total = math.prod(parts)
    copies = math.prod(mesh.values()) // max(1, total)
    return (
        f"<figure><svg width='80' height='48' role='img' aria-label='layout over the mesh'>{cells}</svg>"
        f"<figcaption>{total} parts, {copies} copies of each</figcaption></figure>"
    )


def _entries(spec: str) -> list[tuple[str, ...]]:
    """`PartitionSpec('data', None, ('x', 'y'))` as axis names for each dimension."""
    inside = spec[spec.index("(") + 1 : spec.rindex(")")] if "(" in spec else ""
    try:
        values = ast.literal_eval(f"({inside},)") if inside.strip(" ,") else ()
    except (ValueError, SyntaxError):
        return []
    return [e if isinstance(e, tuple) else (e,) if isinstance(e, str) else () for e in values]


def _unchecked(unchecked: list[dict[str, Any]]) -> str:
    if not unchecked:
        return ""
    rows = "".join(
        f"<tr><td>{_text(u['name'])}</td><td><code>{_text(u['file'])}</code></td><td>{_text(u['reason'])}"
        f"{'<pre>' + _text(u['remedy']) + '</pre>' if u['remedy'] else ''}</td></tr>"
        for u in unchecked
    )
    return (
        "<section><h2>Not checked</h2><table><thead><tr><th>module<th>where<th>why, and what to add</tr></thead>"
        f"<tbody>{rows}</tbody></table></section>"
    )
