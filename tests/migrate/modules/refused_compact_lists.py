"""Lists that a compact method makes and calls in ways that the constructor cannot follow."""

HEAD = """from collections.abc import Sequence
import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  widths: Sequence[int] = (4, 5, 7)
  count: int = 3
  @nn.compact
  def __call__(self, x):
"""

INDENT = 4  # of the bodies below

REFUSED = {
    "called from its end": (
        "NNX110",
        """layers = [nn.Dense(d) for d in self.widths]
for layer in reversed(layers):
  x = layer(x)
return x""",
    ),
    "all but its last item": (
        "NNX110",
        """layers = [nn.Dense(d) for d in self.widths]
for layer in layers[:-1]:
  x = layer(nn.relu(x))
return x""",
    ),
    "an item apart, and all of them": (
        "NNX114",
        """layers = [nn.Dense(d) for d in self.widths]
x = layers[0](x)
for layer in layers:
  x = layer(nn.relu(x))
return x""",
    ),
    "a second list in another order": (
        "NNX114",
        """dense = [nn.Dense(d) for d in self.widths]
norm = [nn.LayerNorm() for d in self.widths]
return [n(d(x)) for d, n in zip(dense, reversed(norm))]""",
    ),
    "results of one list, given to another": (
        "NNX114",
        """dense, norm = [], []
for d in self.widths:
  dense.append(nn.Dense(d))
for _ in self.widths:
  norm.append(nn.LayerNorm())
outs = [d(x) for d in dense]
return [n(y) for y, n in zip(outs, norm)]""",
    ),
    "a name that means something else in the comprehension": (
        "NNX114",
        """d = 2 * len(self.widths)
layers = [nn.Dense(d) for d in self.widths]
y = sum([layer(x).sum() for layer in layers])
return nn.Dense(d)(x) + y""",
    ),
    "left before its end": (
        "NNX110",
        """layers = [nn.Dense(d) for d in self.widths]
for i, layer in enumerate(layers):
  x = layer(x)
  if i == 1:
    break
return nn.Dense(2)(x)""",
    ),
    "as many passes as something else says": (
        "NNX110",
        """n = self.count
layers = [nn.Dense(4 + i) for i in range(n)]
n = 2
for i in range(n):
  x = layers[i](x)
return x""",
    ),
    "behind a loop that Linen counts with it": (
        "NNX110",
        """layers = [nn.Dense(d) for d in self.widths]
for w in self.widths:
  x = nn.Dense(w)(x)
for layer in layers:
  x = layer(x)
return x""",
    ),
    "made in a loop, and before it, in an order that is not known": (
        "NNX158",
        """for w in self.widths:
  x = nn.Dense(w)(x)
last = nn.Dense(3)
for w in self.widths:
  x = nn.Dense(w)(x)
return last(x)""",
    ),
}
