"""Layers that a method of a plain object makes for the class that calls it: `cfg.make_norm()` of `cfg: Config`."""

import dataclasses
from typing import Optional

from flax import linen as nn


@dataclasses.dataclass
class Inner:
    width: int = 3

    def make(self, name=None):
        return nn.Dense(self.width, name=name)


@dataclasses.dataclass
class Config:
    normalization: str = "layer"
    epsilon: float = 1e-3
    groups: int = 2
    inner: Inner = dataclasses.field(default_factory=Inner)

    def make_norm(self):
        """A norm by its name."""
        if self.normalization == "layer":
            return nn.LayerNorm(epsilon=self.epsilon, use_bias=False)
        elif self.normalization == "group":
            return nn.GroupNorm(num_groups=self.groups, epsilon=self.epsilon)
        else:
            raise ValueError(f"Unknown normalization: {self.normalization}")

    def make_dense(self, width, use_bias=True):
        return nn.Dense(width * self.groups, use_bias=use_bias)


class NormsOfAConfig(nn.Module):
    docfg: Config

    @nn.compact
    def __call__(self, x):
        cfg = self.docfg
        y = cfg.make_norm()(x)
        y = nn.Dense(x.shape[-1])(y)
        z = cfg.make_norm()(x + y)
        return cfg.make_dense(2)(z)


class NormOfSetup(nn.Module):
    config: Optional[Config] = None

    def setup(self):
        self.blocks = [NormsOfAConfig(self.config) for _ in range(2)]
        self.norm = self.config.make_norm()
        self.head = self.config.make_dense(3, use_bias=False)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class OfAnObjectWithin(nn.Module):
    config: Config | None

    @nn.compact
    def __call__(self, x):
        return self.config.inner.make(name="last")(self.config.inner.make()(x))


CASES = [
    ("NormsOfAConfig", {"docfg": Config()}, [(3, 4)], {}),
    ("NormsOfAConfig", {"docfg": Config(normalization="group")}, [(3, 4)], {}),
    ("NormOfSetup", {"config": Config()}, [(3, 4)], {}),
    ("NormOfSetup", {"config": Config(normalization="group", groups=4)}, [(3, 4)], {}),
    ("OfAnObjectWithin", {"config": Config()}, [(3, 4)], {}),
]
