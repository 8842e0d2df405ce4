"""Mesh, PartitionSpec and NamedSharding from their old homes → jax.sharding."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX803",
    name="jax-sharding-name",
    summary="Mesh, PartitionSpec and NamedSharding live in jax.sharding",
    what=(
        "Rewrites imports from `jax.experimental`, `maps`, `pxla`, `pjit` and `sharded_jit`; `use_mesh` → `jax.set_mesh`."
    ),
    why=("`jax.experimental.maps` and the re-exports in `pjit` and `pxla` are gone (jax 0.4.11 to 0.7.1)."),
    how_sure="by construction: the same classes",
    examples=(
        Example(
            title="import",
            before="""\
from jax.experimental import PartitionSpec as P
from jax.experimental.maps import Mesh

spec = P('data', None)
kind = Mesh
""",
            after="""\
from jax.sharding import PartitionSpec as P
from jax.sharding import Mesh

spec = P('data', None)
kind = Mesh
""",
            run="""\
def check(before, after):
    assert after['spec'] == after['P']('data', None)
""",
        ),
        Example(
            title="module",
            before="""\
import jax
from jax.experimental import maps
from jax.interpreters import pxla

kinds = (maps.Mesh, pxla.PartitionSpec)
""",
            after="""\
import jax

kinds = (jax.sharding.Mesh, jax.sharding.PartitionSpec)
""",
            run="""\
def check(before, after):
    assert len(after['kinds']) == 2
""",
        ),
        Example(
            title="use_mesh",
            before="""\
import jax

mesh = jax.make_mesh((1,), ('a',), axis_types=(jax.sharding.AxisTypes.Auto,))
with jax.sharding.use_mesh(mesh):
    pass
""",
            after="""\
import jax

mesh = jax.make_mesh((1,), ('a',), axis_types=(jax.sharding.AxisType.Auto,))
with jax.set_mesh(mesh):
    pass
""",
            run="""\
def check(before, after):
    assert after['mesh'].axis_names == ('a',)
""",
        ),
    ),
)
attach(RULE)
