"""Linen modules that keep a cache of their own for decoding: made at the first call, updated in place, looked up by name.

`DECODED`: class, fields, batch, steps. Each is filled with a whole sequence and then fed one position at a time.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import lax


class CachedAttention(nn.Module):
    """Causal attention whose layers stand in setup and whose cache is made by a compact helper."""

    width: int
    heads: int
    length: int

    def setup(self):
        dense = functools.partial(nn.Dense, self.width, use_bias=False)
        self.query, self.key, self.value = dense(), dense(), dense()
        self.out = dense()
        self.causal_mask = nn.make_causal_mask(jnp.ones((1, self.length), dtype="bool"), dtype="bool")

    def _split(self, x):
        return x.reshape(x.shape[:2] + (self.heads, self.width // self.heads))

    def _merge(self, x):
        return x.reshape(x.shape[:2] + (self.width,))

    @nn.compact
    def _concatenate(self, key, value, query, mask):
        is_initialized = self.has_variable("cache", "cached_key")
        cached_key = self.variable("cache", "cached_key", jnp.zeros, key.shape, key.dtype)
        cached_value = self.variable("cache", "cached_value", jnp.zeros, value.shape, value.dtype)
        cache_index = self.variable("cache", "cache_index", lambda: jnp.array(0, dtype=jnp.int32))
        if is_initialized:
            *batch, max_length, _, _ = cached_key.value.shape
            index = cache_index.value
            places = (0,) * len(batch) + (index, 0, 0)
            key = lax.dynamic_update_slice(cached_key.value, key, places)
            value = lax.dynamic_update_slice(cached_value.value, value, places)
            cached_key.value = key
            cached_value.value = value
            new = query.shape[1]
            cache_index.value = cache_index.value + new
            seen = jnp.broadcast_to(jnp.arange(max_length) < index + new, tuple(batch) + (1, new, max_length))
            mask = nn.combine_masks(seen, mask)
        return key, value, mask

    def __call__(self, x, init_cache: bool = False, output_attentions: bool = False):
        query, key, value = self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
        query_length, key_length = query.shape[1], key.shape[1]
        if self.has_variable("cache", "cached_key"):
            shift = self.variables["cache"]["cache_index"]
            longest = self.variables["cache"]["cached_key"].shape[1]
            mask = lax.dynamic_slice(self.causal_mask, (0, 0, shift, 0), (1, 1, query_length, longest))
        else:
            mask = self.causal_mask[:, :, :query_length, :key_length]
        mask = jnp.broadcast_to(mask, (x.shape[0],) + mask.shape[1:])
        if self.has_variable("cache", "cached_key") or init_cache:
            key, value, mask = self._concatenate(key, value, query, mask)
        bias = lax.select(mask > 0, jnp.full(mask.shape, 0.0), jnp.full(mask.shape, -1e9))
        weights = nn.dot_product_attention_weights(query, key, bias=bias)
        y = self.out(self._merge(jnp.einsum("...hqk,...khd->...qhd", weights, value)))
        return (y, weights) if output_attentions else (y,)


class CachedBlock(nn.Module):
    """A residual block that reads its attention's result by position."""

    width: int
    length: int

    def setup(self):
        self.norm = nn.LayerNorm()
        self.attention = CachedAttention(self.width, 2, self.length)
        self.mlp = nn.Dense(self.width)

    def __call__(self, x, init_cache: bool = False, output_attentions: bool = False):
        outputs = self.attention(self.norm(x), init_cache=init_cache, output_attentions=output_attentions)
        x = x + self.mlp(outputs[0])
        return (x,) + outputs[1:]


class CachedLayers(nn.Module):
    """Two of them, named by their numbers."""

    width: int
    length: int

    def setup(self):
        self.layers = [CachedBlock(self.width, self.length, name=str(i)) for i in range(2)]

    def __call__(self, x, init_cache: bool = False):
        for layer in self.layers:
            outputs = layer(x, init_cache=init_cache)
            x = outputs[0]
        return x


class LastValue(nn.Module):
    """A cache read by `get_variable`, which gives None before it is there."""

    @nn.compact
    def __call__(self, x, init_cache: bool = False):
        x = nn.Dense(3)(x)
        before = self.get_variable("cache", "last")
        if self.has_variable("cache", "last") or init_cache:
            last = self.variable("cache", "last", jnp.zeros, (x.shape[0], 1, x.shape[-1]))
            last.value = x[:, -1:]
        return x if before is None else x + before


class Running(nn.Module):
    """Sums that are put into the cache, and looked up there, without `self.variable`."""

    width: int

    @nn.compact
    def __call__(self, x, init_cache: bool = False):
        y = nn.Dense(self.width)(x)
        if init_cache:
            self.put_variable("cache", "total", y.sum(1))
            self.put_variable("cache", "seen", jnp.asarray(float(y.shape[1])))
        elif self.has_variable("cache", "total"):
            total = self.get_variable("cache", "total") + y.sum(1)
            self.put_variable("cache", name="total", value=total)
            self.put_variable("cache", "seen", self.get_variable("cache", "seen") + y.shape[1])
            y = y + total[:, None] / self.get_variable("cache", "seen")
        return y


class RunningTwice(nn.Module):
    @nn.compact
    def __call__(self, x, init_cache: bool = False):
        x = Running(5)(x, init_cache=init_cache)
        return Running(3, name="last")(x, init_cache=init_cache)


class FilledBefore(nn.Module):
    """A cache that filling makes, of which the steps ask behind that whether it is there."""

    width: int

    def _cache(self, shape, dtype):
        key = self.variable("cache", "cached_key", jnp.zeros, shape, dtype)
        value = self.variable("cache", "cached_value", jnp.zeros, shape, dtype)
        return key, value, self.variable("cache", "index", jnp.zeros, (1,), jnp.int32)

    def _fill(self, key, value):
        cached_key, cached_value, index = self._cache(key.shape, key.dtype)
        cached_key.value, cached_value.value = jnp.zeros_like(key), jnp.zeros_like(value)
        index.value = jnp.zeros((1,), jnp.int32)
        return key, value

    def _step(self, key, value):
        if not self.has_variable("cache", "cached_key"):
            raise ValueError("no cache yet")
        cached_key, cached_value, index = self._cache(key.shape, key.dtype)
        place = (0, index.value[0], 0)
        cached_key.value = lax.dynamic_update_slice(cached_key.value, key, place)
        cached_value.value = lax.dynamic_update_slice(cached_value.value, value, place)
        index.value = index.value + 1
        return cached_key.value, cached_value.value

    @nn.compact
    def __call__(self, x, init_cache: bool = False):
        query, key, value = (nn.Dense(self.width, name=name)(x) for name in ("query", "key", "value"))
        if init_cache:
            key, value = self._fill(key, value)
        elif x.shape[1] == 1:
            key, value = self._step(key, value)
        weights = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", query, key))
        return nn.Dense(3, name="out")(weights @ value)


DECODED = [
    ("FilledBefore", {"width": 4}, (2, 6, 8)),
    ("CachedAttention", {"width": 8, "heads": 2, "length": 6}, (2, 6, 8)),
    ("CachedBlock", {"width": 8, "length": 6}, (2, 6, 8)),
    ("CachedLayers", {"width": 8, "length": 6}, (2, 6, 8)),
    ("LastValue", {}, (2, 4, 8)),
    ("Running", {"width": 3}, (2, 4, 8)),
    ("RunningTwice", {}, (2, 4, 8)),
]
