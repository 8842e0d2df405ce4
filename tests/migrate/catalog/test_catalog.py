"""What the catalog writes, asks for and refuses; flags, streams, caches and carries, which one output cannot show."""

from __future__ import annotations

import ast
import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.migrate.catalog import layers
from nnx_migrate.migrate.catalog.layers import Arg, BadCall, Call, Param, SizeUnknown, Unsupported
from nnx_migrate.migrate.linen.values.dims import Dim
from nnx_migrate.migrate.linen.values.values import Array, Const, Int, Lead, Shape, Tup, Unknown, Value

from .sides import Case, construct, namespace, parse, rewrite_call, same, source, text

INPUT = Array(Shape.argument("x"))


def make(ctor: str, *args: Value, hidden: tuple[str, ...] = (), **keywords: Any) -> str:
    """Text of the NNX constructor for a Linen constructor and its first call."""
    node = ast.parse(ctor, mode="eval").body
    assert isinstance(node, ast.Call)
    layer, bound = parse(node, dict.fromkeys(hidden, ""))
    return source(layer.build(bound, Call(args or (INPUT,), keywords), str))


def call_text(ctor: str, call: str) -> str:
    layer, bound = parse(ast.parse(ctor, mode="eval").body, {})  # type: ignore[arg-type]
    return rewrite_call(layer, bound, ast.parse(call, mode="eval").body)[0]  # type: ignore[arg-type]


WRITTEN = [
    ("nn.Dense(64)", "flax.nnx.Linear(x.shape[-1], 64, rngs=rngs)"),
    ("nn.Dense(features=64, use_bias=False)", "flax.nnx.Linear(x.shape[-1], 64, use_bias=False, rngs=rngs)"),
    (
        "nn.DenseGeneral((4, 8), axis=(-1, -2), name='q')",
        "flax.nnx.LinearGeneral((x.shape[-2], x.shape[-1]), (4, 8), axis=(-1, -2), rngs=rngs)",
    ),
    (
        "nn.DenseGeneral(4, batch_dims=(0,))",
        "flax.nnx.LinearGeneral(x.shape[-1], 4, batch_axis={0: x.shape[0]}, rngs=rngs)",
    ),
    (
        "nn.Conv(8, (3, 3), (2, 2), 'VALID')",
        "flax.nnx.Conv(x.shape[-1], 8, (3, 3), strides=(2, 2), padding='VALID', rngs=rngs)",
    ),
    ("nn.Conv(8, (3, 3), padding=1)", "flax.nnx.Conv(x.shape[-1], 8, (3, 3), padding=1, rngs=rngs)"),
    (
        "nn.ConvTranspose(features=8, strides=(2, 2), kernel_size=(3, 3))",
        "flax.nnx.ConvTranspose(x.shape[-1], 8, (3, 3), strides=(2, 2), rngs=rngs)",
    ),
    (
        "nn.ConvLocal(8, (3,))",
        "linen_parity.ConvLocal(x.shape[-1], 8, (3,), spatial_shape=(x.shape[-2],), rngs=rngs)",
    ),
    ("nn.Embed(100, 16)", "flax.nnx.Embed(100, 16, rngs=rngs)"),
    ("nn.LayerNorm()", "flax.nnx.LayerNorm(x.shape[-1], rngs=rngs)"),
    (
        "nn.LayerNorm(dtype=jnp.bfloat16)",
        "flax.nnx.LayerNorm(x.shape[-1], dtype=jnp.bfloat16, promote_dtype=linen_parity.keep, rngs=rngs)",
    ),
    (
        "nn.LayerNorm(feature_axes=(-2, -1))",
        "linen_parity.LayerNorm((x.shape[-2], x.shape[-1]), feature_axes=(-2, -1), rngs=rngs)",
    ),
    ("nn.GroupNorm(8)", "flax.nnx.GroupNorm(x.shape[-1], num_groups=8, rngs=rngs)"),
    (
        "nn.GroupNorm(num_groups=None, group_size=4)",
        "flax.nnx.GroupNorm(x.shape[-1], num_groups=None, group_size=4, rngs=rngs)",
    ),
    ("nn.BatchNorm(use_running_average=True)", "flax.nnx.BatchNorm(x.shape[-1], use_running_average=True, rngs=rngs)"),
    ("nn.BatchNorm()", "flax.nnx.BatchNorm(x.shape[-1], use_running_average=None, rngs=rngs)"),
    ("nn.Dropout(0.1)", "flax.nnx.Dropout(0.1, deterministic=None, rngs=rngs)"),
    (
        "nn.MultiHeadDotProductAttention(8)",
        "flax.nnx.MultiHeadAttention(8, x.shape[-1], attention_fn=linen_parity.dot_product_attention, decode=False, "
        "rngs=rngs)",
    ),
    (
        "nn.SelfAttention(8, decode=True)",
        "linen_parity.MultiHeadAttention(8, x.shape[-1], attention_fn=linen_parity.dot_product_attention, decode=True, "
        "rngs=rngs)",
    ),
    ("nn.PReLU(negative_slope_init=0.2)", "flax.nnx.PReLU(negative_slope_init=0.2)"),
    ("nn.Sequential([nn.relu, nn.tanh])", "flax.nnx.Sequential(*[nn.relu, nn.tanh])"),
    ("nn.Sequential(layers)", "flax.nnx.Sequential(*layers)"),
    ("nn.BatchApply(f, 3)", "linen_parity.BatchApply(f, 3)"),
]


@pytest.mark.parametrize("linen, native", WRITTEN)
def test_constructor_text(linen: str, native: str) -> None:
    assert make(linen) == native


CALLS = [
    ("nn.Dropout(0.1)", "layer(x, not train)", "layer(x, deterministic=not train)"),
    ("nn.Dropout(0.1)", "layer(x, rng=key)", "layer(x, rngs=key)"),
    ("nn.BatchNorm()", "layer(x, use_running_average=not train)", "layer(x, use_running_average=not train)"),
    ("nn.SelfAttention(2)", "layer(x, m, True)", "layer(x, mask=m, deterministic=True)"),
    ("nn.SelfAttention(2)", "layer(*args)", "layer(*args)"),
    ("nn.MultiHeadDotProductAttention(2)", "layer(q, kv, m, True)", "layer(q, kv, mask=m, deterministic=True)"),
    ("nn.MultiHeadDotProductAttention(2)", "layer(q, inputs_kv=k)", "layer(q, inputs_k=k)"),
    (
        "nn.MultiHeadDotProductAttention(2)",
        "layer(q, dropout_rng=key)",
        "layer(q, rngs=linen_parity.use_key(key))",
    ),
    ("nn.RNN(nn.LSTMCell(2))", "layer(x, init_key=key)", "layer(x, rngs=flax.nnx.Rngs(carry=key))"),
    (
        "nn.LSTMCell(2)",
        "layer.initialize_carry(key, (3, 4))",
        "layer.initialize_carry((3, 4), flax.nnx.Rngs(carry=key))",
    ),
    (
        "nn.GRUCell(2)",
        "layer.initialize_carry(input_shape=x.shape, rng=key)",
        "layer.initialize_carry(x.shape, flax.nnx.Rngs(carry=key))",
    ),
    ("nn.Embed(2, 3)", "layer.attend(x)", "layer.attend(x)"),
]


@pytest.mark.parametrize("ctor, linen, native", CALLS)
def test_call_text(ctor: str, linen: str, native: str) -> None:
    assert call_text(ctor, linen) == native


def test_a_flag_computed_in_the_call_moves_to_the_call() -> None:
    layer = layers.lookup("flax.linen.BatchNorm")
    assert layer is not None and layer.call_time_fields == {"use_running_average": "use_running_average"}
    args = layer.bind([], {"momentum": Arg(("0.9",))})
    built = layer.build(args, Call((INPUT,), {"use_running_average": Unknown()}), str)
    assert source(built) == "flax.nnx.BatchNorm(x.shape[-1], momentum=0.9, rngs=rngs)"
    assert layer.call(args, [("x",)], [("use_running_average", ("not train",))]) == (
        [("x",)],
        [("use_running_average", ("not train",))],
        None,
    )


@pytest.mark.parametrize("given", [Const(None), Unknown()])
def test_a_flag_that_may_be_none_is_written_out(given: Value) -> None:
    layer = layers.lookup("flax.linen.Dropout")
    assert layer is not None
    args = layer.bind([Arg(("0.1",))], {})
    built = layer.build(args, Call((INPUT, given), optional=frozenset({"deterministic"})), str)
    assert built.keywords == (("deterministic", ("None",)),)


@pytest.mark.parametrize("ctor, keyword", [("nn.Dropout(0.5)", "deterministic"), ("nn.BatchNorm()", "use_running_average")])
def test_an_unset_flag_raises_on_both_sides(ctor: str, keyword: str) -> None:
    x = jnp.ones((2, 3))
    with pytest.raises(Exception, match=keyword):
        eval(ctor, {"nn": nn}).init({"params": jax.random.key(0), "dropout": jax.random.key(0)}, x)
    model = eval(make(ctor, Array(Shape.of(2, 3))), {**namespace(()), "rngs": nnx.Rngs(0)})
    with pytest.raises(Exception, match=keyword):
        model(x)


def test_attention_with_dropout_and_no_flag_raises() -> None:
    x = jnp.ones((2, 3, 4))
    built = make("nn.SelfAttention(2, dropout_rate=0.5)", Array(Shape.of(2, 3, 4)))
    model = eval(built, {**namespace(("dot_product_attention",)), "rngs": nnx.Rngs(0)})
    with pytest.raises(Exception, match="deterministic"):
        model(x)


# Partials --------------------------------------------------------------------------------------------------------
def partial(linen: str, call: str, *inputs: Value) -> tuple[str, str]:
    """Texts of a partial and of its call."""
    held_node, call_node = (ast.parse(t, mode="eval").body for t in (linen, call))
    assert isinstance(held_node, ast.Call) and isinstance(call_node, ast.Call)
    layer, held = parse(held_node, {})
    call_node.func = held_node.func
    places = [p.name for p in layer.parameters if p.name not in held]
    args = dict(zip(places, [Arg((ast.unparse(a),), _int(a)) for a in call_node.args]))
    args.update({k.arg: Arg((ast.unparse(k.value),), _int(k.value)) for k in call_node.keywords if k.arg})
    return source(layer.partial(held)), source(layer.complete(held, args, Call(inputs or (INPUT,)), str))


def _int(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant):
        return Int(Dim.of(node.value)) if type(node.value) is int else Const(node.value)
    return Unknown()


def test_partial_keeps_its_arguments() -> None:
    held, call = partial("nn.Conv(use_bias=False, dtype=d)", "conv(64, (3, 3))")
    assert held == "flax.nnx.Conv(use_bias=False, dtype=d, rngs=rngs)"
    assert call == "flax.nnx.Conv(x.shape[-1], 64, (3, 3), rngs=rngs)"


def test_partial_with_positional_arguments_and_an_override() -> None:
    held, call = partial("nn.Dense(64, use_bias=False)", "dense(use_bias=True)")
    assert held == "flax.nnx.Linear(out_features=64, use_bias=False, rngs=rngs)"
    assert call == "flax.nnx.Linear(x.shape[-1], use_bias=True, rngs=rngs)"


def test_partial_of_attention_and_of_a_norm() -> None:
    held, call = partial("nn.SelfAttention(8, dropout_rate=r)", "attention()")
    assert held == (
        "flax.nnx.MultiHeadAttention(num_heads=8, attention_fn=linen_parity.dot_product_attention, decode=False, "
        "dropout_rate=r, rngs=rngs)"
    )
    assert call == "flax.nnx.MultiHeadAttention(in_features=x.shape[-1], rngs=rngs)"
    held, call = partial("nn.LayerNorm(dtype=d)", "norm(use_bias=False)")
    assert held == "flax.nnx.LayerNorm(dtype=d, promote_dtype=linen_parity.keep, rngs=rngs)"
    assert call == "flax.nnx.LayerNorm(x.shape[-1], use_bias=False, rngs=rngs)"


def test_partial_runs() -> None:
    scope = {**namespace(("keep",)), "d": jnp.bfloat16, "functools": functools, "rngs": nnx.Rngs(0)}
    held, call = partial("nn.LayerNorm(dtype=d)", "norm(use_bias=False)", Array(Shape.of(4, 6)))
    assert held.startswith("flax.nnx.LayerNorm(")
    scope["norm"] = eval(f"functools.partial({held.replace('(', ', ', 1)}".replace(", rngs=rngs", ""), scope)
    model = eval(call.replace("flax.nnx.LayerNorm", "norm"), scope)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(4, 6)), jnp.float32)
    linen = nn.LayerNorm(dtype=jnp.bfloat16, use_bias=False)
    same(linen.apply(linen.init(jax.random.key(0), x), x), model(x), "partial")


def test_a_partial_of_two_kinds_is_refused() -> None:
    with pytest.raises(Unsupported, match="NNX202"):
        partial("nn.LayerNorm(epsilon=1e-5)", "norm(force_float32_reductions=False)")


def test_a_random_carry_is_reported() -> None:
    layer, args = parse(ast.parse("nn.LSTMCell(3, carry_init=init)", mode="eval").body, {})  # type: ignore[arg-type]
    built = layer.build(args, Call((Array(Shape.of(2, 3)), INPUT)), str)
    assert [code for code, _ in built.notes] == ["NNX206"]


@pytest.mark.parametrize(
    "carry, codes", [(Unknown(), ["NNX208"]), (Array(Shape.of(2, 7)), []), (Unknown("the carry of an RNN"), [])]
)
@pytest.mark.parametrize(
    "cell", ["nn.LSTMCell(3)", "nn.OptimizedLSTMCell(3)", "nn.GRUCell(3)", "nn.MGUCell(3)", "nn.SimpleCell(3)"]
)
def test_a_carry_tells_the_width(cell: str, carry: Value, codes: list[str]) -> None:
    layer, args = parse(ast.parse(cell, mode="eval").body, {})  # type: ignore[arg-type]
    pair = layer.pair and isinstance(carry, Array)  # type: ignore[attr-defined]
    built = layer.build(args, Call((Tup((carry, carry)) if pair else carry, INPUT)), str)
    assert [code for code, _ in built.notes] == codes
    assert ("7" in str(built.positional)) == isinstance(carry, Array)


def test_keys_and_values_of_different_sizes_are_refused() -> None:
    q, k, v = (Array(Shape.of(2, 5, n)) for n in (6, 7, 8))
    with pytest.raises(Unsupported, match="NNX203"):
        make("nn.MultiHeadAttention(2, qkv_features=4)", q, k, v)
    assert "in_kv_features=7" in make("nn.MultiHeadAttention(2, qkv_features=4)", q, k, k)


def test_a_decoding_cache_is_reported() -> None:
    layer, args = parse(ast.parse("nn.SelfAttention(3, decode=flag)", mode="eval").body, {})  # type: ignore[arg-type]
    assert [code for code, _ in layer.build(args, Call((INPUT,)), str).notes] == ["NNX207"]


# What is missing -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "ctor, value, argument",
    [
        ("nn.Dense(3)", Unknown("it comes from a file"), "in_features"),
        ("nn.Dense(3)", Array(Shape.of(2, None)), "in_features"),
        ("nn.DenseGeneral(3, axis=(-2, -1))", Array(Shape.of(2, None, 3)), "in_features"),
        ("nn.LayerNorm(feature_axes=(1, -1))", INPUT, "num_features"),
        ("nn.ConvLocal(3, (2,))", Array(Shape.of(2, None, 3)), "spatial_shape"),
        ("nn.LSTMCell(3)", Unknown(), "in_features"),
    ],
)
def test_unknown_sizes_are_asked_for(ctor: str, value: Value, argument: str) -> None:
    inputs = (Unknown(), value) if "Cell" in ctor else (value,)
    with pytest.raises(SizeUnknown) as found:
        make(ctor, *inputs)
    assert found.value.argument == argument


def test_the_reason_of_an_unknown_size_is_handed_on() -> None:
    with pytest.raises(SizeUnknown, match="it comes from a file"):
        make("nn.Dense(3)", Unknown("it comes from a file"))


def test_never_called() -> None:
    layer, args = parse(ast.parse("nn.Dense(3)", mode="eval").body, {})  # type: ignore[arg-type]
    with pytest.raises(SizeUnknown):
        layer.build(args, None, str)


@pytest.mark.parametrize(
    "ctor",
    [
        "nn.Fp8DotGeneralOp()",
        "nn.Einsum((3, 4), equation)",
        "nn.Einsum((3, 4), 'bi,ij->bj', use_bias=flag)",
        "nn.MultiHeadAttention(2, qk_attn_weights_einsum_cls=make)",
        "nn.RNN(cell, variable_axes=axes)",
        "nn.RNN(cell, split_rngs={'params': False, 'dropout': False})",
        "nn.SpectralNorm(layer, collection_name='norms')",
        "nn.ConvLocal(3, (2,), feature_group_count=2)",
    ],
)
def test_refused(ctor: str) -> None:
    with pytest.raises(Unsupported) as found:
        make(ctor, Array(Shape.of(2, 5, 6)))
    assert found.value.code.startswith("NNX20") and found.value.reason


@pytest.mark.parametrize(
    "ctor", ["nn.Dense()", "nn.Dense(3, foo=1)", "nn.Dense(3, features=3)", "nn.Dropout(1, 2, 3, 4, 5)"]
)
def test_bad_constructors(ctor: str) -> None:
    with pytest.raises(BadCall):
        make(ctor)


def test_bad_calls() -> None:
    for args, keywords in (((INPUT, INPUT), {}), ((INPUT,), {"train": Unknown()})):
        with pytest.raises(BadCall):
            make("nn.Dense(3)", *args, **keywords)


def test_parameters_are_linens() -> None:
    """Names, order and required ones of every layer are those of the installed Linen."""
    import dataclasses

    for name, layer in layers.catalog().items():
        cls = getattr(nn, name.removeprefix("flax.linen."))
        if not dataclasses.is_dataclass(cls):
            continue
        fields = [f for f in dataclasses.fields(cls) if f.name not in ("parent", "name")]
        assert [p.name for p in layer.parameters] == [f.name for f in fields], name
        required = [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
        assert [p.name for p in layer.parameters if p.default is None] == required, name


def test_call_parameters_are_linens() -> None:
    import inspect

    for name, layer in layers.catalog().items():
        cls = getattr(nn, name.removeprefix("flax.linen."))
        signature = inspect.signature(cls.__call__)
        names = [p for p in signature.parameters.values() if p.name != "self"]
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in names) or "Fp8" in name:
            continue
        expected = [Param(p.name, None, p.kind is p.KEYWORD_ONLY) for p in names]
        assert [Param(p.name, None, p.keyword_only) for p in layer.call_parameters] == expected, name


# Shapes of arguments of unknown rank ------------------------------------------------------------------------------
def result(ctor: str, *values: Value, **keywords: Value) -> Value:
    layer, bound = parse(ast.parse(ctor, mode="eval").body, {})  # type: ignore[arg-type]
    return layer.output(bound, Call(values or (INPUT,), keywords))


@pytest.mark.parametrize(
    "ctor, dims",
    [
        ("nn.Dense(4)", ("4",)),
        ("nn.LayerNorm()", ()),
        ("nn.Dropout(0.1)", ()),
        ("nn.Conv(8, (3, 3), 2)", ("(x.shape[-3] + 1) // 2", "(x.shape[-2] + 1) // 2", "8")),
        ("nn.Conv(8, (3,), padding='VALID')", ("x.shape[-2] - 2", "8")),
        ("nn.ConvTranspose(8, (2, 2), (2, 2))", ("2 * x.shape[-3]", "2 * x.shape[-2]", "8")),
        ("nn.DenseGeneral((2, 3), axis=(-2, -1))", ("2", "3")),
        ("nn.SelfAttention(2)", ("x.shape[-1]",)),
        ("nn.RNN(nn.LSTMCell(5))", ("x.shape[-2]", "5")),
    ],
)
def test_shapes_of_unknown_rank(ctor: str, dims: tuple[str, ...]) -> None:
    found = result(ctor)
    assert isinstance(found, Array)
    want = found.shape.expand(max(len(dims), 1))
    if dims:
        assert [str(d) for d in want.dims[-len(dims) :]] == list(dims)
    assert found.shape.lead is not None and found.shape.lead.argument == "x"
    assert isinstance(found.shape.lead, Lead)


def test_carries() -> None:
    made = layers.lookup("flax.linen.LSTMCell")
    assert made is not None
    args = made.bind([Arg(("8",), Int(Dim.of(8)))], {})
    state = Array(Shape.of(2, 8))
    call = Call((Unknown(), Tup((Int(Dim.of(2)), Int(Dim.of(5))))))
    assert made.method_output("initialize_carry", args, call) == Tup((state, state))
    assert make("nn.LSTMCell()", Tup((state, state)), INPUT) == "flax.nnx.LSTMCell(x.shape[-1], 8, rngs=rngs)"


@pytest.mark.parametrize("cell", ["LSTMCell", "OptimizedLSTMCell", "GRUCell", "MGUCell", "SimpleCell"])
def test_carries_run(cell: str) -> None:
    case = Case(f"nn.{cell}(3)", {"x": jnp.ones((2, 5))}, call="layer(c, x)")
    case.inputs["c"] = eval(f"nn.{cell}(3)").initialize_carry(jax.random.key(0), (2, 5))
    sides = construct(case)
    native = sides.model.initialize_carry((2, 5), nnx.Rngs(carry=0))  # type: ignore[attr-defined]
    same(case.inputs["c"], native, "carry")


# Random numbers, caches, shared layers ---------------------------------------------------------------------------
def test_dropout_draws_with_the_key_that_it_is_given() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4, 6)), jnp.float32)
    case = Case(
        "nn.MultiHeadDotProductAttention(2, dropout_rate=0.5)",
        {"x": x, "key": jax.random.key(5)},
        call="layer(x, deterministic=False, dropout_rng=key)",
    )
    sides = construct(case)
    same(sides.run_linen(sides.variables, case.inputs), sides.run_nnx(sides.model, case.inputs), "dropout")


def test_dropout_draws_anew() -> None:
    x = jnp.ones((4, 64))
    model = eval(
        make("nn.Dropout(0.5, rng_collection='noise', deterministic=False)"),
        {**namespace(()), "rngs": nnx.Rngs(noise=0)},
    )
    first, second = model(x), model(x)
    assert not np.array_equal(first, second)
    assert set(np.unique(first)) == {0.0, 2.0}


def test_decoding_makes_its_cache_as_linen_does() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4, 6)), jnp.float32)
    case = Case("nn.MultiHeadDotProductAttention(2, qkv_features=8, decode=True)", {"x": x})
    sides = construct(case)
    variables = {"params": sides.variables["params"]}
    whole, made = nn.apply(lambda m: m(x), sides.linen, mutable=["cache"])(variables)
    same(whole, sides.model(x), "the first call")  # type: ignore[operator]
    cache = made["cache"]
    for token in range(4):
        step = x[:, token : token + 1]
        want, new = nn.apply(lambda m: m(step), sides.linen, mutable=["cache"])({**variables, "cache": cache})  # noqa: B023
        cache = new["cache"]
        same(want, sides.model(step), f"token {token}")  # type: ignore[operator]
        for name in ("cached_key", "cached_value", "cache_index"):
            same(cache[name], getattr(sides.model, name)[...], name)


@pytest.mark.parametrize("wrapper, call", [("WeightNorm", "{}(x)"), ("SpectralNorm", "{}(x, update_stats=True)")])
def test_a_normalised_layer_that_lives_elsewhere(wrapper: str, call: str) -> None:
    """In a compact method the inner layer belongs to the module, and the scales are named after it."""

    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            return eval(call.format("layer"), {"layer": getattr(nn, wrapper)(nn.Dense(4)), "x": x})

    layer = layers.lookup(f"flax.linen.{wrapper}")
    assert layer is not None
    args = layer.bind([Arg(("self.Dense_0",))], {})
    built = layer.build(args, Call((INPUT,)), str)
    keywords: list[tuple[str | None, Any]] = [("update_stats", ("True",))] if wrapper == "SpectralNorm" else []
    positional, named, _ = layer.call(args, [("x",)], keywords)
    new_call = ", ".join([*map(text, positional), *[f"{n}={text(p)}" for n, p in named]])
    scope = namespace(built.parity)

    class Native(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.Dense_0 = nnx.Linear(6, 4, rngs=rngs)
            setattr(self, f"{wrapper}_0", eval(source(built), {**scope, "self": self, "rngs": rngs}))

        def __call__(self, x: jax.Array) -> jax.Array:
            return eval(f"self.{wrapper}_0({new_call})", {"self": self, "x": x})

    from .sides import randomized, transplant

    x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 6)), jnp.float32)
    linen, native = Linen(), Native(nnx.Rngs(0))
    variables = randomized(jax.eval_shape(linen.init, jax.random.key(0), x))
    transplant(variables, native)
    for _ in range(2):
        out, updated = linen.apply(variables, x, mutable=["batch_stats"])
        variables = {**variables, **updated}
        same(out, native(x), wrapper)


def test_batch_apply_and_sequential_run() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 6)), jnp.float32)
    dense = nn.Dense(4)
    variables = dense.init(jax.random.key(0), x[0])
    scope = {**namespace(("BatchApply",)), "f": None}
    native = nnx.Linear(6, 4, rngs=nnx.Rngs(0))
    native.kernel[...] = variables["params"]["kernel"]
    model = eval("linen_parity.BatchApply(f, 2)", {**scope, "f": native})
    want = nn.BatchApply(lambda y: dense.apply(variables, y))(x)
    same(want, model(x), "BatchApply")
    sequence = eval("flax.nnx.Sequential(*layers)", {**scope, "layers": [native, jnp.tanh]})
    same(nn.Sequential([nn.Dense(4), jnp.tanh]).apply({"params": {"layers_0": variables["params"]}}, x), sequence(x), "")
    assert [path for path, _ in nnx.to_flat_state(nnx.state(sequence))][0][:2] == ("layers", 0)


def test_dot_general_of_a_linen_module_is_refused_when_it_runs() -> None:
    scope = {**namespace(("plain_dot_general",)), "rngs": nnx.Rngs(0)}
    built = make("nn.Dense(3, dot_general_cls=nn.Fp8DotGeneralOp)", Array(Shape.of(2, 6)))
    with pytest.raises(TypeError, match="Fp8DotGeneralOp"):
        eval(built, scope)(jnp.ones((2, 6)))


# Why there are parity parts at all: plain NNX differs. Where one of these fails, NNX has changed and a part can go.
PLAIN = [
    ("nn.LayerNorm(dtype=jnp.bfloat16)", "nnx.LayerNorm(6, dtype=jnp.bfloat16, rngs=rngs)"),
    ("nn.RMSNorm(dtype=jnp.bfloat16)", "nnx.RMSNorm(6, dtype=jnp.bfloat16, rngs=rngs)"),
    ("nn.GroupNorm(2, dtype=jnp.bfloat16)", "nnx.GroupNorm(6, 2, dtype=jnp.bfloat16, rngs=rngs)"),
    (
        "nn.BatchNorm(use_running_average=True, dtype=jnp.bfloat16)",
        "nnx.BatchNorm(6, use_running_average=True, dtype=jnp.bfloat16, rngs=rngs)",
    ),
    ("nn.SelfAttention(2)", "nnx.MultiHeadAttention(2, 6, decode=False, rngs=rngs)"),
]


@pytest.mark.parametrize("linen, plain", PLAIN)
def test_plain_nnx_differs(linen: str, plain: str) -> None:
    from .sides import randomized, transplant

    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 9, 6)), jnp.float32)
    layer = eval(linen, {"nn": nn, "jnp": jnp})
    variables = randomized(jax.eval_shape(layer.init, jax.random.key(0), x))
    model = eval(plain, {"nnx": nnx, "jnp": jnp, "rngs": nnx.Rngs(0)})
    transplant(variables, model)
    with pytest.raises(AssertionError, match="differ"):
        same(layer.apply(variables, x), model(x), "plain")


def test_plain_gru_has_no_place_for_linens_bias() -> None:
    model = nnx.GRUCell(5, 3, rngs=nnx.Rngs(0))
    assert model.dense_h.bias is None
