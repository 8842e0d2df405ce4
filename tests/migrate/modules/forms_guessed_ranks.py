"""Inputs whose number of dimensions only a guess tells: one that takes no batch for a size; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class MeanOverSpace(nn.Module):
    """With three dimensions the head would be as wide as the batch."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        x = jnp.mean(x, axis=(1, 2))
        return nn.Dense(3)(x)


class Flattened(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(3)(x)


class UnbatchedMean(nn.Module):
    """The batch is a size here, whatever is guessed."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        return nn.Dense(3)(x.mean(axis=1).T)


class PartOfGuess(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.normal(0.3), (x.shape[1] * x.shape[2],))
        return nn.Dense(self.features)(x * w.reshape(x.shape[1:]))


class WholeOfGuess(nn.Module):
    """Gives the part a shape, and so takes the same number of dimensions for granted."""

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        return PartOfGuess(5)(x)


class Squeezed(nn.Module):
    """Averages over the middle axes of an image that keep them: with three dimensions no features would be left."""

    ratio: float = 0.25

    @nn.compact
    def __call__(self, x):
        channels = x.shape[-1]
        s = jnp.mean(x, axis=(1, 2), keepdims=True)
        s = nn.Conv(max(1, int(channels * self.ratio)), (1, 1))(s)
        return x * nn.sigmoid(nn.Conv(channels, (1, 1))(nn.relu(s)))


class SqueezedDense(nn.Module):
    @nn.compact
    def __call__(self, x):
        s = x.mean(axis=(1, 2), keepdims=True)
        return x * nn.sigmoid(nn.Dense(x.shape[-1])(nn.Dense(2)(s)))


class SqueezedLength(nn.Module):
    @nn.compact
    def __call__(self, x):
        s = jnp.mean(x, axis=1, keepdims=True)
        return x * nn.sigmoid(nn.Dense(x.shape[-1])(s))


class OneFeature(nn.Module):
    """A layer of one feature says nothing of the rank."""

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(4)(x[..., None])
        return nn.Dense(3)(y.mean(axis=1))


class MergedPatches(nn.Module):
    """A slice with a step, and nothing behind it: the features are not what it halves."""

    @nn.compact
    def __call__(self, x):
        parts = [x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]]
        x = nn.LayerNorm()(jnp.concatenate(parts, -1))
        return nn.Dense(2 * x.shape[-1], use_bias=False)(x)


class EverySecondRow(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x[:, ::2, ::2])


class FromTheFirst(nn.Module):
    """`0:` leaves nothing out, with a step or without."""

    @nn.compact
    def __call__(self, x):
        a, b = nn.Dense(4)(x[..., 0:]), nn.Dense(4)(x[..., 0::2])
        h = (a + b)[:, 0:]
        return nn.Dense(2)(h.reshape(h.shape[0], -1))


class PatchesInside(nn.Module):
    """What another class calls shows the rank."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(MergedPatches()(nn.Conv(4, (2, 2))(x)).mean((1, 2)))


CASES = [
    ("MergedPatches", {}, [(2, 4, 6, 3)], {}),
    ("EverySecondRow", {}, [(2, 4, 6, 3)], {}),
    ("FromTheFirst", {}, [(2, 5, 7)], {}),
    ("PatchesInside", {}, [(2, 4, 6, 3)], {}),
    ("Squeezed", {}, [(2, 4, 4, 8)], {}),
    ("SqueezedDense", {}, [(2, 4, 4, 8)], {}),
    ("SqueezedLength", {}, [(2, 4, 8)], {}),
    ("OneFeature", {}, [(2, 4, 8)], {}),
    ("WholeOfGuess", {}, [(2, 5, 6)], {}),
    ("MeanOverSpace", {}, [(2, 5, 6, 7)], {}),
    ("Flattened", {}, [(2, 5, 7)], {}),
    ("UnbatchedMean", {}, [(2, 5, 7)], {}),
]
