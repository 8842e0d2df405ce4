"""An error behind an update that somebody catches: in Linen the state is the old one there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module
from .small_net import STEP

HEAD = f"""import contextlib
import math
{STEP.replace("def step(", "def update(")}class Diverged(Exception):
    pass


def verify(loss):
    if not loss < 2:
        raise Diverged


"""
LOOP = """

said = []
for number in range(5):
    try:
        state, loss = step(state, x * (40 if number == 2 else 1))
    except Diverged:
        pass
    said.append((int(state.step), float(optax.global_norm(state.params))))
"""
STEP = """def step(state, x):
    state, loss = update(state, x)
    BEHIND
    return state, loss
"""
# The program → whether the loop keeps its states apart.
PROGRAMS = {
    "raised": (STEP.replace("BEHIND", "if loss > 2:\n        raise Diverged") + LOOP, True),
    "raised by a helper": (STEP.replace("BEHIND", "verify(loss)") + LOOP, True),
    "asserted": (STEP.replace("BEHIND", "assert loss < 2") + LOOP.replace("except Diverged", "except AssertionError"), True),
    "suppressed": (
        STEP.replace("BEHIND", "verify(loss)")
        + LOOP.replace("try:", "with contextlib.suppress(Diverged):").replace("    except Diverged:\n        pass\n", ""),
        True,
    ),
    "ended": (
        STEP.replace("BEHIND", "verify(loss)")
        + """
def train(state):
    for number in range(5):
        state, loss = step(state, x * (40 if number == 2 else 1))
    return state

try:
    state = train(state)
except Diverged:
    pass
said = [(int(state.step), float(optax.global_norm(state.params)))]
""",
        True,
    ),
    "an iterator that ends": (
        """def train(state, batches):
    while True:
        state, loss = update(state, next(batches))

try:
    state = train(state, iter([x, x]))
except StopIteration:
    pass
said = [(int(state.step), float(optax.global_norm(state.params)))]
""",
        True,
    ),
    "caught around a function of the step": (
        STEP.replace("BEHIND", "verify(loss)")
        + """
def guarded(state, x):
    try:
        return step(state, x)
    except Diverged:
        return state, None

"""
        + LOOP.replace("step(state, x *", "guarded(state, x *"),
        True,
    ),
    "an item that is missing": (
        STEP.replace("BEHIND", "loss = {0: loss}[int(loss > 2)]") + LOOP.replace("except Diverged", "except KeyError"),
        True,
    ),
    "a call of something unknown": (
        STEP.replace("BEHIND", "math.sqrt(2 - float(loss))") + LOOP.replace("except Diverged", "except ValueError"),
        True,
    ),
    "before the update": (
        STEP.replace("    BEHIND\n", "").replace("    state,", "    verify(jnp.abs(x).max() / 20)\n    state,") + LOOP,
        False,
    ),
    "behind the step": (
        LOOP.replace("step(", "update(").replace("    except", "        verify(loss)\n    except"),
        False,
    ),
    "not read again": (
        STEP.replace("BEHIND", "verify(loss)")
        + """
def main(state):
    said = []
    for number in range(2):
        state, loss = step(state, x)
        said.append((int(state.step), float(optax.global_norm(state.params))))
    return said

try:
    said = main(state)
except Diverged:
    said = []
""",
        False,
    ),
    "nobody catches it": (
        STEP.replace("BEHIND", "verify(loss)")
        + LOOP.replace("    try:\n    ", "")
        .replace("    except Diverged:\n        pass\n", "")
        .replace("(40 if number == 2 else 1)", "1"),
        False,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_errors_behind_updates(name: str) -> None:
    program, apart = PROGRAMS[name]
    text = HEAD + program
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options())
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after or text
    codes = {found.code for found in result.files[0].diagnostics}
    before, migrated = _said(text), _said(after)
    np.testing.assert_allclose(migrated, before, rtol=1e-5)
    assert len(before) == 1 or len({norm for _, norm in before}) > 1
    assert ("NNX601" in codes) is not apart and codes & {"NNX601", "NNX602"}


def _said(text: str) -> Any:
    return module("caught", text).said
