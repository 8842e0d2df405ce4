"""Model construction, init, apply, TrainState and loops → nnx.Optimizer, nnx.jit or the functional form."""

from __future__ import annotations

from ..context import FileContext
from ..linen.index import Project
from ..plan import Plan


def write(project: Project, plan: Plan, contexts: dict[str, FileContext]) -> None:
    """Add the edits of training code to every file's context."""
