"""`Net(8, name="net")` and `Net(8, parent=None)` outside of modules: no variable is called by such a name.

The NNX class has neither argument, unless it reads `self.name`. The nodes go from the call, too, so that what writes
calls anew does not meet them.
"""

from __future__ import annotations

import ast
import re

from ...context import FileContext
from ...edits import Span
from ...linen.flow.flow import Flow
from ...linen.project.own_name import NAME
from ...trees import subtree

_ACTS = ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom


def drop(flow: Flow, contexts: dict[str, FileContext]) -> None:
    """Take the names out of all constructions of native classes."""
    for site in flow.native_sites:
        reads = any(NAME in plan.fields for plan in flow.site_plans(site))
        gone = [k for k in site.keywords if _is_name(k) and not (reads and k.arg == NAME)]
        if not gone or any(k.arg is None for k in site.keywords):
            continue
        context = contexts[flow.site_source[site].module]
        items = sorted([*site.args, *site.keywords], key=lambda node: context.span(node).start)
        run: ast.keyword | None = None  # the first of those that go and stand side by side
        for item, behind in zip(items, [*items[1:], None], strict=True):
            run = (run or item) if item in gone else None  # type: ignore[assignment]
            if run is None or behind in gone:
                continue
            start, end = context.span(run).start, context.span(item).end
            last = _with_its_place(context.source.text, Span(start, end))
            context.replace(last if behind is None else Span(start, context.span(behind).start), code="NNX601")
            run = None
        for keyword in gone:
            site.keywords.remove(keyword)


def _with_its_place(text: str, span: Span) -> Span:
    """The last argument with a comma behind it, and with its line where it has one of its own."""
    comma = re.match(r"\s*,", text[span.end :])
    start, end = span.start, span.end + (comma.end() if comma else 0)
    blank = re.search(r"\n[ \t]*$", text[:start])
    rest = re.match(r"[ \t]*\r?(?=\n)", text[end:])
    if rest is None:
        return Span(start, end)
    if blank is None:
        return Span(len(text[:start].rstrip(" \t")), end)
    return Span(blank.start() - (text[blank.start() - 1] == "\r"), end)


def _is_name(keyword: ast.keyword) -> bool:
    if keyword.arg == "parent":
        return isinstance(keyword.value, ast.Constant) and keyword.value.value is None
    return keyword.arg == "name" and not any(isinstance(node, _ACTS) for node in subtree(keyword.value))


__all__ = ["drop"]
