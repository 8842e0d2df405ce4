"""A `return` in a condition within a condition: what stands behind both is made where it is reached."""

import jax
from flax import linen as nn


class Chain(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        if self.kind == "a":
            x = nn.Dense(6)(x)
        elif self.kind == "b":
            x = 2 * x
        else:
            return nn.Dense(9)(x)
        return nn.Dense(7)(x)


class Within(nn.Module):
    early: bool = False
    hard: bool = False
    count: int = 1

    @nn.compact
    def __call__(self, x):
        if self.early:
            if self.hard or self.count > 2:
                return x
            x = nn.Dense(5)(x)
        x = nn.Dense(3)(x)
        if self.count == 1:
            x = x + 1
        elif self.count == 2:
            with jax.named_scope("two"):
                if self.hard:
                    return nn.Dense(2, name="mid")(x)
        else:
            if not self.hard:
                return nn.LayerNorm()(x)
        x = nn.Dense(4, name="out")(x)
        return nn.Dense(2)(x)


class Behind(nn.Module):
    """The other side of a condition that returns holds one that does on one of its own."""

    a: bool = False
    b: bool = False

    @nn.compact
    def __call__(self, x):
        if self.a:
            if self.b:
                return nn.Dense(2)(x)
            x = nn.LayerNorm()(x)
        else:
            return nn.Dense(3)(x)
        for size in (4, 5):
            x = nn.Dense(size)(x)
        return x


class Counted(nn.Module):
    """The size that the condition asks for is a constant on every way."""

    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        n = 2
        if self.kind == "a":
            n = 3
        elif n == 2:
            return x
        else:
            n = 2
        return nn.Dense(n)(x)


class Deep(nn.Module):
    """Three conditions, and statements behind each."""

    a: bool = False
    b: bool = False
    c: bool = False

    @nn.compact
    def __call__(self, x):
        if self.a:
            if self.b:
                if self.c:
                    return x
                x = nn.Dense(3, name="innermost")(x)
            x = nn.Dense(4, name="inner")(x)
        return nn.Dense(5, name="outer")(x)


class Helper(nn.Module):
    kind: str = "a"

    def last(self, x):
        if self.kind == "a":
            x = x + 1
        elif self.kind == "b":
            return x
        return nn.Dense(4)(x)

    @nn.compact
    def __call__(self, x):
        return self.last(nn.Dense(3)(x))


_BOTH = (False, True)
CASES = [
    *[("Chain", {"kind": kind}, [(2, 4)], {}) for kind in "abc"],
    *[
        ("Within", {"early": early, "hard": hard, "count": count}, [(2, 4)], {})
        for early in _BOTH
        for hard in _BOTH
        for count in (1, 2, 3)
        if not early or (count < 3 and not hard)
    ],
    *[("Behind", {"a": a, "b": b}, [(2, 4)], {}) for a in _BOTH for b in _BOTH],
    ("Counted", {"kind": "a"}, [(2, 4)], {}),
    *[("Deep", {"a": a, "b": b, "c": c}, [(2, 4)], {}) for a in _BOTH for b in _BOTH for c in _BOTH if not (a and b and c)],
    *[("Helper", {"kind": kind}, [(2, 4)], {}) for kind in "abc"],
]
