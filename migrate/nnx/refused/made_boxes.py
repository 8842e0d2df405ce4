"""Functions of a file that put a value into Linen's box themselves: `def boxed(key, shape): return nn.Partitioned(...)`.

`nn.with_partitioning` says the same and is followed. A function that a class which stays Linen may use, too, keeps Linen's
box, and what it returns would be an NNX parameter's value. Initializers within a class are rewritten with it.
"""

from __future__ import annotations

import ast
import weakref
from typing import TYPE_CHECKING

from ...linen.project.index import Project
from ...linen.project.own_boxes import initializer_around
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import of_kind

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_WORDS = ("Partitioned", "LogicallyPartitioned")
_BOXES = frozenset(f"flax.{m}.{w}" for m in ("linen", "linen.spmd", "linen.meta", "core.meta", "core") for w in _WORDS)
_known: weakref.WeakKeyDictionary[Project, dict[str, ast.Call]] = weakref.WeakKeyDictionary()


def refuse(text: ClassText) -> None:
    """NNX181 where a class names a function of the project that makes such a box, or makes one outside of an initializer."""
    project, source = text.run.project, text.source
    makers = _makers(project)
    words = {name.rpartition(".")[2] for name in makers}
    named: list[ast.expr] = [n for n in of_kind(text.model.node, ast.Name) if n.id in words]
    named += [n for n in of_kind(text.model.node, ast.Attribute) if n.attr in words]
    made = next((n for n in named if project.qualname(source, n) in makers), None)
    if made is None:
        made = next((c for c in _made(project, source, text.model.node) if initializer_around(source, c) is None), None)
    if made is not None:
        reason = f"`{ast.unparse(made)}` puts a parameter into its box itself; say it by nn.with_partitioning"
        raise Unmigratable("NNX181", reason, made)


def _made(project: Project, source: SourceFile, within: ast.ClassDef | ast.FunctionDef) -> list[ast.Call]:
    if source.words.isdisjoint(_WORDS):
        return []
    return [c for c in of_kind(within, ast.Call) if project.qualname(source, c.func) in _BOXES]


def _makers(project: Project) -> dict[str, ast.Call]:
    """The functions of the project's files that make such boxes, by name."""
    if project not in _known:
        found: dict[str, ast.Call] = {}
        for source in project.files.values():
            for node in source.tree.body if not source.words.isdisjoint(_WORDS) else ():
                if isinstance(node, ast.FunctionDef) and (made := _made(project, source, node)):
                    found[f"{source.module}.{node.name}"] = made[0]
        _known[project] = found
    return _known[project]
