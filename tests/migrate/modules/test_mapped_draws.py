"""Modules with dropout that are given to `jax.vmap` as they are: one mask for all members, as in Linen."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

INNER = """from flax import linen as nn
import jax


class Inner(nn.Module):
    rate: float = 0.5

    @nn.compact
    def __call__(self, x, training):
        return nn.Dropout(self.rate, deterministic=not training)(nn.Dense(3)(x))


"""
NETS = (
    INNER
    + """class Made(nn.Module):
    @nn.compact
    def __call__(self, x, training=False):
        return jax.vmap(Inner(0.3), in_axes=(0, None), out_axes=(0),)(x, training)


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x, training=False):
        net = Inner()
        return jax.vmap(net, (0, None), 1)(x, training) + jax.vmap(net, in_axes=(0, None), out_axes=1)(x * 2, training)


class Kept(nn.Module):
    def setup(self):
        self.net = Inner()

    def __call__(self, x, training=False):
        return jax.vmap(self.net, in_axes=(-2, None))(x, training)


class Noisy(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(x))


class Chain(nn.Module):
    def setup(self):
        self.chain = nn.Sequential([nn.Dense(4), Noisy()])

    def __call__(self, x, training=False):
        return jax.vmap(self.chain)(x)


class Chains(nn.Module):
    @nn.compact
    def __call__(self, x, training=False):
        chain = nn.Sequential([Noisy(), nn.Dense(4), Noisy()])
        return jax.vmap(chain)(x) + jax.vmap(chain)(2 * x) + jax.vmap(nn.Sequential([nn.Dense(4), Noisy()]))(x)
"""
)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", ["Made", "Twice", "Kept", "Chain", "Chains"])
def test_one_mask_for_all(name: str, training: bool) -> None:
    before, after = both_sides("mapped_draws", NETS)
    x = jax.random.normal(jax.random.key(0), (6, 4))
    linen = getattr(before, name)()
    variables = linen.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x)
    new = getattr(after, name)(in_features=4, rngs=nnx.Rngs(0, dropout=1))
    assert compat.check_equivalence(linen, variables, new, x, training, rngs={"dropout": jax.random.key(5)})


OTHERWISE = {
    "axes of a field": "jax.vmap(Inner(), in_axes=(self.axis, None))(x, training)",
    "a named axis": "jax.vmap(Inner(), in_axes=(0, None), axis_name='b')(x, training)",
    "by name": "jax.vmap(Inner(), in_axes=(0,))(x, training=training)",
    "called later": "list(map(jax.vmap(Inner(), in_axes=(0, None)), [x], [training]))[0]",
}


@pytest.mark.parametrize("call", OTHERWISE.values(), ids=OTHERWISE.keys())
def test_other_calls_stay_linen(call: str) -> None:
    text = (
        f"{INNER}class Net(nn.Module):\n    axis: int = 0\n\n    @nn.compact\n    def __call__(self, x, training=False):\n"
    )
    source = SourceFile.parse(Path("net.py"), "net", f"{text}        return {call}\n")
    (net,) = [c for c in migrate_project([source]).classes if c.qualname == "net.Net"]
    assert (str(net.outcome), net.code) == ("bridged", "NNX134")
