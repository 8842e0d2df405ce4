"""Another interpreter for the Linen side of `nnx-migrate verify --linen-python PATH`: finding it, running a case in it.

Its process runs `linen_process` and leaves arrays behind; `across_interpreters` compares. jax is not imported here.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: Seconds for asking an interpreter what it has; importing an old jax may take some.
_ASKING = 120.0
_ASK = "import json, jax, flax, numpy; print(json.dumps([jax.__version__, flax.__version__, numpy.__version__]))"


class InterpreterError(Exception):
    """An interpreter that cannot run the Linen side; the message names it, the cause and the remedy."""


@dataclasses.dataclass(frozen=True)
class Interpreter:
    """An interpreter with jax and flax, and their versions."""

    path: Path
    jax: str
    flax: str

    def __str__(self) -> str:
        return f"{self.path} (jax {self.jax}, flax {self.flax})"


def find(path: Path, timeout: float = _ASKING) -> Interpreter:
    """The interpreter at `path`, or in the virtual environment there. Raises InterpreterError."""
    given = path
    if path.is_dir():
        inside = [path / "bin" / "python", path / "Scripts" / "python.exe"]
        path = next((p for p in inside if p.is_file()), path)
    if not path.is_file():
        what = "holds no bin/python" if given.is_dir() else "does not exist"
        raise InterpreterError(f"{given} {what}: give a Python interpreter, or the folder of a virtual environment")
    if not os.access(path, os.X_OK):
        raise InterpreterError(f"{path} is not executable: give a Python interpreter")
    # Not resolved: a virtual environment is known by the place of its link.
    command = [os.path.abspath(path), "-c", _ASK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment(), check=False)
    except subprocess.TimeoutExpired:
        raise InterpreterError(f"{path} did not import jax and flax within {timeout:g} s") from None
    except OSError as error:
        raise InterpreterError(f"{path} cannot be run: {error.strerror or error}") from error
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
    if done.returncode and "No module named" in last:
        name = last.rpartition("named")[2].strip(" '\"")
        raise InterpreterError(f"{path} has no module `{name}`: install the jax and flax of the Linen program there")
    try:
        jax, flax, _ = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise InterpreterError(f"{path} ended with status {done.returncode}: {last[:300]}") from None
    return Interpreter(Path(os.path.abspath(path)), jax, flax)


def environment() -> dict[str, str]:
    """This process's environment without what would lead another interpreter to the packages of this one."""
    ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "XLA_FLAGS")
    platform = os.environ.get("JAX_PLATFORMS", "cpu")
    kept = {k: v for k, v in os.environ.items() if k not in ours}
    return {**kept, "JAX_PLATFORMS": platform, "JAX_PLATFORM_NAME": platform.split(",")[0]}


def run_linen(interpreter: Interpreter, case: Mapping[str, Any], folder: Path, timeout: float) -> str | None:
    """Run the Linen side of a case and leave its arrays in `folder`; what went wrong, None where nothing did."""
    folder.mkdir(parents=True, exist_ok=True)
    program, given = folder / "linen_process.py", folder / "case.json"
    # A copy: the folder of the original has modules whose names would hide those of the standard library.
    program.write_text(Path(__file__).with_name("linen_process.py").read_text())
    given.write_text(json.dumps(dict(case)))
    command = [str(interpreter.path), str(program), str(given), str(folder)]
    where = f"the Linen side in {interpreter}"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, env=environment(), cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{where} did not end within {timeout:g} s; see --timeout"
    result = folder / "result.json"
    if not result.exists():
        tail = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        return f"{where} ended with status {done.returncode}: {tail[0][:300]}"
    error = json.loads(result.read_text()).get("error")
    return f"{where}: {error}" if error else None
