"""Variables of submodules that `setup` reads: `self.table = self.embed.embedding.T`, or a property of a class around one.

Linen runs `setup` with every call, so that what it computes follows them, as it follows the module's own parameters.
"""

from __future__ import annotations

import ast
from typing import Any

from ...catalog import layers
from ...linen.modules.self_calls import SetupParam
from ...linen.project.classes import Method
from ...linen.values.merging import ArrayOrModule, members
from ...linen.values.sites import AnyFactory, Module, Unmigratable, Variable
from ...linen.values.values import Const, Global, Int, Real, Text, Tup, Value

STATIC = ("shape", "dtype", "ndim", "size")


def read(run: Any, node: ast.AST) -> str:
    """How NNX reads the variable of a submodule that an expression names (`embedding[...]`), or ""."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return ""
    found = run.evaluated.get(node.value)
    said = {_read_of(run, module, node.attr) for module in (members(found.value) if found is not None else ())}
    return next(iter(said - {""}), "")


def _read_of(run: Any, module: Module, attribute: str) -> str:
    site = module.site
    if site.kind == "layer":
        layer = layers.lookup(site.target)
        said = layer.attributes.get(attribute, "") if layer is not None else ""
        return said if said.endswith("[...]") else ""
    try:
        inner = run.analyser.execution(site.target)
    except Unmigratable:
        return ""
    held = inner.attributes.get(attribute)
    if held is not None and isinstance(held.value, SetupParam | Variable | ArrayOrModule):
        made = held.value.site if isinstance(held.value, SetupParam) else None
        return f"{attribute}{made.opened if made is not None else '[...]'}"
    method = inner.model.method(attribute)
    is_property = method is not None and any(name.endswith("property") for name in method.decorators)
    if is_property and reads(inner, method, set()):
        return attribute
    from .computed_plan import computed_by  # which asks what setup reads, too

    computed = computed_by(inner)
    return attribute if computed is not None and attribute in computed.attributes else ""


def reads(run: Any, method: Method, seen: set[str], attributes: frozenset[str] = frozenset()) -> bool:
    """Does a method read the values of parameters, of its module or of submodules, or these `attributes`?"""
    seen.add(method.name)
    for node in method.nodes:
        if not isinstance(node, ast.Attribute):
            continue
        parent = method.source.parents.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr in STATIC:
            continue
        if read(run, node):
            return True
        if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            continue
        held = run.attributes.get(node.attr)
        if node.attr in attributes or (held is not None and isinstance(held.value, SetupParam)):
            return True
        inner = run.model.method(node.attr)
        if inner is not None and node.attr not in seen and reads(run, inner, seen, attributes):
            return True
    return False


def called(run: Any, node: ast.Call) -> bool:
    """Is it a method of a submodule, which may read its variables: `self.head.kernel_of(3)`? Not where it gives a size."""
    if not isinstance(node.func, ast.Attribute):
        return False
    base, given = run.evaluated.get(node.func.value), run.evaluated.get(node)
    if base is None or not members(base.value):
        return False
    return given is None or not _is_static(given.value)


def _is_static(value: Value) -> bool:
    if isinstance(value, Tup):
        return all(_is_static(item) for item in value.items)
    return isinstance(value, Int | Const | Real | Text | Global | Module | AnyFactory)


__all__ = ["STATIC", "called", "read", "reads"]
