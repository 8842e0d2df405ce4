"""Classes that derive from those of another file: what their constructors make, and where the text of methods is written."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

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
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, text) for n, text in texts.items()])
    stay = {c.qualname: c.reason for c in result.classes if str(c.outcome) != "native"}
    assert not stay, stay
    module("bases", BASES)
    before = module("derived", derived)
    for path, content in result.created.items():
        module(path.stem, content)
    after = {file.path.stem: file.after for file in result.files}
    module("bases", str(after["bases"]))
    native = module("derived", str(after["derived"]))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    linen = getattr(before, name)(**fields)
    model = getattr(native, name)(**fields, in_features=4, rngs=nnx.Rngs(0))
    variables = linen.init(jax.random.key(1), x)
    assert compat.check_equivalence(linen, variables, model, x, gradient=base != "Control")  # a while loop has none
    if name == "Plain":
        assert native.Plain.other(None, 2) == [2, 1]
