"""Functions chosen by a condition of the fields: what the chosen one makes, and the sizes that it gives."""

import jax.numpy as jnp
from flax import linen as nn


class Network(nn.Module):
    norm_type: str = "layer"

    @nn.compact
    def __call__(self, x, train=False):
        if self.norm_type == "layer":

            def normalize(x):
                return nn.LayerNorm()(x)
        elif self.norm_type == "batch":

            def normalize(x):
                return nn.BatchNorm(use_running_average=not train)(x)
        else:

            def normalize(x):
                return x

        x = nn.relu(normalize(nn.Dense(4)(x)))
        for _ in range(2):
            x = nn.Dense(6)(x)
            x = normalize(x)
        return nn.Dense(2)(x)


class Widening(nn.Module):
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        if self.wide:
            part = lambda y: nn.Dense(7)(y)
        else:
            part = lambda y: y[..., :2]
        return nn.Dense(3)(part(nn.Dense(5)(x)))


class SameLayer(nn.Module):
    loose: bool = False

    @nn.compact
    def __call__(self, x):
        if self.loose:
            normalize = lambda y: nn.LayerNorm(epsilon=1e-2)(y)
        else:
            normalize = lambda y: nn.LayerNorm(use_bias=False)(y)
        x = normalize(nn.Dense(5)(x))
        return nn.LayerNorm()(nn.Dense(4)(x))


class Shared(nn.Module):
    """Both functions make layers that are counted with others."""

    deep: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        if self.deep:

            def head(y, width):
                return nn.Dense(width)(nn.relu(nn.Dense(8)(y)))
        else:

            def head(y, width):
                return nn.Dense(width)(y)

        return jnp.concatenate([head(x, 3), head(x, 2)], -1)


CASES = [
    ("Network", {}, [(2, 3)], {}),
    ("Network", {"norm_type": "batch"}, [(2, 3)], {}),
    ("Network", {"norm_type": "none"}, [(2, 3)], {}),
    ("Widening", {}, [(2, 3)], {}),
    ("Widening", {"wide": False}, [(2, 3)], {}),
    ("SameLayer", {}, [(2, 3)], {}),
    ("SameLayer", {"loose": True}, [(2, 3)], {}),
    ("Shared", {}, [(2, 3)], {}),
    ("Shared", {"deep": False}, [(2, 3)], {}),
]
