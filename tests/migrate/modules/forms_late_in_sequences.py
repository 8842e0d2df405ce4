"""Parts of nn.Sequential whose sizes no code shows: found by the call on shapes, as those of what is called itself."""

from flax import linen as nn
from numpy.polynomial.chebyshev import chebval

SUM = [0.5, 2.0]


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, scale=1.0):
        return nn.Dense(x.shape[-1])(nn.Dense(self.width)(x)) * scale


class Compact(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = chebval(x, SUM)
        head = nn.Sequential([nn.LayerNorm(), nn.Dense(4), nn.relu, nn.Dense(2)])
        return head(x), nn.Sequential([nn.Dense(3, use_bias=False), nn.gelu])(x)


class OfSetup(nn.Module):
    width: int = 4

    def setup(self):
        self.first = nn.Dense(self.width)
        self.head = nn.Sequential([nn.LayerNorm(), nn.Dense(self.width), nn.relu, nn.Dense(2)])
        self.tail = nn.Sequential([Block(3), nn.Sequential([nn.Dense(5), Block(2)])])

    def __call__(self, x):
        return self.head(chebval(x, SUM)), self.tail(chebval(x, SUM)), self.first(chebval(x, SUM))


class Classes(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Sequential([Block(4), nn.tanh, Block(2), lambda x: x * 2])(chebval(x, SUM))


class Looped(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        layers = []
        for _ in range(self.depth):
            layers.append(Block(4))
            layers.append(nn.relu)
        layers.append(nn.Dense(2))
        net = nn.Sequential(layers)
        return net(chebval(x, SUM))


class LoopedSetup(nn.Module):
    depth: int = 3

    def setup(self):
        self.net = nn.Sequential([Block(i + 2) for i in range(self.depth)] + [nn.Dense(2)])
        self.blocks = nn.Sequential([nn.Dense(4) for _ in range(self.depth)])

    def __call__(self, x):
        return self.net(chebval(x, SUM)), self.blocks(chebval(x, SUM))


class Inner(nn.Module):
    """A class that settles within one that does."""

    @nn.compact
    def __call__(self, x):
        return nn.Sequential([Classes(), nn.Dense(3)])(chebval(x, SUM))


class Twice(nn.Module):
    def setup(self):
        self.head = nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(5)])

    def __call__(self, x):
        x = chebval(x, SUM)
        return self.head(x) + self.head(x * 2)


class Dropped(nn.Module):
    train: bool = False

    @nn.compact
    def __call__(self, x):
        x = chebval(x, SUM)
        x = nn.Sequential([nn.Dense(4), nn.Dropout(0.5, deterministic=not self.train), nn.BatchNorm(not self.train)])(x)
        return x


class Chosen(nn.Module):
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        parts = nn.Sequential([nn.Dense(4), nn.relu, nn.LayerNorm()]) if self.wide else Block(3)
        if self.wide:
            x = nn.Sequential([Block(2)])(chebval(x, SUM))
        return parts(chebval(x, SUM))


CASES = [
    ("Chosen", {}, [(2, 3)], {}),
    ("Chosen", {"wide": False}, [(2, 3)], {}),
    ("Compact", {}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {}),
    ("OfSetup", {"width": 6}, [(4, 5)], {}),
    ("Classes", {}, [(2, 3)], {}),
    ("Looped", {}, [(2, 3)], {}),
    ("LoopedSetup", {}, [(2, 3)], {}),
    ("Inner", {}, [(2, 3)], {}),
    ("Twice", {}, [(2, 3)], {}),
    ("Dropped", {}, [(2, 3)], {}),
]
