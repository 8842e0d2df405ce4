"""Parameters whose initializer is given a shape that is not theirs.

    self.param("positions", self.grid, x.shape)      def grid(self, key, shape):
                                                       return coordinates(shape[1:-1])

An initializer of Linen's hands the shape on as it is. A function that only takes it apart makes something else of it: the
parameter has the shape that it computes, or, where that is not known, the one that the constructor reads off it.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..values.arguments import is_self, parameters_of
from ..values.dims import Dim
from ..values.kind_results import make_asked
from ..values.sites import Abs, Function, Site
from ..values.values import Array, Lead, Shape, Unknown, Value


def has_its_own(function: Function) -> bool:
    """Does an initializer nowhere hand on, whole, the shape that it is given?"""
    of_module = function.method is not None and "staticmethod" not in function.method.decorators
    names = parameters_of(function.node)[1 if of_module else 0 :]
    if len(names) < 2:
        return False
    around = {child: node for node in subtree(function.node) for child in ast.iter_child_nodes(node)}
    reads = [n for n in around if isinstance(n, ast.Name) and n.id == names[1]]
    return bool(reads) and all(_takes_apart(n, around[n]) for n in reads)


def _takes_apart(name: ast.Name, node: ast.AST) -> bool:
    """Is it `shape[-1]`, or `height, width = shape`?"""
    if isinstance(node, ast.Assign):
        return node.value is name and isinstance(node.targets[0], ast.Tuple | ast.List)
    return isinstance(node, ast.Subscript) and node.value is name


def is_whole(made: Value) -> bool:
    """Is all known of the shape of what an initializer gives? Then it is that one, whatever the initializer is given."""
    if not isinstance(made, Array):
        return False
    lead = made.shape.lead
    return None not in (*made.shape.dims, *(lead.head if lead else ())) and (lead is None or lead.known)


def is_of_library(run: Any, node: ast.expr, env: Any) -> bool:
    """Is an initializer one of jax's or flax's, or a field that is one by default? For these a number is a shape."""
    source: Any = env.source
    field = run.fields.get(node.attr) if isinstance(node, ast.Attribute) and is_self(node.value, env) else None
    if field is not None:
        node, source = field.default, field.source
    called = node.func if isinstance(node, ast.Call) else node
    name = run.project.qualname(source, called) if isinstance(called, ast.Name | ast.Attribute) else None
    return (name or "").startswith(("jax.", "flax."))


def taken_apart(site: Site, made: Value) -> Value:
    """The shape of a parameter, unknown where it is unpacked into other than the rows that it should have."""
    parent = site.source.parents.get(site.node)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and parent.value is site.node else None
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(made, Array):
        return made
    first = made.shape.dims[0] if made.shape.lead is None and made.shape.dims else None
    if first is not None and first.value == len(target.elts):
        return made
    site.several = True  # `a, b = self.param("ab", two_tables, 4)`
    return Unknown("several arrays")


def of_made(run: Any, site: Site, function: Function, given: list[Abs]) -> Value:
    """The shape of the parameter that has been made at the site."""
    from .self_calls import follow_init

    found = follow_init(run, function, [Abs(Unknown("a key")), *given])
    shape = found.shape.expand(1) if isinstance(found, Array) else Shape((None,), Lead.unknown())
    if site.in_setup or shape.dim(-1) is not None or not shape.dims:
        return Array(shape)
    site.renders["block"] = run.block
    width = Dim.local(make_asked(run, site, "features", "shape[-1]"))
    return Array(Shape((*shape.dims[:-1], width), shape.lead))


__all__ = ["has_its_own", "is_of_library", "is_whole", "of_made", "taken_apart"]
