"""Modules that are initialized and applied with variables from elsewhere, within a module, and never called themselves.

    conv = nn.Conv(8, (3, 3), parent=None)
    kernel = self.param("kernel", lambda key, x: conv.init(key, x)["params"]["kernel"], x)
    return conv.apply({"params": {"kernel": normalized(kernel), "bias": bias}}, x)

Such a module has no variables of its own, and is a `linen_parity.Detached`, which has `init` and `apply`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...catalog import layers
from ...source import SourceFile
from ...trees import of_kind, subtree
from ..values import detached
from ..values.arguments import Arguments
from ..values.sites import Abs, CallRecord, NameSpec, Site, Skipped, Table, Unmigratable
from ..values.values import Array, Const, Shape, Tup, Unknown, Value
from . import applied

_GIVING = frozenset({"init", "apply", "init_with_output"})
# Layers that are called with one array in NNX as in Linen, and have variables of the same names.
_WEIGHTS, _SCALES = ("kernel", "bias"), ("scale", "bias")
_LAYERS = {
    **{f"flax.linen.{name}": _WEIGHTS for name in ("Dense", "DenseGeneral", "Conv", "ConvTranspose", "ConvLocal")},
    **{f"flax.linen.{name}": _SCALES for name in ("LayerNorm", "RMSNorm", "GroupNorm")},
    "flax.linen.Embed": ("embedding",),
}


def note(run: Any, site: Site, node: ast.Call, env: Any) -> bool:
    """Is what a site makes such a module? It has no name in Linen, but may count among those of its class."""
    if site.lifted or site.scopes or site.loops or site.alternatives or site.foreign or run.path or site.name is not None:
        return False
    if site.source is not run.model.source or any(run.holds_module(b.abs.value) for b in site.bound.values()):
        return False
    project_class = run.analyser.classes.get(site.target)
    if project_class is None and site.target not in _LAYERS:
        return False
    holder = detached.holder(site.source, node, run.in_setup)
    uses = _uses(run, site.source, holder) if holder is not None else []
    read = {asked.attr for source, use in uses if (asked := _read(source, use)) is not None}
    if holder is None or not all(_read(*use) is not None or _is_applied(*use) for use in uses):
        return False
    if not any(_is_applied(*use) for use in uses) or not read <= (site.bound.keys() if site.kind == "layer" else set()):
        return False
    if isinstance(holder, ast.Attribute) and _is_asked_elsewhere(run, holder.attr):
        return False
    if site.target == "flax.linen.Dense" and run.in_setup and all(applied.is_plain(*use) for use in uses):
        return False  # a function does that
    if isinstance(holder, ast.Name):
        site.name = NameSpec(holder.id)
        apart = any(k.arg == "parent" for k in node.keywords)
        if not apart and layers.lookup(site.target) is not None:
            run.block.steps.append(Skipped(site.target.rpartition(".")[2], run.compact_calls + 1 if run.in_compact else 0))
        elif not apart:
            return False
    site.renders[detached.DETACHED] = tuple(sorted(read))
    return True


def _uses(run: Any, source: SourceFile, holder: ast.Name | ast.Attribute) -> list[tuple[SourceFile, ast.AST]]:
    """Where such a module is read or set otherwise."""
    if isinstance(holder, ast.Name):
        uses: list[tuple[SourceFile, ast.AST]] = [(source, n) for n in _named(source.names.scope_of(holder), holder.id)]
    else:
        family = {*run.model.mro(), *run.analyser.classes.derived(run.model)}
        uses = [
            (model.source, n)
            for model in family
            for n in of_kind(model.node, ast.Attribute)
            if isinstance(n, ast.Attribute) and n.attr == holder.attr and detached.is_self(n.value)
        ]
    return [(home, n) for home, n in uses if n is not holder]


def _is_asked_elsewhere(run: Any, attribute: str) -> bool:
    """May a module be asked for it by another one: `self.encoder.conv`?"""
    return any(
        isinstance(node, ast.Attribute) and node.attr == attribute and not detached.is_self(node.value)
        for model in run.analyser.classes
        if attribute in model.source.words
        for node in of_kind(model.node, ast.Attribute)
    )


def _named(scope: ast.AST | None, name: str) -> Iterator[ast.AST]:
    for node in subtree(scope) if scope is not None else ():
        if isinstance(node, ast.Name) and node.id == name:
            yield node


def _read(source: SourceFile, node: ast.AST) -> ast.Attribute | None:
    """`conv.features`: a field that is read."""
    asked = source.parents.get(node)
    read = isinstance(asked, ast.Attribute) and isinstance(asked.ctx, ast.Load) and asked.attr not in _GIVING
    return asked if read and isinstance(asked, ast.Attribute) else None


def _is_applied(source: SourceFile, node: ast.AST) -> bool:
    asked = source.parents.get(node)
    call = source.parents.get(asked) if isinstance(asked, ast.Attribute) and asked.attr in _GIVING else None
    return isinstance(call, ast.Call) and call.func is asked and isinstance(getattr(node, "ctx", None), ast.Load)


def called(run: Any, site: Site, method: str, node: ast.Call, arguments: Arguments, output: Any) -> Abs:
    """What `init` and `apply` give; `output`: what the module gives for a call."""
    options = {k: a for k, _, a in arguments.keywords if k in detached.OPTIONS}
    if arguments.starred() or len(arguments.positional) < 2 or any(k.arg == "method" for k in node.keywords):
        raise Unmigratable("NNX149", f"`{ast.unparse(node.func)}` is used", node)
    args, keywords = arguments.values(run)
    record = CallRecord(tuple(args[1:]), {k: v for k, v in keywords.items() if k not in options})
    if site.call is None:
        site.call = record
        site.renders["method"] = "__call__"
    made: Value = Unknown("the variables of a module")
    if site.kind == "layer":
        params = Table(dict.fromkeys(_LAYERS[site.target], Array(Shape.unknown())))
        made = Table({"params": params})
    if method == "init":
        return Abs(made, False, arguments.flags)
    result = output(run, site, "__call__", record)
    mutable = options.get("mutable")
    fixed = mutable is None or (isinstance(mutable.value, Const) and mutable.value.value is False)
    if method == "init_with_output":
        result = Tup((result, made))
    elif not fixed:
        result = Tup((result, Unknown("the variables that change")))
    return Abs(result, False, arguments.flags)


__all__ = ["called", "note"]
