"""What else in a project is called as an attribute of `setup` that another form of the class would not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """import flax.linen as nn


class Stack(nn.Module):
  depth: int = 2

  def setup(self):
    self.layers = [self.param(f"layers.{i}", nn.initializers.normal(), (4, 4)) for i in range(self.depth)]

  def __call__(self, x):
    for layer in self.layers:
      x = x @ layer
    return x
"""
LAYERS = "import flax.linen as nn\n\n\ndef dense(width):\n  return nn.Dense(width)\n"
NOTHING = {  # is read of a module
    "a configuration is filled": "def config(made):\n  made.model.layers = 6\n  return made\n",
    "a file is called so": "import pkg\n\n\ndef made():\n  return pkg.layers.dense(3)\n",
}
READ = {
    "of an object": "def count(model):\n  return len(model.layers)\n",
    "of what a file holds": "from pkg import model\n\n\ndef count():\n  return len(model.STACK.layers)\n",
    "by its name": "def count(model):\n  return len(getattr(model, 'layers'))\n",
    "by its name, if there is one": "def has_layers(model):\n  return hasattr(model, 'layers')\n",
}


def _outcome(other: str) -> tuple[str, str]:
    files = {"pkg": "", "pkg.layers": LAYERS, "pkg.model": f"{MODEL}\n\nSTACK = Stack()\n", "pkg.other": other}
    parsed = []
    for name, text in files.items():
        path = "pkg/__init__.py" if name == "pkg" else f"{name.replace('.', '/')}.py"
        parsed.append(SourceFile.parse(Path(path), name, text))
    (plan,) = [p for p in migrate_project(parsed).classes if p.qualname.endswith(".Stack")]
    return plan.outcome, plan.code


@pytest.mark.parametrize("case", NOTHING)
def test_what_no_module_is_asked_for_keeps_no_class_linen(case: str) -> None:
    assert _outcome(NOTHING[case]) == ("native", "")


@pytest.mark.parametrize("case", READ)
def test_what_may_be_asked_of_the_module_keeps_it_linen(case: str) -> None:
    assert _outcome(READ[case]) == ("bridged", "NNX180")
