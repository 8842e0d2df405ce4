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
import builtins
from collections.abc import Iterator, Mapping

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .dataclass_bases import only_derived_from
from .rewritten import reparsed, with_blank_lines


def with_setup_moved(project: Project, sources: Mapping[str, SourceFile], qualname: str) -> dict[str, SourceFile]:
    """The files that change by the `setup` of a base in the classes that derive from it; none where it is no such base, or
    may not stand there."""
    source = sources[project.linen_classes[qualname].source.module]
    model = source.names.definitions.get(qualname.rpartition(".")[2])
    if not isinstance(model, ast.ClassDef):
        return {}
    setup = next((s for s in model.body if isinstance(s, ast.FunctionDef) and s.name == "setup"), None)
    if setup is None or setup.decorator_list or not _is_plain(model, setup):
        return {}
    derived = list(_derived(project, sources, qualname))
    own, defined = project.linen_classes[qualname].source, project.linen_classes[qualname].node
    if not derived or not only_derived_from(project, own, defined) or _asks_for_setup(sources, model.name):
        return {}
    lines = with_blank_lines(source, setup)
    said = source.text[lines.start : lines.end].rstrip()
    edits = {source.module: EditSet(source.text)}
    for home, node in derived:
        if node is None or len(node.bases) > 1 or node.col_offset or (home is source and node.lineno < model.lineno):
            return {}
        methods = [s for s in node.body if isinstance(s, ast.FunctionDef)]
        if not methods or any(s.name == "setup" for s in methods) or home.shares_line(methods[0]):
            return {}
        if home.indent_of(methods[0]) != source.indent_of(setup):
            return {}
        text = said.replace(source.newline, home.newline) + home.newline * 2
        edits.setdefault(home.module, EditSet(home.text)).insert(_start(home, methods[0]), text)
    alone = len(model.body) == 1
    edits[source.module].replace(source.span(setup) if alone else lines, "pass" if alone else "")
    found = {module: reparsed(sources[module], changed.render()) for module, changed in edits.items()}
    meant = _meanings(project, source, model)
    there = [_meanings(project, found[home.module], node) for home, node in derived if node is not None]
    if meant is None or any(meanings != meant for meanings in there):
        return {}
    return found


def _derived(
    project: Project, sources: Mapping[str, SourceFile], qualname: str
) -> Iterator[tuple[SourceFile, ast.ClassDef | None]]:
    """The classes that derive from one, with their files; None for one that is not found there."""
    for name, info in project.linen_classes.items():
        if qualname in info.bases:
            home = sources[info.source.module]
            found = home.names.definitions.get(name.rpartition(".")[2])
            plain = isinstance(found, ast.ClassDef) and found.name == info.node.name
            yield home, found if plain and isinstance(found, ast.ClassDef) else None


def _meanings(project: Project, source: SourceFile, model: ast.ClassDef) -> dict[str, str | None] | None:
    """What the names that the setup of a class reads mean in its file; None where one is not known."""
    found = source.names.definitions.get(model.name)
    body = found.body if isinstance(found, ast.ClassDef) else []
    setup = next((s for s in body if isinstance(s, ast.FunctionDef) and s.name == "setup"), None)
    if setup is None:
        return None
    read = [n for n in subtree(setup) if isinstance(n, ast.Name) and not source.names.is_hidden(n.id, n)]
    meant = {n.id: project.qualname(source, n) for n in read}
    unknown = [name for name, meaning in meant.items() if meaning is None]
    taken = {*source.names.definitions, *source.names.imports}
    return None if any(name in taken or not hasattr(builtins, name) for name in unknown) else meant


def _is_plain(model: ast.ClassDef, setup: ast.FunctionDef) -> bool:
    """Means the setup the same in another class, which alone calls what else the base has?"""
    if model.decorator_list or model.keywords or model.col_offset:
        return False
    named = {n.id for n in subtree(setup) if isinstance(n, ast.Name)} | {
        n.attr for n in subtree(setup) if isinstance(n, ast.Attribute)
    }
    if named & {"super", "__class__"} or any(name.startswith("__") for name in named):
        return False
    for statement in model.body:
        if isinstance(statement, ast.FunctionDef) and statement is not setup:
            words = {n.id for n in subtree(statement) if isinstance(n, ast.Name)}
            if statement.name in ("__call__", "__post_init__") or words & {"super", "__class__"}:
                return False
    return True


def _asks_for_setup(sources: Mapping[str, SourceFile], name: str) -> bool:
    """Does any file that names the class say `.setup` of something?"""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "setup"
        for source in sources.values()
        if name in source.words
        for node in source.by_kind.get(ast.Attribute, ())
    )


def _start(source: SourceFile, statement: ast.FunctionDef) -> int:
    return min(source.line_span(n).start for n in (statement, *statement.decorator_list))


__all__ = ["with_setup_moved"]
