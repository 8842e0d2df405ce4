"""A function of another file makes a module of a third: the class's file has that one by way of the file that it imports."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

LAYERS = """from flax import linen as nn


class Scale(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x * self.param("scale", nn.initializers.ones, (x.shape[-1],))
"""
BETWEEN = """import byway_layers


def scaled(x):
  return 2 * byway_layers.Scale(name="named")(x)
"""
MODEL = """import byway_between
from flax import linen as nn


class Model(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(byway_between.scaled(x))
"""
TEXTS = {"byway_layers": LAYERS, "byway_between": BETWEEN, "byway_model": MODEL}


def test_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, t) for n, t in TEXTS.items()])
    assert {c.qualname: c.outcome for c in result.classes} == {"byway_layers.Scale": "native", "byway_model.Model": "native"}
    after = {f.path.stem: f.after or TEXTS[f.path.stem] for f in result.files}
    assert "byway_between.byway_layers.Scale(" in after["byway_model"]
    x = jax.random.normal(jax.random.key(1), (2, 4))
    linen = _module(tmp_path / "linen", TEXTS, monkeypatch).Model()
    variables = linen.init(jax.random.key(0), x)
    model = _module(tmp_path / "nnx", after, monkeypatch).Model(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    assert np.array_equal(model(x), linen.apply(variables, x))


def test_a_name_of_the_file_between_that_is_bound_again_is_none() -> None:
    texts = {**TEXTS, "byway_between": BETWEEN + "\n\ndef byway_layers():\n  return None\n"}
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, t) for n, t in texts.items()])
    after = {f.path.stem: f.after or "" for f in result.files}
    assert "byway_between.byway_layers" not in after["byway_model"]


def _module(folder: Path, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(folder))
    try:
        return importlib.import_module("byway_model")
    finally:
        for name in texts:
            sys.modules.pop(name, None)
