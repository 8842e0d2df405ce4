"""What a class keeps of functions whose text stands elsewhere in it now: their definitions, and names that held them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import removals
from ..source import SourceFile
from ..trees import subtree
from .callees import Callee, Key
from .pure import is_pure
from .rewritten import class_of, reparsed, with_blank_lines
from .stable import gives_one_value

MAX_HOLDERS = 60


def without_unused(
    project: Project, before: ast.ClassDef, source: SourceFile, name: str, wanted: Collection[Key]
) -> SourceFile:
    """The class without the methods and nested functions whose text stands elsewhere now, and without their holders."""
    source = _without_holders(project, before, source, name)
    old = {n.name for n in subtree(before) if isinstance(n, ast.FunctionDef)}
    while True:
        model = class_of(source, name)
        functions = (n for n in subtree(model) if isinstance(n, ast.FunctionDef))
        node = next((n for n in functions if _is_unused(project, source, model, n, wanted, old)), None)
        if node is None:
            return source
        edits = EditSet(source.text)
        edits.replace(with_blank_lines(source, node))
        source = reparsed(source, edits.render())


def _is_unused(
    project: Project,
    source: SourceFile,
    model: ast.ClassDef,
    node: ast.FunctionDef,
    wanted: Collection[Key],
    old: Collection[str],
) -> bool:
    """Is it a method, or a function in one, that nothing calls any more since its text stands elsewhere?

    `old`: the functions that the class had itself; others came with the text of what defined them.
    """
    parent = source.parents[node]
    kind = "method" if parent is model else "nested"
    stands = Callee(node, source, kind, ast.Name(node.name)).key in wanted or (kind == "nested" and node.name not in old)
    if not stands or len(_block(source, node)) < 2:
        return False
    if kind == "method":
        return not _is_said(project, source, model, node)
    around = source.names.scope_of(node)
    inside = {id(n) for n in subtree(node)}
    named = (n for n in subtree(model) if isinstance(n, ast.Name) and n.id == node.name and id(n) not in inside)
    return not any(source.names.binding_scope(n.id, n) is around for n in named)


def _without_holders(project: Project, before: ast.ClassDef, source: SourceFile, name: str) -> SourceFile:
    """The class without names that held functions and that nothing reads any more: `f = wide if self.wide else narrow`."""
    unread = {(method.name, n) for method in _methods(before) for n in _stored(method) - _read(method)}
    for _ in range(MAX_HOLDERS):
        statement = next(_holders(project, source, class_of(source, name), unread), None)
        if statement is None:
            return source
        edits = EditSet(source.text)
        whole = _whole(source, statement)
        block = _block(source, whole)
        edits.replace(*((next(removals(source, [whole])), "") if len(block) > 1 else (source.span(whole), "pass")))
        source = reparsed(source, edits.render())
    return source


def _holders(
    project: Project, source: SourceFile, model: ast.ClassDef, unread: Collection[tuple[str, str]]
) -> Iterator[ast.Assign]:
    for method in _methods(model):
        read = _read(method)
        for node in subtree(method):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            held = node.targets[0].id
            if held not in read and (method.name, held) not in unread and _only_holds(project, source, node.value):
                yield node


def _only_holds(project: Project, source: SourceFile, node: ast.expr) -> bool:
    """Does an expression do nothing but hold functions, or choose one?"""
    if isinstance(node, ast.IfExp):
        return is_pure(node.test) and all(_only_holds(project, source, side) for side in (node.body, node.orelse))
    if isinstance(node, ast.Dict):
        return None not in node.keys and all(_only_holds(project, source, value) for value in node.values)
    if isinstance(node, ast.Subscript):
        return _only_holds(project, source, node.value) and is_pure(node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        held = [node.func.value, *node.args[1:]]
        return is_pure(node.args[0]) and all(_only_holds(project, source, n) for n in held) and not node.keywords
    if isinstance(node, ast.Call):
        bound = [*node.args[1:], *[k.value for k in node.keywords]]
        partial = project.qualname(source, node.func) == "functools.partial" and bool(node.args)
        return partial and _only_holds(project, source, node.args[0]) and all(gives_one_value(source, a) for a in bound)
    return isinstance(node, ast.Lambda) or (isinstance(node, ast.Name | ast.Attribute) and is_pure(node))


def _whole(source: SourceFile, statement: ast.Assign) -> ast.stmt:
    """The `if` whose branches do nothing but assign to one name, where it is one of these; else itself."""
    head: ast.stmt = statement
    while isinstance(outer := source.parents[head], ast.If) and _only_assigns(outer, ast.unparse(statement.targets[0])):
        head = outer
    return head


def _only_assigns(node: ast.If, name: str) -> bool:
    for body in (node.body, node.orelse):
        only = body[0] if len(body) == 1 else None
        if isinstance(only, ast.If):
            if not _only_assigns(only, name):
                return False
        elif body and not (isinstance(only, ast.Assign) and [ast.unparse(t) for t in only.targets] == [name]):
            return False
    return is_pure(node.test)


def _block(source: SourceFile, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands."""
    parent = source.parents[statement]
    return next(b for b in (getattr(parent, n, []) for n in ("body", "orelse", "finalbody")) if statement in b)


def _methods(model: ast.ClassDef) -> list[ast.FunctionDef]:
    return [s for s in model.body if isinstance(s, ast.FunctionDef)]


def _read(method: ast.FunctionDef) -> set[str]:
    return {n.id for n in subtree(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _stored(method: ast.FunctionDef) -> set[str]:
    return {n.id for n in subtree(method) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _is_said(project: Project, source: SourceFile, model: ast.ClassDef, method: ast.FunctionDef) -> bool:
    """Does anything else in the project name the method: a string, or an attribute of what may be such a module?

    One that makes modules without being compact runs only while a compact method of its own class does: what others of that
    name is, is another method.
    """
    inside = {id(n) for n in subtree(method)}
    for other in [source, *[s for module, s in project.files.items() if module != source.module]]:
        if method.name not in other.words:
            continue
        for node in other.nodes:
            said = isinstance(node, ast.Constant) and node.value == method.name
            if not said and not (isinstance(node, ast.Attribute) and node.attr == method.name and id(node) not in inside):
                continue
            owner = next((a for a in other.ancestors(node) if isinstance(a, ast.ClassDef)), None)
            if owner is model or (owner is not None and _derives(project, other, owner, f"{source.module}.{model.name}")):
                return True
            own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
            if own and owner is not None:
                continue
            if method.decorator_list and not _is_of_another(project, other, node, f"{source.module}.{model.name}"):
                return True
    return False


def _is_of_another(project: Project, other: SourceFile, node: ast.AST, qualname: str) -> bool:
    """Is it `Other.make`, of a class that neither is the one called `qualname` nor derives from it?

    `models.Other.make`, of a package that only its name tells, is any class of that name.
    """
    owner = project.qualname(other, node.value) if isinstance(node, ast.Attribute) else None
    if owner is None:
        return False
    named = [owner] if owner in project.linen_classes else []
    named = named or [name for name in project.linen_classes if name.endswith(f".{owner.rpartition('.')[2]}")]
    infos = {name: project.linen_classes[name] for name in named}
    own = any(n == qualname or _derives(project, i.source, i.node, qualname) for n, i in infos.items())
    return bool(infos) and not own


def _derives(project: Project, source: SourceFile, owner: ast.ClassDef, qualname: str) -> bool:
    """Does a class inherit from the one called `qualname`, or may it?"""
    info = project.linen_classes.get(f"{source.module}.{owner.name}")
    bases, seen = list(info.bases) if info is not None else [], set[str]()
    while bases:
        name = bases.pop()
        if name == qualname:
            return True
        if name not in seen and name in project.linen_classes:
            bases += project.linen_classes[name].bases
        seen.add(name)
    return False


__all__ = ["without_unused"]
