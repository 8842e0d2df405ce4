"""Attributes of `setup` that Linen stores under names which fields decide about, or are."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

PROGRAM = """from functools import partial

import jax.numpy as jnp
from flax import linen as nn


class Nested(nn.Module):
    named: bool = False
    groups: int = 2

    def setup(self):
        if self.groups > 0:
            norm = partial(nn.GroupNorm, self.groups)
            self.last = norm(name="GroupNorm_0") if self.named else norm()  # for old checkpoints
        else:
            norm = partial(nn.RMSNorm, epsilon=1e-5)
            self.last = norm()

    @nn.compact
    def __call__(self, x):
        return self.last(nn.Dense(4)(x))


class Chosen(nn.Module):
    kind: str = "a"

    def setup(self):
        self.first = nn.Dense(3)
        self.last = (
            nn.LayerNorm(name="ln")
            if self.kind == "a"
            else nn.RMSNorm(
                name="rms",
            )
            if self.kind == "b" else nn.LayerNorm(
                epsilon=1e-3,
            )
        )

    def head(self, x):
        return 2 * self.last(x)

    def __call__(self, x):
        return self.head(self.first(x)) + self.last(self.first(x))


class Elif(nn.Module):
    kind: str = "a"

    def setup(self):
        if self.kind == "a":
            self.mix = nn.Dense(3, name="one")
        elif self.kind == "b":
            self.mix = nn.Dense(3, use_bias=False, name="two")
        else:
            self.mix = nn.Dense(3)

    def __call__(self, x):
        return self.mix(x)


class ByField(nn.Module):
    out: str = "head"

    def setup(self):
        self.dense = nn.Dense(3, name=self.out)

    def __call__(self, x):
        return self.dense(x) + nn.relu(self.dense(x))


class BySides(nn.Module):
    out: str = "head"
    tail: bool = False

    def setup(self):
        self.dense = nn.Dense(3, name="tail_end" if self.tail else self.out)

    def __call__(self, x):
        return self.dense(x)


class Computed(nn.Module):
    named: bool = False
    k: str = "k"

    def setup(self):
        norm = partial(nn.LayerNorm, epsilon=1e-5)
        self.last = norm(name=f"{self.k}norm") if self.named else norm()

    def __call__(self, x):
        return self.last(x)


class ComputedBranch(nn.Module):
    named: bool = False
    k: str = "k"

    def setup(self):
        if self.named:
            self.last = nn.LayerNorm(name=f"{self.k}norm")
        else:
            self.last = nn.LayerNorm(use_bias=False)

    def __call__(self, x):
        return self.last(x)
"""
CASES = [
    ("Nested", {"named": named, "groups": groups}) for named in (False, True) for groups in (2, 0)
] + [
    (name, {"kind": kind}) for name in ("Chosen", "Elif") for kind in "abc"
] + [
    ("ByField", {}), ("ByField", {"out": "other"}), ("BySides", {}), ("BySides", {"tail": True}),
    ("Computed", {}), ("Computed", {"named": True}), ("ComputedBranch", {}), ("ComputedBranch", {"named": True, "k": "p"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def sides():
    return both_sides("computed_names", PROGRAM)


@pytest.mark.parametrize(("name", "fields"), CASES)
def test_the_names_are_those_of_linen(sides, name: str, fields: dict[str, object]) -> None:
    before, after = sides
    linen = getattr(before, name)(**fields)
    x = jnp.linspace(-1, 1, 10).reshape((2, 5))
    variables = linen.init(jax.random.key(0), x)
    new = getattr(after, name)(**fields, in_features=5, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)


STAYS = [
    # None is no name: `setup` calls the layer as its attribute then
    ("    out: str | None = None\n", "        self.dense = nn.Dense(3, name=self.out)\n"),
    # NNX has no name for it by which a second method could ask
    (
        '    out: str = "a"\n',
        "        self.dense = nn.Dense(3, name=self.out)\n\n    def head(self, x):\n        return self.dense(x)\n",
    ),
    # what is called as the attribute is made by something else than a class
    (
        '    out: str = "a"\n    make: object = nn.LayerNorm\n',
        '        self.dense = nn.LayerNorm(name=f"{self.out}n") if self.out else self.make()\n',
    ),
    (
        '    out: str = "a"\n    twin: int = 3\n',
        '        self.dense = nn.Dense(3, name="twin") if self.out else nn.Dense(3)\n',
    ),
]


@pytest.mark.parametrize(("fields", "lines"), STAYS)
def test_what_would_have_another_name_stays_linen(fields: str, lines: str) -> None:
    text = f"from flax import linen as nn\n\n\nclass Net(nn.Module):\n{fields}\n    def setup(self):\n{lines}\n"
    text += "    def __call__(self, x):\n        return self.dense(x)\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    (net,) = result.classes
    assert str(net.outcome) == "bridged", result.files[0].after
