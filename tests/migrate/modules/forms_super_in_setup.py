"""`super().__init__()` in setup, which PyTorch has taught some; `CASES` as in forms_basic."""

from typing import Any

from flax import linen as nn


class Stack(nn.Module):
    depth: int

    def setup(self):
        super().__init__()
        self.layers = [nn.Dense(3) for _ in range(self.depth)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Whole(nn.Module):
    def setup(self):
        super(Whole, self).__init__()
        self.first = Stack(2)
        self.second = Stack(1)

    def __call__(self, x):
        return self.second(self.first(x))


CASES: list[Any] = [("Stack", {"depth": 2}, [(2, 4)], {}), ("Whole", {}, [(2, 4)], {})]
