"""Inputs that may be arrays or something else, helpers that return one array or another, starred shapes."""

import flax
import flax.linen as nn
import jax.numpy as jnp
from flax.core import FrozenDict


@flax.struct.dataclass
class Tokens:
    """A group of tokens with its mask."""

    tokens: object
    mask: object


def normalized(image, kind="default"):
    """Pixels in a range that a name chooses."""
    if kind == "default":
        return image.astype(jnp.float32) / 127.5 - 1.0
    elif kind == "tiled":
        image = image.astype(jnp.float32) / 255
        mean = jnp.array([0.485, 0.456, 0.406]).reshape((1, 1, 1, 3))
        return image - jnp.tile(mean, (1, 1, 1, int(image.shape[-1] / 3)))
    raise ValueError(kind)


def widened(x, kind):
    """One width or its double: the layer that takes it asks the same question."""
    if kind == "plain":
        return x / 2
    doubled = jnp.concatenate([x, x], -1)
    return doubled


def twice(x, kind):
    """A helper over a helper."""
    return widened(widened(x, kind), kind)


def joined(x):
    """The arrays of a nested dict side by side."""
    if hasattr(x, "values"):
        return jnp.concatenate([joined(v) for _, v in sorted(x.items())], -1)
    return x


class Patches(nn.Module):
    """An image normalized by a helper that returns early."""

    kind: str = "default"

    @nn.compact
    def __call__(self, image):
        return nn.Conv(4, (3, 3))(normalized(image, self.kind))


class Widths(nn.Module):
    """A width that a helper chooses, in a statement of its own and in an argument."""

    kind: str = "plain"

    @nn.compact
    def __call__(self, x):
        y = widened(x, self.kind)
        return nn.Dense(4)(y) + nn.Dense(4)(widened(x, kind=self.kind)) + nn.Dense(4)(twice(x, self.kind))


class LocalChoice(nn.Module):
    """A nested function with an early return, called twice."""

    double: bool = False

    @nn.compact
    def __call__(self, x):
        def scaled(y):
            if self.double:
                return jnp.concatenate([y, y], -1)
            return y

        x = nn.Dense(3)(scaled(x))
        return nn.Dense(2)(scaled(x))


class DictOrArray(nn.Module):
    """`hasattr(x, "values")` tells a dict from an array."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(joined(x))


class Frozen(nn.Module):
    """So does `isinstance`."""

    @nn.compact
    def __call__(self, x):
        if isinstance(x, (dict, FrozenDict)):
            x = jnp.concatenate([x[k] for k in sorted(x)], -1)
        return nn.Dense(4)(x)


class Pooled(nn.Module):
    """A group or its tokens alone, in any number of batch dimensions."""

    readouts: int = 2

    @nn.compact
    def __call__(self, x):
        if isinstance(x, Tokens):
            x, mask = x.tokens, x.mask
        else:
            mask = None
        *batch, length, width = x.shape
        x = x.reshape(-1, length, width)
        probe = self.param("probe", nn.initializers.xavier_uniform(), (1, self.readouts, width), x.dtype)
        probe = jnp.tile(probe, [x.shape[0], 1, 1])
        if mask is not None:
            mask = mask.reshape(-1, length)[:, None, None, :]
        out = nn.MultiHeadDotProductAttention(num_heads=2)(probe, x, mask=mask)
        out = out + nn.Dense(width)(nn.LayerNorm()(out))
        return out.reshape(*batch, self.readouts, width)


class StarredEnds(nn.Module):
    """Stars at the front, in the middle and at the end of an unpacked shape."""

    @nn.compact
    def __call__(self, x):
        *_, width = x.shape
        batch, *middle, last = x.shape
        scale = self.param("scale", nn.initializers.ones, (width,))
        bias = self.param("bias", nn.initializers.normal(0.1), (last, len(middle)))
        return x.reshape(batch, *middle, last) * scale + bias[:, 0]


CASES = [
    ("Patches", {}, [(2, 6, 6, 3)], {}),
    ("Patches", {"kind": "tiled"}, [(2, 6, 6, 6)], {}),
    ("Widths", {}, [(2, 3)], {}),
    ("Widths", {"kind": "double"}, [(2, 3)], {}),
    ("LocalChoice", {}, [(2, 3)], {}),
    ("LocalChoice", {"double": True}, [(2, 3)], {}),
    ("DictOrArray", {}, [(2, 3)], {}),
    ("Frozen", {}, [(2, 3)], {}),
    ("Pooled", {}, [(2, 3, 4)], {}),
    ("Pooled", {}, [(2, 2, 3, 4)], {}),
    ("StarredEnds", {}, [(2, 5, 3)], {}),
]
