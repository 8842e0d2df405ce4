"""Lists of modules within others, under other names, and the widths that their items have together."""

import flax.linen as nn
import jax.numpy as jnp


class TwoInOneStatement(nn.Module):
  ws: tuple = (4, 6)
  def setup(self):
    self.a, self.b = [nn.Dense(w) for w in self.ws], [nn.LayerNorm() for _ in self.ws]
  def __call__(self, x):
    for a, b in zip(self.a, self.b):
      x = b(a(x))
    return x


class ListsInAList(nn.Module):
  ws: tuple = (4, 6)
  def setup(self):
    self.t = [[nn.Dense(w) for w in self.ws], [nn.LayerNorm() for _ in self.ws]]
  def __call__(self, x):
    for a, b in zip(self.t[0], self.t[1]):
      x = b(a(x))
    return x


class ListsInADict(nn.Module):
  ws: tuple = (4, 6)
  def setup(self):
    self.d = {"p": [nn.Dense(w) for w in self.ws], "v": [nn.Dense(w + 1) for w in self.ws]}
  def __call__(self, x, y):
    for l in self.d["p"]:
      x = l(x)
    for l in self.d["v"]:
      y = l(y)
    return x, y


class UnderAnotherName(nn.Module):
  ws: tuple = (4, 6)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
    self.o = nn.Dense(2)
  def enc(self, x):
    ls = self.ls
    for l in ls:
      x = l(x)
    return x
  def __call__(self, x):
    return self.o(self.enc(x))


class OneOfTwoRenamed(nn.Module):
  ws: tuple = (4, 6)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
    self.ns = [nn.LayerNorm() for w in self.ws]
    self.o = nn.Dense(2)
  def enc(self, x):
    ls = self.ls
    for i, (l, n) in enumerate(zip(ls, self.ns)):
      x = n(l(x)) * i
    return x
  def __call__(self, x):
    return self.o(self.enc(x))


class GivenToAMethod(nn.Module):
  ws: tuple = (5, 6)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
    self.ms = [nn.Dense(w + 1) for w in self.ws]
  def run(self, ls, x):
    for l in ls:
      x = nn.relu(l(x))
    return x
  def __call__(self, x):
    return self.run(self.ms, self.run(self.ls, x))


class RenamedTwice(nn.Module):
  ws: tuple = (5, 6)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
    self.o = nn.Dense(2)
  def __call__(self, x):
    ls = self.ls
    for l in ls:
      x = l(x)
    ls = [self.o]
    for l in ls:
      x = l(x)
    return x


class BranchesOfSeveralWidths(nn.Module):
  ks: tuple = (1, 3)
  def setup(self):
    self.ls = [nn.Conv(4 + k, (k, k)) for k in self.ks]
    self.o = nn.Dense(2)
  def __call__(self, x):
    return self.o(jnp.concatenate([l(x) for l in self.ls], axis=-1))


class BranchesInCompact(nn.Module):
  ks: tuple = (1, 3)
  @nn.compact
  def __call__(self, x):
    ls = [nn.Conv(4+k, (k, k)) for k in self.ks]
    return nn.Dense(2)(jnp.concatenate([l(x) for l in ls], axis=-1))


class ZippedWidths(nn.Module):
  fs: tuple = (4, 6)
  ks: tuple = (1, 3, 5)
  def setup(self):
    self.ls = [nn.Conv(f, (k, k)) for f, k in zip(self.fs, self.ks)]
    self.o = nn.Dense(2)
  def __call__(self, x):
    return self.o(jnp.concatenate([nn.relu(l(x)) for l in self.ls], axis=-1))


class EvenWidths(nn.Module):
  fs: tuple = (4, 6)
  @nn.compact
  def __call__(self, x):
    ys = [nn.relu(nn.Dense(2 * f + 1)(x)) for f in self.fs]
    return nn.Dense(2)(jnp.concatenate(ys, axis=-1))


class CountedWidths(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(2 + i) for i in range(self.n)]
    self.o = nn.Dense(2)
  def __call__(self, x):
    return self.o(jnp.concatenate([l(x) for l in self.ls], axis=-1))


class SequenceOfSetup(nn.Module):
  fs: tuple = (4, 6, 3)
  def setup(self):
    fs = self.fs[1:]
    self.ls = [nn.Dense(f) for f in fs]
    fs = self.fs
    self.o = nn.Dense(2)
  def __call__(self, x):
    return self.o(jnp.concatenate([l(x) for l in self.ls], axis=-1))


class FieldOfThatName(nn.Module):
  f: int = 5
  fs: tuple = (4, 6, 3)
  def setup(self):
    self.ls = [nn.Dense(f + self.f) for f in self.fs]
    self.o = nn.Dense(2)
  def __call__(self, x):
    return self.o(jnp.concatenate([l(x) for l in self.ls], axis=-1))


class Filters(nn.Module):
  fs: tuple = (4, 6)
  ks: tuple = (1, 3)
  @nn.compact
  def __call__(self, x):
    ys = []
    for f, k in zip(self.fs, self.ks):
      ys.append(nn.relu(nn.Conv(f, (k,))(x)).max(1))
    return nn.Dense(2)(jnp.concatenate(ys, axis=-1))


class FiltersInAList(nn.Module):
  fs: tuple = (4, 6)
  ks: tuple = (1, 3)
  @nn.compact
  def __call__(self, x):
    convs = [nn.Conv(f, (k,)) for f, k in zip(self.fs, self.ks)]
    ys = [nn.relu(c(x)).max(1) for c in convs]
    return nn.Dense(2)(jnp.concatenate(ys, axis=-1))


CASES = [
  ("TwoInOneStatement", {}, [(2, 5)], {}),
  ("ListsInAList", {}, [(2, 5)], {}),
  ("ListsInADict", {}, [(2, 5), (2, 3)], {}),
  ("UnderAnotherName", {}, [(2, 5)], {}),
  ("OneOfTwoRenamed", {}, [(2, 5)], {}),
  ("GivenToAMethod", {}, [(2, 5)], {}),
  ("RenamedTwice", {}, [(2, 5)], {}),
  ("BranchesOfSeveralWidths", {}, [(1, 4, 4, 3)], {}),
  ("BranchesInCompact", {}, [(1, 4, 4, 3)], {}),
  ("ZippedWidths", {}, [(1, 4, 4, 3)], {}),
  ("EvenWidths", {}, [(2, 5)], {}),
  ("CountedWidths", {}, [(2, 5)], {}),
  ("SequenceOfSetup", {}, [(2, 5)], {}),
  ("FieldOfThatName", {}, [(2, 5)], {}),
  ("Filters", {}, [(1, 4, 3)], {}),
  ("FiltersInAList", {}, [(1, 4, 3)], {}),
]
