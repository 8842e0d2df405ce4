"""Sizes of the input that are numbers of features, of passes or fields of submodules: who contains the class gives them."""

import flax.linen as nn
import jax.numpy as jnp


class AsFeatures(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        return nn.Dense(x.shape[2])(x)


class Inner(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class AsField(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        return Inner(x.shape[1])(x)


class AsPasses(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        for _ in range(x.shape[1]):
            x = nn.Dense(4)(x)
        return x


class Whole(nn.Module):
    kind: str = "features"

    @nn.compact
    def __call__(self, x):
        if self.kind == "features":
            x = AsFeatures()(x)
        elif self.kind == "field":
            x = AsField()(x)
        else:
            x = AsPasses()(x)
        return nn.Dense(3)(x)


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = AsFeatures()(x)
        x = AsField()(nn.Dense(5)(x))
        return nn.Dense(3)(AsPasses()(x))


class Window(nn.Module):
    """Nothing here asks how many dimensions there are."""

    window: tuple = (3, 3)

    @nn.compact
    def __call__(self, x):
        return nn.LayerNorm()(nn.Conv(4, self.window)(x))


class Windows(nn.Module):
    windows: tuple = ((3, 3, 3), (1, 3, 3))

    @nn.compact
    def __call__(self, x):
        for window in self.windows:
            x = Window(window)(x)
        return nn.Dense(3)(x)


CASES = [
    ("Windows", {}, [(2, 3, 4, 4, 3)], {}),
    ("Whole", {}, [(2, 4, 6, 3)], {}),
    ("Whole", {"kind": "field"}, [(2, 4, 6, 3)], {}),
    ("Whole", {"kind": "passes"}, [(2, 3, 6, 3)], {}),
    ("Twice", {}, [(2, 3, 6, 3)], {}),
    ("AsFeatures", {}, [(2, 4, 6, 3)], {}),
    ("Windows", {"windows": ((3,), (1,))}, [(2, 6, 3)], {}),
    ("Window", {"window": (3, 3, 3)}, [(2, 3, 4, 4, 3)], {}),
    ("AsField", {}, [(2, 4, 6, 3)], {}),
]
