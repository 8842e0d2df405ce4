"""What a run found and did, as plain data; every report format is a view of this."""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter
from pathlib import Path

from ..diagnostics import Severity
from ..plan import ClassPlan, Outcome

TOOL = "nnx-migrate"


class Status(enum.StrEnum):
    """What became of a file."""

    MIGRATED = "migrated"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    SKIPPED = "skipped"  # by a skip-file comment


@dataclasses.dataclass(frozen=True)
class Finding:
    """A diagnostic where the user sees it: in a notebook, `line` counts within `cell` (from 1)."""

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    help: str = ""
    cell: int | None = None


@dataclasses.dataclass
class FileReport:
    """One file. `before` is None for a generated file, `after` where the file stays as it is."""

    path: Path
    status: Status
    findings: list[Finding] = dataclasses.field(default_factory=list)
    before: bytes | None = None
    after: bytes | None = None


@dataclasses.dataclass
class RunReport:
    """One run. `paths` in the files and classes are as the user would write them."""

    version: str
    files: list[FileReport] = dataclasses.field(default_factory=list)
    classes: list[ClassPlan] = dataclasses.field(default_factory=list)
    written: bool = False  # are the changes on disk?
    seconds: float = 0.0

    @property
    def tool(self) -> str:
        return f"{TOOL} {self.version}"

    @property
    def changed(self) -> list[FileReport]:
        return [file for file in self.files if file.after is not None]

    def count(self, severity: Severity) -> int:
        return sum(1 for file in self.files for finding in file.findings if finding.severity is severity)

    @property
    def summary(self) -> dict[str, object]:
        """The counts of the run, as the JSON report has them."""
        statuses = Counter(file.status.value for file in self.files)
        outcomes = Counter(plan.outcome.value for plan in self.classes)
        codes = Counter(finding.code for file in self.files for finding in file.findings)
        return {
            "files": {status.value: statuses.get(status.value, 0) for status in Status},
            "created": sum(1 for file in self.changed if file.before is None),
            "classes": {outcome.value: outcomes.get(outcome.value, 0) for outcome in Outcome},
            "diagnostics": {severity.value: self.count(severity) for severity in Severity},
            "codes": dict(sorted(codes.items())),
            "written": self.written,
            "seconds": round(self.seconds, 3),
        }

    @property
    def errors(self) -> bool:
        return any(finding.severity is Severity.ERROR for file in self.files for finding in file.findings)

    @property
    def left_over(self) -> bool:
        """Is something left for a person?"""
        return self.count(Severity.WARNING) > 0 or any(plan.outcome is Outcome.MANUAL for plan in self.classes)
