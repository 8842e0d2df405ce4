"""Ranks of module arguments: stated in the code, seen in examples, traced."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.linen.evidence.ranks import certain_ranks, seen_ranks
from nnx_migrate.migrate.linen.evidence.trace import TraceError
from nnx_migrate.migrate.linen.project.classes import Classes
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.nnx.classes.modules import decide
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.plan import Outcome, Plan
from nnx_migrate.migrate.source import SourceFile

HEADER = """
import chex
import jax.numpy as jnp
from flax import linen as nn
from jaxtyping import Array, Float
"""


def ranks(text: str, *targets: str, folder: Path = Path(".")) -> dict[str, dict[str, int]]:
    project = Project([SourceFile.parse(folder / "m.py", "m", HEADER + text)])
    classes = Classes(project)
    return certain_ranks(classes) or seen_ranks(project, classes, targets)


def body(*lines: str, signature: str = "self, x, y=None") -> str:
    inner = "\n".join(f"        {line}" for line in lines)
    return f"class Net(nn.Module):\n    @nn.compact\n    def __call__({signature}):\n{inner}\n        return x\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        (body("assert x.ndim == 3"), {"x": 3}),
        (body("assert 3 == len(x.shape), 'no'"), {"x": 3}),
        (body("assert x.ndim == 3 and y.ndim == 2"), {"x": 3, "y": 2}),
        (body("chex.assert_rank([x, y], 4)"), {"x": 4, "y": 4}),
        (body("pass", signature='self, x: Float[Array, "b t d"], y: Float[Array, "... d"]'), {"x": 3}),
        (body("assert x.ndim == 3 or x.ndim == 4"), {}),
        (body("assert x.ndim >= 3"), {}),
        (body("x = x[None]", "assert x.ndim == 3"), {}),
        (body("if y is None:", "    assert x.ndim == 3"), {}),
        (body("assert x.ndim == 3", "assert x.ndim == 4"), {}),
        (body("assert z.ndim == 3"), {}),
    ],
)
def test_stated_in_the_code(text: str, expected: dict[str, int]) -> None:
    assert ranks(text) == ({"m.Net": expected} if expected else {})


def test_sources_together(tmp_path: Path) -> None:
    text = body("assert y is None or True") + "Net().init(0, jnp.ones((1, 2)), jnp.ones((3,)))\n"
    text += "def trace():\n    return Net(), jnp.ones((5, 6)), jnp.ones((3, 3))\n"
    runnable = HEADER + text
    for line in (
        "import chex\n",
        "from jaxtyping import Array, Float\n",
        "Net().init(0, jnp.ones((1, 2)), jnp.ones((3,)))\n",
    ):
        runnable = runnable.replace(line, "")
    (tmp_path / "m.py").write_text(runnable)
    assert ranks(text) == {"m.Net": {"x": 2, "y": 1}}
    assert ranks(text, "m:trace", folder=tmp_path) == {"m.Net": {"x": 2}}  # they disagree about y
    with pytest.raises(TraceError, match="m:absent"):
        ranks(text, "m:absent", folder=tmp_path)


METHODS = """
class Net(nn.Module):
    def setup(self):
        self.dense = nn.Dense(3)

    def __call__(self, x):
        assert x.ndim == 2
        return self.{called}(x)

    def encode(self, x):
        return self.dense(x)
"""


def test_an_argument_of_two_methods_may_be_two_things() -> None:
    assert ranks(METHODS.format(called="encode")) == {"m.Net": {"x": 2}}
    assert ranks(METHODS.format(called="dense")) == {}


RANK_TWO_EXAMPLE = """
class Part(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x)

class Whole(nn.Module):
    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        y = Part()(x)
        return nn.Dense(1)(y.reshape((b, -1)))

Part().init(key, jnp.ones((2, 3)))
"""


def test_an_example_does_not_narrow_what_a_class_can_do() -> None:
    """Part is shown with two dimensions and used with three: the size in Whole is that of three."""
    source = SourceFile.parse(Path("m.py"), "m", HEADER + RANK_TWO_EXAMPLE)
    project = Project([source])
    plan = Plan(aliases=dict(project.aliases))
    decide(project, plan, Options())
    assert seen_ranks(project, Classes(project)) == {"m.Part": {"x": 2}}
    result = migrate_project([source]).files[0].after
    assert result is not None and plan.classes["m.Whole"].outcome is Outcome.NATIVE
    flat = next(line for line in result.splitlines() if "nnx.Linear" in line and "1, " in line)
    assert "4 * " in flat or "* 4" in flat, flat
