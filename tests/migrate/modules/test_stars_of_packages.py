"""`from parts import *` of a package that was not read: what nothing else binds is from there, and may be Linen modules."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PARTS = """from flax import linen as nn


class Piece(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


def doubled(x):
  return 2 * x
"""
TEXT = """from typing import *

from flax import linen as nn
from parts_of_a_package import *

try:
  from parts_of_no_package import other
except ImportError:
  def other(x):
    return x + 1


class Net(nn.Module):
  width: Optional[int] = None
  @nn.compact
  def __call__(self, x):
    return Piece(4)(nn.Dense(3)(other(doubled(x))))
"""


def _module(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> types.ModuleType:
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("imported", ["*", "Piece, doubled"])
def test_their_modules_are_wrapped(imported: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _module(monkeypatch, "parts_of_a_package", PARTS)
    text = TEXT.replace("package import *", f"package import {imported}")
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert [plan.outcome for plan in result.classes] == ["native"]
    after = result.files[0].after
    assert after is not None and "foreign(" in after
    for path, created in result.created.items():
        _module(monkeypatch, path.stem, created)
    x = jnp.arange(10.0).reshape(2, 5)
    expected, variables = _module(monkeypatch, "before", text).Net().init_with_output(jax.random.key(0), x)
    added = {a.name: eval(a.origin, {"x": x}) for a in result.classes[0].added_arguments}
    model = _module(monkeypatch, "after", after).Net(**added, rngs=nnx.Rngs(0))
    for layer, made in ((model.Dense_0, "Dense_0"), (model.Piece_0.Dense_0, "Piece_0")):
        held = variables["params"][made] if made == "Dense_0" else variables["params"][made]["Dense_0"]
        for name, value in held.items():
            (layer[name] if isinstance(layer, dict) else getattr(layer, name)).set_value(value)
    np.testing.assert_array_equal(model(x), expected)
