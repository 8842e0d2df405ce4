"""Shapes of jax.lax, jax.nn, jax.random, flax.linen functions, einops and jax.image."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...catalog import shape_table as table
from ..values.dims import Dim
from ..values.values import Array, Const, Int, Shape, Tup, Unknown, Value, shape_value
from . import shape_patterns as patterns
from .shape_args import NONE, Call, array_shape, int_of, is_number, rule
from .shape_conv import Padding, conv_output_dims, conv_transpose_output_dims
from .shape_ops import (
    Stop,
    broadcast,
    concatenate,
    imply,
    insert,
    needs_rank,
    negative_axis,
    spelled,
    stop,
    with_dim,
)


@rule(table.IDENTITY, "x *rest", "")
def _identity(call: Call) -> Value:
    return call.value("x")


@rule("psum", "x axis_name axis_index_groups", "jax.lax")
def _psum(call: Call) -> Value:
    """As large as the array; `psum(1, axis)` is how many devices there are along the axis, and not 1."""
    value = call.value("x")
    if is_number(value):
        raise stop("psum of a number")
    return value


# jax.nn and flax.linen functions -------------------------------------------------------------------------------


@rule("one_hot", "x num_classes dtype axis", "jax.nn")
@rule("one_hot", "x num_classes dtype axis", "flax.linen")
def _one_hot(call: Call) -> Value:
    classes = call.value("num_classes")
    if isinstance(classes, Unknown):
        return Array(insert(call.shape("x"), call.int("axis", -1), None))
    return Array(insert(call.shape("x"), call.int("axis", -1), call.int("num_classes")))


@rule("glu", "x axis", "jax.nn")
@rule("glu", "x axis", "flax.linen")
def _glu(call: Call) -> Value:
    shape = call.shape("x")
    number = negative_axis(shape, call.int("axis", -1))
    size = spelled(shape, number).dims[number]
    return Array(with_dim(shape, number, None if size is None else size // 2))


@rule("dot_product_attention", "query key value *rest", "jax.nn")
@rule("dot_product_attention", "query key value *rest", "flax.linen")
def _attention(call: Call) -> Value:
    """(..., T, N, H) with (..., S, K, V): (..., T, N, V)."""
    query, value = call.shape("query"), call.shape("value")
    return Array(query.replace_last(1, value.dim(-1)))


@rule("dot_product_attention_weights", "query key *rest", "flax.linen")
def _attention_weights(call: Call) -> Value:
    """(..., Q, H, D) with (..., K, H, D): (..., H, Q, K)."""
    query, key = call.shape("query"), call.shape("key")
    return Array(query.replace_last(3, query.dim(-2), query.dim(-3), key.dim(-3)))


@rule("make_attention_mask", "query_input key_input pairwise_fn extra_batch_dims dtype", "flax.linen")
def _make_attention_mask(call: Call) -> Value:
    """[batch..., q], [batch..., k] → [batch..., 1, q, k]"""
    query, key = call.shape("query_input"), call.shape("key_input")
    extra = call.int("extra_batch_dims", 0).value
    if extra is None:
        raise stop("make_attention_mask: `extra_batch_dims` is not a constant")
    out = query.replace_last(1, 1, query.dim(-1), key.dim(-1))
    for _ in range(extra):
        out = insert(out, Dim.of(0), 1)
    return Array(out)


@rule("make_causal_mask", "x extra_batch_dims dtype", "flax.linen")
def _make_causal_mask(call: Call) -> Value:
    inner = Call(call.name, {**call.bound, "query_input": call.value("x"), "key_input": call.value("x")}, {})
    return _make_attention_mask(inner)


@rule("combine_masks", "*masks", "flax.linen")
def _combine_masks(call: Call) -> Value:
    given = [mask for mask in call.items("masks") if mask != NONE]
    if not given:
        return NONE
    if any(isinstance(mask, Unknown) for mask in given):  # which of them are None is not known
        raise stop("combine_masks of masks that are not known")
    return Array(broadcast(*[array_shape(mask) for mask in given]))


@rule("max_pool min_pool avg_pool", "inputs window_shape strides padding count_include_pad", "flax.linen")
def _pool(call: Call) -> Value:
    """Spatial dimensions are the last but one and those before; any number of batch dimensions."""
    shape = call.shape("inputs")
    window = call.dims("window_shape")
    strides = call.dims("strides") if call.has("strides") else None
    padding = read_padding(call.value("padding")) if call.has("padding") else "VALID"
    count = len(window) + 1
    shape = shape.expand(count)
    if len(shape.dims) < count:
        raise stop("pool: fewer dimensions than the window has")
    out = conv_output_dims(shape.dims[-count:-1], window, strides, padding)
    return Array(shape.replace_last(count, *out, shape.dims[-1]))


@rule("pool", "inputs init reduce_fn window_shape strides padding", "flax.linen")
def _general_pool(call: Call) -> Value:
    bound = {key: value for key, value in call.bound.items() if key not in ("init", "reduce_fn")}
    return _pool(Call(call.name, bound, {}))


def read_padding(value: Value) -> Padding:
    """A padding as Conv and pool take it: a name, or (low, high) pairs, or one number per dimension."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    if isinstance(value, Unknown):
        raise Stop(value)
    if not isinstance(value, Tup):
        raise stop("padding is not known")
    pairs: list[tuple[Dim, Dim]] = []
    for item in value.items:
        if isinstance(item, Tup) and len(item.items) == 2:
            pairs.append((int_of(item.items[0], "padding"), int_of(item.items[1], "padding")))
        else:
            both = int_of(item, "padding")
            pairs.append((both, both))
    return pairs


@rule("promote_dtype", "*args", "flax.linen.dtypes")
def _promote_dtype(call: Call) -> Value:
    """The same arrays in one dtype."""
    return Tup(call.items("args"), "list")


_CHANNELS_LAST = Const("channels last")  # for any number of dimensions


@rule("_conv_dimension_numbers", "input_shape", "flax.linen")
def _numbers_of_linen(call: Call) -> Value:
    """What Linen's own convolutions give to jax: batch first, features last, for as many dimensions as there are."""
    return _CHANNELS_LAST


@rule("ConvDimensionNumbers", "lhs_spec rhs_spec out_spec", "jax.lax")
def _numbers(call: Call) -> Value:
    """(batch, features, spatial...), (out, in, spatial...) and again (batch, features, spatial...): places of dimensions."""
    return Tup(tuple(_letters(call.value(name), head) for name, head in _SPECS))


_SPECS = (("lhs_spec", "NC"), ("rhs_spec", "OI"), ("out_spec", "NC"))


def _letters(spec: Value, head: str) -> Const:
    places = [i.dim.value for i in spec.items if isinstance(i, Int)] if isinstance(spec, Tup) else []
    if not places or sorted(p for p in places if p is not None) != list(range(len(spec.items))):  # type: ignore[attr-defined]
        raise stop("ConvDimensionNumbers: the places of dimensions are not known")
    letters = head + "0123456789"
    return Const("".join(letters[places.index(i)] for i in range(len(places))))


# jax.lax -------------------------------------------------------------------------------------------------------


@rule(
    "conv_general_dilated",
    "lhs rhs window_strides padding lhs_dilation rhs_dilation dimension_numbers *rest",
    "jax.lax",
)
def _conv(call: Call) -> Value:
    lhs, rhs = call.shape("lhs"), call.shape("rhs")
    numbers = call.bound.get("dimension_numbers", NONE)
    specs = ["", "", ""]
    if isinstance(numbers, Tup) and all(isinstance(i, Const) and isinstance(i.value, str) for i in numbers.items):
        specs = [str(i.value) for i in numbers.items if isinstance(i, Const)]
        rank = len(specs[0])
    elif numbers in (NONE, _CHANNELS_LAST):
        rank = rhs.rank or 0
        letters = "0123456789"[: rank - 2]
        specs = ["NC" + letters, "OI" + letters, "NC" + letters]
        if numbers == _CHANNELS_LAST:
            specs = [f"N{letters}C", f"{letters}IO", f"N{letters}C"]
    else:
        raise stop("conv_general_dilated: `dimension_numbers` is not known")
    if rank < 2:
        raise needs_rank("conv_general_dilated", rhs)
    lhs, rhs = imply(lhs, rank), imply(rhs, rank)
    spatial = [c for c in specs[0] if c not in "NC"]
    sizes = [lhs.dims[specs[0].index(c)] for c in spatial]
    kernel = [rhs.dims[specs[1].index(c)] for c in spatial]
    try:
        out = _conv_sizes(call, sizes, kernel)
    except Stop:  # windows that only the fields know: the features are known all the same
        out = (None,) * len(spatial)
    batch, features = lhs.dims[specs[0].index("N")], rhs.dims[specs[1].index("O")]
    by_letter = dict(zip(spatial, out)) | {"N": batch, "C": features}
    return Array(Shape(tuple(by_letter[c] for c in specs[2])))


def _conv_sizes(call: Call, sizes: Sequence[Dim | None], kernel: Sequence[Dim | None]) -> tuple[Dim | None, ...]:
    holes = [[_known(d) for d in call.dims(name)] if call.has(name) else None for name in ("lhs_dilation", "rhs_dilation")]
    padding = read_padding(call.value("padding"))
    strides = call.dims("window_strides")
    return conv_output_dims(sizes, kernel, strides, padding, input_dilation=holes[0], kernel_dilation=holes[1])


@rule("conv_transpose", "lhs rhs strides padding rhs_dilation dimension_numbers transpose_kernel", "jax.lax")
def _conv_transpose(call: Call) -> Value:
    rhs = call.shape("rhs")
    if rhs.rank is None:
        raise needs_rank("conv_transpose", rhs)
    if call.has("dimension_numbers") or (call.has("transpose_kernel") and call.flag("transpose_kernel", False)):
        raise stop("conv_transpose with dimension_numbers or transpose_kernel")
    lhs = imply(call.shape("lhs"), rhs.rank)
    holes = [_known(d) for d in call.dims("rhs_dilation")] if call.has("rhs_dilation") else None
    padding = read_padding(call.value("padding"))
    sizes = conv_transpose_output_dims(lhs.dims[1:-1], rhs.dims[:-2], call.dims("strides"), padding, kernel_dilation=holes)
    return Array(Shape((lhs.dims[0], *sizes, rhs.dims[-1])))


def _known(dim: Dim | None) -> Dim:
    if dim is None:
        raise stop("a dilation is not known")
    return dim


@rule("reduce_window", "operand init_value computation window_dimensions window_strides padding", "jax.lax")
def _reduce_window(call: Call) -> Value:
    window = call.dims("window_dimensions")
    shape = imply(call.shape("operand"), len(window))
    if call.extra:
        raise stop("reduce_window with dilations")
    strides = call.dims("window_strides")
    if not isinstance(call.value("padding"), Const | Tup):  # what no window spans (batch, features) keeps its size
        one = Dim.of(1)
        kept = [d if w == one and s == one else None for d, w, s in zip(shape.dims, window, strides, strict=True)]
        return Array(Shape(tuple(kept)))
    padding = read_padding(call.value("padding"))
    return Array(Shape(conv_output_dims(shape.dims, window, strides, padding)))


@rule("dot_general", "lhs rhs dimension_numbers", "jax.lax")
def _dot_general(call: Call) -> Value:
    numbers = call.value("dimension_numbers")
    axes: list[list[Dim]] = []
    if isinstance(numbers, Tup):
        for pair in numbers.items:
            for part in pair.items if isinstance(pair, Tup) else ():
                if isinstance(part, Tup):
                    axes.append([int_of(i, "dimension_numbers") for i in part.items])
    if len(axes) != 4:
        raise stop("dot_general: `dimension_numbers` is not known")
    lhs, rhs = call.shape("lhs"), call.shape("rhs")
    if rhs.rank is None or (lhs.rank is None and axes[2]):
        raise needs_rank("dot_general", lhs, rhs)
    contracted, against, left_batch, right_batch = (
        [negative_axis(shape, axis) for axis in part] for shape, part in zip((lhs, rhs, lhs, rhs), axes)
    )
    lhs = spelled(lhs, min([-1, *contracted, *left_batch]))
    left = [d for i, d in _from_end(lhs) if i not in contracted + left_batch]
    right = [d for i, d in _from_end(rhs) if i not in against + right_batch]
    return Array(Shape((*[lhs.dims[i] for i in left_batch], *left, *right), lhs.lead))


def _from_end(shape: Shape) -> list[tuple[int, Dim | None]]:
    """The dimensions that are spelled out, with their places counted from the end."""
    return [(i - len(shape.dims), d) for i, d in enumerate(shape.dims)]


@rule("top_k", "operand k axis", "jax.lax")
def _top_k(call: Call) -> Value:
    shape = call.shape("operand")
    out = Array(with_dim(shape, negative_axis(shape, call.int("axis", -1)), call.int("k")))
    return Tup((out, out), "list")


@rule("dynamic_slice", "operand start_indices slice_sizes", "jax.lax")
def _dynamic_slice(call: Call) -> Value:
    return Array(call.target("slice_sizes"))


@rule("dynamic_slice_in_dim", "operand start_index slice_size axis", "jax.lax")
def _dynamic_slice_in_dim(call: Call) -> Value:
    shape = call.shape("operand")
    return Array(with_dim(shape, negative_axis(shape, call.int("axis", 0)), call.int("slice_size")))


@rule("dynamic_index_in_dim index_in_dim", "operand index axis keepdims", "jax.lax")
def _dynamic_index_in_dim(call: Call) -> Value:
    shape = call.shape("operand")
    kept = [1] if call.flag("keepdims", True) else []
    return Array(with_dim(shape, negative_axis(shape, call.int("axis", 0)), *kept))


@rule("slice_in_dim", "operand start_index limit_index stride axis", "jax.lax")
def _slice_in_dim(call: Call) -> Value:
    shape = call.shape("operand")
    number = negative_axis(shape, call.int("axis", 0))
    if not call.has("start_index") or not call.has("limit_index"):
        raise stop("slice_in_dim with an open end")
    start, limit = call.int("start_index"), call.int("limit_index")
    if any(d.lower_bound() is None for d in (start, limit)):
        raise stop("slice_in_dim from the end")
    return Array(with_dim(shape, number, (limit - start).ceil_div(call.int("stride", 1))))


@rule("slice", "operand start_indices limit_indices strides", "jax.lax")
def _lax_slice(call: Call) -> Value:
    starts, limits = call.dims("start_indices"), call.dims("limit_indices")
    steps = call.dims("strides") if call.has("strides") else [Dim.of(1)] * len(starts)
    return Array(
        Shape(
            tuple(
                None if a is None or b is None or s is None else (b - a).ceil_div(s)
                for a, b, s in zip(starts, limits, steps)
            )
        )
    )


@rule("dynamic_update_slice", "operand *rest", "jax.lax")
@rule("dynamic_update_slice_in_dim dynamic_update_index_in_dim sort rev", "operand *rest", "jax.lax")
@rule("cumsum cumprod cummax cummin cumlogsumexp", "operand *rest", "jax.lax")
@rule("bitcast_convert_type convert_element_type", "operand *rest", "jax.lax")
def _same(call: Call) -> Value:
    if call.name.endswith("bitcast_convert_type"):
        raise stop("bitcast_convert_type: the shape depends on dtypes")
    return Array(call.shape("operand"))


@rule("iota", "dtype size", "jax.lax")
def _iota(call: Call) -> Value:
    return Array(Shape((call.int("size"),)))


@rule("broadcasted_iota", "dtype shape dimension", "jax.lax")
def _broadcasted_iota(call: Call) -> Value:
    return Array(call.target("shape"))


@rule("broadcast", "operand sizes", "jax.lax")
def _broadcast(call: Call) -> Value:
    out = call.shape("operand")
    for dim in reversed(call.dims("sizes")):
        out = insert(out, Dim.of(0), dim)
    return Array(out)


@rule("broadcast_in_dim", "operand shape broadcast_dimensions", "jax.lax")
def _broadcast_in_dim(call: Call) -> Value:
    return Array(call.target("shape"))


@rule("concatenate", "operands dimension", "jax.lax")
def _lax_concatenate(call: Call) -> Value:
    return Array(concatenate(list(call.shapes("operands")), call.int("dimension")))


@rule("pad", "operand padding_value padding_config", "jax.lax")
def _lax_pad(call: Call) -> Value:
    config = [
        [int_of(i, "padding_config") for i in item.items] if isinstance(item, Tup) else []
        for item in call.items("padding_config")
    ]
    shape = imply(call.shape("operand"), len(config))
    if any(len(c) != 3 for c in config):
        raise stop("pad: `padding_config` is not known")
    return Array(
        Shape(tuple(None if d is None else (d - 1) * (c[2] + 1) + 1 + c[0] + c[1] for d, c in zip(shape.dims, config)))
    )


@rule("all_gather", "x axis_name", "jax.lax")
@rule("associative_scan", "fn elems reverse axis", "jax.lax")
def _elements(call: Call) -> Value:
    if call.name.endswith("all_gather"):
        raise stop("all_gather: the size of the mesh axis is not known")
    return call.value("elems")


# jax.random ----------------------------------------------------------------------------------------------------


def _random(call: Call) -> Value:
    if call.has("shape"):
        return Array(call.target("shape"))
    for name in ("p", "a", "b", "lam", "df", "lower", "upper", "minval", "maxval"):
        if call.has(name) and array_shape(call.value(name)) != Shape(()):
            return Array(broadcast(*[call.shape(n) for n in call.bound if n not in ("key", "dtype", "shape")]))
    return Array(Shape(()))


for _signature, _names in table.RANDOM_SIGNATURES.items():
    rule(_names, _signature, "jax.random")(_random)


@rule("categorical", "key logits axis shape", "jax.random")
def _categorical(call: Call) -> Value:
    if call.has("shape"):
        return Array(call.target("shape"))
    logits = call.shape("logits")
    return Array(with_dim(logits, negative_axis(logits, call.int("axis", -1))))


@rule("permutation", "key x axis independent", "jax.random")
@rule("shuffle", "key x axis", "jax.random")
def _permutation(call: Call) -> Value:
    value = call.value("x")
    return Array(Shape((value.dim,))) if isinstance(value, Int) else Array(array_shape(value))


@rule("choice", "key a shape", "jax.random")
def _choice(call: Call) -> Value:
    chosen = call.target("shape") if call.has("shape") else Shape(())
    value = call.value("a")
    if isinstance(value, Int):
        return Array(chosen)
    source = array_shape(value)
    if source.rank != 1:
        raise stop("choice from an array of more than one dimension")
    return Array(chosen)


@rule("split", "key num", "jax.random")
def _split_key(call: Call) -> Value:
    count = call.int("num", 2).value
    if count is None or count > 1000:
        raise stop("a number of keys that is not a constant")
    return Tup(tuple(Unknown("a random key") for _ in range(count)))


# images --------------------------------------------------------------------------------------------------------


@rule("resize", "image shape method", "jax.image")
def _resize(call: Call) -> Value:
    return Array(call.target("shape"))


@rule("scale_and_translate", "image shape spatial_dims", "jax.image")
def _scale_and_translate(call: Call) -> Value:
    return Array(call.target("shape"))


# einops --------------------------------------------------------------------------------------------------------


@rule("rearrange repeat", "tensor pattern", "einops")
@rule("reduce", "tensor pattern reduction", "einops")
def _einops(call: Call) -> Value:
    value = call.value("tensor")
    shape = array_shape(value)  # a list of arrays is stacked in front, as einops does
    sizes = {name: item.dim if isinstance(item, Int) else None for name, item in call.extra.items()}
    return Array(patterns.rearrange(shape, call.text("pattern"), sizes))


@rule("einshape jax_einshape numpy_einshape", "equation value", "einshape")
def _einshape(call: Call) -> Value:
    pattern = call.text("equation")  # as einops has it, but for names of one letter, which need no blanks
    if not re.fullmatch(r"[A-Za-z1()\s.]*->[A-Za-z1()\s.]*", pattern):
        raise stop(f"einshape pattern {pattern!r}")
    spaced = " ".join(re.findall(r"\.\.\.|->|[^\s]", pattern))
    sizes = {name: item.dim if isinstance(item, Int) else None for name, item in call.extra.items()}
    return Array(patterns.rearrange(call.shape("value"), spaced, sizes))


@rule("einsum", "*operands", "einops")
def _einops_einsum(call: Call) -> Value:
    *operands, pattern = call.items("operands")
    if not isinstance(pattern, Const) or not isinstance(pattern.value, str):
        raise stop("einops.einsum: the pattern is not a constant")
    return Array(patterns.named_einsum(pattern.value, [array_shape(o) for o in operands]))


@rule("pack unpack", "tensors", "einops")
def _einops_pack(call: Call) -> Value:
    raise stop(call.name)


# Python --------------------------------------------------------------------------------------------------------


@rule("broadcast_shapes", "*shapes", "jax.lax")
def _broadcast_shapes(call: Call) -> Value:
    from .shape_args import as_shape

    return shape_value(broadcast(*[as_shape(item) for item in call.items("shapes")]))


@rule("split", "operand sizes axis", "jax.lax")
def _lax_split(call: Call) -> Value:
    shape = call.shape("operand")
    number = negative_axis(shape, call.int("axis", 0))
    return Tup(tuple(Array(with_dim(shape, number, size)) for size in call.dims("sizes")), "list")


@rule("collapse", "operand start_dimension stop_dimension", "jax.lax")
def _collapse(call: Call) -> Value:
    shape = call.shape("operand")
    start = negative_axis(shape, call.int("start_dimension"))
    end = negative_axis(shape, call.int("stop_dimension")) if call.has("stop_dimension") else 0
    shape = spelled(shape, start)
    cut = len(shape.dims) + end
    merged = Shape(shape.dims[len(shape.dims) + start : cut]).size()
    return Array(Shape((*shape.dims[: len(shape.dims) + start], merged, *shape.dims[cut:]), shape.lead))
