"""Heads that share the embedding's weights, layers that Linen makes only when it calls them, attributes by a condition."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class Config:
    def __init__(self, **values):
        self.__dict__.update(values)


class Stem(nn.Module):
    config: Any

    def setup(self):
        self.words = nn.Embed(self.config.vocabulary, self.config.width)

    def __call__(self, tokens):
        return self.words(tokens)


class Language(nn.Module):
    config: Any
    dtype: Any = jnp.float32

    def setup(self):
        self.stem = Stem(self.config)
        self.head = nn.Dense(self.config.vocabulary, use_bias=False, dtype=self.dtype)

    def __call__(self, tokens, return_dict: bool = True):
        x = self.stem(tokens)
        if self.config.tied:
            kernel = self.stem.variables["params"]["words"]["embedding"].T
            logits = self.head.apply({"params": {"kernel": kernel}}, x)
        else:
            logits = self.head(x)
        return logits


class Head(nn.Module):
    config: Any

    def setup(self):
        self.transform = nn.Dense(self.config.width)
        self.decoder = nn.Dense(self.config.vocabulary, use_bias=False)
        self.bias = self.param("bias", jax.nn.initializers.ones, (self.config.vocabulary,))

    def __call__(self, x, shared=None):
        x = self.transform(x)
        if shared is not None:
            x = self.decoder.apply({"params": {"kernel": shared.T}}, x)
        else:
            x = self.decoder(x)
        return x + self.bias


class Middle(nn.Module):
    config: Any

    def setup(self):
        self.head = Head(self.config)

    def __call__(self, x, shared=None):
        return self.head(x, shared=shared)


class Masked(nn.Module):
    config: Any

    def setup(self):
        self.stem = Stem(self.config)
        self.cls = Middle(self.config)

    def __call__(self, tokens):
        x = self.stem(tokens)
        if self.config.tied:
            shared = self.stem.variables["params"]["words"]["embedding"]
        else:
            shared = None
        return self.cls(x, shared=shared)


class Pooled(nn.Module):
    config: Any
    pool: bool = True

    def setup(self):
        self.stem = Stem(self.config)
        self.pooler = nn.Dense(self.config.width)

    def __call__(self, tokens, return_dict: bool = True):
        x = self.stem(tokens)
        pooled = self.pooler(x[:, 0]) if self.pool else None
        if not return_dict:
            if pooled is None:
                return (x,)
            return (x, pooled)
        return {"last": x, "pooled": pooled}


class Classified(nn.Module):
    config: Any

    def setup(self):
        self.model = Pooled(self.config)
        self.head = nn.Dense(3)

    def __call__(self, tokens):
        return self.head(self.model(tokens, return_dict=False)[1])


class Projected(nn.Module):
    config: Any
    inner: int = 4

    def setup(self):
        self.words = nn.Embed(self.config.vocabulary, self.inner)
        if self.inner != self.config.width:
            self.project = nn.Dense(self.config.width)
        self.out = nn.Dense(3)

    def __call__(self, tokens):
        x = self.words(tokens)
        if hasattr(self, "project"):
            x = self.project(x)
        return self.out(x)


class Block(nn.Module):
    width: int

    def setup(self):
        self.dense = nn.Dense(self.width)

    def __call__(self, x, weights: bool = False):
        y = self.dense(x)
        out = (y,)
        if weights:
            out = (y.sum(),) + out
        return out


class Stack(nn.Module):
    width: int

    def setup(self):
        self.layers = [Block(self.width) for _ in range(2)]
        self.head = nn.Dense(2)

    def __call__(self, x, weights: bool = False):
        for layer in self.layers:
            outputs = layer(x, weights)
            x = outputs[-1]
        return self.head(x)


class TiedHead(nn.Module):
    config: Any

    def setup(self):
        self.bias = self.param("bias", jax.nn.initializers.ones, (self.config.vocabulary,))

    def __call__(self, x, kernel):
        return x @ kernel + self.bias


class Chosen(nn.Module):
    """A size behind a branch on a field."""

    use: bool = False

    def setup(self):
        if self.use:
            self.first = nn.Dense(4)
        self.second = nn.Dense(5)

    def __call__(self, x):
        if self.use:
            x = self.first(x)
        return self.second(x)


class TwoHeads(nn.Module):
    """One class or another, called with different arguments under the condition that chose it."""

    config: Any

    def setup(self):
        self.stem = Stem(self.config)
        if self.config.tied:
            self.head = TiedHead(self.config)
        else:
            self.head = nn.Dense(self.config.vocabulary)

    def __call__(self, tokens):
        x = self.stem(tokens)
        if self.config.tied:
            return self.head(x, self.stem.variables["params"]["words"]["embedding"].T)
        else:
            return self.head(x)


TOKENS = jnp.array([[1, 2, 3], [0, 4, 2]])
TIED = Config(vocabulary=7, width=4, tied=True)
APART = Config(vocabulary=7, width=4, tied=False)

CASES = [
    *[(name, {"config": c}, [TOKENS], {}) for name in ("Language", "Masked", "Pooled", "Classified") for c in (TIED, APART)],
    ("Pooled", {"config": TIED, "pool": False}, [TOKENS], {}),
    ("Projected", {"config": TIED}, [TOKENS], {}),
    ("Projected", {"config": TIED, "inner": 3}, [TOKENS], {}),
    ("Stack", {"width": 4}, [(2, 3)], {}),
    ("Stack", {"width": 4}, [(2, 3)], {"weights": True}),
    ("Chosen", {}, [(2, 3)], {}),
    ("Chosen", {"use": True}, [(2, 3)], {}),
    ("TwoHeads", {"config": TIED}, [TOKENS], {}),
    ("TwoHeads", {"config": APART}, [TOKENS], {}),
]
