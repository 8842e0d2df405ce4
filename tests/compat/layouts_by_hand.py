"""Old layouts, written by hand with what is installed today: the file formats are simple enough, and period stacks
are not at hand everywhere. Each writer takes a nested dict of numpy arrays and a path.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import tensorstore as ts


def pack_array(x: Any) -> msgpack.ExtType:
    x = np.asarray(x)
    return msgpack.ExtType(1, msgpack.packb((x.shape, x.dtype.name, x.tobytes())))


def pack(tree: Any) -> bytes:
    return msgpack.packb(tree, default=pack_array, strict_types=True)


def write_zarr(path: Path, x: Any, chunks: tuple[int, ...] | None = None, *, driver: str = "zarr") -> None:
    x = np.asarray(x)
    chunks = tuple(chunks or [max(1, n) for n in x.shape])
    if driver == "zarr3":
        metadata: dict[str, Any] = {
            "shape": list(x.shape),
            "data_type": x.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        }
    else:
        name = "bfloat16" if x.dtype.name == "bfloat16" else x.dtype.str
        metadata = {"shape": list(x.shape), "chunks": list(chunks), "dtype": name, "fill_value": None}
        metadata["compressor"] = {"id": "gzip", "level": 1}
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{path}/"}, "metadata": metadata}
    ts.open(spec, create=True).result().write(x).result()


def mapped(tree: Any, leaf: Callable[[tuple[str, ...], Any], Any], key: tuple[str, ...] = ()) -> Any:
    """The tree with every array replaced; lists keep their indices as keys."""
    if isinstance(tree, dict):
        return {k: mapped(v, leaf, (*key, str(k))) for k, v in tree.items()}
    if isinstance(tree, list):
        return [mapped(v, leaf, (*key, str(i))) for i, v in enumerate(tree)]
    return leaf(key, tree) if isinstance(tree, np.ndarray) else tree


def write_l1(tree: Any, path: Path) -> Path:
    file = path.with_suffix(".msgpack")
    file.write_bytes(pack(tree))
    return file


def write_l2(tree: Any, path: Path) -> Path:
    """flax.training.checkpoints.save_checkpoint_multiprocess."""
    path.mkdir()

    def leaf(key: tuple[str, ...], x: Any) -> Any:
        if not x.ndim:
            return x
        write_zarr(path / "checkpoint_3_gda" / "/".join(key), x, (1, *x.shape[1:]))
        return f"//GDAPlaceholder:{'/'.join(key)}"

    (path / "checkpoint_3").write_bytes(pack(mapped(tree, leaf)))
    return path


def write_l3(tree: Any, path: Path) -> Path:
    """orbax.checkpoint.PyTreeCheckpointer up to 0.2.7; scalars aggregated."""
    path.mkdir()

    def leaf(key: tuple[str, ...], x: Any) -> Any:
        if not x.ndim:
            return x
        write_zarr(path / ".".join(key), x, (1, *x.shape[1:]))
        return f"PLACEHOLDER://{'.'.join(key)}"

    (path / "checkpoint").write_bytes(pack(mapped(tree, leaf)))
    return path


def write_t5x(tree: Any, path: Path) -> Path:
    """t5x.checkpoints: TensorStore specs in place of the larger arrays."""
    path.mkdir()

    def leaf(key: tuple[str, ...], x: Any) -> Any:
        if x.ndim < 2:
            return x
        name = ".".join(key)
        write_zarr(path / name, x)
        return {"driver": "zarr", "dtype": x.dtype.name, "kvstore": {"driver": "file", "path": name}, "metadata": {}}

    (path / "checkpoint").write_bytes(pack({"version": 3, "optimizer": mapped(tree, leaf)}))
    return path


def flat(tree: Any, separator: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    mapped(tree, lambda key, x: found.__setitem__(separator.join(key), x))
    return found


def write_npz(tree: Any, path: Path) -> Path:
    file = path.with_suffix(".npz")
    np.savez_compressed(file, **flat(tree, "/"))
    return file


def write_safetensors(tree: Any, path: Path) -> Path:
    from safetensors.numpy import save_file

    file = path.with_suffix(".safetensors")
    save_file({k: np.array(v, order="C") for k, v in flat(tree, ".").items()}, file)
    return file


def write_hf(tree: Any, path: Path) -> Path:
    """FlaxPreTrainedModel.save_pretrained: parameters alone."""
    path.mkdir()
    (path / "flax_model.msgpack").write_bytes(pack(tree))
    (path / "config.json").write_text("{}")
    return path


def write_hf_sharded(tree: Any, path: Path) -> Path:
    path.mkdir()
    weights = {}
    for i, (name, child) in enumerate(tree.items(), 1):
        file = f"flax_model-{i:05d}-of-{len(tree):05d}.msgpack"
        (path / file).write_bytes(pack({name: child}))
        weights |= dict.fromkeys(flat({name: child}, "/"), file)
    (path / "flax_model.msgpack.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))
    return path


def write_chunked(tree: Any, path: Path) -> Path:
    """flax.serialization splits arrays of more than 2**30 bytes; here, every array into flat pieces of 5."""

    def leaf(key: tuple[str, ...], x: Any) -> Any:
        if not x.ndim:
            return x
        pieces = [x.reshape(-1)[i : i + 5] for i in range(0, x.size, 5)]
        return {
            "__msgpack_chunked_array__": True,
            "shape": {str(i): n for i, n in enumerate(x.shape)},
            "chunks": {str(i): piece for i, piece in enumerate(pieces)},
        }

    file = path.with_suffix(".msgpack")
    file.write_bytes(pack(mapped(tree, leaf)))
    return file


def write_orbax_0_3(tree: Any, path: Path) -> Path:
    """Arrays in OCDBT, the tree in `checkpoint`, no `_METADATA`."""
    import orbax.checkpoint as ocp

    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
        checkpointer.save(path, tree)
    for name in ("_METADATA", "_CHECKPOINT_METADATA", "_sharding"):
        (path / name).unlink(missing_ok=True)
    (path / "checkpoint").write_bytes(pack(mapped(tree, lambda key, x: f"PLACEHOLDER://{'.'.join(key)}")))
    return path
