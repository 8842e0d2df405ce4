"""Modules that a parent makes under a condition and hands to its parts, which make their own where it is None; `CASES`
as in forms_basic."""
import dataclasses
from typing import Any
import flax.linen as nn
import jax, jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Config:
  vocab: int = 11
  width: int = 8
  shared: bool = True

class Half(nn.Module):
  config: Config
  embedding: Any = None
  @nn.compact
  def __call__(self, ids):
    config = self.config
    if self.embedding is None:
      embed = nn.Embed(config.vocab, config.width, name='own')
    else:
      embed = self.embedding
    x = embed(ids)
    x = nn.Dense(config.width)(x)
    return nn.LayerNorm()(x)

class Second(nn.Module):
  config: Config
  embedding: Any = None
  @nn.compact
  def __call__(self, encoded, ids):
    config = self.config
    if self.embedding is None:
      embed = nn.Embed(config.vocab, config.width, name='own')
    else:
      embed = self.embedding
    x = embed(ids)
    x = x + nn.Dense(x.shape[-1], name='mix')(encoded)
    x = nn.LayerNorm()(x)
    return nn.Dense(3)(x) + jnp.mean(embed.attend(x))

class Pair(nn.Module):
  config: Config = Config()
  def setup(self):
    config = self.config
    if config.shared:
      self.embedding = nn.Embed(config.vocab, config.width)
    else:
      self.embedding = None
    self.first = Half(config=config, embedding=self.embedding)
    self.second = Second(config=config, embedding=self.embedding)
  def encode(self, ids):
    return self.first(ids)
  def __call__(self, ids, targets):
    return self.second(self.encode(ids), targets)

CASES=[('Pair',{},[[[1,2,3]],[[4,5,6]]],{}),('Pair',{'config':Config(shared=False)},[[[1,2,3]],[[4,5,6]]],{})]
