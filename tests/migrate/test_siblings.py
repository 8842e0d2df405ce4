"""Generated modules are imported by the names under which the project's files find what lies beside them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate import siblings
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.source import SourceFile

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
    assert "from pkg import linen_parity\n" in (tmp_path / "pkg/proj/task/net.py").read_text()
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


NORMS = """import flax.linen as nn


class MLP(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x)


def ensemblize(cls, n):
    return nn.vmap(cls, {"params": 0}, {"params": True}, in_axes=None, out_axes=0, axis_size=n)
"""
STARRED = """from space.layers import *


class Ensemble(nn.Module):
    many: bool = True

    @nn.compact
    def __call__(self, x):
        module = MLP
        if self.many:
            module = ensemblize(module, 2)
        return module(5)(x)
"""
SHAPES = """import jax
import jax.numpy as jnp
from src.ensemble import Ensemble

for many in (True, False):
    model = Ensemble(many)
    variables = model.init(jax.random.key(0), jnp.ones((2, 3)))
    ones = jax.tree.map(jnp.ones_like, variables)
    print([leaf.shape for leaf in jax.tree.leaves(variables)], float(model.apply(ones, jnp.ones((2, 3))).sum()))
"""


def test_a_class_of_a_namespace_package_that_a_star_brings(tmp_path: Path) -> None:
    """It is written by the name that it has there: `import layers` finds nothing beside `space`."""
    for name, text in {"space/layers.py": NORMS, "src/ensemble.py": STARRED, "main.py": SHAPES}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-W", "ignore", "main.py"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "env": {**os.environ, "JAX_PLATFORMS": "cpu"}}
    before = subprocess.run(command, **options, check=True).stdout
    migrated(tmp_path)
    assert "linen" not in (tmp_path / "src/ensemble.py").read_text()
    after = subprocess.run(command, **options, check=False)
    assert after.returncode == 0, after.stderr
    assert after.stdout == before


def test_modules_are_spelled_as_imports_spell_them() -> None:
    texts = {
        "/r/space/layers.py": ("layers", "X = 1\n"),
        "/r/space/deep/tables.py": ("tables", "X = 1\n"),
        "/r/pkg/inner.py": ("pkg.inner", "from . import other\n"),
        "/r/pkg/other.py": ("pkg.other", ""),
        "/r/main.py": ("main", "from space.layers import *\nimport space.deep.tables\n"),
    }
    written = {"space.layers": "layers", "space.deep.tables": "tables"}
    sources = [
        SourceFile.parse(Path(path), module, text, resolve=lambda dotted: written.get(dotted, dotted))
        for path, (module, text) in texts.items()
    ]
    project = Project(sources)
    names = ("layers", "tables", "pkg.inner", "pkg.other", "main", "numpy")
    spelled = ("space.layers", "space.deep.tables", "pkg.inner", "pkg.other", "main", "numpy")
    assert tuple(siblings.spelled(project, name) for name in names) == spelled


PROGRAM = """import jax
from {module} import Net

model = Net()
variables = model.init(jax.random.key(0), jax.numpy.ones((1, 3, 4)))
print(model.apply(variables, jax.numpy.ones((1, 3, 4))).shape, list(variables))
"""


def printed(folder: Path, script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-800:]
    return done.stdout


@pytest.mark.parametrize("init", [True, False], ids=["package", "namespace"])
def test_scripts_share_the_parity_module_of_the_package_that_they_import(tmp_path: Path, init: bool) -> None:
    scripts = {"tests/net_test.py": "pkg.nets.attends", "bench/run.py": "pkg.nets.attends", "main.py": "pkg.nets"}
    for name in ("pkg/nets", "tests", "bench"):
        (tmp_path / name).mkdir(parents=True)
    if init:
        (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/nets/__init__.py").write_text(f"from {'' if init else 'pkg.nets'}.attends import Net\n")
    (tmp_path / "pkg/nets/attends.py").write_text(ATTENDS.format(imports=""))
    for script, module in scripts.items():
        (tmp_path / script).write_text(PROGRAM.format(module=module))
    before = printed(tmp_path, "main.py")
    migrated(tmp_path)
    home = "pkg" if init else "pkg/nets"
    assert list(tmp_path.rglob("linen_parity.py")) == [tmp_path / home / "linen_parity.py"]
    for script in scripts:
        text = (tmp_path / script).read_text()
        assert f"from {home.replace('/', '.')} import " in text and "import linen_parity" in text.replace("Net, ", "")
    assert {printed(tmp_path, script) for script in scripts} == {before}
    assert CliRunner().invoke(program, [str(tmp_path), "--check"]).exit_code == 0


def test_a_script_does_not_take_the_parity_module_of_what_imports_it(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/__init__.py").write_text("import common\n")
    (tmp_path / "models/attends.py").write_text(ATTENDS.format(imports=""))
    common = "import jax\nfrom flax import linen as nn\nimport models\n\n\ndef make():\n    from models.attends import Net\n"
    common += "    model = Net()\n    return model.init(jax.random.key(0), jax.numpy.ones((1, 3, 4)))\n"
    (tmp_path / "common.py").write_text(common)
    (tmp_path / "main.py").write_text("import common\nprint(sorted(common.make()))\n")
    before = printed(tmp_path, "main.py")
    migrated(tmp_path)
    assert (tmp_path / "linen_parity.py").exists() and "\nimport linen_parity\n" in (tmp_path / "common.py").read_text()
    assert printed(tmp_path, "main.py") == before


def test_a_parity_module_that_an_earlier_run_imported_stays(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/attends.py").write_text(ATTENDS.format(imports=""))
    migrated(tmp_path)
    (tmp_path / "pkg/more.py").write_text(ATTENDS.format(imports=""))
    text = "from pkg import linen_parity\n" + PROGRAM.format(module="pkg.more") + "print(linen_parity.__name__)\n"
    (tmp_path / "main.py").write_text(text)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/other.py").write_text("import main\n" + PROGRAM.format(module="pkg.more"))
    before = printed(tmp_path, "main.py")
    migrated(tmp_path)
    after = (tmp_path / "main.py").read_text()
    assert after.count("import linen_parity") == 1 and "linen_parity.Functional(Net" in after.replace("\n    Net", "Net")
    assert not (tmp_path / "linen_parity.py").exists() and printed(tmp_path, "main.py") == before
    assert "from pkg import linen_parity\n" in (tmp_path / "tools/other.py").read_text()
    assert not (tmp_path / "tools/linen_parity.py").exists()


@pytest.mark.parametrize("both", [True, False])
def test_a_package_shares_the_parity_module_of_another_as_a_whole(tmp_path: Path, both: bool) -> None:
    for name in ("pkg", "apps"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "pkg/attends.py").write_text(ATTENDS.format(imports=""))
    (tmp_path / "apps/one.py").write_text(PROGRAM.format(module="pkg.attends"))
    imports = "from pkg.attends import Dense\n" if both else ""
    (tmp_path / "apps/two.py").write_text(ATTENDS.format(imports=imports).replace("class Dense", "class Other"))
    (tmp_path / "main.py").write_text("import apps.one\nfrom apps.two import Net\n")
    before = printed(tmp_path, "main.py")
    migrated(tmp_path)
    homes = sorted(path.parent.name for path in tmp_path.rglob("linen_parity.py"))
    assert homes == (["pkg"] if both else ["apps", "pkg"])
    name = "from pkg import linen_parity\n" if both else "from apps import linen_parity\n"
    assert all(name in (tmp_path / "apps" / file).read_text() for file in ("one.py", "two.py"))
    assert printed(tmp_path, "main.py") == before


def test_a_script_that_puts_a_folder_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "code/models").mkdir(parents=True)
    (tmp_path / "code/models/net.py").write_text(ATTENDS.format(imports=""))
    (tmp_path / "nb").mkdir()
    path = f"import sys\nsys.path.insert(0, {str(tmp_path / 'code')!r})\n"
    (tmp_path / "nb/show.py").write_text(path + PROGRAM.format(module="models.net"))
    before = printed(tmp_path, "nb/show.py")
    migrated(tmp_path)
    assert list(tmp_path.rglob("linen_parity.py")) == [tmp_path / "code/models/linen_parity.py"]
    assert printed(tmp_path, "nb/show.py") == before


TWO_FOLDERS = """import jax
import jax.numpy as jnp
from agents.steps import loss
from models.deep.blocks import Net as Deep
{imports}

for model in (Net(), Deep()):
    variables = model.init(jax.random.key(0), jnp.ones((1, 3, 4)))
    ones = jax.tree.map(jnp.ones_like, variables)
    print([leaf.shape for leaf in jax.tree.leaves(variables)], float(loss(model, ones)))
"""
STEPS = """import jax.numpy as jnp

import models.net
from agents.net import SCALE


def loss(model, variables):
    return SCALE * model.apply(variables, jnp.ones((1, 3, 4))).mean() + isinstance(model, models.net.Net)
"""


@pytest.mark.parametrize("imports", ["from models.net import Net", "import models.net\nNet = models.net.Net"])
def test_folders_of_a_namespace_package_that_hold_files_of_one_name(tmp_path: Path, imports: str) -> None:
    """The folder is no prefix that tells the files apart here: imports say it. `import linen_parity` found nothing."""
    texts = {
        "models/net.py": ATTENDS.format(imports=""),
        "models/deep/__init__.py": "",
        "models/deep/blocks.py": ATTENDS.format(imports="from models.net import Dense as Other"),
        "models/odd.py": STAYS.format(imports="from models.net import Dense"),
        "agents/net.py": "SCALE = 3.0\n",
        "agents/steps.py": STEPS,
        "scripts/net.py": ATTENDS.format(imports="import beside") + MAIN,
        "scripts/beside.py": ATTENDS.format(imports="import net"),
        "main.py": TWO_FOLDERS.format(imports=f"{imports}\nimport models.odd"),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    before = printed(tmp_path, "main.py")
    migrated(tmp_path)
    assert "from models import linen_parity\n" in (tmp_path / "models/net.py").read_text()
    assert "\nimport linen_parity\n" in (tmp_path / "scripts/net.py").read_text()
    assert printed(tmp_path, "main.py") == before
    assert "Net" in printed(tmp_path, "scripts/net.py")
    after = {name: (tmp_path / name).read_text() for name in texts}
    migrated(tmp_path)
    assert {name: (tmp_path / name).read_text() for name in texts} == after
