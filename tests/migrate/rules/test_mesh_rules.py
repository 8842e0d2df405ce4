"""Rules in an object that maps names when it is called: what NNX402 offers for rules that are passed around."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import linen as nn
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.rules.linen_sharding import INITIALIZERS
from nnx_migrate.migrate.source import SourceFile

PASSED_AROUND = INITIALIZERS.examples[1].before
RULES: tuple[tuple[str, Any], ...] = (
    ("batch", ("data", "expert")),
    ("mlp", "model"),
    ("heads", "model"),
    ("embed", None),
    ("mlp", "data"),
)


@dataclasses.dataclass(frozen=True)
class MeshRules:
    batch: Any = None
    embed: Any = None
    heads: Any = None
    mlp: Any = None

    def __call__(self, *names: str | None) -> tuple[Any, ...]:
        return tuple(getattr(self, name) if name else None for name in names)


OFFERED = MeshRules(batch=("data", "expert"), mlp="model", heads="model")


def test_it_is_offered_where_rules_are_passed_around() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", PASSED_AROUND)])
    (said,) = (d for d in result.files[0].diagnostics if d.code == "NNX402")
    assert "maps names when it is called" in said.help and "nnx-migrate explain NNX402" in said.help


def test_it_is_not_offered_where_rules_are_known() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", INITIALIZERS.examples[0].before)])
    assert not any(d.help for d in result.files[0].diagnostics)


@pytest.mark.parametrize(
    "names", [("embed", "mlp"), ("heads", None, "embed"), ("batch", "mlp"), (None, "heads"), ("embed",)]
)
def test_specs_are_those_of_linens_rules(names: tuple[str | None, ...]) -> None:
    assert PartitionSpec(*OFFERED(*names)) == nn.logical_to_mesh_axes(names, RULES)
    boxed = nn.with_partitioning(nn.initializers.ones, OFFERED(*names))(jax.random.key(0), (8,) * len(names))
    with nnx.use_eager_sharding(False):
        value = nnx.Param(
            nnx.with_partitioning(nnx.initializers.ones, OFFERED(*names))(jax.random.key(0), (8,) * len(names))
        )
    assert boxed.names == value.out_sharding == OFFERED(*names)


def test_a_mesh_axis_twice_is_an_error_where_linen_leaves_it_out() -> None:
    assert nn.logical_to_mesh_axes(("mlp", "heads"), RULES) == PartitionSpec("model", None)
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1, 1), ("data", "model", "expert"))
    with pytest.raises(Exception, match="model"):
        NamedSharding(mesh, PartitionSpec(*OFFERED("mlp", "heads")))
