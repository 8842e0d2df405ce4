"""`@partial(nn.scan, in_axes=(1, nn.broadcast), ...)` of a method: what is broadcast stands around the scanned function.

Linen leaves such an argument alone, a flag stays one: the function may as well find it in the method around it.
"""

from __future__ import annotations

import ast

from ..edits import EditSet, Span
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree

_PARTIAL = "functools.partial"
_SCANS = frozenset({"flax.linen.scan", "flax.linen.transforms.scan"})
_BROADCAST = frozenset({"flax.linen.broadcast", "flax.core.broadcast", "flax.core.axes_scan.broadcast"})
_COMPACT = "flax.linen.compact"


def with_flags_around(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such method of a class less; None where there is none."""
    if "broadcast" not in source.text:
        return None
    for method in [s for s in model.body if isinstance(s, ast.FunctionDef) and s.decorator_list]:
        decorator, *others = method.decorator_list
        axes = _axes(project, source, decorator)
        if axes is not None and all(project.qualname(source, other) == _COMPACT for other in others):
            assert isinstance(decorator, ast.Call)
            text = _rewritten(project, source, method, decorator, axes)
            if text is not None:
                return text
    return None


def _axes(project: Project, source: SourceFile, decorator: ast.expr) -> ast.Tuple | None:
    """The axes of the arguments of a scan that is given by keywords, where they are written out."""
    if not isinstance(decorator, ast.Call) or len(decorator.args) != 1 or any(k.arg is None for k in decorator.keywords):
        return None
    if project.qualname(source, decorator.func) != _PARTIAL or project.qualname(source, decorator.args[0]) not in _SCANS:
        return None
    found = next((k.value for k in decorator.keywords if k.arg == "in_axes"), None)
    return found if isinstance(found, ast.Tuple) else None


def _rewritten(
    project: Project, source: SourceFile, method: ast.FunctionDef, decorator: ast.Call, axes: ast.Tuple
) -> str | None:
    """The file with the method's body as a function in it, which the scan is applied to."""
    spec = method.args
    names = [a.arg for a in spec.args]
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs or len(names) != len(axes.elts) + 2:
        return None
    around = {n for n, axis in zip(names[2:], axes.elts) if project.qualname(source, axis) in _BROADCAST}
    kept = [axis for n, axis in zip(names[2:], axes.elts) if n not in around]
    body = method.body[1:] if ast.get_docstring(method, clean=False) is not None else method.body
    nodes = [n for statement in body for n in subtree(statement)]
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    outside = any(isinstance(n, ast.Name) and n.id in ("super", "__class__") for n in nodes)
    strings = any(isinstance(n, ast.Constant | ast.JoinedStr) and n.end_lineno != n.lineno for n in nodes)
    if not around or not kept or not body or around & stored or outside or strings or names[0] in around:
        return None
    if source.shares_line(body[0]) or source.shares_line(decorator):
        return None
    name = "scanned"
    while name in source.words:
        name += "_"
    newline, unit, indent = source.newline, source.indent_unit, source.indent_of(body[0])
    inner = [n for n in names if n not in around]
    said = [source.text_of(axis) for axis in kept]
    options = [
        f"in_axes=({', '.join(said)},)" if k.value is axes else f"{k.arg}={source.text_of(k.value)}"
        for k in decorator.keywords
    ]
    scan = f"{source.text_of(decorator.args[0])}({', '.join([name, *options])})"
    start, end = _behind_comments(source, body[0]), source.line_span(body[-1]).end
    lines = source.text[start:end].split("\n")
    edits = EditSet(source.text)
    edits.replace(source.line_span(decorator), "")
    moved = "\n".join(unit + line if line.strip() else line for line in lines)
    moved = moved if moved.endswith("\n") else moved + newline
    head = f"{indent}def {name}({', '.join(inner)}):{newline}"
    edits.replace(Span(start, end), f"{head}{moved}{newline}{indent}return {scan}({', '.join(inner)}){newline}")
    return edits.render()


def _behind_comments(source: SourceFile, first: ast.stmt) -> int:
    """Where a body begins, with the comments above its first statement."""
    start = source.line_span(first).start
    while start:
        above = source.text.rfind("\n", 0, start - 1) + 1
        if not source.text[above:start].strip().startswith("#"):
            break
        start = above
    return start


__all__ = ["with_flags_around"]
