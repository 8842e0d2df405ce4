"""Arrays that a flag, or a pass of a loop, leaves None: whether one is there is no question about an argument."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, context=None, train: bool = False):
"""


def _program(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(
    "body",
    [
        "held = None\nif train:\n    held = x\nif held is None:\n    x = nn.Dense(4)(x)\nreturn nn.Dense(3)(x)",
        "held = None if train else x\nif held is not None:\n    x = nn.Dense(4)(x)\nreturn nn.Dense(3)(x)",
        "for i in range(3):\n    if context is not None:\n        x = nn.Dense(4)(x)\n"
        "    context = None if i == 1 else x\nreturn nn.Dense(3)(x)",
        "for _ in range(3):\n    if context is not None:\n        x = nn.Dense(4)(x)\n"
        "    context = x\nreturn nn.Dense(3)(x)",
        "for _ in range(3):\n    if context is not None:\n        x = nn.Dense(4)(x)\n"
        "    context = None\nreturn nn.Dense(3)(x)",
    ],
)
def test_a_module_that_another_pass_or_flag_decides_about_leaves_its_class_linen(body: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", _program(body))])
    (net,) = result.classes
    assert str(net.outcome) == "bridged" and "depends on how the module is called" in net.reason


GIVEN = """for _ in range(2):
    if context is not None:
        x = x + nn.Dense(5)(context)
        context = nn.relu(context)
    x = nn.Dense(5)(x)
return nn.Dense(3)(x)
"""
ASKED = """seen = ()
for _ in range(2):
    if context is not None:
        x = x + nn.Dense(5)(context)
    x = nn.Dense(5)(x)
    if train:
        seen += (x,)
        if context is not None:
            seen += (context,)
return nn.Dense(3)(x)
"""
SCALED = """for _ in range(2):
    if context is not None:
        x = x * context
    x = nn.Dense(5)(x)
    context = None
return nn.Dense(3)(x)
"""


@pytest.mark.parametrize("name, body", [("given", GIVEN), ("asked", ASKED), ("scaled", SCALED)])
def test_what_stays_there_in_all_passes_is_asked_as_before(name: str, body: str) -> None:
    linen, migrated = both_sides(f"none_in_passes_{name}", _program(body))
    x, context = jax.random.normal(jax.random.key(0), (2, 2, 5))
    for given in ((), (context,)):
        variables = linen.Net().init(jax.random.key(1), x, *given)
        sizes = {"context_features": 5 if given else None} if name != "scaled" else {}
        native = migrated.Net(in_features=5, **sizes, rngs=nnx.Rngs(0))
        compat.assert_equivalent(linen.Net(), variables, native, x, *given)
