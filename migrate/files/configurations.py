"""Classes that configuration files construct by name: hydra's `_target_: package.networks.MLPTorso`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..linen.project.configured import Configured
from .errors import InputError
from .walk import walk

_SUFFIXES = (".yaml", ".yml")
_TARGET = re.compile(
    r"""(?:^[ \t]*(?:- +)*|[{,][ \t]*)["']?_target_["']?[ \t]*:[ \t]*["']?([A-Za-z_][\w.]*)""", re.MULTILINE
)
_KEY = re.compile(r"^(?P<indent>[ \t]*(?:- +)*)(?P<key>[^\s#:'\"-][^:#]*?)[ \t]*:(?:[ \t]+(?P<value>[^#\s]+))?")


def made_by_configurations(
    paths: Iterable[Path], contents: Iterable[bytes], excluded: Callable[[Path], bool]
) -> dict[str, Configured]:
    """What the YAML files below `paths` construct, each with a place; nothing where no file of `contents` says hydra."""
    if not any(b"hydra" in data for data in contents):
        return {}
    unreadable: list[InputError] = []  # told by the walk that reads Python files
    found: dict[str, Configured] = {}
    for file in walk(paths, excluded, unreadable, _SUFFIXES):
        if not file.path.name.endswith(_SUFFIXES):
            continue
        try:
            text = file.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        within = dict(_within(text)) if text.count("_target_") > 1 else {}
        for match in _TARGET.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            known = found.get(match[1], Configured(f"{file.path.name}:{line}"))
            found[match[1]] = known._replace(within=known.within | {*within.get(line, ())})
    return found


@dataclasses.dataclass(eq=False)
class _Block:
    """A mapping of a YAML file in block style."""

    indent: int
    outer: _Block | None = None
    name: str = ""  # the key of `outer` that it stands under
    key: str = ""  # the last one of its own
    target: str = ""
    recursive: bool = True


def _within(text: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """The lines with a `_target_` that hydra makes for another one, with that and the name under which it is given.

    Goes by indentation; a mapping with a `_target_` that says `_recursive_: false` is given its parts as they are.
    """
    blocks = [_Block(-1)]
    seen: list[tuple[int, _Block]] = []
    flows: list[tuple[int, _Block, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _KEY.match(line)
        if match is None:
            continue
        indent = len(match["indent"])
        item = match["indent"].find("-")
        while blocks[-1].indent > (indent if item < 0 else min(indent, item)):
            blocks.pop()
        if blocks[-1].indent < indent:
            blocks.append(_Block(indent, blocks[-1], blocks[-1].key))
        block = blocks[-1]
        block.key = match["key"]
        if block.key == "_target_":
            block.target = (match["value"] or "").strip("\"'")
            seen.append((number, block))
        elif block.key == "_recursive_":
            block.recursive = (match["value"] or "").lower() not in ("false", "no", "off")
        elif "_target_" in line.partition("{")[2]:  # `inner: {_target_: pkg.Inner}`
            flows.append((number, block, block.key))
    for number, block in seen:
        yield number, list(_around(block.outer, block.name))
    for number, block, key in flows:
        yield number, list(_around(block, key))


def _around(block: _Block | None, name: str) -> Iterator[tuple[str, str]]:
    """The nearest mapping with a `_target_`, and the name of its part."""
    while block is not None and not block.target:
        name, block = block.name, block.outer
    if block is not None and block.recursive:
        yield block.target, name


__all__ = ["made_by_configurations"]
