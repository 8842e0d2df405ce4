"""`nn.with_partitioning` as a value: picked by a flag, given a name, bound to its names, handed to a function."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


@dataclasses.dataclass
class Config:
    width: int = 4
    sharded: bool = True


along = nn.with_partitioning
rows = functools.partial(nn.with_partitioning, names=("data", None))


def init_of(kind, config):
    partition = nn.with_partitioning if config.sharded else lambda init, names: init
    if kind == "in":
        return partition(nn.initializers.lecun_normal(), (None, "data"))
    return partition(nn.initializers.lecun_normal(), ("data", None))


def made_by(partition, *names):
    return partition(nn.initializers.ones, names)


class Mlp(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.config.width, kernel_init=init_of("in", self.config))(x)
        x = nn.Dense(4, kernel_init=along(nn.initializers.ones, (None, "data")))(nn.relu(x))
        x = nn.Dense(4, kernel_init=rows(nn.initializers.ones))(x)
        return nn.Dense(2, kernel_init=init_of("out", self.config))(x)


class Logical(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, kernel_init=made_by(nn.with_logical_partitioning, "embed", "mlp"))(x)


class OfSetup(nn.Module):
    """Initializers that setup defines, under a condition."""

    dim: int = 4
    kind: str = "wide"

    def setup(self):
        if self.kind != "none":
            count = 4 if self.kind == "wide" else 2

            def init(key):
                scale = self.dim**-0.5
                return jax.random.normal(key, (count, self.dim)) * scale

            self.table = self.param("table", nn.with_logical_partitioning(init, ("count", "embed")))

        def ones(key, shape, dtype=jnp.float32):
            return jnp.ones(shape, dtype)

        self.out = nn.Dense(3, kernel_init=nn.with_partitioning(ones, (None, "data")))

    def __call__(self, x):
        if self.kind != "none":
            x = x + self.table.sum(0)
        return self.out(x)


CASES: list[Any] = [
    ("OfSetup", {}, [(2, 4)], {}),
    ("OfSetup", {"kind": "none"}, [(2, 4)], {}),
    ("Mlp", {"config": Config()}, [(2, 3)], {}),
    ("Mlp", {"config": Config(sharded=False)}, [(2, 3)], {}),
    ("Logical", {}, [(2, 3)], {}),
]
