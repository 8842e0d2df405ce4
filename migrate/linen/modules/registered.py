"""Tables that decorators and statements fill with module classes, as the tables that they are once all files have run.

    BLOCKS = {}

    def register(name):                      @register("dense")
        def wrap(cls):                       class Dense(nn.Module): ...
            BLOCKS[name] = cls
            return cls                       BLOCKS[self.kind](self.width)(x)
        return wrap

Everything that puts something in must be seen: such decorators of classes, calls of them, and `BLOCKS["dense"] = Dense`, at
the top of files.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..values.other_files import name_in
from ..values.sites import Abs, Factory, Table
from ..values.values import Value

_READING = frozenset({"get", "keys", "items", "values"})
_COUNTING = frozenset({"len", "list", "sorted", "tuple", "set", "str", "print", "iter"})

_known: weakref.WeakKeyDictionary[Project, dict[str, Mapping[str, str] | None]] = weakref.WeakKeyDictionary()


def table(run: Any, qualname: str) -> Abs | None:
    """The classes of such a table, by their keys; None where it is none, or holds anything else."""
    found = entries(run.project, qualname)
    if not found or not all(_is_said(run.project, run.model.source, name) for name in found.values()):
        return None
    classes = run.project.linen_classes
    made: dict[object, Value] = {k: Factory(c, classes[c].node.name, source=classes[c].source) for k, c in found.items()}
    return Abs(Table(made), static=True)


def _is_said(project: Project, own: SourceFile, cls: str) -> bool:
    """Can a file say a class: has it a name for that, or may it import it? It may what it has loaded anyway, by itself or by
    the packages around it, which does not load this file in turn.
    """
    module = cls.rpartition(".")[0]
    if module == own.module or name_in(project, own, cls) is not None:
        return True
    around = [".".join(own.module.split(".")[:count]) for count in range(1, own.module.count(".") + 1)]
    loading = [own.module, *[package for package in around if package in project.files]]
    loaded = any(module in project.loaded_by(loader, surely=True) for loader in loading)
    return loaded and own.module not in project.loaded_by(module, surely=False)


def entries(project: Project, qualname: str) -> Mapping[str, str] | None:
    """The key of each class in the table, and the class; None or nothing where it is no such table."""
    known = _known.setdefault(project, {})
    if qualname not in known:
        known[qualname] = _entries(project, qualname)
    return known[qualname]


def _entries(project: Project, qualname: str) -> Mapping[str, str] | None:
    module, _, name = qualname.rpartition(".")
    own = project.files.get(module)
    binders = [n for n in own.names.binders(name) if own.names.bound_by(n) is None] if own is not None else []
    if own is None or len(binders) != 1 or not isinstance(binders[0], ast.Name):
        return None
    if not _is_empty(own.statement_of(binders[0])):
        return None
    found: dict[str, str] = {}
    stored = False
    for source, node in _said(project, name, qualname):
        if node is binders[0] or _is_read(source, node):
            continue
        added = _put(project, source, node)
        if added is None or not found.keys().isdisjoint(added):
            return None  # of two under one key it has the later
        found |= added
        stored = True
    return found if stored and all(_is_bound_once(project, cls) for cls in found.values()) else None


def _is_bound_once(project: Project, cls: str) -> bool:
    """Is a class what its file calls so from beginning to end, whenever it was put there?"""
    info = project.linen_classes[cls]
    names = info.source.names
    bound = [binder for binder in names.binders(info.node.name) if names.bound_by(binder) is None]
    return bound == [info.node] and info.node.name not in names.module_imports


def _is_empty(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "dict" and not value.args and not value.keywords
    return isinstance(value, ast.Dict) and not value.keys


def _is_read(source: SourceFile, node: ast.expr) -> bool:
    """Is the table only asked for an item, for its keys or how many they are?"""
    parent = source.parents[node]
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return isinstance(parent.ctx, ast.Load)
    if isinstance(parent, ast.Attribute):
        call = source.parents[parent]
        return parent.attr in _READING and isinstance(call, ast.Call) and call.func is parent
    if isinstance(parent, ast.Call):
        joined = isinstance(parent.func, ast.Attribute) and parent.func.attr == "join"
        return node in parent.args and (joined or (isinstance(parent.func, ast.Name) and parent.func.id in _COUNTING))
    return isinstance(parent, ast.Compare | ast.FormattedValue | ast.alias)


def _put(project: Project, source: SourceFile, node: ast.expr) -> dict[str, str] | None:
    """What `TABLE[name] = cls` of a decorator puts there; None for any other use of the table."""
    item = source.parents[node]
    statement = source.parents[item]
    if not (isinstance(item, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [item]):
        return None
    inner = source.parents[statement]
    if isinstance(inner, ast.Module) and isinstance(item.slice, ast.Constant) and isinstance(item.slice.value, str):
        cls = project.qualname(source, statement.value) or ""
        return {item.slice.value: cls} if cls in project.linen_classes else None
    if not isinstance(inner, ast.FunctionDef) or not isinstance(statement.value, ast.Name) or inner.decorator_list:
        return None
    taken = [a.arg for a in (*inner.args.posonlyargs, *inner.args.args)]
    returned = {ast.unparse(n.value) if n.value is not None else "" for n in subtree(inner) if isinstance(n, ast.Return)}
    if taken != [statement.value.id] or returned != {*taken} or _is_set(source, statement.value):
        return None
    outer = source.parents[inner]
    if isinstance(outer, ast.Module):
        key = _key_of(item.slice, taken[0], ())
        return _registered(project, source, inner, key) if key is not None else None
    if not isinstance(outer, ast.FunctionDef) or not isinstance(source.parents[outer], ast.Module) or outer.decorator_list:
        return None
    back = [n.value for n in subtree(outer) if isinstance(n, ast.Return) and source.function_of(n) is outer]
    names = [a.arg for a in (*outer.args.posonlyargs, *outer.args.args, *outer.args.kwonlyargs)]
    if not back or any(not isinstance(v, ast.Name) or v.id != inner.name for v in back) or len(names) != 1:
        return None
    if any(isinstance(n, ast.Name) and n.id in names and _is_set(source, n) for n in subtree(item.slice)):
        return None
    key = _key_of(item.slice, taken[0], names)
    return _registered(project, source, outer, key) if key is not None else None


def _is_set(source: SourceFile, argument: ast.Name) -> bool:
    """Does a function give one of its arguments another value: `name = name.lower()`?"""
    scope = source.names.binding_scope(argument.id, argument)
    return sum(source.names.bound_by(binder) is scope for binder in source.names.binders(argument.id)) > 1


def _key_of(node: ast.expr, taken: str, names: tuple[str, ...] | list[str]) -> tuple[str, tuple[str, ...]] | None:
    """(what the key is: "given" or "class", what is done to it) of `name`, `cls.__name__.lower()`."""
    done: list[str] = []
    while isinstance(node, ast.Call) and not node.args and not node.keywords and isinstance(node.func, ast.Attribute):
        if node.func.attr not in ("lower", "upper"):
            return None
        done.insert(0, node.func.attr)
        node = node.func.value
    if isinstance(node, ast.Name) and node.id in names:
        return "given", tuple(done)
    if isinstance(node, ast.Attribute) and node.attr == "__name__" and ast.unparse(node.value) == taken:
        return "class", tuple(done)
    return None


def _registered(
    project: Project, home: SourceFile, function: ast.FunctionDef, key: tuple[str, tuple[str, ...]]
) -> dict[str, str] | None:
    """What a decorator is put over, or called with, by its keys; None where not all of that is seen."""
    if len([n for n in home.names.binders(function.name) if home.names.bound_by(n) is None]) != 1:
        return None
    found: dict[str, str] = {}
    qualname = project.canonical(f"{home.module}.{function.name}" if home.module else function.name)
    for source, node in _said(project, function.name, qualname):
        if not isinstance(node.ctx, ast.Load):
            continue
        made = _of_use(project, source, node, nested=key[0] == "given" or isinstance(_returned(function), ast.FunctionDef))
        if made is None or made[1] not in project.linen_classes:
            return None
        said = made[0] if key[0] == "given" else made[1].rpartition(".")[2]
        for change in key[1]:
            said = getattr(str(said), change)()
        if not isinstance(said, str) or said in found:
            return None
        found[said] = made[1]
    return found


def _returned(function: ast.FunctionDef) -> ast.stmt | None:
    """The function within another one that it gives back."""
    return next((s for s in function.body if isinstance(s, ast.FunctionDef)), None)


def _said(project: Project, name: str, qualname: str) -> Iterator[tuple[SourceFile, ast.Name | ast.Attribute]]:
    """Where files say what has this dotted name, whatever they call it."""
    for source in project.files.values():
        if name not in source.words:
            continue
        called = [local for local, dotted in source.names.imports.items() if dotted.rpartition(".")[2] == name]
        yield from ((source, n) for n in source.saying(name, *called) if project.qualname(source, n) == qualname)


def _of_use(project: Project, source: SourceFile, node: ast.expr, *, nested: bool) -> tuple[object, str] | None:
    """(the key that is given, the class) of `@register("dense")` over a class, or `register("dense")(Dense)`."""
    use, given = source.parents[node], None
    whole: ast.AST = node
    if nested:
        if not isinstance(use, ast.Call) or use.func is not node or len(use.args) + len(use.keywords) != 1:
            return None
        said = use.args[0] if use.args else use.keywords[0].value
        if not isinstance(said, ast.Constant):
            return None
        given, whole, use = said.value, use, source.parents[use]
    if isinstance(use, ast.ClassDef) and whole in use.decorator_list and isinstance(source.parents[use], ast.Module):
        name = f"{source.module}.{use.name}" if source.module else use.name
        return (given, name) if len(use.decorator_list) == 1 else None
    if isinstance(use, ast.Call) and use.func is whole and len(use.args) == 1 and not use.keywords:
        statement = source.parents[use]
        if isinstance(statement, ast.Expr) and isinstance(source.parents[statement], ast.Module):
            return given, project.qualname(source, use.args[0]) or ""
    return None


__all__ = ["entries", "table"]
