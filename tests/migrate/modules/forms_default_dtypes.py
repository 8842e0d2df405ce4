"""Parameters with the dtype that a field says, else with that of an array of the call: `self.dtype or x.dtype`."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class OfFieldOrInput(nn.Module):
    features: int = 3
    use_bias: bool = True
    dtype: Any = None

    @nn.compact
    def __call__(self, inputs):
        dtype = self.dtype or inputs.dtype
        inputs = jnp.asarray(inputs, dtype)
        kernel = self.param("kernel", nn.initializers.lecun_normal(), (inputs.shape[-1], self.features), dtype)
        outputs = inputs @ kernel
        if self.use_bias:
            outputs = outputs + self.param("bias", nn.initializers.zeros, (self.features,), dtype)
        return outputs


class UnlessNone(nn.Module):
    dtype: Any = None

    @nn.compact
    def __call__(self, x):
        dtype = x.dtype if self.dtype is None else self.dtype
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],), dtype)
        shift = self.param("shift", nn.initializers.zeros, x.shape[-1:], self.dtype if self.dtype is not None else x.dtype)
        return jnp.asarray(x, dtype) * scale + shift


class Around(nn.Module):
    dtype: Any = None

    @nn.compact
    def __call__(self, x):
        x = OfFieldOrInput(4, dtype=self.dtype)(x)
        return UnlessNone(dtype=self.dtype)(nn.relu(x))


class InLoops(nn.Module):
    """Parameters of a loop, each with the dtype of what it is used with."""

    levels: int = 2

    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        head, out = nn.Dense(4, dtype=x.dtype), []
        for level in range(self.levels):
            x = x * self.param(f"scale_{level}", nn.initializers.ones, (d,), x.dtype)
        for level, y in enumerate([x, x[:, ::2]]):
            y = head(y)
            out.append(y + self.param(f"shift_{level}", nn.initializers.zeros, (1,), y.dtype))
        return out


def parts(x, n):
    return jnp.split(x, n, axis=1)


class InLoopsOfOthers(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        head, out = nn.Dense(4), []
        for level, y in enumerate(parts(x, self.n)):
            y = head(y)
            out.append(y * self.param(f"scale_{level}", nn.initializers.ones, (1,), y.dtype))
        return out


CASES = [
    ("InLoops", {"levels": 3}, [(2, 4, 3)], {}),
    ("InLoopsOfOthers", {}, [(2, 4, 3)], {}),
    ("OfFieldOrInput", {}, [(2, 4)], {}),
    ("Around", {"dtype": jnp.bfloat16}, [(2, 4)], {}),
    ("UnlessNone", {}, [(2, 4)], {}),
    ("Around", {}, [(2, 4)], {}),
    ("OfFieldOrInput", {"dtype": jnp.bfloat16, "use_bias": False}, [(2, 4)], {}),
    ("UnlessNone", {"dtype": jnp.float16}, [(2, 4)], {}),
]
