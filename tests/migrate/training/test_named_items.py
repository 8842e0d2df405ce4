"""Programs that ask for modules of lists and dicts of `setup` by the names that these have of their own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat.sharing import linen_paths

from ..modules.loading import both_sides
from . import printing_sides

NET = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import traverse_util
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Net(nn.Module):
    def setup(self):
        self.layers = [nn.Dense(4, kernel_init=ones, name=f"layers.{i}") for i in range(3)]
        self.heads = {"a": nn.Dense(1, kernel_init=ones, name="head.a"), "b": nn.Dense(1, kernel_init=ones, name="head.b")}

    def __call__(self, x):
        for layer in self.layers:
            x = jnp.tanh(layer(x))
        return self.heads["a"](x) + 2 * self.heads["b"](x)
"""
PROGRAM = f"""{NET}

def mask(params):
    flat = traverse_util.flatten_dict(params)
    return traverse_util.unflatten_dict({{k: k[0] in ("layers.1", "head.b") for k in flat}})


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
params = net.init(jax.random.key(0), x)["params"]
tx = optax.chain(optax.masked(optax.add_decayed_weights(0.5), mask), optax.sgd(0.1))
state = TrainState.create(apply_fn=net.apply, params=params, tx=tx)


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({{"params": p}}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(4):
    state, loss = step(state, x)
    print(round(float(loss), 5))
print(sorted("/".join(k) for k in traverse_util.flatten_dict(state.params)))
print(round(float(state.params["layers.1"]["kernel"].sum()), 4), round(float(state.params["head.a"]["kernel"].sum()), 4))
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_masks_and_paths(jit: str) -> None:
    _, after = printing_sides.check("named_items", PROGRAM, jit)
    assert "class Net(nnx.Module)" in after


def test_checkpoints() -> None:
    linen, native = both_sides("named_items_loaded", NET)
    x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
    variables = linen.Net().init(jax.random.key(1), x)
    variables = jax.tree.map(lambda leaf: leaf + jnp.arange(leaf.size).reshape(leaf.shape) / 7, variables)
    model = native.Net(in_features=3, rngs=nnx.Rngs(0))
    assert set(linen_paths(model).values()) >= {("layers.2", "kernel"), ("head.a", "bias")}
    assert compat.check_equivalence(linen.Net(), variables, model, x)
    restored = compat.from_linen(variables, native.Net(in_features=3, rngs=nnx.Rngs(0)))
    with pytest.raises(TypeError, match="makes a model"):
        compat.from_linen(variables, lambda: native.Net(in_features=3, rngs=nnx.Rngs(0)))
    assert jnp.array_equal(restored(x), linen.Net().apply(variables, x))
