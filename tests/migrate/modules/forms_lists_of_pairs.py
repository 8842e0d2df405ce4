"""Paddings as lists of lists, which Linen freezes."""

import flax.linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.Conv(4, [3, 3], padding=[[2, 2], [1, 1]])(x)
        h = nn.ConvTranspose(4, (2, 2), padding=[[1, 0], [0, 1]])(h)
        h = nn.ConvLocal(2, (2, 2), padding=[[1, 1], [0, 0]])(h)
        return nn.Conv(
            3,
            (3, 3),
            padding=(
                [1, 1],  # rows
                (2, 2),
            ),
        )(h)


class Given(nn.Module):
    pads: list

    @nn.compact
    def __call__(self, x):
        return nn.Conv(4, (3, 3), padding=self.pads)(x)


class Named(nn.Module):
    pad: int = 1

    @nn.compact
    def __call__(self, x):
        return nn.Conv(4, (3, 3), padding=[[self.pad, 0], [0, self.pad]])(x)


CASES = [
    ("Net", {}, [(2, 6, 6, 3)], {}),
    ("Given", {"pads": ((1, 1), (2, 2))}, [(2, 6, 6, 3)], {}),
    ("Named", {}, [(2, 6, 6, 3)], {}),
    ("Given", {"pads": [1, 2]}, [(2, 6, 6, 3)], {}),
]
