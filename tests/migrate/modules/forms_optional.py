"""Optional arrays, whose presence decides on sizes, and layers under remat by a field, as model libraries write them."""

from __future__ import annotations

from typing import Optional

import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning

remat = nn_partitioning.remat


class Attention(nn.Module):
    width: int
    heads: int
    bias: bool = False

    def setup(self):
        self.query, self.key, self.value = nn.Dense(self.width), nn.Dense(self.width), nn.Dense(self.width)
        self.out = nn.Dense(self.width)

    def _split(self, x):
        return x.reshape(x.shape[:2] + (self.heads, self.width // self.heads))

    def __call__(self, x, memory: Optional[jnp.ndarray] = None):
        is_cross = memory is not None
        q = self.query(x)
        if is_cross:
            k = self.key(memory)
            v = self.value(memory)
        else:
            k = self.key(x)
            v = self.value(x)
        q, k, v = self._split(q), self._split(k), self._split(v)
        w = nn.softmax(jnp.einsum("...qhd,...khd->...hqk", q, k))
        y = jnp.einsum("...hqk,...khd->...qhd", w, v)
        y = self.out(y.reshape(y.shape[:2] + (-1,)))
        return (y, w)


class Block(nn.Module):
    width: int
    cross: bool = False

    def setup(self):
        self.attention = Attention(self.width, 2)
        if self.cross:
            self.crossattention = Attention(self.width, 2)

    def __call__(self, x, memory: Optional[jnp.ndarray] = None):
        x = self.attention(x)[0]
        if memory is not None:
            x = x + self.crossattention(x, memory)[0]
        return x


class Net(nn.Module):
    width: int
    cross: bool = False

    def setup(self):
        self.layers = [Block(self.width, self.cross, name=str(i)) for i in range(2)]

    def __call__(self, x, memory=None):
        for layer in self.layers:
            x = layer(x, memory)
        return x


class Compact(nn.Module):
    @nn.compact
    def __call__(self, x, memory=None):
        dense = nn.Dense(3)
        return dense(x) if memory is None else dense(memory)


class Saved(nn.Module):
    width: int

    def setup(self):
        self.dense = nn.Dense(self.width)
        self.drop = nn.Dropout(0.5)

    def __call__(self, x, mask, deterministic: bool = True, weights: bool = False):
        y = self.drop(nn.relu(self.dense(x)), deterministic=deterministic) * mask
        outputs = (y,)
        if weights:
            outputs += (mask,)
        return outputs


class Layers(nn.Module):
    width: int
    checkpoint: bool = False

    def setup(self):
        if self.checkpoint:
            CheckpointBlock = remat(Saved, static_argnums=(2, 3))
            self.layers = [CheckpointBlock(self.width, name=str(i)) for i in range(2)]
        else:
            self.layers = [Saved(self.width, name=str(i)) for i in range(2)]

    def __call__(self, x, mask, deterministic: bool = True, weights: bool = False):
        for layer in self.layers:
            outputs = layer(x, mask, deterministic, weights)
            x = outputs[0]
        return (x,) + outputs[1:]


class Always(nn.Module):
    width: int

    def setup(self):
        Again = nn.remat(Saved, static_argnums=(3, 4))
        self.first = Again(self.width)
        self.layers = [Again(self.width) for i in range(2)]

    def __call__(self, x, mask, deterministic: bool = True, weights: bool = False):
        x = self.first(x, mask, deterministic, weights)[0]
        for layer in self.layers:
            x = layer(x, mask, deterministic, weights)[0]
        return x


NUMBERED = ('Net', 'Layers')  # see test_forms
class Mixed(nn.Module):
    """A field and an optional array decide together: Linen makes nothing where either says no."""

    cross: bool = True
    depth: int = 2

    def setup(self):
        self.dense = nn.Dense(4)
        if self.cross:
            self.kv = nn.Dense(4)
            self.more = [nn.Dense(4) for _ in range(self.depth)]

    def _mixed(self, x, memory):
        if self.cross and memory is not None:
            x = jnp.concatenate([x, self.kv(memory)], -1)
        return x

    def __call__(self, x, memory=None):
        x = self.dense(self._mixed(x, memory))
        if memory is not None and self.cross:
            for layer in self.more:
                memory = layer(memory)
            x = x + memory
        return x


class MixedCompact(nn.Module):
    cross: bool = True
    depth: int = 2

    @nn.compact
    def __call__(self, x, memory=None, mask=None):
        if self.cross and memory is None:
            x = nn.Dense(5)(x)
        for i in range(self.depth):
            x = nn.Dense(4)(x)
            if memory is not None and self.cross and mask is not None and self.depth > 1:
                x = jnp.concatenate([x, nn.Dense(4, name=f"kv_{i}")(memory) * mask], -1)
        return nn.Dense(3)(x)


class Together(nn.Module):
    """Both sides make something, and a function and a name ask it again."""

    cross: bool = True

    @nn.compact
    def __call__(self, x, memory=None):
        def given(m):
            return self.cross and m is not None

        both = memory is not None and self.cross
        if self.cross and memory is not None:
            x = jnp.concatenate([x, nn.Dense(7)(memory)], -1)
        else:
            x = nn.Dense(4)(x)
        x = x + nn.Dense(1)(memory) if given(memory) else x
        if both:
            return nn.Dense(3)(x)
        return nn.Dense(2)(nn.Dense(5)(x))


class TogetherInSetup(nn.Module):
    cross: bool = True

    def setup(self):
        self.a = nn.Dense(3)
        self.b = nn.Dense(3)
        self.kv = nn.Dense(3)
        self.alone = nn.Dense(3)

    def __call__(self, x, memory=None):
        x = self.kv(memory) if self.cross and memory is not None else self.alone(x)
        if not self.cross or memory is None:
            return x
        return self.a(x) + self.b(memory)


class CallsTogether(nn.Module):
    """The sizes of what it calls are told by its own names."""

    other: bool = True

    @nn.compact
    def __call__(self, x, context=None):
        y = Together(self.other)(x, context)
        z = Together(cross=True)(x)
        if not (self.other and context is not None):
            return nn.Dense(2)(y) + z
        return nn.Dense(3)(y) + nn.Dense(3)(z) + nn.Dense(3)(TogetherInSetup(self.other)(x, context))


CASES = [
    ("TogetherInSetup", {}, [(2, 3)], {"memory": None}),
    ("TogetherInSetup", {}, [(2, 3), (2, 5)], {}),
    ("TogetherInSetup", {"cross": False}, [(2, 3), (2, 5)], {}),
    ("CallsTogether", {}, [(2, 3)], {"context": None}),
    ("CallsTogether", {}, [(2, 3), (2, 5)], {}),
    ("CallsTogether", {"other": False}, [(2, 3), (2, 5)], {}),
    ("Mixed", {}, [(2, 3)], {"memory": None}),
    ("Mixed", {}, [(2, 3), (2, 5)], {}),
    ("Mixed", {"cross": False}, [(2, 3), (2, 5)], {}),
    ("MixedCompact", {}, [(2, 3)], {"memory": None, "mask": None}),
    ("MixedCompact", {}, [(2, 3), (2, 5), (2, 4)], {}),
    ("MixedCompact", {"cross": False}, [(2, 3), (2, 5), (2, 4)], {}),
    ("Attention", {"width": 8, "heads": 2}, [(2, 3, 8)], {"memory": None}),
    ("Attention", {"width": 8, "heads": 2}, [(2, 3, 8), (2, 5, 6)], {}),
    ("Block", {"width": 8, "cross": True}, [(2, 3, 8), (2, 5, 6)], {}),
    ("Block", {"width": 8}, [(2, 3, 8)], {"memory": None}),
    ("Net", {"width": 8, "cross": True}, [(2, 3, 8), (2, 5, 6)], {}),
    ("Net", {"width": 8}, [(2, 3, 8)], {"memory": None}),
    ("Compact", {}, [(2, 4)], {"memory": None}),
    ("Compact", {}, [(2, 4), (2, 6)], {}),
    ("Layers", {"width": 8}, [(2, 3, 4), (2, 3, 1)], {}),
    ("Layers", {"width": 8, "checkpoint": True}, [(2, 3, 4), (2, 3, 1)], {"weights": True}),
    ("Always", {"width": 8}, [(2, 3, 4), (2, 3, 1)], {}),
]
