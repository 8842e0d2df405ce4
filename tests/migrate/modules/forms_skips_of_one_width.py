"""Skips that all have one width: whatever a loop takes out of the list has it, also for blocks that setup makes."""

import flax.linen as nn
import jax.numpy as jnp


class Blocks(nn.Module):
    dim: int = 8
    blocks: int = 2

    def setup(self):
        self.down = [nn.Dense(self.dim) for _ in range(self.blocks)]
        self.up = [nn.Dense(self.dim) for _ in range(self.blocks)]
        self.out = nn.Dense(3)

    def __call__(self, x):
        skips = []
        for i in range(self.blocks):
            x = self.down[i](x)
            skips.append(x)
        for i in range(self.blocks):
            x = self.up[i](jnp.concatenate([x, skips.pop()], axis=-1))
        return self.out(x)


class ByPlace(Blocks):
    def __call__(self, x):
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
        for i, up in enumerate(self.up):
            x = up(jnp.concatenate([x, skips[self.blocks - 1 - i]], axis=-1))
        return self.out(x)


class Sometimes(nn.Module):
    """One of another width, by a field."""

    dim: int = 8
    wide: bool = False

    @nn.compact
    def __call__(self, x):
        skips = []
        for _ in range(2):
            x = nn.Dense(self.dim)(x)
            skips.append(x)
        if self.wide:
            skips.append(nn.Dense(6)(x))
        for _ in range(2):
            x = nn.Dense(self.dim)(jnp.concatenate([x, skips.pop()], axis=-1))
        return nn.Dense(3)(x)


class Left(nn.Module):
    """What is left is read behind the loop."""

    @nn.compact
    def __call__(self, x):
        skips = []
        for _ in range(3):
            x = nn.Dense(4)(x)
            skips.append(x)
        for _ in range(2):
            x = nn.Dense(4)(jnp.concatenate([x, skips.pop()], axis=-1))
        return nn.Dense(3)(jnp.concatenate([x, skips[-1]], -1)), nn.Dense(2)(skips[0])


CASES = [
    ("Blocks", {}, [(2, 5)], {}),
    ("ByPlace", {}, [(2, 5)], {}),
    ("Sometimes", {}, [(2, 5)], {}),
    ("Sometimes", {"wide": True}, [(2, 5)], {}),
    ("Left", {}, [(2, 5)], {}),
]
