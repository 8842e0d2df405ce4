"""Programs that keep their variables outside of the model: their TrainState as the target, in memory and for specs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from flax import nnx, serialization
from flax.training import train_state
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from nnx_migrate import compat

SHAPES = {"w": (8, 16), "v": (16, 8), "b": (8,)}
NAMES = {"w": ("embed", "hidden"), "v": ("hidden", "embed")}
RULES = (("hidden", "model"), ("embed", "data"))
TX = optax.chain(optax.masked(optax.add_decayed_weights(1e-2), lambda p: jax.tree.map(lambda x: True, p)), optax.adam(1e-3))


class State(train_state.TrainState):
    batch_stats: Any = None


def params(make: Any) -> Any:
    return {"layer": {name: make(name, shape) for name, shape in SHAPES.items()}}


def target() -> State:
    """Annotated parameters are Variables, the others are plain arrays."""

    def make(name: str, shape: tuple[int, ...]) -> Any:
        with nnx.use_eager_sharding(False):
            return nnx.Param(jnp.zeros(shape), out_sharding=NAMES[name]) if name in NAMES else jnp.zeros(shape)

    stats = {"norm": {"mean": jnp.zeros(8)}}
    return State.create(apply_fn=None, params=params(make), tx=TX, batch_stats=stats)


def linen(boxed: bool = True) -> State:
    random = np.random.RandomState(0)

    def make(name: str, shape: tuple[int, ...]) -> Any:
        value = jnp.asarray(random.randn(*shape), jnp.float32)
        return nn.LogicallyPartitioned(value, names=NAMES[name]) if boxed and name in NAMES else value

    stats = {"norm": {"mean": jnp.full(8, 3.0)}}
    state = State.create(apply_fn=None, params=params(make), tx=TX, batch_stats=stats)
    return state.apply_gradients(grads=state.params)


def plain(tree: Any) -> Any:
    return serialization.to_state_dict(nn.meta.unbox(tree))


def test_there_and_back() -> None:
    state, before = linen(), target()
    found = compat.from_linen(state, before)
    assert isinstance(found, State) and found.step == 1 and isinstance(found.params["layer"]["w"], nnx.Param)
    assert not before.params["layer"]["w"][...].any(), "the tree given is not changed"
    assert found.params["layer"]["w"].get_metadata("out_sharding") == NAMES["w"]
    for tree in (compat.to_linen(found), compat.to_linen(compat.from_linen(compat.to_linen(found), before))):
        flat = jax.tree_util.tree_leaves_with_path(plain(state))
        have = dict(jax.tree_util.tree_leaves_with_path(tree))
        assert have.keys() == {path for path, _ in flat}
        for path, value in flat:
            np.testing.assert_array_equal(have[path], value, err_msg=str(path))
    with pytest.raises(compat.MismatchError, match="missing: batch_stats/norm/mean"):
        compat.from_linen(state.replace(batch_stats={}), target())


def test_specs(make_mesh: Any) -> None:
    mesh = make_mesh((2, 4))
    want = {"w": P("data", "model"), "v": P("model", "data"), "b": P()}
    made = compat.partition_specs(target(), RULES)
    logical = nn.get_partition_spec(linen())
    for given in (nn.logical_to_mesh(logical, RULES), nn.logical_to_mesh_sharding(logical, mesh, RULES)):
        for found in (made, compat.specs_from_linen(given, target()), compat.specs_from_linen(given, target)):
            assert isinstance(found, State)
            for name, spec in want.items():
                for entry in (found.params["layer"][name], found.opt_state[1][0].mu["layer"][name]):
                    assert (entry.spec if isinstance(entry, NamedSharding) else entry) == spec
            assert len(jax.tree.leaves(found.batch_stats, is_leaf=lambda x: isinstance(x, P))) == 1
