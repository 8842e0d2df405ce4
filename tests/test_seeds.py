"""The programs this project was created from: dead on today's stack before migration, alive after, same results.

They are no part of the repository; the tests are skipped where they are not beside it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SEEDS = Path(__file__).resolve().parents[2] / "shared" / "seeds"
pytestmark = pytest.mark.skipif(not (SEEDS / "programs").is_dir(), reason="the seed programs are not here")
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+")


def migrated(name: str, folder: Path) -> Path:
    """The program `name` migrated into `folder` by the command line."""
    (folder / "old").mkdir()
    (folder / "old" / name).write_bytes((SEEDS / "programs" / name).read_bytes())
    code = "from nnx_migrate.migrate.cli import main; main()"
    command = [sys.executable, "-c", code, str(folder / "old"), "--output", str(folder / "new")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return folder / "new" / name


def printed(path: Path) -> list[str]:
    """What the program prints, line by line. A plotting library is replaced by nothing where it is not installed."""
    stub = path.parent / "stub" / "matplotlib"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text("")
    (stub / "pyplot.py").write_text("def __getattr__(name):\n  return lambda *args, **kwargs: None\n")
    # Compiled as their authors compiled them: the tests' own flags for XLA change the last digits that are printed.
    flags = [flag for flag in os.environ["XLA_FLAGS"].split() if "device_count" in flag]
    done = subprocess.run(
        [sys.executable, path.name],
        cwd=path.parent,
        env={**os.environ, "XLA_FLAGS": " ".join(flags), "PYTHONPATH": str(stub.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def expected(name: str) -> list[str]:
    return (SEEDS / "expected" / name).read_text().splitlines()


def plain(line: str) -> str:
    """A line without what only names the version of jax: device and memory names, and how a spec prints itself."""
    line = re.sub(r"memory_kind=\w+", "memory_kind", line)
    line = line.replace("PartitionSpec(", "P(").replace("TFRT_CPU_", "cpu:")
    # A set of devices has no order.
    return re.sub(r"\{CpuDevice\(.*\}", lambda m: " ".join(sorted(m.group().strip("{}").split(", "))), line)


def same(got: list[str], wanted: list[str], tolerance: float = 1e-4) -> None:
    """Line by line the same words, and the same numbers within `tolerance`."""
    assert len(got) == len(wanted), (len(got), len(wanted))
    for one, other in zip(map(plain, got), map(plain, wanted)):
        assert NUMBER.sub("#", one) == NUMBER.sub("#", other)
        for left, right in zip(NUMBER.findall(one), NUMBER.findall(other)):
            assert float(left) == pytest.approx(float(right), abs=tolerance, rel=tolerance), (one, other)


@pytest.mark.slow
def test_early_nnx_guide_prints_the_losses_of_its_time(tmp_path: Path) -> None:
    got = printed(migrated("nnx_spmd_guide.py", tmp_path))
    same(got, expected("nnx_spmd_guide.txt"))
    losses = [float(line) for line in got if re.fullmatch(r"0\.\d{4,}", line)]
    assert losses == pytest.approx([0.82018, 0.55837, 0.41079, 0.29842], abs=1e-4)


def test_shard_map_script_prints_what_it_printed(tmp_path: Path) -> None:
    same(printed(migrated("shard_map_intro.py", tmp_path)), expected("shard_map_intro.txt"))


@pytest.mark.slow
def test_fsdp_script_shards_as_it_did_and_learns(tmp_path: Path) -> None:
    path = migrated("fsdp_blog.py", tmp_path)
    text = path.read_text()
    assert "num_steps=10_000" in text
    # Its data and batches come from an unseeded generator: losses differ from run to run, all else must not.
    path.write_text(text.replace("num_steps=10_000", "num_steps=2_000"))
    got = printed(path)
    losses = [line for line in got if line.startswith("Step ")]
    same([line for line in got if line not in losses], [x for x in expected("fsdp_blog.txt") if x[:5] != "Step "])
    values = [float(line.rpartition("=")[2]) for line in losses]
    assert len(values) == 2
    assert 1.0 < values[0] < 20.0 and values[1] < 0.2, "it does not learn as it did (5.5, then 0.06)"


def notebook_script(notebook: Path) -> Path:
    """The pjit half of the notebook as a script: from `import os` on, magics left out, its results printed at the end.

    Three cells of the notebook end in an expression whose value the notebook shows; `REPORT` prints what is compared.
    """
    cells = json.loads(notebook.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    start = next(i for i, text in enumerate(code) if text.startswith("import os"))
    lines: list[str] = ["import jax", "jax.config.update('jax_threefry_partitionable', False)"]
    for text in code[start:]:
        lines += [line for line in text.split("\n") if not line.startswith(("%", "!"))] + [""]
    script = notebook.with_suffix(".py")
    script.write_text("\n".join(lines) + REPORT)
    return script


REPORT = """
for title, state, layer in (('initialized', initialized_state, 'ScanDotReluDot_0'), ('new', new_state, 'ScanDotReluDot_0'),
                            ('logical', logical_initialized_state, 'ScanLogicalDotReluDot_0')):
  for name in ('W1', 'W2'):
    value = state.params[layer][name][...]
    print('CHECK', title, name, tuple(value.sharding.spec), value.shape, flush=True)
print('CHECK equal', state_spec.params['ScanDotReluDot_0'] == logical_state_spec.params['ScanLogicalDotReluDot_0'])
print('CHECK y', y.shape, y.dtype)

import linen_side
for title, net in (('scan', linen_side.MLP), ('logical scan', linen_side.LogicalMLP)):
  if title == 'scan':
    state, name = new_state, 'ScanDotReluDot_0'
  else:
    state, name = logical_initialized_state, 'ScanLogicalDotReluDot_0'
  weights = {key: state.params[name][key][...] for key in ('W1', 'W2')}
  with jax.set_mesh(mesh):
    one = jax.jit(lambda w: net(LAYERS, DEPTH, USE_SCAN).apply({'params': {name: w}}, x))(weights)
    other = jax.jit(lambda s: nnx.merge(s.graphdef, s.params)(x))(state)
  print('CHECK', title, 'forward', bool((one == other).all()), bool(jnp.abs(one).max() > 0))
"""

LINEN_SIDE = """
import jax
from flax import linen as nn
from flax.linen import spmd
from jax import lax, numpy as jnp
from jax.lax import with_sharding_constraint
from jax.sharding import PartitionSpec
"""


def test_pjit_notebook_runs_and_keeps_its_specs(tmp_path: Path) -> None:
    notebook = migrated("parallel_training.ipynb", tmp_path)
    script = notebook_script(notebook)
    old = json.loads((SEEDS / "programs" / notebook.name).read_text())["cells"]
    classes = [
        text for text in map("".join, (c["source"] for c in old if c["cell_type"] == "code")) if "(nn.Module)" in text
    ]
    (script.parent / "linen_side.py").write_text("\n".join([LINEN_SIDE, *classes]))
    code = ast.unparse(ast.parse(script.read_text().removesuffix(REPORT)))  # comments may still name what was
    assert "linen as nn" not in code and "nn.Module" not in code.replace("nnx.Module", "") and " pjit(" not in code
    checks = [line for line in printed(script) if line.startswith("CHECK")]
    shape = "(4, 1024, 1024)"
    specs = {"W1": "(None, None, 'model')", "W2": "(None, 'model', None)"}
    wanted = [f"CHECK {t} {n} {specs[n]} {shape}" for t in ("initialized", "new", "logical") for n in ("W1", "W2")]
    forward = ["CHECK scan forward True True", "CHECK logical scan forward True True"]
    assert checks == [*wanted, "CHECK equal True", "CHECK y (8, 1024) float32", *forward]
    for line in wanted:
        _, title, name, *_ = line.split()
        was = next(row for row in expected("parallel_training.txt") if row.startswith(f"{title} {name} "))
        assert f"PartitionSpec{specs[name]}" in was
