"""Lists of modules that loops of setup make, whose input sizes follow from one to the next; fields that may be None."""
from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Residual(nn.Module):
    in_channels: int
    out_channels: int = None

    def setup(self):
        out_channels = self.in_channels if self.out_channels is None else self.out_channels
        self.norm = nn.GroupNorm(num_groups=2)
        self.conv = nn.Conv(out_channels, kernel_size=(3, 3), padding=((1, 1), (1, 1)))
        self.time = nn.Dense(out_channels)
        self.shortcut = None
        if self.in_channels != out_channels:
            self.shortcut = nn.Conv(out_channels, kernel_size=(1, 1), padding='VALID')

    def __call__(self, h, time):
        residual = h
        h = self.conv(nn.swish(self.norm(h)))
        h = h + jnp.expand_dims(jnp.expand_dims(self.time(nn.swish(time)), 1), 1)
        if self.shortcut is not None:
            residual = self.shortcut(residual)
        return h + residual


class Down(nn.Module):
    in_channels: int
    out_channels: int
    num_layers: int = 1

    def setup(self):
        resnets = []
        for i in range(self.num_layers):
            in_channels = self.in_channels if i == 0 else self.out_channels
            block = Residual(in_channels=in_channels, out_channels=self.out_channels)
            resnets.append(block)
        self.resnets = resnets
        self.norm = nn.LayerNorm()

    def __call__(self, h, time):
        outputs = ()
        for resnet in self.resnets:
            h = resnet(h, time)
            outputs += (h,)
        return self.norm(h), outputs


class Two(nn.Module):
    """Two lists of one loop, called in turn, and a module after them."""

    widths: Sequence[int] = (4, 6, 5)

    def setup(self):
        denses = []
        norms = []
        for width in self.widths:
            denses.append(nn.Dense(width))
            norms.append(nn.LayerNorm())
        self.denses = denses
        self.norms = norms
        self.tail = [nn.Dense(width) for width in self.widths[::-1]]
        self.out = nn.Dense(2)

    def __call__(self, x):
        for dense, norm in zip(self.denses, self.norms):
            x = norm(dense(x))
        for dense in self.tail:
            x = nn.relu(dense(x))
        return self.out(x)


CASES = [
    ('Residual', dict(in_channels=4), [(1, 4, 4, 4), (1, 3)], {}),
    ('Residual', dict(in_channels=4, out_channels=6), [(1, 4, 4, 4), (1, 3)], {}),
    ('Down', dict(in_channels=4, out_channels=6, num_layers=3), [(1, 4, 4, 4), (1, 3)], {}),
    ('Two', {}, [(2, 3)], {}),
]
