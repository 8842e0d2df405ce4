"""Packages that have a function by the name of one of their modules: the module is no attribute of them any more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from nnx_migrate.migrate.cli import program

FILES = {
    "models/__init__.py": "from .block import block\n",
    "models/block.py": """from flax import linen as nn


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


def block(x, width):
    return Block(width)(x)
""",
    "net.py": """import models
from flax import linen as nn
from models import block


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(block(x, 4)) + models.block(x, 3)
""",
}
RUN = """import jax
from flax import nnx
from nnx_migrate import compat
import sys

sys.path[:0] = ["old"]
import models, net
before = net.Net()
x = jax.random.normal(jax.random.key(0), (2, 5))
variables = before.init(jax.random.key(1), x)
for name in [n for n in sys.modules if n.partition(".")[0] in ("models", "net")]:
    del sys.modules[name]
sys.path[0] = "new"
import net
after = net.Net(in_features=5, rngs=nnx.Rngs(0))
assert compat.check_equivalence(before, variables, after, x)
assert type(after.Block_0).__mro__[1] is nnx.Module
"""


def test_a_function_by_the_name_of_its_module(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / "old" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = CliRunner().invoke(program, [str(tmp_path / "old"), "--output", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    ran = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
