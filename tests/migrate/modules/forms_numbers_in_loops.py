"""Lists of numbers that a loop fills, and asks: the constructor's list has to grow as the call's does."""

from collections.abc import Sequence

from flax import linen as nn


class Counting(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = 0
        seen = []
        for i in range(3):
            x = nn.Dense(4)(x)
            count += 1
            seen.append(i)
            if count > 1 and seen:
                x = nn.Dense(count)(x)
        return x


class Summing(nn.Module):
    @nn.compact
    def __call__(self, x):
        widths = []
        for width in (3, 4, 3):
            widths.append(width)
            x = nn.Dense(sum(widths))(x)
            x = nn.Dense(len(widths))(x)
        return x


class FreshEachPass(nn.Module):
    """What a pass asks, it has given its value itself."""

    normed: bool = True

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            layer = None
            if self.normed:
                layer = nn.Dense(4)
            if layer is None:
                layer = nn.LayerNorm()
            x = layer(x)
        return x


class FirstWide(nn.Module):
    widths: Sequence[int] = (3, 4, 5)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(next(iter(self.widths)))(x)


X = [(2, 4)]
CASES = [
    ("Counting", {}, X, {}),
    ("Summing", {}, X, {}),
    ("FreshEachPass", {}, X, {}),
    ("FreshEachPass", {"normed": False}, X, {}),
    ("FirstWide", {}, X, {}),
]
