"""Lists of sizes that the call fills, empties and changes in place; `CASES` as in forms_basic."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn

normal = nn.initializers.normal(1.0)


class Appended(nn.Module):
    @nn.compact
    def __call__(self, x):
        shape = []
        shape.append(1)
        shape.append(x.shape[-1])
        return x + self.param("table", normal, shape)


class AppendedInLoop(nn.Module):
    axes: int = 2

    @nn.compact
    def __call__(self, x):
        shape = []
        for _ in range(self.axes):
            shape.append(1)
        shape.append(x.shape[-1])
        return x + self.param("table", normal, tuple(shape))


class AppendedUnderCondition(nn.Module):
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        shape = []
        if self.wide:
            shape.append(1)
        shape.append(x.shape[-1])
        return x + self.param("table", normal, shape)


class Extended(nn.Module):
    axes: int = 2

    @nn.compact
    def __call__(self, x):
        shape = []
        for _ in range(self.axes):
            shape.extend([1])
        shape.extend((x.shape[-1],))
        return x + self.param("table", normal, shape)


class Inserted(nn.Module):
    axes: int = 2

    @nn.compact
    def __call__(self, x):
        shape = []
        shape.insert(0, x.shape[-1])
        for _ in range(self.axes):
            shape.insert(0, 1)
        return x + self.param("table", normal, shape)


class Replaced(nn.Module):
    @nn.compact
    def __call__(self, x):
        shape = []
        shape.append(1)
        shape.append(7)
        shape[1] = x.shape[-1]
        return x + self.param("table", normal, shape)


class ByFunction(nn.Module):
    @nn.compact
    def __call__(self, x):
        shape = []

        def add(size):
            shape.append(size)

        add(1)
        add(x.shape[-1])
        return x + self.param("table", normal, shape)


class Beside(nn.Module):
    """A list of sizes beside one of arrays, filled by the same loop."""

    @nn.compact
    def __call__(self, x):
        sizes, parts = [], []
        for i in range(3):
            sizes.append(i + 2)
            parts.append(nn.Dense(i + 2)(x))
        return jnp.concatenate(parts, -1) + self.param("bias", normal, (sum(sizes),))


class ArraysFirst(nn.Module):
    @nn.compact
    def __call__(self, x):
        kept = []
        kept.append(x)
        kept.append(3)
        return nn.Dense(kept[-1])(kept[0])


class AcrossLayers(nn.Module):
    @nn.compact
    def __call__(self, x):
        sizes = []
        sizes.append(x.shape[-1])
        x = nn.Dense(7)(x)
        sizes.append(x.shape[-1])
        return self.param("table", normal, tuple(sizes)).sum() * x + self.param("turned", normal, sizes[::-1]).sum()


class Popped(nn.Module):
    """What `pop` takes is gone: it is taken once in the constructor, too."""

    @nn.compact
    def __call__(self, x):
        sizes = []
        sizes.append(4)
        sizes.append(5)
        n = sizes.pop()
        x = nn.Dense(n)(x)
        return nn.Dense(sizes[-1])(x) + self.param("bias", normal, sizes)


class PoppedDisplay(nn.Module):
    @nn.compact
    def __call__(self, x):
        sizes = [4, 5]
        n = sizes.pop()
        return nn.Dense(sizes[-1])(nn.Dense(n)(x)) + self.param("bias", normal, sizes)


class PoppedField(nn.Module):
    sizes: Sequence[int] = (4, 5, 3)

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        last = sizes.pop()
        x = nn.Dense(last)(x)
        return nn.Dense(sizes[-1])(x) @ self.param("table", normal, sizes[::-1]) * last


class PoppedTogether(nn.Module):
    sizes: Sequence[int] = (4, 5, 3)

    @nn.compact
    def __call__(self, x):
        sizes = list(self.sizes)
        first, last = sizes.pop(0), sizes.pop()
        return nn.Dense(first)(x) @ self.param("table", normal, (first, last)) * sizes[0]


CASES = [
    ("Appended", {}, [(2, 5, 4)], {}),
    ("AppendedInLoop", {}, [(2, 5, 4)], {}),
    ("AppendedInLoop", {"axes": 0}, [(2, 5, 4)], {}),
    ("AppendedUnderCondition", {}, [(2, 5, 4)], {}),
    ("AppendedUnderCondition", {"wide": False}, [(2, 5, 4)], {}),
    ("Extended", {}, [(2, 5, 4)], {}),
    ("Inserted", {}, [(2, 5, 4)], {}),
    ("Replaced", {}, [(2, 5, 4)], {}),
    ("ByFunction", {}, [(2, 5, 4)], {}),
    ("Beside", {}, [(2, 5, 4)], {}),
    ("ArraysFirst", {}, [(2, 5, 4)], {}),
    ("AcrossLayers", {}, [(2, 5, 4)], {}),
    ("Popped", {}, [(2, 4, 4)], {}),
    ("PoppedDisplay", {}, [(2, 4, 4)], {}),
    ("PoppedField", {}, [(2, 4, 4)], {}),
    ("PoppedTogether", {}, [(2, 4, 4)], {}),
]
