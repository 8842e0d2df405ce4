"""Programs as modules that run: what tests compare both sides by."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from pathlib import Path

from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile


def module(name: str, text: str) -> types.ModuleType:
    """A program as the module of this name, which others can import."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(compile(text, f"{name}.py", "exec"), made.__dict__)
    return made


def migrated(texts: Mapping[str, str]) -> RunResult:
    """Several files that import each other, by their names."""
    return migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])


def project_sides(texts: Mapping[str, str], result: RunResult) -> tuple[types.ModuleType, types.ModuleType]:
    """The last of these files before and after, where all classes become native; those that it imports stand before it."""
    stay = {c.qualname: c.reason for c in result.classes if str(c.outcome) != "native"}
    assert not stay, stay
    for name, text in texts.items():
        before = module(name, text)
    for path, content in result.created.items():
        module(path.stem, content)
    after = {file.path.stem: file.after for file in result.files}
    for name, text in texts.items():
        native = module(name, after[name] or text)
    return before, native


def both_sides(stem: str, program: str) -> tuple[types.ModuleType, types.ModuleType]:
    """A program of which all classes become native, before and after, as `<stem>_before` and `<stem>_after`."""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", program)])
    stay = {c.qualname: c.reason for c in result.classes if str(c.outcome) != "native"}
    assert not stay, stay
    for path, content in result.created.items():
        module(path.stem, content)
    assert result.files[0].after is not None
    return module(f"{stem}_before", program), module(f"{stem}_after", result.files[0].after)
