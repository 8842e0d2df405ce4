"""Arrays that are there by what `config = self.config` says, and loops that go on with them; `CASES` as in forms_basic."""

import types
from typing import Any
import jax.numpy as jnp
from flax import linen as nn


def config(**model):
  return types.SimpleNamespace(model=types.SimpleNamespace(**model))


class Block(nn.Module):
  features: int | None = None
  @nn.compact
  def __call__(self, x, emb=None, train=True):
    features = self.features if self.features else x.shape[-1]
    h = nn.Conv(features, (3, 3))(x)
    if emb is not None:
      h += nn.Dense(features)(emb)[:, None, None, :]
    return nn.relu(h)


class Once(nn.Module):
  config: Any
  @nn.compact
  def __call__(self, x, labels):
    config = self.config
    nf = config.model.nf
    if config.model.conditional:
      emb = nn.Dense(nf * 4)(labels)
    else:
      emb = None
    return Block(5)(x, emb)


class Levels(nn.Module):
  config: Any
  @nn.compact
  def __call__(self, x, labels, train=True):
    config = self.config
    nf = config.model.nf
    widths = config.model.widths
    levels = len(widths)
    if config.model.conditional:
      emb = nn.Dense(nf)(labels)
      emb = nn.Dense(nf * 2)(nn.relu(emb))
    else:
      emb = None
    hs = [nn.Conv(nf, (3, 3))(x)]
    for level in range(levels):
      for _ in range(2):
        h = Block(nf * widths[level])(hs[-1], emb, train)
        if h.shape[1] in config.model.sizes:
          h = h + nn.Dense(h.shape[-1])(h)
        hs.append(h)
      if level != levels - 1:
        hs.append(nn.avg_pool(hs[-1], (2, 2), (2, 2)))
    h = Block()(hs[-1], emb, train)
    for level in reversed(range(levels)):
      for _ in range(3):
        h = Block(nf * widths[level])(jnp.concatenate([h, hs.pop()], axis=-1), emb, train)
      if level != 0:
        h = jnp.repeat(jnp.repeat(h, 2, axis=1), 2, axis=2)
    return nn.Conv(x.shape[-1], (3, 3))(h)


class Renamed(nn.Module):
  config: Any
  @nn.compact
  def __call__(self, x, labels):
    config = self.config
    if config.model.conditional:
      emb = nn.Dense(6)(labels)
    else:
      emb = None
    config = 4
    h = Block(config)(x, emb)
    return h


WITH = dict(config=config(nf=4, widths=(1, 2), conditional=True, sizes=(4,)))
WITHOUT = dict(config=config(nf=4, widths=(1, 2, 2), conditional=False, sizes=(8, 2)))
CASES: list[Any] = [
    ('Once', WITH, [(2, 8, 8, 3), (2, 5)], dict()),
    ('Once', WITHOUT, [(2, 8, 8, 3), (2, 5)], dict()),
    ('Levels', WITH, [(2, 8, 8, 3), (2, 5)], dict()),
    ('Levels', WITHOUT, [(2, 8, 8, 3), (2, 5)], dict()),
    ('Renamed', WITH, [(2, 8, 8, 3), (2, 5)], dict()),
    ('Renamed', WITHOUT, [(2, 8, 8, 3), (2, 5)], dict()),
]
