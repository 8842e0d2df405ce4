"""Files of plain Python that files of Flax import are read, too: they say what axis rules and tables mean."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.files.select import read_along, select

MODEL = """import flax.linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for features in (8, 4):
            init = nn.with_logical_partitioning(nn.initializers.ones, ("embed", "mlp"))
            x = nn.Dense(features, kernel_init=init, use_bias=False)(x)
        return x
"""
TRAIN = """import json

import flax.linen as nn
import jax
import jax.numpy as jnp

import settings.sharding as sharding
from model import Net


def main():
    mesh = jax.make_mesh((2, 4), sharding.MESH_AXES)
    with mesh, nn.logical_axis_rules(sharding.RULES):
        variables = jax.jit(Net().init)(jax.random.key(0), jnp.ones((2, 8)))
        specs = nn.logical_to_mesh(nn.get_partition_spec(variables), sharding.RULES)
        y = Net().apply(variables, jnp.ones((2, 8)))
    print(json.dumps([sorted(str(tuple(s)) for s in jax.tree.leaves(specs)), float(y.sum())]))


if __name__ == "__main__":
    main()
"""
SHARDING = """from settings.names import MODEL

MESH_AXES = ("data", MODEL)
RULES = (("batch", "data"), ("mlp", MODEL), ("embed", "data"))
"""
FILES = {
    "model.py": MODEL,
    "train.py": TRAIN,
    "settings/__init__.py": "",
    "settings/sharding.py": SHARDING,
    "settings/names.py": "MODEL = 'model'\n",
}
UNKNOWN = "takes rules that are not a literal"


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _run(folder: Path) -> list[object]:
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    command = [sys.executable, "-W", "ignore", "train.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_rules_of_a_plain_file_are_known(tmp_path: Path) -> None:
    old, new = _write(tmp_path / "old", FILES), tmp_path / "new"
    done = CliRunner().invoke(program, [str(old), "--output", str(new), "--report", str(tmp_path / "report.json")])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "report.json").read_text())
    assert [c["outcome"] for c in report["classes"]] == ["native"]
    assert UNKNOWN not in json.dumps(report)
    assert {f["path"]: f["status"] for f in report["files"]}[str(old / "settings/sharding.py")] == "unchanged"
    assert _run(old) == _run(new) == [["('data', 'model')"] * 2, 2 * 4 * 8.0 * 8.0]


def test_a_plain_file_that_does_not_parse_is_not_read(tmp_path: Path) -> None:
    """Nobody asked for it: the run goes on as though it was not there, which leaves the rules unknown."""
    old = _write(tmp_path / "old", {**FILES, "settings/sharding.py": f"{SHARDING}print 'of another Python'\n"})
    done = CliRunner().invoke(program, [str(old), "--check", "--report", str(tmp_path / "report.json")])
    assert done.exit_code == 1, done.output
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["summary"]["files"]["failed"] == 0
    assert UNKNOWN in json.dumps(report)


def test_what_is_read_along() -> None:
    files = {
        "app/__init__.py": b"",
        "app/model.py": b"import flax\nfrom . import rules, gone\nfrom .tables import (\n  A,\n)\nimport os, app.whole\n",
        "app/rules.py": b"from app import deeper\nRULES = ()\n",
        "app/tables.py": b"A = 1\n",
        "app/whole.py": b"X = 1\n",
        "app/deeper.py": b"from app import deepest\n",
        "app/deepest.py": b"X = 1\n",  # three steps away
        "app/other.py": b"X = 1\n",
        "app/data.py": b"import torch\n",
        "app/loops.py": b"import jax\nfrom app import data, other\n",  # does not say flax
        "app/train.py": b"from flax import struct\nfrom .data import X\n",
    }
    contents = {Path(name): data for name, data in files.items()}
    kept = select(contents)
    assert sorted(p.stem for p in kept) == ["loops", "model", "train"]
    assert sorted(p.stem for p in read_along(contents, kept)) == ["deeper", "rules", "tables", "whole"]
