"""Widths that follow from what a call computes: the layer behind it has Linen's, or its class asks for it, or stays Linen.

`width_expressions.txt` holds expressions of `x`, an array of the shape (2, 6, 8), and `self.n`; `width_bodies.txt` holds
statements that end with a `y`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

HERE = Path(__file__).parent
EXPRESSIONS = [f"y = {line}" for line in (HERE / "width_expressions.txt").read_text().splitlines()]
BODIES = [body.strip("\n") for body in (HERE / "width_bodies.txt").read_text().split("\n---\n")]
HEAD = """import collections, dataclasses, enum, functools, itertools, math, operator
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

WIDTH = 3
WIDTH += 1
TABLE = {"a": 1, "b": 2}
TABLE["b"] = 5


def cut(v, k=WIDTH):
    return v[..., :k]


def cut_more(v):
    return cut(v)[..., :WIDTH - 1]


@dataclasses.dataclass
class Cfg:
    width: int = 3


CFG = Cfg(width=5)


class Mode(enum.Enum):
    A = 1
    B = 2


class K:
    W = 3


K.W = 6
"""
CLASS = """

class Net{number}(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
{body}
        return nn.Dense(3)(y)
"""
# What the constructors of classes are given that ask for their input.
X = jnp.asarray(np.random.RandomState(0).rand(2, 6, 8), jnp.float32)
KNOWN: dict[str, Any] = {"in_features": 8, "in_shape": (2, 6, 8), "in_example": X}


@pytest.mark.parametrize("name, bodies", [("expressions", EXPRESSIONS), ("bodies", BODIES)], ids=["expressions", "bodies"])
def test_layers_have_the_widths_of_linen(name: str, bodies: Sequence[str]) -> None:
    text = HEAD + "".join(CLASS.format(number=i, body=textwrap.indent(b, " " * 8)) for i, b in enumerate(bodies))
    result = migrate_project([SourceFile.parse(Path(f"widths_{name}.py"), f"widths_{name}", text)])
    for path, content in result.created.items():
        module(path.stem, content)
    linen, migrated = module(f"widths_{name}", text), module(f"widths_{name}", result.files[0].after or text)
    planned = {c.qualname.rpartition(".")[2]: c for c in result.classes}
    compared, wrong = 0, []
    for number, body in enumerate(bodies):
        plan = planned[f"Net{number}"]
        if str(plan.outcome) != "native" or any(a.name not in KNOWN for a in plan.added_arguments):
            continue  # it stays Linen, or is told the width
        given = {a.name: KNOWN[a.name] for a in plan.added_arguments}
        for n in (1, 3):
            expected, got = _linen_width(linen, number, n), _width(migrated, number, n, given)
            compared += 1
            if expected != got:
                wrong.append((body, n, expected, got))
    assert not wrong
    assert compared > len(bodies)  # most are followed


def _linen_width(program: Any, number: int, n: int) -> int:
    variables = jax.eval_shape(lambda: getattr(program, f"Net{number}")(n).init(jax.random.key(0), X))
    return int(variables["params"]["Dense_0"]["kernel"].shape[0])


def _width(program: Any, number: int, n: int, given: dict[str, Any]) -> int:
    made = nnx.eval_shape(lambda: getattr(program, f"Net{number}")(n, **given, rngs=nnx.Rngs(0)))
    return int(made.Dense_0.kernel.shape[0])
