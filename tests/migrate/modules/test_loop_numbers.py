"""Numbers taken from shapes that a loop changes from pass to pass: `resolution = x.shape[1]`, halved where x is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

NETS = """from typing import Sequence
from flax import linen as nn
import jax
import jax.numpy as jnp


class Attn(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(x.shape[-1])(nn.LayerNorm()(x))


class Encoder(nn.Module):
    mults: Sequence[int]
    at: Sequence[int]

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        resolution = x.shape[1]
        count = len(self.mults)
        for i in range(count):
            for _ in range(2):
                x = nn.Conv(4 * self.mults[i], (3, 3))(x)
                if resolution in self.at:
                    x = Attn()(x)
            if i < count - 1:
                x = nn.Conv(4 * self.mults[i], (4, 4), strides=(2, 2))(x)
                resolution = resolution // 2
        return nn.Conv(3, (1, 1))(x)


class Widening(nn.Module):
    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        for i in range(3):
            x = nn.Dense(width)(x)
            width = width * 2
        return nn.Dense(width)(x)


class DownAndUp(nn.Module):
    at: Sequence[int]

    @nn.compact
    def __call__(self, x):
        res = x.shape[1]
        for i in range(2):
            x = nn.Conv(4, (3, 3), strides=(2, 2))(x)
            res //= 2
            if res in self.at:
                x = Attn()(x)
        for i in reversed(range(2)):
            x = nn.ConvTranspose(4, (3, 3), strides=(2, 2))(x)
            res *= 2
            if res in self.at:
                x = Attn()(x)
        if res == x.shape[1]:
            x = nn.Dense(res)(x)
        return x


class Either(nn.Module):
    at: Sequence[int]
    up: bool = False

    @nn.compact
    def __call__(self, x):
        res = x.shape[1]
        for i in range(3):
            if res in self.at:
                x = Attn()(x)
            if self.up:
                x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
                res = res * 2
            else:
                x = nn.avg_pool(x, (2, 2), strides=(2, 2))
                res = res // 2
        return nn.Dense(res)(x)


class Jumping(nn.Module):
    at: Sequence[int]

    @nn.compact
    def __call__(self, x):
        res = x.shape[1]
        for i in range(4):
            x = nn.Dense(3)(x)
            if res in self.at:
                x = Attn()(x)
                res = res * 2
                continue
            res = res // 2
        return x


class Swapped(nn.Module):
    @nn.compact
    def __call__(self, y, x):
        for i in range(3):
            z = nn.Dense(y.shape[-1])(x)
            w = nn.Dense(x.shape[-1] + 1)(y)
            y, x = w, z
        return x, y


class Handed(nn.Module):
    @nn.compact
    def __call__(self, y, x):
        for i in range(3):
            z = nn.Dense(5 + y.shape[-1])(x)
            x, y = y, z
        return x, y


class Previous(nn.Module):
    # What the last pass leaves, said in sizes that it has changed since.

    @nn.compact
    def __call__(self, x):
        count = x.shape[-1]
        for i in range(3):
            before, old = x, count
            width = x.shape[-1]
            wider = nn.Dense(x.shape[-1] * 2)(x)
            count = count + 3
            new = count
            x = wider
        return nn.Dense(width)(before), nn.Dense(old)(x), nn.Dense(new)(wider) + nn.Dense(wider.shape[-1] // 8)(x).sum()
"""


@pytest.mark.parametrize(
    ("name", "fields", "shapes"),
    [
        ("Encoder", {"mults": (1, 2, 2), "at": (4,)}, [(2, 8, 8, 3)]),
        ("Encoder", {"mults": (1, 2, 2), "at": (8, 2)}, [(2, 8, 8, 3)]),
        ("Widening", {}, [(2, 3)]),
        ("Previous", {}, [(2, 3)]),
        ("DownAndUp", {"at": (4,)}, [(2, 8, 8, 3)]),
        ("DownAndUp", {"at": (8, 2)}, [(2, 8, 8, 3)]),
        ("Either", {"at": (4,)}, [(2, 8, 8, 3)]),
        ("Either", {"at": (4,), "up": True}, [(2, 2, 2, 3)]),
        ("Jumping", {"at": (4,)}, [(2, 16, 5)]),
        ("Jumping", {"at": (4,)}, [(2, 7, 5)]),
        ("Swapped", {}, [(2, 3), (2, 4)]),
        ("Handed", {}, [(2, 3), (2, 4)]),
    ],
)
def test_a_number_that_follows_the_sizes(name: str, fields: dict[str, Any], shapes: list[tuple[int, ...]]) -> None:
    before, after = both_sides("loop_numbers", NETS)
    xs = [jax.random.normal(jax.random.key(i), shape) for i, shape in enumerate(shapes)]
    linen = getattr(before, name)(**fields)
    variables = linen.init(jax.random.key(0), *xs)
    if len(xs) == 2:
        sizes: dict[str, Any] = {"in_features": xs[0].shape[-1], "x_features": xs[1].shape[-1]}
    else:
        sizes = {"in_features": xs[0].shape[-1]} if name in ("Widening", "Previous") else {"in_shape": xs[0].shape}
    assert compat.check_equivalence(linen, variables, getattr(after, name)(**fields, **sizes, rngs=nnx.Rngs(0)), *xs)


BEHIND = """from flax import linen as nn
import jax.numpy as jnp


class UnderACondition(nn.Module):
    # The last pass leaves it as it is.

    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in reversed(range(self.n)):
            if i:
                kept = x.shape[-1]
                x = nn.Dense(kept * 2)(x)
            else:
                x = nn.Dense(5)(x)
        return nn.Dense(kept)(x)


class OfAnInnerLoop(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            for j in range(2 - i):
                kept = x.shape[-1]
            x = nn.Dense(x.shape[-1] + 1)(x)
        return nn.Dense(kept)(x)


class OnBothSides(nn.Module):
    n: int = 4

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            if i % 2 == 0:
                kept = x
            else:
                kept = nn.Dense(3)(x)
            x = nn.Dense(x.shape[-1] + 1)(x)
        return nn.Dense(2)(kept)


class OfAFunction(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        def grow(y):
            for i in range(self.n):
                prev = y
                y = nn.Dense(y.shape[-1] + 1)(y)
            return prev, y
        a, b = grow(x)
        return nn.Dense(a.shape[-1])(b) + nn.Dense(a.shape[-1])(a)


class JoinedAhead(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            h = x
            y = jnp.concatenate([x, h], -1)
            x = nn.Dense(y.shape[-1] - 1)(y)
        return nn.Dense(h.shape[-1])(y)


class Height(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            size = x.shape[1]
            x = nn.Conv(4, (3, 3), strides=(2, 2))(x)
        return nn.Dense(size)(x)


class Listed(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        widths = []
        for i in range(self.n):
            widths.append(x.shape[-1])
            last = x.shape[-1]
            x = nn.Dense(x.shape[-1] * 2)(x)
        return nn.Dense(widths[-1])(x) + nn.Dense(last)(x)
class ChangedAgain(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            w = x.shape[-1]
            x = nn.Dense(w + 1)(x)
        for i in range(self.n):
            x = nn.Dense(w)(x)
            w = w + 3
        return nn.Dense(w)(x)
"""


LEFT = ["ChangedAgain", "OfAnInnerLoop", "OnBothSides", "Height", "JoinedAhead", "Listed", "OfAFunction", "UnderACondition"]


@pytest.mark.parametrize("name", LEFT)
def test_what_a_loop_leaves_has_the_sizes_of_the_last_pass(name: str) -> None:
    before, after = both_sides("loop_left", BEHIND)
    x = jax.random.normal(jax.random.key(0), (2, 16, 16, 3) if name == "Height" else (2, 3))
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(0), x)
    shaped = ("Height", "UnderACondition", "OfAnInnerLoop", "OnBothSides")
    sizes: dict[str, Any] = {"in_shape": x.shape} if name in shaped else {"in_features": 3}
    assert compat.check_equivalence(linen, variables, getattr(after, name)(**sizes, rngs=nnx.Rngs(0)), x)


READ = """from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for i in range(3):
            kept = x.shape[-1]
            wider = lambda: kept + 1
            x = nn.Dense(wider())(x)
        return nn.Dense(wider())(x)
"""


def test_a_function_that_reads_what_a_loop_leaves_is_not_followed() -> None:
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", READ)]).classes
    assert (str(net.outcome), net.code) == ("bridged", "NNX113")


MIXED = """from flax import linen as nn


class Net(nn.Module):
    at: tuple = (4,)

    @nn.compact
    def __call__(self, x, mask):
        res = x.shape[1]
        for i in range(3):
            if res in self.at:
                x = nn.Dense(3)(x)
            res = int(mask.sum())
        return x
"""


def test_a_number_of_an_array_is_no_size() -> None:
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", MIXED)]).classes
    assert (str(net.outcome), net.code) == ("bridged", "NNX157")
