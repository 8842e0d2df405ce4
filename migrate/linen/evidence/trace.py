"""`--trace MODULE:CALLABLE`: shapes from running the user's callable abstractly, in a subprocess.

The only place where user code runs, and only because the user asked for it. The child (`trace_child.py`) runs under
`jax.eval_shape` and writes what it saw as JSON; nothing is imported here.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..project.index import Project
from ..values.values import Shape

TIMEOUT = 600.0  # seconds; models that take longer to trace than this do not train either


class TraceError(Exception):
    """The callable could not be run. The message names it, the cause, and what to do."""


@dataclasses.dataclass(frozen=True)
class TracedClass:
    """Where the running program found a class."""

    module: str
    qualname: str
    file: str


@dataclasses.dataclass(frozen=True)
class TracedCall:
    """The first call of one method of one module instance."""

    cls: TracedClass
    parent: TracedClass | None
    name: str | None
    path: tuple[str, ...]
    method: str
    arguments: Mapping[str, tuple[int, ...]]
    fields: Mapping[str, object]

    def shapes(self) -> dict[str, Shape]:
        return {name: Shape.of(*sizes) for name, sizes in self.arguments.items()}


@dataclasses.dataclass(frozen=True)
class Trace:
    """All recorded calls, looked up by the classes of a project."""

    calls: tuple[TracedCall, ...]

    def by_class(self, project: Project) -> dict[str, list[TracedCall]]:
        """Project class → its calls. A class is known by its file and qualified name, or by module and name."""
        table: dict[str, list[TracedCall]] = {}
        names = _class_names(project)
        for call in self.calls:
            qualname = _project_name(call.cls, names)
            if qualname is not None:
                table.setdefault(qualname, []).append(call)
        return table

    def ranks(self, project: Project) -> dict[str, dict[str, int]]:
        """Class → argument → number of dimensions, where all calls agree."""
        ranks: dict[str, dict[str, int]] = {}
        for qualname, calls in self.by_class(project).items():
            seen: dict[str, set[int]] = {}
            for call in calls:
                for name, sizes in call.arguments.items():
                    seen.setdefault(name, set()).add(len(sizes))
            agreed = {name: next(iter(found)) for name, found in seen.items() if len(found) == 1}
            if agreed:
                ranks[qualname] = agreed
        return ranks


def _class_names(project: Project) -> dict[tuple[str, str], str]:
    table: dict[tuple[str, str], str] = {}
    for qualname, info in project.linen_classes.items():
        module = info.source.module
        local = qualname[len(module) + 1 :] if module else qualname
        table[os.path.abspath(info.source.path), local] = qualname
        table[module, local] = qualname
    return table


def _project_name(cls: TracedClass, names: Mapping[tuple[str, str], str]) -> str | None:
    local = cls.qualname.replace("<locals>.", "")
    return names.get((cls.file, local)) or names.get((cls.module, local))


def run_trace(
    targets: Sequence[str],
    *,
    roots: Sequence[Path] = (),
    python: str | None = None,
    cwd: Path | None = None,
    timeout: float = TIMEOUT,
) -> Trace:
    """Run every MODULE:CALLABLE in its own process. `roots` go on its module path. Raises TraceError."""
    calls: list[TracedCall] = []
    for target in targets:
        module, _, name = target.partition(":")
        if not module or not name:
            raise TraceError(f"--trace {target}: expected MODULE:CALLABLE, such as `train:make_model`.")
        calls += _run_one(target, roots, python or sys.executable, cwd, timeout)
    return Trace(tuple(calls))


def trace_project(targets: Sequence[str], project: Project, *, python: str | None = None) -> Trace:
    """As `run_trace`, with the folders that the project's modules are imported from on the module path."""
    return run_trace(targets, roots=import_roots(project), python=python)


def import_roots(project: Project) -> list[Path]:
    """The folders from which the project's files can be imported under their module names."""
    roots: list[Path] = []
    for source in project.files.values():
        path = Path(os.path.abspath(source.path))
        own = source.module.removeprefix(source.prefix).lstrip(".") if source.prefix else source.module
        depth = own.count(".") + (1 if source.is_package else 0)
        if depth < len(path.parents):
            root = path.parents[depth]
            if root not in roots:
                roots.append(root)
    return roots


def _run_one(target: str, roots: Sequence[Path], python: str, cwd: Path | None, timeout: float) -> list[TracedCall]:
    child = Path(__file__).with_name("trace_child.py")
    environment = dict(os.environ)
    own = [str(root) for root in roots]
    if environment.get("PYTHONPATH"):
        own.append(environment["PYTHONPATH"])
    if own:
        environment["PYTHONPATH"] = os.pathsep.join(own)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "trace.json")
        try:
            done = subprocess.run(
                [python, str(child), target, str(output)],
                env=environment,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
            )
        except subprocess.TimeoutExpired as error:
            raise TraceError(
                f"--trace {target}: still running after {timeout:.0f} seconds. Give a callable that only builds the "
                "model and initialises it."
            ) from error
        except OSError as error:
            raise TraceError(f"--trace {target}: {python} cannot be started: {error}") from error
        if not output.exists():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise TraceError(f"--trace {target}: the process ended with status {done.returncode}: {last}")
        report = json.loads(output.read_text(encoding="utf-8"))
    if "error" in report:
        raise TraceError(
            f"--trace {target}: {report['error']}\n{_frame(report['traceback'])}"
            "The callable must need no arguments, and initialise its modules or return (module, *inputs)."
        )
    if not report["calls"]:
        raise TraceError(
            f"--trace {target}: it ran, but no Linen module was called. Let it return (module, *inputs), or call "
            "init or apply itself."
        )
    return [_call(item) for item in report["calls"]]


def _frame(traceback: str) -> str:
    """The last place of the user's own code in a traceback."""
    lines = [line for line in traceback.splitlines() if line.strip().startswith("File ")]
    own = [line for line in lines if "trace_child.py" not in line and "site-packages" not in line and "<frozen" not in line]
    return f"{own[-1].strip()}\n" if own else ""


def _call(item: Mapping[str, Any]) -> TracedCall:
    return TracedCall(
        TracedClass(**item["class"]),
        TracedClass(**item["parent"]) if item["parent"] else None,
        item["name"],
        tuple(item["path"]),
        item["method"],
        {name: tuple(sizes) for name, sizes in item["arguments"].items()},
        item["fields"],
    )
