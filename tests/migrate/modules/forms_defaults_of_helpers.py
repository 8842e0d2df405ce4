"""Functions that make layers for their callers with what a parameter is by default: the constructor says it, too."""

# ruff: noqa: B008

from flax import linen as nn


def one(x, width, kernel_init=nn.initializers.lecun_normal()):
    return nn.Dense(width, kernel_init=kernel_init)(x)


def two(x, width, kernel_init=(nn.initializers.lecun_normal()), scale=(2)):
    return nn.Dense(width, kernel_init=kernel_init)(x) * scale


def three(
    x,
    width,
    kernel_init=nn.initializers.lecun_normal(),  # of the kernel
):
    return nn.Dense(width, kernel_init=kernel_init)(x)


def four(x, *, kernel_init=nn.initializers.lecun_normal()):
    return nn.Dense(3, kernel_init=kernel_init)(x)


class Once(nn.Module):
    @nn.compact
    def __call__(self, x):
        kernel_init = nn.initializers.normal(stddev=1e-3)
        return one(x, 4, kernel_init) + one(x, 4)


class Others(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = two(x, 4) + two(x, 4, nn.initializers.ones, 3)
        x = three(x, 4) + three(x, 4, nn.initializers.ones)
        return four(x) + four(x, kernel_init=nn.initializers.ones)


CASES = [
    ("Once", {}, [(2, 3)], {}),
    ("Others", {}, [(2, 3)], {}),
]
