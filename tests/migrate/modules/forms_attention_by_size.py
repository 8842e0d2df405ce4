"""U-Nets of diffusion models: attention where the image has a certain size, sizes that time embeddings leave as they are."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    out: int = 0
    up: bool = False
    down: bool = False

    @nn.compact
    def __call__(self, x, embedding):
        B, H, W, C = x.shape
        out = self.out or C
        h = nn.swish(nn.GroupNorm(num_groups=2)(x))
        if self.up:
            h = jax.image.resize(h, (B, H * 2, W * 2, C), "nearest")
            x = jax.image.resize(x, (B, H * 2, W * 2, C), "nearest")
        elif self.down:
            h = nn.avg_pool(h, (2, 2), (2, 2))
            x = nn.avg_pool(x, (2, 2), (2, 2))
        h = nn.Conv(out, (3, 3))(h)
        embedded = nn.Dense(2 * out)(nn.swish(embedding))[:, None, None, :]
        scale, shift = jnp.split(embedded, 2, axis=-1)
        h = nn.GroupNorm(num_groups=2)(h) * (1 + scale) + shift
        if C != out:
            x = nn.Conv(out, (1, 1))(x)
        return x + h


class Attention(nn.Module):
    heads: int = 2

    @nn.compact
    def __call__(self, x):
        B, H, W, C = x.shape
        h = nn.GroupNorm(num_groups=2)(x).reshape(B, H * W, C)
        q, k, v = jnp.split(nn.Dense(3 * C)(h).reshape(B, H * W, self.heads, -1), 3, axis=-1)
        weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1]))
        return x + nn.Dense(C)(jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(B, H, W, C))


class UNet(nn.Module):
    width: int = 4
    multipliers: Sequence[int] = (1, 2)
    blocks: int = 1
    attention: Sequence[int] = (4,)

    @nn.compact
    def __call__(self, x, embedding):
        h = nn.Conv(self.width, (3, 3))(x)
        skips = [h]
        for i, multiplier in enumerate(self.multipliers):
            for _ in range(self.blocks):
                h = Block(self.width * multiplier)(h, embedding)
                if h.shape[1] in self.attention:
                    h = Attention()(h)
                skips.append(h)
            if i != len(self.multipliers) - 1:
                h = Block(down=True)(h, embedding)
                skips.append(h)
        h = Attention()(Block()(h, embedding))
        for i, multiplier in reversed(list(enumerate(self.multipliers))):
            for _ in range(self.blocks + 1):
                h = jnp.concatenate([h, skips.pop()], axis=-1)
                h = Block(self.width * multiplier)(h, embedding)
            if i != 0:
                h = Block(up=True)(h, embedding)
        return nn.Conv(x.shape[-1], (3, 3))(nn.swish(nn.GroupNorm(num_groups=2)(h)))


CASES = [
    ("UNet", {}, [(2, 8, 8, 3), (2, 5)], {}),
    ("UNet", {"attention": (8,), "multipliers": (1, 2, 2)}, [(2, 8, 8, 3), (2, 5)], {}),
    ("Block", {"down": True}, [(2, 4, 4, 4), (2, 5)], {}),
]
