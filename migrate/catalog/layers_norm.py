"""Normalisation layers: the same numbers as Linen's, mixed precision and several axes included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..edits import Parts
from ..linen.values.values import Array, Const, Unknown, Value
from .layers import (
    Arg,
    Built,
    Call,
    CallText,
    Draft,
    Layer,
    Ref,
    SizeUnknown,
    Unsupported,
    ints_of,
    is_const,
    is_float32,
    is_none,
    params,
    shape_of,
    split_call,
    why_of,
)


def keeps_order(args: Mapping[str, Arg]) -> bool:
    """NNX promotes inputs before the statistics, Linen only the result; the same for an unset or float32 dtype."""
    return is_none(args.get("dtype")) or is_float32(args.get("dtype"))


def keep_dtype(draft: Draft) -> None:
    draft.put("promote_dtype", draft.need("keep"))


def unset_flag(draft: Draft, field: str) -> None:
    """Linen raises where a flag is set neither in the constructor nor in the call; NNX would train."""
    call = draft.call
    if field in draft.args or draft.is_partial:
        return
    bound = None
    if call is not None:  # both layers with a flag take it after the input
        bound = call.keywords.get(field) or (call.args[1] if len(call.args) > 1 else None)
    if bound is None or bound == Const(None) or (call is not None and field in call.optional):
        draft.put(field, "None")


class _Norm(Layer):
    """What the norms share: `feature_axes`, precision, reductions and the parity class that does the rest."""

    axes_field = "feature_axes"
    dtype_when_called = True
    call_parameters = params("x, *, mask=None")

    def general(self, args: Mapping[str, Arg]) -> bool:
        """Does the configuration need the parity class?"""
        axes_arg = args.get(self.axes_field)
        axes = (-1,) if axes_arg is None else ints_of(axes_arg)
        forced = args.get("force_float32_reductions")
        return axes is None or len(axes) != 1 or (forced is not None and not is_const(forced, True))

    def features(self, draft: Draft, call: Mapping[str, Value] | None) -> None:
        """The size of the feature axis, or the shape over several of them."""
        if draft.is_partial:
            return
        value = call.get("x") if call else None
        shape = shape_of(value)
        axes_arg = draft.args.get(self.axes_field)
        axes = (-1,) if axes_arg is None else ints_of(axes_arg)
        if axes is None:
            raise SizeUnknown("num_features", f"{self.axes_field} of {self.linen} is not a constant")
        if len(axes) > 1:  # Linen takes the axes in ascending order
            mixed = any(a < 0 for a in axes) and any(a >= 0 for a in axes)
            if mixed and shape.rank is None:
                raise SizeUnknown("num_features", f"{self.axes_field} counts from both ends, the rank is unknown")
            rank = shape.rank or 0
            axes = tuple(sorted(axes, key=lambda a: a % rank if mixed else a))
        sizes = [shape.dim(a) for a in axes]
        if len(sizes) == 1:
            draft.size("num_features", sizes[0], why_of(value))
            return
        if any(s is None for s in sizes):
            raise SizeUnknown("num_features", why_of(value))
        draft.put_positional("num_features", ("(" + ", ".join(draft.text(s) for s in sizes if s is not None) + ")",))

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        general = self.general(draft.args)
        self.features(draft, call)
        self.own_arguments(draft)
        name = self.linen.rpartition(".")[2]
        if general:
            draft.rest()
            return draft.finish(draft.need(name))
        draft.drop("force_float32_reductions")
        draft.rest()
        if not self.same_precision(draft.args):
            keep_dtype(draft)
        return draft.finish(f"flax.nnx.{name}")

    def call(
        self, args: Mapping[str, Arg], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]]
    ) -> CallText:
        kept, named = split_call(self.call_parameters, positional, keywords, 1)
        if not self.general(args):  # the parity classes take any mask
            named = [(n, (Ref("linen_parity.as_mask"), "(", *p, ")") if n == "mask" else p) for n, p in named]
        return kept, named, None

    def parity_of_call(self, args: Mapping[str, Arg], keywords: Iterable[str | None]) -> tuple[str, ...]:
        return ("as_mask",) if "mask" in keywords and not self.general(args) else ()

    def own_arguments(self, draft: Draft) -> None:
        """Hook: positional arguments, flags."""

    def same_precision(self, args: Mapping[str, Arg]) -> bool:
        return keeps_order(args)

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        value = call.get("x")
        return Array(value.shape) if isinstance(value, Array) else Unknown(why_of(value))


_TAIL = "axis_name=None, axis_index_groups=None, use_fast_variance=True, force_float32_reductions=True"
_AFFINE = (
    "epsilon=1e-6, dtype=None, param_dtype=jnp.float32, use_bias=True, use_scale=True, bias_init=initializers.zeros,"
    "scale_init=initializers.ones"
)


class LayerNorm(_Norm):
    linen = "flax.linen.LayerNorm"
    parameters = params(f"{_AFFINE}, reduction_axes=-1, feature_axes=-1, {_TAIL}")


class RMSNorm(_Norm):
    linen = "flax.linen.RMSNorm"
    parameters = params(
        "epsilon=1e-6, dtype=None, param_dtype=jnp.float32, use_scale=True, scale_init=initializers.ones,"
        f"reduction_axes=-1, feature_axes=-1, {_TAIL}"
    )


class InstanceNorm(_Norm):
    linen = "flax.linen.InstanceNorm"
    parameters = params(f"{_AFFINE}, feature_axes=-1, {_TAIL}")


class GroupNorm(_Norm):
    linen = "flax.linen.GroupNorm"
    parameters = params(f"num_groups=32, group_size=None, {_AFFINE}, reduction_axes=None, {_TAIL}")
    axes_field = "-"

    def general(self, args: Mapping[str, Arg]) -> bool:
        # With reduction axes of its own the statistics have more dimensions, and NNX repeats the wrong one.
        return super().general(args) or not is_none(args.get("reduction_axes"))

    def own_arguments(self, draft: Draft) -> None:
        draft.move("num_groups", "num_groups")
        draft.move("group_size", "group_size")


class BatchNorm(_Norm):
    linen = "flax.linen.BatchNorm"
    parameters = params(
        "use_running_average=None, axis=-1, momentum=0.99, epsilon=1e-5, dtype=None, param_dtype=jnp.float32,"
        "use_bias=True, use_scale=True, bias_init=initializers.zeros, scale_init=initializers.ones,"
        f"{_TAIL}"
    )
    call_parameters = params("x, use_running_average=None, *, mask=None")
    axes_field = "axis"
    collections = frozenset({"params", "batch_stats"})
    call_time_fields: Mapping[str, str] = {"use_running_average": "use_running_average"}

    def own_arguments(self, draft: Draft) -> None:
        unset_flag(draft, "use_running_average")

    def same_precision(self, args: Mapping[str, Arg]) -> bool:
        if is_float32(args.get("dtype")):
            return True
        # NNX promotes together with the float32 statistics; the same where scale or bias is float32 anyway.
        stored = args.get("param_dtype")
        wide = stored is None or is_float32(stored)
        used = any(args.get(f) is None or is_const(args.get(f), True) for f in ("use_scale", "use_bias"))
        return is_none(args.get("dtype")) and wide and used


class _WeightTransform(Layer):
    """WeightNorm and SpectralNorm: parity classes around an NNX layer; NNX's own overwrite the layer's weights.

    A layer that lives in an attribute of its own (its argument is printed `self.Dense_0`) is named in the constructor
    and given to every call; one that is constructed in place lives in the wrapper, as in Linen.
    """

    call_parameters = params("*args")

    def bind_call(self, call: Call) -> dict[str, Value]:
        return dict(call.keywords)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        draft.move("layer_instance", "layer_instance", positional=True)
        attribute = self._attribute(draft.args)
        if attribute:
            draft.put("name", repr(attribute))
        draft.rest()
        return draft.finish(draft.need(self.linen.rpartition(".")[2]))

    def _attribute(self, args: Mapping[str, Arg]) -> str:
        arg = args.get("layer_instance")
        text = arg.parts[0] if arg is not None and len(arg.parts) == 1 else ""
        name = text.removeprefix("self.") if isinstance(text, str) and text.startswith("self.") else ""
        if name and not name.isidentifier():
            raise Unsupported("NNX203", f"{self.linen.removeprefix('flax.linen.')} of a layer that lives in a list")
        return "" if name == "_" else name  # `_`: made in its place, with no attribute of its own

    def call(
        self, args: Mapping[str, Arg], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]]
    ) -> CallText:
        attribute = self._attribute(args)
        shared: list[tuple[str | None, Parts]] = [("layer_instance", (f"self.{attribute}",))] if attribute else []
        return list(positional), [*keywords, *shared], None

    def inner_calls(self, args: Mapping[str, Arg], call: Call) -> dict[str, Call]:
        kept = {k: v for k, v in call.keywords.items() if k != "update_stats"}
        return {"layer_instance": Call(call.args, kept)}

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return inner.get("layer_instance", Unknown(f"the result of the layer within {self.linen}"))


class WeightNorm(_WeightTransform):
    linen = "flax.linen.WeightNorm"
    parameters = params(
        "layer_instance, epsilon=1e-12, dtype=None, param_dtype=jnp.float32, use_scale=True,"
        "scale_init=initializers.ones, feature_axes=-1, variable_filter={'kernel'}"
    )


class SpectralNorm(_WeightTransform):
    linen = "flax.linen.SpectralNorm"
    parameters = params(
        "layer_instance, n_steps=1, epsilon=1e-12, dtype=None, param_dtype=jnp.float32, error_on_non_matrix=False,"
        "collection_name='batch_stats'"
    )
    collections = frozenset({"params", "batch_stats"})

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        name = draft.args.get("collection_name")
        if name is not None and not is_const(name, "batch_stats"):
            raise Unsupported("NNX203", "nn.SpectralNorm with a collection of its own")
        draft.drop("collection_name")
        return super().draft(draft, call)


LAYERS: tuple[Layer, ...] = (
    LayerNorm(),
    RMSNorm(),
    InstanceNorm(),
    GroupNorm(),
    BatchNorm(),
    WeightNorm(),
    SpectralNorm(),
)
