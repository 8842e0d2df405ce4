"""`self.head.apply({"params": {"kernel": k}}, x)`: a layer of setup called with weights that are not its own."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ..values.dims import Dim
from ..values.sites import Abs, Module, Site, Unmigratable
from ..values.values import Array, Int, Shape, Value

# What changes the result of a Dense that is given its weights, by the parity function's keyword.
DENSE_OPTIONS = ("use_bias", "dtype", "precision")
_WITHOUT_EFFECT = frozenset({"features", "param_dtype", "kernel_init", "bias_init", "name"})
REFUSED_METHODS = frozenset({"init", "init_with_output", "lazy_init", "bind", "unbind", "clone", "copy", "apply"})


@dataclasses.dataclass(frozen=True, eq=False)
class Applied:
    """One such call."""

    node: ast.Call
    source: SourceFile
    site: Site
    inputs: ast.expr
    weights: dict[str, ast.expr]


def apply_layer(run: Any, module: Module, node: ast.Call, env: Any) -> Abs:
    """The call, noted for the writer; its result has the layer's width."""
    site = module.site
    weights = _weights(node)
    refused = Unmigratable("NNX149", f"`{ast.unparse(node.func)}` is used", node)
    if weights is None or site.target != "flax.linen.Dense" or site.lifted or site.loops or not site.in_setup:
        raise refused
    if set(site.bound) - set(DENSE_OPTIONS) - _WITHOUT_EFFECT or set(weights) - {"kernel", "bias"}:
        raise refused
    if "kernel" not in weights:
        raise refused
    for expression in weights.values():
        run.evaluate(expression, env)
    inputs = run.evaluate(node.args[1], env)
    run.applied[node] = Applied(node, env.source, site, node.args[1], weights)
    features = run.plain(site.bound["features"].abs.value)
    return Abs(_output(inputs.value, features.dim if isinstance(features, Int) else None), False, inputs.flags)


def is_plain(source: SourceFile, node: ast.AST) -> bool:
    """Is what a module is applied to written out, so that its layer's function can be called with that?"""
    called = source.parents.get(node)
    call = source.parents.get(called) if called is not None else None
    return isinstance(call, ast.Call) and _weights(call) is not None


def _output(inputs: Value, features: Dim | None) -> Value:
    if isinstance(inputs, Array):
        return Array(inputs.shape.replace_last(1, features))
    return Array(Shape((features,), Shape.unknown(*getattr(inputs, "arguments", ())).lead))


def _weights(node: ast.Call) -> dict[str, ast.expr] | None:
    """`{"params": {"kernel": k}}` as a dict display with constant keys."""
    if len(node.args) != 2 or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    collections = _entries(node.args[0])
    if collections is None or set(collections) != {"params"}:
        return None
    return _entries(collections["params"])


def _entries(node: ast.expr) -> dict[str, ast.expr] | None:
    if not isinstance(node, ast.Dict) or not node.keys:
        return None
    found = {k.value: v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant) and isinstance(k.value, str)}
    return found if len(found) == len(node.keys) else None
