"""Names under which plain objects hold what makes modules: `class Config: norm: Any = nn.LayerNorm`, `cfg.norm = Block`.

What such an object is asked for cannot be followed: a module that calls `self.config.norm()(x)` makes layers by it.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Set
from typing import Any

from ...catalog import layers
from ...source import SourceFile
from ...trees import subtree

_known: weakref.WeakKeyDictionary[Any, frozenset[str]] = weakref.WeakKeyDictionary()


def names(project: Any) -> frozenset[str]:
    """The attributes and keys that hold a class of modules, or a partial or function of one, somewhere in a project."""
    if project not in _known:
        given = ((name, value, s) for s in project.files.values() for name, value in _given(project, s))
        held = {name for name, value, source in given if _makes(project, source, value)}
        methods = {name for source in project.files.values() for name in _made_by_methods(project, source, held)}
        _known[project] = frozenset(held | methods)
    return _known[project]


def _made_by_methods(project: Any, source: SourceFile, held: Set[str]) -> Iterator[str]:
    """Methods of plain classes that return what they make so: `def make_norm(self): return self.norm()`."""
    for node in _plain_classes(project, source):
        for method in (s for s in node.body if isinstance(s, ast.FunctionDef)):
            returned = [n.value for n in subtree(method) if isinstance(n, ast.Return)]
            makers = [value.func for value in returned if isinstance(value, ast.Call)]
            own = {m.attr for m in makers if isinstance(m, ast.Attribute) and _is_self(m.value)}
            if own & held or any(_makes(project, source, m) for m in makers):
                yield method.name


def _plain_classes(project: Any, source: SourceFile) -> Iterator[ast.ClassDef]:
    for node in source.by_kind.get(ast.ClassDef, ()):
        if isinstance(node, ast.ClassDef) and f"{source.module}.{node.name}" not in project.linen_classes:
            yield node


def _given(project: Any, source: SourceFile) -> Iterator[tuple[str, ast.expr]]:
    for model in _plain_classes(project, source):
        yield from _of_class(model)
    for node in source.by_kind.get(ast.Assign, ()):
        if isinstance(node, ast.Assign):
            yield from ((t.attr, node.value) for t in node.targets if isinstance(t, ast.Attribute) and not _is_self(t.value))
    for node in source.by_kind.get(ast.Dict, ()):
        if isinstance(node, ast.Dict):
            pairs = [(k.value, v) for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)]
            yield from ((k, v) for k, v in pairs if isinstance(k, str))
    for node in source.by_kind.get(ast.Call, ()):
        if isinstance(node, ast.Call):
            yield from _of_call(project, source, node)


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
            yield statement.target.id, statement.value
        elif isinstance(statement, ast.Assign):
            yield from ((t.id, statement.value) for t in statement.targets if isinstance(t, ast.Name))


def _of_call(project: Any, source: SourceFile, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """What an object is given, unless that is a module: its fields are followed."""
    if not (call.keywords or call.args):
        return
    name = project.qualname(source, call.func) or ""
    if name in project.linen_classes or (name.startswith("flax.") and not name.endswith("FrozenDict")):
        return
    yield from ((k.arg, k.value) for k in call.keywords if k.arg is not None)
    found = project.definition(name) if call.args else None
    if found is not None and isinstance(found[1], ast.ClassDef):
        fields = [s.target.id for s in found[1].body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        yield from zip(fields, call.args)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _makes(project: Any, source: SourceFile, node: ast.expr) -> bool:
    """Is it a class of modules, or a partial or lambda that calls one?"""
    if isinstance(node, ast.Call):
        partial = project.qualname(source, node.func) == "functools.partial" and bool(node.args)
        return partial and _makes(project, source, node.args[0])
    if isinstance(node, ast.IfExp):
        return _makes(project, source, node.body) or _makes(project, source, node.orelse)
    if isinstance(node, ast.Lambda):
        body = node.body
        return isinstance(body, ast.Call) and _makes(project, source, body.func)
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    name = project.qualname(source, node) or ""
    return name in project.linen_classes or layers.lookup(name) is not None


def asked(project: Any, maker: ast.expr) -> bool:
    """Does what is called to make something ask an object for such a name: `self.config.norm`, or a partial of it?"""
    while isinstance(maker, ast.Call) and maker.args:
        maker = maker.args[0]
    return isinstance(maker, ast.Attribute) and not _is_self(maker.value) and maker.attr in names(project)


__all__ = ["asked", "names"]
