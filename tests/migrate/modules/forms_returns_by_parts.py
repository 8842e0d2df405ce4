"""Early returns by a field or a flag, widths beside a mask that may be missing, tables as long as their input; `CASES` as in
forms_basic.
"""

from typing import Any, Tuple

import flax.linen as nn
import jax
import jax.numpy as jnp


class Head(nn.Module):
    """What stands behind is made where the field alone does not return."""

    plain: bool = False
    plain_at_end: bool = True

    @nn.compact
    def __call__(self, x, last=False):
        mean = nn.Dense(3)(x)
        if self.plain or (self.plain_at_end and last):
            return mean
        scale = nn.Dense(3, use_bias=False)(x)
        return mean + nn.softplus(scale)


class Several(nn.Module):
    kind: str = "a"
    plain: bool = False

    @nn.compact
    def __call__(self, x, last=False):
        x = nn.Dense(4)(x)
        if last or self.plain or self.kind == "b":
            return x
        x = nn.LayerNorm()(x)
        if self.kind == "c":
            return nn.Dense(5)(x)
        return nn.Dense(2)(x)


class Masked(nn.Module):
    def setup(self):
        self.query = nn.Dense(8)
        self.key = nn.Dense(8)
        self.out = nn.Dense(3)

    def __call__(self, x, memory, mask=None):
        q, k = self.query(x), self.key(memory)
        q = jnp.reshape(q, (q.shape[0], q.shape[1], 2, 4))
        k = jnp.reshape(k, (k.shape[0], k.shape[1], 2, 4))
        scores = jnp.matmul(q.transpose(0, 2, 1, 3), k.transpose(0, 2, 3, 1))
        if mask is not None:
            scores = scores * mask
        return self.out(jax.nn.softmax(scores, -1))


class ScaledOrNot(nn.Module):
    @nn.compact
    def __call__(self, x, mask=None):
        h = nn.Dense(8)(x)
        h = jnp.reshape(h, (h.shape[0], h.shape[1], 2, 4)).transpose(0, 2, 3, 1)
        h = h if mask is None else h * mask
        return nn.Dense(3)(h)


class Patches(nn.Module):
    """A table as long as the number of patches, asked for by what contains it."""

    patch: Tuple[int, int] = (2, 2)
    width: int = 4

    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        ph, pw = self.patch
        x = jnp.reshape(x, (b, h // ph, ph, w // pw, pw, c)).transpose(0, 1, 3, 2, 4, 5)
        x = nn.Dense(self.width)(jnp.reshape(x, (b, -1, ph * pw * c)))
        return x + nn.Embed(x.shape[1], x.shape[2])(jnp.arange(x.shape[1]))


class Encoder(nn.Module):
    depth: int = 2

    def setup(self):
        self.patches = Patches()
        self.layers = [nn.Dense(5) for _ in range(self.depth)]

    def __call__(self, x):
        x = self.patches(x)
        for layer in self.layers:
            x = layer(x)
        return x


CASES: list[Any] = [
    ("Head", dict(), [(2, 3)], dict()),
    ("Head", dict(plain=True), [(2, 3)], dict()),
    ("Head", dict(plain_at_end=False), [(2, 3)], dict(last=True)),
    ("Several", dict(), [(2, 3)], dict()),
    ("Several", dict(kind="b"), [(2, 3)], dict()),
    ("Several", dict(kind="c"), [(2, 3)], dict()),
    ("Several", dict(plain=True), [(2, 3)], dict()),
    ("Masked", dict(), [(2, 5, 3), (2, 7, 4)], dict(mask=None)),
    ("Masked", dict(), [(2, 5, 3), (2, 7, 4), (5, 7)], dict()),
    ("ScaledOrNot", dict(), [(2, 5, 3)], dict(mask=None)),
    ("ScaledOrNot", dict(), [(2, 5, 3), (4, 5)], dict()),
    ("Patches", dict(), [(2, 4, 6, 3)], dict()),
    ("Encoder", dict(), [(2, 4, 6, 3)], dict()),
]
