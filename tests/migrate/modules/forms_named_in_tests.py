"""Names that conditions give a value (`if w := self.width:`), in compact methods and in `setup`, and lists changed under them."""

import dataclasses
from typing import Any

from flax import linen as nn


@dataclasses.dataclass
class Lora:
    rank: int = 2
    axes: tuple[int, int] = (-2, -1)


class Compact(nn.Module):
    width: Any = None

    @nn.compact
    def __call__(self, x):
        if w := self.width:
            x = nn.Dense(w)(x)
        elif (n := x.shape[-1]) > 2:
            x = nn.Dense(n + 1)(x)
        return nn.Dense(3)(x)


class Again(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        w = 2
        x = nn.Dense(w)(x)
        if (w := self.width) > 1 and x.ndim == 2:
            x = nn.Dense(w)(x)
        x = nn.LayerNorm()(x)
        return nn.Dense(w + 1)(x)


class Setup(nn.Module):
    width: Any = None

    def setup(self):
        if w := self.width:
            self.a = nn.Dense(w)
            self.p = self.param("p", nn.initializers.ones, (w * 2,))
        if (n := self.width) is not None and n > 3:
            self.c = nn.Dense(n + 1)
        self.b = nn.Dense(3)

    def __call__(self, x):
        if self.width:
            x = self.a(x) + self.p.sum()
        if self.width is not None and self.width > 3:
            x = self.c(x)
        return self.b(x)


class Einsum(nn.Module):
    shape: tuple[int, ...]
    lora: Any = None

    def setup(self):
        self.w = self.param("w", nn.initializers.ones, self.shape)

        if config := self.lora:
            # The two parts of the addition.
            shape_a, shape_b = list(self.shape), list(self.shape)
            shape_a[config.axes[1]] = config.rank
            shape_b[config.axes[0]] = config.rank
            self.w_a = self.param("lora_a", nn.initializers.ones, shape_a)
            self.w_b = self.param("lora_b", nn.initializers.ones, shape_b)

    @nn.compact
    def __call__(self, x):
        y = x @ self.w
        if config := self.lora:
            y = y + x @ self.w_a @ self.w_b * config.rank
        return y


class Second(nn.Module):
    use: bool = True
    width: Any = None

    @nn.compact
    def __call__(self, x):
        if self.use and (w := self.width):
            x = nn.Dense(w)(x)
        y = nn.Dense(v)(x) if (v := self.width) else x
        return nn.Dense(3)(y)


CASES: list[Any] = [
    ("Second", {}, [(2, 3)], {}),
    ("Second", {"width": 4}, [(2, 3)], {}),
    ("Second", {"use": False, "width": 4}, [(2, 3)], {}),
    ("Compact", {}, [(2, 3)], {}),
    ("Compact", {"width": 5}, [(2, 3)], {}),
    ("Compact", {}, [(2, 2)], {}),
    ("Again", {}, [(2, 3)], {}),
    ("Again", {}, [(2, 2, 3)], {}),
    ("Again", {"width": 1}, [(2, 3)], {}),
    ("Setup", {}, [(2, 3)], {}),
    ("Setup", {"width": 2}, [(2, 3)], {}),
    ("Setup", {"width": 5}, [(2, 3)], {}),
    ("Einsum", {"shape": (3, 4)}, [(2, 3)], {}),
    ("Einsum", {"shape": (3, 4), "lora": Lora()}, [(2, 3)], {}),
]
