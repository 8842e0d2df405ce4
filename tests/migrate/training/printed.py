"""What programs print, each in a folder of its own, in one process apart: see `run_files.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent


def printed(folders: Iterable[str]) -> dict[str, str]:
    """Folder → the output of the `main.py` in it."""
    done = subprocess.run(
        [sys.executable, str(HERE / "run_files.py"), *folders],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    output: dict[str, str] = json.loads(done.stdout.splitlines()[-1].removeprefix("RESULT"))
    return output
