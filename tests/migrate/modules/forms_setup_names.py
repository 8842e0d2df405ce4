"""Attributes of setup whose modules and variables have names of their own: Linen stores them under these."""
import jax.numpy as jnp
from flax import linen as nn


class Named(nn.Module):
    def setup(self):
        self.first = nn.Dense(4, name='dense')
        self.weight = self.param('scale', nn.initializers.ones, (4,))
        self.blocks = [nn.Dense(4, name=f'block_{i}') for i in range(2)]
        self.kept = nn.Dense(4, name='kept')
        self.plain = nn.Dense(4, name=f'constant')
        self.counter = self.variable('stats', 'count', lambda: jnp.zeros(()))

    def __call__(self, x):
        x = self.kept(self.first(x)) * self.weight + self.counter.value
        for block in self.blocks:
            x = block(x)
        return self.plain(x) + self.first.features


class Numbers(nn.Module):
    """Names that no attribute can be spelled as."""

    def setup(self):
        self.reduce = nn.Dense(3, name='0')
        self.expand = nn.Dense(4, name='2')

    def __call__(self, x):
        return self.expand(nn.relu(self.reduce(x)))


class Outer(nn.Module):
    def setup(self):
        self.inner = Numbers(name='se')
        self.items = [nn.Dense(2, name='items_0'), nn.Dense(2, name='items_1')]

    def __call__(self, x):
        x = self.inner(x)
        return self.items[0](x) + self.items[1](x)


NUMBERED = ('Outer',)  # see test_forms
class OneOfTwoNamed(nn.Module):
  kind: str = 'ln'

  def setup(self):
    self.b = nn.LayerNorm(name='other') if self.kind == 'ln' else nn.RMSNorm(name='other')

  def __call__(self, x):
    return self.b(x)


CASES = [
    ('OneOfTwoNamed', {}, [(2, 3)], {}),
    ('OneOfTwoNamed', {'kind': 'rms'}, [(2, 3)], {}),('Named', {}, [(2, 3)], {}), ('Numbers', {}, [(2, 4)], {}), ('Outer', {}, [(2, 4)], {})]
