"""Layers in loops over lists of sizes that the call has filled or changed; `CASES` as in forms_basic."""

from collections.abc import Sequence

from flax import linen as nn


class Last(nn.Module):
    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        last = sizes.pop()
        for size in sizes:
            x = nn.relu(nn.Dense(size)(x))
        return nn.Dense(last)(x)


class WithOutput(nn.Module):
    sizes: Sequence[int] = (4, 5)
    out: int = 2
    deep: bool = True

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        if self.deep:
            sizes.append(self.out)
        for size in sizes:
            x = nn.Dense(size)(x)
        return x


class Doubled(nn.Module):
    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        widths = []
        for size in self.sizes:
            widths.append(2 * size)
        for i, width in enumerate(widths):
            x = nn.Dense(width)(x) + i
        return x


class Turned(nn.Module):
    """Between the changes a size of the list is the one of its time."""

    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        x = nn.Dense(sizes[0])(x)
        sizes.reverse()
        x = nn.Dense(sizes[0])(x)
        sizes.insert(0, x.shape[-1] * 2)
        x = nn.Dense(sizes[0])(x)
        for size in sizes[1:]:
            x = nn.Dense(size)(x)
        return x, len(sizes)


class Growing(nn.Module):
    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        for _ in range(2):
            x = nn.Dense(sizes[-1])(x)
            sizes.append(sizes[-1] + 1)
        return nn.Dense(sizes[-1])(x)


class Either(nn.Module):
    sizes: Sequence[int] = (4, 5)
    deep: bool = True

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        if self.deep:
            sizes.append(3)
            x = nn.Dense(sizes[-1])(x)
        else:
            sizes.insert(0, 6)
        x = nn.Dense(sizes[-1])(x)
        return nn.Dense(sizes[0])(x)


class Later(nn.Module):
    """A function that reads the list, called before and after it changes."""

    sizes: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)

        def head(y):
            return nn.Dense(sizes[-1])(y)

        x = head(x)
        sizes.append(9)
        return head(x)


CASES = [
    ("Last", {}, [(2, 5, 4)], {}),
    ("Last", {"sizes": (6,)}, [(2, 5, 4)], {}),
    ("WithOutput", {}, [(2, 5, 4)], {}),
    ("WithOutput", {"deep": False}, [(2, 5, 4)], {}),
    ("Doubled", {}, [(2, 5, 4)], {}),
    ("Turned", {}, [(2, 5, 4)], {}),
    ("Growing", {}, [(2, 5, 4)], {}),
    ("Either", {}, [(2, 5, 4)], {}),
    ("Either", {"deep": False}, [(2, 5, 4)], {}),
    ("Later", {}, [(2, 5, 4)], {}),
]
