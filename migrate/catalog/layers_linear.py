"""Dense, DenseGeneral, Einsum, the convolutions and Embed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ..edits import Parts
from ..linen.values.dims import Atom, Dim
from ..linen.values.values import Array, Const, Int, Shape, Text, Tup, Unknown, Value
from .layers import (
    Arg,
    Built,
    Call,
    Draft,
    Layer,
    Param,
    SizeUnknown,
    Unsupported,
    ints_of,
    is_const,
    is_float32,
    is_none,
    params,
    shape_of,
    size_of,
    sizes_of,
    why_of,
)

_DENSE = (
    "use_bias=True, dtype=None, param_dtype=jnp.float32, precision=None, kernel_init=default_kernel_init,"
    "bias_init=initializers.zeros_init(), promote_dtype=promote_dtype, dot_general=None, dot_general_cls=None"
)


def promote(draft: Draft, field: str = "promote_dtype") -> None:
    """A promotion function of the user: Linen calls it with the arrays, NNX with one tuple of them."""
    arg = draft.args.get(field)
    draft.drop(field)
    if arg is not None:
        draft.put_parts(field, (draft.need("promote_arrays"), "(", *arg.parts, ")"))


def dot_general(draft: Draft, field: str = "dot_general", nnx: str | None = None) -> None:
    """A dot_general of the user: NNX passes `out_sharding` too, and Linear has no dot_general_cls."""
    function, maker = draft.args.get(field), draft.args.get(f"{field}_cls")
    draft.drop(field, f"{field}_cls")
    if is_none(function) and is_none(maker):
        return
    if maker is not None and not is_none(maker):
        given: Parts = (*(function.parts if function is not None else ("None",)), ", ", *maker.parts)
    else:
        assert function is not None
        given = function.parts
    draft.put_parts(nnx or field, (draft.need("plain_dot_general"), "(", *given, ")"))


class Dense(Layer):
    linen = "flax.linen.Dense"
    dtype_when_called = True
    attributes: Mapping[str, str] = {"features": "out_features"}
    parameters = params(f"features, {_DENSE}")

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        value = call.get("inputs") if call else None
        draft.size("in_features", shape_of(value).dim(-1), why_of(value))
        draft.move("features", "out_features", positional=True)
        promote(draft)
        dot_general(draft)
        draft.rest()
        return draft.finish("flax.nnx.Linear")

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return Array(shape_of(call.get("inputs")).replace_last(1, size_of(args.get("features"))))


class DenseGeneral(Layer):
    linen = "flax.linen.DenseGeneral"
    dtype_when_called = True
    attributes: Mapping[str, str] = {"features": "out_features"}
    parameters = params(
        "features, axis=-1, batch_dims=(), use_bias=True, dtype=None, param_dtype=jnp.float32,"
        "kernel_init=default_kernel_init, bias_init=initializers.zeros_init(), precision=None,"
        "promote_dtype=promote_dtype, dot_general=None, dot_general_cls=None"
    )

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        args = draft.args
        axis_arg, batch_arg = args.get("axis"), args.get("batch_dims")
        batch = () if batch_arg is None else ints_of(batch_arg)
        if not draft.is_partial:
            value = call.get("inputs") if call else None
            axes = self._sorted_axes(axis_arg, shape_of(value))
            if axes is None or batch is None:
                raise SizeUnknown("in_features", "the axes of DenseGeneral are not constants")
            sizes = [shape_of(value).dim(a) for a in axes]
            if len(sizes) == 1:
                draft.size("in_features", sizes[0], why_of(value))
            else:
                if any(s is None for s in sizes):
                    raise SizeUnknown("in_features", why_of(value))
                text = ", ".join(draft.text(s) for s in sizes if s is not None)
                draft.put_positional("in_features", (f"({text})",))
        draft.move("features", "out_features", positional=True)
        draft.move("axis", "axis")
        draft.drop("batch_dims")
        if batch and not draft.is_partial:
            held = []
            for axis in batch:
                size = shape_of(call.get("inputs") if call else None).dim(axis)
                if size is None:
                    raise SizeUnknown("batch_axis", why_of(call.get("inputs") if call else None))
                held.append(f"{axis}: {draft.text(size)}")
            draft.put("batch_axis", "{" + ", ".join(held) + "}")
        promote(draft)
        dot_general(draft)
        draft.rest()
        return draft.finish("flax.nnx.LinearGeneral")

    @staticmethod
    def _sorted_axes(arg: Arg | None, shape: Shape) -> tuple[int, ...] | None:
        """Linen takes the axes in ascending order, whatever the order in which they are written."""
        axes = (-1,) if arg is None else ints_of(arg)
        if axes is None:
            return None
        if all(a < 0 for a in axes) or all(a >= 0 for a in axes):
            return tuple(sorted(axes))
        if shape.rank is None:
            return None
        rank = shape.rank
        return tuple(sorted(axes, key=lambda a: a + rank if a < 0 else a))

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        shape = shape_of(call.get("inputs"))
        features = sizes_of(args.get("features"))
        axes = self._sorted_axes(args.get("axis"), shape)
        if features is None or axes is None:
            return Unknown("the result of DenseGeneral with computed axes or features")
        if axes == tuple(range(-len(axes), 0)):
            return Array(shape.replace_last(len(axes), *features))
        if shape.rank is None:
            return Unknown("the result of DenseGeneral over inner axes of an input of unknown rank")
        gone = {a % shape.rank for a in axes}
        kept = [shape.dim(i) for i in range(shape.rank) if i not in gone]
        return Array(Shape.of(*kept, *features))


class Einsum(Layer):
    linen = "flax.linen.Einsum"
    parameters = params(
        "shape, einsum_str=None, use_bias=True, dtype=None, param_dtype=jnp.float32, precision=None,"
        "kernel_init=default_kernel_init, bias_init=initializers.zeros_init(), promote_dtype=promote_dtype,"
        "preferred_element_type=None"
    )
    call_parameters = params("inputs, einsum_str=None")

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        args = draft.args
        if draft.is_partial:
            raise Unsupported("NNX203", "nn.Einsum in a partial: its bias follows from equation and shape")
        equation = self._equation(args, call or {})
        if equation is None:
            raise Unsupported("NNX203", "the equation of nn.Einsum is not a string constant")
        if is_none(args.get("einsum_str")):
            draft.put_positional("einsum_str", (repr(equation),))
            draft.drop("einsum_str")
        else:
            draft.move("einsum_str", "einsum_str", positional=True)
        draft.move("shape", "kernel_shape", positional=True)
        use_bias = args.get("use_bias")
        draft.drop("use_bias")
        if not is_const(use_bias, False):
            if use_bias is not None and not is_const(use_bias, True):
                raise Unsupported("NNX203", "whether nn.Einsum has a bias is not a constant")
            sizes = sizes_of(args.get("shape"))
            kept = self._bias_axes(equation)
            if sizes is None or kept is None or any(sizes[i] is None for i in kept):
                raise SizeUnknown("bias_shape", "the kernel shape of nn.Einsum is not known")
            texts = [draft.text(d) for i in kept if (d := sizes[i]) is not None]
            draft.put_positional("bias_shape", ("(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")",))
        promote(draft)
        draft.rest()
        return draft.finish("flax.nnx.Einsum")

    @staticmethod
    def _equation(args: Mapping[str, Arg], call: Mapping[str, Value]) -> str | None:
        held = args.get("einsum_str")
        value = held.value if held is not None and not is_none(held) else call.get("einsum_str")
        return value.value.replace(" ", "") if isinstance(value, Const) and isinstance(value.value, str) else None

    @staticmethod
    def _bias_axes(equation: str) -> list[int] | None:
        """Axes of the kernel that stay in the result, in the result's order. None with an ellipsis in the kernel."""
        operands, _, result = equation.partition("->")
        kernel = operands.partition(",")[2]
        if "." in kernel or not result:
            return None
        return [kernel.index(c) for c in result if c in kernel and c != "."]

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        equation = self._equation(args, call)
        kernel_sizes = sizes_of(args.get("shape"))
        shape = shape_of(call.get("inputs"))
        if equation is None or kernel_sizes is None:
            return Unknown("the result of nn.Einsum with a computed equation or shape")
        operands, _, result = equation.partition("->")
        left, _, kernel = operands.partition(",")
        sizes: dict[str, Dim | None] = dict(zip(kernel, kernel_sizes))
        head, dots, tail = left.partition("...")
        for i, c in enumerate(reversed(tail if dots else left)):
            sizes.setdefault(c, shape.dim(-1 - i))
        if dots:
            if head or (not result.startswith("...") and shape.rank is None):
                return Unknown("the result of nn.Einsum with an inner ellipsis")
            if shape.rank is not None:
                first, _, last = result.partition("...")
                lead = shape.dims[: shape.rank - len(tail)]
                return Array(Shape.of(*[sizes.get(c) for c in first], *lead, *[sizes.get(c) for c in last]))
            return Array(shape.replace_last(len(tail), *[sizes.get(c) for c in result[3:]]))
        return Array(Shape.of(*[sizes.get(c) for c in result]))


_CONV = (
    "features, kernel_size, strides=1, padding='SAME', input_dilation=1, kernel_dilation=1, feature_group_count=1,"
    "use_bias=True, mask=None, dtype=None, param_dtype=jnp.float32, precision=None, kernel_init=default_kernel_init,"
    "bias_init=initializers.zeros_init(), promote_dtype=promote_dtype, conv_general_dilated=None,"
    "conv_general_dilated_cls=None"
)


def broadcast(arg: Arg | None, rank: int) -> tuple[Dim | None, ...] | None:
    """Strides or dilations: one number stands for all axes, None for 1."""
    if is_none(arg):
        return (Dim.of(1),) * rank
    sizes = sizes_of(arg)
    if sizes is not None and len(sizes) == 1:
        return sizes * rank
    return sizes if sizes is not None and len(sizes) == rank else None


def explicit_padding(arg: Arg, rank: int) -> list[tuple[Dim, Dim]] | None:
    """(low, high) per axis of a padding given in numbers."""
    if isinstance(arg.value, Int):
        return [(arg.value.dim, arg.value.dim)] * rank
    if not isinstance(arg.value, Tup) or len(arg.value.items) != rank:
        return None
    found = []
    for item in arg.value.items:
        if isinstance(item, Int):
            found.append((item.dim, item.dim))
        elif isinstance(item, Tup) and len(item.items) == 2:
            low, high = item.items
            if not isinstance(low, Int) or not isinstance(high, Int):
                return None
            found.append((low.dim, high.dim))
        else:
            return None
    return found


def conv_output(args: Mapping[str, Arg], shape: Shape) -> tuple[Dim | None, ...] | None:
    """Spatial sizes after a convolution; None where not even their number is known."""
    kernel = sizes_of(args.get("kernel_size"))
    if kernel is None:
        return None
    n = len(kernel)
    strides, spread, dilation = (broadcast(args.get(k), n) for k in ("strides", "input_dilation", "kernel_dilation"))
    sizes = [shape.dim(-1 - n + i) for i in range(n)]
    if strides is None or spread is None or dilation is None:
        return (None,) * n
    padding = args.get("padding")
    mode = "SAME"
    pads = None
    if padding is not None and isinstance(padding.value, Text):
        return _by_padding(args, shape, padding.value)
    if padding is not None:
        mode = str(padding.value.value).upper() if isinstance(padding.value, Const) else "?"
        pads = explicit_padding(padding, n)
    out: list[Dim | None] = []
    for i, (size, k, s, e, d) in enumerate(zip(sizes, kernel, strides, spread, dilation)):
        if size is None or s is None or e is None:
            out.append(None)
            continue
        wide = (size - 1) * e + 1
        if mode in ("SAME", "SAME_LOWER", "CIRCULAR", "REFLECT", "CAUSAL") and e.value == 1:
            out.append(size.ceil_div(s))
        elif k is None or d is None or (mode != "VALID" and pads is None):
            out.append(None)
        else:
            low, high = pads[i] if pads is not None else (Dim.of(0), Dim.of(0))
            out.append((wide + low + high - ((k - 1) * d + 1)) // s + 1)
    return tuple(out)


def _by_padding(args: Mapping[str, Arg], shape: Shape, padding: Text) -> tuple[Dim | None, ...] | None:
    """Spatial sizes by a field that names the padding: all names but VALID give what SAME gives, where nothing is spread."""
    spread = args.get("input_dilation")
    if spread is not None and any(size is None or size.value != 1 for size in sizes_of(spread) or (None,)):
        return (None,) * len(sizes_of(args.get("kernel_size")) or ())
    test = f"{padding.why}.upper() == 'VALID'"

    def under(holds: bool) -> tuple[Dim | None, ...] | None:
        def decided(atom: Atom) -> Dim | None:  # what an earlier convolution left to the same question
            return atom.args[1 if holds else 2] if atom.kind == "cond" and atom.args[0] == test else None

        dims = tuple(None if dim is None else dim.substitute(decided) for dim in shape.dims)
        mode = dataclasses.replace(args["padding"], value=Const("VALID" if holds else "SAME"))
        return conv_output({**args, "padding": mode}, dataclasses.replace(shape, dims=dims))

    valid, same = under(True), under(False)
    if valid is None or same is None:
        return None
    return tuple(None if a is None or b is None else Dim.cond(test, a, b) for a, b in zip(valid, same))


def conv_shape(args: Mapping[str, Arg], value: Value | None, spatial: tuple[Dim | None, ...] | None) -> Value:
    if spatial is None:
        return Unknown("the result of a convolution whose kernel size is not known")
    return Array(shape_of(value).replace_last(len(spatial) + 1, *spatial, size_of(args.get("features"))))


class Conv(Layer):
    linen = "flax.linen.Conv"
    dtype_when_called = True
    attributes: Mapping[str, str] = {"features": "out_features"}
    parameters = params(_CONV)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        value = call.get("inputs") if call else None
        draft.size("in_features", shape_of(value).dim(-1), why_of(value))
        draft.move("features", "out_features", positional=True)
        draft.move("kernel_size", "kernel_size", positional=True)
        draft.move("strides", "strides")
        function, maker = draft.args.get("conv_general_dilated"), draft.args.get("conv_general_dilated_cls")
        draft.drop("conv_general_dilated", "conv_general_dilated_cls")
        if not is_none(function) or not is_none(maker):
            given: Parts = function.parts if function is not None else ("None",)
            if maker is not None and not is_none(maker):
                given = (*given, ", ", *maker.parts)
            draft.put_parts("conv_general_dilated", (draft.need("plain_conv_general_dilated"), "(", *given, ")"))
        promote(draft)
        draft.rest()
        return draft.finish("flax.nnx.Conv")

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        value = call.get("inputs")
        return conv_shape(args, value, conv_output(args, shape_of(value)))


class ConvLocal(Conv):
    """NNX has none: a parity class with Linen's parameters."""

    linen = "flax.linen.ConvLocal"
    dtype_when_called = False

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        value = call.get("inputs") if call else None
        for field in ("conv_general_dilated", "conv_general_dilated_cls"):
            if not is_none(draft.args.get(field)):
                raise Unsupported("NNX203", f"nn.ConvLocal with {field}")
            draft.drop(field)
        count = draft.args.get("feature_group_count")
        if count is not None and not is_const(count, 1):
            raise Unsupported("NNX203", "nn.ConvLocal with feature groups: Linen raises")
        draft.drop("feature_group_count")
        shape = shape_of(value)
        draft.size("in_features", shape.dim(-1), why_of(value))
        draft.move("features", "out_features", positional=True)
        draft.move("kernel_size", "kernel_size", positional=True)
        if not draft.is_partial:
            kernel = sizes_of(draft.args.get("kernel_size"))
            sizes = None if kernel is None else [shape.dim(-1 - len(kernel) + i) for i in range(len(kernel))]
            if sizes is None or any(s is None for s in sizes):
                raise SizeUnknown("spatial_shape", why_of(value))
            texts = [draft.text(s) for s in sizes if s is not None]
            draft.put("spatial_shape", "(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")")
        draft.rest()
        return draft.finish(draft.need("ConvLocal"))


class ConvTranspose(Layer):
    linen = "flax.linen.ConvTranspose"
    dtype_when_called = True
    attributes: Mapping[str, str] = {"features": "out_features"}
    parameters = params(
        "features, kernel_size, strides=None, padding='SAME', kernel_dilation=None, use_bias=True, mask=None,"
        "dtype=None, param_dtype=jnp.float32, precision=None, kernel_init=default_kernel_init,"
        "bias_init=initializers.zeros_init(), transpose_kernel=False, promote_dtype=promote_dtype,"
        "preferred_element_type=None"
    )

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        value = call.get("inputs") if call else None
        draft.size("in_features", shape_of(value).dim(-1), why_of(value))
        draft.move("features", "out_features", positional=True)
        draft.move("kernel_size", "kernel_size", positional=True)
        draft.move("strides", "strides")
        promote(draft)
        draft.rest()
        return draft.finish("flax.nnx.ConvTranspose")

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        value = call.get("inputs")
        kernel = sizes_of(args.get("kernel_size"))
        if kernel is None:
            return conv_shape(args, value, None)
        n = len(kernel)
        strides, dilation = broadcast(args.get("strides"), n), broadcast(args.get("kernel_dilation"), n)
        padding = args.get("padding")
        pads = explicit_padding(padding, n) if padding is not None else None
        mode = "SAME" if padding is None else padding.value.value if isinstance(padding.value, Const) else None
        out: list[Dim | None] = []
        for i, k in enumerate(kernel):
            size = shape_of(value).dim(-1 - n + i)
            s, d = (strides or [None] * n)[i], (dilation or [None] * n)[i]
            if size is None or s is None:
                out.append(None)
            elif mode in ("SAME", "CIRCULAR"):
                out.append(size * s)
            elif k is None or d is None:
                out.append(None)
            elif mode == "VALID":
                out.append(size * s + ((k - 1) * d + 1 - s).maximum(0))
            elif pads is not None:
                out.append((size - 1) * s + 1 + pads[i][0] + pads[i][1] - (k - 1) * d)
            else:
                out.append(None)
        return conv_shape(args, value, tuple(out))


class Embed(Layer):
    linen = "flax.linen.Embed"
    parameters = params(
        "num_embeddings, features, dtype=None, param_dtype=jnp.float32, embedding_init=default_embed_init,"
        "promote_dtype=promote_dtype"
    )
    methods: Mapping[str, tuple[Param, ...]] = {"attend": params("query")}
    attributes: Mapping[str, str] = {"embedding": "embedding[...]"}

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        draft.move("num_embeddings", "num_embeddings", positional=True)
        draft.move("features", "features", positional=True)
        own = not is_none(draft.args.get("promote_dtype"))
        promote(draft)
        draft.rest()
        # NNX takes the table's dtype for an unset one: attend() of a float32 query to a bfloat16 table would be
        # bfloat16, where Linen promotes to float32.
        dtype, stored = draft.args.get("dtype"), draft.args.get("param_dtype")
        attends = draft.call is None or draft.call.methods is None or "attend" in draft.call.methods
        unset = is_none(dtype) or (dtype is not None and isinstance(dtype.value, Unknown))
        if attends and unset and stored is not None and not is_float32(stored) and not own:
            given: Parts = dtype.parts if dtype is not None else ("None",)
            draft.put_parts("promote_dtype", (draft.need("promote_with"), "(", *given, ")"))
        return draft.finish("flax.nnx.Embed")

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        return Array(shape_of(call.get("inputs")).replace_last(0, size_of(args.get("features"))))

    def method_output(self, name: str, args: Mapping[str, Arg], call: Call) -> Value:
        query = call.args[0] if call.args else call.keywords.get("query")
        return Array(shape_of(query).replace_last(1, size_of(args.get("num_embeddings"))))


LAYERS: tuple[Layer, ...] = (Dense(), DenseGeneral(), Einsum(), Conv(), ConvLocal(), ConvTranspose(), Embed())
