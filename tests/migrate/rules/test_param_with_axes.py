"""t5x's param_with_axes: parameters with logical names, on both sides."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """
import flax.linen as nn
import jax.numpy as jnp
from flax.linen import partitioning as nn_partitioning

param_with_axes = nn_partitioning.param_with_axes
with_sharding_constraint = nn_partitioning.with_sharding_constraint


class Scale(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.lecun_normal()
        w = param_with_axes("kernel", init, (x.shape[-1], self.width), jnp.float32, axes=("embed", "mlp"))
        b = nn_partitioning.param_with_axes("bias", nn.initializers.ones, (self.width,), axes=("mlp",))
        return with_sharding_constraint(x @ w + b, ("batch", "mlp"))
"""
CHECK = """
import os
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import flax.linen as nn, jax, jax.numpy as jnp, numpy as np
from flax import nnx
from flax.linen import partitioning
from jax.sharding import Mesh, NamedSharding
import before, after
rules = (("batch", "data"), ("mlp", "model"), ("embed", "data"))
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jnp.ones((4, 8))
variables = before.Scale(16).init(jax.random.key(0), x)
names = partitioning.get_axis_names(variables["params_axes"])
with jax.set_mesh(mesh), nn.logical_axis_rules(rules):
    native = after.Scale(16, in_features=8, rngs=nnx.Rngs(0))
    for name in ("kernel", "bias"):
        variable = getattr(native, name)
        want = partitioning.logical_to_mesh_axes(names[name], rules)
        assert variable[...].sharding.is_equivalent_to(NamedSharding(mesh, want), variable.ndim), name
        variable.set_value(jax.device_put(variables["params"][name], variable[...].sharding))
    y0 = jax.jit(before.Scale(16).apply)({"params": variables["params"]}, x)
    y1 = nnx.jit(lambda m, v: m(v))(native, x)
    assert y0.sharding.is_equivalent_to(y1.sharding, 2)
    np.testing.assert_array_equal(y0, y1)
assert after.Scale(16, in_features=8, rngs=nnx.Rngs(0))(x).shape == (4, 16)
"""


def test_parameters_and_shardings_are_linens(tmp_path: pathlib.Path) -> None:
    result = migrate_project([SourceFile.parse(tmp_path / "after.py", "after", PROGRAM)])
    text = result.files[0].after
    assert text is not None and "TODO" not in text and "partitioning as" not in text, text
    (tmp_path / "before.py").write_text(PROGRAM)
    (tmp_path / "after.py").write_text(text)
    for path, created in result.created.items():
        path.write_text(created)
    (tmp_path / "check.py").write_text(CHECK)
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "check.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


STACKS = """
import flax.linen as nn
from flax.linen import partitioning as nn_partitioning

scan_with_axes = nn_partitioning.scan_with_axes
{more}

class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, scale):
        return x + nn.Dense(x.shape[-1])(x) * scale, None


class Stack(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = scan_with_axes(
            Layer, variable_axes={{"params": 0}}, split_rngs={{"params": True}}, in_axes=nn.broadcast, length=3
        )
        return layers(name="layers")(x, 0.1)[0]
"""


def test_a_name_for_the_transform_goes_with_its_uses() -> None:
    def after(more: str) -> tuple[str, list[str]]:
        result = migrate_project([SourceFile.parse(pathlib.Path("before.py"), "before", STACKS.format(more=more))])
        assert {plan.outcome for plan in result.classes} == {"native"}
        return result.files[0].after or "", [d.code for d in result.files[0].diagnostics]

    text, codes = after("")
    assert "scan_with_axes" not in text and "flax.linen" not in text and "NNX403" not in codes
    text, codes = after("\ndef stack(block):\n    return scan_with_axes(block, length=2, axis_name='layers')\n")
    assert "scan_with_axes = nn_partitioning.scan_with_axes" in text and "NNX403" in codes
