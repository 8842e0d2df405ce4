"""Functions of a method that the constructor defines too, deeper than they stood."""

from typing import Any

from flax import linen as nn


class Deeper(nn.Module):
  names: Any = ("data", "model")
  joined: bool = True
  @nn.compact
  def __call__(self, x):
    shape = (x.shape[-1], 4)
    if self.names is None:
      names = ("data", None)
    else:
      names = self.names
      if len(names) != len(shape):
        raise ValueError(f"{names} for {shape}")
      if self.joined:

        def together(parts):
          """One name.

          Of many.
          """
          result = "".join(parts)

          return result

        names = (together(self.names[:1]), together(self.names[1:]))
    kernel = self.param("kernel", nn.with_partitioning(nn.initializers.ones, names), shape)
    return x @ kernel


CASES: list[Any] = [
    ("Deeper", {}, [(2, 3)], {}),
    ("Deeper", {"joined": False}, [(2, 3)], {}),
    ("Deeper", {"names": None}, [(2, 3)], {}),
]
