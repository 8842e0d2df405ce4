"""The report as Markdown, for a pull request or an issue."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Severity
from .model import RunReport
from .text import place

_TITLES = {
    Severity.ERROR: "Errors",
    Severity.WARNING: "Left for a person",
    Severity.INFO: "Migrated under an assumption",
}


def as_markdown(report: RunReport) -> str:
    summary = report.summary
    out = ["# Linen to NNX migration", "", f"By {report.tool}.", ""]
    out += _table(
        ("", *summary["files"].keys()),  # type: ignore[attr-defined]
        [("files", *summary["files"].values())],  # type: ignore[attr-defined]
    )
    if report.classes:
        out += _table(
            ("", *summary["classes"].keys()),  # type: ignore[attr-defined]
            [("modules", *summary["classes"].values())],  # type: ignore[attr-defined]
        )
        out += ["## Modules", ""]
        rows: list[Sequence[object]] = []
        for plan in sorted(report.classes, key=lambda p: (p.path, p.line)):
            added = ", ".join(f"`{arg.name} = {arg.origin}`" for arg in plan.added_arguments)
            where = f"{plan.path}:{plan.line}"
            rows.append((f"`{plan.qualname}`", where, plan.outcome.value, added, _cell(plan.reason)))
        out += _table(("module", "where", "outcome", "new arguments", "reason"), rows)
    for severity, title in _TITLES.items():
        found = [
            (f"`{place(file, finding)}`", finding.code, _cell(finding.message), _cell(finding.help))
            for file in report.files
            for finding in file.findings
            if finding.severity is severity
        ]
        if found:
            out += [f"## {title}", "", *_table(("where", "code", "what", "what to do"), found)]
    changed = [(f"`{file.path}`",) for file in report.changed]
    if changed:
        out += ["## Migrated files", "", *_table(("file",), changed)]
    return "\n".join(out).rstrip("\n") + "\n"


def _table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [_row(head), _row(["---" for _ in head])]
    return [*lines, *[_row(row) for row in rows], ""]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", "<br>")
