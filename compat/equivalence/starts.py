"""Initial values that two programs share, so that whole runs of them can be compared.

Seeds give other initial values in NNX than in Linen, and two training runs differ from their first loss on. Where values
follow from shapes alone they start alike, and a migrated program that draws nothing else prints its original's numbers:

    python -m nnx_migrate.compat.equivalence.starts train.py --epochs 1

It is a test of programs (losses, updates, schedules), not of modules: layers of one shape start equal, so that one taken for
another is not seen. `check_equivalence` sees that.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import runpy
import sys
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import CompatError

_INITIALIZERS = "jax._src.nn.initializers"  # where the functions of jax.nn.initializers find jax.random, as `random`
_ENTERED = threading.RLock()


@contextlib.contextmanager
def same_initial_values() -> Iterator[None]:
    """Inside, jax's initializers (flax uses no others) draw by a key that follows from shapes alone, not the one given.

    Enter it before the model is made, in a fresh process: what jax has compiled before keeps its draws. Members of a stack
    (`nn.vmap`, `nn.scan`) start equal. Initializers that call `jax.random` themselves, dropout and `make_rng` draw as ever.

    Raises:
        CompatError: this version of jax keeps its initializers elsewhere; nothing has been changed then.
    """
    initializers = importlib.import_module(_INITIALIZERS)
    with _ENTERED:
        before = getattr(initializers, "random", None)
        if before is None:
            raise CompatError(
                f"{_INITIALIZERS} of this jax has no `random`, by which initial values are set from here; "
                "carry the weights over instead (compat.from_linen)"
            )
        vars(initializers)["random"] = _ByShape(before)
        try:
            yield
        finally:
            vars(initializers)["random"] = before


class _ByShape:
    """`jax.random`, whose draws take a key that their names and shapes tell."""

    def __init__(self, random: Any) -> None:
        self._random = random

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._random, name)
        if name in ("split", "key", "PRNGKey", "fold_in", "clone"):
            return function

        @functools.wraps(function)
        def drawn(key: Any, *args: Any, **kwargs: Any) -> Any:
            given = [a for a in (*args, *kwargs.values()) if isinstance(a, int | tuple | list)]
            shapes = [tuple(a) if isinstance(a, list) else a for a in given]  # Linen's norms say `[4]`
            return function(self._random.key(zlib.crc32(f"{name}{shapes}".encode())), *args, **kwargs)

        return drawn


def main(arguments: list[str]) -> int:
    """Run a script, with its arguments, from the same initial values as any other such run."""
    if not arguments or not Path(arguments[0]).is_file():
        what = f"{arguments[0]} is no file" if arguments else "no script was given"
        print(f"Error: {what}. Usage: python -m {__spec__.name} SCRIPT.py [ARGUMENT...]", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path[0] = str(Path(arguments[0]).resolve().parent)
    with same_initial_values():
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


__all__ = ["main", "same_initial_values"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
