"""Modules that helper methods make and Linen numbers with others: the methods take the iterator of their list."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = '''
import functools
from typing import Any, Optional
import jax
import jax.numpy as jnp
from flax import linen as nn


class Op(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)

'''


def model(name: str, methods: str, fields: str = 'kernel: str = "deep"') -> str:
    lines = "\n".join(f"    {line}" if line else "" for line in methods.strip("\n").split("\n"))
    return f"\nclass {name}(nn.Module):\n    {fields}\n\n{lines}\n"


TWICE = '''
def attend(self, x, mode: str):
    """What decides is a field, whatever the mode."""
    if self.kernel == "dot" or (self.kernel == "auto" and mode == "decode"):
        return 2 * x
    elif self.kernel == "deep":
        if mode == "decode":
            raise ValueError("no decoding")
        return self.deeply(x)
    else:
        raise ValueError(self.kernel)

def deeply(self, x):
    return Op(x.shape[-1])(x)

@nn.compact
def __call__(self, x, y=None, mode: str = "train"):
    """Attends once or twice."""
    first = self.attend(x, mode=mode)
    if y is None:
        return first
    return first + self.attend(x=y, mode=mode)
'''
LOOP = '''
@nn.nowrap
def made(self, x, *, scale=1.0, **options):
    return scale * Op(4)(x) + len(options)

@nn.compact
def __call__(self, x, y=None, mode: str = "train"):
    x = Op(4)(x)
    for i in range(3):
        if i != 1:
            x = self.made(x, scale=0.5, other=4)
        x = self.made(
            x,
        )
    return Op(2)(x)
'''
SEVERAL = '''
def one(self, x):
    return nn.Dense(4)(Op(4)(x))

def other(self, x):
    return self.one(nn.Dense(4)(x)) + self.one(x)

@nn.compact
def __call__(self, x, y=None, mode: str = "train"):
    if mode == "decode":
        raise NotImplementedError
    x = self.other(x)
    return self.one(nn.Dense(4)(x))
'''
LAST = '''
def one(self, x):
    return Op(4)(x)

@nn.compact
def __call__(self, x, y=None, mode: str = "train"):
    x = self.one(x)
    x = self.one(x)
    return x if mode == "train" else Op(3)(self.one(x))
'''
PROGRAMS = {"Twice": TWICE, "Loop": LOOP, "Several": SEVERAL, "Last": LAST}


@pytest.fixture(scope="module")
def sides() -> Any:
    return both_sides("iterators", HEAD + "".join(model(name, body) for name, body in PROGRAMS.items()))


def outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("fields", [{}, {"kernel": "dot"}, {"kernel": "auto"}], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_place_takes_the_module_of_its_number(sides: Any, name: str, fields: dict[str, str]) -> None:
    linen, native = (getattr(side, name) for side in sides)
    x, y = jnp.sin(jnp.arange(12.0)).reshape(3, 4), jnp.cos(jnp.arange(12.0)).reshape(3, 4)
    mode = "eval" if name == "Last" else "train"  # the one that makes all of them
    if name == "Twice" and fields == {"kernel": "auto"}:
        mode = "decode"
    variables = linen(**fields).init(jax.random.key(0), x, y, mode)
    asked = inspect.signature(native.__init__).parameters
    made = native(**fields, **{k: v for k, v in {"in_features": 4, "y_features": 4}.items() if k in asked}, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    compared = 0
    for given in [(x, y, mode), (x, None, mode), (y, x, "train"), (x, None, "decode"), (y, x, "eval")]:
        expected = outcome(lambda given=given: linen(**fields).apply(variables, *given))
        found = outcome(lambda given=given: made(*given))
        if isinstance(expected, str):
            assert found == expected
            continue
        np.testing.assert_array_equal(expected, found)
        compared += 1
    assert compared >= (1 if name == "Twice" and fields else 2)


STAY = {
    "handed to a function": TWICE.replace("return self.deeply(x)", "return jax.checkpoint(self.deeply)(x)"),
    "called in a transform": TWICE.replace("return self.deeply(x)", "return jax.lax.map(lambda x: self.deeply(x), x)"),
    "in an attribute of another name": TWICE.replace(
        "return self.deeply(x)", "deeper = self.deeply\n        return deeper(x)"
    ),
    "found by its name": TWICE.replace("return self.deeply(x)", "return getattr(self, 'deeply')(x)"),
    "one in the middle that the call decides on": LAST.replace(
        "    x = self.one(x)\n    x = self.one(x)\n",
        "    x = self.one(x)\n    if mode == 'train':\n        x = self.one(x) + 1\n    x = self.one(x)\n",
    ),
    "fields that may be either": TWICE.replace('elif self.kernel == "deep":', 'elif self.kernel != "dot":'),
}


@pytest.mark.parametrize("what", STAY)
def test_what_is_called_in_other_ways_is_no_taker(what: str) -> None:
    text = HEAD + model("M", STAY[what])
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    after = result.files[0].after or ""
    assert plan.outcome == "bridged" or "ops=ops" not in after, after


OUTSIDE = {
    "a derived class": "\n\nclass N(M):\n    def deeply(self, x):\n        return x\n",
    "code that applies it": "\n\ndef run(variables, x):\n    return M().apply(variables, x, method=M.deeply)\n",
    "its name": '\n\ndef run(variables, x):\n    return M().apply(variables, x, method="deeply")\n',
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_what_others_call_is_no_taker(what: str) -> None:
    text = HEAD + model("M", TWICE) + OUTSIDE[what]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert "ops=ops" not in (result.files[0].after or "")
