"""What a Linen module class is, read from its syntax tree: fields, methods, setup, compact, inheritance."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence

from ...names import bound_names, value_given
from ...source import SourceFile
from ...trees import of_kind, said, same_tree, subtree
from . import own_name
from .index import ClassInfo, Project
from .layer_fields import SELDOM, said_somewhere, stub, takes_fields_only

#: What methods are decorated with that says how Linen runs them, and nothing else.
PLAIN_DECORATORS = frozenset({"flax.linen.compact", "flax.linen.nowrap"})
_ABSTRACT = frozenset({"abc.abstractmethod", "abc.abstractproperty"})


@dataclasses.dataclass(frozen=True)
class Field:
    """A dataclass field of a module, in the order of the generated constructor."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None  # the expression after `=`, dataclasses.field(...) resolved to its default
    factory: ast.expr | None  # dataclasses.field(default_factory=...)
    node: ast.stmt
    source: SourceFile
    kw_only: bool = False
    init: bool = True  # False: no argument of the constructor (dataclasses.field(init=False))

    @property
    def _annotated(self) -> str:
        return ast.unparse(self.annotation) if self.annotation is not None else ""

    @property
    def kinds(self) -> frozenset[str] | None:
        """The last parts of the names that its annotation has, also one that is a string; None for a field without."""
        annotation = self.annotation
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return frozenset()
        return kinds_in(annotation) if annotation is not None else None

    @property
    def may_be_none(self) -> bool:
        """Is None its default, or among what it may hold?"""
        default = isinstance(self.default, ast.Constant) and self.default.value is None
        return default or re.search(r"\b(None|Optional)\b", self._annotated) is not None

    @property
    def may_be_int(self) -> bool:
        """Is an integer among what it may hold (`features: int | Sequence[int]`)?"""
        return re.search(r"(^|[\[,| ])int($|[\],| ])", self._annotated) is not None


def kinds_in(node: ast.expr) -> frozenset[str]:
    """The last parts of the names that an expression has: of `(list, tuple)`, `collections.abc.Mapping`."""
    parts = (n for n in subtree(node) if isinstance(n, ast.Name | ast.Attribute))
    return frozenset(n.id if isinstance(n, ast.Name) else n.attr for n in parts)


@dataclasses.dataclass(frozen=True)
class Method:
    """A method with the class that defines it."""

    name: str
    node: ast.FunctionDef
    owner: ClassModel
    compact: bool
    decorators: tuple[str, ...]  # canonical names, "" where unknown

    @property
    def source(self) -> SourceFile:
        return self.owner.source

    @functools.cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """The definition and all below it, breadth first."""
        return subtree(self.node)

    @functools.cached_property
    def asked(self) -> dict[str, list[ast.Attribute]]:
        """Where `self.name` is read or written, by the name."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in of_kind(self.node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                found.setdefault(node.attr, []).append(node)
        return found

    @functools.cached_property
    def fields_read(self) -> dict[str, list[ast.Attribute]]:
        """Where `self.name` is read, by the name."""
        read = {name: [n for n in nodes if isinstance(n.ctx, ast.Load)] for name, nodes in self.asked.items()}
        return {name: nodes for name, nodes in read.items() if nodes}

    @property
    def parameters(self) -> list[ast.arg]:
        """Named parameters without self."""
        arguments = self.node.args
        named = [*arguments.posonlyargs, *arguments.args]
        if "staticmethod" not in self.decorators:
            named = named[1:]
        return [*named, *arguments.kwonlyargs]

    @property
    def positional(self) -> list[ast.arg]:
        arguments = self.node.args
        named = [*arguments.posonlyargs, *arguments.args]
        return named if "staticmethod" in self.decorators else named[1:]

    @property
    def vararg(self) -> str:
        """The name of `*args`, "" without them."""
        return self.node.args.vararg.arg if self.node.args.vararg is not None else ""

    def default(self, name: str) -> ast.expr | None:
        """The default expression of a parameter."""
        arguments = self.node.args
        named = [*arguments.posonlyargs, *arguments.args]
        for arg, value in zip(reversed(named), reversed(arguments.defaults)):
            if arg.arg == name:
                return value
        for arg, maybe in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if arg.arg == name:
                return maybe
        return None

    def constant_defaults(self) -> dict[str, str]:
        """The defaults of parameters that are constants, by name; "" for other defaults."""
        arguments = [*self.positional, *self.node.args.kwonlyargs]
        found = {p.arg: self.default(p.arg) for p in arguments}
        return {name: said(d) if isinstance(d, ast.Constant) else "" for name, d in found.items() if d is not None}


@dataclasses.dataclass(eq=False)
class ClassModel:
    """A Linen module class with what it inherits from classes of the project."""

    info: ClassInfo
    bases: tuple[ClassModel, ...]
    foreign_bases: tuple[str, ...]  # bases outside the project: flax.linen.Module, flax.linen.Dense, abc.ABC, ...
    own_fields: tuple[Field, ...]
    own_methods: dict[str, Method]
    class_attributes: dict[str, ast.expr]
    project: Project
    layer_fields: tuple[Field, ...] = ()  # those of the Linen layer of which it takes nothing else
    name_field: tuple[Field, ...] = ()  # of a class that reads `self.name`
    reserved: tuple[Field, ...] = ()  # `name: str = None` of a class body, in whose place Linen has its own

    @property
    def name(self) -> str:
        return self.info.node.name

    @property
    def qualname(self) -> str:
        return self.info.qualname

    @property
    def source(self) -> SourceFile:
        return self.info.source

    @property
    def node(self) -> ast.ClassDef:
        return self.info.node

    @property
    def nodes(self) -> Sequence[ast.AST]:
        """The definition and all below it, breadth first."""
        return self.info.nodes

    @property
    def is_nested(self) -> bool:
        """Is it defined in a function or in another class?"""
        return self.source.names.scope_of(self.node) is not None

    def mro(self) -> tuple[ClassModel, ...]:
        """Project classes in the order of method resolution (a depth-first approximation of C3)."""
        return self._order

    @functools.cached_property
    def _order(self) -> tuple[ClassModel, ...]:
        order: list[ClassModel] = []

        def walk(model: ClassModel) -> None:
            if model in order:
                order.remove(model)
            order.append(model)
            for base in model.bases:
                walk(base)

        walk(self)
        return tuple(order)

    def fields(self) -> list[Field]:
        """All dataclass fields in constructor order: bases first, an override keeps its place."""
        table: dict[str, Field] = {}
        for model in reversed(self.mro()):
            for field in (*model.layer_fields, *model.own_fields, *model.name_field):
                table[field.name] = field
        given = [f for f in table.values() if f.init]
        if any(model.layer_fields for model in self.mro()):  # those that are left out have places before the class's own
            layer = {f.name: f.kw_only for model in self.mro() for f in model.layer_fields}
            given = [dataclasses.replace(f, kw_only=layer.get(f.name, True)) for f in given]
        return [*[f for f in given if not f.kw_only], *[f for f in given if f.kw_only]]

    def method(self, name: str, after: ClassModel | None = None) -> Method | None:
        """The method that an attribute look-up finds; `after`: as `super()` in that class would."""
        order = self.mro()
        if after is not None and after in order:
            order = order[order.index(after) + 1 :]
        for model in order:
            if name in model.own_methods:
                return model.own_methods[name]
        return None

    def methods(self) -> dict[str, Method]:
        """Every method by name, the most derived first."""
        table: dict[str, Method] = {}
        for model in self.mro():
            for name, method in model.own_methods.items():
                table.setdefault(name, method)
        return table

    @functools.cached_property
    def local_names(self) -> frozenset[str]:
        """Every name and parameter in its methods."""
        methods = [method.node for method in self.methods().values()]
        names = {name.id for method in methods for name in of_kind(method, ast.Name)}
        return frozenset(names | {parameter.arg for method in methods for parameter in of_kind(method, ast.arg)})

    @functools.cached_property
    def bound_names(self) -> frozenset[str]:
        """Those of them that its methods give a value: no global ones."""
        methods = [method.node for method in self.methods().values()]
        stored = {n.id for m in methods for n in of_kind(m, ast.Name) if not isinstance(n.ctx, ast.Load)}
        return frozenset(stored | {parameter.arg for method in methods for parameter in of_kind(method, ast.arg)})

    def class_attribute(self, name: str) -> tuple[ClassModel, ast.expr] | None:
        for model in self.mro():
            if name in model.class_attributes:
                return model, model.class_attributes[name]
        return None


class Classes:
    """All Linen classes of a project as models, made once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.open_constants: dict[str, frozenset[str]] = {}  # class → those that are no constants for it; see there
        self._models: dict[str, ClassModel] = {}
        for qualname in project.linen_classes:
            self._model(qualname, ())
        self._derived: dict[ClassModel, list[ClassModel]] = {}
        for model in self:
            for base in model.mro()[1:]:
                self._derived.setdefault(base, []).append(model)

    def __iter__(self) -> Iterator[ClassModel]:
        return iter(self._models.values())

    def get(self, qualname: str | None) -> ClassModel | None:
        return self._models.get(qualname) if qualname else None

    def lineage(self, qualname: str) -> list[ClassModel]:
        """A class and everything that it inherits from or that inherits from it: they share methods."""
        model = self._models.get(qualname)
        if model is None:
            return []
        return [*model.mro(), *self.derived(model)]

    def derived(self, model: ClassModel) -> Sequence[ClassModel]:
        """The classes that inherit from one."""
        return self._derived.get(model, ())

    def varies(self, model: ClassModel, attribute: str) -> bool:
        """Is an attribute or property of a class another one in classes that inherit from it, and so share its methods?"""
        held, found = model.class_attribute(attribute), model.method(attribute)
        for derived in self.derived(model):
            own = derived.class_attribute(attribute)
            given = any(field.name == attribute for m in derived.mro() for field in m.own_fields)
            same = own is held or (own is not None and held is not None and same_tree(own[1], held[1]))
            if given or not same or derived.method(attribute) is not found:
                return True
        return False

    def _model(self, qualname: str, path: tuple[str, ...]) -> ClassModel | None:
        if qualname in self._models:
            return self._models[qualname]
        info = self.project.linen_classes.get(qualname)
        if info is None or qualname in path:
            return None
        bases: list[ClassModel] = []
        foreign: list[str] = []
        for base, node in zip(info.bases, info.node.bases):
            model = self._model(base, (*path, qualname))
            if model is not None:
                bases.append(model)
            else:
                foreign.append(base or ast.unparse(node))
        declared = list(_fields(info, self.project))
        model = ClassModel(
            info,
            tuple(bases),
            tuple(foreign),
            tuple(field for field in declared if field.name not in own_name.RESERVED),
            {},
            _class_attributes(info),
            self.project,
            tuple(_layer_fields(info, tuple(foreign), self.project)),
            tuple(_name_field(info, self.project)),
            tuple(field for field in declared if field.name in own_name.RESERVED),
        )
        for stmt in info.node.body:
            if isinstance(stmt, ast.FunctionDef):
                decorators = tuple(
                    self.project.qualname(info.source, d.func if isinstance(d, ast.Call) else d) or ast.unparse(d)
                    for d in stmt.decorator_list
                )
                compact = any(d in ("flax.linen.compact", "flax.linen.compact_name_scope") for d in decorators)
                model.own_methods[stmt.name] = Method(stmt.name, stmt, model, compact, decorators)
        self._models[qualname] = model
        return model


def _layer_fields(info: ClassInfo, foreign: tuple[str, ...], project: Project) -> Iterator[Field]:
    """The fields of a Linen layer whose `__call__` the class replaces as a whole."""
    if not takes_fields_only(info, foreign):
        return
    source = stub(foreign[0])
    (node,) = source.by_kind[ast.ClassDef]
    assert isinstance(node, ast.ClassDef)
    left_out = False
    for field in _fields(ClassInfo(foreign[0], node, source, ()), project):
        if field.name in SELDOM and not said_somewhere(field.name, project.files.values()):
            left_out = True
            continue
        known = field.annotation is not None and said(field.annotation) != "object"
        yield dataclasses.replace(field, annotation=field.annotation if known else None, kw_only=left_out)


def _name_field(info: ClassInfo, project: Project) -> Iterator[Field]:
    if own_name.is_read(info, project):
        source = own_name.stub()
        (node,) = source.by_kind[ast.ClassDef]
        assert isinstance(node, ast.ClassDef)
        for field in _fields(ClassInfo("", node, source, ()), project):
            yield dataclasses.replace(field, kw_only=True)


def _is_classvar(annotation: ast.expr) -> bool:
    text = said(annotation)
    return text.startswith(("ClassVar", "typing.ClassVar", "t.ClassVar"))


def _fields(info: ClassInfo, project: Project) -> Iterator[Field]:
    kw_only = any(k.arg == "kw_only" and getattr(k.value, "value", False) is True for k in info.node.keywords)
    for decorator in info.node.decorator_list:
        if isinstance(decorator, ast.Call):
            kw_only |= any(k.arg == "kw_only" and getattr(k.value, "value", False) is True for k in decorator.keywords)
    after_marker = False
    for stmt in info.node.body:
        if not isinstance(stmt, ast.AnnAssign) or not isinstance(stmt.target, ast.Name):
            continue
        annotation = said(stmt.annotation)
        if _is_classvar(stmt.annotation):
            continue
        if annotation in ("KW_ONLY", "dataclasses.KW_ONLY"):
            after_marker = True
            continue
        default, factory, only, init = stmt.value, None, kw_only or after_marker, True
        if isinstance(default, ast.Call):
            called = project.qualname(info.source, default.func) or ""
            if called in ("dataclasses.field", "flax.struct.field"):
                options = {k.arg: k.value for k in default.keywords}
                factory, only_node = options.get("default_factory"), options.get("kw_only")
                if only_node is not None:
                    only = bool(getattr(only_node, "value", False))
                default = options.get("default")
                init = getattr(options.get("init"), "value", True) is not False
        yield Field(stmt.target.id, stmt.annotation, default, factory, stmt, info.source, only, init)


def _class_attributes(info: ClassInfo) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for stmt in info.node.body:
        if isinstance(stmt, ast.Assign):
            for target in stmt.targets:
                for name in bound_names(target):
                    if (value := value_given(stmt, name)) is not None:
                        found[name] = value
        elif isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.value is not None:
            if _is_classvar(stmt.annotation):
                found[stmt.target.id] = stmt.value
    return found


def is_decorated_abstract(project: Project, source: SourceFile, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Is it an abstract method, whatever its body does?"""
    return any(project.qualname(source, d) in _ABSTRACT for d in function.decorator_list)


def is_abstract(project: Project, source: SourceFile, function: ast.FunctionDef) -> bool:
    """Is it an abstract method without a body, in whose place another one is called: documentation, `pass` or `...`?"""
    if not function.decorator_list or not is_decorated_abstract(project, source, function):
        return False
    said = [s.value for s in function.body if isinstance(s, ast.Expr)]
    only = all(isinstance(s, ast.Pass | ast.Expr) for s in function.body)
    return only and all(isinstance(value, ast.Constant) for value in said)
