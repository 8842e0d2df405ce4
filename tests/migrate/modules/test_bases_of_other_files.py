"""Classes that derive from those of another file: what their constructors make, and where the text of methods is written."""

from __future__ import annotations

import jax
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import migrated, project_sides

BASES = """from flax import linen as nn

SMALL = False
WIDE = True


class Counted(nn.Module):
    flag: bool = False

    def k(self):
        return 3

    @nn.compact
    def __call__(self, x):
        if self.flag:
            x = nn.Dense(self.k())(x)
        x = nn.Dense(7)(x)
        return nn.Dense(2)(x)


class Looped(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for width in (3, 4):
            x = nn.Dense(width)(x)
        return nn.Dense(2)(x)


class Control(nn.Module):
    limit: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        y, _ = nn.while_loop(lambda m, c: c[1] < m.limit, lambda m, c: (c[0] * 2.0, c[1] + 1), self, (x, 0))
        return y


class Constants(nn.Module):
    width = 4
    big = False

    @nn.compact
    def __call__(self, x):
        me = self
        if SMALL:
            x = nn.Dense(3)(x)
        x = nn.Dense(7)(x) if WIDE else nn.Dense(me.width)(x)
        if self.big:
            x = nn.RMSNorm()(x)
        return nn.Dense(me.width)(x)
"""
DERIVED = """import bases


class Plain(bases.{base}):
    \"\"\"Long enough for every position of the other file to fall into this class, or behind it. {padding}\"\"\"

    more: int = 3

    def k(self):
        return 5

    def other(self, given):
        found = [given, 1]
        return found


class Changed(bases.{base}):
    \"\"\"{padding}\"\"\"

    def k(self):
        return 6

    width = 6
    big = True
"""


@pytest.mark.parametrize("name", ["Plain", "Changed"])
@pytest.mark.parametrize(
    "base,fields", [("Counted", {}), ("Counted", {"flag": True}), ("Looped", {}), ("Control", {}), ("Constants", {})]
)
def test_they_are_what_they_were(base: str, name: str, fields: dict[str, bool]) -> None:
    derived = DERIVED.format(base=base, padding="long " * 150)
    texts = {"bases": BASES, "derived": derived}
    before, native = project_sides(texts, migrated(texts))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    linen = getattr(before, name)(**fields)
    model = getattr(native, name)(**fields, in_features=4, rngs=nnx.Rngs(0))
    variables = linen.init(jax.random.key(1), x)
    assert compat.check_equivalence(linen, variables, model, x, gradient=base != "Control")  # a while loop has none
    if name == "Plain":
        assert native.Plain.other(None, 2) == [2, 1]


LAYERS = """import functools
from typing import Callable

import jax
from flax import linen as nn

LIMIT = 2


class Body(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x)


class Defaults(nn.Module):
    SMALL = 3
    width: int = 4
    hidden: int = width
    depth: int = SMALL
    more: int = SMALL + LIMIT

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.Dense(self.hidden)(x)
        return nn.Dense(self.width + self.more)(x)


class Makers(nn.Module):
    norm: Callable = functools.partial(nn.BatchNorm, use_running_average=True, momentum=0.8, epsilon=1e-3)
    dense: Callable = functools.partial(nn.DenseGeneral, kernel_init=nn.initializers.normal(0.1), axis=(-2, -1))
    last: Callable = lambda: nn.LayerNorm(epsilon=1e-2, use_scale=False)
    body: Callable = functools.partial(Body, size=5)
    other: Callable = lambda: Body(6)

    @nn.compact
    def __call__(self, x):
        x = self.dense(3)(self.norm()(x))
        return self.other()(self.body()(self.last()(x)))


class Rows(nn.Module):
    size: int = 3

    @nn.compact
    def __call__(self, x):
        rows = nn.vmap(nn.remat(Body), variable_axes={"params": 0}, split_rngs={"params": True})
        return rows(self.size)(x)
"""
OTHERS = """import layers
from layers import Rows as Lines


class Sized(layers.Defaults):
    own: int = 3


class Larger(layers.Defaults):
    own: int = 3
    SMALL = 5


class Made(layers.Makers):
    own: int = 3


class Stacked(layers.Rows):
    own: int = 3


class Added(Lines):
    own: int = 3

    def __call__(self, x):
        return super().__call__(x) + 1
"""


@pytest.mark.parametrize("name", ["Sized", "Larger", "Made", "Stacked", "Added"])
def test_defaults_and_transforms_of_the_other_file(name: str) -> None:
    texts = {"layers": LAYERS, "others": OTHERS}
    result = migrated(texts)
    before, native = project_sides(texts, result)
    x = jax.random.normal(jax.random.key(0), (2, 4, 5))
    plan = next(c for c in result.classes if c.qualname == f"others.{name}")
    linen = getattr(before, name)()
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}
    model = getattr(native, name)(**added, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(1), x), model, x)


TRACED = """import jax
from flax import linen as nn


class Sowing(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x)

        def scaled(y):
            self.sow("intermediates", "y", y)
            return y * 2

        return jax.checkpoint(scaled)(x)
"""
NAMED = """import functools

from flax import linen as nn


class Body(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x)


class Maker(nn.Module):
    size: int = 3

    @nn.compact
    def __call__(self, x):
        make = functools.partial(Body, self.size, name="body")
        return make()(x)
"""


@pytest.mark.parametrize("text,base,code", [(TRACED, "Sowing", "NNX134"), (NAMED, "Maker", "NNX135")])
def test_what_derived_classes_are_refused_for(text: str, base: str, code: str) -> None:
    derived = f"import bases\n\n\nclass Derived(bases.{base}):\n    own: int = 3\n"
    result = migrated({"bases": text, "derived": derived})
    assert next(c.code for c in result.classes if c.qualname == "derived.Derived") == code
