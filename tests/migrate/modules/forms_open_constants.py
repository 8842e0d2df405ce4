"""Conditions on constants of a file or class of which one side never runs, and class attributes that derived classes change."""

from flax import linen as nn

USE_BN, DEPTH, KIND, FIRST = True, 2, "a", True


class Shortcut(nn.Module):
    features: int = 3
    shortcut = False

    def setup(self):
        self.conv = nn.Conv(self.features, (3, 3))
        if self.shortcut:
            self.short = nn.Conv(self.features, (3, 3))
        else:
            self.nin = nn.Conv(self.features, (1, 1))

    def __call__(self, x):
        h = self.conv(x)
        if self.shortcut:
            x = self.short(x)
        else:
            x = self.nin(x)
        return x + h


class WithShortcut(Shortcut):
    shortcut = True


class OfFile(nn.Module):
    def setup(self):
        self.layers = [nn.Dense(4) for _ in range(DEPTH)]
        if DEPTH > 2:
            self.more = nn.Dense(5)

    @nn.compact
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        if DEPTH > 2:
            x = self.more(x)
        x = nn.BatchNorm(use_running_average=True)(x) if USE_BN else nn.LayerNorm()(x)
        if not FIRST:
            x = x + self.param("bias", nn.initializers.ones, (4,))
        return x


class Returned(nn.Module):
    deep = True

    @nn.compact
    def __call__(self, x):
        if not self.deep:
            return nn.Dense(3)(x)
        if KIND == "a":
            return nn.Dense(2)(nn.Dense(4)(x))
        elif KIND == "b":
            x = nn.LayerNorm()(x)
        return nn.Dense(5)(x)


class Normed(nn.Module):
    first = True

    @nn.compact
    def __call__(self, x):
        if self.first:
            x = nn.LayerNorm()(x)
        x = nn.Dense(3)(x)
        if not self.first:
            x = nn.LayerNorm()(x)
        return x


class Wide(nn.Module):
    width = 4
    bias = True
    depth = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = nn.Dense(self.width, name=f"layer_{i}")(x)
            if i < DEPTH - 1:
                x = nn.LayerNorm()(x)
        if self.bias:
            x = nn.RMSNorm()(x)
        return nn.Dense(3)(x)


class Wider(Wide):
    width = 6


class Bare(Wider):
    bias = False
    depth = 3


class Told(Wide):
    bias: bool = False


class Asked(nn.Module):
    """Values that properties and methods say, which derived classes change in any way."""

    @property
    def hidden(self):
        return 4

    def deep(self):
        return False

    def setup(self):
        self.a = nn.Dense(self.hidden)
        self.b = nn.Dense(2)
        if self.deep():
            self.c = nn.LayerNorm()

    def encode(self, x):
        return self.a(x)

    def __call__(self, x):
        x = self.b(self.encode(x))
        if self.deep():
            x = self.c(x)
        return x


class AskedAgain(Asked):
    @property
    def hidden(self):
        return 7

    def setup(self):
        super().setup()
        self.d = nn.Dense(3)

    def encode(self, x):
        return nn.tanh(super().encode(x))

    def __call__(self, x):
        return self.d(super().__call__(x))


class AskedOfBody(Asked):
    hidden = 8

    def deep(self):
        return True


class AskedOfField(AskedOfBody):
    hidden: int = 5


class Together(nn.Module):
    """A method and an attribute in one condition, and a method that nobody says otherwise."""

    depth = 1

    def flag(self):
        return True

    def never(self):
        return False

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        if self.flag() and self.depth > 1:
            x = nn.LayerNorm()(x)
        if self.never():
            x = nn.Dense(5)(x)
        return nn.RMSNorm()(x)


class Deeper(Together):
    depth = 3


CASES = [
    ("Shortcut", {}, [(2, 6, 6, 2)], {}),
    ("WithShortcut", {}, [(2, 6, 6, 2)], {}),
    ("OfFile", {}, [(2, 3)], {}),
    ("Returned", {}, [(2, 3)], {}),
    ("Normed", {}, [(2, 4)], {}),
    ("Wide", {}, [(2, 3)], {}),
    ("Wider", {}, [(2, 3)], {}),
    ("Bare", {}, [(2, 3)], {}),
    ("Told", {}, [(2, 3)], {}),
    ("Told", {"bias": True}, [(2, 3)], {}),
    ("Asked", {}, [(2, 3)], {}),
    ("AskedAgain", {}, [(2, 3)], {}),
    ("AskedOfBody", {}, [(2, 3)], {}),
    ("Together", {}, [(2, 3)], {}),
    ("Deeper", {}, [(2, 3)], {}),
    ("AskedOfField", {}, [(2, 3)], {}),
    ("AskedOfField", {"hidden": 6}, [(2, 3)], {}),
]
