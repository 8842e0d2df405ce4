"""`match` over fields: blocks of one of several kinds, in setup and in calls."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Kind:
    DENSE = "dense"
    CONV = "conv"


class Mixer(nn.Module):
    kind: str
    width: int = 4

    def setup(self):
        match self.kind:
            case Kind.DENSE:
                # Every position for itself.
                self.dense = nn.Dense(self.width)
            case Kind.CONV:
                self.conv = nn.Conv(
                    self.width,
                    (3,),
                )

    def __call__(self, x):
        return self.mix(x) + 1

    def mix(self, x):
        match self.kind:
            case Kind.DENSE:
                return self.dense(x)
            case Kind.CONV:
                return self.conv(x)


class Norm(nn.Module):
    kind: Any = "layer"
    strict: bool = False

    @nn.compact
    def __call__(self, x):
        match self.kind:
            case "layer" | "ln":
                x = nn.LayerNorm()(x)

            # Without a mean.
            case "rms" if not self.strict:
                x = nn.RMSNorm()(x)
            case None:
                x = jnp.tanh(x)
            case _:
                raise ValueError(self.kind)
        return nn.Dense(3)(x)


class Attention(nn.Module):
    """Queries, keys and values taken from a tuple of an array, normed as a field says."""

    heads: int = 2
    norm: str = "layer"

    @nn.compact
    def __call__(self, x):
        b, n, c = x.shape
        qkv = nn.Dense(c * 3)(x).reshape(b, n, 3, self.heads, c // self.heads).transpose(2, 0, 3, 1, 4)
        q, k, v = tuple(qkv)
        match self.norm:
            case "layer":
                q, k = nn.LayerNorm()(q), nn.LayerNorm()(k)
            case "rms":
                q = nn.RMSNorm()(q)
                k = nn.RMSNorm()(k)
            case _:
                raise ValueError(f"Unknown norm `{self.norm}`")
        x = nn.softmax(q @ k.transpose(0, 1, 3, 2)) @ v
        return nn.Dense(c)(x.transpose(0, 2, 1, 3).reshape(b, n, c))


CASES = [
    ("Attention", {}, [(2, 3, 4)], {}),
    ("Attention", {"norm": "rms"}, [(2, 3, 4)], {}),
    ("Mixer", {"kind": "dense"}, [(2, 5, 3)], {}),
    ("Mixer", {"kind": "conv"}, [(2, 5, 3)], {}),
    ("Norm", {}, [(2, 5)], {}),
    ("Norm", {"kind": "ln"}, [(2, 5)], {}),
    ("Norm", {"kind": "rms"}, [(2, 5)], {}),
    ("Norm", {"kind": None}, [(2, 5)], {}),
]
