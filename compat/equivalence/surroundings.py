"""What importing somebody's module does to jax and flax, which both sides share in one process.

A setting that only one side makes at import (`jax_enable_x64`, a precision), or a function of flax it replaces, would be
in force on both, and a proof would be one of programs that nobody runs.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Settings that change what a program computes.
_SETTINGS = (
    "jax_enable_x64", "jax_default_matmul_precision", "jax_default_dtype_bits", "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion", "jax_default_prng_impl", "jax_threefry_partitionable", "jax_enable_custom_prng",
    "jax_random_seed_offset", "jax_softmax_custom_jvp", "jax_use_direct_linearize",
)  # fmt: skip
#: Modules whose attributes are not to be replaced.
_WATCHED = ("jax", "jax.lax", "jax.nn", "jax.numpy", "jax.random", "flax.linen", "flax.linen.initializers", "flax.nnx")


class Surroundings:
    """The settings of jax, and the functions that jax and flax consist of, before anything of the user's was imported."""

    def __init__(self) -> None:
        self.settings = _settings()
        self.functions = {(name, key): value for name in _WATCHED for key, value in _attributes(name).items()}

    @contextlib.contextmanager
    def watched(self, root: Path) -> Iterator[dict[str, Any]]:
        """What the body changes, by name, once it has ended; it is taken back then, so the other side begins alike.

        Args:
            root: of the code that is imported. What other packages do is there on both sides.
        """
        found: dict[str, Any] = {}
        yield found
        for name, value in _settings().items():
            if value != self.settings[name]:
                found[name] = value
        apply(dict.fromkeys(found), self.settings)
        for (module, key), value in self.functions.items():
            new = _attributes(module).get(key, value)
            if new is not value and _is_of(new, root):
                found[f"{module}.{key}"] = getattr(new, "__qualname__", str(new))
                setattr(importlib.import_module(module), key, value)


def apply(names: dict[str, Any], values: dict[str, Any]) -> None:
    """Gives these settings of jax these values."""
    import jax

    for name in names:
        if "." not in name:
            jax.config.update(name, values[name])


def difference(linen: dict[str, Any], native: dict[str, Any]) -> str:
    """What importing one side changes and importing the other does not, "" where both do the same."""
    said = []
    for name in sorted({*linen, *native}):
        if "." in name:  # a patch of one side is never that of the other
            sides = (("the original", linen), ("the migrated code", native))
            said.append(f"{' and '.join(text for text, side in sides if name in side)} replaces {name}")
        elif linen.get(name, _Same) != native.get(name, _Same):
            one, two = (repr(side[name]) if name in side else "as it was" for side in (linen, native))
            said.append(f"{name} is {one} by the original, {two} by the migrated code")
    return f"importing the code changes jax or flax themselves, and both sides share them: {'; '.join(said)}" if said else ""


class _Same:
    """Stands for a setting that was left alone."""


def _settings() -> dict[str, Any]:
    import jax

    return {name: jax.config.values[name] for name in _SETTINGS if name in jax.config.values}


def _attributes(name: str) -> dict[str, Any]:
    return dict(vars(importlib.import_module(name)))


def _is_of(value: Any, root: Path) -> bool:
    module = sys.modules.get(str(getattr(value, "__module__", "")))
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(root.resolve())
