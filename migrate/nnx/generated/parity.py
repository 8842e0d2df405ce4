"""The text of a project's `linen_parity.py`: what Linen computes and NNX does not, only the parts in use.

A part is a text file of `catalog/parity_parts`, named for its main definition. Its first lines say what it imports
and which other parts it needs:

    # imports: import jax
    # needs: Cell
    class GRUCell(Cell): ...
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.resources
import sys
from collections.abc import Iterable, Mapping

_MARK = "written by nnx-migrate"
_HEADER = f'''"""What Linen computes and flax.nnx does not, {_MARK}.

Only the parts that this project uses; nothing here depends on flax.linen.
"""
'''


@dataclasses.dataclass(frozen=True)
class Part:
    """One part: its definitions, the parts it builds on, the import lines it needs."""

    name: str
    source: str
    needs: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()

    @functools.cached_property
    def definitions(self) -> frozenset[str]:
        """Names that the part binds at module level."""
        return frozenset(
            name
            for node in ast.parse(self.source).body
            for name in (
                [node.name]
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
                else [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
            )
        )


class NotGenerated(Exception):
    """A file stands where the parity module would go and was not written by this tool."""


def parse_part(name: str, text: str) -> Part:
    """A part from its file's text."""
    needs: list[str] = []
    imports: list[str] = []
    lines = text.splitlines(keepends=True)
    start = 0
    for line in lines:
        kind, _, value = line.removeprefix("# ").partition(":")
        if line.startswith("# ") and kind == "needs":
            needs += [n.strip() for n in value.split(",")]
        elif line.startswith("# ") and kind == "imports":
            imports.append(value.strip())
        else:
            break
        start += 1
    return Part(name, "".join(lines[start:]).strip("\n") + "\n", tuple(needs), tuple(imports))


@functools.cache
def parts() -> Mapping[str, Part]:
    """Every part of the package, by name."""
    folder = importlib.resources.files("nnx_migrate.migrate.catalog").joinpath("parity_parts")
    found = {}
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".py.txt"):
            name = file.name.removesuffix(".py.txt")
            found[name] = parse_part(name, file.read_text(encoding="utf-8"))
    return found


def closure(names: Iterable[str]) -> list[Part]:
    """The parts with all that they need, needed ones first, otherwise by name. KeyError on an unknown name."""
    known = parts()
    order: list[Part] = []
    done: set[str] = set()

    def visit(name: str) -> None:
        if name in done:
            return
        done.add(name)
        part = known[name]
        for needed in sorted(part.needs):
            visit(needed)
        order.append(part)

    for name in sorted(set(names)):
        visit(name)
    return order


def is_written(text: str) -> bool:
    """Was a file written by this tool? Then it deals with what the code around it has become already."""
    return text.startswith(_HEADER.partition("\n")[0])


def parts_in(text: str) -> frozenset[str]:
    """The parts that a generated file holds. NotGenerated where the file was not written by this tool."""
    tree = ast.parse(text)
    if _MARK not in (ast.get_docstring(tree) or ""):
        raise NotGenerated
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    defined |= {t.id for node in tree.body if isinstance(node, ast.Assign) for t in node.targets if hasattr(t, "id")}
    return frozenset(name for name, part in parts().items() if part.definitions <= defined)


def render(names: Iterable[str], existing: str | None = None) -> str:
    """The module's text. With the text of an earlier run its parts stay, and whatever was changed in it by hand.

    Raises NotGenerated if `existing` was not written by this tool, KeyError on an unknown part.
    """
    wanted = set(names)
    if existing is None:
        return _whole(wanted)
    held = parts_in(existing)
    added = [part for part in closure(wanted) if part.name not in held]
    if not added:
        return existing
    if existing == _whole(held):
        return _whole(wanted | held)
    return _extended(existing, added)


def _whole(names: Iterable[str]) -> str:
    chosen = closure(names)
    standard: set[str] = set()
    other: set[str] = set()
    for part in chosen:
        for line in part.imports:
            top = line.split()[1].partition(".")[0]
            (standard if top in sys.stdlib_module_names else other).add(line)
    groups = [_merged(group) for group in (standard, other) if group]
    head = "\n".join(["from __future__ import annotations\n", *["\n".join(g) + "\n" for g in groups]])
    return "\n\n".join([f"{_HEADER}\n{head}", *[part.source for part in chosen]])


def _extended(text: str, added: list[Part]) -> str:
    """A file that was changed by hand: new imports after its own, new parts at the end."""
    tree = ast.parse(text)
    own = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    bound = {(alias.asname or alias.name) for node in own for alias in node.names}
    lines = [
        line for line in _merged({line for part in added for line in part.imports if line.split()[-1] not in bound}) if line
    ]
    rows = text.splitlines(keepends=True)
    at = max((node.end_lineno or 0 for node in own), default=1)
    rows[at:at] = [line + "\n" for line in lines]
    return "\n\n\n".join(["".join(rows).rstrip("\n"), *[part.source.rstrip("\n") for part in added]]) + "\n"


def _merged(lines: Iterable[str]) -> list[str]:
    """Import lines in order, those from one module joined."""
    plain = sorted(line for line in lines if line.startswith("import "))
    by_module: dict[str, set[str]] = {}
    for line in lines:
        if line.startswith("from "):
            _, module, _, *names = line.replace(",", " ").split()
            by_module.setdefault(module, set()).update(names)
    return plain + [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(by_module.items())]
