"""Modules that draw random numbers and are given to `jax.vmap` as they are: `jax.vmap(self.net, (0, None))(x, train)`.

Linen draws one key for all members, also within that trace. In NNX the count of draws is a Variable, which `nnx.vmap` alone
may change there; it leaves a module that is not mapped with what its one trace has made of it:

    nnx.vmap(lambda module, *args: module(*args), in_axes=(None, 0, None))(self.net, x, train)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.project.index import Project
from ...linen.values.sites import Site
from ...source import SourceFile

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

NAME = "mapped draws"  # of a site: it draws, and is written so
_VMAP = "jax.vmap"


def fits(project: Project, site: Site) -> bool:
    """Can all calls that a module is mapped for be written so?"""
    nodes = site.renders["mapped"]
    if any(project.qualname(site.source, node.func) != _VMAP for node in nodes) or site.alternatives:
        return False
    return all(_axes(site.source, node) is not None for node in nodes)


def write(writer: ClassWriter, site: Site) -> None:
    """The calls with the module as an argument of its own."""
    for node in site.renders["mapped"]:
        _write(writer, site.source, node)


def _write(writer: ClassWriter, source: SourceFile, node: ast.Call) -> None:
    axes, outer = _axes(source, node), source.parents[node]
    assert axes is not None and isinstance(outer, ast.Call)
    out = _options(node).get("out_axes")
    parts: list[Part] = [writer.namer.name("flax.nnx.vmap"), f"(lambda module, *args: module(*args), in_axes=(None, {axes})"]
    parts += [", out_axes=", source.span(out)] if out is not None else []
    parts += [")(", source.span(node.args[0])]
    for given in outer.args:
        parts += [", ", source.span(given)]
    writer.put(outer, *parts, ")", source=source)


def _axes(source: SourceFile, node: ast.Call) -> str | None:
    """The axes of what the mapped module is called with, one for each; None where they are not written out."""
    outer = source.parents.get(node)
    options = _options(node)
    if not isinstance(outer, ast.Call) or outer.func is not node or not outer.args or outer.keywords:
        return None
    if options.keys() - {"in_axes", "out_axes"} or any(isinstance(a, ast.Starred) for a in (*outer.args, *node.args)):
        return None
    given = options.get("in_axes", ast.Constant(0))
    each = given.elts if isinstance(given, ast.Tuple) else [given] * len(outer.args)
    if len(each) != len(outer.args) or not all(_is_axis(axis) for axis in each):
        return None
    return ", ".join(ast.unparse(axis) for axis in each)


def _options(node: ast.Call) -> dict[str, ast.expr]:
    named = dict(zip(("in_axes", "out_axes", "axis_name"), node.args[1:]))
    return named | {k.arg or "**": k.value for k in node.keywords}


def _is_axis(node: ast.expr) -> bool:
    found = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(found, ast.Constant) and (found.value is None or type(found.value) is int)


__all__ = ["NAME", "fits", "write"]
