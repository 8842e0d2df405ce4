"""Subclasses of layers whose own `__init__` says some of their fields."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.initializers import variance_scaling


class Dense(nn.Dense):
    """As another library starts its layers."""

    def __init__(self, *args, **kwargs):
        # The scale of that library.
        scale = 1 / 3
        kernel_init = variance_scaling(scale, "fan_in", "uniform")
        kwargs.update({"kernel_init": kernel_init})
        super().__init__(*args, **kwargs)


class General(nn.DenseGeneral):
    def __init__(self, *args: Any, **kwargs: Any):
        kwargs["bias_init"] = nn.initializers.ones
        kwargs.update(kernel_init=nn.initializers.constant(0.1))
        super().__init__(*args, **kwargs)


class Flat(nn.Conv):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs, use_bias=False, padding="VALID")


class Outside(nn.Dense):
    """One that code outside of modules makes for itself."""

    def __init__(self, *args, **kwargs):
        kwargs["bias_init"] = nn.initializers.ones
        super().__init__(*args, **kwargs)


def shapes():
    layer = Outside(2)
    return jax.eval_shape(lambda: layer.init(jax.random.key(0), jnp.ones((2, 3))))


class Net(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        x = Dense(self.width)(x)
        x = General((2, self.width))(x).sum(-2)
        x = Flat(self.width, kernel_size=(3,))(x)
        return Dense(features=3, use_bias=False)(Outside(5)(jnp.tanh(x)))


CASES = [("Net", {}, [(2, 5, 3)], {}), ("Net", {"width": 6}, [(2, 5, 3)], {})]
