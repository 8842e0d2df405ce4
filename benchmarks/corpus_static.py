"""Migrate whole packages statically: nothing crashes, everything parses, a second run changes nothing."""

from __future__ import annotations

import ast
import collections
import dataclasses
import json
import shutil
import time
import traceback
from pathlib import Path
from typing import Any

from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.files.modules import module_names
from nnx_migrate.migrate.files.select import read_along, select
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile


@dataclasses.dataclass
class StaticResult:
    """What a package's migration did, by count; `failures` has one line per broken promise."""

    package: str
    files: int = 0
    changed: int = 0
    classes: int = 0
    native: int = 0
    bridged: int = 0
    manual: int = 0
    crashes: int = 0
    unparsable: int = 0
    second_run_changes: int = 0
    seconds: float = 0.0
    reasons: dict[str, int] = dataclasses.field(default_factory=dict)
    diagnostics: dict[str, int] = dataclasses.field(default_factory=dict)
    failures: list[str] = dataclasses.field(default_factory=list)
    not_native: list[str] = dataclasses.field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def collect(root: Path) -> tuple[list[SourceFile], set[str]]:
    """The package's parsed sources, those that the command line reads and as it names them, and the modules among them
    that do not parse today."""
    sources, unreadable = [], set()
    contents = {path: path.read_bytes() for path in sorted(root.rglob("*.py"))}
    kept = select(contents)
    for path, name in module_names(sorted(kept | read_along(contents, kept))).items():
        try:
            source = SourceFile.parse(
                path,
                name.name,
                contents[path].decode(),
                is_package=name.is_package,
                resolve=name.resolve,
                prefix=name.prefix,
            )
        except (SyntaxError, ValueError):
            unreadable.add(name.name)
            continue
        sources.append(source)
    return sources, unreadable


def migrate_package(root: Path, output: Path, *, twice: bool = True) -> StaticResult:
    """Migrate every file under `root` into a copy at `output`; the numbers of the run."""
    result = StaticResult(root.name)
    sources, unreadable = collect(root)
    result.files = len(sources)
    result.diagnostics["unparsable input"] = len(unreadable)
    start = time.perf_counter()
    run = _guarded(sources, unreadable, result)
    result.seconds = round(time.perf_counter() - start, 2)
    if run is None:
        return result
    _count(run, result, root)
    _write(run, root, output)
    if twice:
        _second_run(output, result)
    return result


def _guarded(sources: list[SourceFile], unread: set[str], result: StaticResult) -> RunResult | None:
    """The whole package at once; where that crashes, find the files that crash alone, and go on without them."""
    try:
        return migrate_project(sources, Options(), unread=unread)
    except Exception as error:
        result.crashes += 1
        result.failures.append("crash: " + _where(error))
    alive = []
    for source in sources:
        try:
            migrate_project([source], Options())
        except Exception as error:
            result.crashes += 1
            result.failures.append(f"crash: {source.path.name}: {_where(error)}")
            continue
        alive.append(source)
    if len(alive) == len(sources):
        return None
    try:
        return migrate_project(alive, Options(), unread=unread)
    except Exception as error:
        result.failures.append("crash without the files above: " + _where(error))
        return None


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    place = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{type(error).__name__}: {str(error)[:200]} at {place}"


def _count(run: RunResult, result: StaticResult, root: Path) -> None:
    reasons: collections.Counter[str] = collections.Counter()
    for plan in run.classes:
        result.classes += 1
        setattr(result, str(plan.outcome), getattr(result, str(plan.outcome)) + 1)
        if plan.outcome != "native":
            reasons[f"{plan.code} {plan.reason}"] += 1
            place = Path(plan.path).relative_to(root) if Path(plan.path).is_relative_to(root) else plan.path
            result.not_native.append(f"{place}:{plan.line} {plan.qualname} {plan.outcome}: {plan.code} {plan.reason}")
    result.reasons = dict(reasons.most_common())
    codes: collections.Counter[str] = collections.Counter()
    for file in run.files:
        codes.update(found.code for found in file.diagnostics)
        if file.after is None:
            result.unparsable += 1
            detail = next((d.message for d in file.diagnostics if d.code == "NNX001"), "")
            result.failures.append(f"dropped: {file.path.relative_to(root)}: {detail[:300]}")
        elif file.after != file.before:
            result.changed += 1
            try:
                ast.parse(file.after)
            except SyntaxError as error:
                result.unparsable += 1
                result.failures.append(f"unparsable: {file.path.relative_to(root)}: {error}")
    result.diagnostics.update(codes.most_common())


def _write(run: RunResult, root: Path, output: Path) -> None:
    if output.exists():
        shutil.rmtree(output)
    shutil.copytree(root, output, symlinks=True, ignore_dangling_symlinks=True)
    for file in run.files:
        if file.after is not None and file.after != file.before:
            (output / file.path.relative_to(root)).write_text(file.after)
    for path, text in run.created.items():
        (output / path.relative_to(root)).write_text(text)
    classes = [
        {
            "name": plan.qualname.rpartition(".")[2],
            "module": plan.qualname.rpartition(".")[0],
            "path": Path(plan.path).relative_to(root).as_posix() if Path(plan.path).is_relative_to(root) else plan.path,
            "line": plan.line,
            "outcome": str(plan.outcome),
            "reason": f"{plan.code} {plan.reason}".strip(),
            "added_arguments": [{"name": added.name, "from": added.origin} for added in plan.added_arguments],
        }
        for plan in run.classes
    ]
    (output / "nnx_migrate_classes.json").write_text(json.dumps(classes, indent=1))


def _second_run(output: Path, result: StaticResult) -> None:
    sources, unread = collect(output)
    try:
        run = migrate_project(sources, Options(), unread=unread)
    except Exception as error:
        result.failures.append("crash in the second run: " + _where(error))
        result.crashes += 1
        return
    for file in run.files:
        if file.after is not None and file.after != file.before:
            result.second_run_changes += 1
            result.failures.append(f"second run changes {file.path.relative_to(output)}: {_first_change(file)}")


def _first_change(file: Any) -> str:
    for line, (old, new) in enumerate(zip(file.before.split("\n"), file.after.split("\n")), 1):
        if old != new:
            return f"line {line}: {old.strip()[:90]!r} -> {new.strip()[:90]!r}"
    return "length"
