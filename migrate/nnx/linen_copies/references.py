"""What a module-level definition refers to, and when it needs it."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import functools
from collections.abc import Iterator

from ...linen.project.index import Project
from ...source import SourceFile

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__class__", "__qualname__", "__module__"}


class When(enum.StrEnum):
    """When Python looks a name up."""

    IMPORT = "import"  # while the module is being imported
    ANNOTATION = "annotation"  # likewise, but not at all under `from __future__ import annotations`
    CALL = "call"  # when a function runs


@dataclasses.dataclass(frozen=True)
class Reference:
    """One use of a module-level name. `node` is the whole chain that means the definition (`layers.Block`)."""

    node: ast.expr
    root: ast.Name  # what the chain starts from
    key: str  # canonical name of the project definition that is meant; "" where it is none of the project's
    when: When


class References:
    """Reads definitions of one project; each is read once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._known: dict[str, tuple[Reference, ...]] = {}

    def of(self, key: str) -> tuple[Reference, ...]:
        """What the definition `key` refers to."""
        if key not in self._known:
            found = self.project.definition(key)
            self._known[key] = () if found is None else tuple(self._of_all(*found, key.rpartition(".")[2]))
        return self._known[key]

    def _of_all(self, source: SourceFile, statement: ast.stmt, name: str) -> Iterator[Reference]:
        """`if BIG: Part = Wide`, `else: Part = Narrow` refers to both."""
        binding = [] if isinstance(statement, ast.ClassDef) else source.binding(name)
        for each in binding if statement in binding else [statement]:
            yield from self.within(source, each)

    def within(self, source: SourceFile, root: ast.AST) -> Iterator[Reference]:
        """The module-level names that the code below `root` uses."""
        for node, when in _timed(root, When.IMPORT):
            if isinstance(node.ctx, ast.Load):
                found = self._reference(source, node, when)
                if found is not None:
                    yield found
                    for dotted in sorted(source.names.alternatives.get(node.id, ())) if found.key else ():
                        key = self.project.canonical(dotted)
                        if key != found.key and self.project.definition(key) is not None:
                            yield Reference(node, node, key, when)

    def _reference(self, source: SourceFile, root: ast.Name, when: When) -> Reference | None:
        names, project = source.names, self.project
        if names.is_hidden(root.id, root):
            return None
        star = f"{source.module}.{root.id}"
        if root.id in names.definitions:
            dotted = star
        elif root.id in names.imports:
            dotted = names.imported(root) or root.id
        elif star in project.aliases:
            dotted = star
        elif root.id in _BUILTINS:
            return None
        else:
            return Reference(root, root, "", when)
        key = project.canonical(dotted)
        if project.definition(key) is not None:
            return Reference(root, root, key, when)
        node: ast.expr = root
        while isinstance(parent := source.parents.get(node), ast.Attribute):
            node, dotted = parent, f"{dotted}.{parent.attr}"
            key = project.canonical(dotted)
            if project.definition(key) is not None:
                return Reference(node, root, key, when)
        return Reference(root, root, "", when)


def _timed(node: ast.AST, when: When) -> Iterator[tuple[ast.Name, When]]:
    """The names below `node`, with the time at which each is looked up."""
    if isinstance(node, ast.Name):
        yield node, when
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = node.args
        extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        annotation = When.CALL if when is When.CALL else When.ANNOTATION
        for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]:
            if arg.annotation is not None:
                yield from _timed(arg.annotation, annotation)
        for value in [*arguments.defaults, *arguments.kw_defaults, *getattr(node, "decorator_list", [])]:
            if value is not None:
                yield from _timed(value, when)
        if isinstance(node, ast.Lambda):
            yield from _timed(node.body, When.CALL)
            return
        if node.returns is not None:
            yield from _timed(node.returns, annotation)
        for statement in node.body:
            yield from _timed(statement, When.CALL)
        return
    if isinstance(node, ast.AnnAssign):
        yield from _timed(node.target, when)
        yield from _timed(node.annotation, When.CALL if when is When.CALL else When.ANNOTATION)
        if node.value is not None:
            yield from _timed(node.value, when)
        return
    for child in ast.iter_child_nodes(node):
        yield from _timed(child, when)


def is_plain_value(project: Project, source: SourceFile, node: ast.expr) -> bool:
    """May the expression be evaluated a second time, in another module, without anything being able to tell?"""
    if isinstance(node, ast.Constant | ast.Name | ast.Lambda):
        return True
    if isinstance(node, ast.Attribute | ast.Starred):
        return is_plain_value(project, source, node.value)
    if isinstance(node, ast.Call):
        called = project.qualname(source, node.func) or ""
        if called.partition(".")[0] not in _PURE or called.startswith("functools.lru_cache"):
            return False
        return all(is_plain_value(project, source, n) for n in [*node.args, *(k.value for k in node.keywords)])
    if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.BinOp | ast.UnaryOp | ast.Subscript | ast.Slice):
        children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return all(is_plain_value(project, source, n) for n in children)
    return False


_PURE = {"functools", "typing", "jax", "flax", "numpy", "math", "operator", "logging"}


def is_mutated(project: Project, key: str) -> bool:
    """Does any file write into what the module-level name `key` holds?"""
    return key in _mutated(project)


@functools.lru_cache(maxsize=2)
def _mutated(project: Project) -> set[str]:
    """The canonical names of what any file writes into."""
    found: set[str | None] = set()
    for source in project.files.values():
        raw_qualname, by_kind = source.names.raw_qualname, source.by_kind
        for node in (n for kind in (ast.Subscript, ast.Attribute, ast.Call, ast.Global) for n in by_kind.get(kind, ())):
            if isinstance(node, ast.Subscript | ast.Attribute):
                if not isinstance(node.ctx, ast.Load):
                    found.add(raw_qualname(node.value))
            elif isinstance(node, ast.Global):
                found.update(f"{source.module}.{name}" for name in node.names)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in _MUTATORS:
                    found.add(raw_qualname(node.func.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
                found.add(raw_qualname(node.args[0]))
    return {project.canonical(name) for name in found if name is not None}


_MUTATORS = {"append", "extend", "insert", "update", "setdefault", "pop", "add", "remove", "clear", "register"}
