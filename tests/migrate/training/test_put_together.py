"""`variables = {"params": params}` beside the call of `init`: the module of these params, or the same tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module
from .small_net import NET

HEAD = f"{NET}said = []\n"
VALUE = """def value(variables):
    return float(net.apply(variables, x).sum())


"""
INIT = 'params = net.init(jax.random.key(0), x)["params"]\n'
TRAIN = """def main():
    params = net.init(jax.random.key(0), x)["params"]
    state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
    BEFORE
    for _ in range(3):
        grads = jax.grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
        state = state.apply_gradients(grads=grads)
        WITHIN
        said.append(float(net.apply(variables, x).sum()))

main()
"""
# The program → the codes of the forms by --jit nnx and --jit functional.
PROGRAMS = {
    "in a script": (
        INIT + 'variables = {"params": params}\nsaid.append(float(net.apply(variables, x).sum()))\n',
        "NNX601",
        "NNX602",
    ),
    "in a function": (
        'def check():\n    params = net.init(jax.random.key(0), x)["params"]\n    variables = {"params": params}\n'
        "    said.append(float(net.apply(variables, x).sum()))\n\ncheck()\n",
        "NNX601",
        "NNX602",
    ),
    "returned": (
        'def make(key):\n    params = net.init(key, x)["params"]\n    variables = {"params": params}\n    '
        "return variables\n\n"
        "made = make(jax.random.key(0))\nsaid.append(float(net.apply(made, x).sum()))\n",
        "NNX601",
        "NNX602",
    ),
    "of the old params": (
        TRAIN.replace("BEFORE", 'variables = {"params": params}').replace("WITHIN", "pass"),
        "NNX602",
        "NNX602",
    ),
    "of the new params": (
        TRAIN.replace("BEFORE", "pass").replace("WITHIN", 'variables = {"params": state.params}'),
        "NNX602",
        "NNX602",
    ),
    "put together twice": (
        INIT
        + 'variables = {"params": params}\nsaid.append(value(variables))\nparams = jax.tree.map(lambda a: 2 * a, params)\n'
        'said.append(value(variables))\nvariables = {"params": params}\nsaid.append(value(variables))\n',
        "NNX602",
        "NNX602",
    ),
    "changed": (
        INIT + 'variables = {"params": params}\nvariables["params"] = jax.tree.map(lambda a: a + 1, params)\n'
        'said += [value(variables), value({"params": params})]\n',
        "NNX603",
        "NNX603",
    ),
    "copied": (
        INIT + 'variables = {"params": params}\nagain = dict(variables)\n'
        'said += [value(again), len(again), "params" in variables]\n',
        "NNX603",
        "NNX603",
    ),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_variables_that_are_put_together(name: str, jit: str) -> None:
    program, *codes = PROGRAMS[name]
    text = HEAD + (VALUE if "value(" in program else "") + program
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit=jit))  # type: ignore[arg-type]
    for path, content in result.created.items():
        module(path.stem, content)
    found = {diagnostic.code for diagnostic in result.files[0].diagnostics}
    np.testing.assert_allclose(np.array(_said(result.files[0].after or ""), float), np.array(_said(text), float), rtol=1e-5)
    assert codes[jit == "functional"] in found and len(found & {"NNX601", "NNX602", "NNX603"}) == 1


def _said(text: str) -> Any:
    return module("put_together", text).said
