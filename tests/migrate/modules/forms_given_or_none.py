"""Modules that are handed to another one under a condition of the fields, and None else; `CASES` as in forms_basic."""

from typing import Any

from flax import linen as nn


class Enc(nn.Module):
    norm: Any = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        if self.norm is not None:
            x = self.norm(x)
        return x


class OfName(nn.Module):
    before: bool = False

    @nn.compact
    def __call__(self, x):
        norm = nn.LayerNorm() if self.before else None
        return Enc(norm=norm, name="encoder")(x)


class OfBranches(nn.Module):
    before: bool = False

    @nn.compact
    def __call__(self, x):
        before = self.before
        if not before:
            norm = None
        else:
            norm = nn.LayerNorm()
        return Enc(norm=norm)(x)


class Inline(nn.Module):
    before: bool = False

    @nn.compact
    def __call__(self, x):
        return Enc(norm=nn.LayerNorm(name="last") if self.before else None)(x)


class Deeper(nn.Module):
    before: bool = False
    deep: bool = True

    @nn.compact
    def __call__(self, x):
        norm = None
        if self.before:
            if self.deep:
                norm = nn.LayerNorm()
        return Enc(norm=norm)(x)


CASES: list[Any] = [
    ("OfName", {}, [(2, 3)], {}),
    ("OfName", {"before": True}, [(2, 3)], {}),
    ("OfBranches", {}, [(2, 3)], {}),
    ("OfBranches", {"before": True}, [(2, 3)], {}),
    ("Inline", {}, [(2, 3)], {}),
    ("Inline", {"before": True}, [(2, 3)], {}),
    ("Deeper", {"before": True, "deep": False}, [(2, 3)], {}),
    ("Deeper", {"before": True}, [(2, 3)], {}),
]
