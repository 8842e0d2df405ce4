"""Imports that stand in methods: `from layers import gpt3` where modules import each other, or where few need it.

What the method makes is made by the constructor, which has to import it, too. It does so at its beginning: a part of the
project's own, or a part of JAX and NumPy that every release has, is there to be imported, whichever way the method goes; of
anything else that stands under a condition this is not known.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...edits import Overlay, Part, Parts, Span
from ...linen.values.sites import Unmigratable
from ...source import SourceFile

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_THERE = ("jax.nn", "jax.numpy", "jax.lax", "jax.random", "numpy", "math", "functools")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def lines(writer: ClassWriter, constructor: Iterable[Parts]) -> list[Parts]:
    """The import statements that the constructor needs for these lines of it.

    Raises Unmigratable where one of its names means something else, or nothing that is sure to be there.
    """
    source, project = writer.source, writer.run.project
    found: dict[str, tuple[str, str]] = {}
    text = ""
    for node, alias, local, dotted in _imports(writer):
        text = text or "\n".join(said_by(source, line) for line in constructor)
        if not re.search(rf"(?<![\w.]){local}\b(?!\s*=[^=])", text):
            continue
        known = source.names.module_imports.get(local)
        if known == dotted and local not in source.names.definitions:
            continue
        statement = _statement(node, alias)
        taken = known is not None or local in source.names.definitions or local in writer.run.fields
        if taken or dotted.partition(".")[0] == "flax" or found.get(local, (dotted, ""))[0] != dotted:
            raise Unmigratable("NNX135", f"the constructor cannot import `{local}` as a method does", node)
        there = any(_is_of(dotted, name) for name in (*project.files, *(_THERE if _is_in_conditions(source, node) else ())))
        if not _is_plain(source, node) and not there:
            raise Unmigratable("NNX135", f"`{local}`, which the constructor needs, is imported under a condition", node)
        found[local] = (dotted, statement)
    return [(statement,) for _, statement in found.values()]


def late_name(run: Any, source: SourceFile, target: str) -> str | None:
    """What a class of the project is called where a function of the file has imported it, and nothing else does."""
    names = source.names
    found = [(local, dotted) for local, dotted in names.imports.items() if _is_of(target, dotted)]
    if not found or any(local in names.module_imports for local, _ in found) or run.analyser.classes.get(target) is None:
        return None
    local, dotted = found[0]
    return f"{local}{target.removeprefix(dotted)}"


def said_by(source: SourceFile, parts: Iterable[Part]) -> str:
    """The text of parts, as far as names go: what rules will change in it is left as it is."""
    out: list[str] = []
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, Span):
            out.append(source.text[part.start : part.end])
        elif isinstance(part, Overlay):
            out.append(source.text[part.span.start : part.span.end])
            out += [said_by(source, edit.parts) for edit in part.edits]
    return " ".join(out)


def _imports(writer: ClassWriter) -> Iterator[tuple[ast.Import | ast.ImportFrom, ast.alias, str, str]]:
    """The imports in the functions that were followed, setup apart, which the constructor keeps: the local name and what it
    means."""
    source = writer.source
    setup = writer.model.own_methods.get("setup")
    for node in [*source.by_kind.get(ast.ImportFrom, ()), *source.by_kind.get(ast.Import, ())]:
        assert isinstance(node, ast.Import | ast.ImportFrom)
        function = next((p for p in source.ancestors(node) if isinstance(p, _FUNCTIONS)), None)
        if function is None or function not in writer.run.executed or (setup is not None and function is setup.node):
            continue
        for alias, (local, dotted) in zip(node.names, source.names.bindings(node)):
            yield node, alias, local, dotted


def _statement(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    said = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    home = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
    return f"{home}import {said}"


def _is_of(dotted: str, name: str) -> bool:
    """Is it that, or a part of it?"""
    return dotted == name or dotted.startswith(f"{name}.")


def _is_plain(source: SourceFile, node: ast.stmt) -> bool:
    """Does it stand in the function itself, so that every call runs it?"""
    return isinstance(source.parents.get(node), _FUNCTIONS)


def _is_in_conditions(source: SourceFile, node: ast.stmt) -> bool:
    """Does it stand in `if` statements alone? In a `try` the name may be bound to something else."""
    around = itertools.takewhile(lambda p: not isinstance(p, _FUNCTIONS), source.ancestors(node))
    return all(isinstance(parent, ast.If) for parent in around)


__all__ = ["late_name", "lines", "said_by"]
