"""Seldom constructs next to those that are understood: such classes stay Linen, with the code that says why."""

HEAD = "from typing import Any\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"

REFUSED = {
    "a class that contains itself, whose result decides sizes": (
        "NNX150",
        """class M(nn.Module):
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    h = nn.Dense(4)(x)
    if self.depth > 0:
      h = M(self.depth - 1, name='sub')(h)
    return nn.Dense(x.shape[-1])(h)
""",
    ),
    "an initializer that is none by its parameters and makes a box": (
        "NNX181",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    init = nn.initializers.normal()
    w = self.param('w', lambda *given: nn.Partitioned(init(*given), ('data', None)), (x.shape[-1], 4))
    return x @ w
""",
    ),
    "an initializer of the file that makes a box itself": (
        "NNX181",
        """def boxed(key, shape, dtype=jnp.float32):
  return nn.LogicallyPartitioned(nn.initializers.normal()(key, shape, dtype), ('embed', 'mlp'))


class M(nn.Module):
  kernel_init: Any = boxed
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4, kernel_init=self.kernel_init)(x)
""",
    ),
    "a layer's subclass that is asked for by its layer": (
        "NNX160",
        """def is_dense(module):
  return isinstance(module, (nn.Conv, nn.Dense))


class M(nn.Dense):
  @nn.compact
  def __call__(self, x):
    return x @ self.param('kernel', self.kernel_init, (x.shape[-1], self.features))
""",
    ),
    "a method of the layer that the class does not replace": (
        "NNX160",
        """class M(nn.Embed):
  def setup(self):
    self.embedding = self.param('embedding', self.embedding_init, (self.num_embeddings, self.features))
  def __call__(self, t):
    return self.attend(self.embedding[t])
""",
    ),
    "fields of a dataclass that code asks for": (
        "NNX160",
        """import dataclasses


@dataclasses.dataclass
class Sizes:
  dim: int = 4


def width(module):
  return module.dim if isinstance(module, Sizes) else 0


class M(Sizes, nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim)(x)
""",
    ),
    "fields of a dataclass that the class says anew": (
        "NNX160",
        """import dataclasses


@dataclasses.dataclass
class Sizes:
  dim: int = 4
  more: int = 2


class M(Sizes, nn.Module):
  dim: int = 8

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim + self.more)(x)
""",
    ),
    "fields of a frozen dataclass": (
        "NNX160",
        """import dataclasses


@dataclasses.dataclass(frozen=True)
class Sizes:
  dim: int = 4


class M(Sizes, nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim)(x)
""",
    ),
    "an initializer of setup that reads a parameter": (
        "NNX111",
        """class M(nn.Module):
  def setup(self):
    scale = self.param('scale', nn.initializers.ones, (4,))
    def init(key, shape):
      return jnp.ones(shape) * scale
    self.table = self.param('table', nn.with_partitioning(init, (None, 'data')), (2, 4))
  def __call__(self, x):
    return x + self.table.sum(0)
""",
    ),
    "a name that a condition may leave as it was": (
        "NNX113",
        """class M(nn.Module):
  use: bool = True
  width: Any = None
  @nn.compact
  def __call__(self, x):
    w = 7
    if self.use and (w := self.width):
      x = nn.Dense(w)(x)
    return nn.Dense(w or 3)(x)
""",
    ),
    "a table that Linen makes beside those of the class": (
        "NNX160",
        """class M(nn.Embed):
  @nn.compact
  def __call__(self, t):
    return nn.Embed(self.num_embeddings, self.features)(t)
""",
    ),
    "a table of its own that the layer attends to": (
        "NNX111",
        """class M(nn.Embed):
  def setup(self):
    self.embedding = self.param('embedding', self.embedding_init, (self.num_embeddings + 2, self.features))
  def __call__(self, t):
    return super().attend(super().__call__(t + 2))
""",
    ),
    "a table of its own under a condition": (
        "NNX111",
        """class M(nn.Embed):
  more: int = 0
  def setup(self):
    if self.more:
      self.embedding = self.param('embedding', self.embedding_init, (self.num_embeddings + self.more, self.features))
    else:
      super().setup()
  def __call__(self, t):
    return super().__call__(t + self.more)
""",
    ),
    "what the layer's own setup makes": (
        "NNX160",
        """class M(nn.Embed):
  def __call__(self, t):
    return self.embedding[t]
""",
    ),
    "a scope that is shared under a condition": (
        "NNX131",
        """class M(nn.Module):
  flat: bool = True
  @nn.compact
  def __call__(self, x):
    dense = nn.Dense(3)
    if self.flat:
      nn.share_scope(self, dense)
    return dense(x)
""",
    ),
    "a scope that is shared after the module was called": (
        "NNX131",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    dense = nn.Dense(3)
    y = dense(x)
    nn.share_scope(self, dense)
    return y
""",
    ),
    "the scope of a module that is handed in": (
        "NNX131",
        """class M(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    nn.share_scope(self, self.inner)
    return self.inner(x)
class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Dense(3))(x)
""",
    ),
    "the scope of one of a list": (
        "NNX131",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      dense = nn.Dense(3, name=f'd{i}')
      nn.share_scope(self, dense)
      x = dense(x)
    return x
""",
    ),
    "the scope of a module that sows": (
        "NNX131",
        """class Inner(nn.Module):
  @nn.compact
  def __call__(self, x):
    self.sow('intermediates', 'h', x)
    return nn.Dense(3)(x)
class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    inner = Inner()
    nn.share_scope(self, inner)
    return inner(x)
""",
    ),
    "a variable under a computed name": (
        "NNX147",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, key: str = 'a'):
    self.put_variable('cache', f'{key}_seen', x)
    return nn.Dense(3)(x)
""",
    ),
    "statistics that a call would make": (
        "NNX147",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    self.put_variable('batch_stats', 'mean', x.mean(0))
    return nn.Dense(3)(x)
""",
    ),
    "a cache that is put in a loop": (
        "NNX147",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      self.put_variable('cache', 'mean', x.mean(0))
    return nn.Dense(3)(x)
""",
    ),
    "a random stream that the call names": (
        "NNX144",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, stream: str = 'noise'):
    return nn.Dense(3)(x) + jax.random.normal(self.make_rng(stream), ())
""",
    ),
    "a random stream that may be there": (
        "NNX148",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=not self.has_rng('dropout'))(x)
""",
    ),
    "a __post_init__ that gives the module to a function": (
        "NNX173",
        """def widen(module):
  object.__setattr__(module, 'width', 7)
class M(nn.Module):
  width: int = 3
  def __post_init__(self):
    super().__post_init__()
    widen(self)
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "a __post_init__ that hands the module on": (
        "NNX173",
        """def widen(module):
  object.__setattr__(module, 'width', 7)
class M(nn.Module):
  width: int = 3
  def __post_init__(self):
    super().__post_init__()
    print(widen(self))
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "the carry of a cell whose features change": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, n: int = 3):
    n = n + 1
    cell = nn.GRUCell(n)
    return nn.Dense(3)(x) + cell.initialize_carry(jax.random.key(0), x.shape)
""",
    ),
    "a carry whose key is drawn": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) + nn.GRUCell(3).initialize_carry(self.make_rng('params'), x.shape)
""",
    ),
    "a cell behind a loop in which others are asked for their carries": (
        "NNX153",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      x = x + nn.GRUCell(3).initialize_carry(jax.random.key(0), x.shape)
    return nn.GRUCell(3)(x, x)[1]
""",
    ),
    "a cell in the loop in which others are asked for their carries": (
        "NNX153",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      _, x = nn.GRUCell(3)(x, x)
      x = x + nn.GRUCell(3).initialize_carry(jax.random.key(0), x.shape)
    return x
""",
    ),
    "a cell of one of two kinds behind one of them that is asked only": (
        "NNX163",
        """class M(nn.Module):
  cell: Any
  @nn.compact
  def __call__(self, x):
    carry = nn.GRUCell(3).initialize_carry(jax.random.key(0), x.shape)
    return self.cell(3)(carry, x)[1]


class Both(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.GRUCell)(M(nn.SimpleCell)(x))
""",
    ),
    "cells in a loop behind one that is asked only": (
        "NNX153",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    carry = nn.GRUCell(3).initialize_carry(jax.random.key(0), x.shape)
    for _ in range(2):
      carry, x = nn.GRUCell(3)(carry, x)
    return x
""",
    ),
    "a carry of random numbers": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    cell = nn.GRUCell(3, carry_init=nn.initializers.normal())
    return nn.Dense(3)(x) + cell.initialize_carry(jax.random.key(0), x.shape)
""",
    ),
    "modules that read their names, numbered in a loop": (
        "NNX164",
        """class Named(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4, name=f'{self.name}_in')(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      x = Named()(x)
    return x
""",
    ),
    "modules that read their names, in a list of setup": (
        "NNX164",
        """class Named(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4, name=f'{self.name}_in')(x)


class M(nn.Module):
  def setup(self):
    self.parts = [Named(), Named()]
  def __call__(self, x):
    return self.parts[1](self.parts[0](x))
""",
    ),
    "a module that reads its name, under a transform": (
        "NNX164",
        """class Named(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4, name=f'{self.name}_in')(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat(Named)(name='inner')(x)
""",
    ),
    "a module that reads its name, made by a factory of a field": (
        "NNX164",
        """class Named(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4, name=f'{self.name}_in')(x)


class M(nn.Module):
  part: Any = Named
  @nn.compact
  def __call__(self, x):
    return self.part()(x)
""",
    ),
}
