"""Config objects that a module makes for its parts, by their constructor, a copy or `dataclasses.replace`."""

import copy
import dataclasses
from dataclasses import dataclass, field
import flax.linen as nn
import jax.numpy as jnp

@dataclass
class Parallel:
  axis: str = "x"

@dataclass
class InnerConfig:
  size: int = 4
  bias: bool = True
  dtype: str = "float32"
  parallel: Parallel = field(default_factory=Parallel)
  @property
  def _dtype(self):
    return getattr(jnp, self.dtype)

@dataclass
class Config:
  size: int = 4
  bias: bool = True
  dtype: str = "float32"
  parallel: Parallel = field(default_factory=Parallel)
  inner: InnerConfig = field(default_factory=InnerConfig)
  @property
  def _dtype(self):
    return getattr(jnp, self.dtype)

class Inner(nn.Module):
  config: InnerConfig
  @nn.compact
  def __call__(self, x, train: bool = False):
    return nn.Dense(self.config.size, use_bias=self.config.bias, dtype=self.config._dtype)(x)

class Handed(nn.Module):
  config: Config
  train: bool = False
  @nn.compact
  def __call__(self, x):
    x = nn.RMSNorm(name="pre", dtype=self.config._dtype)(x)
    cfg = InnerConfig(size=self.config.size, bias=self.config.bias, dtype=self.config.dtype, parallel=self.config.parallel)
    x = Inner(config=cfg, name="inner")(x, train=self.train)
    return nn.Dense(2)(x)

class Copied(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    cfg = copy.deepcopy(self.config.inner)
    cfg.size = self.config.size
    return Inner(cfg)(x)

class Replaced(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    cfg = dataclasses.replace(self.config.inner, size=self.config.size)
    return Inner(cfg)(x)

class InSetup(nn.Module):
  config: Config
  def setup(self):
    cfg = dataclasses.replace(self.config.inner, size=self.config.size)
    self.a = Inner(cfg)
    cfg2 = copy.deepcopy(self.config.inner)
    cfg2.size = 7
    self.b = Inner(cfg2)
  def __call__(self, x):
    return self.b(self.a(x))

class Inside(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    cfg = InnerConfig(size=self.config.size, bias=self.config.bias)
    x = Inner(cfg)(x)
    return nn.Dense(cfg.size)(x)

class CopiedInLoop(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      cfg = copy.deepcopy(self.config.inner)
      cfg.size = self.config.size + i
      x = Inner(cfg, name=f"i_{i}")(x)
    return x

class Defaults(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    cfg = InnerConfig(bias=self.config.bias)
    x = Inner(cfg)(x)
    x = nn.Dense(cfg.size, dtype=cfg._dtype)(x)
    return nn.Dense(cfg.size, use_bias=cfg.bias, name=cfg.parallel.axis)(x)

class Kept(nn.Module):
  config: Config
  def setup(self):
    cfg = InnerConfig(size=self.config.size, bias=self.config.bias)
    self.a = Inner(cfg)
    self.cfg = cfg
    self.out = nn.Dense(self.cfg.size)
  def __call__(self, x):
    return self.out(self.a(x)) * self.cfg.size

class MadeInLoop(nn.Module):
  config: Config
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      cfg = InnerConfig(size=self.config.size + i, bias=i > 0)
      x = Inner(cfg, name=f"i_{i}")(x)
    return x

class Chosen(nn.Module):
  config: Config
  deep: bool = True
  @nn.compact
  def __call__(self, x):
    if self.deep:
      cfg = InnerConfig(size=self.config.size)
    else:
      cfg = InnerConfig(size=2, bias=False)
    return nn.Dense(cfg.size)(Inner(cfg)(x))

CASES = [
  *[(name, {"config": Config()}, [(2, 3)], {}) for name in (
    "Handed", "Copied", "Replaced", "InSetup", "Inside", "CopiedInLoop", "Defaults", "Kept", "MadeInLoop", "Chosen",
  )],
  ("Handed", {"config": Config(7, False)}, [(2, 3)], {}),
  ("Chosen", {"config": Config(), "deep": False}, [(2, 3)], {}),
]
