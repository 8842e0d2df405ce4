"""Everything that period stacks wrote: values, and the next training step, on other meshes than it was saved on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twins
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten

ERAS = ("a3", "b", "c", "d")


def flat(target: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(compat.to_linen(target)).items()}


def expected(root: Path, model: str, prefix: str) -> dict[str, np.ndarray]:
    with np.load(root / f"{model}.expected.npz") as data:
        return {k[len(prefix) + 1 :]: data[k] for k in data if k.startswith(f"{prefix}/")}


def restore(path: Path, mesh: Any) -> tuple[Any, bool]:
    model, way = path.name.split(".")[:2]
    create = twins.CREATE[model]
    params_only = "params" in way
    if params_only:
        return compat.restore(path, lambda: create()[0], mesh=mesh), True
    return compat.restore(path, create, mesh=mesh, rules=twins.RULES if model == "logical" else None), False


@nnx.jit
def train_step(model: Any, optimizer: Any, x: jax.Array, target: jax.Array) -> None:
    optimizer.update(model, nnx.grad(lambda m: ((m(x) - target) ** 2).mean())(model))


@pytest.mark.parametrize("era", ERAS)
def test_every_artefact_restores_bit_for_bit(era: str, legacy: Callable[[str], Path], make_mesh: Any) -> None:
    root, meshes = legacy(era), [make_mesh(shape) for shape in ((2, 4), (4, 2), (1, 8))]
    artefacts = [p for p in sorted(root.iterdir()) if not p.name.endswith((".npz", ".json"))]
    assert len(artefacts) >= 21
    for number, path in enumerate(artefacts):
        target, params_only = restore(path, meshes[number % 3])
        want = expected(root, path.name.split(".")[0], "state")
        if params_only:
            want = {k: v for k, v in want.items() if k.startswith("params/")}
        have = flat(target)
        assert have.keys() == want.keys(), path.name
        for key, value in want.items():
            assert np.array_equal(have[key].astype(value.dtype), value), (path.name, key)


@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (1, 8)])
@pytest.mark.parametrize(
    ("era", "name"),
    [
        ("b", "part.to_bytes_state.msgpack"),
        ("c", "logical.to_bytes_state.msgpack"),
        ("a3", "part.save_checkpoint_multiprocess_legacy"),
        ("a3", "part.pytree_plain"),
        ("b", "logical.pytree_plain"),
        ("c", "part_unrolled_chain.pytree_plain"),
        ("d", "part.manager_args_composite"),
        ("d", "logical.pytree_plain"),
    ],
)
def test_next_step(era: str, name: str, shape: tuple[int, int], legacy: Callable[[str], Path], make_mesh: Any) -> None:
    root, mesh = legacy(era), make_mesh(shape)
    (model, optimizer), _ = restore(root / name, mesh)
    for variable in jax.tree.leaves(nnx.state(model, nnx.Param)):
        assert len(variable.sharding.device_set) == 8
        assert "model" in tuple(variable.sharding.spec)
    kind = name.split(".")[0]
    with np.load(root / f"{kind}.expected.npz") as data:
        x, target, y = data["x"], data["tgt"], data["y"]
    with jax.set_mesh(mesh):
        np.testing.assert_allclose(jax.jit(lambda m, x: m(x))(model, x), y, rtol=0, atol=1e-6)
        train_step(model, optimizer, x, target)
    after = flat((model, optimizer))
    want = expected(root, kind, "next")
    assert after.keys() == want.keys()
    for key, value in want.items():
        np.testing.assert_allclose(after[key], value, rtol=0, atol=1e-6, err_msg=key)


def test_batch_norm_end_to_end(legacy: Callable[[str], Path], make_mesh: Any) -> None:
    root = legacy("d")
    found = compat.restore(root / "bn.pytree_plain", twins.create_bn, mesh=make_mesh((2, 4)))
    model = found["model"]
    assert model.Dense_1.kernel.dtype == jnp.bfloat16
    assert np.array_equal(found["dropout_key"], jax.random.PRNGKey(7))
    assert found["optimizer"].step[...] == 3
    with np.load(root / "bn.expected.npz") as data:
        y = model(data["x"], train=False).astype(jnp.float32)
        np.testing.assert_allclose(y, data["y"], rtol=0, atol=2e-2)
    # Without a place for the key: never silent.
    with pytest.warns(compat.RestoreWarning, match="dropout_key is a PRNG key"):
        pair = compat.restore(root / "bn.pytree_plain", lambda: tuple(twins.create_bn().values())[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = compat.restore(
            root / "bn.pytree_plain", lambda: tuple(twins.create_bn().values())[:2], ignore=["dropout_key"]
        )
    assert np.array_equal(pair[0].BatchNorm_0.mean[...], again[0].BatchNorm_0.mean[...])
