"""A class under remat or not, by what a name of `setup` says (`cfg = self.config`); `CASES` as in forms_basic."""

import dataclasses

import flax
from flax import linen as nn


@flax.struct.dataclass
class Config:
    width: int = 4
    remat: bool = False
    layers: int = 2
    policy: str = "none"


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, scale=1.0):
        return nn.Dense(self.config.width)(x) * scale


class Listed(nn.Module):
    config: Config

    def setup(self):
        c = self.config
        block = Block
        if c.remat:
            block = nn.remat(Block)
        self.h = [block(c) for i in range(c.layers)]

    def __call__(self, x):
        for layer in self.h:
            x = layer(x)
        return x


class OneLine(nn.Module):
    config: Config

    def setup(self):
        c = self.config
        block = nn.remat(Block, static_argnums=(2,)) if c.remat else Block
        self.h = block(c)

    def __call__(self, x):
        return self.h(x, 2.0)


class Branches(nn.Module):
    config: Config

    def setup(self):
        c = self.config
        remat = c.remat
        if remat:
            self.h = nn.remat(Block)(c)
        else:
            self.h = Block(c)

    def __call__(self, x):
        return self.h(x)


class InPlace(nn.Module):
    config: Config

    def setup(self):
        cfg = self.config
        self.h = nn.remat(Block)(cfg) if cfg.remat else Block(cfg)

    def __call__(self, x):
        return self.go(self.h(x))

    def go(self, x):
        return self.h(x)


class Compared(nn.Module):
    config: Config

    def setup(self):
        cfg = self.config
        block = Block
        if cfg.policy != "none" and cfg.layers > 1:
            block = nn.remat(block, prevent_cse=False)
        self.a = block(cfg)
        self.b = block(cfg)

    def __call__(self, x):
        return self.go(self.b(self.a(x)))

    def go(self, x):
        return self.a(x)


class Derived(Listed):
    def __call__(self, x):
        return super().__call__(x) * 2


@dataclasses.dataclass
class Plain:
    width: int = 4
    checkpoint: bool = True


class PlainConfig(nn.Module):
    cfg: Plain

    def setup(self):
        cfg = self.cfg
        layer = nn.checkpoint(nn.Dense) if cfg.checkpoint else nn.Dense
        self.up, self.down = layer(cfg.width), layer(3)

    def __call__(self, x):
        return self.down(nn.relu(self.up(x)))


class NamedAgain(nn.Module):
    config: Config

    def setup(self):
        flag = self.config.remat
        block = Block
        if flag:
            block = nn.remat(block)
        flag = 3
        self.h = block(self.config.replace(width=flag))

    def __call__(self, x):
        return self.h(x)


CASES = [
    (name, {"config": Config(**given)}, [(2, 4)], {})
    for name in ("Listed", "OneLine", "Branches", "InPlace", "Compared", "Derived", "NamedAgain")
    for given in ({}, {"remat": True, "policy": "all"})
] + [
    ("PlainConfig", {"cfg": Plain()}, [(2, 4)], {}),
    ("PlainConfig", {"cfg": Plain(checkpoint=False)}, [(2, 4)], {}),
]
