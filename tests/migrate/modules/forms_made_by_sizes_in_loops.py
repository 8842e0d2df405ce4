"""Modules that loops make where a size says so that no code shows, beside others of their class."""

import functools

import jax.numpy as jnp
from flax import linen as nn


def shrunk(x, times):
    """No code shows the shape of what it gives."""
    return functools.reduce(lambda a, _: a[:, ::2], range(times), x)


class Mix(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(x.shape[-1])(x)


class Levels(nn.Module):
    resolutions: tuple = (4,)
    depth: int = 3
    width: int = 4

    @nn.compact
    def __call__(self, x):
        mix = functools.partial(Mix)
        h, hs = nn.Dense(self.width)(x), []
        for i in range(self.depth):
            for _ in range(2):
                h = nn.Dense(self.width * (i + 1))(h)
                if h.shape[1] in self.resolutions:
                    h = mix()(h)
                hs.append(h)
            h = shrunk(h, 1)
        h = mix()(h)
        for i in reversed(range(self.depth)):
            h = jnp.repeat(h, 2, axis=1)
            h = nn.Dense(self.width)(jnp.concatenate([h[:, : hs[-1].shape[1]], hs.pop()], -1))
            if h.shape[1] in self.resolutions:
                h = mix()(h)
        return h


class Beside(nn.Module):
    """Of two conditions of one module, a flag of the call is one: what that leaves out has variables, too."""

    resolutions: tuple = (4, 8)
    kind: str = "input"

    @nn.compact
    def __call__(self, x, train=False):
        pyramid = None
        if self.kind != "none":
            pyramid = x
        h = nn.Dense(4)(x)
        for _ in range(2):
            h = shrunk(h, 1)
            if h.shape[1] in self.resolutions:
                h = Mix()(h)
            if self.kind == "input":
                pyramid = nn.Dense(5)(shrunk(pyramid, 1))
                h = nn.Dense(4)(jnp.concatenate([h, pyramid], -1))
            elif self.kind == "residual":
                pyramid = Mix()(shrunk(pyramid, 1))
                h = h + nn.Dense(4)(pyramid)
        return Mix()(h)


CASES = [
    ("Levels", {}, [(2, 8, 3)], {}),
    ("Levels", {"resolutions": ()}, [(2, 8, 3)], {}),
    ("Levels", {"resolutions": (8, 2)}, [(2, 8, 3)], {}),
    ("Beside", {}, [(2, 8, 3)], {}),
    ("Beside", {"kind": "residual", "resolutions": (2,)}, [(2, 8, 3)], {}),
    ("Beside", {"kind": "none"}, [(2, 8, 3)], {}),
]
