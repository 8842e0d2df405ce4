"""Example inputs that a project itself holds: `model.init(key, jnp.ones((1, 28, 28, 1)))`, read without running it.

They tell the ranks of module arguments, confirm the sizes that were inferred, and give the constructor sizes at the
call sites that made the modules.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Container, Iterator, Mapping

from ...source import SourceFile
from ..project.classes import Classes, Method
from ..project.index import Project
from ..values.dims import Dim
from ..values.values import Array, Const, Shape, Star, Value
from .example_values import WRAPPERS, BoundMethod, Instance, Reader

# Methods that run a module: how many leading arguments are not the module's own.
_RUNNERS = {"init": 1, "lazy_init": 1, "init_with_output": 1, "apply": 1, "tabulate": 1, "__call__": 0}
_OPTIONS = frozenset({"rngs", "mutable", "method", "capture_intermediates", "depth", "console_kwargs", "table_kwargs"})
_TRANSFORMS = frozenset({"eval_shape", "make_jaxpr"})
_SIGN = re.compile(r"\.(?:init|lazy_init|init_with_output|apply|tabulate|bind)\b")


@dataclasses.dataclass(frozen=True)
class Example:
    """One run of a module with the shapes of its array arguments."""

    qualname: str  # of the class
    method: str
    arguments: Mapping[str, Shape]
    node: ast.Call
    source: SourceFile
    site: ast.Call | None  # the call that constructed the module
    flags: Mapping[str, object] = dataclasses.field(default_factory=dict)  # constant arguments: train=True


class Examples:
    """All examples of a project."""

    def __init__(self, found: list[Example]) -> None:
        self.all = found

    def of(self, qualname: str) -> list[Example]:
        return [e for e in self.all if e.qualname == qualname]

    def ranks(self) -> dict[str, dict[str, int]]:
        """Class → argument → number of dimensions, where all examples agree."""
        seen: dict[str, dict[str, set[int]]] = {}
        for example in self.all:
            for name, shape in example.arguments.items():
                if shape.rank is not None:
                    seen.setdefault(example.qualname, {}).setdefault(name, set()).add(shape.rank)
        agreed = {
            qualname: {name: next(iter(ranks)) for name, ranks in table.items() if len(ranks) == 1}
            for qualname, table in seen.items()
        }
        return {qualname: table for qualname, table in agreed.items() if table}

    def shapes(self, qualname: str) -> dict[str, Shape]:
        """Argument → shape with the sizes in which all examples of one rank agree (None where they differ)."""
        ranks = self.ranks().get(qualname, {})
        merged: dict[str, Shape] = {}
        for example in self.of(qualname):
            for name, shape in example.arguments.items():
                if name not in ranks:
                    continue
                before = merged.get(name)
                merged[name] = shape if before is None else _agreed(before, shape)
        return merged

    def sizes(self, example: Example) -> dict[tuple[str, int], Dim]:
        """(argument, negative index) → size: what to put in for `Dim.input` atoms."""
        table: dict[tuple[str, int], Dim] = {}
        for name, shape in example.arguments.items():
            for index in range(-len(shape.dims), 0):
                dim = shape.dims[index]
                if dim is not None:
                    table[name, index] = dim
        return table


def _agreed(a: Shape, b: Shape) -> Shape:
    if len(a.dims) != len(b.dims):
        return a
    return Shape(tuple(x if x == y else None for x, y in zip(a.dims, b.dims)))


def find_examples(project: Project, classes: Classes) -> Examples:
    """Read every file of the project that runs a module."""
    reader = Reader(project)
    found: list[Example] = []
    for source in project.files.values():
        if project.linen_classes and _SIGN.search(source.text):
            found += _in_file(source, reader, classes)
    return Examples(found)


def _in_file(source: SourceFile, reader: Reader, classes: Classes) -> Iterator[Example]:
    for node in _calls(source.tree, reader.project.linen_names.keys()):
        for function, args, keywords, where in _runs(source, node, reader):
            example = _example(function, args, keywords, node, where, classes)
            if example is not None:
                yield example


def _calls(tree: ast.AST, skip: Container[ast.AST]) -> Iterator[ast.Call]:
    """Calls outside of module classes."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if node in skip:
            continue
        if isinstance(node, ast.Call):
            yield node
        stack.extend(ast.iter_child_nodes(node))


Run = tuple[BoundMethod, list[Value], dict[str, Value], SourceFile]


def _runs(source: SourceFile, node: ast.Call, reader: Reader) -> Iterator[Run]:
    """The runs that a call is: `model.init(...)`, `jax.jit(model.init)(...)`, `jax.eval_shape(model.init, ...)`."""
    skip = 0
    if isinstance(node.func, ast.Attribute) and node.func.attr not in _RUNNERS and node.func.attr not in _TRANSFORMS:
        return  # most calls are none, and reading them costs
    name = reader.project.qualname(source, node.func)
    if name in ("jax.eval_shape", "jax.make_jaxpr", "flax.linen.tabulate") and node.args:
        function = reader.value(source, node.args[0])
        skip = 1
    elif name in WRAPPERS or name == "functools.partial":
        return
    else:
        function = reader.value(source, node.func)
    if isinstance(function, Instance):
        runner = "tabulate" if name == "flax.linen.tabulate" else "__call__"
        function = BoundMethod(function, runner)
    if not isinstance(function, BoundMethod):
        return
    for call_source, call in _spread(source, node, reader):
        args, keywords = reader.arguments(call_source, call)
        own = args[skip if call is node else 0 :]
        yield function, [*function.args, *own], {**dict(function.keywords), **keywords}, source


def _spread(source: SourceFile, node: ast.Call, reader: Reader) -> Iterator[tuple[SourceFile, ast.Call]]:
    """A call, or for `model.init(*args)` inside `def init(*args)` the calls of that function."""
    starred = [a for a in node.args if isinstance(a, ast.Starred)]
    if len(node.args) == 1 and len(starred) == 1 and isinstance(starred[0].value, ast.Name):
        scope = source.names.binding_scope(starred[0].value.id, node)
        if isinstance(scope, ast.FunctionDef) and scope.args.vararg and not scope.args.args:
            if scope.args.vararg.arg == starred[0].value.id:
                yield from reader.callers(source, scope)
                return
    yield source, node


def _example(
    function: BoundMethod,
    args: list[Value],
    keywords: Mapping[str, Value],
    node: ast.Call,
    source: SourceFile,
    classes: Classes,
) -> Example | None:
    model = classes.get(function.instance.qualname)
    runner = function.name
    if model is None:
        return None
    name = "__call__"
    if runner not in _RUNNERS:
        return None
    chosen = keywords.get("method")
    if chosen is not None and chosen != Const(None):
        picked = _method_name(node)
        if picked is None:
            return None
        name = picked
    method = model.method(name)
    if method is None or any(isinstance(arg, Star) for arg in args):
        return None
    shapes, flags = _bound(method, args[_RUNNERS[runner] :], keywords)
    return Example(model.qualname, name, shapes, node, source, function.instance.site, flags)


def _method_name(node: ast.Call) -> str | None:
    """`method=Model.encode`, `method=model.encode`, `method='encode'`."""
    value = next((k.value for k in node.keywords if k.arg == "method"), None)
    if isinstance(value, ast.Attribute):
        return value.attr
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return None


def _bound(method: Method, args: list[Value], keywords: Mapping[str, Value]) -> tuple[dict[str, Shape], dict[str, object]]:
    table: dict[str, Value] = {p.arg: value for p, value in zip(method.positional, args)}
    names = {p.arg for p in method.parameters}
    table.update({k: v for k, v in keywords.items() if k in names and (k not in _OPTIONS or k not in table)})
    shapes = {name: value.shape for name, value in table.items() if isinstance(value, Array)}
    flags = {name: value.value for name, value in table.items() if isinstance(value, Const)}
    return shapes, flags
