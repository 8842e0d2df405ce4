"""Coded diagnostics: what was not migrated, or migrated under an assumption."""

from __future__ import annotations

import dataclasses
import enum
import os
import traceback


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


def defect(error: Exception) -> str:
    """What is said of an exception that is a defect of this tool: its kind, its origin, and the start of its message."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    message = " ".join(str(error).split())
    short = message if len(message) <= 120 else f"{message[:117]}..."
    return f"this tool failed on it ({type(error).__name__}{place}: {short}); please report it"
