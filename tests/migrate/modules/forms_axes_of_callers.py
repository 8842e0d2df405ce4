"""Layers of the project's own whose logical names a caller gives, one after another; `CASES` as in forms_basic."""

from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax.core import freeze
from flax.linen import partitioning
from jax import lax


def _tuple(x):
  if isinstance(x, Iterable):
    return tuple(x)
  else:
    return (x,)


SHORTENED = freeze({"heads * kv": "joined"})


class Joined(nn.Module):
  """Its kernel has two dimensions, whose names are put together of those of the features."""

  features: Union[Iterable[int], int]
  axis: Union[Iterable[int], int] = -1
  kernel_init: Any = nn.initializers.normal(1.0)
  names: Optional[Sequence[str]] = None
  shortened: Mapping[str, str] = SHORTENED
  joined: bool = True

  @nn.compact
  def __call__(self, inputs):
    features = _tuple(self.features)
    axis = tuple([ax if ax >= 0 else inputs.ndim + ax for ax in _tuple(self.axis)])
    kernel_shape = tuple([inputs.shape[ax] for ax in axis]) + features
    if self.joined:
      shape = (np.prod([inputs.shape[ax] for ax in axis]), np.prod(features))
    else:
      shape = kernel_shape
    if self.names is None:
      names = ["unnamed"] * len(shape)
    else:
      names = self.names
      if self.joined:

        def join(some):
          said = " * ".join(some)
          return self.shortened.get(said, said)

        names = (join(names[: len(axis)]), join(names[len(axis) :]))
    kernel = partitioning.param_with_axes("kernel", self.kernel_init, shape, jnp.float32, axes=tuple(names))
    kernel = jnp.reshape(kernel, kernel_shape)
    return lax.dot_general(inputs, kernel, ((axis, tuple(range(len(axis)))), ((), ())))


class Tower(nn.Module):
  features: Sequence[int]

  @nn.compact
  def __call__(self, x):
    for i, width in enumerate(self.features):
      x = Joined(features=width, names=("embed", "mlp"), name=f"dense_{i}")(x)
      if i != len(self.features) - 1:
        x = nn.gelu(x)
    return x


class Heads(nn.Module):
  heads: int = 2

  @nn.compact
  def __call__(self, x):
    q = Joined((self.heads, 4), names=("embed", "heads", "kv"), name="query")(x)
    return Joined(x.shape[-1], axis=(-2, -1), names=("heads", "kv", "embed"), name="out")(jnp.tanh(q))


CASES = [
    ("Tower", {"features": (4, 5, 6)}, [(2, 5, 3)], {}),
    ("Heads", {}, [(2, 5, 3)], {}),
]
