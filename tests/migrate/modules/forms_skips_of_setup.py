"""U-Nets whose blocks are lists of setup: what each block is given of what the blocks before it have put away."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Down(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(self.features, (3, 3))(x))
        return nn.max_pool(x, (2, 2), (2, 2)), x


class Up(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, skip):
        x = nn.ConvTranspose(self.features, (2, 2), (2, 2))(x)
        x = jnp.concatenate([x, skip], axis=-1)
        return nn.relu(nn.Conv(self.features, (3, 3))(x))


class Popped(nn.Module):
    widths: Sequence[int] = (4, 8)

    def setup(self):
        self.downs = [Down(w) for w in self.widths]
        self.middle = nn.Conv(self.widths[-1] * 2, (3, 3))
        self.ups = [Up(w) for w in reversed(self.widths)]
        self.out = nn.Conv(1, (1, 1))

    def __call__(self, x):
        skips = []
        for down in self.downs:
            x, skip = down(x)
            skips.append(skip)
        x = self.middle(x)
        for up in self.ups:
            x = up(x, skips.pop())
        return self.out(x)


class Zipped(nn.Module):
    widths: Sequence[int] = (4, 8, 16)

    def setup(self):
        self.downs = [nn.Dense(w) for w in self.widths[:-1]]
        self.bottom = nn.Dense(self.widths[-1])
        self.ups = [nn.Dense(v * 2) for v in self.widths[:-1][::-1]]
        self.out = nn.Dense(2)

    def __call__(self, x):
        skips = []
        for down in self.downs:
            x = nn.relu(down(x))
            skips.append(jnp.concatenate([x, -x], axis=-1))
        x = self.bottom(x)
        for up, skip in zip(self.ups, skips[::-1]):
            x = nn.gelu(up(jnp.concatenate([x, skip], axis=-1)))
        return self.out(x)


class Numbered(nn.Module):
    widths: Sequence[int] = (4, 8)

    def setup(self):
        downs, ups = [], []
        for width in self.widths:
            downs.append(nn.Conv(width, (3, 3)))
        for width in self.widths[::-1]:
            ups.append(nn.Conv(width, (3, 3)))
        self.downs, self.ups = downs, ups

    def __call__(self, x):
        skips = []
        for down in self.downs:
            x = nn.relu(down(x))
            skips.append(x)
            x = nn.avg_pool(x, (2, 2), (2, 2))
        for i, up in enumerate(self.ups):
            batch, height, width, channels = x.shape
            x = jax.image.resize(x, (batch, height * 2, width * 2, channels), "nearest")
            x = up(jnp.concatenate([skips[-i - 1], x], axis=-1))
        return x


class Counted(nn.Module):
    widths: Sequence[int] = (4, 8)

    def setup(self):
        self.downs = [nn.Dense(w) for w in self.widths]
        self.norms = [nn.LayerNorm() for w in self.widths]
        self.ups = [nn.Dense(w) for w in reversed(self.widths)]

    def __call__(self, x):
        skips = []
        for i in range(len(self.widths)):
            x = self.norms[i](self.downs[i](x))
            skips.append(x)
        for i in range(len(self.widths)):
            x = self.ups[i](jnp.concatenate([x, skips[-1 - i]], axis=-1))
        return x


class Laterals(nn.Module):
    widths: Sequence[int] = (4, 8)

    def setup(self):
        self.stages = [nn.Dense(w) for w in self.widths]
        self.laterals = [nn.Dense(w // 2) for w in self.widths]
        self.last = nn.Dense(3)

    def __call__(self, x):
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        total = 0.0
        for lateral, found in zip(self.laterals, maps):
            total = total + lateral(found).sum(-1, keepdims=True)
        return self.last(x) + total


class TwoLists(nn.Module):
    widths: Sequence[int] = (4, 8)

    def setup(self):
        self.stages = [nn.Dense(w) for w in self.widths]
        self.norms = [nn.LayerNorm() for _ in self.widths]
        self.scales = [nn.Dense(w) for w in self.widths]
        self.last = nn.Dense(3)

    def __call__(self, x):
        for i in range(len(self.widths)):
            x = self.norms[i](self.stages[i](x))
            x = x * self.scales[i](x)
        return self.last(x)


class OwnPass(nn.Module):
    widths: Sequence[int] = (4, 8)

    def setup(self):
        self.layers = [nn.Dense(3) for i in range(len(self.widths))]

    def __call__(self, x):
        total = 0.0
        for i in range(len(self.widths)):
            total = total + self.layers[i](jnp.ones((2, self.widths[i])))
        return x + total


class OneDropout(nn.Module):
    count: int = 3

    def setup(self):
        self.drops = [nn.Dropout(0.0, deterministic=True) for _ in range(self.count)]
        self.layers = [nn.Dense(3) for _ in range(self.count)]
        self.first = nn.Dense(3)

    def __call__(self, x):
        x = self.drops[0](self.first(x))
        for layer in self.layers[:-1]:
            x = nn.relu(layer(x))
        return self.layers[-1](x)


IMAGE = [(2, 8, 8, 3)]
CASES = [
    ("Popped", {}, IMAGE, {}),
    ("Popped", {"widths": (2,)}, IMAGE, {}),
    ("Popped", {"widths": (4, 2, 6)}, IMAGE, {}),
    ("Zipped", {}, [(2, 5)], {}),
    ("Zipped", {"widths": (3, 7, 5, 4)}, [(2, 5)], {}),
    ("Numbered", {}, IMAGE, {}),
    ("Numbered", {"widths": (6, 3, 5)}, IMAGE, {}),
    ("Counted", {}, [(2, 5)], {}),
    ("Counted", {"widths": (6, 3, 5)}, [(2, 5)], {}),
    ("Laterals", {}, [(2, 5)], {}),
    ("Laterals", {"widths": (6, 2, 4)}, [(2, 5)], {}),
    ("OwnPass", {}, [(2, 3)], {}),
    ("OwnPass", {"widths": (6, 2, 4)}, [(2, 3)], {}),
    ("OneDropout", {}, [(2, 3)], {}),
    ("TwoLists", {}, [(2, 5)], {}),
    ("TwoLists", {"widths": (6, 2, 4)}, [(2, 5)], {}),
]
