"""Linen module classes → nnx.Module classes."""

from __future__ import annotations

from pathlib import Path

from ..context import FileContext, Options
from ..linen.index import Project
from ..plan import Plan
from .parity_files import parity_files


def decide(project: Project, plan: Plan, options: Options) -> None:
    """Fill `plan.classes`: native, bridged or manual for every Linen class, with its added arguments."""


def write(project: Project, plan: Plan, contexts: dict[str, FileContext]) -> None:
    """Add the edits of every native class to its file's context."""


def created_files(project: Project, plan: Plan, contexts: dict[str, FileContext]) -> dict[Path, str]:
    """Generated files by path: `linen_parity.py` beside the package that needs it."""
    return parity_files(contexts)
