"""Modules of which a field says whether there is one or a stack of them; `CASES` as in forms_basic."""

import flax.linen as nn
import jax.numpy as jnp


class Mlp(nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x, scale=1.0):
    return nn.Dense(self.width)(x) * scale


class Drop(nn.Module):
  width: int = 3
  off: bool = True
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5)(nn.Dense(self.width)(x), deterministic=self.off)


class Cell(nn.Module):
  width: int = 5
  @nn.compact
  def __call__(self, carry, x):
    carry = nn.tanh(nn.Dense(self.width)(carry) + nn.Dense(self.width)(x))
    return carry, carry


def ensemblize(cls, count, out_axes=0, **kwargs):
  return nn.vmap(
    cls, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, out_axes=out_axes, axis_size=count, **kwargs
  )


class InCompact(nn.Module):
  ensemble: bool = True
  @nn.compact
  def __call__(self, x):
    block = Mlp
    if self.ensemble:
      block = ensemblize(block, 2)
    return block(4)(x)


class NamedInCompact(nn.Module):
  ensemble: bool = True
  @nn.compact
  def __call__(self, x):
    block = ensemblize(Mlp, 2) if self.ensemble else Mlp
    y = block(4, name='value')(x)
    return y.sum()


class InSetup(nn.Module):
  ensemble: bool = True
  def setup(self):
    block = Mlp
    if self.ensemble:
      block = ensemblize(block, 2)
    value = block((4), )
    self.value = value
  def __call__(self, x):
    return self.value(x).squeeze()


class TwoStacks(nn.Module):
  ensemble: bool = True
  def setup(self):
    block = Mlp
    if self.ensemble:
      block = ensemblize(block, 3)
    self.phi = block(4)
    self.psi = block(width=4)
  def __call__(self, x, y):
    return (self.phi(x) * self.psi(y)).sum(-1) + self.phi(x, 2.0)[..., 0]


class CalledOnOneLine(nn.Module):
  ensemble: bool = True
  def setup(self):
    block = ensemblize(Mlp, 3) if self.ensemble else Mlp
    self.a = block(4)
  def __call__(self, x, y):
    if y.ndim > 1: return self.a(x) + self.a(y)
    return self.a(y)


class ByItsNumber(nn.Module):
  count: int = 2
  def setup(self):
    if self.count > 1:
      block = nn.vmap(Mlp, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=self.count)
    else:
      block = Mlp
    self.q = block(width=4)
  def __call__(self, x):
    v = self.q(jnp.tanh(x))
    return v.mean(0) if self.count > 1 else v


class MadeUnderAnIf(nn.Module):
  ensemble: bool = True
  count: int = 2
  def setup(self):
    if self.ensemble:
      self.q = ensemblize(Mlp, self.count)(4)
    else:
      self.q = Mlp(4)
  def __call__(self, x):
    return self.q(x).mean(-1) + self.q(x)[..., 0]


class MadeUnderAnIfNot(nn.Module):
  single: bool = True
  def setup(self):
    if self.single:
      self.q = Mlp(4)
    else:
      self.q = ensemblize(Mlp, 2, out_axes=-1)(4)
  def __call__(self, x):
    return self.q(x)


class MappedArgument(nn.Module):
  apart: bool = True
  def setup(self):
    if self.apart:
      block = nn.vmap(Mlp, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0, axis_size=2)
    else:
      block = Mlp
    self.q = block(4)
  def __call__(self, x):
    return self.q(x)


class WithDropout(nn.Module):
  count: int = 2
  @nn.compact
  def __call__(self, x):
    block = ensemblize(Drop, 3) if self.count > 2 else Drop
    return block(5)(x)


class InALoop(nn.Module):
  count: int = 2
  @nn.compact
  def __call__(self, x):
    block = ensemblize(Mlp, 3) if self.count > 2 else Mlp
    for _ in range(2):
      x = block(5)(x)
    return x


class InAMethod(nn.Module):
  count: int = 2
  def setup(self):
    block = ensemblize(Mlp, 3) if self.count > 2 else Mlp
    self.a = block(5)
  def q(self, x):
    return self.a(x)
  def __call__(self, x):
    return self.q(x) + self.q(x * 2)


class AStackTwiceInALine(nn.Module):
  """Each call has a function of its own: they close over what they are given."""
  def setup(self):
    self.a = ensemblize(Mlp, 3)(5)
  def __call__(self, x, y):
    z = self.a(x) - self.a(y) if x.ndim > 1 else self.a(x, 7.0)
    for i in range(2): z = z + self.a(x) - self.a(x, float(i))
    return self.a(x) + self.a(y), self.a(x, 2.0), self.a(self.a(x)), self.a(x), z


class StacksInAList(nn.Module):
  def setup(self):
    self.a = [ensemblize(Mlp, 3)(5), ensemblize(Mlp, 2)(5)]
  def __call__(self, x, y):
    return self.a[0](x).sum(0) + self.a[1](y).sum(0)


class Scanned(nn.Module):
  scanned: bool = True
  def setup(self):
    block = Cell
    if self.scanned:
      block = nn.scan(block, variable_broadcast='params', split_rngs={'params': False}, in_axes=0, out_axes=0)
    self.cell = block()
  def __call__(self, carry, x):
    return self.cell(carry, x)


CASES = [
  *[(name, dict(ensemble=e), [(2, 5)], {}) for name in ('InCompact', 'NamedInCompact', 'InSetup', 'MadeUnderAnIf') for e in (True, False)],
  *[(name, dict(ensemble=e), [(2, 5), (2, 5)], {}) for name in ('TwoStacks', 'CalledOnOneLine') for e in (True, False)],
  ('ByItsNumber', dict(count=1), [(2, 5)], {}),
  ('ByItsNumber', dict(count=3), [(2, 5)], {}),
  ('MadeUnderAnIfNot', dict(single=True), [(2, 5)], {}),
  ('MadeUnderAnIfNot', dict(single=False), [(2, 5)], {}),
  ('MappedArgument', dict(apart=True), [(2, 5)], {}),
  ('MappedArgument', dict(apart=False), [(2, 5)], {}),
  *[(name, dict(count=n), [(2, 5)], {}) for name in ('WithDropout', 'InALoop', 'InAMethod') for n in (2, 3)],
  ('AStackTwiceInALine', {}, [(2, 5), (2, 5)], {}),
  ('StacksInAList', {}, [(2, 5), (2, 6)], {}),
  ('Scanned', dict(scanned=True), [(2, 5), (3, 2, 4)], {}),
  ('Scanned', dict(scanned=False), [(2, 5), (2, 4)], {}),
]
