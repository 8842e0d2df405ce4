"""Functions that nothing calls, and that take params: they take what the called ones take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module
from .small_net import STEP

PROGRAM = f"""import functools
import numpy as np
{STEP}HELPER
for _ in range(3):
    state, loss = step(state, x)
"""
# The helper → whether it takes what the loop has.
HELPERS = {
    "def helper(params, x):\n    return RUN\n": True,
    "@jax.jit\ndef helper(variables, x):\n    return net.apply(variables, x)\n": True,
    "@functools.partial(jax.jit, static_argnums=2)\ndef helper(params, x, n=2):\n    return n * RUN\n": True,
    'def helper(params, x):\n    def inner(z):\n        return net.apply({"params": params}, z).sum()\n\n'
    "    return jax.grad(inner)(x)\n": True,
    "def helper(params, x):\n    total = sum(jnp.sum(p) for p in jax.tree.leaves(params))\n    return total + RUN\n": True,
    "def helper(params, x):\n    out = RUN\n"
    '    return out + sum(np.asarray(layer["kernel"]).sum() for layer in params.values())\n': None,
    "def helper(params, x, *, scale=2.0):\n    return scale * RUN\n": True,
    # What these are given nothing tells, or others than the project's code may call them.
    "def helper(params=None, x=x):\n    return RUN\n": False,
    "def helper(params, x):\n    params = jax.tree.map(lambda p: 2 * p, params)\n    return RUN\n": False,
    "def keep(function):\n    return function\n\n\n@keep\ndef helper(params, x):\n    return RUN\n": False,
    '__all__ = ["helper"]\n\n\ndef helper(params, x):\n    return RUN\n': False,
    "def test_it(params, x):\n    assert RUN is not None\n\n\nhelper = None\n": False,
    'def helper(several, x):\n    return jax.vmap(lambda p: net.apply({"params": p}, x))(several)\n': False,
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("helper", HELPERS)
def test_helpers_that_nothing_calls(helper: str, jit: str) -> None:
    text = PROGRAM.replace("HELPER", helper.replace("RUN", 'net.apply({"params": params}, x)'))
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit=jit))  # type: ignore[arg-type]
    for path, content in result.created.items():
        module(path.stem, content)
    codes = {found.code for found in result.files[0].diagnostics}
    before, after = module("helpers", text), module("helpers", result.files[0].after or "")
    assert float(after.loss) == pytest.approx(float(before.loss), rel=1e-5)
    assert HELPERS[helper] in (None, "NNX603" not in codes)
    said = [found.message for found in result.files[0].diagnostics if found.code == "NNX609"]
    assert not said if "NNX603" in codes else "nothing here calls helper" in said[0]
    if "several" in helper or before.helper is None:
        return
    given = {"NNX601": "net", "NNX602": "state", "NNX603": "state"}[min(codes & {"NNX601", "NNX602", "NNX603"})]
    held = getattr(after, given)
    whole = {"params": before.state.params} if "variables" in helper else before.state.params
    mine = (
        held if given == "net" else {"params": held.params} if "variables" in helper and "NNX603" in codes else held.params
    )
    np.testing.assert_allclose(after.helper(mine, after.x), before.helper(whole, before.x), rtol=1e-5)


def test_a_helper_that_another_file_imports() -> None:
    text = PROGRAM.replace("HELPER", 'def helper(params, x):\n    return net.apply({"params": params}, x)\n')
    files = {
        "m": text,
        "other": "from m import helper\n\n\ndef run(trees, x):\n    return [helper(tree, x) for tree in trees]\n",
    }
    sources = [SourceFile.parse(Path(f"{name}.py"), name, content) for name, content in files.items()]
    codes = {found.code for file in migrate_project(sources).files for found in file.diagnostics}
    assert "NNX603" in codes
