"""Variables read without `self.variable`: `self.variables["cache"]["key"]`, `self.get_variable("cache", "key")`.

What is read is noted, and said once every class is planned: `self.key[...]`, or a path through submodules.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..catalog import layers
from ..source import SourceFile
from .module_calls import layer_arg
from .sites import Abs, Module, Site, Unmigratable
from .values import Array, Const, Shape, Value

# Layers whose variables NNX keeps under Linen's names, in an attribute each.
_SAME_NAMES = {
    f"flax.linen.{layer}": names
    for layer, names in {
        "Dense": ("kernel", "bias"),
        "DenseGeneral": ("kernel", "bias"),
        "Einsum": ("kernel", "bias"),
        "Conv": ("kernel", "bias"),
        "ConvTranspose": ("kernel", "bias"),
        "Embed": ("embedding",),
        "LayerNorm": ("scale", "bias"),
        "RMSNorm": ("scale",),
        "GroupNorm": ("scale", "bias"),
        "InstanceNorm": ("scale", "bias"),
        "BatchNorm": ("scale", "bias", "mean", "var"),
    }.items()
}


@dataclasses.dataclass(frozen=True, eq=False)
class VariableRead:
    """A variable read by its collection and names.

    node      the expression to replace, in `source`
    base      the submodule's expression; None where `self` is read
    site      the submodule's site; None where `self` is read
    path      Linen's names below it, the variable's own last
    """

    node: ast.expr
    source: SourceFile
    base: ast.expr | None
    site: Site | None
    collection: str
    path: tuple[str, ...]


def variables_of(node: ast.expr) -> tuple[ast.Attribute, list[ast.expr]] | None:
    """(`x.variables`, the keys after it) of `x.variables[a][b]`."""
    keys: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        keys.append(node.slice)
        node = node.value
    if keys and isinstance(node, ast.Attribute) and node.attr == "variables":
        return node, keys[::-1]
    return None


def subscript(run: Any, node: ast.Subscript, env: Any) -> Abs | None:
    """`self.variables["params"]["kernel"]`, `self.embed.variables["params"]["embedding"]`; None for anything else."""
    found = variables_of(node)
    if found is None:
        return None
    holder, keys = found
    site: Site | None = None
    base: ast.expr | None = None
    if isinstance(holder.value, ast.Name) and holder.value.id == "self" and env.get("self") is None:
        if "variables" in run.fields or "variables" in run.attributes:
            return None
    else:
        held = run.evaluate(holder.value, env).value
        if not isinstance(held, Module):
            return None
        base, site = holder.value, held.site
    names: list[str] = []
    for key in keys:
        value = run.evaluate(key, env).value
        if not isinstance(value, Const) or not isinstance(value.value, str):
            return None  # an index into the array, or nothing that can be followed; the inner reading decides
        names.append(value.value)
    if len(names) < 2 or not _is_variable(run, site, names[1:]):
        return None
    read = VariableRead(node, env.source, base, site, names[0], tuple(names[1:]))
    run.variable_reads[node] = read
    run.followed.add(holder)
    return Abs(_shape(run, read), False)


def _is_variable(run: Any, site: Site | None, path: list[str]) -> bool:
    """Do these names lead to a variable, rather than to the dict of a submodule's variables?"""
    if site is None:
        return len(path) == 1 or _inner(run, path) is not None
    return leads_to(run, site, tuple(path)) is not None


def _inner(run: Any, path: list[str]) -> tuple[Site, tuple[str, ...]] | None:
    held = run.attributes.get(path[0])
    if held is None or not isinstance(held.value, Module):
        return None
    return leads_to(run, held.value.site, tuple(path[1:]))


def leads_to(run: Any, site: Site, path: tuple[str, ...]) -> tuple[Site, tuple[str, ...]] | None:
    """(the layer or class that holds the variable, attributes on the way) for Linen's names below a submodule."""
    if any(lifted.kind not in ("remat", "jit") for lifted in site.lifted) or site.loops:
        return None
    if site.kind == "layer":
        return (site, path) if len(path) == 1 and path[0] in _SAME_NAMES.get(site.target, ()) else None
    if site.kind != "class" or not path:
        return None
    called = run.analyser.execution(site.target)
    for inner in called.sites:
        name = inner.name.constant if inner.name is not None else inner.container
        if name != path[0] or (inner.in_setup and inner.container != name) or inner.lazy or inner.loops:
            continue
        if inner.kind in ("param", "variable"):
            return (inner, path) if len(path) == 1 else None
        found = leads_to(called, inner, path[1:])
        return (found[0], path) if found is not None else None
    return None


def _shape(run: Any, read: VariableRead) -> Value:
    """The shape of what is read, where the layer's arguments say it."""
    if read.site is not None and read.site.kind == "layer":
        args = {k: layer_arg(run, read.site.target, k, a) for k, a in read.site.bound.items()}
        if read.path == ("embedding",):
            return Array(Shape((layers.size_of(args.get("num_embeddings")), layers.size_of(args.get("features")))))
        if read.path == ("kernel",) and read.site.target == "flax.linen.Dense":
            return Array(Shape((None, layers.size_of(args.get("features")))))
    return Array(Shape.unknown())


def get_variable(run: Any, node: ast.Call, env: Any) -> Abs:
    """`self.get_variable(collection, name)`: the value, which must be there."""
    given = [*node.args, *[k.value for k in node.keywords if k.arg in ("col", "name")]]
    names = [run.evaluate(argument, env).value for argument in given]
    if len(given) == 2 and len(node.args) + len(node.keywords) == 2:
        texts = [v.value for v in names if isinstance(v, Const) and isinstance(v.value, str)]
        if len(texts) == 2:
            run.variable_reads[node] = VariableRead(node, env.source, None, None, texts[0], (texts[1],))
            return Abs(Array(Shape.unknown()), False)
    raise Unmigratable("NNX147", f"`{ast.unparse(node)}` is used", node)


def own_variable(run: Any, read: VariableRead) -> Site:
    """The site in the class itself that makes what is read."""
    for site in run.sites:
        if site.kind not in ("param", "variable") or site.loops:
            continue
        collection = "params" if site.kind == "param" else site.target
        if collection == read.collection and site.name is not None and site.name.constant == read.path[0]:
            return site  # type: ignore[no-any-return]
    raise Unmigratable("NNX164", f"`{ast.unparse(read.node)}` is used, which this class does not make", read.node)


__all__ = ["VariableRead", "get_variable", "leads_to", "own_variable", "subscript", "variables_of"]
