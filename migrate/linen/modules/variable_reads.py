"""Variables read without `self.variable`: `self.variables["cache"]["key"]`, `self.get_variable("cache", "key")`.

What is read is noted, and said once every class is planned: `self.key[...]`, or a path through submodules.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...catalog import layers
from ...source import SourceFile
from ..values.replacing import replace_dims
from ..values.sites import Abs, Module, Site, Unmigratable
from ..values.values import Array, Const, Shape, Value
from .module_calls import layer_arg

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
    site      the submodule's site; where `self` is read, that of a submodule which its own compact method makes
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
    found_shape = _variable_shape(run, site, names[0], names[1:]) if len(names) > 1 else None
    if found_shape is None:
        return None
    inner = _made_here(run, names[1]) if site is None and len(names) > 2 and names[1] not in run.attributes else None
    read = VariableRead(node, env.source, base, site or inner, names[0], tuple(names[1:]))
    run.variable_reads[node] = read
    run.followed.add(holder)
    return Abs(found_shape, False)


def _variable_shape(run: Any, site: Site | None, collection: str, path: list[str]) -> Value | None:
    """The shape of the variable these names lead to; None where they lead to the dict of a submodule's variables."""
    if site is None:
        own = _own(run, collection, path[0]) if len(path) == 1 else None
        if own is not None and isinstance(own.shape, Array):
            return own.shape
        return Array(Shape.unknown()) if len(path) == 1 else _inner(run, path)
    return leads_to(run, site, tuple(path))


def _inner(run: Any, path: list[str]) -> Value | None:
    held = run.attributes.get(path[0])
    if held is not None:
        return leads_to(run, held.value.site, tuple(path[1:])) if isinstance(held.value, Module) else None
    made = _made_here(run, path[0])
    return leads_to(run, made, tuple(path[1:])) if made is not None else None


def _made_here(run: Any, name: str) -> Site | None:
    """The submodule that compact methods make under a name, given or counted; None where that is not certain."""
    modules = [s for s in run.sites if s.kind in ("layer", "class") and not s.in_setup and not s.held]
    named = [s for s in modules if s.name is not None and s.name.constant == name]
    stem, _, number = name.rpartition("_")
    alike = [s for s in modules if s.name is None and stem in {t.rpartition(".")[2] for t in _targets(s)}]
    plain = not any(_is_one_of_several(s) for s in (*named, *alike)) and len({s.node for s in alike}) == len(alike)
    if named:
        return named[0] if plain and len(named) == 1 and not alike else None
    counted = number.isdigit() and str(int(number)) == number and int(number) < len(alike)
    return alike[int(number)] if plain and counted else None


def _targets(site: Site) -> set[str]:
    variant = site.factory.variant if site.factory is not None else ""
    return {variant or site.target, *[other.target for other in site.alternatives]}


def _is_one_of_several(site: Site) -> bool:
    """May there be several of it, or none, or may it have another name?"""
    return bool(
        site.loops or site.conditions or site.through or site.alternatives or site.choice or site.lifted or site.scopes
    )


def leads_to(run: Any, site: Site, path: tuple[str, ...]) -> Value | None:
    """The shape of the variable under Linen's names below a submodule, where each name is an attribute in NNX too."""
    if any(lifted.kind not in ("remat", "jit") for lifted in site.lifted) or site.loops:
        return None
    if site.kind == "layer":
        known = len(path) == 1 and path[0] in _SAME_NAMES.get(site.target, ())
        return _layer_shape(run, site, path[0]) if known else None
    if site.kind != "class" or site.foreign or not path:
        return None
    called = run.analyser.execution(site.target)
    for inner in called.sites:
        name = inner.name.constant if inner.name is not None else inner.container
        if name != path[0] or (inner.in_setup and inner.container != name) or inner.lazy or inner.loops:
            continue
        if inner.kind in ("param", "variable"):
            found: Value | None = (inner.shape or Array(Shape.unknown())) if len(path) == 1 else None
        else:
            found = leads_to(called, inner, path[1:])
        if found is None:
            return None
        return _as_seen(run, site, called, found)
    made = _made_here(called, path[0]) if len(path) > 1 else None
    found = leads_to(called, made, path[1:]) if made is not None and made.name is None else None
    return _as_seen(run, site, called, found) if found is not None else None


def _as_seen(run: Any, site: Site, called: Any, found: Value) -> Value:
    """A shape of what a submodule holds in the terms of the class that has the submodule."""
    seen = replace_dims(found, run.analyser.substitution(run, site, called, {}))
    return seen if isinstance(seen, Array) else Array(Shape.unknown())


def _layer_shape(run: Any, site: Site, name: str) -> Value:
    """The shape of a layer's variable, where the layer's arguments say it."""
    args = {k: layer_arg(run, site.target, k, a) for k, a in site.bound.items()}
    if name == "embedding":
        return Array(Shape((layers.size_of(args.get("num_embeddings")), layers.size_of(args.get("features")))))
    if name == "kernel" and site.target == "flax.linen.Dense":
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
            return Abs(_variable_shape(run, None, texts[0], [texts[1]]) or Array(Shape.unknown()), False)
    raise Unmigratable("NNX147", f"`{ast.unparse(node)}` is used", node)


def own_variable(run: Any, read: VariableRead) -> Site:
    """The site in the class itself that makes what is read."""
    site = _own(run, read.collection, read.path[0])
    if site is None:
        raise Unmigratable("NNX164", f"`{ast.unparse(read.node)}` is used, which this class does not make", read.node)
    return site


def _own(run: Any, collection: str, name: str) -> Site | None:
    for site in run.sites:
        if site.kind not in ("param", "variable") or site.loops or site.name is None:
            continue
        if ("params" if site.kind == "param" else site.target) == collection and site.name.constant == name:
            return site  # type: ignore[no-any-return]
    return None


__all__ = ["VariableRead", "get_variable", "leads_to", "own_variable", "subscript", "variables_of"]
