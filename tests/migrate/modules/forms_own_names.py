"""Classes that read the name that Linen gives them (`self.name`); `CASES` as in forms_basic."""

from typing import Any

from flax import linen as nn


class Named(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width, name=f"{self.name}_in")(x)
        if self.name is not None and self.name.startswith("big"):
            x = nn.Dense(self.width * 2, name="more")(x)
        return x * (2.0 if self.name == "other" else 1.0)


class Derived(Named):
    extra: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.extra, name="last")(super().__call__(x))


class Counted(nn.Module):
    """Names that are given, names that Linen counts, and those of a loop."""

    @nn.compact
    def __call__(self, x):
        x = Named(5, name="big")(x)
        x = Named()(x)
        x = Derived()(x)
        for i in range(2):
            x = Named(name=f"bigger_{i}")(x)
        return Named()(x)


class InSetup(nn.Module):
    def setup(self):
        self.big_one = Named(3)
        self.other = Derived(extra=5)

    def __call__(self, x):
        return self.other(self.big_one(x))


class Messages(nn.Module):
    """What only people read takes no argument."""

    width: int = 3

    @nn.compact
    def __call__(self, x):
        if x.ndim > 5:
            raise ValueError(f"{self.name} takes no videos")
        return nn.Dense(self.width)(x)


CASES: list[Any] = [
    ("Named", {}, [(2, 3)], {}),
    ("Derived", {"extra": 2}, [(2, 3)], {}),
    ("Counted", {}, [(2, 3)], {}),
    ("InSetup", {}, [(2, 3)], {}),
    ("Messages", {}, [(2, 3)], {}),
]
