"""A layer with a norm of its own and the plain layer, made by what a field holds: arguments are keywords for both."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import lax


class Normed(nn.Module):
    """A convolution whose kernel is divided by a running estimate of its size."""

    features: int
    train: bool
    kernel_size: Any
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.initializers.lecun_normal(), (*self.kernel_size, x.shape[-1], self.features))
        size = self.variable("norm_stats", "size", lambda s: jnp.ones(s), (1, self.features))
        if self.train:
            size.value = 0.5 * size.value + 0.5 * jnp.sum(kernel**2, axis=(0, 1, 2))[None]
        y = lax.conv_general_dilated(
            x, kernel / jnp.sqrt(size.value), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        if self.use_bias:
            y = y + self.param("bias", nn.initializers.zeros, (self.features,))
        return y


class Block(nn.Module):
    features: int
    conv: Any

    @nn.compact
    def __call__(self, x):
        y = nn.relu(self.conv(self.features, kernel_size=(3, 3))(nn.relu(x)))
        y = self.conv(self.features, use_bias=False, kernel_size=(3, 3), name="last")(y)
        if x.shape[-1] != self.features:
            x = self.conv(self.features, kernel_size=(1, 1))(x)
        return x + y


class Critic(nn.Module):
    normed: bool
    train: bool = False

    @nn.compact
    def __call__(self, x):
        if self.normed:
            conv = functools.partial(Normed, train=self.train)
        else:
            conv = functools.partial(nn.Conv, padding="SAME")
        x = Block(5, conv)(conv(4, kernel_size=(1, 1))(x))
        return nn.Dense(1)(x.sum((1, 2)))


CASES = [
    ("Critic", {"normed": True, "train": True}, [(2, 4, 4, 3)], {}),
    ("Critic", {"normed": True}, [(2, 4, 4, 3)], {}),
    ("Critic", {"normed": False}, [(2, 4, 4, 3)], {}),
]
