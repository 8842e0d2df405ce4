"""Converted checkpoints are restored by plain Orbax, and are bit-equal to what `compat.restore` gives."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest
import twins
from flax import nnx, serialization
from nnx_migrate import compat
from nnx_migrate.compat import write as writing
from nnx_migrate.compat.boxes import flatten


def abstract_state(create: Callable[[], Any], mesh: Any) -> Any:
    with jax.set_mesh(mesh):
        return nnx.get_abstract_model(create, mesh)


def orbax_restore(path: Path, create: Callable[[], Any], mesh: Any, *, manager: bool = False) -> tuple[Any, Any]:
    """What a user does who has never heard of this package."""
    graphdef, state = abstract_state(create, mesh)
    target = {"model": state[0], "optimizer": state[1]}
    if manager:
        with ocp.CheckpointManager(path) as checkpoints:
            found = checkpoints.restore(checkpoints.latest_step(), args=ocp.args.StandardRestore(target))
    else:
        with ocp.StandardCheckpointer() as checkpointer:
            found = checkpointer.restore(path, target)
    return nnx.merge(graphdef, nnx.State({0: found["model"], 1: found["optimizer"]}))


def digest(path: Path) -> dict[str, str]:
    files = [path] if path.is_file() else [p for p in sorted(path.rglob("*")) if p.is_file()]
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def flat(tree: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(tree).items()}


def assert_bit_equal(a: Any, b: Any) -> None:
    left, right = flat(compat.to_linen(a)), flat(compat.to_linen(b))
    assert left.keys() == right.keys()
    for key in left:
        assert left[key].dtype == right[key].dtype, key
        assert left[key].tobytes() == right[key].tobytes(), key


SOURCES = [
    ("b", "part.to_bytes_state.msgpack", "streamed"),
    ("a3", "part.save_checkpoint_multiprocess_legacy", "streamed"),
    ("a3", "part.pytree_plain", "linked"),
    ("c", "part.pytree_noocdbt", "linked"),
    ("c", "part.pytree_save_args", "linked"),
    ("d", "part.manager_args_composite", "linked"),
    ("d", "part.pytree_unboxed", "linked"),
]


@pytest.mark.parametrize(("era", "name", "way"), SOURCES)
@pytest.mark.parametrize("guided", [False, True])
def test_plain_orbax_restores_it(
    era: str, name: str, way: str, guided: bool, legacy: Callable[[str], Path], make_mesh: Any, tmp_path: Path
) -> None:
    source, mesh = legacy(era) / name, make_mesh((4, 2))
    before = digest(source)
    create = twins.create_part if guided else None
    done = compat.convert_checkpoint(source, tmp_path / "new", create=create)
    assert digest(source) == before
    if way == "linked" and not guided:
        assert done.linked_bytes > 0.99 * (done.linked_bytes + done.streamed_bytes)
    ours = compat.restore(source, twins.create_part, mesh=mesh)
    with jax.set_mesh(mesh):
        theirs = orbax_restore(tmp_path / "new", twins.create_part, mesh)
    assert_bit_equal(ours, theirs)
    assert_bit_equal(ours, compat.restore(tmp_path / "new", twins.create_part, mesh=mesh))
    # Linked or not, the new checkpoint does not need the old one.
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "new", copy)
    assert_bit_equal(ours, compat.restore(copy, twins.create_part))


def test_for_a_manager_and_back(legacy: Callable[[str], Path], make_mesh: Any, tmp_path: Path) -> None:
    source, mesh = legacy("d") / "part.standard", make_mesh((2, 4))
    compat.convert_checkpoint(source, tmp_path / "run", as_step=7)
    with jax.set_mesh(mesh):
        found = orbax_restore(tmp_path / "run", twins.create_part, mesh, manager=True)
    assert_bit_equal(found, compat.restore(source, twins.create_part))
    # Back to Linen: by the note in the new checkpoint, and by the model.
    compat.convert_checkpoint(tmp_path / "run", tmp_path / "linen", to="linen")
    compat.convert_checkpoint(tmp_path / "run", tmp_path / "linen2", to="linen", create=twins.create_part)
    for name in ("linen", "linen2"):
        with ocp.PyTreeCheckpointer() as checkpointer:
            tree = checkpointer.restore(tmp_path / name)
        assert isinstance(tree["opt_state"], list)
        assert flat(tree).keys() == flat(compat.to_linen(found)).keys()
        for key, value in flat(compat.to_linen(found)).items():
            assert np.array_equal(flat(tree)[key], value), key


def test_variables_alone_go_into_nnx_state(legacy: Callable[[str], Path], make_mesh: Any, tmp_path: Path) -> None:
    source, mesh = legacy("d") / "part.pytree_params_dict_unboxed", make_mesh((2, 4))
    compat.convert_checkpoint(source, tmp_path / "new")
    graphdef, state = abstract_state(lambda: twins.create_part()[0], mesh)
    with ocp.StandardCheckpointer() as checkpointer:
        model = nnx.merge(graphdef, checkpointer.restore(tmp_path / "new", state))
    assert_bit_equal(model, compat.restore(source, lambda: twins.create_part()[0], mesh=mesh))


def test_rng_streams_and_lists_need_the_model(legacy: Callable[[str], Path], make_mesh: Any, tmp_path: Path) -> None:
    source, mesh = legacy("d") / "bn.pytree_plain", make_mesh((2, 4))
    pair = lambda: tuple(twins.create_bn().values())[:2]
    compat.convert_checkpoint(source, tmp_path / "bn", create=pair, ignore=["dropout_key"])
    with jax.set_mesh(mesh):
        found = orbax_restore(tmp_path / "bn", pair, mesh)
    assert_bit_equal(found, compat.restore(source, pair, ignore=["dropout_key"]))
    assert jnp.issubdtype(found[0].Dropout_0.rngs.key.get_value().dtype, jax.dtypes.prng_key)
    unrolled = legacy("d") / "part_unrolled_chain.pytree_plain"
    compat.convert_checkpoint(unrolled, tmp_path / "list", create=twins.create_unrolled)
    with jax.set_mesh(mesh):
        assert_bit_equal(
            orbax_restore(tmp_path / "list", twins.create_unrolled, mesh),
            compat.restore(unrolled, twins.create_unrolled),
        )
    compat.convert_checkpoint(tmp_path / "list", tmp_path / "back", to="linen", create=twins.create_unrolled)
    assert_bit_equal(
        compat.restore(tmp_path / "back", twins.create_unrolled), compat.restore(unrolled, twins.create_unrolled)
    )


def standard(path: Path, tree: Any) -> Path:
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(path, tree)
    return path


def big(scale: int, arrays: int = 12) -> Any:
    return {"params": {f"layer_{i}": {"kernel": jnp.ones((64 * scale, 256)) * i} for i in range(arrays)}}


def test_rekeying_costs_by_the_number_of_arrays_not_by_their_size(tmp_path: Path) -> None:
    written = {}
    for scale in (1, 16):
        source = standard(tmp_path / f"s{scale}", big(scale))
        done = compat.convert_checkpoint(source, tmp_path / f"d{scale}")
        assert done.streamed_bytes == 0
        new = [p for p in (tmp_path / f"d{scale}").rglob("*") if p.is_file() and p.stat().st_nlink == 1]
        written[scale] = sum(p.stat().st_size for p in new)
    assert written[16] < 1 << 17
    assert written[16] < 1.5 * written[1]


def test_swapped_names(tmp_path: Path) -> None:
    source = standard(tmp_path / "s", {"params": {"a": jnp.zeros(300), "b": jnp.ones(300)}})
    compat.convert_checkpoint(source, tmp_path / "d", rename={"a": "b", "b": "a"})
    found = compat.open_checkpoint(tmp_path / "d").leaves
    assert found["a", "value"].read()[0] == 1 and found["b", "value"].read()[0] == 0


def test_two_keys_to_one_name(tmp_path: Path) -> None:
    source = standard(tmp_path / "s", {"params": {"a": jnp.zeros(3), "b": jnp.ones(3)}})
    with pytest.raises(compat.MismatchError, match=r"two keys map to one.*\n.*b: from params/a and from params/b"):
        compat.convert_checkpoint(source, tmp_path / "d", rename={"a": "b"})
    clash = standard(tmp_path / "c", {"params": {"m": {"x": jnp.zeros(3)}}, "ema": {"m": {"x": jnp.ones(3)}}})
    with pytest.raises(compat.MismatchError, match="collections share their names"):
        compat.convert_checkpoint(clash, tmp_path / "d")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "s"]


def test_streaming_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks far smaller than the array: the result is the same and no block is larger."""
    monkeypatch.setattr(writing, "BLOCK", 1 << 10)
    value = np.random.RandomState(0).randn(7, 33, 5).astype(np.float32)
    (tmp_path / "s.msgpack").write_bytes(serialization.to_bytes({"params": {"w": value, "n": np.float32(2)}}))
    told: list[tuple[int, int]] = []
    compat.convert_checkpoint(tmp_path / "s.msgpack", tmp_path / "d", progress=lambda *now: told.append(now))
    with ocp.StandardCheckpointer() as checkpointer:
        tree = checkpointer.restore(tmp_path / "d")
    assert np.array_equal(tree["w"]["value"], value) and tree["n"]["value"] == 2
    assert told[-1] == (value.nbytes + 4, value.nbytes + 4) and len(told) > 4
    assert max(b[0] - a[0] for a, b in itertools.pairwise(told)) <= 1 << 10


def test_a_destination_exists_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = standard(tmp_path / "s", big(1, 2))
    before = digest(source)
    (tmp_path / "taken").mkdir()
    with pytest.raises(compat.CheckpointError, match="exists already"):
        compat.convert_checkpoint(source, tmp_path / "taken")
    assert list((tmp_path / "taken").iterdir()) == []
    # A full disk, half way through.
    with monkeypatch.context() as patch:
        patch.setattr(writing, "_sidecars", _disk_full)
        with pytest.raises(compat.CheckpointError, match="the disk is full"):
            compat.convert_checkpoint(source, tmp_path / "d")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s", "taken"]
    # A killed run leaves its temporary directory; the next run replaces it.
    with monkeypatch.context() as patch:
        patch.setattr(writing.shutil, "rmtree", lambda *a, **k: None)
        patch.setattr(writing, "_sidecars", _disk_full)
        with pytest.raises(compat.CheckpointError):
            compat.convert_checkpoint(source, tmp_path / "d")
    assert not (tmp_path / "d").exists() and (tmp_path / ".d.nnx-migrate-tmp").exists()
    compat.convert_checkpoint(source, tmp_path / "d")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "s", "taken"]
    assert digest(source) == before


def _disk_full(*args: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = standard(tmp_path / "s", big(1, 2))

    def refuse(*args: Any) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    compat.convert_checkpoint(source, tmp_path / "d")
    assert compat.open_checkpoint(tmp_path / "d").leaves["layer_1", "kernel", "value"].read().mean() == 1


def test_no_permission(tmp_path: Path) -> None:
    source = standard(tmp_path / "s", big(1, 1))
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(compat.CheckpointError, match="cannot be written"):
        compat.convert_checkpoint(source, tmp_path / "file" / "d")


def test_back_without_a_model_is_refused(tmp_path: Path) -> None:
    source = standard(tmp_path / "s", {"Dense_0": {"kernel": {"value": jnp.zeros(3)}}})
    with pytest.raises(compat.MismatchError, match="pass create="):
        compat.convert_checkpoint(source, tmp_path / "d", to="linen")
