"""`match self.kind:` with plain values as its patterns, said as `if`, `elif` and `else`, which the analysis follows."""

from __future__ import annotations

import ast
import dataclasses

from ..edits import EditSet
from ..linen.modules.factory_matches import is_plain
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .callees import Callee
from .rewritten import reparsed
from .strings import has_long_string


def as_conditions(_: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such statement of a class less; None where there is none."""
    if "match" not in source.words:
        return None
    for node in subtree(model):
        if isinstance(node, ast.Match) and any(isinstance(n, ast.Name) and n.id == "self" for n in subtree(node)):
            said = _said(source, node)
            if said is not None:
                edits = EditSet(source.text)
                edits.replace(source.span(node), said)
                return edits.render()
    return None


def without_matches(function: Callee) -> Callee:
    """A function that is called in the text of another, where such statements of its say conditions instead."""
    while function.kind not in ("nested", "method"):
        said = ((n, _said(function.source, n)) for n in function.nodes if isinstance(n, ast.Match))
        node, text = next(((n, text) for n, text in said if text is not None), (None, ""))
        if node is None:
            break
        edits = EditSet(function.source.text)
        edits.replace(function.source.span(node), text or "")
        source = reparsed(function.source, edits.render())
        there = [dataclasses.replace(function, node=n, source=source) for n in source.by_kind[ast.FunctionDef]]  # type: ignore[arg-type]
        same = [f for f in there if f.key == function.key]
        if len(same) != 1:
            break
        function = same[0]
    return function


def _said(source: SourceFile, node: ast.Match) -> str | None:
    parts = list(subtree(node))
    long = any(has_long_string(source, n) for n in parts)
    again = any(isinstance(n, ast.Match) for n in parts if n is not node)
    if long or again or not is_plain(node.subject):
        return None
    text, subject = source.text, source.text_of(node.subject)
    starts = [source.line_start(source.span(case.pattern).start) for case in node.cases]
    colon = text.find(":", source.span(node.subject).end)
    if text[colon + 1 : starts[0]].strip():
        return None
    outer = source.indent_of(node)
    lines: list[str] = []
    for case, start, end in zip(node.cases, starts, [*starts[1:], source.span(node).end], strict=True):
        test = _test(source, subject, case.pattern)
        if test is None or text[start : source.span(case.pattern).start].split() != ["case"]:
            return None
        if case.guard is not None:
            test = f"({test}) and ({source.text_of(case.guard)})" if test else source.text_of(case.guard)
        if not test and case is not node.cases[-1]:
            return None
        head = ("elif " if lines else "if ") + test if test else "else" if lines else "if True"
        behind = text.index(":", source.span(case.guard or case.pattern).end)
        body = source.span(case.body[0]).start
        old = text[source.line_start(body) : body]
        lines.append(head + _moved(text[behind:end], "" if old.strip() else old, outer, source.indent_unit))
    return outer.join(lines)


def _moved(text: str, old: str, outer: str, unit: str) -> str:
    """What stands behind a pattern, one level less deep; what is not as deep as the body (`old`) belongs to the next."""
    first, *more = text.split("\n")
    deep = old or "\n"  # the body may stand on the line of its pattern
    moved = [outer + (unit + line[len(old) :] if line.startswith(deep) else line.lstrip()) for line in more]
    return "\n".join([first, *[line if line.strip() else "" for line in moved]])


def _test(source: SourceFile, subject: str, pattern: ast.pattern) -> str | None:
    """The condition of a pattern, "" for `_`; None for one that takes the subject apart or binds a name."""
    if isinstance(pattern, ast.MatchValue):
        return f"{subject} == {source.text_of(pattern.value)}"
    if isinstance(pattern, ast.MatchSingleton):
        return f"{subject} is {pattern.value}"
    if isinstance(pattern, ast.MatchOr):
        tests = [_test(source, subject, inner) for inner in pattern.patterns]
        return " or ".join(t for t in tests if t) if all(tests) else None
    return "" if isinstance(pattern, ast.MatchAs) and pattern.name is None and pattern.pattern is None else None


__all__ = ["as_conditions"]
