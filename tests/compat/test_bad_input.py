"""What people really have on their disks: damaged, half-written, hostile. Always a clear error, never a wrong
weight.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import layouts_by_hand as by_hand
import numpy as np
import orbax.checkpoint as ocp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat import errors

TREE = {"params": {"a": {"w": np.ones((8, 4), np.float32)}, "b": {"w": np.full((8, 4), 2, np.float32)}}}


class Part(nnx.Module):
    def __init__(self, shape: tuple[int, ...] = (8, 4)) -> None:
        self.w = nnx.Param(jnp.zeros(shape))


class Model(nnx.Module):
    def __init__(self) -> None:
        self.a = Part()
        self.b = Part()


def orbax(path: Path, **options: Any) -> Path:
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)) as checkpointer:
        checkpointer.save(path, TREE)
    return path


def truncate(file: Path, keep: float = 0.5) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * keep)])


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Path]:
    """Fresh copies of sound checkpoints, by layout."""
    root = tmp_path_factory.mktemp("good")
    paths = {
        "l1": by_hand.write_l1(TREE, root / "l1"),
        "l2": by_hand.write_l2(TREE, root / "l2"),
        "l3": by_hand.write_l3(TREE, root / "l3"),
        "ocdbt": orbax(root / "ocdbt"),
        "zarr": orbax(root / "zarr", use_ocdbt=False),
        "npz": by_hand.write_npz(TREE, root / "n"),
        "safetensors": by_hand.write_safetensors(TREE, root / "s"),
        "hf": by_hand.write_hf_sharded(TREE["params"], root / "hf"),
    }

    def copy(name: str, to: Path) -> Path:
        source = paths[name]
        target = to / source.name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
        compat.restore(target, Model)
        return target

    return copy


def largest(path: Path) -> Path:
    return max((p for p in path.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)


DAMAGE: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "msgpack cut": ("l1", lambda p: truncate(p), "truncated or damaged"),
    "msgpack empty": ("l1", lambda p: truncate(p, 0), "is empty"),
    "msgpack with a tail": ("l1", lambda p: p.write_bytes(p.read_bytes() + b"\0\0"), "2 bytes are left after the end"),
    "gda array gone": ("l2", lambda p: shutil.rmtree(p / "checkpoint_3_gda/params/a/w"), "params/a/w"),
    "gda chunk gone": (
        "l2",
        lambda p: (p / "checkpoint_3_gda/params/a/w/3.0").unlink(),
        "params/a/w.*Nothing is filled",
    ),
    "l3 array gone": ("l3", lambda p: shutil.rmtree(p / "params.b.w"), "params/b/w"),
    "l3 chunk gone": ("l3", lambda p: (p / "params.b.w/0.0").unlink(), "params/b/w"),
    "l3 chunk cut": ("l3", lambda p: truncate(p / "params.b.w/0.0"), "'params/b/w' cannot be read"),
    "l3 metadata cut": ("l3", lambda p: truncate(p / "params.b.w/.zarray"), "no valid array metadata"),
    "l3 tree cut": ("l3", lambda p: truncate(p / "checkpoint"), "truncated or damaged"),
    "orbax tree cut": ("ocdbt", lambda p: truncate(p / "_METADATA"), "_METADATA.*not valid JSON"),
    "orbax sharding cut": ("ocdbt", lambda p: (p / "_sharding").write_text('{"YQ==": "{"}'), "_sharding.*is damaged"),
    "ocdbt root manifest gone": ("ocdbt", lambda p: (p / "manifest.ocdbt").unlink(), "root manifest.*never committed"),
    "ocdbt manifest cut": ("ocdbt", lambda p: truncate(p / "manifest.ocdbt"), "cannot be opened"),
    "ocdbt data gone": ("ocdbt", lambda p: [shutil.rmtree(d) for d in p.rglob("d")], "missing|damaged"),
    "ocdbt data cut": ("ocdbt", lambda p: [truncate(f) for f in p.rglob("d/*")], "missing|damaged"),
    "zarr array gone": ("zarr", lambda p: shutil.rmtree(p / "params.a.w"), "'params/a/w' is named in _METADATA"),
    "npz cut": ("npz", truncate, "damaged or truncated zip"),
    "safetensors cut": ("safetensors", truncate, "do not hold|truncated"),
    "safetensors header": (
        "safetensors",
        lambda p: p.write_bytes(struct.pack("<Q", 1 << 50) + b'{"'),
        "claims a header",
    ),
    "hf part gone": ("hf", lambda p: next(p.glob("*-00002-of*")).unlink(), "00002-of-00002.msgpack: is missing"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named(name: str, good: Callable[[str, Path], Path], tmp_path: Path) -> None:
    layout, harm, message = DAMAGE[name]
    path = good(layout, tmp_path)
    harm(path)
    with pytest.raises(errors.CheckpointError, match=f"(?s){message}") as caught:
        compat.restore(path, Model)
    assert str(tmp_path) in str(caught.value)
    if not name.endswith(("chunk cut", "data cut")):  # a conversion that links files does not read them
        with pytest.raises(errors.CheckpointError):
            compat.convert_checkpoint(path, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    assert not [p for p in tmp_path.iterdir() if "tmp" in p.name]


# In these every byte of an array is under a checksum; msgpack, safetensors and zarr with zstd have none.
CHECKED = ("l2", "l3", "ocdbt", "npz")


@pytest.mark.parametrize("layout", [*CHECKED, "l1", "zarr", "safetensors", "hf"])
def test_flipped_bits_never_crash(layout: str, good: Callable[[str, Path], Path], tmp_path: Path) -> None:
    """A flipped bit is an error of ours or an equal result, or it hit a number that the format does not protect."""
    path = good(layout, tmp_path)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    random = np.random.RandomState(1)
    refused = 0
    for _ in range(32):
        file = files[random.randint(len(files))]
        data = bytearray(file.read_bytes())
        original = bytes(data)
        data[random.randint(len(data))] ^= 1 << random.randint(8)
        file.write_bytes(data)
        try:
            model = compat.restore(path, Model)
            assert layout not in CHECKED or ((model.a.w[...] == 1).all() and (model.b.w[...] == 2).all())
        except errors.CompatError:
            refused += 1
        file.write_bytes(original)
    assert refused > 0


def test_steps(tmp_path: Path) -> None:
    with ocp.CheckpointManager(tmp_path / "run") as manager:
        for step in (1, 2):
            manager.save(step, args=ocp.args.StandardSave(TREE))
    with pytest.raises(errors.MissingStepError, match="has no step 7; there are 1, 2"):
        compat.restore(tmp_path / "run", Model, step=7)
    with pytest.raises(errors.MissingStepError, match="has no item 'nothing'"):
        compat.restore(tmp_path / "run", Model, item="nothing")
    # A step still being written is passed over, and refused when asked for.
    (tmp_path / "run" / "2").rename(tmp_path / "run" / "2.orbax-checkpoint-tmp-17")
    assert compat.open_checkpoint(tmp_path / "run").step == 1
    with pytest.raises(errors.IncompleteCheckpointError, match="step 2 is still being written"):
        compat.restore(tmp_path / "run", Model, step=2)
    with pytest.raises(errors.IncompleteCheckpointError, match="still being written"):
        compat.restore(tmp_path / "run" / "2.orbax-checkpoint-tmp-17", Model)
    shutil.rmtree(tmp_path / "run" / "1")
    with pytest.raises(errors.IncompleteCheckpointError, match="there is no finished one"):
        compat.restore(tmp_path / "run", Model)


def test_writers_that_died(tmp_path: Path) -> None:
    """An item that is not finished in a step that is; flax's temporary files; object stores, which mark what is."""
    run = tmp_path / "run"
    with ocp.CheckpointManager(run) as manager:
        for step in (1, 2, 3):
            manager.save(step, args=ocp.args.StandardSave(TREE))
    for mark in run.glob("3/commit_success.txt"):
        mark.unlink()
    noted = json.loads((run / "3" / "_CHECKPOINT_METADATA").read_text())
    (run / "3" / "_CHECKPOINT_METADATA").write_text(json.dumps({**noted, "commit_timestamp_nsecs": None}))
    for step in (1, 2):  # older versions on an object store
        (run / str(step) / "commit_success.txt").touch()
    assert compat.open_checkpoint(run).step == 2
    with pytest.raises(errors.IncompleteCheckpointError, match="step 3 is still being written; there are 1, 2"):
        compat.restore(run, Model, step=3)
    (run / "2" / "default").rename(run / "2" / "default.orbax-checkpoint-tmp-17")
    assert compat.open_checkpoint(run).step == 1
    with pytest.raises(errors.IncompleteCheckpointError, match="step 2 is still being written; there are 1"):
        compat.restore(run, Model, step=2)
    (tmp_path / "flax").mkdir()
    by_hand.write_l1(TREE, tmp_path / "flax" / "checkpoint_tmp").rename(tmp_path / "flax" / "checkpoint_tmp")
    with pytest.raises(errors.IncompleteCheckpointError, match="checkpoint_tmp: is a checkpoint still being written"):
        compat.restore(tmp_path / "flax", Model)
    by_hand.write_l1(TREE, tmp_path / "flax" / "checkpoint_7").rename(tmp_path / "flax" / "checkpoint_7")
    assert compat.restore(tmp_path / "flax", Model).b.w[0, 0] == 2


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(errors.CheckpointError, match="nowhere: does not exist"):
        compat.restore(tmp_path / "nowhere", Model)
    (tmp_path / "empty").mkdir()
    with pytest.raises(errors.UnknownLayoutError, match="it holds nothing"):
        compat.restore(tmp_path / "empty", Model)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("x")
    with pytest.raises(errors.UnknownLayoutError, match=r"it holds todo.txt"):
        compat.restore(tmp_path / "notes", Model)
    (tmp_path / "hello.txt").write_text("hello")
    with pytest.raises(errors.CheckpointError):
        compat.restore(tmp_path / "hello.txt", Model)


def test_the_names_of_a_safetensors_header_stand_once(tmp_path: Path) -> None:
    entry = '{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}'
    for header in (f'{{"w":{entry % (0, 4)},"w":{entry % (4, 8)}}}', f'{{"w":{entry.replace(",%d", "") % 4}}}'):
        (tmp_path / "s.safetensors").write_bytes(struct.pack("<Q", len(header)) + header.encode() + bytes(8))
        with pytest.raises(errors.CorruptCheckpointError, match="header is damaged"):
            compat.open_checkpoint(tmp_path / "s.safetensors")


AS_SOMEBODY = """
import os, sys
from nnx_migrate import compat
from nnx_migrate.compat import errors
locked, readable, root, destination = sys.argv[1:]
compat.convert_checkpoint(readable, root)  # also imports what somebody may not read
os.setuid(65534)
for action in (lambda: compat.open_checkpoint(locked), lambda: compat.convert_checkpoint(readable, destination)):
    try:
        action()
    except errors.CheckpointError as error:
        print(error)
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may enter, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_no_permission(good: Callable[[str, Path], Path], public: Path) -> None:
    path, readable, locked = good("l1", public), good("npz", public), public / "locked"
    locked.mkdir()
    path.chmod(0)
    locked.chmod(0o555)
    if os.geteuid() != 0:
        with pytest.raises(errors.CheckpointError, match="cannot be read: Permission denied"):
            compat.restore(path, Model)
        with pytest.raises(errors.CheckpointError, match="cannot be written: Permission denied"):
            compat.convert_checkpoint(readable, locked / "new")
    else:  # root may do everything, so somebody else tries
        command = [sys.executable, "-c", AS_SOMEBODY, *map(str, (path, readable, public / "root", locked / "new"))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        read, written = done.stdout.splitlines()
        assert "cannot be read: Permission denied" in read and "cannot be written: Permission denied" in written
    assert not list(locked.iterdir())


def test_keys_that_leave_the_directory(tmp_path: Path) -> None:
    for key in ("..", "a/b", "/etc/passwd", "../../x"):
        file = by_hand.write_l1({"params": {key: {"w": np.zeros(3, np.float32)}}}, tmp_path / "k")
        with pytest.raises(errors.UnsafeCheckpointError, match="could point outside"):
            compat.open_checkpoint(file)
    for name in ("../outside", "/etc"):
        (tmp_path / "ck").mkdir(exist_ok=True)
        (tmp_path / "ck" / "checkpoint").write_bytes(by_hand.pack({"params": {"w": f"PLACEHOLDER://{name}"}}))
        with pytest.raises(errors.UnsafeCheckpointError, match="points outside of the checkpoint"):
            compat.open_checkpoint(tmp_path / "ck")
    np.savez(tmp_path / "x.npz", **{"../w": np.zeros(3)})
    with pytest.raises(errors.UnsafeCheckpointError):
        compat.open_checkpoint(tmp_path / "x.npz")


def test_links_out_of_the_tree(good: Callable[[str, Path], Path], tmp_path: Path) -> None:
    path = good("l3", tmp_path)
    (path / "params.a.w").rename(tmp_path / "elsewhere")
    (path / "params.a.w").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.UnsafeCheckpointError, match=r"params\.a\.w: points outside of the checkpoint"):
        compat.restore(path, Model)


def test_links_of_single_files(good: Callable[[str, Path], Path], tmp_path: Path) -> None:
    """A chunk, or a part of a database, that is a link to somewhere else."""
    (tmp_path / "a").mkdir()
    for name, pattern in (("l3", "params.a.w/0.0"), ("ocdbt", "d/*")):
        path = good(name, tmp_path / "a")
        file = next(iter(path.glob(pattern)))
        file.rename(tmp_path / f"elsewhere-{name}")
        file.symlink_to(tmp_path / f"elsewhere-{name}")
        with pytest.raises(errors.UnsafeCheckpointError, match="points outside of the checkpoint"):
            compat.restore(path, Model)
    # Links that stay inside are harmless, and so is the hub's cache, which consists of links.
    path = good("zarr", tmp_path / "a")
    chunk = path / "params.a.w" / "0.0"
    chunk.rename(path / "params.a.w" / "data")
    chunk.symlink_to(path / "params.a.w" / "data")
    assert compat.restore(path, Model).a.w[0, 0] == 1
    hub = good("hf", tmp_path / "a")
    (tmp_path / "blobs").mkdir()
    for i, file in enumerate(sorted(hub.glob("*.msgpack"))):
        file.rename(tmp_path / "blobs" / str(i))
        file.symlink_to(tmp_path / "blobs" / str(i))
    assert compat.restore(hub, Model).b.w[0, 0] == 2


def test_chunks_that_mean_zeros_are_told(tmp_path: Path) -> None:
    """Orbax 0.6 to 0.9 did not store chunks of zeros in zarr3, nor said so: an array of zeros, or a lost file?"""
    tree = {"params": {"a": {"w": np.ones((8, 4), np.float32)}, "b": {"w": np.zeros((8, 4), np.float32)}}}
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler(use_ocdbt=False, use_zarr3=True)) as checkpointer:
        checkpointer.save(tmp_path / "ck", tree)
    metadata = json.loads((tmp_path / "ck" / "_METADATA").read_text())
    shutil.rmtree(tmp_path / "ck" / "params.b.w" / "c")
    with pytest.raises(errors.CorruptCheckpointError, match="Nothing is filled with zeros"):
        compat.restore(tmp_path / "ck", Model)
    del metadata["store_array_data_equal_to_fill_value"]
    (tmp_path / "ck" / "_METADATA").write_text(json.dumps(metadata))
    with pytest.warns(compat.RestoreWarning, match="(?s)chunk that was lost looks the same.*params/b/w: 1 chunks") as caught:
        model = compat.restore(tmp_path / "ck", Model)
    assert len(caught) == 1 and not model.b.w[...].any() and model.a.w[0, 0] == 1
    assert "params/b/w" in compat.open_checkpoint(tmp_path / "ck").notes[0]


class Bomb:
    """Would leave a trace if it were ever unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, (os.environ["BOMB"],)


def test_pickles_are_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    data = pickle.dumps({"params": Bomb()})
    for name in ("a.pkl", "b.msgpack", "checkpoint_1", "flax_model.msgpack"):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(errors.UnsafeCheckpointError, match="never loaded"):
            compat.restore(tmp_path / name, Model)
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "params.pkl").write_bytes(data)
    with pytest.raises(errors.UnsafeCheckpointError, match="never loaded"):
        compat.restore(tmp_path / "dir", Model)
    np.savez(tmp_path / "o.npz", w=np.array([Bomb()], dtype=object))
    with pytest.raises(errors.UnsafeCheckpointError, match="pickled Python objects"):
        compat.restore(tmp_path / "o.npz", Model)
    with zipfile.ZipFile(tmp_path / "torch.pt", "w") as archive:
        archive.writestr("archive/data.pkl", data)
    with pytest.raises(errors.UnsafeCheckpointError, match="PyTorch"):
        compat.restore(tmp_path / "torch.pt", Model)
    assert not (tmp_path / "exploded").exists()


BOMBS = {
    "a list of 2**32-1": b"\xdd\xff\xff\xff\xff",
    "a map of 2**32-1": b"\xdf\xff\xff\xff\xff",
    "a string of 2**32-1": b"\x81\xdb\xff\xff\xff\xff",
    "nested lists": b"\x91" * 100_000,
    "nested maps": b"\x81\xa1a" * 100_000,
    "a huge shape": b"\x81\xa1w" + by_hand.msgpack.packb(
        by_hand.msgpack.ExtType(1, by_hand.msgpack.packb(([1 << 60, 1 << 60], "float32", b"")))
    ),
    "a negative shape": b"\x81\xa1w" + by_hand.msgpack.packb(
        by_hand.msgpack.ExtType(1, by_hand.msgpack.packb(([-1, -4], "float32", b"\0" * 16)))
    ),
    "an object dtype": b"\x81\xa1w" + by_hand.msgpack.packb(
        by_hand.msgpack.ExtType(1, by_hand.msgpack.packb(([1], "object", b"\0" * 8)))
    ),
    "two equal keys": b"\x82\xa1w\x01\xa1w\x02",
    "an unknown extension": b"\x81\xa1w" + by_hand.msgpack.packb(by_hand.msgpack.ExtType(99, b"xx")),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_msgpack_bombs(name: str, tmp_path: Path) -> None:
    (tmp_path / "bomb.msgpack").write_bytes(BOMBS[name])
    with pytest.raises(errors.CheckpointError, match=r"bomb\.msgpack"):
        compat.open_checkpoint(tmp_path / "bomb.msgpack")


def test_mismatches_list_every_key(tmp_path: Path) -> None:
    tree = {"params": {"a": {"w": np.ones((8, 5), np.float32)}, "bb": {"w": np.ones((8, 4), np.float32)}}}
    path = by_hand.write_l1(tree, tmp_path / "ck")
    with pytest.raises(compat.MismatchError) as caught:
        compat.restore(path, Model)
    assert caught.value.missing == ["b/w"] and caught.value.extra == ["params/bb/w"]
    assert "expected key params/b/w); nearest: params/bb/w" in str(caught.value)
    with pytest.raises(compat.MismatchError, match=r"a/w: the target has shape \(8, 4\), params/a/w has \(8, 5\)"):
        compat.restore(path, Model, rename={"bb": "b"})
    wrong = {"params": {k: {"w": np.ones((8, 4), np.int32)} for k in "ab"}}
    with pytest.raises(compat.MismatchError) as caught:
        compat.restore(by_hand.write_l1(wrong, tmp_path / "int"), Model, dtype="target")
        compat.restore(by_hand.write_l1(wrong, tmp_path / "int"), Model)
    assert [line.split(":")[0] for line in caught.value.problems] == ["a/w", "b/w"]


def test_two_keys_to_one(tmp_path: Path) -> None:
    both = {"params": {"a": {"w": {"value": np.ones((8, 4), np.float32)}}, "b": {"w": np.ones((8, 4), np.float32)}}}
    both["params"]["c"] = both["params"]["b"]
    path = by_hand.write_l1(both, tmp_path / "ck")
    with pytest.raises(compat.MismatchError, match="b/w: two keys map to one: params/b/w, params/c/w"):
        compat.restore(path, Model, rename={"c": "b"})
