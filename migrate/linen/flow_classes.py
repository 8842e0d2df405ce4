"""Classes of the project that are no modules: what a call of one runs, and the methods that its objects have."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ..source import SourceFile
from .flow_values import ANY, NOTHING, ClassValue, Function, Instance, Nothing, Value, join
from .index import Project

if TYPE_CHECKING:
    from .flow import Flow

_KINDS = ("staticmethod", "classmethod")
_LOOKUPS = {"__getattr__", "__getattribute__"}


class ClassFacts:
    """What the whole project says of its classes."""

    def __init__(self, project: Project) -> None:
        self.derived: set[ast.AST] = set()  # from which others derive
        self.bases: dict[ast.AST, list[tuple[str, ast.ClassDef]]] = {}  # those of the project, with their modules
        self._classes: list[tuple[str, ast.ClassDef]] = []
        self._families: dict[ast.AST, list[tuple[str, ast.ClassDef]]] = {}
        self.stored: set[str] = set()  # attributes that something gives to objects of classes with a method of that name
        self.given: set[str] = set()  # those that objects are given by others than themselves
        for source in project.files.values():
            for node in source.by_kind.get(ast.ClassDef, ()):
                assert isinstance(node, ast.ClassDef)
                self._classes.append((source.module, node))
                bases = [project.definition(project.qualname(source, base) or "") for base in node.bases]
                self.derived.update(base[1] for base in bases if base is not None)
                self.bases[node] = [(b[0].module, b[1]) for b in bases if b is not None and isinstance(b[1], ast.ClassDef)]
            for attribute in source.by_kind.get(ast.Attribute, ()):
                assert isinstance(attribute, ast.Attribute)
                if not isinstance(attribute.ctx, ast.Load) and not _own(source, attribute):
                    self.stored.add(attribute.attr)
                    if not (isinstance(attribute.value, ast.Name) and attribute.value.id == "self"):
                        self.given.add(attribute.attr)
            for call in source.by_kind.get(ast.Call, ()):
                assert isinstance(call, ast.Call)
                if isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr") and len(call.args) > 1:
                    name = call.args[1]
                    said = str(name.value) if isinstance(name, ast.Constant) else ""
                    self.stored.add(said)
                    self.given.add(said)

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

    def family(self, owner: ast.ClassDef) -> list[tuple[str, ast.ClassDef]]:
        """A class, those that it derives from and those that derive from it."""
        if owner not in self._families:
            below = [found for found in self._classes if any(base is owner for _, base in self.lineage(found[1]))]
            self._families[owner] = [c for c in self._classes if c[1] is owner] + self.lineage(owner) + below
        return self._families[owner]

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


def held_class(flow: Flow, owner: ast.ClassDef, name: str) -> ClassValue | None:
    """The module classes that `self.model_class` may be: what the class, those that it derives from and those that
    derive from it say in their bodies and give `self`; None where it may be something else."""
    if name in flow.class_facts.given:
        return None
    found: Value | None = None
    for module, cls in flow.class_facts.family(owner):
        values = [flow.env.get((module, cls, f"self.{name}"), NOTHING)]
        for statement in cls.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            value = getattr(statement, "value", None)
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                values += [flow.value(value) for t in targets if isinstance(t, ast.Name) and t.id == name]
        for value in values:
            found = join(found, value)
    return found if isinstance(found, ClassValue) else None


def method(flow: Flow, owner: ast.ClassDef, node: ast.FunctionDef) -> Value:
    """What `self.train_step` is in the methods of the class: a function of which `self` is given."""
    function = flow.decorated(node)
    kind = "".join(map(kind_of, node.decorator_list))
    first = [a.arg for a in [*node.args.posonlyargs, *node.args.args]][:1]
    if not isinstance(function, Function) or (kind and owner in flow.class_facts.derived):
        return ANY
    if kind == "staticmethod":
        return function
    return dataclasses.replace(function, bound=1) if first == ["self"] or (kind and first) else ANY


def bind_class(flow: Flow, source: SourceFile, owner: ast.ClassDef, node: ast.FunctionDef) -> None:
    """A class method is given the class: none derives from it."""
    if "classmethod" in map(kind_of, node.decorator_list) and source.parents.get(owner) is source.tree:
        name = f"{source.module}.{owner.name}" if source.module else owner.name
        flow.join((source.module, node, [*node.args.posonlyargs, *node.args.args][0].arg), Instance(name, is_class=True))


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


def definition(flow: Flow, name: str | None) -> tuple[str, ast.ClassDef] | None:
    """The module and definition of a class of the project that is no module class."""
    where = flow.project.definition(name) if name else None
    if where is None or not isinstance(where[1], ast.ClassDef) or flow.is_module_code(where[1]):
        return None
    return where[0].module, where[1]


def _defined(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((s for s in owner.body if isinstance(s, ast.FunctionDef) and s.name == name), None)


def _own(source: SourceFile, node: ast.Attribute) -> bool:
    """`self.step = jax.jit(self.step)` of the class whose method it is: the flow knows both."""
    owner = next((p for p in source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
    named = isinstance(node.value, ast.Name) and node.value.id == "self"
    return named and owner is not None and _defined(owner, node.attr) is not None


def _changes(owner: ast.ClassDef) -> bool:
    """Does a class say itself what attributes there are?"""
    return bool(owner.decorator_list) or bool(owner.keywords) or any(_defined(owner, name) for name in _LOOKUPS)
