"""Attention to keys and values that are arguments of their own, of which no code shows that they are equally wide; `CASES` as
in forms_basic."""

from typing import Any

from flax import linen as nn


class Decoder(nn.Module):
    def setup(self):
        self.attend = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)

    def __call__(self, x, key, value):
        return x + self.attend(x, key, value)


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x, memory):
        x = Decoder()(x, nn.Dense(6)(memory), nn.Dense(6)(memory))
        return Decoder()(x, memory, memory)


class OneIsAField(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x, memory):
        return nn.MultiHeadDotProductAttention(num_heads=2)(x, nn.Dense(self.width)(memory), memory)


CASES: list[Any] = [
    ("Decoder", {}, [(2, 3, 4), (2, 5, 6), (2, 5, 6)], {}),
    ("Outer", {}, [(2, 3, 4), (2, 5, 7)], {}),
    ("OneIsAField", {}, [(2, 3, 4), (2, 5, 6)], {}),
]
