"""Where the generated `linen_parity.py` goes, and what goes into it: the parts that the files' new text uses."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...context import FileContext
from ...siblings import Home, beside, home_seen_from
from . import parity

_NAME = "linen_parity"


def share_homes(contexts: Mapping[str, FileContext]) -> None:
    """Tests and scripts that import a package which has a parity module use that, in place of one of their own.

    So does a package, where all of its files that need one import the other package. What an earlier run imported stays.
    """
    asking = {name: context for name, context in contexts.items() if context.parity_parts}
    used = collections.Counter(context.parity_home.folder for context in asking.values())
    for context in asking.values():  # the top of folders that are scripts' otherwise
        folder = context.source.path.parent
        if context.is_script and used[folder] > used[context.parity_home.folder]:
            context.parity_home = Home(folder, beside(context.project, context.source))
    used = collections.Counter(context.parity_home.folder for context in asking.values())
    groups: dict[object, list[FileContext]] = {}
    for name, context in asking.items():
        known = context.source.names.imports.get(_NAME, "")
        if known in contexts:
            context.parity_home = Home(contexts[known].source.path.parent, known.removesuffix(_NAME))
        elif not known and len(used) > 1:
            groups.setdefault(name if context.is_script else context.parity_home.folder, []).append(context)
    importers = _importers(contexts) if groups else {}
    moved = [(group, _others(group, contexts, used, importers)) for group in groups.values()]
    for group, homes in moved:
        shared = set.intersection(*({*found} for found in homes))
        if shared:
            folder = max(shared, key=lambda one: (used[one], str(one)))
            for context, found in zip(group, homes, strict=True):
                context.parity_home = found[folder]
    for context in asking.values():
        context.new_imports[_NAME] = f"{context.parity_home.prefix}{_NAME}"


def _others(
    group: Sequence[FileContext],
    contexts: Mapping[str, FileContext],
    used: Mapping[Path, int],
    importers: Mapping[str, Sequence[Path]],
) -> list[dict[Path, Home]]:
    """For each file, the homes of others that it could use, by their folders: none whose files import it themselves."""
    found = []
    for context in group:
        homes = {home.folder: home for home in _imported_homes(context, contexts) if used.get(home.folder)}
        homes.pop(context.parity_home.folder, None)
        importing = {folder for path in importers.get(context.source.module, ()) for folder in path.parents}
        found.append({folder: home for folder, home in homes.items() if folder not in importing})
    return found


def _imported_homes(context: FileContext, contexts: Mapping[str, FileContext]) -> Iterator[Home]:
    """Homes of the files that a file imports whenever it is run, under the names by which it imports them."""
    source = context.source
    for stmt in source.tree.body:
        if isinstance(stmt, ast.ImportFrom) and stmt.module and not stmt.level:
            written = [name for alias in stmt.names for name in (f"{stmt.module}.{alias.name}", stmt.module)]
        else:
            written = [alias.name for alias in stmt.names] if isinstance(stmt, ast.Import) else []
        for name in written:
            found = contexts.get(source.resolve(name) if source.resolve is not None else name)
            home = found and home_seen_from(found.source, found.parity_home.folder, name)
            if home:
                yield home


def _importers(contexts: Mapping[str, FileContext]) -> dict[str, list[Path]]:
    """Module → the files that import it, or something of it."""
    found: dict[str, list[Path]] = {}
    for context in contexts.values():
        names = context.source.names
        for dotted in {*names.imports.values(), *names.star_imports}:
            parts = dotted.split(".")
            for count in range(1, len(parts) + 1):
                if (module := ".".join(parts[:count])) in contexts:
                    found.setdefault(module, []).append(context.source.path)
    return found


def parity_files(contexts: Mapping[str, FileContext]) -> dict[Path, str]:
    """The text of every parity module by path. Parts that an earlier run wrote stay.

    Raises `parity.NotGenerated` where a file of that name was not written by this tool.
    """
    wanted: dict[Path, set[str]] = {}
    for context in contexts.values():
        if context.parity_parts:
            wanted.setdefault(context.parity_home.folder / f"{_NAME}.py", set()).update(context.parity_parts)
    texts = {context.source.path: context.source.text for context in contexts.values()}
    return {path: parity.render(names, texts.get(path)) for path, names in wanted.items()}
