"""Everything that compat raises on purpose. Each error names the thing, the cause and the remedy."""

from __future__ import annotations

from collections.abc import Sequence


class CompatError(Exception):
    """Base of all errors of the compat layer."""


class CheckpointError(CompatError):
    """A checkpoint that cannot be used; `path` names the file or directory."""

    def __init__(self, path: object, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = str(path)


class UnknownLayoutError(CheckpointError):
    """Nothing at the path looks like a checkpoint that we know."""


class CorruptCheckpointError(CheckpointError):
    """The layout is known, the contents contradict it: truncated, damaged or missing files."""


class IncompleteCheckpointError(CheckpointError):
    """A checkpoint that is still being written, or whose writer died."""


class UnsafeCheckpointError(CheckpointError):
    """Pickles, keys that leave the directory, links out of the tree: refused, never loaded."""


class MissingStepError(CheckpointError):
    """The step or the item asked for is not there."""


class MismatchError(CompatError):
    """Checkpoint and target do not fit. `problems` has one line for each key, all of them.

    Attributes:
        missing: target keys without a source.
        extra: source keys without a target.
        problems: every finding as one readable line, `missing` and `extra` included.
    """

    def __init__(
        self, title: str, problems: Sequence[str], *, missing: Sequence[str] = (), extra: Sequence[str] = ()
    ) -> None:
        self.problems = list(problems)
        self.missing = list(missing)
        self.extra = list(extra)
        super().__init__(title + "".join(f"\n  - {line}" for line in self.problems))


class SpecError(CompatError):
    """A sharding specification that does not fit the mesh or the array."""


class RestoreWarning(UserWarning):
    """Something was left out that had been asked for (`strict=False`) or that has no place in NNX."""
