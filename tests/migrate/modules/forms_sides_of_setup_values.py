"""What setup computes from parameters under conditions: sides that say constants, chains of them, and those on one line;
`CASES` as in forms_basic."""

from typing import Any

from flax import linen as nn
from flax.linen import initializers as init


class OrElse(nn.Module):
    kind: str = "a"

    def setup(self):
        self.w = self.param("w", init.normal(), (3,))
        if self.kind == "a":
            b = self.param("b", init.normal(), (3,))
        # otherwise
        else:
            # nothing
            b = 0.0

        self.c = self.w + b

    def __call__(self, x):
        return x * self.c


class Chained(nn.Module):
    kind: str = "a"

    def setup(self):
        self.w = self.param("w", init.normal(), (3,))
        if self.kind == "a":
            b = self.param("b", init.normal(), (3,))
        elif self.kind == "b":
            b = 0.0
        else:
            b = self.w * 2
        if self.kind == "c": d = self.param("d", init.normal(), (3,))
        else: d = 1.0
        if self.kind == "a":
            e = 1.0
        else:
            e = self.param("e", init.normal(), (3,))
        self.c = self.w + b * d * e

    def __call__(self, x):
        return x * self.c


class OnOneLine(nn.Module):
    kind: str = "a"

    def setup(self):
        self.w = self.param("w", init.normal(), (3,))
        if self.kind == "c": a = 2.0; d = self.param("d", init.normal(), (3,)) * a
        elif self.kind == "b": a = 1.0; d = a
        else: a = 2.0; d = self.w * a
        if self.kind == "a": pass
        else: d = d + 1
        self.c = self.w + d

    def __call__(self, x):
        return x * self.c


CASES: list[Any] = [(name, {"kind": kind}, [(2, 3)], {}) for name in ("OrElse", "Chained", "OnOneLine") for kind in "abc"]
