"""Reports for machines: JSON (schema version 1), SARIF 2.1.0, GitHub workflow commands."""

from __future__ import annotations

import json
from typing import Any

from ..diagnostics import Severity
from ..rule import all_rules
from .model import FileReport, Finding, RunReport

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.INFO: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_COMMANDS = {Severity.INFO: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}


def as_dict(report: RunReport) -> dict[str, Any]:
    """The JSON report, version 1; docs/report.schema.json describes it."""
    return {
        "version": 1,
        "tool": report.tool,
        "files": [
            {
                "path": str(file.path),
                "status": file.status.value,
                "diagnostics": [_diagnostic(finding) for finding in file.findings],
            }
            for file in report.files
        ],
        "classes": [
            {
                "name": plan.qualname,
                "path": plan.path,
                "line": plan.line,
                "outcome": plan.outcome.value,
                "reason": plan.reason,
                "fields": list(plan.fields),
                "added_arguments": [{"name": arg.name, "from": arg.origin} for arg in plan.added_arguments],
            }
            for plan in report.classes
        ],
        "summary": report.summary,
    }


def _diagnostic(finding: Finding) -> dict[str, Any]:
    out: dict[str, Any] = {
        "code": finding.code,
        "severity": finding.severity.value,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "help": finding.help,
    }
    if finding.cell is not None:
        out["cell"] = finding.cell
    return out


def as_json(report: RunReport) -> str:
    return json.dumps(as_dict(report), indent=2, ensure_ascii=False) + "\n"


def as_sarif(report: RunReport) -> str:
    """One SARIF run with a result for every diagnostic."""
    rules = all_rules()
    used = sorted({finding.code for file in report.files for finding in file.findings})
    document = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "nnx-migrate",
                        "version": report.version,
                        "rules": [
                            {
                                "id": code,
                                **({"name": rules[code].name} if code in rules else {}),
                                "shortDescription": {"text": rules[code].summary if code in rules else code},
                            }
                            for code in used
                        ],
                    }
                },
                "invocations": [{"executionSuccessful": not report.errors}],
                "columnKind": "unicodeCodePoints",
                "results": [_result(file, finding, used) for file in report.files for finding in file.findings],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _result(file: FileReport, finding: Finding, used: list[str]) -> dict[str, Any]:
    from urllib.parse import quote

    where = f"cell {finding.cell}, line {finding.line}: " if finding.cell is not None else ""
    text = where + finding.message + (f" {finding.help}" if finding.help else "")
    region = {"startLine": finding.line, "startColumn": finding.column} if finding.cell is None else {"startLine": 1}
    return {
        "ruleId": finding.code,
        "ruleIndex": used.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(file.path.as_posix())},
                    "region": region,
                }
            }
        ],
    }


def as_github(report: RunReport) -> str:
    """Workflow commands that GitHub shows at the lines of a pull request."""
    lines = []
    for file in report.files:
        for finding in file.findings:
            where = f"file={_property(str(file.path))}"
            if finding.cell is None:
                where += f",line={finding.line},col={finding.column}"
            cell = f"cell {finding.cell}, line {finding.line}: " if finding.cell is not None else ""
            text = cell + finding.message + (f"\n{finding.help}" if finding.help else "")
            title = _property(f"nnx-migrate {finding.code}")
            lines.append(f"::{_COMMANDS[finding.severity]} {where},title={title}::{_data(text)}")
    return "".join(f"{line}\n" for line in lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
