"""Functions that fields are given: `upfn=functools.partial(upscale, scale=2)`, `pool=nn.max_pool`.

A field that holds a function says nothing of what calling it gives. Where every construction of the project, and the
field's default, give functions that stand outside of classes, their results on the call's arguments are what is known.
Other functions may be given from outside: a size taken from here that is wrong fails where the array meets the layer.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from ...frozen import frozen
from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..shapes import shapes
from ..shapes.shape_keeping import keeps_shape
from ..values.apart import run_apart
from ..values.arguments import Arguments, defaults_of, function_env, parameters_of
from ..values.merging import Choice
from ..values.sites import Abs, BoundArg, Function, Static, Unmigratable
from ..values.values import Array, Const, Global, Int, Tup, Unknown, Value
from . import alternatives, default_modules


@frozen
class PartialFunction(Static):
    """`functools.partial` of a function, with what it binds; to the constructor it is a text like any other."""

    function: Value = dataclasses.field(default_factory=Unknown, compare=False)
    positional: tuple[Value, ...] = dataclasses.field(default=(), compare=False)
    keywords: tuple[tuple[str, Value], ...] = dataclasses.field(default=(), compare=False)


@frozen
class ChosenFunction(Static):
    """A name that holds one of several functions, by a condition of the constructor."""

    choice: Choice = dataclasses.field(default_factory=Choice, compare=False)


class GivenFunctions:
    """Class → field → the functions that constructions give; None where one gives something else."""

    def __init__(self) -> None:
        self._table: dict[str, dict[str, dict[object, Value] | None]] = {}

    def learn(self, target: str, arguments: Mapping[str, BoundArg]) -> bool:
        """Remember the functions among the arguments of a construction; True where one is news."""
        news = False
        for name, argument in arguments.items():
            value = argument.abs.value
            fields = self._table.setdefault(target, {})
            key = _key(value)
            if key is None:
                if name in fields and fields[name] is not None and not _handed_on(value, name):
                    fields[name] = None
                    news = True
                continue
            known = fields.setdefault(name, {})
            if known is not None and key not in known:
                known[key] = _detached(value)
                news = True
        return news

    def of(self, target: str, field: str) -> tuple[Value, ...]:
        """Every function that the field is given; none where that is not known."""
        found = self._table.get(target, {}).get(field)
        return tuple(found.values()) if found else ()


def _handed_on(value: Value, name: str) -> bool:
    """Is it the same field of a class around it, or of a subclass?"""
    return isinstance(value, Static) and value.text == f"self.{name}"


def _key(value: Value) -> object | None:
    """What tells one function from another; None for what is no function that stands outside of classes."""
    if isinstance(value, Global):
        return value.name
    if isinstance(value, PartialFunction):
        inner = _key(value.function)
        return (inner, tuple(name for name, _ in value.keywords), len(value.positional)) if inner is not None else None
    if isinstance(value, Function) and value.method is None:
        env = value.env
        while env is not None:
            if env.method is not None or env.names:
                return None  # it may read what another class's method knows
            env = env.parent
        return id(value.node)
    return None


def _detached(value: Value) -> Value:
    """The function as another class sees it: sizes in terms of the giver's own names say nothing there."""
    if not isinstance(value, PartialFunction):
        return value
    return dataclasses.replace(
        value,
        positional=tuple(_constant(v) for v in value.positional),
        keywords=tuple((name, _constant(v)) for name, v in value.keywords),
    )


def _constant(value: Value) -> Value:
    if isinstance(value, Const | Global) or (isinstance(value, Int) and value.dim.value is not None):
        return value
    if isinstance(value, Tup):
        return Tup(tuple(_constant(item) for item in value.items), value.kind)
    return Unknown("what a partial function binds")


def call_function(run: Any, value: Value, arguments: Arguments) -> Value:
    """The result of a function, or of a partial of one, on a call's arguments."""
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    while isinstance(value, PartialFunction):
        positional = [*value.positional, *positional]
        keywords = {**dict(value.keywords), **keywords}
        value = value.function
    if any(isinstance(n, ast.Starred) for n, _ in arguments.positional):
        return Unknown("a function is given *args")
    more = arguments.starred()  # `**options`: any parameter that is not given may be among them
    positional += [run.plain(a.value) for _, a in arguments.positional]
    keywords |= {k: run.plain(a.value) for k, _, a in arguments.keywords if k is not None}
    if isinstance(value, Global) and not more:
        return shapes.call(value.name, positional, keywords)
    if not isinstance(value, Function):
        return Unknown("a function that is not known")
    names = parameters_of(value.node)
    bound = {name: Abs(v) for name, v in zip(names, positional)} | {k: Abs(v) for k, v in keywords.items()}
    for name, default in defaults_of(value.node).items():
        if name not in bound and not more:
            bound[name] = run.constant(default, value.source)
    for name in names:
        bound.setdefault(name, Abs(Unknown("argument")))
    before = len(run.sites)
    result = run_apart(run, value.node, function_env(run, value, bound))
    if len(run.sites) > before:
        raise Unmigratable("NNX135", "a partial of a function makes submodules in its caller's scope", arguments.node)
    return result.value


def call_field(run: Any, text: str, arguments: Arguments, env: Any) -> Value | None:
    """What calling the function in a field gives, by the functions that the project gives it; None if they do not tell.

    One that a condition around the call rules out gives what it does on the other side, where others may do so, too.
    """
    name = text.removeprefix("self.")
    field = run.fields.get(name)
    if field is None or text != f"self.{name}":
        return None
    functions = list(run.analyser.functions.of(run.model.qualname, name))
    if field.default is not None:
        default = default_modules.value_of(run, field).value
        if _key(default) is not None:
            functions.append(default)
        elif not (functions and default == Const(None)):  # which is not called
            return None
    if not functions:
        return None
    out = ruled_out(run.project, env.source, arguments.node, text)
    results: list[Abs] = []
    for function in functions:
        known = _name_of(function)
        if known is None or known not in out:
            results.append(Abs(call_function(run, function, arguments)))
        elif (other := run.evaluated.get(out[known])) is not None:
            results.append(Abs(run.plain(other.value)))
    if not results:
        return None
    merged: Value = run.merge_values(results).value
    return merged if isinstance(merged, Array) else None


def _name_of(value: Value) -> str | None:
    """`module.function` of a function of a module of the project."""
    named = isinstance(value, Function) and isinstance(value.node, ast.FunctionDef)
    return f"{value.source.module}.{value.node.name}" if named else None  # type: ignore[attr-defined, union-attr]


def ruled_out(project: Project, source: SourceFile, call: ast.Call, said: str) -> dict[str, ast.Call | None]:
    """The functions that `said` is not where it is called, each with the call of it on the other side.

    if self.fn is attend: y = attend(q, k)
    else:                 y = self.fn(q, k)
    """
    found: dict[str, ast.Call | None] = {}
    inner: ast.AST = call
    for outer in source.ancestors(call):
        if isinstance(outer, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            break
        test = outer.test if isinstance(outer, ast.If) and inner in outer.orelse else None
        if isinstance(outer, ast.If) and isinstance(test, ast.Compare) and ast.unparse(test.left) == said:
            named = project.qualname(source, test.comparators[0])
            if len(test.ops) == 1 and isinstance(test.ops[0], ast.Is) and named is not None:
                found[named] = _same_call(outer.body, call, test.comparators[0])
        inner = outer
    return found


def _same_call(body: list[ast.stmt], call: ast.Call, func: ast.expr) -> ast.Call | None:
    """The call of `func` in statements, with the arguments of another call."""
    wanted = ast.unparse(ast.Call(func, call.args, call.keywords))
    calls = (n for statement in body for n in subtree(statement) if isinstance(n, ast.Call))
    return next((n for n in calls if ast.unparse(n) == wanted), None)


def call_any(run: Any, choice: Choice, arguments: Arguments, env: Any) -> Value | None:
    """What all of several functions give, as `{"relu": nn.relu, "none": lambda x: x}[self.kind](x)`; None if they differ.

    Of one that a field holds and that nothing shows, the sizes are taken to be those of the others (see `alternatives`).
    """
    results: list[Value] = []
    for option in choice.options:
        arrays = [a.value for _, a in arguments.positional if isinstance(a.value, Array)]
        if isinstance(option, Function | Global | PartialFunction):
            results.append(call_function(run, option, arguments))
        elif len(arrays) == 1 and keeps_shape(run, option, arrays[0], env):
            results.append(arrays[0])
        elif isinstance(option, Static):
            results.append(Unknown(f"the result of `{option.text}`"))
        else:
            return None
    given = [a.value for _, a in arguments.positional]
    merged: Value = run.merge_values(alternatives.filled_in([Abs(result) for result in results], given)).value
    return merged if isinstance(merged, Array) else None


__all__ = ["ChosenFunction", "GivenFunctions", "PartialFunction", "call_any", "call_field", "call_function", "ruled_out"]
