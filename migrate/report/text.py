"""The report on a terminal: findings by file, the classes, one closing line."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Severity
from ..plan import ClassPlan, Outcome
from .model import FileReport, Finding, RunReport, Status

_COLORS = {
    "info": "36",
    "warning": "33", "error": "31", "native": "32", "bridged": "33", "manual": "31", "bold": "1", "dim": "2",
}  # fmt: skip


def as_text(report: RunReport, *, color: bool = False, check: bool = False) -> str:
    """`check`: nothing was or will be written, so say "would be"."""
    paint = _Paint(color)
    out: list[str] = []
    for file in report.files:
        out += _file(file, paint)
    out += _classes(report.classes, paint)
    out.append(_closing(report, check, paint))
    return "\n".join(out) + "\n"


class _Paint:
    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, style: str) -> str:
        return f"\033[{_COLORS[style]}m{text}\033[0m" if self.on else text


def place(file: FileReport, finding: Finding) -> str:
    """`file.py:3:5`, `notebook.ipynb:cell 2:3:5`; the path alone where the file as a whole is meant."""
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    return f"{file.path}:{cell}{finding.line}:{finding.column}"


def _file(file: FileReport, paint: _Paint) -> Iterator[str]:
    for finding in file.findings:
        severity = paint(f"{finding.severity.value} {finding.code}", finding.severity.value)
        yield f"{paint(place(file, finding), 'bold')}: {severity} {finding.message}"
        if finding.help and finding.severity is not Severity.INFO:
            yield f"    {paint(finding.help, 'dim')}"


def _classes(classes: list[ClassPlan], paint: _Paint) -> Iterator[str]:
    if not classes:
        return
    yield paint("Linen modules", "bold")
    width = max(len(plan.qualname) for plan in classes)
    for plan in sorted(classes, key=lambda plan: (plan.path, plan.line)):
        added = ", ".join(f"{arg.name} = {arg.origin}" for arg in plan.added_arguments)
        notes = [f"new arguments: {added}"] if added else []
        if plan.reason and plan.outcome is not Outcome.NATIVE:
            notes.append(f"{plan.code}: {plan.reason}" if plan.code else plan.reason)
        outcome = paint(f"{plan.outcome.value:8}", plan.outcome.value)
        yield f"  {plan.qualname:{width}}  {outcome} {'; '.join(notes)}".rstrip()


def _closing(report: RunReport, check: bool, paint: _Paint) -> str:
    counts = {status: sum(1 for file in report.files if file.status is status) for status in Status}
    verb = "would be migrated" if check or not report.written else "migrated"
    parts = [f"{_plural(counts[Status.MIGRATED], 'file')} {verb}"]
    if counts[Status.UNCHANGED]:
        parts.append(f"{counts[Status.UNCHANGED]} unchanged")
    if counts[Status.SKIPPED]:
        parts.append(f"{counts[Status.SKIPPED]} skipped")
    if counts[Status.FAILED]:
        parts.append(paint(f"{counts[Status.FAILED]} failed", "error"))
    if report.classes:
        outcomes = {o: sum(1 for plan in report.classes if plan.outcome is o) for o in Outcome}
        listed = ", ".join(f"{count} {outcome.value}" for outcome, count in outcomes.items() if count)
        parts.append(f"{_plural(len(report.classes), 'module')}: {listed}")
    warnings = report.count(Severity.WARNING)
    if warnings:
        parts.append(paint(f"{_plural(warnings, 'place')} left for you (search for TODO(nnx-migrate))", "warning"))
    return "; ".join(parts) + f" ({report.seconds:.1f} s)"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
