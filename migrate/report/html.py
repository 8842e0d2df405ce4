"""The report as one self-contained page: no scripts, nothing fetched, light and dark, printable."""

from __future__ import annotations

import difflib
from html import escape
from importlib import resources

from ..diagnostics import Severity
from ..plan import Outcome
from .model import FileReport, RunReport
from .text import place

_MAX_DIFF = 400  # lines of a file's diff that the page shows


def as_html(report: RunReport) -> str:
    style = resources.files(__package__).joinpath("page.css").read_text()
    body = "\n".join([_head(report), _classes(report), *_findings(report), *[_diff(file) for file in report.changed]])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Linen to NNX migration</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}\n<footer>{escape(report.tool)}, {report.seconds:.1f} s</footer>\n</main>\n</body>\n</html>\n"
    )


def _head(report: RunReport) -> str:
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    if errors:
        verdict, kind = f"{_plural(errors, 'error')}; the rest was migrated", "bad"
    elif report.left_over:
        verdict, kind = f"Migrated, {_plural(warnings, 'place')} left for a person", "fair"
    elif report.changed:
        verdict, kind = "Migrated, nothing left for a person", "good"
    else:
        verdict, kind = "Nothing to migrate", "good"
    outcomes = {o: sum(1 for plan in report.classes if plan.outcome is o) for o in Outcome}
    tiles = [(len(report.changed), "files changed"), (len(report.files), "files seen")]
    tiles += [(count, f"modules {outcome.value}") for outcome, count in outcomes.items()]
    tiles.append((warnings, "left for a person"))
    cells = "".join(f"<div><b>{count}</b>{escape(label)}</div>" for count, label in tiles)
    return (
        f"<h1>Linen to NNX migration</h1>\n"
        f'<p class="verdict {kind}">{escape(verdict)}</p>\n<section class="tiles">{cells}</section>'
    )


def _classes(report: RunReport) -> str:
    if not report.classes:
        return ""
    rows = []
    for plan in sorted(report.classes, key=lambda p: (p.path, p.line)):
        added = "<br>".join(f"<code>{escape(a.name)} = {escape(a.origin)}</code>" for a in plan.added_arguments)
        reason = f"{escape(plan.code)} {escape(plan.reason)}".strip()
        rows.append(
            f"<tr><td><code>{escape(plan.qualname)}</code></td><td>{escape(plan.path)}:{plan.line}</td>"
            f'<td><span class="badge {plan.outcome.value}">{plan.outcome.value}</span></td>'
            f"<td>{added}</td><td>{reason}</td></tr>"
        )
    return _table("Modules", ("module", "where", "outcome", "new arguments", "reason"), rows)


def _findings(report: RunReport) -> list[str]:
    sections = []
    for severity, title in (
        (Severity.ERROR, "Errors"),
        (Severity.WARNING, "Left for a person"),
        (Severity.INFO, "Migrated under an assumption"),
    ):
        rows = [
            f"<tr><td><code>{escape(place(file, finding))}</code></td>"
            f'<td><span class="badge {severity.value}">{escape(finding.code)}</span></td>'
            f"<td>{escape(finding.message)}</td><td>{escape(finding.help)}</td></tr>"
            for file in report.files
            for finding in file.findings
            if finding.severity is severity
        ]
        if rows:
            sections.append(_table(title, ("where", "code", "what", "what to do"), rows))
    return sections


def _table(title: str, head: tuple[str, ...], rows: list[str]) -> str:
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(rows)
    return (
        f"<h2>{escape(title)}</h2>\n"
        f'<div class="wide"><table><thead><tr>{cells}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
    )


def _diff(file: FileReport) -> str:
    before = (file.before or b"").decode("utf-8", "replace").split("\n")
    after = (file.after or b"").decode("utf-8", "replace").split("\n")
    lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    shown = []
    for line in lines[:_MAX_DIFF]:
        kind = {"+": "ins", "-": "del", "@": "hunk"}.get(line[:1], "")
        shown.append(f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line))
    if len(lines) > _MAX_DIFF:
        shown.append(f"... {len(lines) - _MAX_DIFF} more lines")
    text = "\n".join(shown)
    new = " (new)" if file.before is None else ""
    return f"<details><summary>{escape(str(file.path))}{new}</summary><pre>{text}</pre></details>"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
