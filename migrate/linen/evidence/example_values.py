"""Values of expressions outside of module classes, as far as they can be read without running anything.

`Reader.value(source, node)` follows names to their one assignment, parameters to the calls of their function, and
project functions to what they return. Arrays come out as shapes; a size that is no number is its source text.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from ...frozen import frozen
from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..shapes import shapes
from ..values.dims import Dim
from ..values.values import Array, Const, Int, Shape, Slice, Star, Tup, Unknown, Value

MAX_DEPTH = 12
NOTHING = Unknown("not read")

# Functions whose result is the function that they are given.
WRAPPERS = frozenset(
    {
        "flax.linen.jit",
        "functools.cache",
        "functools.lru_cache",
        "jax.checkpoint",
        "jax.experimental.pjit.pjit",
        "jax.jit",
        "jax.named_call",
        "jax.pjit",
        "jax.remat",
    }
)
# Functions that take a shape: the position of it, and its keyword.
SHAPE_ARGUMENT = {
    **dict.fromkeys([f"{m}.{f}" for m in ("jax.numpy", "numpy") for f in ("zeros", "ones", "empty", "full")], 0),
    **dict.fromkeys([f"jax.random.{f}" for f in ("normal", "uniform", "gumbel", "randint", "exponential", "bits")], 1),
    **dict.fromkeys(["jax.random.bernoulli"], 2),
    **dict.fromkeys([f"numpy.random.{f}" for f in ("rand", "randn")], -1),  # numpy.random.rand(2, 3)
    "jax.ShapeDtypeStruct": 0,
}
# Legacy NumPy generators: where the size stands.
NUMPY_RANDOM = {"normal": 2, "uniform": 2, "randint": 2, "random": 0, "standard_normal": 0, "integers": 2}


@frozen
class ClassRef(Value):
    """A Linen class of the project, perhaps with arguments bound by functools.partial."""

    qualname: str


@frozen
class Instance(Value):
    """A module instance, made by the call `site` in `source`."""

    qualname: str
    site: ast.Call
    source: SourceFile = dataclasses.field(compare=False, repr=False)


@frozen
class BoundMethod(Value):
    """`model.init` and the like, perhaps with leading arguments bound by functools.partial."""

    instance: Instance
    name: str
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()


@frozen
class FunctionRef(Value):
    """A function of the project."""

    node: ast.FunctionDef | ast.Lambda
    source: SourceFile = dataclasses.field(compare=False, repr=False)


class Reader:
    """Reads expressions of a project's files."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._class_of_node = {info.node: name for name, info in project.linen_classes.items()}
        self._callers: dict[str, list[tuple[SourceFile, ast.Call]]] | None = None
        self._memo: dict[tuple[ast.AST, bool], Value] = {}
        self._assignments: dict[ast.AST | SourceFile, dict[str, list[ast.AST]]] = {}
        self._calls_of: dict[ast.FunctionDef, list[tuple[SourceFile, ast.Call]]] = {}
        self._self_values: dict[ast.ClassDef, dict[str, list[ast.expr]]] = {}

    def value(self, source: SourceFile, node: ast.AST, *, sizes: bool = False, depth: int = 0) -> Value:
        """The value of an expression. `sizes`: it is a shape, so what is not known in it is a size by its text."""
        key = (node, sizes)
        if key not in self._memo:
            if depth > MAX_DEPTH:
                return NOTHING
            self._memo[key] = NOTHING  # a cycle
            self._memo[key] = self._value(source, node, sizes, depth + 1)
        return self._memo[key]

    def _value(self, source: SourceFile, node: ast.AST, sizes: bool, depth: int) -> Value:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, int) and not isinstance(node.value, bool):
                return Int(Dim.of(node.value))
            return Const(node.value)
        if isinstance(node, ast.Tuple | ast.List):
            items = [self._element(source, e, sizes, depth) for e in node.elts]
            return shapes.build(items, "list" if isinstance(node, ast.List) else "tuple")
        if isinstance(node, ast.Starred):
            return Star(self.value(source, node.value, sizes=sizes, depth=depth))
        if isinstance(node, ast.Name):
            return self._name(source, node, sizes, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(source, node, depth)
        if isinstance(node, ast.BinOp):
            both = [self.value(source, side, sizes=sizes, depth=depth) for side in (node.left, node.right)]
            return shapes.binary(type(node.op).__name__, *both)
        if isinstance(node, ast.UnaryOp):
            return shapes.unary(type(node.op).__name__, self.value(source, node.operand, depth=depth))
        if isinstance(node, ast.Slice):
            parts = [None if p is None else self.value(source, p, depth=depth) for p in (node.lower, node.upper, node.step)]
            return Slice(*parts)
        if isinstance(node, ast.Subscript):
            base = self.value(source, node.value, depth=depth)
            return shapes.index(base, self.value(source, node.slice, depth=depth))
        if isinstance(node, ast.Call):
            return self._call(source, node, depth)
        if isinstance(node, ast.Lambda):
            return FunctionRef(node, source)
        if isinstance(node, ast.NamedExpr):
            return self.value(source, node.value, sizes=sizes, depth=depth)
        return NOTHING

    def _element(self, source: SourceFile, node: ast.expr, sizes: bool, depth: int) -> Value:
        value = self.value(source, node, sizes=sizes, depth=depth)
        if sizes and isinstance(value, Unknown) and not isinstance(node, ast.Starred):
            names = frozenset(n.id for n in subtree(node) if isinstance(n, ast.Name))
            return Int(Dim.opaque(ast.unparse(node), names))
        return value

    # names -----------------------------------------------------------------------------------------------------
    def _name(self, source: SourceFile, node: ast.Name, sizes: bool, depth: int) -> Value:
        scope = source.names.binding_scope(node.id, node)
        if scope is None:
            qualname = self.project.qualname(source, node)
            if qualname is not None:
                found = self._global(qualname, depth)
                if found is not None:
                    return found
            if qualname is not None and f"{source.module}.{node.id}" != qualname and qualname != node.id:
                return self._elsewhere(qualname, sizes, depth)
        found_node = self._assigned(source, scope, node)
        if isinstance(found_node, ast.expr):
            return self.value(source, found_node, sizes=sizes, depth=depth)
        if isinstance(found_node, ast.ClassDef) and found_node in self._class_of_node:
            return ClassRef(self._class_of_node[found_node])
        if isinstance(found_node, ast.FunctionDef):
            return FunctionRef(found_node, source)
        if isinstance(found_node, tuple):
            value, position, count = found_node
            items = shapes.unpack(self.value(source, value, depth=depth), count)
            return items[position] if items is not None else NOTHING
        if found_node is None and isinstance(scope, ast.FunctionDef):
            return self._parameter(source, scope, node.id, sizes, depth)
        return NOTHING

    def _global(self, qualname: str, depth: int) -> Value | None:
        if qualname in self.project.linen_classes:
            return ClassRef(qualname)
        where = self.project.definition(qualname)
        if where is not None and isinstance(where[1], ast.FunctionDef):
            return FunctionRef(where[1], where[0])
        return None

    def _elsewhere(self, qualname: str, sizes: bool, depth: int) -> Value:
        """A name of another module of the project: `BATCH_SIZE`, `ResNet50 = partial(ResNet, ...)`."""
        module, _, name = qualname.rpartition(".")
        other = self.project.files.get(module)
        if other is None:
            return NOTHING
        value = other.names.single_assignments.get(name)
        return NOTHING if value is None else self.value(other, value, sizes=sizes, depth=depth)

    def _assigned(
        self, source: SourceFile, scope: ast.AST | None, node: ast.Name
    ) -> ast.AST | tuple[ast.expr, int, int] | None:
        """What binds a name: the one assignment, or the last one before in straight-line code; None for a parameter."""
        table = self._bindings(source, scope)
        found = table.get(node.id, [])
        if len(found) > 1:
            straight = [f for f in found if not self._conditional(source, f, scope)]
            before = [f for f in straight if f.lineno < node.lineno]  # type: ignore[attr-defined]
            if len(straight) != len(found) or not before:
                return _UNREADABLE
            found = before[-1:]
        if not found:
            return None
        binder = found[0]
        if isinstance(binder, ast.Assign) and len(binder.targets) == 1:
            target: ast.expr = binder.targets[0]
            if isinstance(target, ast.Name):
                return binder.value
            if isinstance(target, ast.Tuple | ast.List) and all(isinstance(e, ast.Name) for e in target.elts):
                names = [e.id for e in target.elts if isinstance(e, ast.Name)]
                return binder.value, names.index(node.id), len(names)
        if isinstance(binder, ast.AnnAssign) and binder.value is not None:
            return binder.value
        if isinstance(binder, ast.ClassDef | ast.FunctionDef):
            return binder
        return _UNREADABLE

    def _bindings(self, source: SourceFile, scope: ast.AST | None) -> dict[str, list[ast.AST]]:
        """Statements of one scope by the names that they bind."""
        key = scope if scope is not None else source
        if key not in self._assignments:
            table: dict[str, list[ast.AST]] = {}
            body = getattr(scope if scope is not None else source.tree, "body", None)
            for statement in _statements(body if isinstance(body, list) else []):  # a lambda has no statements
                for name in _binds(statement):
                    table.setdefault(name, []).append(statement)
            self._assignments[key] = table
        return self._assignments[key]

    def _conditional(self, source: SourceFile, statement: ast.AST, scope: ast.AST | None) -> bool:
        parent = source.parents.get(statement)
        return parent is not (scope if scope is not None else source.tree) and not isinstance(parent, ast.With)

    def _parameter(self, source: SourceFile, scope: ast.FunctionDef, name: str, sizes: bool, depth: int) -> Value:
        """A parameter: what every call of the function in the project passes for it, if they agree."""
        found: set[Value] = set()
        count = 0
        for caller, call in self.callers(source, scope):
            argument = _argument_for(scope, call, name)
            if argument is None:
                return NOTHING
            count += 1
            value = self.value(caller, argument, sizes=sizes, depth=depth)
            if isinstance(value, Unknown):
                return NOTHING
            found.add(value)
        if count and len({v.qualname if isinstance(v, Instance) else v for v in found}) == 1:
            return next(iter(found))
        return NOTHING

    def callers(self, source: SourceFile, function: ast.FunctionDef) -> list[tuple[SourceFile, ast.Call]]:
        """Calls of a function by its name, anywhere in the project."""
        if function not in self._calls_of:
            self._calls_of[function] = self._find_callers(source, function)
        return self._calls_of[function]

    def _find_callers(self, source: SourceFile, function: ast.FunctionDef) -> list[tuple[SourceFile, ast.Call]]:
        if self._callers is None:
            table: dict[str, list[tuple[SourceFile, ast.Call]]] = {}
            for other in self.project.files.values():
                for node in other.nodes:
                    if isinstance(node, ast.Call):
                        func = node.func
                        if isinstance(func, ast.Call) and func.args:  # jax.jit(init)(...)
                            func = func.args[0]
                        if isinstance(func, ast.Name | ast.Attribute):
                            last = func.id if isinstance(func, ast.Name) else func.attr
                            table.setdefault(last, []).append((other, node))
            self._callers = table
        out = []
        for other, call in self._callers.get(function.name, []):
            func = call.func.args[0] if isinstance(call.func, ast.Call) else call.func
            if isinstance(func, ast.Name):
                scope = other.names.binding_scope(func.id, func)
                if scope is not None:
                    if function in self._bindings(other, scope).get(func.id, []):
                        out.append((other, call))
                    continue
            qualname = self.project.qualname(other, func)
            if qualname is not None and self.project.definition(qualname) == (source, function):
                out.append((other, call))
        return out

    # attributes and calls --------------------------------------------------------------------------------------
    def _attribute(self, source: SourceFile, node: ast.Attribute, depth: int) -> Value:
        qualname = self.project.qualname(source, node)
        if qualname is not None:
            found = self._global(qualname, depth)
            if found is None:
                found = self._elsewhere(qualname, False, depth)
            if found is not NOTHING:
                return found
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            assigned = self._self_attribute(source, node)
            if assigned is not None:
                return self.value(source, assigned, depth=depth)
        base = self.value(source, node.value, depth=depth)
        if isinstance(base, Instance):
            return BoundMethod(base, node.attr)
        return shapes.attribute(base, node.attr) if isinstance(base, Array) else NOTHING

    def _self_attribute(self, source: SourceFile, node: ast.Attribute) -> ast.expr | None:
        """The one value that the class assigns to `self.<name>` (as test classes do in setUp)."""
        cls = next((p for p in source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
        if cls is None:
            return None
        if cls not in self._self_values:
            table: dict[str, list[ast.expr]] = {}
            for statement in subtree(cls):
                if isinstance(statement, ast.Assign):
                    for target in statement.targets:
                        if (
                            isinstance(target, ast.Attribute)
                            and isinstance(target.value, ast.Name)
                            and target.value.id == "self"
                        ):
                            table.setdefault(target.attr, []).append(statement.value)
            self._self_values[cls] = table
        values = self._self_values[cls].get(node.attr, [])
        return values[0] if len(values) == 1 else None

    def _call(self, source: SourceFile, node: ast.Call, depth: int) -> Value:
        name = self.project.qualname(source, node.func) or self._builtin(source, node.func)
        if name in WRAPPERS and node.args:
            return self.value(source, node.args[0], depth=depth)
        if name == "functools.partial" and node.args:
            return self._partial(source, node, depth)
        if name is not None and name not in self.project.linen_classes:
            made = self._made(source, name, node, depth)
            if made is not None:
                return made
        function = self.value(source, node.func, depth=depth)
        if isinstance(function, ClassRef):
            return Instance(function.qualname, node, source)
        if isinstance(function, BoundMethod) and function.name in ("clone", "copy", "bind"):
            return function.instance
        if isinstance(function, FunctionRef):
            return self._returned(function, depth)
        args, keywords = self.arguments(source, node, depth)
        if name is not None and shapes.known_call(name):
            return shapes.call(name, args, keywords)
        if isinstance(node.func, ast.Attribute):
            base = self.value(source, node.func.value, depth=depth)
            if isinstance(base, Array | Tup):
                return shapes.method(base, node.func.attr, args, keywords)
        return NOTHING

    def _builtin(self, source: SourceFile, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name) and not source.names.is_hidden(node.id, node) and shapes.known_call(node.id):
            return node.id
        return None

    def arguments(self, source: SourceFile, node: ast.Call, depth: int = 0) -> tuple[list[Value], dict[str, Value]]:
        args = [self.value(source, arg, depth=depth) for arg in node.args]
        return args, {k.arg: self.value(source, k.value, depth=depth) for k in node.keywords if k.arg}

    def _partial(self, source: SourceFile, node: ast.Call, depth: int) -> Value:
        function = self.value(source, node.args[0], depth=depth)
        if isinstance(function, ClassRef | FunctionRef):
            return function
        if isinstance(function, BoundMethod):
            args, keywords = self.arguments(source, node, depth)
            return dataclasses.replace(
                function, args=(*function.args, *args[1:]), keywords=(*function.keywords, *keywords.items())
            )
        return NOTHING

    def _made(self, source: SourceFile, name: str, node: ast.Call, depth: int) -> Value | None:
        """Arrays of a given shape, whose sizes may be any expression."""
        position = SHAPE_ARGUMENT.get(name)
        keywords = {k.arg: k.value for k in node.keywords if k.arg}
        if name.startswith("numpy.random."):
            position = NUMPY_RANDOM.get(name.rpartition(".")[2], position)
            if position == -1:
                sizes = [self._element(source, arg, True, depth) for arg in node.args]
                return Array(shapes.as_shape(Tup(tuple(sizes)))) if all(isinstance(s, Int) for s in sizes) else NOTHING
        if position is None:
            return None
        shape = keywords.get("shape") or keywords.get("size")
        if shape is None and position < len(node.args):
            shape = node.args[position]
        if shape is None or any(isinstance(arg, ast.Starred) for arg in node.args[: position + 1]):
            return Array(Shape(())) if "random" in name and shape is None else NOTHING
        if name == "jax.random.bits":
            return NOTHING
        value = self.value(source, shape, sizes=True, depth=depth)
        if isinstance(value, Int | Tup):
            try:
                return Array(shapes.as_shape(value))
            except shapes.Stop:
                return NOTHING
        return NOTHING

    def _returned(self, function: FunctionRef, depth: int) -> Value:
        """What a project function returns, if all its returns agree."""
        node = function.node
        if isinstance(node, ast.Lambda):
            return self.value(function.source, node.body, depth=depth)
        found: list[Value] = []
        for statement in _statements(node.body):
            if isinstance(statement, ast.Return) and statement.value is not None:
                found.append(self.value(function.source, statement.value, depth=depth))
        kinds = {v.qualname if isinstance(v, Instance) else v for v in found}
        if not found or len(kinds) > 1:
            return NOTHING
        return found[0] if isinstance(found[0], Instance | Array | ClassRef | Tup) else NOTHING


_UNREADABLE = ast.Pass()


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of one scope, nested blocks included, other functions and classes not entered."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list):
                yield from _statements(inner)
        for handler in getattr(statement, "handlers", []):
            yield from _statements(handler.body)


def _binds(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    parts: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        parts = list(statement.targets)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For):
        parts = [statement.target]
    elif isinstance(statement, ast.With):
        parts = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    elif isinstance(statement, ast.Delete):
        parts = list(statement.targets)
    for part in parts:
        for node in subtree(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
                yield node.id


def _argument_for(function: ast.FunctionDef, call: ast.Call, name: str) -> ast.expr | None:
    """The expression that a call passes for a parameter (its default where it passes none)."""
    arguments = function.args
    positional = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
        if keyword.arg is None:
            return None
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    if name in positional:
        index = positional.index(name) - (1 if positional[:1] == ["self"] else 0)
        if 0 <= index < len(call.args):
            return call.args[index]
    defaults: Mapping[str, ast.expr | None] = {
        **dict(zip(reversed(positional), reversed(arguments.defaults))),
        **{a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)},
    }
    return defaults.get(name)
