"""Methods that make a submodule of their own name, where other code may say them, or they do not always make it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "from flax import linen as nn\nimport jax\nimport jax.numpy as jnp\n\n\nclass M(nn.Module):\n  full: bool = True\n"
METHOD = """  def head(self, x):
    return nn.Dense(4, name="head")(x)
"""
CALL = """  @nn.compact
  def __call__(self, x):
    return self.head(x)
"""
OTHER = """

class N(M):
  @nn.compact
  def __call__(self, x):
    return self.head(self.perturb("p", x))


class Top(nn.Module):
  @nn.compact
  def __call__(self, x):
    return N()(M()(x))
"""
RUN = "\n\ndef run(v, x):\n  return "
SUBCLASS = "\n\nclass N(M):\n  "
MADE = 'nn.Dense(4, name="head")(x)'
REFUSED = {
    "asked of a bound module": METHOD + CALL + RUN + "M().bind(v).head(x)\n",
    "asked of the class": METHOD + CALL + RUN + "M().apply(v, x, method=M.head)\n",
    "asked by a string": METHOD + CALL + RUN + "M().apply(v, x, method='head')\n",
    "kept by a string": METHOD + CALL + "\n\nPARTS = ('head',)\n",
    "lifted": METHOD + CALL + "\n\nN = nn.remat(M, methods={'head': {}, '__call__': {}})\n",
    "lifted by keywords": METHOD + CALL + "\n\nN = nn.remat(M, methods=dict(head={}, __call__={}))\n",
    "handed on": METHOD + CALL.replace("self.head(x)", "jax.checkpoint(self.head)(x)"),
    "the module handed on": METHOD + CALL.replace("self.head(x)", "self.head(shown(self, x))"),
    "made under a condition": METHOD.replace("return", "if not self.full:\n      return x\n    return") + CALL,
    "made by the caller": METHOD.replace(MADE, "x * 2") + CALL.replace("self.head(x)", MADE + " + self.head(x)"),
    "called by another class": METHOD + CALL + SUBCLASS.replace("M", "nn.Module") + CALL.strip().replace("self.", "M()."),
    "overridden without the submodule": METHOD + CALL + SUBCLASS + "def head(self, x):\n    return x * 2\n",
    "asked of super()": METHOD + CALL + SUBCLASS + CALL.strip().replace("self.", "super()."),
    "a parameter of the name": METHOD.replace(MADE, "x * self.param('head', nn.initializers.ones, ())") + CALL,
    "a base that is not followed": SUBCLASS.replace("M", "M, jax.Mixin") + METHOD.lstrip() + CALL,
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_class_stays_linen(name: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + REFUSED[name])]).classes
    assert "NNX156" in [c.code for c in plans if c.outcome != "native"], plans


def test_a_copy_of_the_base_that_stays_linen_keeps_its_method() -> None:
    text = HEAD + METHOD + CALL + OTHER
    run = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    after, (copy,) = run.files[0].after or "", run.created.values()
    assert "self.apply_head(x)" in after and "class N(m_linen.M):" in after and "self.head(self.perturb" in after
    assert "def head(self, x):" in copy and "return self.head(x)" in copy and "apply_head" not in copy
