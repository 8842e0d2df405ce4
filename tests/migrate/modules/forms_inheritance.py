"""Classes that build on classes: setup and compact bases, mixins, super(), generics; `CASES` as in forms_basic."""
from typing import Generic, TypeVar
import flax.linen as nn
import jax, jax.numpy as jnp

class Base(nn.Module):
  d: int = 4
  def setup(self):
    self.l = nn.Dense(self.d)
  def __call__(self, x):
    return self.act(self.l(x))
  def act(self, x):
    return x

class More(Base):      # adds a field, inherits setup
  k: float = 2.0
  def act(self, x):
    return x * self.k

class Both(Base):      # super().setup()
  e: int = 3
  def setup(self):
    super().setup()
    self.m = nn.Dense(self.e)
  def __call__(self, x):
    return self.m(super().__call__(x))

class Pre(Base):       # the base's submodule sees another size
  e: int = 3
  def setup(self):
    super().setup()
    self.pre = nn.Dense(self.e)
  def __call__(self, x):
    return super().__call__(self.pre(x))

class Wider(Base):     # only another default
  d: int = 6

class CBase(nn.Module):
  d: int = 4
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(self.d)(x)
    return self.head(x)
  def head(self, x):
    return nn.Dense(2, name='top')(x)

class CMore(CBase):
  k: float = 1.0
  def head(self, x):
    return nn.Dense(3, name='top')(x) * self.k

class CSuper(CBase):
  @nn.compact
  def __call__(self, x):
    y = super().__call__(x)
    return nn.Dense(5, name='last')(y) + x.sum()

class Mixin:
  def scaled(self, x):
    return x * 2

class WithMixin(Mixin, CBase):
  def head(self, x):
    return self.scaled(nn.Dense(2, name='top')(x))

class Third(Both):     # a constructor on a constructor on a constructor
  f: int = 2
  def setup(self):
    super().setup()
    self.n = nn.Dense(self.f)
  def __call__(self, x):
    return self.n(super().__call__(x))

T = TypeVar('T')
class Gen(nn.Module, Generic[T]):
  d: int = 2
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.d)(x)

class Table(nn.Module):     # setup makes no submodule, but what the methods read
  n: int = 4
  kind: str = 'even'
  def setup(self):
    if self.kind == 'even':
      self.table = jnp.linspace(0., 1., self.n + 1)
    else:
      self.table = jnp.ones((self.n + 1,))
  def __call__(self, x):
    return jnp.digitize(x, self.table)

class TableMore(Table):
  keys: tuple = ('a',)
  def __call__(self, x):
    return super().__call__(x) + len(self.keys)

class TableSame(Table):
  def __call__(self, x):
    return super().__call__(x) * 2

class TableCompact(Table):
  keys: int = 3
  def head(self, x):
    return x * self.table[-1] + self.table.shape[0]
  def __call__(self, x):
    return self.head(x) + self.keys


class Configured:
  """No module itself; its class method makes whole models."""

  @classmethod
  def from_config(cls, config):
    return cls(**config)


class OfAConfig(Configured, nn.Module):
  width: int = 3

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


CASES=[('Table',{},[(2,3)],{}),('TableMore',{},[(2,3)],{}),('TableMore',dict(kind='odd'),[(2,3)],{}),('TableSame',{},[(2,3)],{}),('TableCompact',{},[(2,3)],{}),
       ('Base',{},[(2,3)],{}),('More',{},[(2,3)],{}),('Both',{},[(2,3)],{}),('Pre',{},[(2,3)],{}),('Wider',{},[(2,3)],{}),('CBase',{},[(2,3)],{}),('CMore',dict(k=3.0),[(2,3)],{}),
('CSuper',{},[(2,3)],{}),('WithMixin',{},[(2,3)],{}),('Third',dict(f=5),[(2,3)],{}),('Gen',{},[(2,3)],{}),('OfAConfig',dict(width=2),[(2,3)],{})]
