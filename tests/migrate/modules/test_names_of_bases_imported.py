"""Constructors of classes that derive from those of another file import what its methods name; both sides are run."""

from __future__ import annotations

import jax
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import migrated, project_sides

PARTS = """from flax import linen as nn


class Scaled(nn.Module):
    start: float

    @nn.compact
    def __call__(self, x):
        return x * self.param("scale", nn.initializers.constant(self.start), (x.shape[-1],))
"""
BASE = """from flax import linen as nn
from parts import Scaled

START = 2.0


def narrow(scale):
    return nn.initializers.normal(scale)


class Base(nn.Module):
    width: int = 5
    scaled: bool = True

    @nn.compact
    def __call__(self, x, y):
        h = nn.Dense(self.width, kernel_init=narrow(START / 4))(x) + nn.Dense(self.width)(y)
        if self.scaled:
            h = Scaled(START)(h)
        return nn.Dense({out})(h)
{below}"""
DERIVED = """from base import Base
from flax import linen as nn

{own}

class Derived(Base):
    @nn.compact
    def __call__(self, x):
        return super().__call__(x[:, :1], x)
"""


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("out,below", [("3", ""), ("LAST", "\n\nLAST = 4\n")], ids=["before", "behind"])
@pytest.mark.parametrize("own", ["", "START, narrow = 7.0, None\nScaled = 3"], ids=["free", "taken"])
def test_what_the_file_of_the_base_has_is_imported(own: str, out: str, below: str, scaled: bool) -> None:
    texts = {"parts": PARTS, "base": BASE.format(out=out, below=below), "derived": DERIVED.format(own=own)}
    before, after = project_sides(texts, migrated(texts))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    linen = before.Derived(scaled=scaled)
    model = after.Derived(scaled=scaled, in_shape=(2, 4), rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(1), x), model, x)


@pytest.mark.parametrize(
    "below",
    ["\n\nLAST = 4\nimport derived\n", "\n\ndef wider():\n    global LAST\n    LAST += 1\n"],
    ids=["behind, in a circle", "changed"],
)
def test_what_may_not_be_there_yet_or_changes_stays(below: str) -> None:
    base = BASE.format(out="LAST", below=below)
    if "global" in below:
        base = base.replace("START = 2.0", "START = 2.0\nLAST = 4")
    result = migrated({"parts": PARTS, "base": base, "derived": DERIVED.format(own="")})
    stay = {c.qualname: c.reason for c in result.classes if str(c.outcome) != "native"}
    assert list(stay) == ["derived.Derived"]
    assert "`LAST` of base.py is needed in the constructor" in str(stay["derived.Derived"])
