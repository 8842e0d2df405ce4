"""The three subcommands, on checkpoints of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest
from click.testing import CliRunner
from flax import serialization
from nnx_migrate.compat.command import checkpoint


def run(*args: object) -> Any:
    return CliRunner().invoke(checkpoint, [str(a) for a in args])


TREE = {
    "step": jnp.int32(3),
    "params": {f"Block_{i}": {"kernel": jnp.full((4, 6), i, jnp.float32)} for i in range(11)},
    "opt_state": [
        {"count": jnp.int32(3), "mu": {f"Block_{i}": {"kernel": jnp.zeros((4, 6))} for i in range(11)}},
        None,
    ],
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "ck", TREE)
    (tmp_path / "ck.msgpack").write_bytes(serialization.to_bytes(serialization.to_state_dict(TREE)))
    return tmp_path


def test_inspect(saved: Path) -> None:
    tree = run("inspect", saved / "ck")
    assert tree.exit_code == 0
    assert "layout L5" in tree.output and "24 arrays" in tree.output
    assert "├─ Block_9" in tree.output and tree.output.index("Block_9") < tree.output.index("Block_10")
    assert "float32 4x6" in tree.output
    table = run("inspect", saved / "ck.msgpack", "--format", "table")
    assert "layout L1" in table.output and "params/Block_10/kernel" in table.output
    data = json.loads(run("inspect", saved / "ck", "--format", "json", "--item", "params").output)
    assert data["version"] == 1 and len(data["arrays"]) == 11
    assert data["arrays"][0] | {"chunks": 0, "sharding": 0} == {
        "key": "Block_0/kernel",
        "shape": [4, 6],
        "dtype": "float32",
        "bytes": 96,
        "chunks": 0,
        "prng_key": None,
        "sharding": 0,
    }


def test_convert_and_diff(saved: Path) -> None:
    done = run("convert", saved / "ck", saved / "nnx")
    assert done.exit_code == 0 and "24 arrays" in done.output and "0 B copied" in done.output
    same = run("diff", saved / "ck", saved / "nnx")
    assert same.exit_code == 0 and "24 arrays compared" in same.output and "equal" in same.output
    assert run("diff", saved / "ck.msgpack", saved / "nnx").exit_code == 0
    tree: Any = serialization.to_state_dict(TREE)
    kernel = np.array(tree["params"]["Block_3"]["kernel"])
    kernel[2, 1] += 0.5
    tree["params"]["Block_3"]["kernel"] = kernel
    tree["params"]["Block_4"]["kernel"] = np.zeros((4, 7), np.float32)
    tree["params"]["Block_5"]["kernel"] = np.full((4, 6), 5, np.float16)
    del tree["params"]["Block_6"]
    tree["params"]["New"] = np.zeros(2, np.float32)
    (saved / "other.msgpack").write_bytes(serialization.to_bytes(tree))
    found = run("diff", saved / "nnx", saved / "other.msgpack")
    assert found.exit_code == 1
    text = found.output
    key = "model/Block_3/kernel/value = params/Block_3/kernel"
    assert f"value   {key}: 1 of 24 values differ, by up to 0.5 at (2, 1)" in text
    assert "shape   model/Block_4/kernel/value = params/Block_4/kernel: (4, 6) against (4, 7)" in text
    assert "dtype" in text and "float32 against float16" in text
    assert "only_a  model/Block_6/kernel/value" in text and "only_b  params/New" in text
    assert "5 differences" in text
    keys = json.loads(run("diff", saved / "ck", saved / "other.msgpack", "--keys-only", "--format", "json").output)
    assert {d["kind"] for d in keys["differences"]} == {"shape", "dtype", "only_a", "only_b"}


def test_rename_and_create(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (saved / "my_model.py").write_text(
        "import jax.numpy as jnp\n"
        "from flax import nnx\n"
        "class B(nnx.Module):\n"
        "    def __init__(self): self.kernel = nnx.Param(jnp.ones((4, 6)))\n"
        "class M(nnx.Module):\n"
        "    def __init__(self): self.Block = nnx.List([B() for _ in range(11)])\n"
        "def create(): return M()\n"
    )
    monkeypatch.chdir(saved)
    monkeypatch.syspath_prepend(str(saved))
    assert run("convert", saved / "ck", saved / "list", "--create", "my_model:create").exit_code == 0
    assert "Block/10/kernel/value" in run("inspect", saved / "list", "--format", "table").output
    assert run("convert", saved / "ck", saved / "re", "--rename", r"Block_(\d+)=layers/\1").exit_code == 0
    assert "model/layers/10/kernel/value" in run("inspect", saved / "re", "--format", "table").output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("inspect", "nowhere"), "nowhere: does not exist"),
        (("inspect", "ck", "--item", "nothing"), "holds nothing under 'nothing'"),
        (("convert", "ck", "ck"), "exists already"),
        (("convert", "ck", "d", "--create", "no_such_module:f"), "No module named 'no_such_module'"),
        (("convert", "ck", "d", "--create", "json"), "write module:function"),
        (("convert", "ck", "d", "--rename", "x"), "is not OLD=NEW"),
        (("convert", "ck", "d", "--rename", "(=x"), "no regular expression"),
        (("convert", "ck", "d", "--dtype", "bfloat17"), "unknown dtype 'bfloat17'"),
        (("convert", "ck", "d", "--dtype", "bfloat16"), "need create="),
        (("diff", "ck", "ck.msgpack", "--step", "4"), "without steps"),
    ],
)
def test_errors(saved: Path, args: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved)
    result = run(*args)
    assert result.exit_code == 2
    assert message in result.output
    assert not (saved / "d").exists()
