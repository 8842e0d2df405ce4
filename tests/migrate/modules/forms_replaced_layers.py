"""Layers that another takes the place of before they are called: Linen makes no variables of them."""

from flax import linen as nn


class Replaced(nn.Module):
    big: bool = True

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4)
        if self.big:
            layer = nn.Dense(5, name="big")
        return nn.Dense(2)(layer(x))


class ReplacedByFunction(nn.Module):
    plain: bool = True

    @nn.compact
    def __call__(self, x):
        act = nn.PReLU()
        if self.plain:
            act = nn.relu
        for _ in range(2):
            x = act(nn.Dense(4)(x))
        return x


class Picked(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        small, wide = nn.Dense(4), nn.Dense(5)
        layer = small if self.kind == "a" else wide
        return layer(x)


class PickedInBranches(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        small = nn.Dense(4)
        wide = nn.Dense(5)
        if self.kind == "a":
            layer = small
        else:
            layer = wide
        return layer(layer(x)[..., :4])


class Wrapped(nn.Module):
    """It is called either way."""

    normed: bool = True

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4)
        if self.normed:
            layer = nn.Sequential([layer, nn.LayerNorm()])
        return layer(x)


class PickedAndCalled(nn.Module):
    """One of them is called by its own name, too."""

    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        small, wide = nn.Dense(4), nn.Dense(5)
        layer = small if self.kind == "a" else wide
        return layer(small(x))


class Swapped(nn.Module):
    turned: bool = False

    @nn.compact
    def __call__(self, x):
        first, second = nn.Dense(4), nn.LayerNorm()
        if self.turned:
            first, second = second, first
        return second(first(x))


X = [(2, 4)]
CASES = [
    (name, {field: value}, X, {})
    for name, field, values in (
        ("Replaced", "big", (True, False)),
        ("ReplacedByFunction", "plain", (True, False)),
        ("Picked", "kind", "ab"),
        ("PickedInBranches", "kind", "ab"),
        ("Wrapped", "normed", (True, False)),
        ("PickedAndCalled", "kind", "ab"),
        ("Swapped", "turned", (True, False)),
    )
    for value in values
]
