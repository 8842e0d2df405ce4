"""Every layout that can be written here gives the same values, whole and block by block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import layouts_by_hand as by_hand
import ml_dtypes
import numpy as np
import orbax.checkpoint as ocp
import pytest
from flax import nnx
from nnx_migrate import compat

random = np.random.RandomState(0)
PARAMS = {
    "encoder": {"Dense_0": {"kernel": random.randn(4, 6).astype(np.float32), "bias": np.arange(6, dtype=np.float32)}},
    "head": {"kernel": random.randn(6, 2).astype(ml_dtypes.bfloat16), "scale": np.array(3, np.float32)},
}


class Dense(nnx.Module):
    def __init__(self, *shape: int) -> None:
        self.kernel = nnx.Param(jnp.zeros(shape), out_sharding=("data", None))
        self.bias = nnx.Param(jnp.zeros(shape[-1]))


class Encoder(nnx.Module):
    def __init__(self) -> None:
        self.Dense = nnx.List([Dense(4, 6)])


class Head(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.zeros((6, 2), jnp.bfloat16), out_sharding=("data", None))
        self.scale = nnx.Param(jnp.zeros(()))


class Model(nnx.Module):
    def __init__(self) -> None:
        self.encoder = Encoder()
        self.head = Head()


def orbax_tree(tree: Any, path: Path, **options: Any) -> Path:
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)) as checkpointer:
        checkpointer.save(path, jax.tree.map(np.asarray, tree))
    return path


WRITERS: dict[str, tuple[Callable[[Any, Path], Path], str]] = {
    "msgpack": (lambda t, p: by_hand.write_l1({"params": t}, p), "L1"),
    "msgpack, parameters alone": (by_hand.write_l1, "L1"),
    "msgpack, boxed": (
        lambda t, p: by_hand.write_l1(by_hand.mapped({"params": t}, lambda k, x: {"value": x}), p),
        "L1",
    ),
    "msgpack, chunked": (by_hand.write_chunked, "L1"),
    "gda": (lambda t, p: by_hand.write_l2({"params": t}, p), "L2"),
    "orbax 0.2": (lambda t, p: by_hand.write_l3({"params": {"params": t}}, p), "L3"),
    "orbax 0.3": (lambda t, p: by_hand.write_orbax_0_3({"params": t}, p), "L4"),
    "orbax ocdbt": (lambda t, p: orbax_tree({"params": t}, p), "L5"),
    "orbax zarr": (lambda t, p: orbax_tree({"params": t}, p, use_ocdbt=False), "L5"),
    "orbax zarr3": (lambda t, p: orbax_tree({"params": t}, p, use_zarr3=True), "L5"),
    "orbax zarr3 directories": (lambda t, p: orbax_tree({"params": t}, p, use_zarr3=True, use_ocdbt=False), "L5"),
    "t5x": (lambda t, p: by_hand.write_t5x({"target": t, "state": {"step": np.array(3, np.int32)}}, p), "t5x"),
    "hugging face": (by_hand.write_hf, "hf"),
    "hugging face, sharded": (by_hand.write_hf_sharded, "hf"),
    "safetensors": (by_hand.write_safetensors, "safetensors"),
    "npz": (by_hand.write_npz, "npz"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_values_and_blocks(name: str, tmp_path: Path, make_mesh: Any) -> None:
    write, layout = WRITERS[name]
    tree = PARAMS if name != "npz" else {**PARAMS, "head": {**PARAMS["head"], "kernel": PARAMS["head"]["kernel"].copy()}}
    path = write(tree, tmp_path / "ck")
    opened = compat.open_checkpoint(path)
    assert opened.layout == layout
    leaf = next(v for k, v in opened.leaves.items() if "Dense_0" in k and "kernel" in k)
    kernel = PARAMS["encoder"]["Dense_0"]["kernel"]
    assert leaf.shape == (4, 6) and leaf.dtype == np.float32
    for index in [
        (slice(0, 4), slice(0, 6)),
        (slice(1, 3), slice(2, 5)),
        (slice(3, 4), slice(0, 1)),
        (slice(2, 2), slice(0, 6)),
    ]:
        assert np.array_equal(leaf.read(index), kernel[index])
    report: list[Any] = []
    model = compat.restore(path, Model, mesh=make_mesh((2, 4)), on_report=report.append)
    assert np.array_equal(model.encoder.Dense[0].kernel[...], kernel)
    assert np.array_equal(model.encoder.Dense[0].bias[...], PARAMS["encoder"]["Dense_0"]["bias"])
    assert np.array_equal(model.head.kernel[...], PARAMS["head"]["kernel"]) and model.head.scale[...] == 3
    assert model.head.kernel.dtype == jnp.bfloat16
    assert tuple(model.head.kernel.get_value().sharding.spec) == ("data", None)
    assert len(report[0].restored) == 4 and not report[0].missing and report[0].layout == layout


@pytest.mark.parametrize("plain", [False, True])
def test_stored_shardings(plain: bool, tmp_path: Path, make_mesh: Any) -> None:
    """Names in `_sharding` are base64; Orbax 0.4.1 wrote them as they are."""
    import base64
    import json

    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    kernel = jax.device_put(jnp.ones((8, 4)), NamedSharding(make_mesh((2, 4)), P("data", "model")))
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "ck", {"params": {"up": {"kernel": kernel}}, "opt_state": [{"count": kernel[0, 0]}]})
    file = tmp_path / "ck" / "_sharding"
    if plain:
        entries = json.loads(file.read_text())
        file.write_text(json.dumps({base64.b64decode(name).decode(): entry for name, entry in entries.items()}))
    leaf = compat.open_checkpoint(tmp_path / "ck").leaves["params", "up", "kernel"]
    assert str(leaf.sharding) == "P('data', 'model') on (data=2, model=4)"


def test_array_items_and_json_items(tmp_path: Path) -> None:
    with ocp.CheckpointManager(tmp_path / "run") as manager:
        args = ocp.args.Composite(
            state=ocp.args.StandardSave(PARAMS),
            meta=ocp.args.JsonSave({"lr": 0.1, "name": "x", "sizes": [1, 2]}),
            one=ocp.args.ArraySave(jnp.arange(5)),
        )
        manager.save(4, args=args)
    found = compat.open_checkpoint(tmp_path / "run", item="meta")
    assert found.leaves["lr",].read() == 0.1 and found.others["name",] == "x" and found.leaves["sizes", "1"].read() == 2
    assert np.array_equal(compat.open_checkpoint(tmp_path / "run", item="one").leaves["array",].read(), np.arange(5))
    chosen = compat.open_checkpoint(tmp_path / "run")
    assert (chosen.item, chosen.step, chosen.items) == ("state", 4, ["meta", "one", "state"])
    assert np.array_equal(compat.restore(tmp_path / "run", Model).head.scale[...], 3)


def test_the_item_that_fits_is_found(tmp_path: Path) -> None:
    """Two trees, only one of which has the model's keys; and two that both have them."""
    with ocp.CheckpointManager(tmp_path / "run") as manager:
        other = {"generator": {"w": np.zeros(3, np.float32)}}
        manager.save(1, args=ocp.args.Composite(a=ocp.args.StandardSave(other), b=ocp.args.StandardSave(PARAMS)))
        twice = ocp.args.Composite(a=ocp.args.StandardSave(PARAMS), b=ocp.args.StandardSave(PARAMS))
        manager.save(2, args=twice)
    assert compat.restore(tmp_path / "run", Model, step=1).head.scale[...] == 3
    with pytest.raises(compat.CheckpointError, match="several items that could be meant: a, b; choose one with item="):
        compat.restore(tmp_path / "run", Model, step=2)
    assert compat.restore(tmp_path / "run", Model, step=2, item="b").head.scale[...] == 3
    # The same inside of one tree.
    both = by_hand.write_l1({"student": {"params": PARAMS}, "teacher": {"params": PARAMS}}, tmp_path / "both")
    with pytest.raises(compat.MismatchError, match="found in several places"):
        compat.restore(both, Model)
    assert compat.restore(both, Model, item="teacher").head.scale[...] == 3


def test_typed_keys(tmp_path: Path) -> None:
    """Raw keys, typed keys, either into either."""

    def raw() -> dict[str, Any]:
        return {"model": Model(), "rng": jax.random.PRNGKey(0)}

    def typed() -> dict[str, Any]:
        return {"model": Model(), "rng": jax.random.key(0)}

    old = by_hand.write_l1({"params": PARAMS, "rng": np.asarray(jax.random.PRNGKey(42))}, tmp_path / "raw")
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "typed", {"params": PARAMS, "rng": jax.random.key(42)})
    assert compat.open_checkpoint(tmp_path / "typed").leaves["rng",].key_impl == "threefry2x32"
    for path in (old, tmp_path / "typed"):
        assert np.array_equal(compat.restore(path, raw)["rng"], jax.random.PRNGKey(42))
        assert compat.restore(path, typed)["rng"] == jax.random.key(42)


def test_t5x_optimizer_state(tmp_path: Path) -> None:
    """flax.optim's Adam kept (grad_ema, grad_sq_ema) below each parameter."""
    import optax

    states = by_hand.mapped(PARAMS, lambda k, x: {"grad_ema": x * 2, "grad_sq_ema": x * x})
    tree = {"target": PARAMS, "state": {"step": np.array(9, np.int32), "param_states": states}}
    by_hand.write_t5x(tree, tmp_path / "ck")

    def create() -> tuple[Model, nnx.Optimizer]:
        model = Model()
        return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    model, optimizer = compat.restore(tmp_path / "ck", create)
    kernel = PARAMS["encoder"]["Dense_0"]["kernel"]
    assert np.array_equal(model.encoder.Dense[0].kernel[...], kernel)
    assert np.array_equal(optimizer.opt_state[0].mu["encoder"]["Dense"][0]["kernel"][...], kernel * 2)
    assert np.array_equal(optimizer.opt_state[0].nu["encoder"]["Dense"][0]["kernel"][...], kernel * kernel)
    assert optimizer.step[...] == 9 and optimizer.opt_state[0].count[...] == 9


def test_only_and_dtype_and_strict(tmp_path: Path) -> None:
    path = by_hand.write_l1({"params": {**PARAMS, "extra": {"w": np.zeros(2, np.float32)}}}, tmp_path / "ck")
    with pytest.raises(compat.MismatchError, match="extra: params/extra/w"):
        compat.restore(path, Model)
    with pytest.warns(compat.RestoreWarning, match="in the source, not used: params/extra/w"):
        compat.restore(path, Model, strict=False)
    model = compat.restore(path, Model, only="^head/")
    assert model.head.scale[...] == 3 and not model.encoder.Dense[0].kernel[...].any()
    with pytest.raises(compat.MismatchError, match="only= selects nothing"):
        compat.restore(path, Model, only="tail")
    half = compat.restore(path, Model, ignore=["extra"], dtype=jnp.bfloat16)
    assert half.encoder.Dense[0].kernel.dtype == jnp.bfloat16
    full = by_hand.write_l1({"params": by_hand.mapped(PARAMS, lambda k, x: x.astype(np.float32))}, tmp_path / "full")
    with pytest.raises(compat.MismatchError, match=r"head/kernel: the target has dtype bfloat16.*dtype='target'"):
        compat.restore(full, Model)
    assert compat.restore(full, Model, dtype="target").head.kernel.dtype == jnp.bfloat16
