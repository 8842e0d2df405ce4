"""Generated modules are imported by the names under which the project's files find what lies beside them."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from nnx_migrate.migrate.cli import program

ATTENDS = """from flax import linen as nn
{imports}

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.SelfAttention(2)(x)


class Dense(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)
"""
MAIN = """

if __name__ == "__main__":
    print(Net)
"""
STAYS = """import jax
from flax import linen as nn
{imports}

class Odd(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Dense(3)(x) * len(self.scope.rngs)


print(jax.tree.map(lambda a: a.shape, Odd().init(jax.random.key(0), jax.numpy.ones((1, 2)))))
"""


def migrated(folder: Path) -> None:
    assert CliRunner().invoke(program, [str(folder), "--allow-dirty"]).exit_code in (0, 1)


def run(folder: Path, module: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-800:]


def test_packages_in_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "space/nets").mkdir(parents=True)
    (tmp_path / "space/nets/__init__.py").write_text("from space.nets.attends import Net\n")
    (tmp_path / "space/nets/attends.py").write_text(ATTENDS.format(imports=""))
    (tmp_path / "space/layers.py").write_text(ATTENDS.format(imports=""))
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/stays.py").write_text(STAYS.format(imports="from space.layers import *\n"))
    (tmp_path / "main.py").write_text("import tasks.stays\nfrom space.nets import Net\n")
    migrated(tmp_path)
    assert "from space.nets import linen_parity\n" in (tmp_path / "space/nets/attends.py").read_text()
    assert "from space import layers_linen\n" in (tmp_path / "tasks/stays.py").read_text()
    run(tmp_path, "main")


def test_folders_of_a_package_that_have_no_init_file(tmp_path: Path) -> None:
    (tmp_path / "pkg/proj/task").mkdir(parents=True)
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/common.py").write_text("SCALE = 2.0\n")
    (tmp_path / "pkg/proj/task/net.py").write_text(ATTENDS.format(imports="import pkg.common as common\n"))
    migrated(tmp_path)
    assert "from pkg.proj.task import linen_parity\n" in (tmp_path / "pkg/proj/task/net.py").read_text()
    run(tmp_path, "pkg.proj.task.net")


def test_a_program_in_a_package_that_takes_nothing_of_it_is_run_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "pkg/tasks").mkdir(parents=True)
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/tasks/__init__.py").write_text("")
    (tmp_path / "pkg/tasks/train.py").write_text(ATTENDS.format(imports="") + MAIN)
    (tmp_path / "pkg/tasks/named.py").write_text(ATTENDS.format(imports="") + MAIN)
    (tmp_path / "pkg/run.py").write_text("from pkg.tasks.named import Net\n")
    migrated(tmp_path)
    assert "\nimport linen_parity\n" in (tmp_path / "pkg/tasks/train.py").read_text()
    assert "from pkg import linen_parity\n" in (tmp_path / "pkg/tasks/named.py").read_text()
    done = subprocess.run(
        [sys.executable, str(tmp_path / "pkg/tasks/train.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-800:]
    run(tmp_path, "pkg.run")
