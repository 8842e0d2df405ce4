"""Linen state in, NNX state out: checkpoints of any era, in-memory variables, shardings, and the proof of equality.

Names are looked up on first use, so that importing this package imports neither jax nor flax.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "from_linen": ".state",
    "to_linen": ".state",
    "restore": ".restoring",
    "RestoreReport": ".restoring",
    "partition_specs": ".specs",
    "specs_from_linen": ".specs",
    "convert_checkpoint": ".convert",
    "check_equivalence": ".equivalence",
    "assert_equivalent": ".equivalence",
    "compare_migrated": ".equivalence",
    "check_steps": ".equivalence",
    "same_initial_values": ".equivalence",
    "NotEquivalent": ".equivalence",
    "EquivalenceReport": ".equivalence",
    "open_checkpoint": ".formats",
    "CompatError": ".errors",
    "CheckpointError": ".errors",
    "MismatchError": ".errors",
    "RestoreWarning": ".errors",
}

__all__ = [
    "CheckpointError",
    "CompatError",
    "EquivalenceReport",
    "MismatchError",
    "NotEquivalent",
    "RestoreReport",
    "RestoreWarning",
    "assert_equivalent",
    "check_equivalence",
    "check_steps",
    "compare_migrated",
    "convert_checkpoint",
    "from_linen",
    "open_checkpoint",
    "partition_specs",
    "restore",
    "same_initial_values",
    "specs_from_linen",
    "to_linen",
]

if TYPE_CHECKING:
    from .equivalence import (
        EquivalenceReport,
        NotEquivalent,
        assert_equivalent,
        check_equivalence,
        check_steps,
        compare_migrated,
        same_initial_values,
    )
    from .errors import CheckpointError, CompatError, MismatchError, RestoreWarning
    from .formats import open_checkpoint
    from .restoring import RestoreReport, restore
    from .specs import partition_specs, specs_from_linen
    from .state import from_linen, to_linen


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
