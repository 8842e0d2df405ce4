"""Modules under a condition on fields, counted behind another condition that asks the same."""

import jax.numpy as jnp
from flax import linen as nn


class Heads(nn.Module):
    num: int

    @nn.compact
    def __call__(self, x):
        return jnp.einsum("hi,b...h->b...i", self.param("w", nn.initializers.orthogonal(), (self.num, self.num)), x)


class Attention(nn.Module):
    talking: bool = False
    silent: bool = False

    @nn.compact
    def __call__(self, q, k):
        w = nn.Dense(4)(q) * nn.Dense(4)(k)
        if self.talking:
            w = Heads(4)(w)
        w = nn.softmax(w)
        if not self.talking:
            w = w * 2
        else:
            w = Heads(4)(w)
        if self.silent:
            w = nn.tanh(nn.LayerNorm()(w))
        if self.talking:
            w = Heads(4)(w)
        return nn.Dense(3)(w)


class SelfAttention(Attention):
    """Its constructor names them as that of its base does."""

    @nn.compact
    def __call__(self, x):
        return super().__call__(x, x)


class Either(nn.Module):
    """One number on two sides: a list has them."""

    talking: bool = False

    @nn.compact
    def __call__(self, w):
        if self.talking:
            w = Heads(4)(w)
            w = Heads(4)(w)
        else:
            w = nn.relu(Heads(4)(w))
        w = nn.softmax(w)
        if not self.talking:
            w = nn.tanh(Heads(4)(w))
        else:
            w = Heads(4)(w)
        return nn.Dense(3)(w)


class Behind(nn.Module):
    """How many there are before the last depends on the condition."""

    talking: bool = False

    @nn.compact
    def __call__(self, w):
        if self.talking:
            w = Heads(4)(w)
        w = nn.softmax(w)
        if self.talking:
            w = Heads(4)(w)
        return Heads(4)(w)


class OtherConditions(nn.Module):
    talking: bool = False
    silent: bool = False

    @nn.compact
    def __call__(self, w):
        if self.talking:
            w = Heads(4)(w)
        if self.silent:
            w = nn.tanh(Heads(4)(w))
        if self.talking:
            w = Heads(4)(w) * 2
        return w


CASES = [
    ("SelfAttention", {"talking": True, "silent": True}, [(2, 5)], {}),
    ("Either", {"talking": True}, [(2, 4)], {}),
    ("SelfAttention", {}, [(2, 5)], {}),
    ("Attention", {"talking": True}, [(2, 5), (2, 5)], {}),
    ("Either", {}, [(2, 4)], {}),
    ("Behind", {}, [(2, 4)], {}),
    ("Behind", {"talking": True}, [(2, 4)], {}),
    ("OtherConditions", {"talking": True, "silent": True}, [(2, 4)], {}),
    ("OtherConditions", {"talking": True}, [(2, 4)], {}),
    ("OtherConditions", {"silent": True}, [(2, 4)], {}),
]
