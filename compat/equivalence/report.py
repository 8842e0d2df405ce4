"""What a comparison found: objects, a table, JSON."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Sequence
from typing import Any


class Verdict(enum.StrEnum):
    """How sure. The order is from best to worst."""

    PROVED = "proved"
    BITWISE = "bitwise"
    CLOSE = "close"
    UNCHECKED = "unchecked"
    DIFFERENT = "different"


_ORDER = list(Verdict)


@dataclasses.dataclass
class Check:
    """One thing compared: `keys`, `shapes`, `specs`, `forward`, `gradient`, `step`, …"""

    name: str
    verdict: Verdict
    detail: str = ""
    reason_not_proved: str = ""
    divergences: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    differences: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "verdict": self.verdict.value}


@dataclasses.dataclass
class EquivalenceReport:
    """The outcome of comparing one Linen module with its NNX counterpart.

    `verdict` is that of the worst check. `equal` is true where nothing is different and something was checked.
    `variables` has a
    row for each array: Linen key, NNX path, shape, dtype and spec of both sides.
    """

    name: str
    checks: list[Check] = dataclasses.field(default_factory=list)
    variables: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    mesh: dict[str, int] = dataclasses.field(default_factory=dict)
    losses: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    costs: dict[str, Any] = dataclasses.field(default_factory=dict)  # program → side → FLOPs, memory, collectives

    @property
    def verdict(self) -> Verdict:
        if not self.checks:
            return Verdict.UNCHECKED
        return max((c.verdict for c in self.checks), key=_ORDER.index)

    @property
    def equal(self) -> bool:
        """Nothing different, nothing unchecked."""
        return bool(self.checks) and self.verdict not in (Verdict.DIFFERENT, Verdict.UNCHECKED)

    @property
    def proved(self) -> bool:
        return self.verdict is Verdict.PROVED

    def __bool__(self) -> bool:
        return self.equal

    def __getitem__(self, name: str) -> Check:
        """The check called `name`. Raises KeyError with the names there are."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"no check {name!r}; there are {', '.join(c.name for c in self.checks)}")

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "verdict": self.verdict.value,
            "equal": self.equal,
            "seconds": round(self.seconds, 3),
            "mesh": self.mesh,
            "checks": [c.to_dict() for c in self.checks],
            "variables": self.variables,
            "losses": self.losses,
            "costs": self.costs,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, default=str)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.verdict.value} ({self.seconds:.1f} s)"]
        lines.append(table(["check", "verdict", "detail"], [[c.name, c.verdict.value, c.detail] for c in self.checks]))
        for check in self.checks:
            if check.verdict is Verdict.PROVED:
                continue
            if check.reason_not_proved:
                lines.append(f"{check.name}: not proved: {check.reason_not_proved}")
            for one in check.divergences[:2]:
                lines.append(
                    f"  {one['output']}: {one['reason']}\n    linen: {one['left']['what']}  [{one['left']['source']}]\n"
                    f"    nnx:   {one['right']['what']}  [{one['right']['source']}]"
                )
        if self.costs:
            from .cost_table import rows

            lines.append(table(["compiled", "Linen", "NNX"], rows(self.costs)))
        return "\n".join(lines)


class NotEquivalent(AssertionError):
    """The two sides are not equal; `report` says how."""

    def __init__(self, report: EquivalenceReport) -> None:
        super().__init__(str(report))
        self.report = report


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Plain text in columns."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    lines = ["  ".join(str(c).ljust(w) for c, w in zip(row, widths)).rstrip() for row in [header, *rows]]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])
