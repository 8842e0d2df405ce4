"""Calls that raise where an input has too few dimensions: a guessed number of them may not be one of these.

And modules whose sizes a call finds, of which nothing is left to find by their fields, while the shape is known in part.
"""

import jax.numpy as jnp
from flax import linen as nn


class Padded(nn.Module):
    """Pads one axis as it goes round, the other with its edge."""

    features: int
    kernel_size: tuple = (3, 3)
    order: str = "first"
    use_local: bool = False

    @nn.compact
    def __call__(self, x):
        if x.ndim < 4:
            raise ValueError("it takes images")
        if self.order == "first":
            one, other = (-3, -2)
        else:
            one, other = (-2, -3)
        pads = [(0, 0)] * x.ndim
        pads[one] = (1, 1)
        x = jnp.pad(x, pads, mode="wrap")
        pads = [(0, 0)] * x.ndim
        pads[other] = (1, 1)
        x = jnp.pad(x, pads, mode="edge")
        make = nn.ConvLocal if self.use_local else nn.Conv
        return make(self.features, self.kernel_size, padding="VALID")(x)


class Around(nn.Module):
    """What the first convolution leaves of heights is not known; `Padded` does not ask for them without `use_local`."""

    features: int
    padding: str = "SAME"
    special: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.features, (3, 3), padding=self.padding)(x)
        if self.special:
            x = Padded(self.features, order="second")(x)
        return nn.Dense(3)(x)


CASES = [
    ("Padded", {"features": 4}, [(2, 5, 6, 3)], {}),
    ("Padded", {"features": 4, "use_local": True}, [(2, 5, 6, 3)], {}),
    ("Around", {"features": 4}, [(2, 6, 6, 3)], {}),
    ("Around", {"features": 4, "padding": "VALID"}, [(2, 6, 6, 3)], {}),
]
