"""PartitionSpecs: Linen's own resolution is the oracle."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from flax import nnx
from flax.training import train_state
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from nnx_migrate import compat
from nnx_migrate.compat import errors
from nnx_migrate.compat.specs import resolve

RULES: list[Any] = [
    (),
    (("a", "x"), ("b", "y")),
    (("a", "x"), ("b", "x")),
    (("b", "x"), ("a", "x"), ("a", "y")),
    (("a", ("x", "y")), ("b", "y"), ("c", "x")),
    (("a", None), ("a", "x"), ("b", ("y",))),
    (("b", "x"), ("b", "y"), ("a", ("y", "z")), ("a", "z")),
]
NAMES = [n for k in (1, 2, 3) for n in itertools.permutations(("a", "b", "c", None, "unknown"), k)]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_as_linen_resolves(rules: Any) -> None:
    for names in NAMES:
        assert resolve(names, rules, logical=True) == nn.logical_to_mesh_axes(names, rules), names


def test_names_that_are_mesh_axes_already() -> None:
    rules = (("embed", "model"),)
    assert resolve(("embed", "data"), rules, ("data", "model")) == P("model", "data")
    assert resolve(("embed", "model"), rules, ("data", "model")) == P("model", None)
    assert resolve(("embed", "data"), rules, ("data", "model"), logical=True) == P("model", None)
    assert resolve((None, ("data", "model")), None, ("data", "model")) == P(None, ("data", "model"))
    with pytest.raises(errors.SpecError, match=r"embed are no axes of the mesh.*pass rules="):
        resolve(("embed", None), None, ("data", "model"))
    with pytest.raises(errors.SpecError, match="a occur more than once"):
        resolve(("a", "a"), (("a", "x"),))


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        init = nn.initializers.normal()
        w = self.param("w", nn.with_logical_partitioning(init, ("embed", "hidden")), (8, 16))
        v = self.param("v", nn.with_logical_partitioning(init, ("hidden", "embed")), (16, 8))
        b = self.param("b", init, (8,))
        return jax.nn.relu(x @ w) @ v + b


class Net(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.zeros((8, 16)), out_sharding=("embed", "hidden"))
        self.v = nnx.Param(jnp.zeros((16, 8)), out_sharding=("hidden", "embed"))
        self.b = nnx.Param(jnp.zeros(8))


TX = optax.chain(optax.clip(1.0), optax.adam(1e-3))


def create() -> tuple[Net, nnx.Optimizer]:
    with nnx.use_eager_sharding(False):
        model = Net()
        return model, nnx.Optimizer(model, TX, wrt=nnx.Param)


def linen_specs() -> Any:
    def init() -> Any:
        model = LinenNet()
        params = model.init(jax.random.key(0), jnp.zeros((2, 8)))["params"]
        return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=TX)

    return nn.get_partition_spec(jax.eval_shape(init))


LOGICAL = (("hidden", "model"), ("embed", "data"), ("embed", "model"))


def test_partition_specs_of_model_and_optimizer() -> None:
    linen = nn.logical_to_mesh(linen_specs(), LOGICAL)
    specs = compat.partition_specs(create(), LOGICAL)
    for name in ("w", "v", "b"):
        assert specs[0][name] == linen.params[name]
        assert specs[1]["opt_state"][1][0]["mu"][name] == linen.opt_state[1][0].mu[name]
    assert specs[1]["step"] == P()
    model = create()[0]
    assert compat.partition_specs(model, LOGICAL)["w"] == P("data", "model")
    with nn.logical_axis_rules(LOGICAL):
        assert compat.partition_specs(model)["v"] == P("model", "data")


@pytest.mark.parametrize("kind", ["specs", "shardings", "abstract boxes"])
def test_specs_from_linen(kind: str, make_mesh: Any) -> None:
    mesh = make_mesh((2, 4))
    logical = linen_specs()
    given: Any = nn.logical_to_mesh(logical, LOGICAL)
    if kind == "shardings":
        given = nn.logical_to_mesh_sharding(logical, mesh, LOGICAL)
    if kind == "abstract boxes":
        box = nn.Partitioned(jax.ShapeDtypeStruct((8, 16), jnp.float32), names=("data", "model"))
        given = given.replace(params={**given.params, "w": box})
    found = compat.specs_from_linen(given, create())
    want = NamedSharding(mesh, P("data", "model")) if kind == "shardings" else P("data", "model")
    assert found[0]["w"] == want and found[1]["opt_state"][1][0]["nu"]["w"] == (
        want if kind != "abstract boxes" else P("data", "model")
    )
    state = train_state.TrainState.create(
        apply_fn=None, params={k: jnp.ones(v.shape) for k, v in nnx.to_pure_dict(nnx.state(create()[0])).items()}, tx=TX
    )
    directory = {"step": state.step, "params": state.params, "opt_state": state.opt_state}
    import tempfile
    from pathlib import Path

    from flax import serialization

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ck.msgpack"
        file.write_bytes(serialization.to_bytes(directory))
        for specs in (given, found):
            model, optimizer = compat.restore(file, create, mesh=mesh, specs=specs)
            assert tuple(model.w.get_value().sharding.spec) == ("data", "model")
            assert tuple(optimizer.opt_state[1][0].mu["v"].get_value().sharding.spec) == ("model", "data")


def test_specs_that_do_not_fit(make_mesh: Any, tmp_path: Any) -> None:
    given = nn.logical_to_mesh(linen_specs(), LOGICAL)
    given = given.replace(params={"w": P(), "extra": P()})
    with pytest.raises(compat.MismatchError) as caught:
        compat.specs_from_linen(given, create())
    assert "0/v: no spec" in str(caught.value) and "params/extra: a spec, but no variable" in str(caught.value)

    class Odd(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.zeros((6, 7)), out_sharding=("data", "model"))
            self.v = nnx.Param(jnp.zeros((3, 8)), out_sharding=("data", "model"))
            self.u = nnx.Param(jnp.zeros((4, 4)), out_sharding=("rows", None))

    import layouts_by_hand as by_hand

    tree = {"params": {k: np.zeros(s, np.float32) for k, s in {"w": (6, 7), "v": (3, 8), "u": (4, 4)}.items()}}
    path = by_hand.write_l1(tree, tmp_path / "ck")
    with pytest.raises(compat.MismatchError, match=r"u: axis names .'rows', None.: rows are no axes of the mesh"):
        compat.restore(path, Odd, mesh=make_mesh((2, 4)))
    with pytest.raises(compat.MismatchError) as caught:
        compat.restore(path, Odd, mesh=make_mesh((2, 4)), rules=(("rows", None),))
    assert "w: dimension 1 of (6, 7) is not divisible by 4" in str(caught.value)
    assert "v: dimension 0 of (3, 8) is not divisible by 2" in str(caught.value)
    with pytest.raises(errors.SpecError, match="need a mesh"):
        compat.restore(path, Odd, specs={"params": {"w": P(), "v": P(), "u": P()}})


def test_the_mesh_of_the_context(make_mesh: Any, tmp_path: Any) -> None:
    """`jax.set_mesh` and rules of the context do as well as arguments; an Explicit mesh too."""
    import layouts_by_hand as by_hand

    tree = {"params": {k: np.ones(v.shape, np.float32) for k, v in nnx.to_pure_dict(nnx.state(create()[0])).items()}}
    path = by_hand.write_l1(tree, tmp_path / "ck")
    explicit = jax.make_mesh((2, 4), ("data", "model"))
    for mesh in (make_mesh((2, 4)), explicit):
        with jax.set_mesh(mesh), nn.logical_axis_rules(LOGICAL):
            model = compat.restore(path, lambda: create()[0])
        assert model.w.get_value().sharding == NamedSharding(mesh, P("data", "model"))
    assert len(compat.restore(path, lambda: create()[0]).w.get_value().sharding.device_set) == 1


def test_specs_for_what_a_function_makes() -> None:
    """As `restore` takes it; nothing is built for its specs."""

    def create() -> nnx.Linear:
        return nnx.Linear(4, 8, rngs=nnx.Rngs(0))

    spec = {"params": {"kernel": P("data", "model"), "bias": P("model")}}
    made, given = compat.specs_from_linen(spec, create), compat.specs_from_linen(spec, create())
    assert made["kernel"] == given["kernel"] == P("data", "model") and made["bias"] == P("model")
