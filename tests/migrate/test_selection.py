"""`--select` and `--ignore` stop the writers of classes and of training code, not only the local rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.nnx.generated import parity
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.plan import Outcome
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """\
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=nn.with_partitioning(nn.initializers.ones, ('data', None)))(x)


model = Model()
x = jnp.ones((2, 4))
params = model.init(jax.random.key(0), x)['params']
specs = nn.get_partition_spec(params)
plain = nn.unbox(params)
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
sizes = jax.tree_map(jnp.size, plain)
"""
OTHER = PROGRAM.replace("Model", "Other")


def migrate(*texts: str, per_file: dict[Path, Options] | None = None, **options: object) -> RunResult:
    files = [SourceFile.parse(Path(f"file{i}.py"), f"file{i}", text) for i, text in enumerate(texts)]
    return migrate_project(files, Options(**options), per_file=per_file)  # type: ignore[arg-type]


@pytest.mark.parametrize("off", ["NNX1", "NNX100", "NNX6", "NNX603"])
def test_no_class_without_its_writers(off: str) -> None:
    result = migrate(PROGRAM, ignore=(off,))
    assert [plan.outcome for plan in result.classes] == [Outcome.MANUAL]  # so the exit status is 1
    assert result.files[0].after == PROGRAM.replace("jax.tree_map", "jax.tree.map")
    assert not result.created and not any(d.code.startswith(off) for d in result.files[0].diagnostics)


def test_only_the_renames() -> None:
    result = migrate(PROGRAM, select=("NNX801",))
    assert result.files[0].after == PROGRAM.replace("jax.tree_map", "jax.tree.map")


def test_a_form_that_is_not_wanted() -> None:
    program = PROGRAM.replace("specs = nn.get_partition_spec(params)\nplain = nn.unbox(params)\n", "")
    program = program.replace("sizes = jax.tree_map(jnp.size, plain)\n", "")
    first = migrate(program).files[0]
    second = migrate(program, ignore=("NNX601",)).files[0]
    assert {"NNX601"} == {d.code for d in first.diagnostics if d.code.startswith("NNX6")}
    assert {"NNX602"} == {d.code for d in second.diagnostics if d.code.startswith("NNX6")}
    assert "nnx.Optimizer" in str(first.after) and "nnx.TrainState" in str(second.after)


def test_a_file_of_its_own_choice() -> None:
    result = migrate(PROGRAM, OTHER, per_file={Path("file1.py"): Options(ignore=("NNX1",))})
    assert [plan.outcome for plan in result.classes] == [Outcome.NATIVE, Outcome.MANUAL]
    assert "class Other(nn.Module)" in str(result.files[1].after)


def test_boxes_of_classes_that_stay() -> None:
    """Where every annotated class stays Linen, its trees hold boxes, and the functions over them stay as well."""
    held = PROGRAM.replace("def __call__(self, x):", "def __call__(self, x):\n        nn.share_scope(self, self)")
    result = migrate(held)
    assert [plan.outcome for plan in result.classes] == [Outcome.BRIDGED]
    after = str(result.files[0].after)
    assert "nn.get_partition_spec(params)" in after and "nn.unbox(params)" in after
    assert "nn.with_partitioning(nn.initializers.ones" in after


def test_boxes_beside_variables() -> None:
    """Where some annotated classes stay Linen, the functions over trees open boxes and variables alike."""
    held = PROGRAM.replace("def __call__(self, x):", "def __call__(self, x):\n        nn.share_scope(self, self)")
    result = migrate(held, OTHER)
    assert {plan.outcome for plan in result.classes} == {Outcome.BRIDGED, Outcome.NATIVE}
    after = str(result.files[0].after)
    assert "linen_parity.get_partition_spec(params)" in after and "nn.unbox(nnx.as_pure(params))" in after
    again = migrate(after, str(result.files[1].after)).files[0].after
    assert again == after
    scope: dict[str, Any] = {}
    exec(parity.render(["get_partition_spec", "get_sharding", "replace_boxed"]), scope)
    mesh = Mesh(np.array(jax.devices()[:2]), ("data",))
    variable = nnx.Param(jnp.ones(4), out_sharding=("data",), eager_sharding=False)
    tree = {"box": nn.Partitioned(jnp.ones((4, 2)), ("data", None)), "variable": variable, "plain": jnp.ones(3)}
    specs = scope["get_partition_spec"](tree)
    assert (specs["box"], specs["variable"], specs["plain"]) == (P("data", None), P("data"), P())
    shardings = scope["get_sharding"](tree, mesh)
    assert shardings["box"].spec == P("data", None) and shardings["variable"].spec == P("data")
    replaced = scope["replace_boxed"](tree, {"box": 1, "variable": 2, "plain": 3})
    assert (replaced["box"].value, replaced["variable"].get_value(), replaced["plain"]) == (1, 2, 3)
