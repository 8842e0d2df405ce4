"""Helpers whose layers cannot be handed to them, or whose names clash: their text stands in the caller."""

import jax.numpy as jnp
from flax import linen as nn


class KindOrActivation(nn.Module):
    kind: str = "a"

    def setup(self):
        self.activation = make_11(self.kind)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.activation(nn.Dense(3)(x)))


def make_11(kind):
    return nn.Dense(7) if kind == "a" else (lambda x: x)


class NumbersAcrossMethods(nn.Module):
    flag: bool = False

    @nn.compact
    def __call__(self, x):
        if self.flag:
            x = nn.Dense(4)(x)
        return self.head(x)

    def head(self, x):
        return nn.Dense(4)(x)


class MethodInALoop(nn.Module):
    n: int = 3

    def block(self, x):
        return nn.relu(nn.Dense(4)(x))

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = self.block(x)
        return x


class NumberUnderOneName(nn.Module):
    w: int = 4
    flag: bool = True

    def setup(self):
        d = self.w
        if self.flag:
            d = d * 2
        self.a = nn.Dense(d)
        self.b = self.make()

    def make(self):
        d = 5
        return nn.Dense(d)

    def __call__(self, x):
        return self.b(self.a(x))


class ArgumentLikeAField(nn.Module):
    dim: int = 4

    def setup(self):
        self.first = nn.Dense(self.dim)
        self.layer = self.make(3)

    def make(self, dim):
        return nn.Dense(dim)

    def __call__(self, x):
        return self.layer(self.first(x))


class TwoCallsOfAMethod(nn.Module):
    dim: int = 4

    def setup(self):
        self.first = self.make()
        self.layer = self.make()

    def make(self):
        return nn.Dense(self.dim)

    def __call__(self, x):
        return self.layer(self.first(x))


class KeywordsOfAMethod(nn.Module):
    dim: int = 4

    def setup(self):
        self.layer = self.make(use_bias=False)

    def make(self, **options):
        return nn.Dense(self.dim)

    def __call__(self, x):
        return self.layer(x)


def stack_18(x, n):
    for _ in range(n):
        x = nn.Dense(4)(x)
    return x


class LayersInALoop(nn.Module):
    @nn.compact
    def __call__(self, x):
        return stack_18(x, 3)


def count_19(module, x):
    seen = module.variable("stats", "seen", lambda: jnp.zeros(()))
    return x + seen.value


class VariableOfAHelper(nn.Module):
    @nn.compact
    def __call__(self, x):
        return count_19(self, nn.Dense(3)(x))


def scaled_20(module, x):
    w = module.param("w", nn.initializers.ones, (3,))
    return x if module.is_initializing() else x * w


class Initializing(nn.Module):
    @nn.compact
    def __call__(self, x):
        return scaled_20(self, nn.Dense(3)(x))


def mlp_21(n):
    return nn.Sequential([nn.Dense(n), nn.relu])


class LayerOfLayers(nn.Module):
    def setup(self):
        self.head = mlp_21(3)

    def __call__(self, x):
        return self.head(x)


def dense_23(n):
    m = 2 * n
    return nn.Dense(m)


class ComputedSize(nn.Module):
    def setup(self):
        self.head = dense_23(3)

    def __call__(self, x):
        return self.head(x)


def dense_24(n, name):
    return nn.Dense(n, name=name)


class NameOfAHelper(nn.Module):
    def setup(self):
        self.head = dense_24(3, "other")

    def __call__(self, x):
        return self.head(x)


def dense_25(n):
    return nn.remat(nn.Dense)(n)


class UnderATransform(nn.Module):
    def setup(self):
        self.head = dense_25(3)

    def __call__(self, x):
        return self.head(x)


class Plus27(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return self.inner(x)


def plus_27(inner):
    return Plus27(inner)


class MadeInTheArguments(nn.Module):
    def setup(self):
        self.head = plus_27(nn.Dense(3))

    def __call__(self, x):
        return self.head(x)


def maybe_28(x, make):
    if make:
        x = nn.Dense(3)(x)
    return x


class MadeOrNot(nn.Module):
    @nn.compact
    def __call__(self, x):
        for i in range(4):
            x = maybe_28(x, i % 2 == 0)
        return x


def block_29(x):
    return nn.remat(nn.Dense)(3)(x)


class TransformOfAHelper(nn.Module):
    @nn.compact
    def __call__(self, x):
        return block_29(x)


def norm_x(kind, x):
    if kind == "rms":
        return nn.RMSNorm()(x)
    return nn.LayerNorm()(x)


class UnlikeKinds(nn.Module):
    kind: str = "rms"
    other: str = "rms"
    first: bool = True

    @nn.compact
    def __call__(self, x):
        if self.first:
            x = norm_x(self.kind, x)
        return norm_x(self.other, x)


class UnlikeKindsInALoop(nn.Module):
    kind: str = "rms"
    first: bool = True

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            if self.first:
                x = norm_x(self.kind, x)
        return norm_x(self.kind, x)


def scale_and_width(module, name, width):
    wide = width * 2
    return module.param(name, nn.initializers.ones, (wide,))


def scale(module, name, width):
    return 2.0 * module.param(name, nn.initializers.ones, (width,))


class ShapeOfAFunction(nn.Module):
    width: int = 3

    def setup(self):
        self.scale = scale_and_width(self, "scale", self.width)

    def __call__(self, x):
        return self.scale * x.sum()


class ListOfParameters(nn.Module):
    width: int = 3

    def setup(self):
        held = [scale(self, "scale", self.width)]
        self.scales = held

    def __call__(self, x):
        return x * self.scales[0]


def both(n):
    return nn.Dense(n) if n > 2 else nn.Dense(n, use_bias=False)


class OneOfTwo(nn.Module):
    n: int = 4

    def setup(self):
        self.layer = both(self.n)

    def __call__(self, x):
        return self.layer(x)


class NamedByItsClass(nn.Module):
    """Helpers that are called by the name of the class, with or without a `self` of their own."""

    width: int = 4

    @staticmethod
    def made_body(self, more):
        return nn.Dense(self.width + more)

    def made_head(self):
        return nn.Dense(self.width)

    def setup(self):
        self.body = NamedByItsClass.made_body(self, 2)
        self.last = NamedByItsClass.made_head(self)

    def __call__(self, x):
        return self.last(self.body(x) + 1)


CASES = [
    ("NamedByItsClass", {}, [(2, 3)], {}),
    ("KindOrActivation", {}, [(2, 3)], {}),
    ("KindOrActivation", {"kind": "b"}, [(2, 3)], {}),
    ("NumbersAcrossMethods", {}, [(2, 3)], {}),
    ("NumbersAcrossMethods", {"flag": True}, [(2, 3)], {}),
    ("MethodInALoop", {}, [(2, 3)], {}),
    ("NumberUnderOneName", {}, [(2, 3)], {}),
    ("NumberUnderOneName", {"flag": False}, [(2, 3)], {}),
    ("ArgumentLikeAField", {}, [(2, 3)], {}),
    ("TwoCallsOfAMethod", {}, [(2, 3)], {}),
    ("KeywordsOfAMethod", {}, [(2, 3)], {}),
    ("LayersInALoop", {}, [(2, 3)], {}),
    ("VariableOfAHelper", {}, [(2, 3)], {}),
    ("Initializing", {}, [(2, 3)], {}),
    ("LayerOfLayers", {}, [(2, 3)], {}),
    ("ComputedSize", {}, [(2, 3)], {}),
    ("NameOfAHelper", {}, [(2, 3)], {}),
    ("UnderATransform", {}, [(2, 3)], {}),
    ("MadeInTheArguments", {}, [(2, 3)], {}),
    ("MadeOrNot", {}, [(2, 3)], {}),
    ("TransformOfAHelper", {}, [(2, 3)], {}),
    ("UnlikeKinds", {}, [(2, 3)], {}),
    ("UnlikeKinds", {"kind": "layer"}, [(2, 3)], {}),
    ("UnlikeKinds", {"other": "layer"}, [(2, 3)], {}),
    ("UnlikeKinds", {"first": False, "other": "layer"}, [(2, 3)], {}),
    ("UnlikeKindsInALoop", {}, [(2, 3)], {}),
    ("UnlikeKindsInALoop", {"kind": "layer"}, [(2, 3)], {}),
    ("UnlikeKindsInALoop", {"first": False}, [(2, 3)], {}),
    ("ShapeOfAFunction", {}, [(2, 3)], {}),
    ("ListOfParameters", {}, [(2, 3)], {}),
    ("OneOfTwo", {}, [(2, 3)], {}),
    ("OneOfTwo", {"n": 2}, [(2, 3)], {}),
]
