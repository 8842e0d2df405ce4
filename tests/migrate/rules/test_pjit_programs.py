"""Partitioned Linen programs under pjit: the same PartitionSpecs and numbers after migration, on several meshes."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """
import os
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import functools
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.linen import spmd
from flax.training import train_state
from jax.experimental.maps import Mesh
from jax.experimental.pjit import pjit, with_sharding_constraint
from jax.experimental import PartitionSpec

shape = tuple(int(n) for n in os.environ["MESH"].split("x"))
axes = ("data", "model", "expert")[: len(shape)]
mesh = Mesh(np.array(jax.devices()).reshape(shape), axes)
RULES = (("batch", "data"), ("mlp", "model"), ("embed", "model"), ("layers", None))


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.lecun_normal()
        w1 = self.param("w1", spmd.with_logical_partitioning(init, ("embed", "mlp")), (x.shape[-1], self.width))
        h = spmd.with_logical_constraint(jnp.tanh(x @ w1), ("batch", "mlp"))
        w2 = self.param("w2", nn.with_partitioning(init, ("model", None)), (self.width, x.shape[-1]))
        y = with_sharding_constraint(h @ w2, PartitionSpec("data", None))
        return x + y, None


class Net(nn.Module):
    layers: int
    width: int

    @nn.compact
    def __call__(self, x):
        x, _ = nn.scan(
            Block,
            length=self.layers,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            metadata_params={nn.PARTITION_NAME: "layers"},
        )(self.width, name="blocks")(x)
        return nn.Dense(8, kernel_init=nn.with_logical_partitioning(nn.initializers.ones, ("embed", "out")))(x)


model = Net(2, 16)
tx = optax.adam(1e-2)
key = jax.random.PRNGKey(0)
batch = np.ones((8, 8), np.float32)


def create(key, x):
    params = model.init(key, x)["params"]
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)


def train_step(state, x):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x) - 1.0) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


with mesh:
    abstract = jax.eval_shape(create, key, batch)
logical = nn.get_partition_spec(abstract)
specs = spmd.logical_to_mesh(logical, RULES)
with mesh, nn.logical_axis_rules(RULES):
    state = pjit(create, in_axis_resources=(None, PartitionSpec("data")), out_axis_resources=specs)(key, batch)
    step = pjit(train_step, in_axis_resources=(specs, PartitionSpec("data")), out_axis_resources=(specs, None))
    losses = []
    for _ in range(3):
        state, loss = step(state, batch)
        losses.append(float(loss))
"""
REPORT = """
import json
def spec(tree):
    out = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        name = "/".join(str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path)
        for word in ("/value", ".value", "/names"):
            name = name.replace(word, "")
        out[name] = [str(tuple(leaf.sharding.spec) + (None,) * (leaf.ndim - len(leaf.sharding.spec))), list(leaf.shape)]
    return out
params = {k: v for k, v in spec(state.params).items()}
whole = bool(loss.sharding.is_fully_replicated)
print(json.dumps({"params": params, "falls": losses[2] < losses[0], "loss_whole": whole}))
"""


def run(text: str, folder: pathlib.Path, mesh: str) -> str:
    program = folder / "program.py"
    program.write_text(text)
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "MESH": mesh, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, str(program)], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-4000:]
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The program migrated, and as a Linen program that runs today: renames only, both under jax.set_mesh."""
    folder = tmp_path_factory.mktemp("nnx")
    result = migrate_project([SourceFile.parse(folder / "program.py", "program", PROGRAM)])
    after = result.files[0].after
    assert after is not None and "linen as nn" not in after and "TODO(nnx-migrate)" not in after
    (folder / "body.txt").write_text(after + REPORT)
    for path, text in result.created.items():
        path.write_text(text)
    linen = tmp_path_factory.mktemp("linen")
    today = PROGRAM.replace("from jax.experimental.maps import Mesh\n", "from jax.sharding import Mesh\n")
    today = today.replace("from jax.experimental import PartitionSpec\n", "from jax.sharding import PartitionSpec\n")
    today = today.replace("from jax.experimental.pjit import pjit, with_sharding_constraint\n", "pjit = jax.jit\n")
    today = today.replace("with_sharding_constraint(h @", "jax.lax.with_sharding_constraint(h @")
    today = today.replace("in_axis_resources=(None,", "in_axis_resources=(PartitionSpec(),")
    today = today.replace("(specs, None)", "(specs, PartitionSpec())")
    today = today.replace("in_axis_resources", "in_shardings").replace("out_axis_resources", "out_shardings")
    today = today.replace("with mesh", "with jax.set_mesh(mesh)")
    (linen / "body.txt").write_text(today + REPORT)
    return {"nnx": folder, "linen": linen}


@pytest.mark.parametrize("mesh", ["2x4", "2x2x2"])
def test_specs_are_linens(mesh: str, sides: dict[str, pathlib.Path]) -> None:
    outputs = {side: run((folder / "body.txt").read_text(), folder, mesh) for side, folder in sides.items()}
    assert outputs["nnx"] == outputs["linen"]
    assert '"falls": true' in outputs["nnx"] and "model" in outputs["nnx"]


SEEDS = pathlib.Path(__file__).resolve().parents[3].parent / "shared" / "seeds"


@pytest.mark.skipif(not SEEDS.exists(), reason="the documents that the project was created from are not here")
def test_the_pjit_document_keeps_its_specs(tmp_path: pathlib.Path) -> None:
    """The second half of the notebook, with a smaller model: every spec that it printed when it was written."""
    cells = json.loads((SEEDS / "programs" / "parallel_training.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells[11:] if cell["cell_type"] == "code"]
    text = "\n\n".join(re.sub(r"(?m)^[!%].*$", "", cell) for cell in code) + "\n"
    text = text.replace("USE_SCAN = 8, 4, 1024, True", "USE_SCAN = 8, 4, 64, True")
    result = migrate_project([SourceFile.parse(tmp_path / "program.py", "program", text)])
    after = result.files[0].after
    assert after is not None and "linen as nn" not in after and "import spmd" not in after, after
    for path, created in result.created.items():
        path.write_text(created)
    tail = (
        "for name, tree in (('spec', state_spec), ('logical', logical_output_spec), ('resolved', logical_state_spec)):\n"
        "    print(name, *[tree.params[k][w] for k in tree.params for w in ('W1', 'W2')])\n"
        "made = (('initialized', initialized_state), ('new', new_state), ('logical', logical_initialized_state))\n"
        "for name, tree in made:\n"
        "    print(name, *[tree.params[k][w][...].sharding.spec for k in tree.params for w in ('W1', 'W2')])\n"
        "print(y.shape if hasattr(y, 'shape') else y[0].shape)\n"
    )
    program = tmp_path / "program.py"
    program.write_text(after + tail)
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    resolved = "P(None, None, 'model') P(None, 'model', None)"
    placed = ("P(None, None, 'model') P(None, 'model', None)", "P(None, None, 'model') P(None, 'model')")
    lines = done.stdout.splitlines()[-7:]
    assert lines[:3] == [
        f"spec {resolved}",
        "logical P('layer', 'embed', 'hidden') P('layer', 'hidden', 'embed')",
        f"resolved {resolved}",
    ]
    for line, name in zip(lines[3:6], ("initialized", "new", "logical")):
        assert line in [f"{name} {specs}" for specs in placed]
    assert lines[6] == "(8, 64)"
