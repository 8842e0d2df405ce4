"""The committed checkpoints of period stacks: a pjit program of 2023 and 2024, restored on other meshes, and its
next step.
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten

ARCHIVES = Path(__file__).resolve().parents[2] / "fixtures" / "checkpoints"
LAYERS, WIDTH, HIDDEN = 2, 8, 16
RULES = (("layer", None), ("embed", None), ("hidden", "model"))


class Blocks(nnx.Module):
    def __init__(self) -> None:
        self.up = nnx.Param(jnp.zeros((LAYERS, WIDTH, HIDDEN)), out_sharding=("layer", "embed", "hidden"))
        self.down = nnx.Param(jnp.zeros((LAYERS, HIDDEN, WIDTH)), out_sharding=("layer", "hidden", "embed"))

    def __call__(self, x: jax.Array) -> jax.Array:
        def block(x: jax.Array, w: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            return x + jnp.dot(jax.nn.relu(jnp.dot(x, w[0])), w[1]), None

        return jax.lax.scan(block, x, (self.up[...], self.down[...]))[0]


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.blocks = Blocks()
        self.norm = nnx.BatchNorm(WIDTH, rngs=rngs)
        self.out = nnx.Linear(WIDTH, 4, rngs=rngs)
        self.shift = nnx.Param(jnp.zeros(4, jnp.bfloat16))

    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.out(self.norm(self.blocks(x), use_running_average=False))
        return x + self.shift[...].astype(jnp.float32)


def create() -> dict[str, Any]:
    model = Net(nnx.Rngs(0))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-2, 100)))
    return {
        "model": model,
        "optimizer": nnx.Optimizer(model, tx, wrt=nnx.Param),
        "dropout_key": jax.random.PRNGKey(0),
    }


def flat(target: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(compat.to_linen(target)).items()}


@nnx.jit
def train_step(model: Any, optimizer: Any, x: jax.Array, y: jax.Array) -> None:
    def loss(m: Any) -> jax.Array:
        return ((m(x) - y) ** 2).mean()

    optimizer.update(model, nnx.grad(loss)(model))


@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (1, 8)])
@pytest.mark.parametrize("era", ["2023", "2024"])
def test_restored_and_trained_on(era: str, shape: tuple[int, int], make_mesh: Any, tmp_path: Path) -> None:
    with tarfile.open(ARCHIVES / f"{era}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    with np.load(tmp_path / "expected.npz") as data:
        expected = dict(data)
    mesh = make_mesh(shape)
    layouts = set()
    for way in ("to_bytes.msgpack", "save_checkpoint", "orbax", "manager"):
        layouts.add(compat.open_checkpoint(tmp_path / way).layout)
        found = compat.restore(tmp_path / way, create, mesh=mesh, rules=RULES)
        have = flat(found)
        assert {f"state/{k}" for k in have} == {k for k in expected if k.startswith("state/")}
        for key, value in have.items():
            assert np.array_equal(value.astype(expected[f"state/{key}"].dtype), expected[f"state/{key}"]), (way, key)
        assert tuple(found["model"].blocks.up.get_value().sharding.spec) == (None, None, "model")
    assert layouts == ({"L1", "L3"} if era == "2023" else {"L1", "L4"})
    with jax.set_mesh(mesh):
        train_step(found["model"], found["optimizer"], expected["x"], expected["y"])
    for key, value in flat(found).items():
        # A bfloat16 value may round to its neighbour.
        tolerance = {"rtol": 2**-7, "atol": 1e-5} if value.dtype == jnp.bfloat16 else {"rtol": 0, "atol": 1e-6}
        want = expected[f"next/{key}"]
        np.testing.assert_allclose(value.astype(want.dtype), want, err_msg=key, **tolerance)
