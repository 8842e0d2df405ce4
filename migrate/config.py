"""`[tool.nnx-migrate]` in pyproject.toml: the project's standing choices, checked key by key."""

from __future__ import annotations

import dataclasses
import difflib
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .context import Options

NAMINGS = ("linen", "snake")
JITS = ("nnx", "functional")


class ConfigError(Exception):
    """The configuration is wrong; the message names the file, the key and the remedy."""


@dataclasses.dataclass(frozen=True)
class Override:
    """Rules selected for some paths only. Patterns are gitignore patterns relative to the configuration's directory."""

    paths: tuple[str, ...]
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Config:
    """What pyproject.toml says; None where it says nothing."""

    directory: Path | None = None
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    naming: str | None = None
    jit: str | None = None
    bridge: bool | None = None
    jobs: int | None = None
    overrides: tuple[Override, ...] = ()

    def excludes(self, path: Path) -> bool:
        """Is `path` below one of the `exclude` patterns?"""
        return bool(self.exclude) and self._matches(self.exclude, path)

    def options_for(self, path: Path, options: Options) -> Options:
        """`options` as the overrides change them for `path`; the same object where none does."""
        for override in self.overrides:
            if self._matches(override.paths, path):
                options = dataclasses.replace(
                    options,
                    select=override.select or options.select,
                    ignore=(*options.ignore, *override.ignore),
                )
        return options

    def _matches(self, patterns: tuple[str, ...], path: Path) -> bool:
        import pathspec

        assert self.directory is not None
        relative = os.path.relpath(os.path.abspath(path), self.directory)
        if relative.startswith(".."):
            return False
        spec = pathspec.GitIgnoreSpec.from_lines(patterns)
        relative = relative.replace(os.sep, "/")
        return spec.match_file(relative) or spec.match_file(relative + "/")


def find_config(paths: Iterable[Path]) -> Config:
    """The configuration of the nearest pyproject.toml at or above what all `paths` have in common.

    Raises ConfigError where it cannot be read or holds what the tool does not know.
    """
    real = [Path(os.path.abspath(path)) for path in paths]
    if not real:
        return Config()
    start = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in real]))
    for directory in (start, *start.parents):
        file = directory / "pyproject.toml"
        if file.is_file():
            return load_config(file)
    return Config()


def load_config(file: Path) -> Config:
    """The table of one pyproject.toml; empty where it has none."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from error
    table = document.get("tool", {}).get("nnx-migrate")
    if table is None:
        return Config(file.parent)
    where = f"{file}: [tool.nnx-migrate]"
    _check_keys(table, ("exclude", "select", "ignore", "naming", "jit", "bridge", "jobs", "overrides", "verify"), where)
    return Config(
        file.parent,
        exclude=_strings(table, "exclude", where) or (),
        select=_strings(table, "select", where),
        ignore=_strings(table, "ignore", where),
        naming=_choice(table, "naming", NAMINGS, where),
        jit=_choice(table, "jit", JITS, where),
        bridge=_typed(table, "bridge", bool, "true or false", where),
        jobs=_jobs(table, where),
        overrides=tuple(_override(item, where) for item in _tables(table, "overrides", where)),
    )


def _override(item: dict[str, Any], where: str) -> Override:
    where = f"{where} overrides"
    _check_keys(item, ("paths", "select", "ignore"), where)
    paths = _strings(item, "paths", where)
    if not paths:
        raise ConfigError(f"{where}: `paths` is missing: give the patterns that the override is for.")
    return Override(paths, _strings(item, "select", where) or (), _strings(item, "ignore", where) or ())


def _check_keys(table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"Did you mean `{near[0]}`?" if near else f"Known keys: {', '.join(known)}."
            raise ConfigError(f"{where}: unknown key `{key}`. {hint}")


def _strings(table: dict[str, Any], key: str, where: str) -> tuple[str, ...] | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{where}: `{key}` must be a list of strings, not {value!r}.")
    return tuple(value)


def _choice(table: dict[str, Any], key: str, choices: tuple[str, ...], where: str) -> str | None:
    value = table.get(key)
    if value is not None and value not in choices:
        raise ConfigError(f"{where}: `{key}` must be one of {', '.join(choices)}, not {value!r}.")
    return value


def _typed(table: dict[str, Any], key: str, kind: type, words: str, where: str) -> Any:
    value = table.get(key)
    if value is not None and type(value) is not kind:
        raise ConfigError(f"{where}: `{key}` must be {words}, not {value!r}.")
    return value


def _jobs(table: dict[str, Any], where: str) -> int | None:
    value: int | None = _typed(table, "jobs", int, "a whole number of processes, at least 1", where)
    if value is not None and value < 1:
        raise ConfigError(f"{where}: `jobs` must be a whole number of processes, at least 1, not {value!r}.")
    return value


def _tables(table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ConfigError(f"{where}: `{key}` must be an array of tables: [[tool.nnx-migrate.{key}]].")
    return value
