"""One of two processes, with four devices each; started by test_multihost.py. Prints what it held and read."""

# ruff: noqa: E402 - jax reads the environment, and joins the others, before anything else is imported
from __future__ import annotations

import json
import os
import sys

port, process, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax

jax.distributed.initialize(f"localhost:{port}", 2, process)

import numpy as np
from flax import nnx
from jax.sharding import AxisType
from nnx_migrate import compat
from nnx_migrate.compat import load as loading


class Model(nnx.Module):
    def __init__(self) -> None:
        self.big = nnx.Param(jax.numpy.zeros((8, 1024)), out_sharding=("data", "model"))
        self.small = nnx.Param(jax.numpy.zeros(16))
        self.drop = nnx.Dropout(0.5, rngs=nnx.Rngs(3))


mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
read: dict[str, int] = {}
original = loading.begin_read


def counted(leaf, index):  # type: ignore[no-untyped-def]
    read[leaf.name] = read.get(leaf.name, 0) + int(np.prod([s.stop - s.start for s in index])) * leaf.dtype.itemsize
    return original(leaf, index)


loading.begin_read = counted


def create():  # type: ignore[no-untyped-def]
    return {"model": Model(), "typed": jax.random.key(0), "raw": jax.random.PRNGKey(0)}


found = compat.restore(path, create, mesh=mesh)
model = found["model"]
big = model.big.get_value()
shards = {str([s.start or 0 for s in shard.index]): float(np.asarray(shard.data).sum()) for shard in big.addressable_shards}
with jax.set_mesh(mesh):
    total = jax.jit(lambda x: x.sum(), out_shardings=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))(big)
print(
    json.dumps(
        {
            "process": process,
            "global": list(big.shape),
            "local": sum(s.data.nbytes for s in big.addressable_shards),
            "read": read,
            "shards": shards,
            "total": float(total.addressable_data(0)),
            "small": float(model.small.get_value().addressable_data(0).sum()),
            "keys": [
                np.asarray(jax.random.key_data(found["typed"]).addressable_data(0)).tolist(),
                np.asarray(found["raw"].addressable_data(0)).tolist(),
            ],
            "devices": len(big.sharding.device_set),
        }
    ),
    flush=True,
)
