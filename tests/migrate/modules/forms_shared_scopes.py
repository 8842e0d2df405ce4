"""`nn.share_scope(self, module)`: what a submodule makes is stored as the module's own; `CASES` as in forms_basic."""

import flax.linen as nn
import jax.numpy as jnp


class Einsum(nn.Module):
  shape: tuple
  weight_name: str = 'w'

  @nn.compact
  def __call__(self, eqn, x):
    w = self.param(self.weight_name, nn.initializers.normal(0.5), self.shape)
    return jnp.einsum(eqn, x, w)


class FeedForward(nn.Module):
  """Two submodules whose parameters stand side by side."""

  features: int
  hidden: int
  turned: bool = False

  @nn.compact
  def __call__(self, x):
    if self.turned:
      eq = '...F,NHF->...NH'
      gating = Einsum(shape=(2, self.hidden, self.features), weight_name='gating')
    else:
      eq = '...F,NFH->...NH'
      gating = Einsum(shape=(2, self.features, self.hidden), weight_name='gating')

    # The names of old checkpoints.
    nn.share_scope(self, gating)

    gate = gating(eq, x)
    y = nn.gelu(gate[..., 0, :]) * gate[..., 1, :]
    linear = Einsum(shape=(self.hidden, self.features), weight_name='linear')
    nn.share_scope(self, linear)
    return linear('...H,HF->...F', y)


class Inner(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, name='first')(x)
    return x * self.param('scale', nn.initializers.normal(), (4,))


class Wrapped(nn.Module):
  def setup(self):
    self.inner = Inner()
    nn.share_scope(self, self.inner)
    self.last = nn.Dense(3)

  def __call__(self, x):
    return self.last(self.inner(x))


class Layers(nn.Module):
  """A layer of Linen's own, which has statistics, below others."""

  @nn.compact
  def __call__(self, x):
    norm = nn.BatchNorm(use_running_average=False)
    nn.share_scope(self, norm)
    return nn.Dense(3)(norm(x))


class Sometimes(nn.Module):
  """Linen makes variables for what is called."""

  normalize: bool = True

  @nn.compact
  def __call__(self, x):
    norm = nn.LayerNorm()
    nn.share_scope(self, norm)
    if not self.normalize:
      return x
    return norm(x)


class SometimesOfSetup(nn.Module):
  normalize: bool = True

  def setup(self):
    self.norm = nn.LayerNorm()
    nn.share_scope(self, self.norm)

  def __call__(self, x):
    return self.norm(x) if self.normalize else x


class Derived(Sometimes):
  @nn.compact
  def __call__(self, x):
    return nn.tanh(super().__call__(x))


class Stack(nn.Module):
  depth: int = 2

  @nn.compact
  def __call__(self, x):
    for _ in range(self.depth):
      x = x + FeedForward(4, 6)(x)
    return Layers()(Wrapped()(FeedForward(4, 5, True, name='last')(x)))


CASES = [
  ('FeedForward', {'features': 4, 'hidden': 6}, [(2, 4)], {}),
  ('FeedForward', {'features': 4, 'hidden': 6, 'turned': True}, [(2, 5, 4)], {}),
  ('Wrapped', {}, [(2, 4)], {}),
  ('Layers', {}, [(5, 4)], {}),
  ('Stack', {}, [(5, 4)], {}),
  ('Sometimes', {'normalize': False}, [(5, 4)], {}),
  ('SometimesOfSetup', {'normalize': False}, [(5, 4)], {}),
  ('SometimesOfSetup', {}, [(5, 4)], {}),
  ('Derived', {}, [(5, 4)], {}),
  ('Derived', {'normalize': False}, [(5, 4)], {}),
]
