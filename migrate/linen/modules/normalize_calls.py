"""`_normalize(self, x, mean, var, ...)` of flax.linen.normalization, as norms of one's own are written with it.

It makes the parameters `scale` and `bias` of the module that it is given, of the sizes of the feature axes; NNX's
constructor makes them, and linen_parity's `normalize` finds them there.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ..values.arguments import Arguments
from ..values.replacing import sayable
from ..values.sites import Abs, Block, Branch, Localized, Make, NameSpec, SelfModule, Site, Unmigratable
from ..values.values import Array, Int, Tup, Value

NAME = "flax.linen._normalize"
_PARAMETERS = (
    "mdl", "x", "mean", "var", "reduction_axes", "feature_axes", "dtype", "param_dtype", "epsilon", "use_bias", "use_scale",
    "bias_init", "scale_init", "force_float32_reductions",
)  # fmt: skip
_DROPPED = frozenset({"use_bias", "use_scale", "bias_init", "scale_init"})


@dataclasses.dataclass(frozen=True, eq=False)
class Normalized:
    """One such call, for the writer: its arguments that stay, by name."""

    source: SourceFile
    kept: dict[str, ast.expr]


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureShape:
    """The shape of such a parameter: the sizes of the axes `axes` of an array of this shape."""

    array: Array
    axes: Localized


def normalize(run: Any, node: ast.Call, arguments: Arguments, env: Any) -> Abs:
    """The call: the parameters that it makes, and its result."""
    given = dict(zip(_PARAMETERS, arguments.positional)) | {str(k): (n, a) for k, n, a in arguments.keywords}
    wrong = arguments.starred() or not set(_PARAMETERS[:-1]) <= set(given) <= set(_PARAMETERS)
    if wrong or not isinstance(given["mdl"][1].value, SelfModule) or run.in_setup or run.loops or run.scopes:
        raise Unmigratable("NNX135", f"`{ast.unparse(node.func)}` of Linen makes parameters where it is not followed", node)
    x = run.plain(given["x"][1].value)
    for use, name in (("use_scale", "scale"), ("use_bias", "bias")):
        test_node, test = given[use]
        certain = run.truth(test.value)
        if certain is False:
            continue
        site = _site(run, node, env, name, given, x)
        if certain:
            run.block.steps.append(Make(site))
            continue
        said = run.localize(test_node, env)
        if said is None:
            raise Unmigratable("NNX111", f"whether there is a `{name}` is known only when the module is called", node)
        run.block.steps.append(Branch(said, Block([Make(site)]), Block(), env.source))
    kept = {key: argument for key, (argument, _) in given.items() if key not in _DROPPED}
    run.normalized[node] = Normalized(env.source, kept)
    return Abs(x, False, arguments.flags)


def _site(run: Any, node: ast.Call, env: Any, name: str, given: dict[str, tuple[ast.expr, Abs]], x: Value) -> Site:
    site = Site("param", node, env.source, "params", method=run.entry, holder=run.holder)
    site.name = NameSpec(name, node)
    init, dtype = (run.localize(given[key][0], env) for key in (f"{name}_init", "param_dtype"))
    axes = run.localize(given["feature_axes"][0], env)
    if init is None or dtype is None or axes is None or not isinstance(x, Array):
        what = "the shape" if init is not None and dtype is not None else "what"
        raise Unmigratable("NNX111", f"{what} the parameter `{name}` starts from is known only when it is called", node)
    site.init_localized = (init, dtype)
    last = x.shape.dim(-1)
    if _is_last(given["feature_axes"][1].value) and last is not None:
        site.renders["features"] = last
    elif sayable(x.shape):
        site.renders["features"] = FeatureShape(x, axes)
    else:
        raise Unmigratable("NNX110", f"the whole shape of `{ast.unparse(given['x'][0])}` is not known", node)
    site.shape = Array(x.shape)
    site.origin = len(run.sites)
    run.sites.append(site)
    return site


def _is_last(axes: Value) -> bool:
    items = axes.items if isinstance(axes, Tup) else (axes,)
    return len(items) == 1 and isinstance(items[0], Int) and items[0].dim.value == -1


__all__ = ["NAME", "FeatureShape", "Normalized", "normalize"]
