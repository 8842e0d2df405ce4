"""Two processes of four devices each: every process reads and holds its own shards only."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import orbax.checkpoint as ocp
import pytest
from layouts_by_hand import write_l1, write_l3

VALUE = np.arange(8 * 1024, dtype=np.float32).reshape(8, 1024)
KEYS = {"typed": np.array([3, 4], np.uint32), "raw": np.array([5, 6], np.uint32)}
TREE = {"params": {"big": VALUE, "small": np.ones(16, np.float32)}, **KEYS}


@pytest.mark.parametrize("layout", ["orbax", "l1", "l3"])
def test_each_process_reads_its_shards(layout: str, tmp_path: Path) -> None:
    path = tmp_path / "ck"
    if layout == "orbax":
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(path, TREE)
    else:
        path = {"l1": write_l1, "l3": write_l3}[layout](TREE, path)
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    worker = Path(__file__).with_name("multihost_worker.py")
    runs = [
        subprocess.Popen(
            [sys.executable, str(worker), str(port), str(i), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for i in range(2)
    ]
    results = []
    try:
        for run in runs:
            out, err = run.communicate(timeout=120)
            assert run.returncode == 0, err.decode()[-2000:]
            results.append(json.loads(out.decode().splitlines()[-1]))
    finally:
        for run in runs:
            run.kill()
    shards: dict[str, float] = {}
    for result in results:
        assert result["global"] == [8, 1024] and result["devices"] == 8
        assert result["local"] == VALUE.nbytes // 2
        assert result["read"] == {"params/big": VALUE.nbytes // 2, "params/small": 64, "typed": 8, "raw": 8}
        assert result["keys"] == [[3, 4], [5, 6]]
        assert result["total"] == pytest.approx(float(VALUE.sum(dtype=np.float64)), rel=1e-6) and result["small"] == 16
        assert not shards.keys() & result["shards"].keys()
        shards |= result["shards"]
    assert len(shards) == 8
    for key, value in shards.items():
        row, column = json.loads(key)
        assert value == float(VALUE[row : row + 4, column : column + 256].sum()), key
