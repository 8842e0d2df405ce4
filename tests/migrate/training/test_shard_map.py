"""The form that NNX608 describes for loops under jax.pmap, on eight devices beside the Linen original."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAMS = Path(__file__).with_name("programs")
REASONS = {
    "pmap_of_params_alone": "each device has a copy of the params, and they are alike only as the program sees to it",
    "pmap_local_batch_norm": "each device has batch statistics of its own batches alone, which",
    "pmap_synced_batch_norm": "each device has batch statistics of all devices (axis_name), which",
    "pmap_keys_of_each_device": "each device has random keys of its own, which",
    "pmap_statistics_and_keys_of_each_device": "each device has batch statistics of its own batches alone and random keys",
}


@pytest.fixture(scope="module")
def sides() -> dict[str, Any]:
    script = Path(__file__).with_name("shard_map_by_hand.py")
    done = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=300, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert lines, done.stderr[-3000:]
    return dict(json.loads(lines[-1].removeprefix("RESULT")))


@pytest.mark.parametrize("name", ["params", "statistics"])
def test_the_form_by_hand(sides: dict[str, Any], name: str) -> None:
    linen, native, checked = sides[name]
    assert len(set(linen["losses"])) == 10
    np.testing.assert_allclose(native["losses"], linen["losses"], rtol=1e-6)
    assert bool(linen["stats"]) == (name == "statistics")
    for a, b in zip(linen["stats"], native["stats"], strict=True):
        assert len(a) == 8 and np.std(a, axis=0).max() > 1e-3  # of each device
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    # The trap: derivatives by what all devices have alike are summed over the devices, and nothing is said.
    assert np.abs(np.subtract(checked["losses"], linen["losses"])).max() > 1e-3


@pytest.mark.parametrize("name", REASONS)
def test_what_each_device_has_is_said(name: str) -> None:
    text = (PROGRAMS / "_head.txt").read_text() + (PROGRAMS / f"{name}.txt").read_text()
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)])
    said = [d for d in result.files[0].diagnostics if d.code == "NNX608"]
    assert said and all(REASONS[name] in d.message and "explain NNX608" in d.help for d in said)


def test_a_pmap_of_arrays_alone_says_nothing() -> None:
    text = (PROGRAMS / "_head.txt").read_text() + (PROGRAMS / "state_thrown_away.txt").read_text()
    text += "\nmean = jax.pmap(lambda v: jax.lax.pmean(v, 'i'), 'i')(np.ones((jax.device_count(), 3)))\n"
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)])
    assert "NNX602" in {d.code for d in result.files[0].diagnostics}
    assert not any(d.code == "NNX608" for d in result.files[0].diagnostics)
