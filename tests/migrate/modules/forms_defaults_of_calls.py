"""Arguments with defaults of calls that decide sizes, where a class is called once on shapes: what its users give counts."""

import flax.linen as nn
import jax.numpy as jnp


def repeated(x, times):
    out, k = x, 1
    while k < times:
        out = jnp.concatenate([out, x], -1)
        k += 1
    return out


class Part(nn.Module):
    dim: int = 6
    linear: bool = True

    @nn.compact
    def __call__(self, x, times=1, scale=1.0, add=False):
        if not self.linear:
            conv = nn.Conv(self.dim, kernel_size=(3, 3))
        else:
            conv = nn.Conv(self.dim, kernel_size=(1, 1), strides=1)
        if self.linear:
            y = conv(repeated(x, times))
        else:
            y = conv(x)
        return scale * nn.Dense(4)(y)


class Net(nn.Module):
    n: int = 2
    linear: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Part(linear=self.linear)(x, self.n))


class Both(nn.Module):
    linear: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Part(linear=self.linear)(x)), Part()(x, times=3), Part()(x, 1, 0.5)


class Tokens(nn.Module):
    """Its call has a default that is no value."""

    dim: int = 6
    linear: bool = True

    @nn.compact
    def __call__(self, x, size=list[int]):
        h, w = size
        if not self.linear:
            conv = nn.Conv(self.dim, kernel_size=(3,))
        else:
            conv = nn.Conv(self.dim, kernel_size=(1,), strides=1)
        if self.linear:
            y = conv(repeated(x, h))
        else:
            y = conv(x)
        return nn.Dense(4)(y).reshape(-1, h, w, 4)


class UsesTokens(nn.Module):
    linear: bool = True

    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        return nn.Dense(2)(Tokens(linear=self.linear)(x.reshape(b, -1, c), (h, w)))


class Stage(nn.Module):
    """Is given its flag, which its user gives to its constructor."""

    linear: bool = True
    train: bool | None = None

    @nn.compact
    def __call__(self, x, size, train=None):
        train = nn.merge_param("train", self.train, train)
        h, w = size
        if not self.linear:
            conv = nn.Conv(6, kernel_size=(3, 3))
        else:
            conv = nn.Conv(6, kernel_size=(1, 1), strides=1)
        y = x.reshape(x.shape[0], h, w, x.shape[-1])
        y = conv(repeated(y, h)) if self.linear else conv(y)
        return nn.Dropout(0.5, deterministic=not train)(y).reshape(x.shape[0], h * w, 6), (h, w)


class Stages(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x, train: bool = False):
        b, h, w, c = x.shape
        x, size = x.reshape(b, h * w, c), (h, w)
        for _ in range(self.depth):
            x, size = Stage(train=train)(x, size)
        return nn.Dense(2)(x)


CASES = [
    ("Net", {"n": 3}, [(2, 4, 4, 3)], {}),
    ("Net", {"linear": False}, [(2, 4, 4, 3)], {}),
    ("Both", {}, [(2, 4, 4, 3)], {}),
    ("Part", {}, [(2, 4, 4, 3)], {"times": 3}),
    ("UsesTokens", {}, [(2, 3, 4, 3)], {}),
    ("Stages", {}, [(2, 3, 4, 3)], {}),
    ("Stages", {"depth": 1}, [(2, 3, 4, 3)], {}),
]
