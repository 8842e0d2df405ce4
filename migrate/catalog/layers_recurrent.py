"""Recurrent cells, RNN and Bidirectional.

Where NNX's cell stores or computes something else, a parity class keeps Linen's parameters and numbers. Carries:
Linen's `initialize_carry(rng, input_shape)` is NNX's `initialize_carry(input_shape, rngs)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..edits import Parts
from ..linen.values.dims import Dim
from ..linen.values.values import Array, Const, Shape, Tup, Unknown, Value
from .layers import (
    Arg,
    Built,
    Call,
    CallText,
    Draft,
    Instance,
    Layer,
    Param,
    Ref,
    Unsupported,
    is_const,
    is_none,
    params,
    shape_of,
    size_of,
    sizes_of,
    why_of,
)

_OWN_CARRY = Unknown("the carry of an RNN")  # that its cell makes
_CARRY_METHODS = {"initialize_carry": params("rng, input_shape")}


class Cell(Layer):
    """A cell: (carry, inputs) → (carry, output). `pair`: the carry is (c, h)."""

    call_parameters = params("carry, inputs")
    methods: Mapping[str, tuple[Param, ...]] = _CARRY_METHODS
    attributes: Mapping[str, str] = {"features": "hidden_features"}
    pair = True
    by_carry = True  # is it the carry that tells the width of the layers?

    def __init__(self, name: str, fields: str, target: str, *, pair: bool) -> None:
        self.linen = f"flax.linen.{name}"
        self.parameters = params(fields)
        self.target = target
        self.pair = pair

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        value = call.get("inputs") if call else None
        draft.size("in_features", shape_of(value).dim(-1), why_of(value))
        width = self._shown_width(call or {})
        if "features" in draft.args and width in (None, size_of(draft.args["features"])):
            draft.move("features", "hidden_features", positional=True)
            if width is None and call and self.by_carry and call.get("carry") != _OWN_CARRY:
                name = self.linen.removeprefix("flax.linen.")
                draft.notes.append(("NNX208", f"the carry of {name} is taken to be as wide as its `features`"))
        else:  # Linen's layers are as wide as the carry is, and before flax 0.7.2 it alone told the size
            draft.drop("features")
            draft.size("hidden_features", width or self._carried(call or {}), "the carry's size is not known")
        draft.rest()
        if not is_none(draft.args.get("carry_init")):
            draft.notes.append(
                ("NNX206", f"the initial carry of {self.linen.removeprefix('flax.linen.')} is drawn anew at every call")
            )
        if self.target.startswith("linen_parity."):
            return draft.finish(draft.need(self.target.partition(".")[2]))
        return draft.finish(self.target)

    def _require(self, args: Mapping[str, Arg]) -> None:
        super()._require(args if "features" in args else {**args, "features": Arg(())})

    @staticmethod
    def _carry_shape(call: Mapping[str, Value]) -> Shape:
        carry = call.get("carry")
        if isinstance(carry, Tup) and carry.items:
            carry = carry.items[-1]
        return shape_of(carry)

    def _carried(self, call: Mapping[str, Value]) -> Dim | None:
        width = self._carry_shape(call).dim(-1)
        of_several = width is not None and any(atom.kind == "max" for atom in width.atoms())
        return None if of_several else width  # arrays of unlike widths side by side: one of them is not followed

    def _shown_width(self, call: Mapping[str, Value]) -> Dim | None:
        """The width of a carry that the code shows. That of an argument is the caller's, who hardly has another in mind."""
        return self._carried(call) if self.by_carry and self._carry_shape(call).dims else None

    def feature_axes(self, args: Mapping[str, Arg]) -> int | None:
        """Number of trailing axes of the input that are not batch."""
        return 1

    def _carry(self, shape: Shape, features: Dim | None) -> Value:
        state = Array(shape.replace_last(1, features))
        return Tup((state, state)) if self.pair else state

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        shape = shape_of(call.get("inputs"))
        features = self._shown_width(call) or size_of(args.get("features")) or self._carried(call)
        return Tup((self._carry(shape, features), Array(shape.replace_last(1, features))))

    def call_method(
        self,
        name: str,
        args: Mapping[str, Arg],
        positional: Sequence[Parts],
        keywords: Sequence[tuple[str | None, Parts]],
    ) -> CallText:
        found = dict(zip(("rng", "input_shape"), positional))
        found.update({n: p for n, p in keywords if n})
        if "rng" not in found or "input_shape" not in found:
            raise Unsupported("NNX203", f"initialize_carry of {self.linen} with unpacked arguments")
        return [found["input_shape"], (Ref("flax.nnx.Rngs"), "(carry=", *found["rng"], ")")], [], name

    def method_output(self, name: str, args: Mapping[str, Arg], call: Call) -> Value:
        value = call.args[1] if len(call.args) > 1 else call.keywords.get("input_shape")
        sizes = sizes_of(Arg((), value)) if value is not None else None
        if sizes is None:
            return Unknown("the carry of a cell for a computed shape")
        return self._carry(Shape.of(*sizes), size_of(args.get("features")))


class ConvLSTMCell(Cell):
    by_carry = False

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        draft.move("kernel_size", "kernel_size")
        return super().draft(draft, call)

    def feature_axes(self, args: Mapping[str, Arg]) -> int | None:
        sizes = sizes_of(args.get("kernel_size"))
        return None if sizes is None else len(sizes) + 1


class RNN(Layer):
    linen = "flax.linen.RNN"
    parameters = params(
        "cell, time_major=False, return_carry=False, reverse=False, keep_order=False, unroll=1,"
        "variable_axes=FrozenDict(), variable_broadcast='params', variable_carry=False,"
        "split_rngs=FrozenDict({'params': False})"
    )
    call_parameters = params(
        "inputs, *, initial_carry=None, init_key=None, seq_lengths=None, return_carry=None, time_major=None,"
        "reverse=None, keep_order=None"
    )
    collections = frozenset()
    wrapper = True

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        args = draft.args
        for field in ("variable_axes", "variable_carry"):
            arg = args.get(field)
            if arg is not None and arg.value not in (Const(False), Const(None)):
                raise Unsupported("NNX203", f"nn.RNN with {field}")
            draft.drop(field)
        broadcast = args.get("variable_broadcast")
        if broadcast is not None and not is_const(broadcast, "params"):
            raise Unsupported("NNX203", "nn.RNN with variable_broadcast")
        draft.drop("variable_broadcast")
        self._streams(draft)
        draft.move("cell", "cell", positional=True)
        draft.rest()
        return draft.finish("flax.nnx.RNN", rngs=False)

    @staticmethod
    def _streams(draft: Draft) -> None:
        """`split_rngs`: NNX draws anew at every step (True); a stream that Linen does not split is broadcast."""
        arg = draft.args.get("split_rngs")
        draft.drop("split_rngs")
        if arg is None:
            return
        table = arg.value.value if isinstance(arg.value, Const) else None
        if not isinstance(table, Mapping):
            raise Unsupported("NNX203", "nn.RNN with computed split_rngs")
        kept = [name for name, split in table.items() if not split and name != "params"]
        if kept:
            raise Unsupported("NNX203", f"nn.RNN that repeats the random numbers of {', '.join(map(repr, kept))}")

    def _time_axis(self, args: Mapping[str, Arg], call: Mapping[str, Value]) -> int | None:
        """0, or the time axis counted from the end; None where it is not known."""
        given = call.get("time_major")
        if given is not None and given != Const(None):
            major: bool | None = given.value if isinstance(given, Const) and isinstance(given.value, bool) else None
        elif args.get("time_major") is None or is_const(args.get("time_major"), False):
            major = False
        else:
            major = True if is_const(args.get("time_major"), True) else None
        if major is None:
            return None
        if major:
            return 0
        cell = args.get("cell")
        axes: int | None = 1
        if cell is not None and isinstance(cell.value, Instance) and isinstance(cell.value.layer, Cell):
            axes = cell.value.layer.feature_axes(cell.value.args)
        return None if axes is None else -(axes + 1)

    @staticmethod
    def _without(shape: Shape, axis: int) -> Shape | None:
        if axis < 0:
            spelled = shape.expand(-axis)
            if len(spelled.dims) < -axis:
                return None
            at = len(spelled.dims) + axis
            return Shape(spelled.dims[:at] + spelled.dims[at + 1 :], spelled.lead)
        if shape.rank is None:
            return None
        return Shape.of(*shape.dims[1:])

    def inner_calls(self, args: Mapping[str, Arg], call: Call) -> dict[str, Call]:
        bound = self.bind_call(call)
        axis = self._time_axis(args, bound)
        shape = shape_of(bound.get("inputs"))
        step = None if axis is None else self._without(shape, axis)
        if step is None and shape.dim(-1) is not None:
            step = Shape.unknown().replace_last(1, shape.dim(-1))  # the features are known all the same
        given = bound.get("initial_carry", _OWN_CARRY)
        value: Value = Array(step) if step is not None else Unknown(why_of(bound.get("inputs")))
        return {"cell": Call((given, value))}

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        bound = call
        result = inner.get("cell")
        if not isinstance(result, Tup) or len(result.items) != 2:
            return Unknown("the result of the cell")
        carry, out = result.items
        axis = self._time_axis(args, bound)
        shape = shape_of(bound.get("inputs"))
        outputs: Value = Unknown("the outputs of an RNN whose time axis is not known")
        if isinstance(out, Array) and axis is not None:
            if axis == 0 and out.shape.rank is not None:
                outputs = Array(Shape.of(shape.dim(0), *out.shape.dims))
            elif axis < 0:
                spelled = out.shape.expand(-axis - 1)
                at = len(spelled.dims) + axis + 1
                dims = (*spelled.dims[:at], shape.dim(axis), *spelled.dims[at:])
                outputs = Array(Shape(dims, spelled.lead))
        given = bound.get("return_carry")
        if given is None or given == Const(None):
            field = args.get("return_carry")
            flag: Value = Const(False) if field is None else field.value
        else:
            flag = given
        if flag == Const(False):
            return outputs
        return Tup((carry, outputs)) if flag == Const(True) else Unknown("whether an RNN returns its carry")

    def call(
        self, args: Mapping[str, Arg], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]]
    ) -> CallText:
        named: list[tuple[str | None, Parts]] = []
        for name, parts in keywords:
            if name == "init_key":
                named.append(("rngs", (Ref("flax.nnx.Rngs"), "(carry=", *parts, ")")))
            else:
                named.append((name, parts))
        return list(positional), named, None


class Bidirectional(RNN):
    linen = "flax.linen.Bidirectional"
    parameters = params("forward_rnn, backward_rnn, merge_fn=_concatenate, time_major=False, return_carry=False")

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        draft.move("forward_rnn", "forward_rnn", positional=True)
        draft.move("backward_rnn", "backward_rnn", positional=True)
        draft.rest()
        return draft.finish("flax.nnx.Bidirectional", rngs=False)

    def inner_calls(self, args: Mapping[str, Arg], call: Call) -> dict[str, Call]:
        bound = self.bind_call(call)
        given = bound.get("time_major")
        if given is None or given == Const(None):
            field = args.get("time_major")
            given = Const(False) if field is None else field.value
        keywords = {"return_carry": Const(True), "time_major": given}
        value = bound.get("inputs", Unknown("the input of an RNN"))
        return {name: Call((value,), keywords) for name in ("forward_rnn", "backward_rnn")}

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        bound = call
        pairs = [inner.get(name) for name in ("forward_rnn", "backward_rnn")]
        if not all(isinstance(p, Tup) and len(p.items) == 2 for p in pairs):
            return Unknown("the results of the two directions")
        (carry_f, out_f), (carry_b, out_b) = [p.items for p in pairs if isinstance(p, Tup)]
        merged: Value = Unknown("the result of merge_fn")
        if is_none(args.get("merge_fn")) and isinstance(out_f, Array) and isinstance(out_b, Array):
            a, b = out_f.shape.dim(-1), out_b.shape.dim(-1)
            merged = Array(out_f.shape.replace_last(1, None if a is None or b is None else a + b))
        given = bound.get("return_carry")
        if given is None or given == Const(None):
            field = args.get("return_carry")
            given = Const(False) if field is None else field.value
        if given == Const(False):
            return merged
        carries = Tup((carry_f, carry_b))
        return Tup((carries, merged)) if given == Const(True) else Unknown("whether an RNN returns its carry")


_GATES = "gate_fn=sigmoid, activation_fn=tanh, kernel_init=default_kernel_init, recurrent_kernel_init=orthogonal()"
_REST = "dtype=None, param_dtype=jnp.float32, carry_init=initializers.zeros_init()"

LAYERS: tuple[Layer, ...] = (
    Cell(
        "LSTMCell",
        f"features, {_GATES}, bias_init=initializers.zeros_init(), {_REST}",
        "flax.nnx.LSTMCell",
        pair=True,
    ),
    Cell(
        "OptimizedLSTMCell",
        f"features, {_GATES}, bias_init=initializers.zeros_init(), {_REST}",
        "linen_parity.OptimizedLSTMCell",
        pair=True,
    ),
    Cell(
        "GRUCell",
        f"features, {_GATES}, bias_init=initializers.zeros_init(), {_REST}",
        "linen_parity.GRUCell",
        pair=False,
    ),
    Cell(
        "MGUCell",
        f"features, {_GATES}, forget_bias_init=initializers.ones_init(),"
        f"activation_bias_init=initializers.zeros_init(), {_REST}, reset_gate=True",
        "linen_parity.MGUCell",
        pair=False,
    ),
    Cell(
        "SimpleCell",
        "features, activation_fn=tanh, kernel_init=default_kernel_init, recurrent_kernel_init=orthogonal(),"
        f"bias_init=initializers.zeros_init(), {_REST}, residual=False",
        "linen_parity.SimpleCell",
        pair=False,
    ),
    ConvLSTMCell(
        "ConvLSTMCell",
        f"features, kernel_size, strides=None, padding='SAME', use_bias=True, {_REST}",
        "linen_parity.ConvLSTMCell",
        pair=True,
    ),
    RNN(),
    Bidirectional(),
)
