"""Coded diagnostics: what was not migrated, or migrated under an assumption."""

from __future__ import annotations

import dataclasses
import enum


class Severity(enum.StrEnum):
    """How much a diagnostic asks of the reader."""

    INFO = "info"  # migrated under an assumption that is worth knowing
    WARNING = "warning"  # a person must act; sets exit status 1
    ERROR = "error"  # the tool could not do its work on the file; sets exit status 2


@dataclasses.dataclass(frozen=True, order=True)
class Diagnostic:
    """One finding in one file; `line` counts from 1, `column` from 1 (characters)."""

    path: str
    line: int
    column: int
    code: str
    severity: Severity
    message: str
    help: str = ""
