"""Lists of setup whose modules have names that no list has in NNX: `hidden0`, `blocks.0`; and names that a zip counts."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp


class MLP(nn.Module):
    depth: int = 2
    features: int = 4

    def setup(self):
        init = nn.initializers.he_normal()
        layers = []
        for i in range(self.depth):
            layers.append(nn.Dense(self.features, kernel_init=init, name=f"hidden{i}"))
        self.hidden = layers
        self.out = nn.Dense(2, kernel_init=init)

    def __call__(self, x):
        for layer in self.hidden:
            x = nn.relu(layer(x))
        return self.out(x)


class Dropouts(nn.Module):
    """Picked, and given inputs of two sizes, which say nothing about them."""

    @nn.compact
    def __call__(self, x):
        drops = [nn.Dropout(0.5, name=f"drop{i}", deterministic=True) for i in range(2)]
        return drops[1](nn.Dense(4)(drops[0](x)))


class Kinds(nn.Module):
    kind: str = "layer"

    def setup(self):
        self.norms = [nn.LayerNorm(name=f"b{i}") if self.kind == "layer" else nn.RMSNorm(name=f"b{i}") for i in range(2)]

    def __call__(self, x):
        for norm in self.norms:
            x = norm(x)
        return x


class Attention(nn.Module):
    """What an earlier call leaves is joined to what this one makes, whose width the fields say."""

    width: int = 4

    def setup(self):
        self.query = nn.Dense(self.width)
        self.keys = nn.Dense(self.width)
        self.values = nn.Dense(self.width)
        self.out = nn.Dense(3)

    def __call__(self, x, cache=None):
        query, keys, values = self.query(x), self.keys(x), self.values(x)
        if cache is not None:
            keys = jnp.concatenate([cache["keys"], keys], axis=-2)
            values = jnp.concatenate([cache["values"], values], axis=-2)
        weights = nn.softmax(jnp.einsum("bqd,bkd->bqk", query, keys))
        return self.out(weights @ values), {"keys": keys, "values": values}


class Stack(nn.Module):
    depth: int = 2

    def setup(self):
        self.blocks = [Attention(name=f"blocks.{i}") for i in range(self.depth)]

    def __call__(self, x, cache=None):
        caches = {}
        for i, block in enumerate(self.blocks):
            name = f"blocks.{i}"
            x, caches[name] = block(x, None if cache is None else cache[name])
        return x, caches


class Zipped(nn.Module):
    widths: Sequence[int] = (4, 5)

    def setup(self):
        self.blocks = [nn.Dense(width, name=f"layer_{i}") for i, width in zip(range(len(self.widths)), self.widths)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Gated(nn.Module):
    """Beside parameters that another method reads."""

    depth: int = 3
    gate: str = ""

    def setup(self):
        init = nn.initializers.he_normal()
        layers = []
        for i in range(0, self.depth - 1):
            layer = nn.Dense(4, kernel_init=init, name=f"hidden{i}")
            layers.append(layer)
        self.hidden = layers
        self.out = nn.Dense(3, kernel_init=init)
        gate_init = nn.initializers.normal(stddev=0.1)
        if self.gate == "bias":
            self.gate_bias = self.param("gate_bias", gate_init, (3,))
        elif self.gate:
            self.gate_layer = nn.Dense(3, bias_init=gate_init)

    def gated(self, x, y):
        if not self.gate:
            return y
        return y + (self.gate_bias if self.gate == "bias" else self.gate_layer(x))

    def __call__(self, x):
        y = x
        for layer in self.hidden:
            y = nn.relu(layer(y))
        return self.gated(x, self.out(y))


CASES = [
    ("MLP", {}, [(2, 3)], {}),
    ("MLP", {"depth": 1}, [(2, 3)], {}),
    ("Dropouts", {}, [(2, 3)], {}),
    ("Kinds", {}, [(2, 3)], {}),
    ("Kinds", {"kind": "rms"}, [(2, 3)], {}),
    ("Attention", {}, [(2, 5, 3)], {}),
    ("Stack", {}, [(2, 5, 3)], {}),
    ("Gated", {}, [(2, 3)], {}),
    ("Gated", {"gate": "bias"}, [(2, 3)], {}),
    ("Gated", {"gate": "full", "depth": 2}, [(2, 3)], {}),
    ("Zipped", {}, [(2, 3)], {}),
]
