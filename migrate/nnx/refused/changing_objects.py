"""Objects that change while a module is used, and that it keeps: `self.pairs = zip(self.queries, self.keys)`, a counter.

Linen runs `setup` for every `apply`: an iterator starts from its beginning, a counter from zero. A native module makes them
once: the second call would find the iterator exhausted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.project.classes import Method
from ...linen.values.sites import Unmigratable, Variable
from ...source import SourceFile
from ...trees import of_kind, said, subtree
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_ITERATORS = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
_MAKERS = ("itertools.", "random.Random", "numpy.random.RandomState", "numpy.random.default_rng", "numpy.random.Generator")
_CHANGES = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popleft", "popitem", "remove"}
    | {"reverse", "rotate", "setdefault", "sort", "update"}
)


def refuse(text: ClassText, constructing: list[Method]) -> None:
    """`constructing`: the methods that run when the module is made."""
    for method in constructing:
        for name, value in _attributes(method):
            if _changes_itself(text, method.source, value) or _is_changed(text, name, value, constructing):
                reason = f"`self.{name}` is `{short(value)}`, which changes when used, and which Linen makes for every call"
                raise Unmigratable("NNX186", reason, value)
    for method in text.model.methods().values():
        for node in of_kind(method.node, ast.Attribute) if method not in constructing else ():
            if _is_written_around(method.source, node):
                reason = f"`{short(node)}` changes the module in `{method.name}`: with Linen a copy of it, soon gone"
                raise Unmigratable("NNX186", reason, node)
    for site in text.run.sites:
        for argument in site.bound.values():
            if argument.node is not None and _changes_itself(text, site.source, argument.node):
                reason = f"a module is given `{short(argument.node)}`, which changes when used"
                raise Unmigratable("NNX186", reason, argument.node)


def _is_written_around(source: SourceFile, node: ast.Attribute) -> bool:
    """`object.__setattr__`, `self.__dict__[...] = ...`: does it get around Linen, which allows no assignments in calls?"""
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    if name == "object":
        return node.attr in ("__setattr__", "__delattr__")
    parent = source.parents.get(node)
    stored = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
    changed = isinstance(parent, ast.Attribute) and parent.attr in _CHANGES
    return name == "self" and node.attr == "__dict__" and (stored or changed)


def _attributes(method: Method) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that a method makes, with what they are made of; that of a local name where it has one."""
    local = {t.id: a.value for a in of_kind(method.node, ast.Assign) for t in a.targets if isinstance(t, ast.Name)}
    pairs = [(target, a.value) for a in of_kind(method.node, ast.Assign) for target in a.targets]
    pairs += [(a.target, a.value) for a in of_kind(method.node, ast.AnnAssign) if a.value is not None]
    for target, value in pairs:
        one_by_one = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        for one, given in zip(target.elts, value.elts) if one_by_one else [(target, value)]:  # type: ignore[attr-defined]
            if isinstance(one, ast.Attribute) and _is_own(one):
                yield one.attr, local.get(given.id, given) if isinstance(given, ast.Name) else given


def _changes_itself(text: ClassText, source: SourceFile, value: ast.expr) -> bool:
    """Is it an iterator, a generator of random numbers, or an object of the project whose methods change it?"""
    if isinstance(value, ast.GeneratorExp):
        return True
    if not isinstance(value, ast.Call):
        return False
    project = text.run.project
    if isinstance(value.func, ast.Name) and value.func.id in _ITERATORS:
        return not source.names.is_hidden(value.func.id, value.func) and value.func.id not in source.names.definitions
    name = project.qualname(source, value.func) or ""
    if name.startswith(_MAKERS):
        return True
    found = project.definition(name) if name not in project.linen_classes else None
    return found is not None and isinstance(found[1], ast.ClassDef) and _has_changing_methods(found[0], found[1])


def _has_changing_methods(source: SourceFile, node: ast.ClassDef) -> bool:
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name not in ("__init__", "__post_init__")]
    stored = [n for m in methods for n in of_kind(m, ast.Attribute) if _is_own(n) and not isinstance(n.ctx, ast.Load)]
    return not all(_is_default_number(source, attribute) for attribute in stored)


def _is_default_number(source: SourceFile, attribute: ast.Attribute) -> bool:
    """`if self.scale is None: self.scale = 1 / math.sqrt(width)`: a number of its own sizes, which is found again alike."""
    statement = source.parents.get(attribute)
    branch = source.parents.get(statement) if isinstance(statement, ast.Assign) else None
    if not isinstance(branch, ast.If) or not isinstance(statement, ast.Assign) or statement not in branch.body:
        return False
    calls = [n.func for n in subtree(statement.value) if isinstance(n, ast.Call)]
    plain = all(said(f).startswith("math.") or said(f) in ("int", "float", "len", "max", "min", "round") for f in calls)
    return plain and said(branch.test) == f"self.{attribute.attr} is None"


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_changed(text: ClassText, name: str, value: ast.expr, constructing: list[Method]) -> bool:
    """Does a method change it in place? Linen freezes lists and dicts; sets and other objects it leaves alone."""
    if isinstance(value, ast.List | ast.ListComp | ast.Dict | ast.DictComp | ast.Tuple):
        return False
    held = text.run.attributes.get(name)
    if held is not None and (isinstance(held.value, Variable) or next(text.run.modules_in(held.value), None) is not None):
        return False
    using = [m for m in text.model.methods().values() if m not in constructing]
    return any(changed_in_place(m.source, node) for m in using for node in m.fields_read.get(name, ()))


def changed_in_place(source: SourceFile, node: ast.expr) -> bool:
    """Is what an expression names changed there: `seen.add(x)`, `buffer[0] += 1`, `holder.count = 3`?"""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return not isinstance(parent.ctx, ast.Load)
    if not isinstance(parent, ast.Attribute):
        return False
    call = source.parents.get(parent)
    called = isinstance(call, ast.Call) and call.func is parent
    return not isinstance(parent.ctx, ast.Load) or (called and parent.attr in _CHANGES)


__all__ = ["changed_in_place", "refuse"]
