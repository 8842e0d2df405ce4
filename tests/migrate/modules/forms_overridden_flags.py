"""Flags of a partial that a call overrides, and flags of modules that are called together; `CASES` as in forms_basic."""
import functools
from typing import Any, Optional
import jax.numpy as jnp
from flax import linen as nn

class FrozenLast(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.8)
    x = norm()(x)
    x = x + norm(scale_init=nn.initializers.zeros)(x)
    return norm(use_running_average=True, momentum=0.5)(x)

class FrozenPartial(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.8)
    frozen = functools.partial(norm, use_running_average=True)
    return frozen()(norm()(x))

class OtherFlag(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True, frozen: bool = True):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.8)
    return norm()(norm(use_running_average=frozen)(x))

class GivenNorm(nn.Module):
  norm: Any
  @nn.compact
  def __call__(self, x):
    x = self.norm()(nn.Dense(8)(x))
    return self.norm(use_running_average=True)(x)

class GivesNorm(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.8)
    return GivenNorm(norm)(x)

class InSequential(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    norm = functools.partial(nn.BatchNorm, use_running_average=not train)
    return nn.Sequential([
        nn.Dense(4), norm(), nn.relu, nn.Dropout(0.5, deterministic=True), nn.BatchNorm(not train, momentum=0.8),
        nn.Dense(3)])(x)

class DropInSequential(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    return nn.Sequential([nn.Dense(4), nn.Dropout(0.5, deterministic=deterministic), nn.Dense(3)])(x)

class Merged(nn.Module):
  deterministic: Optional[bool] = None
  @nn.compact
  def __call__(self, x, deterministic: Optional[bool] = None):
    deterministic = nn.merge_param('deterministic', self.deterministic, deterministic)
    return nn.Dropout(0.5)(nn.Dense(4)(x), deterministic=deterministic)

class MergedInSequential(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    return nn.Sequential([nn.Dense(4), Merged(deterministic=deterministic), nn.Dense(3)])(x)

class EitherNorm(nn.Module):
  batch: bool = True
  @nn.compact
  def __call__(self, x, train: bool = True):
    if self.batch:
      norm = nn.BatchNorm(use_running_average=not train)
    else:
      norm = nn.LayerNorm()
    return norm(x)

class LoopOfKinds(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic: bool = True):
    for layer in [nn.Dense(4), nn.Dropout(0.5, deterministic=deterministic)]:
      x = layer(x)
    return x

BATCH = 'FrozenLast FrozenPartial OtherFlag GivesNorm InSequential EitherNorm'.split()
CASES = [(n, {}, [(4, 8)], {'train': t}) for n in BATCH for t in (True, False)]
CASES += [(n, {}, [(4, 8)], {}) for n in 'DropInSequential MergedInSequential LoopOfKinds'.split()]
CASES += [('EitherNorm', {'batch': False}, [(4, 8)], {}), ('OtherFlag', {}, [(4, 8)], {'frozen': False})]
