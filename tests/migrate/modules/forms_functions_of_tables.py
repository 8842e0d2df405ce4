"""Functions that make one of several modules, which they look up in a table: `norm(cfg)`, `make(kind, **options)`."""

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 4
    norm: str = "layer"
    dtype: Any = jnp.float32


def norm(cfg, name=None):
    return {"layer": nn.LayerNorm, "rms": nn.RMSNorm}[cfg.norm](dtype=cfg.dtype, name=name)


NORMS = {"layer": nn.LayerNorm, "group": functools.partial(nn.GroupNorm, num_groups=2)}


def norm_of(kind, **options):
    return NORMS[kind](**options)


class Wide(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


class Deep(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, use_bias=False)(nn.relu(nn.Dense(5)(x)))


BLOCKS = {}


def register(name):
    def wrap(cls):
        BLOCKS[name] = cls
        return cls

    return wrap


register("wide")(Wide)
BLOCKS["deep"] = Deep


def block_of(name):
    if name not in BLOCKS:
        raise ValueError(name)
    return BLOCKS[name]


def make_block(name, **options):
    return BLOCKS[name](**options)


class InSetup(nn.Module):
    """By the name that the attribute has, too."""

    cfg: Config = Config()

    def setup(self):
        self.norm = norm(self.cfg)
        self.up = nn.Dense(self.cfg.width)

    def __call__(self, x):
        return self.up(self.norm(x))


class InCall(nn.Module):
    cfg: Config = Config()
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = norm(self.cfg)(x)
            x = nn.Dense(self.cfg.width)(x)
        return norm(self.cfg, "last")(x)


class Options(nn.Module):
    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        return norm_of(self.kind, epsilon=1e-3)(x)


class Registered(nn.Module):
    kind: str = "wide"

    @nn.compact
    def __call__(self, x):
        x = make_block(self.kind, width=4)(x)
        x = block_of(self.kind)(6)(x)
        return nn.Dense(2)(x)


class ByName(nn.Module):
    """By a local name for the key, which the call says, too."""

    kind: str = "LAYER"
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        kind = self.kind.lower()
        for _ in range(self.depth):
            x = NORMS[kind]()(nn.Dense(4)(x))
        return x


class Chosen(nn.Module):
    """What is looked up has a name, and so has the key, which is another one later."""

    kind: str = "LAYER"
    second: str = "group"

    @nn.compact
    def __call__(self, x):
        kind = self.kind.lower()
        norm = NORMS[kind]
        kind = self.second
        other = NORMS[kind]
        return other()(norm()(nn.Dense(4)(x)))


class Looped(nn.Module):
    kinds: tuple[str, ...] = ("wide", "deep", "wide")

    @nn.compact
    def __call__(self, x):
        for kind in self.kinds:
            x = block_of(kind)(4)(x)
        return nn.Dense(2)(x)


CASES = [
    ("InSetup", {}, [(2, 4)], {}),
    ("InSetup", {"cfg": Config(norm="rms", width=3)}, [(2, 4)], {}),
    ("InCall", {}, [(2, 4)], {}),
    ("InCall", {"cfg": Config(norm="rms", width=3)}, [(2, 4)], {}),
    ("InCall", {"cfg": Config(norm="rms"), "depth": 0}, [(2, 4)], {}),
    ("Options", {}, [(2, 4)], {}),
    ("Options", {"kind": "group"}, [(2, 4)], {}),
    ("Registered", {}, [(2, 4)], {}),
    ("Registered", {"kind": "deep"}, [(2, 4)], {}),
    ("ByName", {"kind": "Group"}, [(2, 4)], {}),
    ("ByName", {}, [(2, 4)], {}),
    ("Chosen", {}, [(2, 4)], {}),
    ("Chosen", {"kind": "Group", "second": "layer"}, [(2, 4)], {}),
    ("Looped", {}, [(2, 4)], {}),
    ("Looped", {"kinds": ("deep",)}, [(2, 4)], {}),
    ("Looped", {"kinds": ()}, [(2, 4)], {}),
]
