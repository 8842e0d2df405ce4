"""The fixture for people's own suites, in a suite of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUITE = """
import flax.linen as nn, jax.numpy as jnp
from flax import nnx
pytest_plugins = ["nnx_migrate.compat.equivalence.plugin"]
x = jnp.ones((2, 3))
def test_right(assert_equivalent):
    assert assert_equivalent(nn.Dense(4), lambda: nnx.Linear(3, 4, rngs=nnx.Rngs(0)), x, at_least="proved").proved
def test_wrong(assert_equivalent):
    assert_equivalent(nn.Dense(4), lambda: nnx.Linear(3, 4, use_bias=False, rngs=nnx.Rngs(0)), x)
"""


def test_fixture_passes_and_fails_with_the_report(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "NotEquivalent" in done.stdout and "missing in NNX: params/bias" in done.stdout
