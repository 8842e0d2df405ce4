"""Calls of what an unknown class or factory made: `lib.Block(8)(x)`, `REGISTRY[kind](8)(x)`.

Such an object may be a Linen module, which would keep its parameters in a class that is no Linen module any more.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import Any

from ..values.sites import Static
from ..values.values import Unknown, Value

#: Packages whose functions make functions, but no Linen modules.
_LIBRARIES = frozenset({
    "jax", "numpy", "functools", "math", "operator", "einops", "optax", "typing", "itertools", "scipy", "builtins",
    "distrax", "tensorflow_probability", "chex",
})  # fmt: skip


def made_by_unknown(run: Any, value: Value, env: Any) -> str | None:
    """The expression that made `value`, which is called, where nothing says what it makes; else None."""
    if isinstance(value, Static):
        maker = _callee(value.text)
    elif isinstance(value, Unknown):
        found = re.fullmatch(r"the result of `(.*)`", value.why, re.S)
        maker = _parsed(found[1]) if found else None
    else:
        return None
    if maker is None:
        return None
    known = run.project.qualname(env.source, maker)
    if known is not None:
        package, _, name = known.partition(".")
        if package == "flax":
            return None if not name.startswith("linen.") or known.rpartition(".")[2][:1].islower() else ast.unparse(maker)
        if package in _LIBRARIES or _of_the_project(run, known):
            return None
        return ast.unparse(maker)
    if isinstance(maker, ast.Subscript) or (isinstance(maker, ast.Call) and ast.unparse(maker.func) == "getattr"):
        return ast.unparse(maker)
    if isinstance(maker, ast.Name):
        return maker.id if isinstance(value, Unknown) else None  # a local name for one of several factories, or none known
    last = maker.attr if isinstance(maker, ast.Attribute) else ""
    return ast.unparse(maker) if last[:1].isupper() else None


def is_copy(qualname: str) -> bool:
    """Is it a class of a module of Linen copies that an earlier run made (`blocks_linen.Block`), also one out of sight?"""
    module, _, name = qualname.rpartition(".")
    return module.endswith("_linen") and name[:1].isupper()


def _callee(text: str) -> ast.expr | None:
    parsed = _parsed(text)
    return parsed.func if isinstance(parsed, ast.Call) else None


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _of_the_project(run: Any, qualname: str) -> bool:
    """Functions and classes of the project's own files have been looked at: they make Linen modules only as followed.

    Modules of its packages that the command line has left out say nothing of Flax, apart from those that could not be
    read, and names that a file nowhere says (`from lib import *`), which are those of another package.
    """
    name = ""
    while qualname:
        if qualname in run.project.unread:
            return False
        if qualname in run.project.files:
            source = run.project.files[qualname]
            return not name or name in source.words or (source.is_package and _is_there(source.path.parent, name))
        qualname, _, name = qualname.rpartition(".")
    return False


@functools.lru_cache(maxsize=4096)
def _is_there(package: Path, name: str) -> bool:
    """Has a package on disk a module of this name?"""
    return (package / f"{name}.py").is_file() or (package / name).is_dir()


__all__ = ["is_copy", "made_by_unknown"]
