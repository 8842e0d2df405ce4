"""Lists and dicts of fields and of setup whose kind functions, methods and loops over them ask for; `CASES` as in forms_basic."""

from typing import Any, Sequence

from flax import linen as nn


def total(sizes):
  if isinstance(sizes, tuple):
    return 2
  return 3


def outer(n, *, sizes):
  return total(sizes) + n


class ByFunction(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    return nn.Dense(total(self.sizes))(x)


class ByFunctions(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    return nn.Dense(outer(1, sizes=self.sizes))(x)


class OfItems(nn.Module):
  sizes: Any
  @nn.compact
  def __call__(self, x):
    for s in self.sizes:
      if isinstance(s, tuple):
        x = nn.Dense(s[0])(x)
    return x


class OfItemsByFunction(nn.Module):
  sizes: Any
  @nn.compact
  def __call__(self, x):
    for i, s in enumerate(self.sizes):
      x = nn.Dense(total(s), name=f"l{i}")(x)
    return x


class ByMethod(nn.Module):
  sizes: Sequence[Any]
  def pick(self, which):
    return 3 if type(which) is tuple else 4
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.pick(self.sizes[0]) + self.pick(self.sizes))(x)


class AsKey(nn.Module):
  sizes: Sequence[int]
  @nn.compact
  def __call__(self, x):
    return nn.Dense({(1, 2): 3, (4,): 5}[self.sizes])(x)


class KeptList(nn.Module):
  def setup(self):
    self.sizes = [1, 2, 3]
    self.d = nn.Dense(3)
  def __call__(self, x):
    return self.d(x) * total(self.sizes)


class KeptWithin(nn.Module):
  def setup(self):
    self.opts = {"a": [1, 2]}
    self.n = [[1], [2]]
    self.d = nn.Dense(3)
  def __call__(self, x):
    return self.d(x) * (3 if isinstance(self.opts, dict) else 5) * total(self.opts["a"]) * total(self.n[0])

CASES = [
    ("ByFunction", {"sizes": [1, 2]}, [(2, 3)], {}),
    ("ByFunctions", {"sizes": [1, 2]}, [(2, 3)], {}),
    ("OfItems", {"sizes": [(1, 2), [3]]}, [(2, 3)], {}),
    ("KeptWithin", {}, [(2, 3)], {}),
    ("OfItemsByFunction", {"sizes": [(1, 2), [3]]}, [(2, 3)], {}),
    ("ByMethod", {"sizes": [[1, 2], [3]]}, [(2, 3)], {}),
    ("AsKey", {"sizes": [1, 2]}, [(2, 3)], {}),
    ("KeptList", {}, [(2, 3)], {}),
    ("ByFunction", {"sizes": (1, 2)}, [(2, 3)], {}),
]
