"""Parameters whose first value the call computes from sizes and fields, with functions of the project and of jax."""

from dataclasses import field
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.linen.linear import _conv_dimension_numbers


def first_values(shape, scale=1, bias=True, given=None, name="", key=None):
    if given is None:
        w = jax.random.normal(key, shape=shape, dtype=jnp.float32) / scale
        if bias:
            b = jnp.zeros(shape=(shape[-1],), dtype=jnp.float32)
    else:
        w = jnp.array(given[name]["w"]).astype(jnp.float32)
        if bias:
            b = jnp.array(given[name]["b"]).astype(jnp.float32)
    if bias:
        return w, b
    return w


class Pair(nn.Module):
    features: int = 3
    key: Any = field(default_factory=lambda: jax.random.PRNGKey(0))

    @nn.compact
    def __call__(self, x):
        w, b = first_values([x.shape[-1], self.features], 2, key=self.key)
        w = self.param(name="weight", init_fn=lambda *_: w)
        b = self.param(name="bias", init_fn=lambda *_: b)
        return x @ w + b


class Perhaps(nn.Module):
    """One value or two, by a field."""

    features: int = 3
    use_bias: bool = True
    given: Any = None
    key: Any = field(default_factory=lambda: jax.random.PRNGKey(0))

    @nn.compact
    def __call__(self, x):
        made = first_values([x.shape[-1], self.features], 2, self.use_bias, self.given, "layer", self.key)
        if self.use_bias:
            w, b = made
        else:
            w = made
        w = self.param(name="weight", init_fn=lambda *_: w)
        x = x @ w
        if self.use_bias:
            b = self.param(name="bias", init_fn=lambda *_: b)
            x = x + b
        return x


class Drawn(nn.Module):
    features: int = 3
    key: Any = field(default_factory=lambda: jax.random.PRNGKey(0))

    @nn.compact
    def __call__(self, x):
        key, other = jax.random.split(self.key)
        w = jax.random.normal(key, (x.shape[-1], self.features))
        w = self.param("weight", lambda *_: w)
        b = self.param("bias", lambda *_: jax.random.normal(other, (self.features,)))
        return nn.Dense(2)(x @ w + b)


def numbers(shape):
    rank = len(shape)
    lhs = (0, rank - 1, *tuple(range(1, rank - 1)))
    return jax.lax.ConvDimensionNumbers(lhs, (rank - 1, rank - 2, *tuple(range(rank - 2))), lhs)


class LinenNumbers(nn.Module):
    """Convolutions whose dimensions Linen's own helper numbers, for any rank."""

    features: int = 3

    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.normal(), (3, 3, x.shape[3], self.features))
        named = nn.linear._conv_dimension_numbers(x.shape)
        x = jax.lax.conv_general_dilated(x, w, window_strides=(2, 2), padding="SAME", dimension_numbers=named)
        x = nn.Dense(5)(x)
        w = self.param("v", nn.initializers.normal(), (1, 1, 5, 4))
        x = jax.lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=_conv_dimension_numbers(x.shape))
        return nn.Dense(2)(x.reshape(x.shape[0], -1))


class OwnNumbers(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        _, _, _, channels = x.shape
        w = self.param("w", nn.initializers.normal(), (3, 3, channels, self.features))
        x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers(x.shape))
        return nn.Dense(5)(x)


class Zeroed(nn.Module):
    """A mapping of keywords that one side of a condition leaves empty."""

    features: int = 3
    zero: bool = False

    @nn.compact
    def __call__(self, x):
        kw = {"kernel_init": nn.initializers.zeros} if self.zero else {}
        x = nn.DenseGeneral((2, self.features), **kw)(x)
        if self.zero:
            more = dict(use_bias=False)
        else:
            more = {}
        return nn.Conv(self.features, (1,), **more)(nn.LayerNorm(**more)(x))


def linear(features, given, bias=True):
    if given is None:
        return nn.Dense(features=features, use_bias=bias)
    else:
        if bias:
            assert "bias" in given
            return nn.Dense(
                features, kernel_init=lambda *_: jnp.array(given["weight"]), bias_init=lambda *_: jnp.array(given["bias"])
            )
        else:
            return nn.Dense(features, use_bias=False, kernel_init=lambda *_: jnp.array(given["weight"]))


def part(given, name):
    if given is None:
        return None
    return given[name]


class Loaded(nn.Module):
    """A function that makes one of several layers by what another function finds."""

    features: int = 3
    given: Any = None

    @nn.compact
    def __call__(self, x):
        x = linear(self.features * 2, part(self.given, "first"))(x)
        return linear(self.features, part(self.given, "second"), bias=False)(nn.relu(x))


LOADED = {"first": {"weight": [[1.0, -2.0] * 3] * 4, "bias": [0.5] * 6}, "second": {"weight": [[1.0, 2.0, 3.0]] * 6}}


class Extractor(nn.Module):
    width: int = 4
    activation: Any = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.activation(nn.Dense(self.width)(x))


class Annotated(nn.Module):
    """Nothing gives the field a class, and its annotation names it."""

    extractor: type[Extractor] | None = None
    width: int = 4

    @nn.compact
    def __call__(self, x):
        if self.extractor is not None:
            x = self.extractor(self.width, nn.tanh)(x)
        return nn.Dense(2)(x)


class Schedule(nn.Module):
    """First values from numbers of fields that jax clips, compares and chooses among."""

    low: float = 0.01
    high: float = 0.99
    decay: float = 2.0

    @nn.compact
    def __call__(self, t):
        decay_value = jnp.log1p(jnp.expm1(self.decay)) if self.decay > 0 else -10.0
        low_value = jax.scipy.special.logit((self.low - 0.001) / 0.998)
        low = jnp.clip(self.low, 0.001, 0.998)
        room, used = 0.999 - low, jnp.clip(self.high, low, 0.999) - low
        part = jnp.where(room > 0, used / room, 0.0)
        part_value = jax.scipy.special.logit(jnp.clip(part, 0.001, 0.999))
        decay = self.param("decay", nn.initializers.constant(decay_value), ())
        start = self.param("start", nn.initializers.constant(low_value), ())
        span = self.param("span", nn.initializers.constant(part_value), ())
        return jax.nn.sigmoid(start) + jax.nn.sigmoid(span) * (1 - jnp.exp(-decay * t))


class ByEveryItem(nn.Module):
    """A condition on an array of a field."""

    sizes: Any = (4, 5)

    @nn.compact
    def __call__(self, x):
        if jnp.all(jnp.asarray(self.sizes) > 3):
            return nn.Dense(3)(x)
        return nn.Dense(2)(nn.Dense(4)(x))


CASES = [
    ("Schedule", {}, [(5,)], {}),
    ("Schedule", {"low": 0.5, "high": 0.2}, [(5,)], {}),
    ("ByEveryItem", {}, [(2, 4)], {}),
    ("ByEveryItem", {"sizes": (2, 5)}, [(2, 4)], {}),
    ("Pair", {}, [(2, 4)], {}),
    ("Perhaps", {}, [(2, 4)], {}),
    ("Perhaps", {"use_bias": False}, [(2, 4)], {}),
    ("Perhaps", {"given": {"layer": {"w": [[1.0, 2.0, 3.0]] * 4, "b": [1.0, 2.0, 3.0]}}}, [(2, 4)], {}),
    ("Drawn", {}, [(2, 4)], {}),
    ("LinenNumbers", {}, [(2, 8, 6, 4)], {}),
    ("OwnNumbers", {}, [(2, 8, 6, 4)], {}),
    ("Zeroed", {}, [(2, 4)], {}),
    ("Zeroed", {"zero": True}, [(2, 4)], {}),
    ("Loaded", {}, [(2, 4)], {}),
    ("Loaded", {"given": LOADED}, [(2, 4)], {}),
    ("Annotated", {}, [(2, 5)], {}),
    ("Annotated", {"extractor": Extractor}, [(2, 5)], {}),
]
