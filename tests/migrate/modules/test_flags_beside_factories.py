"""Flags of factories in fields beside flags of fields, and beside arguments of the call that have their names."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

X = jnp.linspace(-1, 1, 6).reshape(2, 3)
HEAD = """from functools import partial
from typing import Any

from flax import linen as nn
"""
BESIDE = f"""{HEAD}

class Block(nn.Module):
    width: int
    train: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5)(nn.Dense(self.width)(x), deterministic=not self.train)


class Encoder(nn.Module):
    norm: Any = nn.BatchNorm
    train: bool = True

    @nn.compact
    def __call__(self, x):
        block = partial(Block, train=self.train)
        x = self.norm()(block(4)(x))
        for _ in range(2):
            x = block(5)(x)
        return x


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        norm = partial(nn.BatchNorm, use_running_average=not train)
        encoder = partial(Encoder, norm=norm, train=train)
        return encoder()(x)
"""
OWN = f"""{HEAD}

class Block(nn.Module):
    drop: Any

    @nn.compact
    def __call__(self, x, deterministic=True):
        x = self.drop(0.5)(nn.Dense(4)(x))
        return nn.Dropout(0.5)(x, deterministic=deterministic)


class Held(nn.Module):
    drop: Any

    @nn.compact
    def __call__(self, x, deterministic=True):
        x = Inner(drop=self.drop)(x)
        return nn.Dropout(0.5)(x, deterministic=deterministic)


class Inner(nn.Module):
    drop: Any

    @nn.compact
    def __call__(self, x):
        return self.drop(0.5)(nn.Dense(4)(x))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        drop = partial(nn.Dropout, deterministic=not train)
        return Block(drop=drop)(x)


class Given(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        drop = partial(nn.Dropout, deterministic=not train)
        return Block(drop=drop)(x, deterministic=True)


class Written(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        drop = partial(nn.Dropout, deterministic=True)
        return Held(drop=drop)(x, not train)


class Through(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        drop = partial(nn.Dropout, deterministic=not train)
        return Held(drop=drop)(x)
"""
NORMS = f"""{HEAD}

class Block(nn.Module):
    norm: Any = nn.BatchNorm
    train: bool = True

    @nn.compact
    def __call__(self, x, use_running_average=None):
        x = self.norm()(nn.Dense(4)(x))
        return nn.Dropout(0.5)(x, deterministic=not self.train)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        norm = partial(nn.BatchNorm, use_running_average=not train)
        return Block(norm=norm, train=train)(x, use_running_average=train)
"""
ABOVE = f"""{HEAD}

class Base(nn.Module):
    drop: Any

    @nn.compact
    def __call__(self, x, deterministic=True):
        x = self.drop(0.5)(nn.Dense(4)(x))
        return nn.Dropout(0.5)(x, deterministic=deterministic)


class Block(Base):
    @nn.compact
    def __call__(self, x, deterministic=True):
        x = super().__call__(x, deterministic)
        return self.drop(0.3)(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        drop = partial(nn.Dropout, deterministic=not train)
        return Block(drop=drop)(x)


class Both(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = True):
        x = Block(drop=partial(nn.Dropout, deterministic=True))(x, not train)
        return Block(drop=partial(nn.Dropout, deterministic=not train))(x)
"""


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (BESIDE, "Net"),
        (NORMS, "Net"),
        *[(OWN, name) for name in ("Net", "Given", "Written", "Through")],
        *[(ABOVE, name) for name in ("Net", "Both")],
    ],
)
@pytest.mark.parametrize("train", [True, False])
def test_each_flag_goes_its_way(program: str, name: str, train: bool) -> None:
    before, after = both_sides("flags_beside", program)
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(0), X, False)
    new: Any = getattr(after, name)(in_features=3, rngs=nnx.Rngs(0))
    others = [key for key in variables if key != "params"]
    assert compat.check_equivalence(linen, variables, new, X, train, mutable=others, rngs=["dropout"])
