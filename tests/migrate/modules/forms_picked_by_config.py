"""Functions that pick a norm by what a config says, which they keep under a name; one that is no norm; padding by hand."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Scaled(nn.Module):
    bias: bool = False

    @nn.compact
    def __call__(self, x):
        y = x * self.param("scale", nn.initializers.ones, (x.shape[-1],))
        return y + self.param("shift", nn.initializers.ones, (x.shape[-1],)) if self.bias else y


class Moved(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + self.param("shift", nn.initializers.ones, (1, x.shape[-1]))


def pick(config, conditional=False):
    norm = config["norm"].lower()
    if conditional:
        if norm == "scaled":
            return functools.partial(Scaled, bias=True)
        else:
            raise NotImplementedError(norm)
    else:
        if norm == "scaled":
            return Scaled
        elif norm == "moved":
            return Moved
        elif norm == "layer":
            return nn.LayerNorm
        else:
            raise ValueError(norm)


class Picked(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        config = self.config
        norm = pick(config)
        x = nn.Dense(5)(norm()(x))
        return norm()(x)


class Conditional(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        return nn.Dense(5)(pick(self.config, conditional=True)()(x))


def norm_or_none(kind, dtype):
    if kind == "layer":
        norm = functools.partial(nn.LayerNorm, dtype=dtype)
    elif kind == "group":
        norm = functools.partial(nn.GroupNorm, num_groups=2, dtype=dtype)
    elif kind is None:
        norm = lambda: lambda x: x  # noqa: E731
    else:
        raise NotImplementedError(kind)
    return norm


class OrNone(nn.Module):
    kind: Any = "layer"

    @nn.compact
    def __call__(self, x):
        norm = norm_or_none(self.kind, jnp.float32)
        x = norm()(nn.Dense(4)(x))
        return nn.Dense(3)(norm()(x))


def convolution(features, kernel_size, padding, **options):
    if isinstance(padding, str) and padding.lower() in ("wrapped", "edges"):
        if not (isinstance(kernel_size, tuple) and len(kernel_size) == 2):
            raise ValueError(kernel_size)
        return Padded(features, kernel_size, mode={"wrapped": "wrap", "edges": "edge"}[padding.lower()], **options)
    return nn.Conv(features, kernel_size, padding=padding, **options)


class Padded(nn.Module):
    features: int
    kernel_size: tuple
    mode: str = "wrap"
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        pads = [(0, 0)] * x.ndim
        pads[-2] = (self.kernel_size[1] // 2, self.kernel_size[1] // 2)
        x = jnp.pad(x, pads, mode=self.mode)
        return nn.Conv(self.features, self.kernel_size, padding="VALID", use_bias=self.use_bias)(x)


class Convolved(nn.Module):
    padding: str = "SAME"

    @nn.compact
    def __call__(self, x):
        x = convolution(4, (1, 3), self.padding, name="first")(x)
        return convolution(3, (1, 3), self.padding, use_bias=False)(x)


CASES = [
    ("Picked", {"config": {"norm": "Scaled"}}, [(2, 4)], {}),
    ("Picked", {"config": {"norm": "moved"}}, [(2, 4)], {}),
    ("Picked", {"config": {"norm": "Layer"}}, [(2, 4)], {}),
    ("Conditional", {"config": {"norm": "scaled"}}, [(2, 4)], {}),
    ("OrNone", {}, [(2, 4)], {}),
    ("OrNone", {"kind": "group"}, [(2, 4)], {}),
    ("OrNone", {"kind": None}, [(2, 4)], {}),
    ("Convolved", {}, [(2, 5, 6, 3)], {}),
    ("Convolved", {"padding": "Wrapped"}, [(2, 5, 6, 3)], {}),
    ("Convolved", {"padding": "edges"}, [(2, 5, 6, 3)], {}),
    ("Convolved", {"padding": "VALID"}, [(2, 5, 6, 3)], {}),
]
