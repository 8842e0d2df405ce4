"""Code that cannot be compared: each case is unchecked with its reason, and the others go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from nnx_migrate.compat.equivalence.command import verify

pytestmark = pytest.mark.slow

GOOD = """
import flax.linen as nn, jax, jax.numpy as jnp
class {name}(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)
def main():
    {name}().init(jax.random.key(0), jnp.ones((4, 6)))
"""
TWIN = """
from flax import nnx
class {name}(nnx.Module):
    def __init__(self, *, in_features, rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, rngs=rngs)
    def __call__(self, x):
        return self.Dense_0(x)
"""
# name of file and class -> (put before the original, before the migrated code, what the reason says)
BROKEN = {
    "Missing": ("import a_package_that_nobody_has\n", "", "No module named 'a_package_that_nobody_has'"),
    "Removed": ("from jax.experimental import maps\n", "", "cannot import name 'maps'"),
    "Memory": ("raise MemoryError('no more')\n", "", "MemoryError: no more"),
    "Killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n", "", "most likely because memory ran out"),
    "Hangs": ("while True: pass\n", "", "did not end within"),
    "Exits": ("import sys; sys.exit('usage: train.py DATA')\n", "", "SystemExit: usage: train.py DATA"),
    "Wide": (
        "import jax; jax.config.update('jax_enable_x64', True)\n",
        "",
        "jax_enable_x64 is True by the original, as it was by the migrated code",
    ),
    "Patches": (
        "import flax.linen as nn\ndef patched(v): return v * 2\nnn.relu = patched\n",
        "",
        "the original replaces flax.linen.relu",
    ),
}
# Side effects that are the same on both sides, or touch nothing, do no harm.
FINE = {
    "Both": ("import jax; jax.config.update('jax_enable_x64', True)\n",) * 2,
    "Writes": ("print('loading'); open('trace.txt', 'w').write('x')\n", "import os; os.environ['SEED'] = '3'\n"),
}
DICE = (
    "import flax.linen as nn, jax, jax.numpy as jnp, numpy as np\n"
    "class Dice(nn.Module):\n"
    "    @nn.compact\n"
    "    def __call__(self, x):\n"
    "        return nn.Dense(3)(x) * np.random.rand(3).astype('float32')\n"
    "def main():\n    Dice().init(jax.random.key(0), jnp.ones((4, 6)))\n",
    "import numpy as np\nfrom flax import nnx\n"
    "class Dice(nnx.Module):\n"
    "    def __init__(self, *, in_features, rngs):\n"
    "        self.Dense_0 = nnx.Linear(in_features, 3, rngs=rngs)\n"
    "    def __call__(self, x):\n"
    "        return self.Dense_0(x) * np.random.rand(3).astype('float32')\n",
)
NEEDY = (
    "import flax.linen as nn\n"
    "class Needy(nn.Module):\n"
    "    tables: dict\n"
    "    @nn.compact\n"
    "    def __call__(self, x):\n"
    "        return nn.Dense(self.tables['a'].width())(x)\n",
    TWIN.format(name="Needy"),
)


def _verified(root: Path, files: dict[str, tuple[str, str]], seconds: int) -> dict[str, Any]:
    """What `verify` reports of pairs of files, each given so many seconds."""
    before, after, report = root / "before", root / "after", root / "r.json"
    before.mkdir()
    after.mkdir()
    for name, (linen, native) in files.items():
        (before / f"{name.lower()}.py").write_text(linen)
        (after / f"{name.lower()}.py").write_text(native)
    options = ["--against", str(before), "--report", str(report), "--timeout", str(seconds), "--no-costs"]
    done = CliRunner().invoke(verify, [str(after), *options])
    assert done.exit_code == 1, done.output
    assert not (after / "trace.txt").exists() and not Path("trace.txt").exists()
    loaded: dict[str, Any] = json.loads(report.read_text())
    return loaded


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    files = {name: (one + GOOD.format(name=name), two + TWIN.format(name=name)) for name, (one, two, *_) in BROKEN.items()}
    files |= {name: (one + GOOD.format(name=name), two + TWIN.format(name=name)) for name, (one, two) in FINE.items()}
    files |= {"Dice": DICE, "Needy": NEEDY}
    hanging = {"Hangs": files.pop("Hangs")}  # on its own: what ends may need longer than one cares to wait for it
    found = _verified(tmp_path_factory.mktemp("bad"), files, 100)
    found["unchecked"] += _verified(tmp_path_factory.mktemp("hanging"), hanging, 5)["unchecked"]
    return found


@pytest.mark.parametrize("name", [*BROKEN, "Needy"])
def test_it_is_unchecked_with_the_reason(name: str, document: dict[str, Any]) -> None:
    reason = BROKEN[name][2] if name in BROKEN else "`tables` cannot be guessed"
    found = {entry["name"]: entry["reason"] for entry in document["unchecked"]}
    assert reason in found[name]


def test_a_side_that_is_not_deterministic_is_not_called_different(document: dict[str, Any]) -> None:
    found = next(r for r in document["results"] if r["name"] == "Dice")
    assert found["verdict"] == "unchecked"
    assert "the Linen side is not deterministic" in next(c for c in found["checks"] if c["name"] == "forward")["detail"]


def test_the_others_go_on(document: dict[str, Any]) -> None:
    verdicts = {r["name"]: r["verdict"] for r in document["results"]}
    assert verdicts == {"Both": "proved", "Writes": "proved", "Dice": "unchecked"}
