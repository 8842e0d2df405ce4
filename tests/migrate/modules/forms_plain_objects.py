"""Objects of classes that are no modules: what they compute between layers, and the modules without variables they make."""

import dataclasses
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

KERNELS = {"tanh": jnp.tanh}


@dataclasses.dataclass
class Mixed:
  mixed: Any = None
  weights: Any = None


class Attend:
  """Several ways to compute the same; nothing says what shape the first one's is."""

  def __init__(self, heads, size, way="plain", *, scale=None):
    self.heads = heads
    self.size: int = size
    self.way = way
    self.scale = scale if scale is not None else size**-0.5

  def __call__(self, query, key, value, causal=False):
    match self.way:
      case "table":
        return self.by_table(query, key, value)
      case "plain":
        return self.plain(query=query, key=key, value=value)
      case "absent":
        return self.absent(query)
    raise ValueError(self.way)

  def by_table(self, query, key, value):
    return Mixed(mixed=KERNELS["tanh"](query * key + value))

  def absent(self, query):
    if self.heads > 0:
      raise ModuleNotFoundError("a kernel")
    raise ValueError(query)

  def plain(self, *, query, key, value):
    b, n, h, d = query.shape
    *_, width = value.shape
    weights = jax.nn.softmax(self.scaled(jnp.einsum("bqhd,bkhd->bhqk", query, key)))
    return Mixed(mixed=jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(b, n, h, width), weights=weights)

  def scaled(self, weights):
    return weights * self.scale

  @staticmethod
  def merged(x):
    return x.reshape(x.shape[:2] + (-1,))


class Attention(nn.Module):
  heads: int = 2
  size: int = 3
  way: str = "plain"

  def setup(self):
    self.query = nn.Dense(self.heads * self.size)
    self.key = nn.Dense(self.heads * self.size)
    self.out = nn.Dense(5)
    self.attend = Attend(self.heads, self.size, way=self.way)

  def merged(self, x):
    return x.reshape(x.shape[:2] + (-1,))

  def __call__(self, x):
    shape = (*x.shape[:2], self.heads, self.size)
    query, key = self.query(x).reshape(shape), self.key(x).reshape(shape)
    return self.out(self.merged(self.attend(query, key, value=key).mixed))


class MadeInTheCall(nn.Module):
  """The object is made anew in every call, and one of its methods is static."""

  heads: int = 2

  @nn.compact
  def __call__(self, x):
    attend = Attend(self.heads, x.shape[-1])
    y = nn.Dense(self.heads * x.shape[-1])(x).reshape(*x.shape[:2], self.heads, x.shape[-1])
    y = attend.plain(query=y, key=y, value=y).mixed
    return nn.Dense(4)(Attend.merged(y)) + nn.Dense(4)(attend.merged(attend.scaled(y)))


class Widths:
  def __init__(self, features):
    self.features = features

  def cut(self, x):
    return x[..., : self.features]


class Cut(nn.Module):
  """A width that the object was given."""

  features: int = 2

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(Widths(self.features).cut(x))


def turned(x, sines):
  a, b = jnp.split(x, 2, axis=-1)
  return jnp.concatenate((a * sines - b, b * sines + a), axis=-1)


class Rotary(nn.Module):
  size: int

  def __call__(self, query, key, positions):
    sines = jnp.sin(jnp.arange(8)[:, None] * jnp.arange(self.size // 2) / self.size)[positions][:, :, None]
    return turned(query, sines), turned(key, sines)


class Scaled(Rotary):
  scale: float = 2.0

  def __call__(self, query, key, positions):
    return query * self.scale, key * self.scale


def make_rotary(size, kind):
  if kind == "scaled":
    rotary = Scaled(size=size)
  else:
    rotary = Rotary(size=size)
  return rotary


class Config:
  kind = "scaled"

  def __init__(self, heads=2, size=4):
    self.heads, self.size = heads, size

  def rotary(self, size):
    if getattr(self, "halved", None) is not None:
      size = size // 2
    return make_rotary(size, self.kind)


class Rotated(nn.Module):
  """The configuration makes a module without variables."""

  config: Config = Config()

  def setup(self):
    self.query = nn.Dense(self.config.heads * self.config.size)
    self.out = nn.Dense(5)
    self.rotary = self.config.rotary(self.config.size)

  def __call__(self, x):
    query = self.query(x).reshape((*x.shape[:2], self.config.heads, self.config.size))
    positions = jnp.arange(x.shape[1])[None]
    query, key = self.rotary(query=query, key=query + 1.0, positions=positions)
    mixed = query * key
    return self.out(mixed.reshape(mixed.shape[:2] + (-1,)))


class RotatedByFunction(nn.Module):
  """A function of the project makes it, one of several kinds."""

  kind: str = "plain"

  def setup(self):
    self.query = nn.Dense(8)
    self.rotary = make_rotary(4, self.kind)
    self.out = nn.Dense(5)

  def __call__(self, x):
    query = self.query(x).reshape((*x.shape[:2], 2, 4))
    query, key = self.rotary(query, query + 1.0, jnp.arange(x.shape[1])[None])
    return self.out((query * key).reshape(*query.shape[:2], -1))


class Cached(nn.Module):
  """What is known only on one side of a condition of the call."""

  @nn.compact
  def __call__(self, x, kind: str = ""):
    y = nn.Dense(6)(x)
    if kind:
      y = KERNELS[kind](y)
    return nn.Dense(4)(y)


class Groups(nn.Module):
  """A part of an axis, by sizes of the configuration."""

  config: Config = Config()

  @nn.compact
  def __call__(self, x):
    each = self.config.heads + 2
    y = nn.Dense(each * self.config.size)(x).reshape(*x.shape[:-1], each, self.config.size)
    y = y[..., : self.config.heads, :]
    return nn.Dense(3)(y.reshape(y.shape[:-2] + (-1,)))


def wrapped(registry):
  def wrapper(module):
    entries = {"module_class": module, "__annotations__": {"module_class": Any}}
    made = type(module.__name__, (), entries)
    registry.append(made)
    return made

  return wrapper


MODELS: list = []


@wrapped(MODELS)
class Encoder(nn.Module):
  features: int = 6

  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.features)(x))


class Pretrained:
  module_class = Attention


class Head(nn.Module):
  """Module classes that other classes hold."""

  def setup(self):
    self.encoder = Encoder.module_class(features=7)
    self.attention = Pretrained.module_class()
    self.head = nn.Dense(3)

  def __call__(self, x):
    return self.head(self.attention(self.encoder(x)))


CASES = [
  ("Attention", {}, [(2, 4, 5)], {}),
  ("MadeInTheCall", {}, [(2, 4, 5)], {}),
  ("Cut", {}, [(2, 5)], {}),
  ("Rotated", {}, [(2, 4, 5)], {}),
  ("RotatedByFunction", {}, [(2, 4, 5)], {}),
  ("RotatedByFunction", {"kind": "scaled"}, [(2, 4, 5)], {}),
  ("Cached", {}, [(2, 5)], {}),
  ("Cached", {}, [(2, 5)], {"kind": "tanh"}),
  ("Groups", {}, [(2, 4, 5)], {}),
  ("Head", {}, [(2, 4, 5)], {}),
]
