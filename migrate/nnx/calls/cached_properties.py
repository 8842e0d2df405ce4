"""Cached properties of modules: `functools.cached_property` becomes `property`.

Linen makes a copy of the module for every `apply`, and what a property has given is gone with it. A native module would
keep it: values of the variables as they once were, and arrays that become part of its state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...linen.project.classes import Method
from ...linen.values.merging import Either
from ...linen.values.sites import Module, Unmigratable
from ...trees import children, subtree

if TYPE_CHECKING:
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# What a second reading would do again, and what changes what the first one gave.
_ONCE = frozenset({"make_rng", "sow", "put_variable", "perturb", "param", "variable"})


def refuse(text: ClassText) -> None:
    """Refuse those that would not give the same when they are read again, and those of bases that are no modules."""
    project = text.run.project
    for owner in text.model.mro():
        for base in owner.node.bases:
            held = next(_of_plain(project, project.qualname(owner.source, base) or ""), None)
            if held is not None:
                reason = f"the cached property `{held}` of `{ast.unparse(base)}`, which is no module, would be kept for good"
                raise Unmigratable("NNX184", reason, text.model.node)
    made = {site.node for site in text.run.sites}
    for method in text.model.methods().values():
        if _decorator(method) is None:
            continue
        again = next((node for node in _steps(method.node) if node in made or _acts(text, node)), None)
        if again is not None:
            what = f"the cached property `{method.name}` makes or calls modules, changes variables, or draws"
            raise Unmigratable("NNX184", f"{what}, which a second reading would do again", again)


def _of_plain(project: Any, name: str) -> Iterator[str]:
    """The cached properties of a class of the project that is no module, and of its bases."""
    found = project.definition(name) if name not in project.linen_classes else None
    if found is None or not isinstance(found[1], ast.ClassDef):
        return
    source, node = found
    for statement in node.body:
        for decorator in statement.decorator_list if isinstance(statement, ast.FunctionDef) else ():
            if ast.unparse(decorator).rpartition(".")[2] == "cached_property":
                yield statement.name
    for base in node.bases:
        yield from _of_plain(project, project.qualname(source, base) or "")


def write(writer: ClassWriter, method: Method) -> None:
    decorator = _decorator(method)
    if decorator is not None:
        writer.put(decorator, "property", source=method.source)


def _decorator(method: Method) -> ast.expr | None:
    found = zip(method.node.decorator_list, method.decorators)
    return next((node for node, name in found if name.rpartition(".")[2] == "cached_property"), None)


def _steps(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it, which others call."""
    waiting: list[ast.AST] = list(function.body)
    for node in waiting:  # grows
        yield node
        if not isinstance(node, _FUNCTIONS):
            waiting += children(node)


def _acts(text: ClassText, node: ast.AST, seen: tuple[Method, ...] = ()) -> bool:
    """Does it make, call or change something, also in the methods that it calls? `seen`: those around it."""
    if isinstance(node, ast.Attribute):
        return node.attr == "value" and not isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Attribute) and called.attr in _ONCE:
        return True
    own = _own(text, called)
    if own is not None:
        return own not in seen and any(_acts(text, inner, (*seen, own)) for inner in subtree(own.node))
    found: Any = text.run.evaluated.get(called)
    made = text.run.evaluated.get(node)
    values = [v.value for v in (found, made) if v is not None]
    return any(isinstance(value, Module | Either) for value in values)


def _own(text: ClassText, called: ast.expr) -> Method | None:
    """The method of the module that a call names."""
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self":
        methods: dict[str, Method] = text.model.methods()
        return methods.get(called.attr)
    return None


__all__ = ["refuse", "write"]
