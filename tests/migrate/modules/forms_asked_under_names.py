"""Widths that modules of setup say themselves, whose attributes have other names in Linen; `CASES` as in forms_basic."""

from typing import Any

import flax.linen as nn


class Stack(nn.Module):
    widths: Any = (4, 5)

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Around(nn.Module):
    def setup(self):
        self._inner = Stack(name="core")

    def __call__(self, x):
        return self._inner(x)


class Asked(nn.Module):
    def setup(self):
        self._body = Stack(name="body")
        self._head = nn.Dense(3, name="head")

    def __call__(self, x):
        return self._head(self._body(x))


class AskedInside(nn.Module):
    def setup(self):
        self._body = Around(name="body")
        self._head = nn.Dense(3, name="head")

    def __call__(self, x):
        return self._head(self._body(x))


CASES: list[Any] = [("Asked", {}, [(2, 3)], {}), ("AskedInside", {}, [(2, 3)], {})]
