"""Modules that a compact method always makes and calls under a condition: they have variables where they are called."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp


class Named(nn.Module):
    flag: bool = False

    @nn.compact
    def __call__(self, x):
        for i in range(3):
            m = nn.Dense(3)
            if i == 1 or self.flag:
                x = m(x)
        return x


class First(nn.Module):
    count: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.count):
            m = nn.Dense(3)
            if i < 2:
                x = m(x)
        return x


class Between(nn.Module):
    """A norm behind all layers but the last, as it is often written."""

    features: Sequence[int] = (4, 5, 3)

    @nn.compact
    def __call__(self, x):
        for i, f in enumerate(self.features):
            norm = nn.LayerNorm()
            x = nn.Dense(f)(x)
            if i < len(self.features) - 1:
                x = nn.relu(norm(x))
        return x


class BetweenNamed(nn.Module):
    features: Sequence[int] = (4, 5, 3)

    @nn.compact
    def __call__(self, x, train: bool = False):
        for i, f in enumerate(self.features):
            dense = nn.Dense(f, name=f"dense{i}")
            norm = nn.BatchNorm(use_running_average=not train, name=f"norm{i}")
            x = dense(x)
            if i < len(self.features) - 1:
                x = nn.relu(norm(x))
        return x


class Chosen(nn.Module):
    features: Sequence[int] = (3, 3, 3)
    used: Sequence[bool] = (True, False, True)

    @nn.compact
    def __call__(self, x):
        for f, use in zip(self.features, self.used):
            m = nn.Dense(f)
            if use:
                x = m(x)
        return x


class InOneExpression(nn.Module):
    count: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.count):
            m = nn.Dense(3)
            x = m(x) if i % 2 else x
        return x


class Skipped(nn.Module):
    count: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.count):
            m = nn.Dense(3)
            if i == 0:
                continue
            x = m(x)
        return x


class Pairs(nn.Module):
    flag: bool = False

    @nn.compact
    def __call__(self, x):
        for i in range(3):
            a, b = nn.Dense(3), nn.LayerNorm()
            x = a(x)
            if i > 0 and self.flag:
                x = b(x)
        return x


class Inner(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x))


class Several(nn.Module):
    count: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.count):
            inner = Inner(3)
            proj = nn.Dense(3)
            if i == 0:
                x = proj(x)
            elif i == 1:
                x = inner(x)
            else:
                x = inner(proj(x))
        return x


class Either(nn.Module):
    first: bool = False
    second: bool = False

    @nn.compact
    def __call__(self, x):
        m = nn.Dense(x.shape[-1])
        if self.first:
            x = m(x)
        if self.second:
            x = m(2 * x)
        return x


class Both(nn.Module):
    flag: bool = False

    @nn.compact
    def __call__(self, x):
        m = nn.Dense(3)
        if self.flag:
            return m(x)
        return m(2 * x)


class KnownBefore(nn.Module):
    count: int = 3
    flag: bool = False

    @nn.compact
    def __call__(self, x):
        times = 3 if self.flag else 1
        outer = nn.Dense(3)
        if times > 1:
            x = outer(x)
        for i in range(self.count):
            last = i == self.count - 1
            m = nn.Dense(x.shape[-1])
            if not last and not self.flag:
                x = m(x)
            elif self.flag:
                x = x * 2
        return x


class BySides(nn.Module):
    @nn.compact
    def __call__(self, x):
        batch, features = x.shape
        m = nn.Dense(7)
        if features > 7:
            x = m(x)
        else:
            x = m(2 * x)
        return x


class AllOfAList(nn.Module):
    @nn.compact
    def __call__(self, x):
        ms = [nn.Dense(3) for _ in range(3)]
        named = {k: nn.Dense(3) for k in ("q", "k")}
        return ms[0](x) + ms[1](x) * ms[-1](x) + named["q"](x) - named["k"](x)


class InItsPass(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = []
        for _ in range(3):
            layers.append(nn.Dense(4))
            x = layers[-1](x)
        return x


class InOneOfManyPasses(nn.Module):
    levels: int = 3
    single: bool = False

    @nn.compact
    def __call__(self, x):
        last = Inner(x.shape[-1])
        before = last if self.single else Inner(x.shape[-1])
        for i in range(self.levels):
            is_last = i == self.levels - 1
            m = last if is_last else before
            x = m(x)
        return x


class BesideFlags(nn.Module):
    use: bool = False

    @nn.compact
    def __call__(self, x, more: bool = True):
        for i in range(3):
            first, second, third = nn.Dense(x.shape[-1]), nn.LayerNorm(), nn.Dense(x.shape[-1])
            x = first(x) if i > 0 and more else x
            if self.use and more:
                x = second(x)
            if not (i < 2 and more):
                continue
            x = third(x)
        return x


class SameName(nn.Module):
    use: bool = False

    @nn.compact
    def __call__(self, x):
        for i in range(3):
            m = nn.LayerNorm()
            if i < 2:
                x = m(x)
        m = nn.Dense(3, dtype=jnp.bfloat16)
        if self.use:
            x = m(x)
        m: nn.Module = nn.Dense(4)
        if not self.use:
            x = m(x)
        if (m := nn.LayerNorm()) is not None and self.use:
            x = m(x)
        return nn.Dense(2)(x)


CASES = [
    ("SameName", {}, [(2, 3)], {}),
    ("SameName", {"use": True}, [(2, 3)], {}),
    ("BesideFlags", {}, [(2, 3)], {}),
    ("BesideFlags", {"use": True}, [(2, 3)], {}),
    ("InOneOfManyPasses", {}, [(2, 3)], {}),
    ("InOneOfManyPasses", {"single": True}, [(2, 3)], {}),
    ("InItsPass", {}, [(2, 3)], {}),
    ("Named", {}, [(2, 3)], {}),
    ("Named", {"flag": True}, [(2, 3)], {}),
    ("First", {}, [(2, 3)], {}),
    ("First", {"count": 1}, [(2, 3)], {}),
    ("Between", {}, [(2, 3)], {}),
    ("BetweenNamed", {}, [(2, 3)], {}),
    ("BetweenNamed", {}, [(2, 3)], {"train": True}),
    ("Chosen", {}, [(2, 3)], {}),
    ("Chosen", {"used": (False, True, False)}, [(2, 3)], {}),
    ("InOneExpression", {}, [(2, 3)], {}),
    ("Skipped", {}, [(2, 3)], {}),
    ("Pairs", {}, [(2, 3)], {}),
    ("Pairs", {"flag": True}, [(2, 3)], {}),
    ("Several", {}, [(2, 3)], {}),
    ("Several", {"count": 2}, [(2, 3)], {}),
    ("Either", {}, [(2, 3)], {}),
    ("Either", {"first": True}, [(2, 3)], {}),
    ("Either", {"second": True}, [(2, 3)], {}),
    ("Both", {}, [(2, 3)], {}),
    ("Both", {"flag": True}, [(2, 3)], {}),
    ("KnownBefore", {}, [(2, 3)], {}),
    ("KnownBefore", {"flag": True}, [(2, 3)], {}),
    ("BySides", {}, [(2, 3)], {}),
    ("AllOfAList", {}, [(2, 3)], {}),
]
