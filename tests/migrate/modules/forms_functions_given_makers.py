"""Functions that are given others which make layers, or layers in `*args`; with a `match` statement, a decorator that only
names them, a message of several lines."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn


def residual(x, f, scale=1.0):
    return x + scale * f(x)


def twice(f, x):
    y = f(x)
    y = nn.LayerNorm()(y)
    return f(y)


def chain(*layers, last=None):
    """A chain."""
    if last is not None:
        layers = (*layers, last)
    return nn.Sequential(layers)


def count(*layers):
    return nn.Dense(len(layers))


def build(kind, size):
    match kind:
        case "plain":
            return nn.Dense(size)
        case "bare" | "none":
            # without anything
            return nn.Dense(size, use_bias=False)
        case _:
            raise ValueError(
                f"there is no {kind} of "
                f"size {size}")  # fmt: skip


@jax.named_call
def named(x, n):
    x = nn.Dense(n)(x)
    return nn.relu(x)


def numbered(x, n, **options):
    if n < 1:
        raise ValueError(
            "too few: "
            f"{n}"
        )  # fmt: skip
    for i in range(n):
        x = nn.Dense(x.shape[-1], **options)(x) if i else nn.Dense(4)(x)
    return x


class GivenALambda(nn.Module):
    n: int = 5

    @nn.compact
    def __call__(self, x):
        x = residual(x, lambda y: nn.Dense(y.shape[-1])(y), scale=0.5)
        x = residual(nn.Dense(self.n)(x), lambda y: nn.Dense(self.n, use_bias=False)(nn.relu(y)))
        return residual(x, nn.tanh)


class GivenAFunction(nn.Module):
    @nn.compact
    def __call__(self, x):
        def inner(y):
            z = nn.Dense(8)(y)
            return nn.Dense(y.shape[-1])(nn.relu(z))

        x = residual(x, inner)
        x = twice(inner, x)
        return residual(x, inner)


class GivenAMethod(nn.Module):
    n: int = 3

    def block(self, y):
        return nn.Dense(self.n)(y)

    @nn.compact
    def __call__(self, x):
        return twice(self.block, residual(x, self.block))


class LayersOfSetup(nn.Module):
    def setup(self):
        self.a = chain(nn.Dense(4), nn.relu, nn.Dense(3))
        self.b = count(1, 2)

    def __call__(self, x):
        return self.b(self.a(x))


class ByMatch(nn.Module):
    kind: str = "plain"

    def setup(self):
        self.first = build(self.kind, 4)
        self.second = build("none", 3)

    def __call__(self, x):
        return self.second(self.first(x))


class ByMatchInACompactMethod(nn.Module):
    kind: str = "plain"

    @nn.compact
    def __call__(self, x):
        x = build(self.kind, 4)(x)
        return build(self.kind, 3)(x)


class ByAName(nn.Module):
    @nn.compact
    def __call__(self, x):
        return named(named(x, 4), 3)


class OptionsOfALoop(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        x = numbered(x, self.n, kernel_init=nn.initializers.normal(0.1))
        return numbered(x, 3, use_bias=False)


def embedding(width):
    def embed(x):
        return nn.Dense(width)(x)

    return embed


def over_parts(first=None, second=None):
    same = lambda x: x
    first_or_same = first if first else same
    second_or_same = second if second else same

    def run(pair):
        return first_or_same(pair[0]), second_or_same(pair[1])

    return run


def dense(x):
    return nn.Dense(3)(x)


class GivenWhatAMakerGives(nn.Module):
    @nn.compact
    def __call__(self, x):
        return over_parts(first=embedding(4), second=embedding(5))((x, x))


class OneOfTheTwo(nn.Module):
    @nn.compact
    def __call__(self, x):
        return over_parts(second=embedding(3))((x, x))


class GivenAFunctionOfTheFile(nn.Module):
    @nn.compact
    def __call__(self, x):
        return twice(dense, x)


def pair(n):
    return nn.Sequential([nn.Dense(4 + n), nn.relu])


class SequentialsOfACompactMethod(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        x = pair(1)(x)
        for i in range(self.n):
            x = pair(i)(x)
        return pair(2)(x)


CASES = [
    ("SequentialsOfACompactMethod", {}, [(2, 3)], {}),
    ("GivenWhatAMakerGives", {}, [(2, 3)], {}),
    ("OneOfTheTwo", {}, [(2, 3)], {}),
    ("GivenAFunctionOfTheFile", {}, [(2, 3)], {}),
    ("GivenALambda", {}, [(2, 3)], {}),
    ("GivenAFunction", {}, [(2, 3)], {}),
    ("ByMatch", {}, [(2, 3)], {}),
    ("GivenAMethod", {}, [(2, 3)], {}),
    ("LayersOfSetup", {}, [(2, 3)], {}),
    ("ByMatch", {"kind": "bare"}, [(2, 3)], {}),
    ("ByMatchInACompactMethod", {}, [(2, 3)], {}),
    ("ByMatchInACompactMethod", {"kind": "none"}, [(2, 3)], {}),
    ("ByAName", {}, [(2, 3)], {}),
    ("OptionsOfALoop", {}, [(2, 3)], {}),
]
