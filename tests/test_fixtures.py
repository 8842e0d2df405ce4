"""The fixture programs on today's stack: their Linen side still computes what their own time wrote down."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
import pytest
from flax import linen as nn
from flax import traverse_util

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.fixture
def lm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The language model's module, imported as its own project imports it."""
    monkeypatch.syspath_prepend(str(FIXTURES / "lm"))
    names = ["model", "config", "data"]
    for name in names:
        sys.modules.pop(name, None)
    yield importlib.import_module("model")
    for name in names:
        sys.modules.pop(name, None)


def test_the_linen_model_gives_the_logits_that_the_period_stack_wrote(lm: ModuleType) -> None:
    expected = np.load(FIXTURES / "lm" / "expected.npz")
    params = traverse_util.unflatten_dict(
        {tuple(key.split("/")[2:]): expected[key] for key in expected.files if key.startswith("state/params/")}
    )
    model = lm.TransformerLM(lm.Config())
    logits = model.apply({"params": params}, expected["tokens"])
    np.testing.assert_allclose(logits, expected["logits"], atol=2e-5)


def test_the_logical_names_of_the_model_are_those_of_its_rules(lm: ModuleType) -> None:
    from config import AXIS_RULES  # type: ignore[import-not-found]

    model = lm.TransformerLM(lm.Config())
    tokens = jax.ShapeDtypeStruct((8, 12), np.int32)
    variables = jax.eval_shape(model.init, jax.random.key(0), tokens)
    specs = nn.logical_to_mesh(nn.get_partition_spec(variables), AXIS_RULES)["params"]
    flat = {"/".join(key): spec for key, spec in traverse_util.flatten_dict(specs).items()}
    assert flat["token_embed/embedding"] == jax.sharding.PartitionSpec("model", None)
    assert flat["blocks/mlp/Dense_0/kernel"] == jax.sharding.PartitionSpec(None, None, "model")
    assert flat["blocks/attention/out/kernel"] == jax.sharding.PartitionSpec(None, "model", None)
    assert set(flat) == {key[len("state/params/") :] for key in np.load(FIXTURES / "lm" / "expected.npz").files
                         if key.startswith("state/params/")}  # fmt: skip


def test_the_notebook_migrates_and_runs(tmp_path: Path) -> None:
    code = "from nnx_migrate.migrate.cli import main; main()"
    command = [sys.executable, "-c", code, str(FIXTURES / "notebook"), "--output", str(tmp_path / "new")]
    assert subprocess.run(command, capture_output=True).returncode in (0, 1)
    notebook = json.loads((tmp_path / "new" / "autoencoder.ipynb").read_text())
    original = json.loads((FIXTURES / "notebook" / "autoencoder.ipynb").read_text())
    assert [c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown"] == [
        c["source"] for c in original["cells"] if c["cell_type"] == "markdown"
    ]
    lines = [line for c in notebook["cells"] if c["cell_type"] == "code" for line in "".join(c["source"]).split("\n")]
    assert "!pip install -q flax" in lines and "%matplotlib inline" in lines
    script = tmp_path / "new" / "run.py"
    script.write_text("\n".join(line for line in lines if not line.startswith(("!", "%"))) + "\nprint(logical)\n")
    done = subprocess.run([sys.executable, script.name], cwd=script.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    sharding, falls, logical = done.stdout.splitlines()
    assert "spec=P(None, None, 'model')" in sharding or "PartitionSpec(None, None, 'model')" in sharding
    assert falls == "True" and "None, None, 'model'" in logical
