"""`nnx-migrate verify --linen-python`: the Linen side in another interpreter, and what can be wrong with one."""

from __future__ import annotations

import ast
import json
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from nnx_migrate.compat.equivalence import linen_process, other_interpreter
from nnx_migrate.compat.equivalence.command import verify

LINEN = """
import flax.linen as nn, jax, jax.numpy as jnp
class Net(nn.Module):
    width: int = 8
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.relu(nn.Dense(self.width)(x))
        x = nn.BatchNorm(use_running_average=not train)(x)
        return {"y": nn.Dense(2)(x), "x": x}
class Half(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)(x)
class Wrong(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(3)(x))
class Keyless(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, name="first")(x)
class Draws(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        return nn.Dropout(0.5, deterministic=not train)(nn.Dense(3)(x))
class Dies(nn.Module):
    def setup(self):
        import os
        os._exit(3)
    def __call__(self, x):
        return x
def main():
    x = jnp.ones((4, 6))
    Net(width=5).init(jax.random.key(0), x)
    Half().init(jax.random.key(0), x)
    Wrong().init(jax.random.key(0), x)
    Keyless().init(jax.random.key(0), x)
    Draws().init(jax.random.key(0), x)
    Dies().init(jax.random.key(0), x)
"""
NATIVE = """
import jax.numpy as jnp
from flax import nnx
class Net(nnx.Module):
    def __init__(self, width=8, *, in_features, rngs):
        self.Dense_0 = nnx.Linear(in_features, width, rngs=rngs)
        self.BatchNorm_0 = nnx.BatchNorm(width, use_fast_variance=True, rngs=rngs)
        self.Dense_1 = nnx.Linear(width, 2, rngs=rngs)
    def __call__(self, x, train=False):
        x = self.BatchNorm_0(nnx.relu(self.Dense_0(x)), use_running_average=not train)
        return {"y": self.Dense_1(x), "x": x}
class Half(nnx.Module):
    def __init__(self, *, in_features, rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16, rngs=rngs)
    def __call__(self, x):
        return self.Dense_0(x)
class Wrong(nnx.Module):
    def __init__(self, *, in_features, rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, rngs=rngs)
    def __call__(self, x):
        return nnx.silu(self.Dense_0(x))
class Keyless(nnx.Module):
    def __init__(self, *, in_features, rngs):
        self.second = nnx.Linear(in_features, 3, rngs=rngs)
    def __call__(self, x):
        return self.second(x)
class Draws(nnx.Module):
    def __init__(self, *, in_features, rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, rngs=rngs)
        self.Dropout_0 = nnx.Dropout(0.5, rngs=rngs)
    def __call__(self, x, train=False):
        return self.Dropout_0(self.Dense_0(x), deterministic=not train)
class Dies(nnx.Module):
    def __init__(self, *, rngs):
        pass
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("interpreters")
    for folder, code in (("before", LINEN), ("after", NATIVE)):
        (root / folder).mkdir()
        (root / folder / "net.py").write_text(code)
    configured = '[[tool.nnx-migrate.verify]]\nname = "by hand"\nmodule = "net.py:Half"\ninputs = ["f32[2,6]"]\n'
    (root / "after" / "pyproject.toml").write_text(configured)
    arguments = [str(root / "after"), "--against", str(root / "before"), "--linen-python", sys.executable]
    done = CliRunner().invoke(verify, [*arguments, "--output-format", "json"])
    assert done.exit_code == 2, done.output
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def _checks(document: dict[str, Any], name: str) -> dict[str, Any]:
    report = next(r for r in document["results"] if r["name"] == name)
    return {c["name"]: c for c in report["checks"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Net(train=False)", "Net(train=True)", "by hand", "Draws(train=False)"])
def test_equal_sides_are_equal_when_run_and_never_called_proved(document: dict[str, Any], name: str) -> None:
    checks = _checks(document, name)
    assert checks["keys"]["verdict"] == "proved"
    for kind in ("forward", "gradient", *(["collections"] if "Net" in name else [])):
        assert checks[kind]["verdict"] in ("bitwise", "close"), checks[kind]
        assert "another interpreter" in checks[kind]["reason_not_proved"]


@pytest.mark.slow
def test_what_differs_is_found(document: dict[str, Any]) -> None:
    assert _checks(document, "Wrong")["forward"]["verdict"] == "different"
    keys = _checks(document, "Keyless")["keys"]
    assert keys["verdict"] == "different" and "first" in keys["detail"]


@pytest.mark.slow
def test_draws_are_unchecked_and_a_crash_touches_its_case_only(document: dict[str, Any]) -> None:
    assert _checks(document, "Draws(train=True)")["forward"]["verdict"] == "unchecked"
    (dead,) = [u for u in document["unchecked"] if u["name"] == "Dies"]
    assert "the Linen side" in dead["reason"] and "ended with status 3" in dead["reason"]


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_interpreters_that_cannot_be_used_are_named_with_the_reason(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    venv.create(tmp_path / "bare", with_pip=False)
    for path, message in (
        (tmp_path / "none", "does not exist"),
        (tmp_path, "holds no bin/python"),
        (plain, "is not executable"),
        (tmp_path / "bare", "has no module `jax`: install the jax and flax"),
        (_script(tmp_path / "dies", "echo out of luck >&2; exit 3"), "ended with status 3: out of luck"),
    ):
        with pytest.raises(other_interpreter.InterpreterError, match=message):
            other_interpreter.find(path)
    with pytest.raises(other_interpreter.InterpreterError, match="did not import jax and flax within 1 s"):
        other_interpreter.find(_script(tmp_path / "hangs", "exec sleep 60"), timeout=1)


def test_a_wrong_interpreter_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(verify, [str(tmp_path), "--linen-python", str(tmp_path / "none")])
    assert done.exit_code == 2 and "--linen-python" in done.output and "does not exist" in done.output


def test_a_linen_side_that_hangs_or_fails_is_reported(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import removed_package\n")
    case = {"before": str(tmp_path), "file": "net.py", "cls": "Net", "positional": [], "arguments": {}, "method": None}
    here = other_interpreter.Interpreter(Path(sys.executable), "1", "2")
    said = other_interpreter.run_linen(here, case, tmp_path / "failed", 120)
    assert said is not None and "No module named 'removed_package'" in said and "jax 1" in said
    slow = other_interpreter.Interpreter(_script(tmp_path / "slow", "exec sleep 60"), "1", "2")
    said = other_interpreter.run_linen(slow, case, tmp_path / "slow-run", 1)
    assert said is not None and "did not end within 1 s" in said


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    from nnx_migrate.compat.equivalence import across_interpreters

    np.savez(tmp_path / "arrays.npz", a=np.array([{"an": "object"}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        across_interpreters._arrays(tmp_path / "arrays.npz", {})


def test_the_program_for_old_interpreters_stands_alone() -> None:
    text = Path(linen_process.__file__).read_text()
    tree = ast.parse(text, feature_version=(3, 7))
    imported = {a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names}
    imported |= {str(n.module) for n in tree.body if isinstance(n, ast.ImportFrom)}
    assert imported <= {"__future__", "importlib", "inspect", "json", "os", "re", "sys", "traceback", "typing"}
