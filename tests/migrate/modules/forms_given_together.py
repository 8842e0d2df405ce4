"""Optional inputs that one condition asks for together, and the next one by itself: of those each may be missing."""

import jax.numpy as jnp
from flax import linen as nn


class Heads(nn.Module):
    """What both conditions need is made once; then each asks for its own."""

    width: int = 4

    @nn.compact
    def __call__(self, x, point, view):
        if point is not None or view is not None:
            neck = nn.Dense(self.width, name="neck")(x)
        if point is not None:
            inner = jnp.concatenate([neck, point], axis=-1)
        else:
            inner = x
        if view is not None:
            outer = jnp.concatenate([neck, view], axis=-1)
        else:
            outer = x
        return nn.Dense(3)(inner), nn.Dense(2)(outer)


class Neither(nn.Module):
    """The same question asked from the other side."""

    @nn.compact
    def __call__(self, x, point, view):
        if point is None and view is None:
            y = x
        else:
            y = nn.Dense(5, name="neck")(x)
        if view is not None:
            y = nn.Dense(6)(y)
        return nn.Dense(3)(y)


CASES = [
    ("Heads", {}, [(2, 3)], {"point": None, "view": None}),
    ("Heads", {}, [(2, 3)], {"point": jnp.ones((2, 5)), "view": None}),
    ("Heads", {}, [(2, 3)], {"point": None, "view": jnp.ones((2, 7))}),
    ("Heads", {}, [(2, 3)], {"point": jnp.ones((2, 5)), "view": jnp.ones((2, 7))}),
    ("Neither", {}, [(2, 3)], {"point": None, "view": None}),
    ("Neither", {}, [(2, 3)], {"point": jnp.ones((2, 5)), "view": None}),
    ("Neither", {}, [(2, 3)], {"point": None, "view": jnp.ones((2, 7))}),
    ("Neither", {}, [(2, 3)], {"point": jnp.ones((2, 5)), "view": jnp.ones((2, 7))}),
]
