"""Are a Linen program and its NNX migration the same? Proved where possible, else run and compared.

Names are looked up on first use, so that importing this package imports neither jax nor flax.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "check_equivalence": ".api",
    "assert_equivalent": ".api",
    "compare_migrated": ".api",
    "check_steps": ".steps",
    "compare_steps": ".steps",
    "prove": ".proof",
    "trace": ".proof",
    "Program": ".proof",
    "Proof": ".proof",
    "EquivalenceReport": ".report",
    "Check": ".report",
    "Verdict": ".report",
    "NotEquivalent": ".report",
    "same_initial_values": ".starts",
}

__all__ = [
    "Check",
    "EquivalenceReport",
    "NotEquivalent",
    "Program",
    "Proof",
    "Verdict",
    "assert_equivalent",
    "check_equivalence",
    "check_steps",
    "compare_migrated",
    "compare_steps",
    "prove",
    "same_initial_values",
    "trace",
]

if TYPE_CHECKING:
    from .api import assert_equivalent, check_equivalence, compare_migrated
    from .proof import Program, Proof, prove, trace
    from .report import Check, EquivalenceReport, NotEquivalent, Verdict
    from .starts import same_initial_values
    from .steps import check_steps, compare_steps


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
