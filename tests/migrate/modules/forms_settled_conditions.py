"""Sizes under conditions of fields that a construction settles, many blocks deep: they are said without the conditions."""

from flax import linen as nn


class Block(nn.Module):
    """Halves the image, by a stride or by pooling, or leaves it."""

    features: int
    resample: str | None = None
    dilation: int = 1

    @nn.compact
    def __call__(self, x):
        y = nn.Conv(self.features, (3, 3), padding="SAME" if self.dilation == 1 else self.dilation, kernel_dilation=self.dilation)(x)
        if self.resample == "down":
            if self.dilation > 1:
                return y
            y = nn.avg_pool(nn.relu(y), (2, 2), (2, 2), padding="SAME")
            x = nn.avg_pool(nn.Conv(self.features, (1, 1))(x), (2, 2), (2, 2), padding="SAME")
        elif x.shape[-1] != self.features:
            x = nn.Conv(self.features, (1, 1))(x)
        return x + y


class Deep(nn.Module):
    """A network of many: what is flattened behind them has a short text."""

    @nn.compact
    def __call__(self, x):
        x = Block(4, resample="down")(x)
        x = Block(4, resample=None)(x)
        x = Block(6, resample="down", dilation=1)(x)
        x = Block(6, dilation=2)(x)
        x = Block(6, resample="down", dilation=2)(x)
        x = Block(6)(x)
        x = Block(8, "down")(x)
        x = Block(8, "up")(x)
        x = Block(8, "down", 4)(x)
        x = Block(8)(x)
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


class Chosen(nn.Module):
    """Some that the fields choose."""

    halve: bool = True

    @nn.compact
    def __call__(self, x):
        x = Block(4, resample="down" if self.halve else None)(x)
        x = Block(4, resample="down")(x)
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


CASES = [
    ("Deep", {}, [(2, 13, 16, 3)], {}),
    ("Chosen", {}, [(2, 7, 8, 3)], {}),
    ("Chosen", {"halve": False}, [(2, 7, 8, 3)], {}),
]
