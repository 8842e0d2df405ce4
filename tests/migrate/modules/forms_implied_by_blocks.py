"""Images whose number of dimensions only the blocks tell that they are handed to: U-Nets with attention at some sizes."""

from collections.abc import Sequence

from flax import linen as nn


class Attn(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.GroupNorm(2)(x)
        return x + nn.Conv(x.shape[-1], (1, 1))(h)


class ResnetBlock(nn.Module):
    out_channels: int | None = None

    @nn.compact
    def __call__(self, h):
        out_channels = self.out_channels or h.shape[-1]
        residual = h
        h = nn.Conv(out_channels, [3, 3])(h)
        if out_channels != residual.shape[-1]:
            residual = nn.Conv(out_channels, [1, 1])(residual)
        return h + residual


class Down(nn.Module):
    ch: int
    n: int
    attn: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = ResnetBlock(self.ch)(x)
            if x.shape[1] in self.attn:
                x = Attn()(x)
        return x


class Net(nn.Module):
    mults: Sequence[int]
    attn: Sequence[int] = (4,)

    @nn.compact
    def __call__(self, x):
        for i, m in enumerate(self.mults):
            x = Down(4 * m, 2, self.attn)(x)
            if i < len(self.mults) - 1:
                x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        return ResnetBlock()(x)


CASES = [
    ("Down", {"ch": 4, "n": 2, "attn": (8,)}, [(2, 8, 8, 3)], {}),
    ("Down", {"ch": 4, "n": 2, "attn": (4,)}, [(2, 8, 8, 3)], {}),
    ("Net", {"mults": (1, 2)}, [(2, 8, 8, 3)], {}),
    ("Net", {"mults": (2, 1), "attn": (8, 4)}, [(2, 8, 8, 3)], {}),
]
