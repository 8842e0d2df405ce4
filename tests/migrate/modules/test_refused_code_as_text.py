"""`eval`, `exec` and `locals()` in what a class calls: a native class had names of the file where it had lost its own."""

from __future__ import annotations

import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import jax.numpy as jnp
from flax import linen as nn

size = 7


def doubled(x):
  return eval("2 * x.shape[-1]")


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    BODY
    return nn.Dense(size)(x) + self.param("p", nn.initializers.ones, (size,)).sum()
"""
BODIES = {
    "eval": "size = eval('2 * x.shape[-1]')",
    "locals": "width = 3; size = locals()['width']",
    "vars": "width = 3; size = vars()['width']",
    "a function": "size = doubled(x)",
    "exec": "out = {}; exec('size = 3', {}, out); size = out['size']",
}
PLAIN = "size = 2 * x.shape[-1]"


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_such_classes_stay_linen(body: str) -> None:
    text = TEXT.replace("BODY", body)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert [(plan.outcome, plan.code) for plan in result.classes] == [("bridged", "NNX134")]
    after = result.files[0].after
    assert after is not None
    x, found = jnp.ones((2, 3)), []
    for side in (text, after):
        module = types.ModuleType("m")
        exec(compile(side, "m.py", "exec"), module.__dict__)
        out, variables = module.M().init_with_output(jax.random.key(0), x)
        found.append((np.asarray(out), jax.tree.map(jnp.shape, variables)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_what_says_its_names_is_native() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT.replace("BODY", PLAIN))])
    assert [plan.outcome for plan in result.classes] == ["native"]
