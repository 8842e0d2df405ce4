"""Blocks that return a tuple for a scan and an array for a loop, by a setting."""

import dataclasses

from flax import linen as nn


@dataclasses.dataclass(frozen=True)
class Config:
    scan: bool = False
    width: int = 6


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, deterministic=True):
        y = nn.Dense(x.shape[-1])(nn.LayerNorm()(x))
        x = x + nn.Dropout(0.1)(y, deterministic=deterministic)
        if self.config.scan:
            return x, ()
        return x


class Widening(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.config.width + 1)(x)
        if self.config.scan:
            return x, None
        else:
            return x


class Stack(nn.Module):
    config: Config
    layers: int = 2

    @nn.compact
    def __call__(self, x, deterministic=True):
        if self.config.scan:
            x, _ = nn.scan(
                Block,
                variable_axes={"params": 0},
                split_rngs={"params": True, "dropout": True},
                in_axes=(nn.broadcast,),
                length=self.layers,
            )(self.config, name="scanned")(x, deterministic)
        else:
            for i in range(self.layers):
                x = Block(self.config, name=f"layer_{i}")(x, deterministic)
        return nn.LayerNorm()(x)


class Net(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        x = Stack(self.config)(nn.Dense(self.config.width)(x))
        return nn.Dense(2)(x)


class Taken(nn.Module):
    """What the tuple begins with, asked for by its place."""

    config: Config

    @nn.compact
    def __call__(self, x):
        out = Widening(self.config)(x)
        if self.config.scan:
            out = out[0]
        return nn.Dense(2)(out)


class Added(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        y = Widening(self.config)(x)
        return nn.Dense(2)(nn.relu(y) * 2)


CASES = [
    ("Block", {"config": Config()}, [(2, 3)], {}),
    ("Block", {"config": Config(True)}, [(2, 3)], {}),
    ("Stack", {"config": Config()}, [(2, 3)], {}),
    ("Stack", {"config": Config(True)}, [(2, 3)], {}),
    ("Net", {"config": Config()}, [(2, 3)], {}),
    ("Net", {"config": Config(True)}, [(2, 3)], {}),
    ("Taken", {"config": Config()}, [(2, 3)], {}),
    ("Taken", {"config": Config(True)}, [(2, 3)], {}),
    ("Added", {"config": Config()}, [(2, 3)], {}),
]
