"""Functions that hand options on to the layer that they make: a mapping of a field, one of a name that the caller has."""

from typing import Any

from flax import linen as nn


def norm(**kwargs):
    return nn.LayerNorm(**kwargs)


def dense(scale):
    options = {}
    if scale:
        options["kernel_init"] = nn.initializers.constant(scale)
    return nn.Dense(4, **options)


class OfField(nn.Module):
    options: Any = None

    @nn.compact
    def __call__(self, x):
        return norm(**self.options)(x)


class OneName(nn.Module):
    scale: Any = None

    @nn.compact
    def __call__(self, x):
        options = {"use_bias": False}
        return dense(self.scale)(nn.LayerNorm(**options)(x))


CASES = [
    ("OfField", {"options": {"epsilon": 1e-2}}, [(2, 4)], {}),
    ("OfField", {"options": {"use_bias": False}}, [(2, 4)], {}),
    ("OneName", {}, [(2, 4)], {}),
    ("OneName", {"scale": 0.3}, [(2, 4)], {}),
]
