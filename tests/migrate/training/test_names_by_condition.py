"""Programs that import one model or another: both are made with what they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program

MODELS = """import flax.linen as nn


class Big(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


class Small(nn.Module):
    @nn.compact
    def __call__(self, x):
        b, d = x.shape
        return nn.Dense(1)(x.reshape(b * d // 4, 4)).reshape(b, -1)
"""
TRAIN = """import os
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

if os.environ.get("BIG"):
    from models import Big as Model
else:
    from models import Small as Model


def main():
    model = Model()
    x = jax.random.normal(jax.random.PRNGKey(1), (4, 4))
    y = jnp.arange(4.0).reshape(4, 1)
    params = model.init(jax.random.PRNGKey(0), x)["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))

    @jax.jit
    def step(state, x, y):
        def loss(p):
            return jnp.mean((state.apply_fn({"params": p}, x) - y) ** 2)

        l, g = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=g), l

    for _ in range(3):
        state, l = step(state, x, y)
        print(f"{l:.4f}")


main()
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_one_model_or_another(jit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "models.py").write_text(MODELS)
    (old / "train.py").write_text(TRAIN)
    done = CliRunner().invoke(program, [str(old), "--output", str(new), "--jit", jit])
    assert done.exit_code == 0, done.output
    for big in ("", "1"):
        monkeypatch.setenv("BIG", big)
        sides = [
            subprocess.run([sys.executable, "train.py"], cwd=side, capture_output=True, text=True, check=False)
            for side in (old, new)
        ]
        assert [side.returncode for side in sides] == [0, 0], sides[1].stderr
        losses = [[float(line) for line in side.stdout.split()] for side in sides]
        # The first weights are others, as NNX draws them; both sides learn.
        assert all(len(side) == 3 and side[0] > side[1] > side[2] for side in losses)
