"""Parts of a list of modules that a method gives names, said as what they are of the list.

    first, *rest = self.layers          x = self.layers[0](x)
    x = first(x)                        for layer in self.layers[1:]:
    for layer in rest:                      x = layer(x)
        x = layer(x)

A list that is too short for the names raises in Linen; here it does where its items are asked for.
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import beside, removals
from ..source import SourceFile
from ..trees import subtree

_THROUGH = frozenset({"zip", "enumerate", "reversed", "len"})


def with_unpacked_lists(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such statement of a class less; None where there is none."""
    kept = {n.attr for n in subtree(model) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    for method in model.body:
        if not isinstance(method, ast.FunctionDef) or method.name == "setup":
            continue
        for statement in method.body:
            text = _without(source, method, statement, kept)
            if text is not None:
                return text
    return None


def _without(source: SourceFile, method: ast.FunctionDef, statement: ast.stmt, kept: set[str]) -> str | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or len(beside(source, statement)) > 1:
        return None
    target, value = statement.targets[0], statement.value
    own = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"
    if not own or value.attr not in kept or not isinstance(target, ast.Tuple):  # type: ignore[attr-defined]
        return None
    if "#" in source.text[source.line_span(statement).start : source.line_span(statement).end] or len(method.body) == 1:
        return None
    said = _parts(target)
    edits = EditSet(source.text)
    for name, part in said.items():
        uses = _uses(source, method, statement, name)
        starred = ":" in part
        if uses is None or (starred and any(not _is_gone_through(source, use) for use in uses)):
            return None
        for use in uses:
            edits.replace(source.span(use), f"{source.text_of(value)}[{part}]")
    if not said:
        return None
    for span in removals(source, [statement]):
        edits.replace(span)
    return edits.render()


def _parts(target: ast.Tuple) -> dict[str, str]:
    """Name → the place in the list of what it holds; nothing where one of several is not a name, or none is starred."""
    starred = [i for i, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
    names = [item.value if isinstance(item, ast.Starred) else item for item in target.elts]
    if len(starred) != 1 or len({ast.unparse(n) for n in names}) < len(names):
        return {}
    (at,), count = starred, len(names)
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        if not isinstance(name, ast.Name):
            return {}
        behind = count - 1 - i
        whole = f"{i or ''}:{-behind if behind else ''}"
        found[name.id] = whole if i == at else str(i) if i < at else str(i - count)
    return found


def _uses(source: SourceFile, method: ast.FunctionDef, statement: ast.Assign, name: str) -> list[ast.Name] | None:
    """Where a method reads the name; None where it may hold something else there. A loop behind may bind it anew."""
    inside = {id(n) for n in subtree(statement)}
    said = [n for n in subtree(method) if isinstance(n, ast.Name) and n.id == name and id(n) not in inside]
    loops = [n for n in subtree(method) if isinstance(n, ast.For) and _binds(n, name)]
    targets = {id(n) for loop in loops for n in subtree(loop.target)}
    uses: list[ast.Name] = []
    for node in said:
        if id(node) in targets:
            continue
        around = [a for a in source.ancestors(node) if a in loops and not _is_in(a.iter, node)]  # type: ignore[attr-defined]
        if around:
            continue
        late = any(loop.lineno < node.lineno and not _is_in(loop.iter, node) for loop in loops)
        if not isinstance(node.ctx, ast.Load) or late or node.lineno < statement.lineno:
            return None
        if source.names.binding_scope(name, node) is not method or source.function_of(node) is not method:
            return None
        uses.append(node)
    return uses


def _binds(loop: ast.For, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in subtree(loop.target))


def _is_in(node: ast.AST, inner: ast.AST) -> bool:
    return any(n is inner for n in subtree(node))


def _is_gone_through(source: SourceFile, use: ast.Name) -> bool:
    """Does a loop go through it, by itself or along with others?"""
    parent = source.parents[use]
    if isinstance(parent, ast.Call) and use in parent.args:
        return isinstance(parent.func, ast.Name) and parent.func.id in _THROUGH
    return isinstance(parent, ast.For | ast.comprehension) and parent.iter is use


__all__ = ["with_unpacked_lists"]
