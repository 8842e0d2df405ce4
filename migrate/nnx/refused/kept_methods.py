"""Functions that an object keeps and that read a module's state: `self.f = self.helper`, `nn.Sequential([..., self.head])`,
`Block(attention_fn=self.attend)`.

Linen binds them anew at every `apply`. In NNX they close over the module that was constructed: `nnx.jit`, `nnx.grad` and
`nnx.merge` make another one, whose outputs would be those of the old variables, and whose gradients are zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...linen.lists.chains import Chain, Cycle
from ...linen.modules.given_functions import ChosenFunction, PartialFunction
from ...linen.project.classes import Method
from ...linen.values.called_functions import function_of
from ...linen.values.merging import Choice, Either
from ...linen.values.sites import (
    AnyFactory,
    Function,
    LiftedFunction,
    Module,
    ModuleField,
    Repeated,
    SelfModule,
    Site,
    Static,
    Table,
    Unmigratable,
    Variable,
)
from ...linen.values.values import Array, Const, Global, Int, Real, Text, Tup, Value
from ...trees import children, of_kind, subtree
from ..text.text_parts import short
from . import changing_objects

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_HARMLESS = (AnyFactory, Const, Global, Int, Real, Static, Text)
_CONSTANTS = (Const, Global, Int, Real, Static, Text)
_MODULES = (Either, Module, ModuleField)
_KNOWN = (Array, Chain, Const, Cycle, Int, Real, Repeated, Table, Tup, Variable)  # values that are no functions
_CALLABLE_PARTS = frozenset({"__call__", "attend", "query", "apply"})  # methods of Linen's layers
# Builtins that keep nothing, or give back what they are given.
_BUILTINS = frozenset(
    {"dict", "enumerate", "getattr", "hasattr", "isinstance", "len", "list", "object", "print"}
    | {"reversed", "setattr", "sorted", "tuple", "type", "zip"}
)
_OF_CONTAINERS = frozenset({"append", "extend", "insert", "setdefault", "update"})  # what they are given is read there
_MADE_AT_CALL = "flax.linen.BatchApply"  # a plain class, which each call of a compact method makes
_AT_ONCE = frozenset({"param", "variable", "make_rng", "sow", "put_variable"})  # of modules: they keep no function


def refuse(text: ClassText) -> None:
    reader = _Reader(text)
    changing_objects.refuse(text, reader.constructing())
    for method in reader.constructing():
        reader.read(method.node.body)
    for found in text.run.attributes.values():
        reader.check_value(found.value, text.model.node)
    for site in text.run.sites:
        if site.kind in ("layer", "class") and (site.in_setup or site.target != _MADE_AT_CALL):
            reader.check_site(site)


class _Reader:
    """Looks for functions that a constructor gives to what it makes."""

    def __init__(self, text: ClassText) -> None:
        self.text, self.run = text, text.run
        self.methods = text.model.methods()
        self.moved = text.computed.nodes() if text.computed is not None else set()
        self.first = text.computed.for_first_values() if text.computed is not None else set()
        self.making = {site.node for site in self.run.sites}  # what makes modules, parameters and variables
        self.asked: set[ast.AST] = set()  # functions whose state is being asked for, or was

    def constructing(self) -> list[Method]:
        """The methods that run when the module is made: `setup`, `__post_init__`, and what these call."""
        found = [m for m in map(self.methods.get, ("setup", "__post_init__")) if m is not None]
        found += [m for _, m in self.run.super_calls if m.name in ("setup", "__post_init__") and m not in found]
        for method in found:  # grows
            for name, nodes in method.fields_read.items():
                called = self.methods.get(name)
                nodes = {n for n in nodes if self._is_called(method.source, n) and n not in self.first}
                if called is not None and called not in found and nodes:
                    found.append(called)
        return found

    # what is kept ------------------------------------------------------------------------------------------------
    def check_site(self, site: Site) -> None:
        """What a module's constructor is given, initializers apart, which it calls itself."""
        for name, argument in site.bound.items():
            if name.endswith("_init"):
                continue
            self.check_value(argument.abs.value, argument.node or site.node)
            if argument.node is not None and not isinstance(argument.abs.value, AnyFactory):
                self.read([argument.node])

    def check_value(self, value: Value, node: ast.AST) -> None:
        for function in _functions(value):
            if function.node not in self.moved and self._has_state(function.node):
                self._fail(function.node if isinstance(function.node, ast.Lambda) else node, function)

    def read(self, nodes: list[Any]) -> None:
        """Refuse what these statements or expressions say of functions, unless it is called there."""
        for node in nodes:
            if node in self.moved or isinstance(node, ast.FunctionDef):  # one that is used is met under its name
                continue
            if isinstance(node, ast.Call):
                called = node.func
                if not isinstance(called, ast.Name | ast.Attribute):
                    self.read([called])
                elif isinstance(called, ast.Attribute):
                    self.read([called.value])
                if isinstance(called, ast.Attribute) and called.attr in _AT_ONCE:
                    continue
                arguments = [*node.args, *(k.value for k in node.keywords if not (k.arg or "").endswith("_init"))]
                if any(self._is_module(a) for a in arguments) and self._may_keep(node):
                    self._fail(node)
                self.read(arguments)
            elif self._is_function_with_state(node):
                self._fail(node)
            elif not isinstance(node, ast.Lambda):
                self.read(children(node))

    def _fail(self, node: ast.AST, function: Function | None = None) -> None:
        named = function is not None and isinstance(function.node, ast.FunctionDef)
        what = function.node.name if named else short(node) if isinstance(node, ast.expr) else "a function"  # type: ignore
        reason = f"`{what}` reads the module's variables and is kept in an attribute or another module"
        raise Unmigratable("NNX184", reason, node)

    # which functions have state ------------------------------------------------------------------------------------
    def _is_function_with_state(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Lambda):
            return self._has_state(node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            method = self._own_method(node)
            if method is not None:
                return self._has_state(method.node)
            return self._is_module(node.value) and self._is_method_of(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not self._is_no_function(node):
            return any(self._has_state(function) for function in self._local_functions(node))
        return False

    def _is_no_function(self, node: ast.AST) -> bool:
        found = self.run.evaluated.get(node)
        return found is not None and isinstance(found.value, (*_MODULES, *_KNOWN))

    def _own_method(self, node: ast.Attribute) -> Method | None:
        """The method of this class that `self.name` is; None for a property and for what is something else."""
        if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            return None
        method = self.methods.get(node.attr)
        return method if method is not None and not {"property", "staticmethod"} & set(_simple(method)) else None

    def _is_method_of(self, node: ast.Attribute) -> bool:
        found = self.run.evaluated.get(node.value)
        targets = [m.site.target for m in _modules(found.value)] if found is not None else []
        models = [self.text.analyser.classes.get(target) for target in targets]
        if any(model is not None and node.attr in model.methods() for model in models):
            return True
        return node.attr in _CALLABLE_PARTS

    def _is_module(self, node: ast.AST) -> bool:
        found = self.run.evaluated.get(node)
        return found is not None and isinstance(found.value, (*_MODULES, SelfModule))

    def _may_keep(self, node: ast.Call) -> bool:
        """May the result of a call be a function or an object that holds what it was given: `jax.vmap(self.dense)`?"""
        called = node.func
        of_container = isinstance(called, ast.Attribute) and called.attr in _OF_CONTAINERS
        first = called.value if isinstance(called, ast.Attribute) else called  # `object.__getattribute__(self, "width")`
        plain = of_container or (isinstance(first, ast.Name) and first.id in _BUILTINS)
        return not plain and not self._is_no_function(node) and not self._only_reads_fields(node)

    def _only_reads_fields(self, node: ast.Call) -> bool:
        """A function of the project that is given the module, `sizes_of(self)`, and reads its fields alone."""
        source = self._source(node)
        name = self.run.project.qualname(source, node.func) if source is not None else None
        found = self.run.project.definition(name or "")
        if found is None or not isinstance(found[1], ast.FunctionDef) or node.keywords:
            return False
        home, function = found
        named = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        given = {name for name, argument in zip(named, node.args) if self._is_module(argument)}
        for read in subtree(function):
            if isinstance(read, ast.Name) and read.id in given:
                parent = home.parents.get(read)
                if not (isinstance(parent, ast.Attribute) and parent.attr in self.run.fields):
                    return False
                if parent.attr in self.run.held:
                    return False
        return len(node.args) <= len(named)

    def _has_state(self, function: ast.AST) -> bool:
        """Does calling this function read anything that may be a variable?"""
        if function in self.asked:
            return False
        self.asked.add(function)
        try:
            return any(node in self.making or self._reads_state(node, function) for node in subtree(function))
        finally:
            self.asked.discard(function)

    def _reads_state(self, node: ast.AST, function: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._is_state(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id == "self":
                parent = self._parent(node)
                return not (isinstance(parent, ast.Attribute) and parent.value is node)
            return self._is_outer_state(node, function)
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"

    def _is_state(self, node: ast.Attribute) -> bool:
        name = node.attr
        if name in self.run.fields:
            return name in self.run.held
        method = self.methods.get(name)
        if method is not None:
            return self._has_state(method.node)
        found = self.run.attributes.get(name)
        functions = list(_functions(found.value)) if found is not None else []
        if functions:
            return any(self._has_state(function.node) for function in functions)
        if found is not None:
            return not (found.static or isinstance(found.value, _HARMLESS))
        return name not in self.text.model.class_attributes and name != "is_initializing"

    def _is_outer_state(self, node: ast.Name, function: ast.AST) -> bool:
        """Is it a name of the function around this one: a module, what variables were read into, or what is changed here?"""
        if _binds(function, node.id):
            return False
        source = self._source(node)
        outer = [a for a in source.ancestors(function) if isinstance(a, _FUNCTIONS)] if source is not None else []
        binding = next((f for f in outer if _binds(f, node.id)), None)
        if binding is None:
            return False
        if changing_objects.changed_in_place(source, node):
            return True
        inner = list(self._local_functions(node))
        if inner:
            return any(self._has_state(f) for f in inner)
        if self._is_given_constants(source, binding):
            return False
        read = [n for n in subtree(binding) if isinstance(n, ast.Name) and n.id == node.id and n in self.run.evaluated]
        values = [self.run.evaluated[n].value for n in read if not self.run.evaluated[n].static]
        return any(isinstance(value, (*_MODULES, Array, Repeated, Table, Tup, Variable)) for value in values)

    def _is_given_constants(self, source: Any, function: ast.AST) -> bool:
        """Is it a function of a file, called in `setup` with nothing but what the constructor is given as it is?

        What it computes for a function that it gives back follows from that: `self.encode = make_encoder(self.degrees)`.
        """
        if not isinstance(function, ast.FunctionDef) or not isinstance(source.parents.get(function), ast.Module):
            return False
        calls = [
            (method, node)
            for method in self.constructing()
            for node in of_kind(method.node, ast.Call)
            if (found := function_of(self.run.project, method.source, node.func)) is not None and found[1] is function
        ]
        given = [n for _, call in calls for n in (*call.args, *(k.value for k in call.keywords))]
        held = [self.run.evaluated.get(n) for n in given]
        return bool(calls) and all(one is not None and one.static and isinstance(one.value, _CONSTANTS) for one in held)

    def _local_functions(self, node: ast.Name) -> Iterator[ast.AST]:
        """What the functions around a name define under it, or assign to it: functions and methods."""
        source = self._source(node)
        for around in source.ancestors(node) if source is not None else ():
            if not isinstance(around, ast.FunctionDef) or not _binds(around, node.id):
                continue
            for inner in of_kind(around, ast.FunctionDef):
                if inner.name == node.id and inner is not around:
                    yield inner
            for statement in of_kind(around, ast.Assign):
                if any(_is_name(t, node.id) for t in statement.targets):
                    yield from self._said_functions(statement.value)
            return

    def _said_functions(self, node: ast.expr) -> Iterator[ast.AST]:
        if isinstance(node, ast.Lambda):
            yield node
        elif isinstance(node, ast.Attribute):
            method = self._own_method(node)
            if method is not None:
                yield method.node
        elif isinstance(node, ast.IfExp):
            yield from self._said_functions(node.body)
            yield from self._said_functions(node.orelse)

    # places --------------------------------------------------------------------------------------------------------
    def _source(self, node: ast.AST) -> Any:
        """The file in which a node stands."""
        files = [self.text.source, *(m.source for m in self.methods.values()), *self.run.executed.values()]
        return next((source for source in files if node in source.parents), None)

    def _parent(self, node: ast.AST) -> ast.AST | None:
        source = self._source(node)
        return source.parents.get(node) if source is not None else None

    def _is_called(self, source: Any, node: ast.AST) -> bool:
        parent = source.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node


def _functions(value: Value) -> Iterator[Function]:
    """The functions among what a value holds."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, LiftedFunction):
        yield value.function
    else:
        for item in _items(value):
            yield from _functions(item)


def _items(value: Value) -> tuple[Value, ...]:
    """What a value is made of, as far as functions may be among it."""
    if isinstance(value, PartialFunction):
        return (value.function, *value.positional, *(v for _, v in value.keywords))
    if isinstance(value, ChosenFunction):
        return value.choice.options
    if isinstance(value, Choice):
        return value.options
    if isinstance(value, Tup | Cycle):
        return value.items
    if isinstance(value, Chain):
        return value.parts
    if isinstance(value, Table):
        return tuple(value.items.values())
    if isinstance(value, Either):
        return value.functions
    return (value.element,) if isinstance(value, Repeated) else ()


def _modules(value: Value) -> tuple[Module, ...]:
    if isinstance(value, Either):
        return value.modules
    return (value,) if isinstance(value, Module) else ()


def _binds(function: ast.AST, name: str) -> bool:
    """Is the name a local one of this function?"""
    assert isinstance(function, _FUNCTIONS)
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    if any(a is not None and a.arg == name for a in given):
        return True
    waiting: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    for node in waiting:  # grows
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += children(node)
    return False


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _simple(method: Method) -> list[str]:
    return [name.rpartition(".")[2] for name in method.decorators]


__all__ = ["refuse"]
