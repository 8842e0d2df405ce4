"""Classes of the project that are no modules: what a call of one runs, and the methods that its objects have."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...source import SourceFile
from ..project.index import Project
from .flow_values import ANY, NOTHING, WRAPPERS, ClassValue, Function, Instance, Nothing, State, Value, join

if TYPE_CHECKING:
    from .flow import Flow

_KINDS = ("staticmethod", "classmethod")
_LOOKUPS = {"__getattr__", "__getattribute__"}


class ClassFacts:
    """What the whole project says of its classes."""

    def __init__(self, project: Project) -> None:
        self.derived: set[ast.AST] = set()  # from which others derive
        self.bases: dict[ast.AST, list[tuple[str, ast.ClassDef]]] = {}  # those of the project, with their modules
        self._modules: dict[ast.AST, str] = {}
        self._derived_of: dict[ast.AST, set[ast.AST]] = {}  # a class → those that derive from it, however far
        self._members: dict[str, dict[ast.ClassDef, list[ast.expr]]] = {}  # what bodies say; none of what `self` is given
        self.stored: set[str] = set()  # attributes that something gives to objects of classes with a method of that name
        self.given: set[str] = set()  # those that objects are given by others than themselves
        for source in project.files.values():
            for node in source.by_kind.get(ast.ClassDef, ()):
                assert isinstance(node, ast.ClassDef)
                self._modules[node] = source.module
                self._add_members(node)
                bases = [project.definition(project.qualname(source, base) or "") for base in node.bases]
                self.derived.update(base[1] for base in bases if base is not None)
                self.bases[node] = [(b[0].module, b[1]) for b in bases if b is not None and isinstance(b[1], ast.ClassDef)]
            for attribute in source.by_kind.get(ast.Attribute, ()):
                assert isinstance(attribute, ast.Attribute)
                if isinstance(attribute.ctx, ast.Load):
                    continue
                owner = next((p for p in source.ancestors(attribute) if isinstance(p, ast.ClassDef)), None)
                of_self = isinstance(attribute.value, ast.Name) and attribute.value.id == "self"
                if of_self and owner is not None:
                    self._members.setdefault(attribute.attr, {}).setdefault(owner, [])
                # `self.step = jax.jit(self.step)` of the class whose method it is: the flow knows both.
                if not (of_self and owner is not None and _defined(owner, attribute.attr) is not None):
                    self.stored.add(attribute.attr)
                    if not of_self:
                        self.given.add(attribute.attr)
            for call in source.by_kind.get(ast.Call, ()):
                assert isinstance(call, ast.Call)
                if isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr") and len(call.args) > 1:
                    name = call.args[1]
                    said = str(name.value) if isinstance(name, ast.Constant) else ""
                    self.stored.add(said)
                    self.given.add(said)
        for node in self._modules:
            for _, base in self.lineage(node):
                self._derived_of.setdefault(base, set()).add(node)

    def _add_members(self, owner: ast.ClassDef) -> None:
        for statement in owner.body:
            if isinstance(statement, ast.FunctionDef):
                self._members.setdefault(statement.name, {}).setdefault(owner, [])
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            value = getattr(statement, "value", None)
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                for target in targets:
                    if isinstance(target, ast.Name):
                        self._members.setdefault(target.id, {}).setdefault(owner, []).append(value)

    def lineage(self, owner: ast.AST) -> list[tuple[str, ast.ClassDef]]:
        """The classes that a class derives from, the nearest first."""
        found: list[tuple[str, ast.ClassDef]] = []
        self._derive(owner, found, {owner})
        return found

    def _derive(self, owner: ast.AST, found: list[tuple[str, ast.ClassDef]], met: set[ast.AST]) -> None:
        """`met`: a name that is bound twice can make a class its own base (`class A`, `class B(A)`, `class A(B)`)."""
        for base in self.bases.get(owner, []):
            if base[1] not in met:
                met.add(base[1])
                found.append(base)
                self._derive(base[1], found, met)

    def members(self, owner: ast.ClassDef, name: str) -> Iterator[tuple[str, ast.ClassDef, list[ast.expr]]]:
        """The classes with something of that name, among one, those that it derives from and those that derive from it:
        their modules, and what their bodies give the name."""
        here = self._members.get(name, {})
        if not here:
            return
        below = self._derived_of.get(owner, set())
        above = {base for _, base in self.lineage(owner)}
        for cls, values in here.items():
            if cls is owner or cls in above or cls in below:
                yield self._modules[cls], cls, values

    def may_change(self, name: str) -> bool:
        """May an object have another attribute in the place of a method?"""
        return name in self.stored or "" in self.stored


def made(flow: Flow, source: SourceFile, call: ast.Call, args: list[ast.expr]) -> Value | None:
    """The object that a call of such a class makes, of whose `__init__` it gives the arguments; None for other calls."""
    name = flow.name(call.func)
    found = definition(flow, name)
    if name is None or found is None:
        return None
    constructor = _constructor(flow, found[1])
    if constructor is not None:
        flow.bind_arguments(source, call, constructor, args)
    return ANY if _changes(found[1]) else Instance(name)


def constructor(flow: Flow, call: ast.Call) -> Function | None:
    """The `__init__` that gets the arguments of a call."""
    made = flow.value(call)
    found = definition(flow, made.cls) if isinstance(made, Instance) and flow.name(call.func) == made.cls else None
    return _constructor(flow, found[1]) if found is not None else None


def _constructor(flow: Flow, owner: ast.ClassDef) -> Function | None:
    """The `__init__` of a class, its own or the one that it inherits from the project."""
    classes = [owner, *(base for _, base in flow.class_facts.lineage(owner))]
    defined = next((init for c in classes if (init := _defined(c, "__init__")) is not None), None)
    return Function(frozenset([defined]), bound=1) if defined is not None and defined in flow.source_of else None


def inherited(flow: Flow, source: SourceFile, node: ast.Attribute) -> Function | None:
    """The constructor that `super().__init__` means, where one class is derived from."""
    call = node.value
    if node.attr != "__init__" or not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    owner = next((p for p in source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
    if call.func.id != "super" or owner is None or len(flow.class_facts.bases[owner]) != 1:
        return None
    return _constructor(flow, flow.class_facts.bases[owner][0][1])


def held_class(flow: Flow, owner: ast.ClassDef, name: str) -> Value:
    """The module classes that `self.model_class` may be: what the class, those that it derives from and those that
    derive from it say in their bodies and give `self`; anything where it may be something else."""
    if name in flow.class_facts.given:
        return ANY
    found: Value = NOTHING
    for module, cls, said in flow.class_facts.members(owner, name):
        for value in [flow.env.get((module, cls, f"self.{name}"), NOTHING), *map(flow.value, said)]:
            found = join(found, value) or found
    return found if isinstance(found, ClassValue | Nothing) else ANY


def method(flow: Flow, owner: ast.ClassDef, node: ast.FunctionDef) -> Value:
    """What `self.train_step` is in the methods of the class: a function of which `self` is given."""
    function = decorated(flow, node)
    kind = "".join(map(kind_of, node.decorator_list))
    first = [a.arg for a in [*node.args.posonlyargs, *node.args.args]][:1]
    if not isinstance(function, Function) or (kind and owner in flow.class_facts.derived):
        return ANY
    if kind == "staticmethod":
        return function
    return dataclasses.replace(function, bound=1) if first == ["self"] or (kind and first) else ANY


def decorated(flow: Flow, node: ast.FunctionDef) -> Value:
    """A function after its decorators: itself where they are known to call it as it is."""
    for decorator in node.decorator_list:
        name = flow.name(decorator)
        if isinstance(decorator, ast.Call):
            name = flow.name(decorator.func)
            if name == "functools.partial" and decorator.args:
                name = flow.name(decorator.args[0])
        if name not in WRAPPERS and not kind_of(decorator):
            return ANY
    return Function(frozenset([node]))


def bind_class(flow: Flow, source: SourceFile, owner: ast.ClassDef, node: ast.FunctionDef) -> None:
    """A class method is given the class: none derives from it."""
    if "classmethod" in map(kind_of, node.decorator_list) and source.parents.get(owner) is source.tree:
        name = f"{source.module}.{owner.name}" if source.module else owner.name
        flow.join((source.module, node, [*node.args.posonlyargs, *node.args.args][0].arg), Instance(name, is_class=True))


def bind_defaults(flow: Flow, source: SourceFile, node: ast.FunctionDef) -> None:
    """Give the parameters the module classes that are their defaults: `def __init__(self, network=QNetwork)`."""
    for name, default in defaults(node):
        value = flow.value(default)
        if isinstance(value, ClassValue | Nothing):
            flow.join((source.module, node, name), value)


def defaults(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, with it."""
    arguments = node.args
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    yield from zip(names[len(names) - len(arguments.defaults) :], arguments.defaults)
    yield from ((a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None)


def kind_of(decorator: ast.expr) -> str:
    """The name of a decorator that says what a method is given: `staticmethod` or `classmethod`."""
    return decorator.id if isinstance(decorator, ast.Name) and decorator.id in _KINDS else ""


def attribute(flow: Flow, node: ast.Attribute, cls: str) -> Value:
    """`Learner.update` and `learner.update`; anything where it is no method that the class itself has."""
    found = definition(flow, cls)
    defined = _defined(found[1], node.attr) if found is not None else None
    if found is None or defined is None or flow.class_facts.may_change(node.attr) or _changes(found[1]):
        return ANY
    module, owner = found
    function = method(flow, owner, defined)
    known = flow.env.get((module, owner, f"self.{node.attr}"), NOTHING)
    if not isinstance(function, Function) or not isinstance(known, Function | Nothing):
        return ANY
    held = flow.value(node.value)
    of_class = not (isinstance(held, Instance) and not held.is_class) and not any(map(kind_of, defined.decorator_list))
    return dataclasses.replace(function, bound=0) if of_class else function


def state_method(flow: Flow, state: State, name: str) -> Value:
    """`state.apply_ema` of a method that the class of a state adds: its first parameter is the state."""
    method = flow.state_classes.method(state.cls, name)
    first = [a.arg for a in [*method.args.posonlyargs, *method.args.args]][:1] if method is not None else []
    if method is None or not first or flow.class_facts.may_change(name):
        return ANY
    flow.join((flow.source_of[method].module, method, first[0]), state)
    return Function(frozenset([method]), bound=1)


def constructible(flow: Flow, call: ast.Call, names: frozenset[str]) -> frozenset[str]:
    """Those of several module classes that have fields for all that a call gives; the others it could not construct.

    `getattr(models, config.model)(num_classes=10, dtype=dtype)` makes none of the blocks in the file.
    """
    if len(names) < 2:
        return names
    given = {keyword.arg for keyword in call.keywords} - {None, "name", "parent"}
    number = sum(not isinstance(argument, ast.Starred) for argument in call.args)
    known = {name: flow.plan.classes[name].fields for name in names if name in flow.plan.classes}
    found = {name for name in names if name not in known or (given <= {*known[name]} and number <= len(known[name]))}
    return frozenset(found) or names


def definition(flow: Flow, name: str | None) -> tuple[str, ast.ClassDef] | None:
    """The module and definition of a class of the project that is no module class."""
    where = flow.project.definition(name) if name else None
    if where is None or not isinstance(where[1], ast.ClassDef) or flow.is_module_code(where[1]):
        return None
    return where[0].module, where[1]


def _defined(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((s for s in owner.body if isinstance(s, ast.FunctionDef) and s.name == name), None)


def _changes(owner: ast.ClassDef) -> bool:
    """Does a class say itself what attributes there are?"""
    return bool(owner.decorator_list) or bool(owner.keywords) or any(_defined(owner, name) for name in _LOOKUPS)


def chosen(flow: Flow, module: ast.expr, asked: ast.expr | None) -> Value:
    """`getattr(models, name)`: any of the module's classes, also those under other names."""
    name = flow.name(module)
    source = flow.project.files.get(name) if name else None
    if source is None:
        return ANY
    found: Value = NOTHING
    for local in filter(functools.partial(may_say, asked), source.names.definitions):
        qualname = f"{name}.{local}"
        if flow.plan.module_class(qualname):
            found = join(found, ClassValue(frozenset([qualname]))) or found
        else:
            value = flow.env.get((str(name), None, local), NOTHING)
            if isinstance(value, ClassValue):
                found = join(found, value) or found
    return found if isinstance(found, ClassValue) else ANY


def may_say(text: ast.expr | None, name: str) -> bool:
    """May a text be a name, by what the code says of it? (`f"make_{kind}"`, `kind + "Net"`, `"make_%s" % kind`)"""
    begins, ends = _ends(text)
    return name.startswith(begins) and name.endswith(ends)


def _ends(text: ast.expr | None) -> tuple[str, str]:
    """What a text surely begins and ends with."""
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return _ends(text.left)[0], _ends(text.right)[1]
    if isinstance(text, ast.JoinedStr) and text.values:
        return _ends(text.values[0])[0], _ends(text.values[-1])[1]
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return text.value, text.value
    holder: ast.expr | None = None
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Mod):
        holder, fields = text.left, r"%(?:\(\w*\))?[^a-zA-Z%]*[a-zA-Z%]"
    elif isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "format":
        holder, fields = text.func.value, r"[{}].*[{}]"
    if not isinstance(holder, ast.Constant) or not isinstance(holder.value, str):
        return "", ""
    said = re.split(fields, holder.value)
    return said[0], said[-1]
