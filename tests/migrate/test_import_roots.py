"""Repositories with an `__init__.py` at their top, run from there: what is generated is imported as their own files are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.files.modules import module_names

NET = """from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.GRUCell(4)(x, nn.SelfAttention(2)(x))[0]
"""
RUN = """import jax
import jax.numpy as jnp

from nets.net import Net

model = Net()
x = jnp.ones((3, 4))
variables = model.init(jax.random.key(0), x)
print(model.apply(variables, x).shape)
"""


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_it_runs_where_it_lies(tmp_path: Path) -> None:
    root = tmp_path / "game"
    write(root, {"__init__.py": "from .nets.net import Net\n", "run.py": RUN, "nets/__init__.py": "", "nets/net.py": NET})
    result = CliRunner().invoke(program, [str(root), "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "linen_parity" in (tmp_path / "out/nets/net.py").read_text()
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path / "out", env=env, capture_output=True, text=True)
    assert done.stdout == "(3, 4)\n", done.stderr


OTHERS = {
    "another file imports it by its name": {"tests/test_net.py": "from game.nets.net import Net\n"},
    "a file of its own does": {"game/other.py": "import game.nets.net\n"},
    "a file at its top imports what lies beside it": {"game/other.py": "from .nets import net\n"},
    "a folder of it imports what lies above": {"game/nets/more.py": "from ..other import f\n", "game/other.py": "f = 1\n"},
    "nothing in it is imported by a short name": {"game/run.py": "import json\n"},
    "a file of it has its name": {"game/run.py": "from game.nets.net import Net\n", "game/game.py": ""},
    "a file that has its name is imported": {"game/run.py": "import game.game\nimport game.nets.net\n", "game/game.py": ""},
    "a library has that name": {"game/run.py": "import optax\n", "game/optax.py": ""},
    "a folder has what is imported beside it": {
        "game/run.py": "",
        "game/nets/go.py": "import parts\n",
        "game/nets/parts.py": "",
        "game/parts.py": "",
    },
}


@pytest.mark.parametrize("what", OTHERS)
def test_packages_stay_what_they_are(tmp_path: Path, what: str) -> None:
    files = {"game/__init__.py": "", "game/run.py": RUN, "game/nets/__init__.py": "", "game/nets/net.py": NET}
    write(tmp_path, files | OTHERS[what])
    contents = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*.py"))}
    assert module_names(contents, contents)[tmp_path / "game/nets/net.py"].name == "game.nets.net"


def test_only_what_is_run_there_is_a_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"game/__init__.py": "", "game/run.py": RUN, "game/nets/net.py": NET, "lib/__init__.py": "", "lib/a.py": ""},
    )
    contents = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*.py"))}
    names = {str(path.relative_to(tmp_path)): found.name for path, found in module_names(contents, contents).items()}
    assert names["game/nets/net.py"] == "nets.net" and names["game/run.py"] == "run" and names["lib/a.py"] == "lib.a"
    # of a folder below it alone, too: what lies at the top is read for this
    below = tmp_path / "game/nets/net.py"
    assert module_names([below], {below: contents[below]})[below].name == "nets.net"
