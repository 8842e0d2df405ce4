"""Names that NNX cannot spell, back to Linen: the tree that `like` gives decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from flax import nnx, serialization
from flax.training import train_state
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten

X = jnp.ones((2, 3))


class Linen(nn.Module):
    """Layers named by their numbers, a name that NNX cannot have, and one that merely looks like it."""

    def setup(self) -> None:
        self.in_ = nn.Dense(3)

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = self.in_(x)
        for i in range(2):
            x = nn.Dense(3, name=str(i))(x)
        return nn.Dense(3, name="lambda")(nn.Dense(3, name="out_0")(x))


class Native(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.in_ = nnx.Linear(3, 3, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(3, 3, rngs=rngs) for _ in range(2)])
        self.out = nnx.List([nnx.Linear(3, 3, rngs=rngs)])
        self.lambda_ = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = self.in_(x)
        for layer in self.layers:
            x = layer(x)
        return self.lambda_(self.out[0](x))


def flat(tree: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(serialization.to_state_dict(tree)).items()}


def create() -> tuple[Native, nnx.Optimizer]:
    model = Native(nnx.Rngs(1))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


def state() -> Any:
    params = Linen().init(jax.random.key(0), X)["params"]
    made = train_state.TrainState.create(apply_fn=Linen().apply, params=params, tx=optax.adam(1e-3))
    return made.apply_gradients(grads=jax.tree.map(lambda p: p * 0.1, params))


def test_the_state_comes_back_under_its_own_names(tmp_path: Path) -> None:
    given = state()
    (tmp_path / "state").write_bytes(serialization.to_bytes(given))
    target = compat.restore(tmp_path / "state", create)
    np.testing.assert_array_equal(target[0](X), Linen().apply({"params": given.params}, X))
    back = flat(compat.to_linen(target, like=given))
    want = flat(given)
    assert back.keys() == want.keys()
    for key, value in want.items():
        np.testing.assert_array_equal(back[key], value, err_msg=key)
    # Shapes are enough, the model alone is, and so is a boxed tree.
    shapes = jax.eval_shape(Linen().init, jax.random.key(0), X)
    alone = flat(compat.to_linen(target[0], like=shapes))
    assert alone.keys() == {k for k in want if k.startswith("params/")}
    np.testing.assert_array_equal(target[0](X), Linen().apply(compat.to_linen(target[0], like=shapes), X))
    # By the rules alone the names are others.
    assert {k.split("/")[1] for k in flat(compat.to_linen(target[0]))} == {"in", "layers_0", "layers_1", "lambda", "out_0"}


def test_what_does_not_fit_is_listed() -> None:
    shapes = {"params": {**Linen().init(jax.random.key(0), X)["params"], "more": {"bias": X}}}
    del shapes["params"]["1"]
    with pytest.raises(compat.MismatchError) as caught:
        compat.to_linen(create()[0], like=shapes)
    assert "layers/1/kernel: no key of `like` is params/layers_1/kernel" in str(caught.value)
    assert "only in `like`: params/more/bias" in str(caught.value)
