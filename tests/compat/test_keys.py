"""Keys, boxes and layouts that differ between Linen and NNX; each with both sides run where there are two sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import layouts_by_hand as by_hand
import numpy as np
import pytest
from flax import linen as nn
from flax import nnx
from flax.core import freeze
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten

X = jnp.asarray(np.random.RandomState(0).randn(2, 5, 8), jnp.float32)


def flat(tree: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(tree).items()}


def assert_same(a: Any, b: Any) -> None:
    left, right = flat(a), flat(b)
    assert left.keys() == right.keys()
    for key in left:
        assert np.array_equal(left[key], right[key]), key


CELLS: dict[str, tuple[Any, Any]] = {
    "lstm": (lambda: nn.RNN(nn.LSTMCell(6)), lambda r: nnx.RNN(nnx.LSTMCell(8, 6, rngs=r))),
    "optimized lstm": (lambda: nn.RNN(nn.OptimizedLSTMCell(6)), lambda r: nnx.RNN(nnx.OptimizedLSTMCell(8, 6, rngs=r))),
    "simple": (lambda: nn.RNN(nn.SimpleCell(6)), lambda r: nnx.RNN(nnx.SimpleCell(8, 6, rngs=r))),
}


@pytest.mark.parametrize("name", CELLS)
def test_recurrent_cells(name: str, tmp_path: Path) -> None:
    make_linen, make_nnx = CELLS[name]
    linen = make_linen()
    variables = linen.init(jax.random.key(0), X)

    class Holder(nnx.Module):
        def __init__(self) -> None:
            self.rnn = make_nnx(nnx.Rngs(1))

    wrapped = {"params": {"rnn": variables["params"]}}
    holder = compat.from_linen(wrapped, Holder())
    np.testing.assert_allclose(holder.rnn(X), linen.apply(variables, X), rtol=0, atol=1e-6)
    assert_same(compat.to_linen(holder), wrapped)
    again = compat.restore(by_hand.write_l1(jax.tree.map(np.asarray, wrapped), tmp_path / "ck"), Holder)
    assert np.array_equal(again.rnn(X), holder.rnn(X))
    # And from disk to disk, both ways.
    compat.convert_checkpoint(tmp_path / "ck.msgpack", tmp_path / "nnx", create=Holder)
    compat.convert_checkpoint(tmp_path / "nnx", tmp_path / "linen", to="linen", create=Holder)
    linen_again = {k: v.read() for k, v in compat.open_checkpoint(tmp_path / "linen").leaves.items()}
    want = flat(wrapped)
    assert {"/".join(k) for k in linen_again} == want.keys()
    for key, value in linen_again.items():
        assert np.array_equal(value, want["/".join(key)]), key


def test_sequential_lists_and_dicts() -> None:
    class Linen(nn.Module):
        def setup(self) -> None:
            self.seq = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(8)])
            self.blocks = [nn.Dense(8) for _ in range(11)]
            self.heads = {"a": nn.Dense(3), "b": nn.Dense(3)}

        def __call__(self, x: jax.Array) -> Any:
            x = self.seq(x)
            for block in self.blocks:
                x = block(x)
            return self.heads["a"](x) + self.heads["b"](x)

    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.seq = nnx.Sequential(nnx.Linear(8, 8, rngs=rngs), jax.nn.relu, nnx.Linear(8, 8, rngs=rngs))
            self.blocks = nnx.List([nnx.Linear(8, 8, rngs=rngs) for _ in range(11)])
            self.heads = nnx.Dict(a=nnx.Linear(8, 3, rngs=rngs), b=nnx.Linear(8, 3, rngs=rngs))

        def __call__(self, x: jax.Array) -> Any:
            x = self.seq(x)
            for block in self.blocks:
                x = block(x)
            return self.heads["a"](x) + self.heads["b"](x)

    linen = Linen()
    variables = linen.init(jax.random.key(0), X)
    model = compat.from_linen(freeze(variables), Net(nnx.Rngs(1)))
    assert np.array_equal(model(X), linen.apply(variables, X))
    back = compat.to_linen(model)
    assert "blocks_10" in back["params"] and "seq" in back["params"]


@pytest.mark.parametrize("collection", ["my_ema", "ema"])  # `ema` of a TrainState is a copy of the params
def test_attention_cache_and_custom_collections(collection: str) -> None:
    class Ema(nnx.Variable[Any]):
        pass

    nnx.register_variable_name(collection, Ema)

    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.att = nnx.MultiHeadAttention(2, 8, decode=True, rngs=rngs)
            self.att.init_cache((2, 5, 8))
            self.mean = Ema(jnp.zeros(3))

    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            self.variable(collection, "mean", lambda: jnp.arange(3.0))
            return nn.MultiHeadDotProductAttention(2, decode=True, name="att")(x)

    variables = Linen().init(jax.random.key(0), X)
    cache = jax.tree.map(lambda x: x + 1, variables["cache"])
    model = compat.from_linen({**variables, "cache": cache}, Net(nnx.Rngs(0)))
    assert np.array_equal(model.att.cached_key[...], cache["att"]["cached_key"])
    assert model.att.cache_index[...] == 1 and np.array_equal(model.mean[...], jnp.arange(3.0))
    assert_same(compat.to_linen(model), {**variables, "cache": cache})


class Layer(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.zeros((4, 6)))


class Unrolled(nnx.Module):
    def __init__(self) -> None:
        self.Block = nnx.List([Layer() for _ in range(3)])


class Stacked(nnx.Module):
    def __init__(self, axis: int = 0) -> None:
        shape = [4, 6]
        shape.insert(axis, 3)
        self.Scan_0 = nnx.Dict(w=nnx.Param(jnp.zeros(shape)))


@pytest.mark.parametrize("axis", [0, 1])
def test_stack_and_unstack(axis: int, tmp_path: Path) -> None:
    layers = np.random.RandomState(0).randn(3, 4, 6).astype(np.float32)
    unrolled = {"params": {f"Block_{i}": {"w": layers[i]} for i in range(3)}}
    stacked = {"params": {"Scan_0": {"w": np.moveaxis(layers, 0, axis)}}}
    one, many = by_hand.write_l1(unrolled, tmp_path / "u"), by_hand.write_l1(stacked, tmp_path / "s")
    model = compat.restore(one, lambda: Stacked(axis), restack={"Block_#": ("Scan_0", axis)})
    assert np.array_equal(model.Scan_0["w"][...], stacked["params"]["Scan_0"]["w"])
    model = compat.from_linen(unrolled, Stacked(axis), restack={"Block_#": ("Scan_0", axis)})
    assert np.array_equal(model.Scan_0["w"][...], stacked["params"]["Scan_0"]["w"])
    apart = compat.restore(many, Unrolled, restack={"Scan_0": ("Block/#", axis)})
    for i in range(3):
        assert np.array_equal(apart.Block[i].w[...], layers[i])
    with pytest.raises(compat.MismatchError, match="exactly one side"):
        compat.restore(one, Stacked, restack={"Block": "Scan_0"})
    with pytest.raises(compat.MismatchError, match="missing: Scan_0/w"):
        compat.restore(one, lambda: Stacked(axis))


def test_stacking_takes_the_optimizer_along(tmp_path: Path) -> None:
    import optax

    layers = np.random.RandomState(0).randn(3, 4, 6).astype(np.float32)
    tree = {
        "step": np.array(2, np.int32),
        "params": {f"Block_{i}": {"w": layers[i]} for i in range(3)},
        "opt_state": {
            "0": {
                "count": np.array(2, np.int32),
                "mu": {f"Block_{i}": {"w": layers[i] * 2} for i in range(3)},
                "nu": {f"Block_{i}": {"w": layers[i] ** 2} for i in range(3)},
            },
            "1": {},
        },
    }

    def create() -> tuple[Stacked, nnx.Optimizer]:
        model = Stacked()
        return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    path = by_hand.write_l1(tree, tmp_path / "ck")
    _, optimizer = compat.restore(path, create, restack={"Block_#": "Scan_0"})
    assert np.array_equal(optimizer.opt_state[0].mu["Scan_0"]["w"][...], layers * 2)


@pytest.mark.parametrize(
    "rename",
    [
        {"Dense_0": "first", "Dense_1": "second"},
        {r"^Dense_0/": "first/", r"^Dense_1/": "second/"},
        {r"Dense_(\d+)/(\w+)": lambda m: "x"},
        lambda key: key.replace("Dense_0", "first").replace("Dense_1", "second"),
    ],
    ids=["names", "regexes", "bad", "function"],
)
def test_rename(rename: Any) -> None:
    import optax

    class Net(nnx.Module):
        def __init__(self) -> None:
            self.first = Layer()
            self.second = Layer()

    def tree(scale: float) -> Any:
        return {f"Dense_{i}": {"w": jnp.full((4, 6), float(i + scale))} for i in range(2)}

    model = Net()
    target = (model, nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param))
    state = {"step": jnp.int32(1), "params": tree(1), "opt_state": [{"trace": tree(5)}, None]}
    if isinstance(rename, dict) and not all(isinstance(v, str) for v in rename.values()):
        with pytest.raises(compat.MismatchError, match="must be a string"):
            compat.from_linen(state, target, rename=rename)
        return
    compat.from_linen(state, target, rename=rename)
    assert model.second.w[0, 0] == 2 and target[1].opt_state[0].trace["second"]["w"][0, 0] == 6


def test_swap_by_rename() -> None:
    class Net(nnx.Module):
        def __init__(self) -> None:
            self.a = Layer()
            self.b = Layer()

    given = {"params": {"a": {"w": jnp.zeros((4, 6))}, "b": {"w": jnp.ones((4, 6))}}}
    model = compat.from_linen(given, Net(), rename={"a": "b", "b": "a"})
    assert model.a.w[0, 0] == 1 and model.b.w[0, 0] == 0


def test_a_parameter_called_value() -> None:
    class Net(nnx.Module):
        def __init__(self) -> None:
            self.temperature = nnx.Dict(value=nnx.Param(jnp.zeros(2)))
            self.step = nnx.Param(jnp.zeros(2))

    given = {"params": {"temperature": {"value": jnp.ones(2)}, "step": jnp.full(2, 3.0)}}
    model = compat.from_linen(given, Net())
    assert model.temperature["value"][0] == 1 and model.step[0] == 3
    # The same boxed, as msgpack and Orbax give it back.
    boxed = {"params": {"temperature": {"value": {"value": jnp.ones(2)}}, "step": {"value": jnp.full(2, 3.0)}}}
    assert compat.from_linen(boxed, Net()).temperature["value"][0] == 1


def test_a_parameter_called_value_that_is_all_there_is() -> None:
    class Scalar(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.value = nnx.Param(jnp.zeros(()))

    model = compat.from_linen({"params": {"value": jnp.asarray(2.0)}}, Scalar(nnx.Rngs(0)))
    assert float(model.value[...]) == 2.0
    boxed = compat.from_linen({"params": {"value": {"value": jnp.asarray(3.0)}}}, Scalar(nnx.Rngs(0)))
    assert float(boxed.value[...]) == 3.0
    for other in ({"w": {"value": jnp.ones(())}}, {"params": {"w": {"value": jnp.ones(())}}}):  # a box, of another parameter
        with pytest.raises(compat.MismatchError):
            compat.from_linen(other, Scalar(nnx.Rngs(0)))


def test_boxes_are_read_and_never_changed() -> None:
    class Net(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.zeros((4, 6)))

    for box in (
        nn.Partitioned(jnp.ones((4, 6)), names=("a", "b")),
        nn.LogicallyPartitioned(jnp.ones((4, 6)), names=("a", "b"), rules=(("a", "x"),)),
    ):
        before = dict(vars(box))
        for _ in range(2):  # to_nnx_metadata of flax fails the second time
            model = compat.from_linen({"params": {"w": box}}, Net())
        assert vars(box) == before and model.w[0, 0] == 1
    assert type(compat.to_linen(model)["params"]["w"]) is not nn.Partitioned

    class Annotated(nnx.Module):
        def __init__(self) -> None:
            with nnx.use_eager_sharding(False):
                self.w = nnx.Param(jnp.zeros((4, 6)), out_sharding=(None, "model"))
                self.v = nnx.Param(jnp.zeros(4), out_sharding=("embed",), sharding_rules=(("embed", "model"),))

    back = compat.to_linen(Annotated(), boxed=True)["params"]
    assert type(back["w"]) is nn.Partitioned and back["w"].names == (None, "model")
    assert type(back["v"]) is nn.LogicallyPartitioned and back["v"].rules == (("embed", "model"),)


def test_mismatch_leaves_the_model_alone() -> None:
    class Net(nnx.Module):
        def __init__(self) -> None:
            self.a = Layer()
            self.b = Layer()

    model = Net()
    with pytest.raises(compat.MismatchError) as caught:
        compat.from_linen({"params": {"a": {"w": jnp.ones((4, 6))}, "b": {"w": jnp.ones((4, 7))}}}, model)
    assert "b/w: the target has shape (4, 6)" in str(caught.value) and not model.a.w[...].any()
    with pytest.raises(compat.MismatchError, match="dtype float32, params/a/w has float16"):
        compat.from_linen({"params": {k: {"w": jnp.ones((4, 6), jnp.float16)} for k in "ab"}}, model)
    with pytest.warns(compat.RestoreWarning, match="not in the source.*b/w"):
        compat.from_linen({"params": {"a": {"w": jnp.ones((4, 6))}}}, model, strict=False)
    assert model.a.w[0, 0] == 1


def test_a_second_copy_of_the_parameters(tmp_path: Path) -> None:
    """EMA weights beside the model: restored where the target has a place, an error where it has none."""
    given = {"params": {"w": np.ones((4, 6), np.float32)}, "ema_params": {"w": np.full((4, 6), 2, np.float32)}}
    path = by_hand.write_l1(given, tmp_path / "ck")
    both = compat.restore(path, lambda: {"model": Layer(), "ema_params": Layer()})
    assert both["model"].w[0, 0] == 1 and both["ema_params"].w[0, 0] == 2
    with pytest.raises(compat.MismatchError, match="extra: ema_params/w"):
        compat.restore(path, Layer)
    assert compat.restore(path, Layer, ignore=["^ema_params/"]).w[0, 0] == 1


def test_thousands_of_layers_are_matched_quickly() -> None:
    import time

    from nnx_migrate.compat.boxes import flatten as leaves_of
    from nnx_migrate.compat.state import memory_checkpoint

    class Deep(nnx.Module):
        def __init__(self) -> None:
            self.Block = nnx.List([Layer() for _ in range(600)])

    small = np.zeros((4, 6), np.float32)
    given = {"params": {f"Block_{i}": {"w": small} for i in range(600)}}
    begun = time.perf_counter()
    model = compat.from_linen(given, Deep())
    assert len(leaves_of(compat.to_linen(model))) == len(memory_checkpoint(given)[0].leaves) == 600
    assert time.perf_counter() - begun < 30


def test_the_train_state_of_a_functional_program(tmp_path: Path, make_mesh: Any) -> None:
    """Programs that keep their variables outside of the model: plain arrays, and Variables where they are annotated."""
    import optax
    from flax import serialization
    from flax.training import train_state

    def tree(make: Any) -> Any:
        return {"layer": {"w": make((4, 8)), "b": make((8,))}}

    def create() -> Any:
        params = tree(jnp.zeros)
        with nnx.use_eager_sharding(False):
            params["layer"]["w"] = nnx.Param(params["layer"]["w"], out_sharding=("embed", "mlp"))
        return train_state.TrainState.create(apply_fn=None, params=params, tx=optax.adam(1e-3))

    rng = np.random.RandomState(0)
    given = tree(lambda shape: jnp.asarray(rng.randn(*shape), jnp.float32))
    state = train_state.TrainState.create(apply_fn=None, params=given, tx=optax.adam(1e-3))
    state = state.apply_gradients(grads=given)
    (tmp_path / "ck.msgpack").write_bytes(serialization.to_bytes(state))
    mesh = make_mesh((2, 4))
    found = compat.restore(tmp_path / "ck.msgpack", create, mesh=mesh, rules=(("mlp", "model"), ("embed", "data")))
    assert isinstance(found, train_state.TrainState) and found.step == 1
    assert isinstance(found.params["layer"]["w"], nnx.Param)
    for value, want in (
        (found.params["layer"]["w"], state.params["layer"]["w"]),
        (found.opt_state[0].mu["layer"]["w"], state.opt_state[0].mu["layer"]["w"]),
    ):
        assert np.array_equal(value[...], want)
        assert tuple(value.get_value().sharding.spec) == ("data", "model")
    assert np.array_equal(found.opt_state[0].nu["layer"]["b"], state.opt_state[0].nu["layer"]["b"])
    # Nothing is made up, and parameters alone are parameters alone.
    with pytest.raises(compat.MismatchError, match="missing: other"):
        compat.restore(tmp_path / "ck.msgpack", lambda: {"params": tree(jnp.zeros), "other": jnp.zeros(2)})
    alone = compat.restore(tmp_path / "ck.msgpack", lambda: {"params": tree(jnp.zeros)})
    assert np.array_equal(alone["params"]["layer"]["b"], state.params["layer"]["b"])
