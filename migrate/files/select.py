"""The cheap filter before parsing: bytes only, so that a large tree costs next to nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from .modules import ModuleName, module_names

_LINEN = re.compile(rb"linen(?!o)")  # `lineno` is not meant
_FLAX = re.compile(rb"flax|linen(?!o)")
_RELEVANT = re.compile(rb"flax|jax|linen(?!o)")
_IMPORT = re.compile(rb"^\s*(?:from|import)\s", re.MULTILINE)
_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)", re.MULTILINE)
_FUNCTION = re.compile(rb"^def[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(rb"[^\W\d]\w*")
_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#;]*)"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_OTHER_FRAMEWORKS = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:torch|tensorflow|keras)\b", re.MULTILINE)
_STEPS_ALONG = 2
_TOO_COMMON = frozenset({b"main", b"train", b"test", b"run", b"init", b"apply", b"setup", b"forward", b"evaluate"})


def select(contents: Mapping[Path, bytes], named: Collection[Path] = ()) -> set[Path]:
    """The files that a run must see.

    Those that the user `named`, those that say flax, linen or jax, and those that import and use what Linen files
    define (a script with `from model import Net`), through any number of steps.
    """
    kept = {path for path, data in contents.items() if path in named or _RELEVANT.search(data)}
    names: set[bytes] = set()
    for path in kept:
        data = contents[path]
        if _LINEN.search(data):
            names.update(match.group(1) for match in _CLASS.finditer(data))
            names.update(_FUNCTION.findall(data))
    names -= _TOO_COMMON
    rest = {path: None for path in contents if path not in kept}
    words: dict[Path, frozenset[bytes]] = {}
    while names and rest:
        found = []
        for path in rest:
            data = contents[path]
            if path not in words:
                words[path] = frozenset(_WORD.findall(data)) if _imports(path, data) else frozenset()
            if not names.isdisjoint(words[path]):
                found.append(path)
        if not found:
            break
        for path in found:
            del rest[path]
            kept.add(path)
            for match in _CLASS.finditer(contents[path]):
                if not names.isdisjoint(_WORD.findall(match.group(2))):
                    names.add(match.group(1))
    return kept


def _imports(path: Path, data: bytes) -> bool:
    return path.suffix == ".ipynb" or _IMPORT.search(data) is not None


def read_along(contents: Mapping[Path, bytes], kept: Collection[Path]) -> set[Path]:
    """Files of plain Python that files of Flax import, and what these import: their axis rules, configurations and
    tables are what names in the others mean. What other frameworks have is left out, as are files that say nothing."""
    names = module_names((path for path in contents if path.suffix == ".py"), contents)
    files = {module.name: path for path, module in names.items()}
    found: set[Path] = set()
    last = {path for path in kept if path in names and _FLAX.search(contents[path])}
    for _ in range(_STEPS_ALONG):
        modules = {dotted for path in last for dotted in _imported(contents[path], names[path])}
        last = {files[dotted] for dotted in modules if dotted in files}.difference(kept, found)
        last = {path for path in last if contents[path].strip() and not _OTHER_FRAMEWORKS.search(contents[path])}
        found |= last
    return found


def _imported(data: bytes, module: ModuleName) -> Iterator[str]:
    """Names of the project's modules that the import statements of a file may mean: of modules, and of what is in them."""
    resolve = module.resolve or (lambda dotted: dotted)
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    for statement in _IMPORTS.finditer(data):
        base = (statement["module"] or b"").decode()
        if base:
            level = len(base) - len(base.lstrip("."))
            if level:
                parts = package.split(".")[: None if level == 1 else 1 - level]
                base = ".".join([*parts, base[level:]]).strip(".")
            words = (statement["names"] or b"").decode().strip("() \t\r\n")
            dotted = [base, *(f"{base}.{name.split()[0]}" for name in words.split(",") if name.strip())]
        else:
            dotted = [name.split()[0] for name in (statement["modules"] or b"").decode().split(",") if name.strip()]
        for name in dotted:
            known = resolve(name)
            yield known
            yield known.rpartition(".")[0]
