"""Arguments that hold arrays and that the call changes in place: no size is taken from what they came with."""

import dataclasses
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

TEXT = """
import flax.linen as nn
import jax.numpy as jnp


class Part(nn.Module):
    @nn.compact
    def __call__(self, batch):
        return nn.Dense(3)(batch["image"])


class Attribute(nn.Module):
    @nn.compact
    def __call__(self, batch):
        return nn.Dense(3)(batch.image)


def widen(values):
    values["image"] = jnp.concatenate([values["image"]] * 2, -1)


class Changes(nn.Module):
    @nn.compact
    def __call__(self, batch):
        widen(batch)
        return batch["image"].mean()


class Item(nn.Module):
    @nn.compact
    def __call__(self, batch):
        batch["image"] = nn.Dense(4)(batch["image"])
        return Part()(batch)


class Updated(nn.Module):
    @nn.compact
    def __call__(self, batch):
        batch.update(image=nn.Dense(4)(batch["image"]))
        return Part()(batch)


class Augmented(nn.Module):
    @nn.compact
    def __call__(self, batch):
        widen(batch)
        return Part()(batch) + nn.Dense(3)(batch["image"])


class OfChild(nn.Module):
    @nn.compact
    def __call__(self, batch):
        scale = Changes()(batch)
        return Part()(batch) * scale


class OtherName(nn.Module):
    @nn.compact
    def __call__(self, batch):
        same = batch
        same.image = nn.Dense(4)(batch.image)
        return Attribute()(batch)


class InLoop(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, batch):
        for _ in range(self.depth):
            batch["image"] = nn.Dense(4)(batch["image"])
        return Part()(batch)
"""


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Record:
    """An example for a constructor must be a tree of arrays."""

    image: Any


@pytest.fixture(scope="module")
def sides() -> tuple[types.ModuleType, types.ModuleType, RunResult]:
    result = migrate_project([SourceFile.parse(Path("changes.py"), "changes", TEXT)])
    for created, content in result.created.items():
        _module(created.stem, content)
    after = result.files[0].after
    assert after is not None
    return _module("changes", TEXT), _module("changes_nnx", after), result


@pytest.mark.parametrize("name", ["Item", "Updated", "Augmented", "OfChild", "OtherName", "InLoop"])
def test_both_sides_are_equal(sides: tuple[types.ModuleType, types.ModuleType, RunResult], name: str) -> None:
    linen, native, result = sides
    plan = {c.qualname.rpartition(".")[2]: c for c in result.classes}[name]
    assert plan.outcome == "native", plan.reason
    image = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)

    def batch() -> Any:  # a new one for every call, which changes it
        return Record(image) if name == "OtherName" else {"image": image}

    variables = getattr(linen, name)().init(jax.random.key(0), batch())
    expected = getattr(linen, name)().apply(variables, batch())
    added = {a.name: eval(a.origin, {}, {"batch": batch()}) for a in plan.added_arguments}
    model = getattr(native, name)(**added, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(np.asarray(model(batch())), np.asarray(expected))
    assert jax.tree.structure(compat.to_linen(model)) == jax.tree.structure(variables)
