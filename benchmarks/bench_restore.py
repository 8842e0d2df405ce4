"""What restoring and converting cost, beside plain Orbax.

    python benchmarks/bench_restore.py [--gib 3] [--pairs 3] [--json FILE] [--own-devices]

Every measurement runs in a process of its own (peak RSS is that of the process, less what importing took), paired: plain
Orbax, then ours, then again, so that both see the same state of the machine. Values are medians; all runs are printed.

Restoring: StandardCheckpointer.restore into sharded targets (plain) against `compat.restore` into an NNX model (ours), on
eight virtual CPU devices (2x4), of a Linen-shaped checkpoint with OCDBT; with `--own-devices` on those that the machine
has (one GPU: a 1x1 mesh). Converting: key-only, at 1x, 4x and 16x.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ARRAYS = 12
MIB = 1 << 20


def peak() -> float:
    """Peak resident set of this process, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu() -> float:
    """Seconds of CPU that this process has used: other work on the machine lengthens them less than the clock."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def mesh() -> Any:
    import jax
    from jax.sharding import AxisType

    count = jax.device_count()
    grid = (2, count // 2) if count % 2 == 0 else (1, count)
    return jax.make_mesh(grid, ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def rows(mib: float) -> int:
    """Rows of 4096 floats in each of the arrays, divisible by the mesh."""
    return max(8, int(mib * MIB / ARRAYS / 4096 / 4) // 8 * 8)


def save(path: str, mib: float) -> None:
    """Writes the checkpoint as a Linen program would have: params/layer_i/kernel/value, sharded."""
    import jax
    import orbax.checkpoint as ocp
    from jax.sharding import NamedSharding, PartitionSpec

    shape = (rows(mib), 4096)
    sharding = NamedSharding(mesh(), PartitionSpec("data", "model"))
    make = jax.jit(lambda i: jax.random.normal(jax.random.key(i), shape), out_shardings=sharding)
    tree = {"params": {f"layer_{i}": {"kernel": {"value": make(i)}} for i in range(ARRAYS)}}
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(path, tree)


def plain(path: str, mib: float) -> dict[str, float]:
    import jax
    import jax.numpy as jnp
    import orbax.checkpoint as ocp
    from jax.sharding import NamedSharding, PartitionSpec

    sharding = NamedSharding(mesh(), PartitionSpec("data", "model"))
    leaf = jax.ShapeDtypeStruct((rows(mib), 4096), jnp.float32, sharding=sharding)
    target = {"params": {f"layer_{i}": {"kernel": {"value": leaf}} for i in range(ARRAYS)}}
    before, begun, used = peak(), time.perf_counter(), cpu()
    with ocp.StandardCheckpointer() as checkpointer:
        tree = jax.block_until_ready(checkpointer.restore(path, target))
    seconds = time.perf_counter() - begun
    assert len(jax.tree.leaves(tree)) == ARRAYS
    return {"seconds": seconds, "cpu": cpu() - used, "peak_mib": peak(), "grown_mib": peak() - before}


def ours(path: str, mib: float) -> dict[str, float]:
    import jax
    import jax.numpy as jnp
    import orbax.checkpoint  # noqa: F401 - so that both sides start from the same imports
    from flax import nnx
    from nnx_migrate import compat

    class Layer(nnx.Module):
        def __init__(self) -> None:
            self.kernel = nnx.Param(jnp.zeros((rows(mib), 4096)), out_sharding=("data", "model"))

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.layer = nnx.List([Layer() for _ in range(ARRAYS)])

    grid = mesh()
    before, begun, used = peak(), time.perf_counter(), cpu()
    model = compat.restore(path, Model, mesh=grid)
    jax.block_until_ready(jax.tree.leaves(nnx.state(model)))
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "cpu": cpu() - used, "peak_mib": peak(), "grown_mib": peak() - before}


def convert(path: str, mib: float) -> dict[str, float]:
    import tensorstore  # noqa: F401 - imports are not part of the conversion
    from nnx_migrate import compat

    destination = Path(path).with_name("converted")
    begun = time.perf_counter()
    done = compat.convert_checkpoint(path, destination)
    seconds = time.perf_counter() - begun
    new = [p for p in destination.rglob("*") if p.is_file() and p.stat().st_nlink == 1]
    written = sum(p.stat().st_size for p in new)
    shutil.rmtree(destination)
    return {"seconds": seconds, "written_kib": written / 1024, "streamed": float(done.streamed_bytes)}


def child(action: str, path: str, mib: float, own_devices: bool) -> dict[str, float]:
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    if not own_devices:
        environment |= {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__, "--child", action, path, str(mib)]
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(out.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=3.0)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--own-devices", action="store_true", help="not eight virtual CPU devices, but the machine's own")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        action, path, mib = options.child
        result = {"save": save, "plain": plain, "ours": ours, "convert": convert}[action](path, float(mib))
        print(json.dumps(result or {}))
        return
    run = functools.partial(child, own_devices=options.own_devices)
    report: dict[str, Any] = {"gib": options.gib, "arrays": ARRAYS}
    mib = options.gib * 1024
    with tempfile.TemporaryDirectory(prefix="nnx-migrate-bench") as folder:
        path = f"{folder}/checkpoint"
        run("save", path, mib)
        runs: dict[str, list[dict[str, float]]] = {"plain": [], "ours": []}
        run("plain", path, mib)  # warms the page cache for both
        for _ in range(options.pairs):
            for action in runs:
                runs[action].append(run(action, path, mib))
                print(f"restore {action:5} " + "  ".join(f"{k} {v:.2f}" for k, v in runs[action][-1].items()), flush=True)
        for key in ("peak_mib", "grown_mib", "seconds", "cpu"):
            middle = {a: statistics.median(r[key] for r in rs) for a, rs in runs.items()}
            ratio = statistics.median(o[key] / p[key] for o, p in zip(runs["ours"], runs["plain"]))
            report[f"restore {key}"] = {**middle, "ratio": ratio}
            print(f"restore {key}: plain {middle['plain']:.2f}, ours {middle['ours']:.2f}, paired ratio {ratio:.3f}")
        shutil.rmtree(path)
        for scale in (1, 4, 16):
            run("save", path, mib * scale / 16)
            runs_of = [run("convert", path, mib * scale / 16) for _ in range(options.pairs)]
            middle = {k: statistics.median(r[k] for r in runs_of) for k in runs_of[0]}
            report[f"convert {scale}x"] = {"mib": mib * scale / 16, **middle}
            figures = "  ".join(f"{k} {v:.2f}" for k, v in middle.items())
            print(f"convert {scale:2}x ({mib * scale / 16:.0f} MiB): {figures}")
            shutil.rmtree(path)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
