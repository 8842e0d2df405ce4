"""Tuples with the rest of a field's: `(1, *self.kernel_size[1:])`, and sizes of such items where others use the module."""

from collections.abc import Sequence

from flax import linen as nn


class Separable(nn.Module):
    """The window of one axis after that of the others, whose results have sizes by it."""

    features: int
    kernel_size: Sequence[int]
    strides: Sequence[int] = (1, 1)

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.features, (1, *self.kernel_size[1:]), strides=(1, *self.strides[1:]), padding="VALID")(x)
        return nn.Conv(self.features, (self.kernel_size[0], 1), padding="VALID")(x)


class UsesSeparable(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Separable(4, kernel_size=(3, 2))(x)
        x = Separable(4, kernel_size=(2, 3), strides=(1, 2))(x)
        return nn.Dense(3)(x.reshape(x.shape[0], -1))


class LastOfRest(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        widths = (5, *self.widths[1:])
        x = nn.Dense(widths[0])(x)
        return nn.Dense(widths[-1])(nn.relu(x))


class UsesLastOfRest(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = LastOfRest((2, 4))(x)
        return nn.Dense(x.shape[-1] * 2)(x)


CASES = [
    ("Separable", {"features": 2, "kernel_size": (3, 2)}, [(2, 8, 8, 3)], {}),
    ("UsesSeparable", {}, [(2, 8, 9, 3)], {}),
    ("LastOfRest", {"widths": (2, 3)}, [(2, 3)], {}),
    ("UsesLastOfRest", {}, [(2, 3)], {}),
]
