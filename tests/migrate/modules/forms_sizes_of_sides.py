"""Sizes that both sides of a condition of setup set, in classes that contain the class."""

from flax import linen as nn


class Given(nn.Module):
    """A width that is given, or not."""

    width: int = 4
    given: int | None = None

    def setup(self):
        if self.given is None:
            self.hidden = self.width * 4
        else:
            self.hidden = self.given
        self.up = nn.Dense(self.hidden)

    def __call__(self, x):
        return self.up(x)


class Flag(nn.Module):
    width: int = 4
    wide: bool = False

    def setup(self):
        width = self.width + 1
        if self.wide:
            self.hidden = width * 2
            self.more = 3
        else:
            self.hidden = width
            self.more = self.width

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.hidden)(x)
        return nn.Dense(self.more)(nn.Dense(self.hidden + self.more)(x)), x


class Around(nn.Module):
    given: int | None = None
    wide: bool = False

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(7)(Given(5)(x))
        x = nn.Dense(7)(Given(5, given=4)(x))
        x = nn.Dense(7)(Given(5, given=self.given)(x))
        y, x = Flag(3)(x)
        x = nn.Dense(2)(x) + nn.Dense(2)(y)
        y, x = Flag(3, wide=self.wide)(x)
        x = nn.Dense(2)(x) + nn.Dense(2)(y)
        y, x = Flag(3, True)(x)
        return nn.Dense(2)(x) + nn.Dense(2)(y)


CASES = [
    ("Around", {}, [(2, 3)], {}),
    ("Around", {"given": 6, "wide": True}, [(2, 3)], {}),
    ("Flag", {"wide": True}, [(2, 3)], {}),
]
