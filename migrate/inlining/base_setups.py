"""A base whose `setup` makes what its derived classes alone call: each has the `setup` of its own.

    class Base(nn.Module):                              class Base(nn.Module):
        width: int                                          width: int

        def setup(self):                                class Net(Base):
            self.dense = nn.Dense(self.width)               def setup(self):
                                                                self.dense = nn.Dense(self.width)
    class Net(Base):
        def __call__(self, x):                              def __call__(self, x):
            return self.dense(x)                                return self.dense(x)

Which sizes the layers see is known in each of these; the base, which nothing makes, has none.
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .dataclass_bases import only_derived_from
from .rewritten import with_blank_lines


def with_setup_moved(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with the `setup` of a base in its derived classes; None where it is no such base, or may not stand there."""
    setup = next((s for s in model.body if isinstance(s, ast.FunctionDef) and s.name == "setup"), None)
    if setup is None or setup.decorator_list or not _is_plain(model, setup):
        return None
    derived = _derived(project, source, model)
    if not derived or not only_derived_from(project, source, model) or _asks_for_setup(project, model.name):
        return None
    lines = with_blank_lines(source, setup)
    said = source.text[lines.start : lines.end].rstrip() + source.newline * 2
    edits = EditSet(source.text)
    for node in derived:
        apart = len(node.bases) > 1 or node.col_offset or node.lineno < model.lineno
        own = [s for s in node.body if isinstance(s, ast.FunctionDef)]
        if apart or not own or any(s.name == "setup" for s in own) or source.shares_line(own[0]):
            return None
        if source.indent_of(own[0]) != source.indent_of(setup):
            return None
        edits.insert(_start(source, own[0]), said)
    alone = len(model.body) == 1
    edits.replace(source.span(setup) if alone else lines, "pass" if alone else "")
    return edits.render()


def _derived(project: Project, source: SourceFile, model: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes of the file that derive from one; none where those of another file do."""
    qualname = f"{source.module}.{model.name}"
    infos = [info for info in project.linen_classes.values() if qualname in info.bases]
    if any(info.source.module != source.module for info in infos):
        return []
    found = [source.names.definitions.get(info.node.name) for info in infos]
    named = [node for node in found if isinstance(node, ast.ClassDef)]
    return named if len(named) == len(infos) else []


def _is_plain(model: ast.ClassDef, setup: ast.FunctionDef) -> bool:
    """Means the setup the same in another class, and does nothing else of the base read what it sets?"""
    if model.decorator_list or model.keywords or model.col_offset:
        return False
    set_here = {n.attr for n in subtree(setup) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    named = {n.id for n in subtree(setup) if isinstance(n, ast.Name)} | {
        n.attr for n in subtree(setup) if isinstance(n, ast.Attribute)
    }
    if named & {"super", "__class__"} or any(name.startswith("__") for name in named):
        return False
    for statement in model.body:
        if isinstance(statement, ast.FunctionDef) and statement is not setup:
            read = {n.attr for n in subtree(statement) if isinstance(n, ast.Attribute)}
            if statement.name in ("__call__", "__post_init__") or read & set_here or "super" in ast.unparse(statement):
                return False
    return True


def _asks_for_setup(project: Project, name: str) -> bool:
    """Does any file that names the class say `.setup` of something?"""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "setup"
        for source in project.files.values()
        if name in source.words
        for node in source.by_kind.get(ast.Attribute, ())
    )


def _start(source: SourceFile, statement: ast.FunctionDef) -> int:
    return min(source.line_span(n).start for n in (statement, *statement.decorator_list))


__all__ = ["with_setup_moved"]
