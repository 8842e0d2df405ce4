"""Dropout, PReLU, Sequential, BatchApply and the float8 operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..edits import Parts
from ..linen.values.dims import Dim
from ..linen.values.values import Array, Const, Lead, Shape, Unknown, Value
from .layers import (
    AT_CALL,
    Arg,
    Built,
    Call,
    CallText,
    Draft,
    Layer,
    Param,
    Unsupported,
    ints_of,
    params,
    split_call,
)
from .layers_norm import unset_flag


class Dropout(Layer):
    linen = "flax.linen.Dropout"
    parameters = params("rate, broadcast_dims=(), deterministic=None, rng_collection='dropout'")
    call_parameters = params("inputs, deterministic=None, rng=None")
    collections = frozenset()
    streams = frozenset({"dropout"})
    call_time_fields: Mapping[str, str] = {"deterministic": "deterministic"}
    late_fields = frozenset({"rate"})
    instead_of_moved: Mapping[str, str] = {"rate": "None"}

    def streams_of(self, args: Mapping[str, Arg]) -> frozenset[str]:
        arg = args.get("rng_collection")
        if arg is None or not isinstance(arg.value, Const) or not isinstance(arg.value.value, str):
            return self.streams
        return frozenset({arg.value.value})

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        late = draft.args.get("rate", Arg(())).value == AT_CALL
        if late:
            draft.drop("rate")
        else:
            draft.move("rate", "rate", positional=True)
        unset_flag(draft, "deterministic")
        draft.rest()
        return draft.finish(draft.need("Dropout") if late else "flax.nnx.Dropout")

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return call.get("inputs", Unknown("nn.Dropout without an input"))

    def call(
        self, args: Mapping[str, Arg], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]]
    ) -> CallText:
        kept, named = split_call(self.call_parameters, positional, keywords, 1)
        return kept, [("rngs" if name == "rng" else name, parts) for name, parts in named], None


class PReLU(Layer):
    linen = "flax.linen.PReLU"
    parameters = params("param_dtype=jnp.float32, negative_slope_init=0.01")

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        draft.rest()
        return draft.finish("flax.nnx.PReLU", rngs=False)

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return call.get("inputs", Unknown("nn.PReLU without an input"))


class Sequential(Layer):
    """NNX takes the layers one by one. The writer runs the chain of calls itself: each needs the last one's result."""

    linen = "flax.linen.Sequential"
    parameters = params("layers")
    call_parameters = params("*args")
    collections = frozenset()
    wrapper = True

    def bind_call(self, call: Call) -> dict[str, Value]:
        return dict(call.keywords)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        layers = draft.args.get("layers")
        if layers is None or draft.is_partial:
            raise Unsupported("NNX203", "nn.Sequential in a partial")
        return Built("flax.nnx.Sequential", (("*", *layers.parts),), rngs=False, names=("layers",))

    def inner_calls(self, args: Mapping[str, Arg], call: Call) -> dict[str, Call]:
        return {"layers": call}

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return inner.get("layers", Unknown("the result of nn.Sequential"))


class BatchApply(Layer):
    """No Linen module but a plain class; the parity class is the same. `f` may be a layer or any function."""

    linen = "flax.linen.BatchApply"
    parameters = params("f, num_dims=2")
    call_parameters = params("*args")
    collections = frozenset()
    wrapper = True

    def bind_call(self, call: Call) -> dict[str, Value]:
        return dict(call.keywords)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        draft.move("f", "f", positional=True)
        draft.move("num_dims", "num_dims", positional=True)
        return draft.finish(draft.need("BatchApply"), rngs=False)

    def _merged(self, args: Mapping[str, Arg], value: Value) -> Value:
        count = 2 if "num_dims" not in args else (ints_of(args["num_dims"]) or (None,))[0]
        if not isinstance(value, Array) or count is None:
            return value
        shape = value.shape
        if shape.rank is None:
            return _last_width(shape)
        if shape.rank < count:
            return value
        first: Dim | None = Dim.of(1)
        for i in range(count):
            size = shape.dim(i)
            first = None if size is None or first is None else first * size
        return Array(Shape.of(first, *[shape.dim(i) for i in range(count, shape.rank)]))

    def inner_calls(self, args: Mapping[str, Arg], call: Call) -> dict[str, Call]:
        merged = {k: self._merged(args, v) for k, v in call.keywords.items()}
        return {"f": Call(tuple(self._merged(args, v) for v in call.args), merged)}

    def output(self, args: Mapping[str, Arg], call: Call, inner: Mapping[str, Value] | None = None) -> Value:
        result = {**self.inner_results(args, call), **(inner or {})}.get("f")
        count = 2 if "num_dims" not in args else (ints_of(args["num_dims"]) or (None,))[0]
        example = next((v for v in [*call.args, *call.keywords.values()] if isinstance(v, Array)), None)
        if isinstance(result, Unknown):
            return Unknown(result.why)
        if not isinstance(result, Array) or example is None or count is None:
            return Unknown("the result of the function within BatchApply")
        if result.shape.rank is None or example.shape.rank is None:
            return _last_width(result.shape)
        lead = [example.shape.dim(i) for i in range(count)]
        return Array(Shape.of(*lead, *result.shape.dims[1:]))


def _last_width(shape: Shape) -> Array:
    """An array of which only the last dimension is known to be that of another, whose leading ones are merged or split."""
    return Array(Shape((shape.dim(-1),), Lead.unknown(*shape.needs())))


class Fp8(Layer):
    """Float8 operations keep scales and histories in collections of their own; NNX has no counterpart."""

    parameters: tuple[Param, ...] = ()

    def __init__(self, name: str, fields: str) -> None:
        self.linen = f"flax.linen.{name}"
        self.parameters = params(fields)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        raise Unsupported("NNX203", f"{self.linen} has no counterpart in flax.nnx")

    def bind_call(self, call: Call) -> dict[str, Value]:
        return dict(call.keywords)

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return Unknown(f"the result of {self.linen}")


_FP8 = "amax_history_length=1024, e4m3_dtype=jnp.float8_e4m3fn, e5m2_dtype=jnp.float8_e5m2"

LAYERS: tuple[Layer, ...] = (
    Dropout(),
    PReLU(),
    Sequential(),
    BatchApply(),
    *[
        Fp8(name, _FP8)
        for name in ("Fp8DotGeneralOp", "Fp8DotGeneral", "Fp8DirectDotGeneralOp", "NANOOFp8DotGeneralOp", "Fp8Einsum")
    ],
)
