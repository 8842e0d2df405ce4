"""Imports that stand in methods: the constructor makes what the method made, and imports what that needs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

OTHER = """from flax import linen as nn

from lately import model


class Own(nn.Module):
  width: int = 4
  scale: float = model.SCALE

  @nn.compact
  def __call__(self, x):
    return model.act(nn.Dense(self.width)(x)) * self.scale


class Step(nn.Module):
  @nn.compact
  def __call__(self, x, by):
    return x + by * nn.Dense(x.shape[-1])(x), None
"""
MODEL = """import functools

import jax
from flax import linen as nn

SCALE = 2.0


def act(x):
  return jax.nn.relu(x)


class Plain(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Direct(nn.Module):
  @nn.compact
  def __call__(self, x):
    from lately import other
    return other.Own(3)(x)


class ByName(nn.Module):
  @nn.compact
  def __call__(self, x):
    from lately.other import Own as Mine, Step
    return Mine(3)(Step()(x, 0.5)[0])


class Whole(nn.Module):
  @nn.compact
  def __call__(self, x):
    import lately.other as o
    return o.Own()(x)


class Chosen(nn.Module):
  kind: str = "plain"
  remat: bool = False

  def layer(self):
    if self.kind == "plain":
      return Plain
    elif self.kind == "own":
      from lately import other
      return other.Own
    else:
      raise ValueError(self.kind)

  @nn.compact
  def __call__(self, x):
    layer = self.layer()
    if self.remat:
      layer = nn.remat(layer, prevent_cse=False)
    return layer(width=5, name="inner")(x)


class Scanned(nn.Module):
  remat: bool = False

  def step(self):
    from lately import other
    return other.Step

  @nn.compact
  def __call__(self, x):
    step = self.step()
    if self.remat:
      step = nn.remat(step, prevent_cse=False)
    steps = nn.scan(step, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(nn.broadcast,), length=3)
    return steps(name="steps")(x, 0.5)[0]


class Started(nn.Module):
  @nn.compact
  def __call__(self, x):
    from jax.nn import initializers as start
    return nn.Dense(3, kernel_init=start.ones)(x)


class StartedOneWay(nn.Module):
  temperature: float = -1.0

  @nn.compact
  def __call__(self, x):
    if self.temperature == -1:
      from jax.nn import initializers

      temperature = self.param("temperature", initializers.ones, (1,))
    else:
      temperature = self.temperature
    return x / temperature


class InSetup(nn.Module):
  def setup(self):
    from lately import other
    self.own = other.Own(3)

  def __call__(self, x):
    return self.own(x)


class Bound(nn.Module):
  @nn.compact
  def __call__(self, x):
    from lately.other import Own
    return nn.Sequential([functools.partial(Own, 3)(), Own(5)])(x)
"""
FILES = {"__init__": "", "other": OTHER, "model": MODEL}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("Direct", {}), ("ByName", {}), ("Whole", {}), ("Chosen", {}), ("Chosen", {"kind": "own"}),
    ("Chosen", {"kind": "own", "remat": True}), ("Chosen", {"remat": True}), ("Scanned", {}), ("Scanned", {"remat": True}),
    ("Started", {}), ("StartedOneWay", {}), ("StartedOneWay", {"temperature": 2.0}), ("InSetup", {}), ("Bound", {}),
]  # fmt: skip


def _written(folder: Path, files: dict[str, str]) -> list[SourceFile]:
    (folder / "lately").mkdir(parents=True)
    for name, text in files.items():
        (folder / "lately" / f"{name}.py").write_text(text)
    paths = {name: folder / "lately" / f"{name}.py" for name in files}
    modules = {name: "lately" if name == "__init__" else f"lately.{name}" for name in files}
    return [SourceFile.parse(paths[name], modules[name], text) for name, text in files.items()]


def _forget() -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == "lately"]:
        del sys.modules[name]


def _loaded(folder: Path, first: str) -> Any:
    _forget()
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module(f"lately.{first}")
        return importlib.import_module("lately.model")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, RunResult]]:
    before, after = tmp_path_factory.mktemp("before"), tmp_path_factory.mktemp("after")
    result = migrate_project(_written(before, FILES))
    (after / "lately").mkdir()
    for file in result.files:
        (after / "lately" / file.path.name).write_text(file.after or "")
    for path, text in result.created.items():
        (after / "lately" / path.name).write_text(text)
    yield before, after, result
    _forget()


@pytest.mark.parametrize("first", ["model", "other"])
@pytest.mark.parametrize("name,fields", CASES)
def test_both_sides_are_bitwise_equal(
    name: str, fields: dict[str, Any], first: str, migrated: tuple[Path, Path, RunResult]
) -> None:
    before, after, result = migrated
    plan = {c.qualname.rpartition(".")[2]: c for c in result.classes}[name]
    assert plan.outcome == "native", plan.reason
    x = jax.random.normal(jax.random.key(3), (2, 4))
    module = getattr(_loaded(before, first), name)(**fields)
    variables = module.init(jax.random.key(0), x)
    expected = jax.jit(module.apply)(variables, x)  # before the names that it imports are the other side's
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}
    model = getattr(_loaded(after, first), name)(**fields, **added, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    got = nnx.jit(lambda m, v: m(v))(model, x)
    np.testing.assert_array_equal(np.asarray(expected), np.asarray(got))


REFUSED = {
    "another thing of the file": (
        "import lately.model as start",
        "    from jax.nn import initializers as start\n    return nn.Dense(3, kernel_init=start.ones)(x)",
    ),
    "two things": (
        "",
        "    from jax.nn import initializers as start\n    x = nn.Dense(3, kernel_init=start.ones)(x)\n"
        "    return self.more(x)\n\n"
        "  def more(self, x):\n    from flax.linen import initializers as start\n"
        "    return nn.Dense(3, kernel_init=start.zeros)(x)",
    ),
    "tried": (
        "",
        "    try:\n      from jax.nn import initializers as start\n    except ImportError:\n      raise\n"
        "    return nn.Dense(3, kernel_init=start.ones)(x)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_constructor_cannot_import_stays_linen(name: str, tmp_path: Path) -> None:
    top, body = REFUSED[name]
    head = f"from flax import linen as nn\n{top}\n\nclass Model(nn.Module):\n"
    text = f"{head}  @nn.compact\n  def __call__(self, x):\n{body}\n"
    result = migrate_project(_written(tmp_path, {"__init__": "", "model": text}))
    assert [c.outcome for c in result.classes] == ["bridged"], result.files[1].after
