"""Patterns that the review of the first NNX sharding guide discussed, as programs of its time that run today.

Annotations on the Param against annotated initializers, Variables as arrays, `sharding_rules`, constraints against jit's
shardings around a jitted constructor, and rules in an object that maps names when it is called.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
from nnx_migrate.migrate.diagnostics import Severity
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """
import os
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import dataclasses
import json
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
init_fn = nnx.initializers.lecun_normal()


def spec(array):
    return [str(axis) for axis in tuple(array.sharding.spec) + (None,) * (array.ndim - len(array.sharding.spec))]
"""
CREATE = """

@nnx.jit
def create_sharded_model():
    model = Model(rngs=nnx.Rngs(0))
    state = nnx.state(model)
    pspecs = nnx.get_partition_spec(state)
    sharded_state = jax.lax.with_sharding_constraint(state, pspecs)
    nnx.update(model, sharded_state)
    return model


with mesh:
    model = create_sharded_model()
"""
SHOW = """
print(json.dumps({"w1": spec(model.w1.value), "w2": spec(model.w2.value)}))
"""
PHYSICAL = {"w1": ["None", "model"], "w2": ["model", "None"]}

PATTERNS: dict[str, tuple[str, dict[str, Any]]] = {
    "an annotated initializer and an annotated Param": (
        """

class Model(nnx.Module):
    def __init__(self, rngs):
        self.w1 = nnx.Param(nnx.with_partitioning(init_fn, (None, "model"))(rngs.params(), (8, 8)))
        self.w2 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=("model", None))

    def __call__(self, x):
        return x @ self.w1.value @ self.w2.value
"""
        + CREATE
        + SHOW,
        PHYSICAL,
    ),
    "Variables as arrays": (
        """

class Model(nnx.Module):
    def __init__(self, rngs):
        self.w1 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=(None, "model"))
        self.w2 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=("model", None))

    def __call__(self, x):
        y = jax.lax.with_sharding_constraint(x @ self.w1, PartitionSpec("data", "model"))
        return jnp.dot(y, self.w2)
"""
        + CREATE
        + """
with mesh:
    y = model(jax.device_put(jnp.ones((4, 8)), NamedSharding(mesh, PartitionSpec("data", None))))
print(json.dumps({"y": list(y.shape), "w1": spec(model.w1.value), "rows": spec(y)[0]}))
""",
        {"y": [4, 8], "w1": ["None", "model"], "rows": "data"},
    ),
    "sharding_rules on the variable": (
        """
RULES = (("embed", None), ("hidden", "model"))


class Model(nnx.Module):
    def __init__(self, rngs):
        self.w1 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=("embed", "hidden"), sharding_rules=RULES)
        self.w2 = nnx.Param(
            nnx.with_partitioning(init_fn, sharding=("hidden", "embed"), sharding_rules=RULES)(rngs.params(), (8, 8)))
"""
        + CREATE
        + SHOW,
        PHYSICAL,
    ),
    "rules that map names when they are called": (
        """

@dataclasses.dataclass(unsafe_hash=True)
class MeshRules:
    embed: str | None = None
    mlp: str | None = None

    def __call__(self, *keys: str) -> tuple[str, ...]:
        return tuple(getattr(self, key) for key in keys)


rules = MeshRules(embed=None, mlp="model")


class Model(nnx.Module):
    def __init__(self, rngs):
        self.w1 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=rules("embed", "mlp"))
        self.w2 = nnx.Param(nnx.with_partitioning(init_fn, rules("mlp", "embed"))(rngs.params(), (8, 8)))
"""
        + CREATE
        + SHOW,
        PHYSICAL,
    ),
    "a step under nnx.jit over a model made by jax.jit's machinery": (
        """

class Model(nnx.Module):
    def __init__(self, rngs):
        self.w1 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=(None, "model"))
        self.w2 = nnx.Param(init_fn(rngs.params(), (8, 8)), sharding=("model", None))

    def __call__(self, x):
        return jnp.dot(jnp.dot(x, self.w1.value), self.w2.value)
"""
        + CREATE
        + """
optimizer = nnx.Optimizer(model, optax.adam(1e-3))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(grads)
    return loss


x = jax.device_put(jnp.ones((4, 8)), NamedSharding(mesh, PartitionSpec("data", None)))
with mesh:
    losses = [float(train_step(model, optimizer, x, jnp.zeros((4, 8)))) for _ in range(3)]
moments = [spec(leaf) for leaf in jax.tree_util.tree_leaves(nnx.state(optimizer)) if leaf.ndim == 2]
print(json.dumps({"falls": losses[2] < losses[0], "w1": spec(model.w1.value), "moments": sorted(map(str, moments))}))
""",
        {
            "falls": True,
            "w1": ["None", "model"],
            "moments": sorted(["['None', 'model']", "['model', 'None']"] * 2),
        },
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_its_time(name: str, tmp_path: pathlib.Path) -> None:
    body, expected = PATTERNS[name]
    result = migrate_project([SourceFile.parse(tmp_path / "program.py", "program", HEAD + body)])
    after = result.files[0].after
    assert after is not None and not [d for d in result.files[0].diagnostics if d.severity is not Severity.INFO]
    (tmp_path / "program.py").write_text(after)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "program.py"],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == expected
