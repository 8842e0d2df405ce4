"""Calls of a layer's subclass that has a `__call__` of its own: `class MyNorm(nn.GroupNorm)` with `super().__call__(x)`.

The method is followed where the module is called, in terms of the caller's arrays; what it hands to the layer is what
the layer's sizes come from.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..project.classes import Method
from ..values.apart import run_apart
from ..values.dims import Dim
from ..values.environment import Env
from ..values.sites import Abs, CallRecord, Site, Unmigratable
from ..values.values import Array, Unknown, Value
from .layer_classes import layer_class


@dataclasses.dataclass
class LayerCall:
    """Such a call as it is followed."""

    site: Site
    method: Method
    given: Value  # what the module itself is called with, first


def own_call(classes: Any, site: Site) -> Method | None:
    """The `__call__` that the class of a layer's site adds; None where the layer's own is called."""
    variant = site.factory.variant if site.factory is not None else ""
    found = layer_class(classes, variant) if variant else None
    return found.model.own_methods.get("__call__") if found is not None else None


def followed(run: Any, site: Site, method: Method, record: CallRecord) -> Value:
    """What the call gives."""
    names = [p.arg for p in method.positional]
    if len(record.args) > len(names):
        raise Unmigratable("NNX136", f"`{site.factory.text if site.factory else ''}` is given *args", site.node)
    given: dict[str, Value] = {**dict(zip(names, record.args)), **record.keywords}
    bound = {name: Abs(value) for name, value in given.items()}
    for parameter in method.parameters:
        default = method.default(parameter.arg)
        if parameter.arg not in bound:
            bound[parameter.arg] = run.constant(default, method.source) if default is not None else Abs(Unknown("argument"))
    first = given.get(names[0], Unknown("argument")) if names else Unknown("argument")
    run.layer_calls.append(LayerCall(site, method, first))
    made = len(run.sites)
    try:
        result = run_apart(run, method.node, Env(bound, method.source, method=method))
    finally:
        run.layer_calls.pop()
    if len(run.sites) > made:
        raise Unmigratable("NNX136", f"{method.owner.name} is a layer whose `__call__` makes more modules", site.node)
    return result.value


def layer_itself(run: Any, node: ast.Call, arguments: list[Value], env: Any) -> Value | None:
    """`super().__call__(x)` in such a method; None anywhere else."""
    call: LayerCall | None = run.layer_calls[-1] if run.layer_calls else None
    if call is None or env.method is not call.method:
        return None
    from .module_calls import layer_output

    (value,) = arguments
    site, given = call.site, call.given
    widths = [_width(value), _width(given)]
    if None in widths:
        raise Unmigratable("NNX110", f"the input size of {call.method.owner.name} is not known", node)
    several_axes = {"feature_axes", "reduction_axes"} & set(site.bound)
    if widths[0] != widths[1] or (several_axes and value != given):
        reason = f"{call.method.owner.name} changes the number of features before it calls the layer that it inherits from"
        raise Unmigratable("NNX136", reason, node)
    return layer_output(run, site, CallRecord((value,), {}))


def _width(value: Value) -> Dim | None:
    """The last dimension of an array; new axes before all others (`x[None]`) leave it what it was."""
    if not isinstance(value, Array):
        return None
    shape = value.shape
    if shape.lead is not None and shape.lead.head and not shape.lead.skipped:
        shape = dataclasses.replace(shape, lead=dataclasses.replace(shape.lead, head=()))
    return shape.dim(-1)
