"""Functions that make one of several modules for their caller, by what they are given."""

import flax.linen as nn
import jax.numpy as jnp
def make(kind, eps):
  if kind == 'layer':
    return nn.LayerNorm(epsilon=eps)
  elif kind == 'rms':
    return nn.RMSNorm(epsilon=eps)
  else:
    raise ValueError(kind)
class A(nn.Module):
  kind: str = 'layer'
  @nn.compact
  def __call__(self, x):
    x = make(self.kind, 1e-3)(x)
    x = nn.Dense(4)(x)
    return make(self.kind, 1e-4)(x)
def norm(type, *args, **kwargs):
  if type == 'rms':
    return nn.RMSNorm(*args, **kwargs)
  elif type == 'layer':
    return nn.LayerNorm(*args, **kwargs)
  else:
    raise ValueError(type)
class B(nn.Module):
  kind: str = 'layer'
  @nn.compact
  def __call__(self, x):
    x = norm(self.kind, epsilon=1e-3, dtype=jnp.float32)(x)
    x = nn.Dense(4)(x)
    return norm(self.kind, epsilon=1e-4, name='last')(x)
class E(nn.Module):
  kind: str = 'layer'
  def setup(self):
    self.dense = nn.Dense(4)
    self.norm = make(self.kind, 1e-3)
    self.other = norm(self.kind, epsilon=1e-3)
  def __call__(self, x):
    return self.other(self.norm(self.dense(x)))
class Scaled(nn.Module):
  """A norm of the project's own, with a flag for the call."""
  features: int
  train: bool | None = None
  @nn.compact
  def __call__(self, x, train: bool | None = None):
    train = nn.merge_param("train", self.train, train)
    return x * self.param("scale", nn.initializers.ones, (self.features,)) * (2.0 if train else 1.0)


def by_mode(kind, features, *, is_training, axis=-1):
  """Flags of the call, an argument that only one of them takes, and an early return."""
  if kind == "none":
    raise ValueError(kind)
  if kind == "batch":
    return nn.BatchNorm(use_running_average=not is_training, axis=axis, momentum=0.9)
  elif kind == "own":
    return Scaled(features, train=is_training)
  return nn.GroupNorm(num_groups=features // 2)


class F(nn.Module):
  kind: str = "batch"
  width: int = 4
  @nn.compact
  def __call__(self, x, train: bool = False):
    x = nn.Dense(self.width)(x)
    x = by_mode(self.kind, self.width, is_training=train)(x)
    for i in range(2):
      x = nn.Dense(2 * self.width)(x)
      x = by_mode(self.kind, 2 * self.width, is_training=train)(x)
    fixed = by_mode("own", features=2 * self.width, is_training=train)
    return fixed(x)


KINDS = ("layer", "rms")
CASES = [(c, {"kind": k}, [(2, 3)], {}) for c in "ABE" for k in KINDS]
CASES += [("F", {"kind": k}, [(2, 3)], {"train": t}) for k in ("batch", "own", "group") for t in (False, True)]
