"""Which function a call means, what that function makes, and whether its text can stand where it is called."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterator

from ..linen.lifted.lifting import LIFTED
from ..linen.modules import registered
from ..linen.modules.made_by_text import is_maker
from ..linen.project.asked_attributes import asked_by_name, asked_of_arguments
from ..linen.project.index import Project
from ..linen.values.graph_networks import CONCATENATED
from ..source import SourceFile
from ..trees import subtree
from .object_methods import method_of_object
from .partials import partial_of
from .plain_classes import KINDS, method_of_class
from .strings import has_long_string, is_documentation

# Statements and expressions that mean something else, or nothing, in the text of a caller.
_BOUND_TO_A_FUNCTION = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.ClassDef, ast.AsyncFunctionDef, ast.AsyncFor,
    ast.AsyncWith, ast.Import, ast.ImportFrom, ast.Try, ast.TryStar, ast.Match, ast.NamedExpr,
)  # fmt: skip


Key = tuple[str, ...]  # a function, in every version of the project's files


# Decorators that leave what a function computes as it is.
_WITHOUT_EFFECT = frozenset({
    "jax.named_call", "jax.named_scope", "jax.profiler.annotate_function", "typeguard.typechecked", "beartype.beartype",
    "jaxtyping.jaxtyped", "typing.no_type_check",
})  # fmt: skip


class NotInlined(Exception):
    """A call that the function's text cannot stand in for."""


@dataclasses.dataclass(frozen=True)
class Bound:
    """A `functools.partial` through which a function is called, in the caller's text or at the top of a file."""

    call: ast.Call
    source: SourceFile
    of_file: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Callee:
    """A function of the project, where it stands, and how a class calls it."""

    node: ast.FunctionDef
    source: SourceFile
    kind: str  # function | method | static | nested | of an object | class method | static method
    said: ast.expr  # what names it in the caller's text
    bound: tuple[Bound, ...] = ()  # the innermost first

    @property
    def key(self) -> Key:
        """The function's."""
        around = [a.name for a in self.source.ancestors(self.node) if isinstance(a, ast.ClassDef | ast.FunctionDef)]
        return (self.source.module, *reversed(around), self.node.name)

    @functools.cached_property
    def body(self) -> list[ast.stmt]:
        """Its statements without the docstring."""
        first = self.node.body[0]
        documented = (
            isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        )
        return self.node.body[1:] if documented else self.node.body

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Everything in its statements."""
        return [node for statement in self.body for node in subtree(statement)]

    @functools.cached_property
    def locals(self) -> frozenset[str]:
        """The names that the function itself binds, its parameters among them."""
        return self.source.names.bound_in(self.node)

    def is_own(self, node: ast.Name) -> bool:
        """Does a name in its text mean one of its own?"""
        return self.source.names.binding_scope(node.id, node) is self.node

    def is_in(self, node: ast.FunctionDef) -> bool:
        """Is a function one of its own, and not of another one in it?"""
        return self.source.names.bound_by(node) is self.node

    @functools.cached_property
    def free(self) -> list[ast.Name]:
        """The names in its text that are bound outside of it."""
        around = set(self.source.ancestors(self.node))
        names = [n for n in self.nodes if isinstance(n, ast.Name)]
        return [n for n in names if (scope := self.source.names.binding_scope(n.id, n)) is None or scope in around]

    @functools.cached_property
    def captured(self) -> frozenset[str]:
        """Its own names that functions in its text read, perhaps later."""
        return frozenset(n.id for n in self.nodes if isinstance(n, ast.Name) and self.is_own(n) and self._is_later(n))

    def _is_later(self, node: ast.AST) -> bool:
        for outer in self.source.ancestors(node):
            if outer is self.node:
                return False
            if isinstance(outer, ast.Lambda | ast.FunctionDef):
                return True
            if isinstance(outer, ast.GeneratorExp) and not isinstance(self.source.parents[outer], ast.Call):
                return True
        return False

    @functools.cached_property
    def stored(self) -> frozenset[str]:
        """Its own names that its text assigns to."""
        own = (n for n in self.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and self.is_own(n))
        return frozenset(n.id for n in own) | {n.name for n in self.nodes if isinstance(n, ast.FunctionDef)}

    @functools.cached_property
    def attributes_set(self) -> frozenset[str]:
        """The attributes that its text assigns to, of whatever object."""
        return frozenset(n.attr for n in self.nodes if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))

    def _matters(self, decorator: ast.expr) -> bool:
        """Does a decorator do more than name a function in traces, or check the types of what it is given?"""
        head = decorator.func if isinstance(decorator, ast.Call) else decorator
        return (self.source.names.qualname(head) or "") not in _WITHOUT_EFFECT

    def _moves(self, decorator: ast.expr) -> bool:
        """May the decorator of a function in its text do something else where that stands?"""
        head = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._matters(decorator) and self.source.names.qualname(head) != CONCATENATED

    def check(self) -> None:
        """Raises NotInlined for a function whose text means something only where it stands."""
        of_class = self.kind in ("method", "static", *KINDS.values())
        if not self.body or not (of_class or not any(map(self._matters, self.node.decorator_list))):
            raise NotInlined("it is decorated")
        hidden = (n.attr for n in self.nodes if isinstance(n, ast.Attribute))
        if self.kind not in ("function", "method") and any(n.startswith("__") and not n.endswith("__") for n in hidden):
            raise NotInlined("it says a private name of its class")
        for inner in self.nodes:
            if isinstance(inner, ast.FunctionDef) and any(map(self._moves, inner.decorator_list)):
                raise NotInlined("it has a decorated function")
            if isinstance(inner, _BOUND_TO_A_FUNCTION):
                raise NotInlined("its text means something only in a function")
            if has_long_string(self.source, inner) and not is_documentation(self.source, inner):
                raise NotInlined("it has a text of several lines")
            if isinstance(inner, ast.Name) and inner.id in ("super", "__class__", "locals", "globals", "vars"):
                raise NotInlined("it asks where it is")


def callee(project: Project, source: SourceFile, model: ast.ClassDef, func: ast.expr) -> Callee | None:
    """The function of the project that is called by `func` in a method of `model`, a class of `source`; else None."""
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        around = next((a for a in source.ancestors(func) if isinstance(a, ast.ClassDef)), model)
        return _method(source, model, func) if around.name == model.name else None  # else an object's own `self`
    if isinstance(func, ast.Name):
        scope = source.names.binding_scope(func.id, func)
        if scope is not None:
            binders = [n for n in source.names.binders(func.id) if source.names.bound_by(n) is scope]
            nested = binders[0] if len(binders) == 1 else None
            if isinstance(nested, ast.FunctionDef):
                return Callee(nested, source, "nested", func)
            return _by_partial(project, source, model, func)
    if isinstance(func, ast.Attribute) and (known := method_of_object(project, source, model, func)) is not None:
        return Callee(*known, func)
    qualname = project.qualname(source, func)
    module, _, name = (qualname or "").rpartition(".")
    if module == f"{source.module}.{model.name}":  # `Model.make_head(self)`, which no other class's can stand for
        own = _method(source, model, func)
        return dataclasses.replace(own, kind="static") if own is not None else None
    home = source if module == source.module else project.files.get(module)
    found = home.names.definitions.get(name) if home is not None else None
    if home is None or not isinstance(found, ast.FunctionDef):
        of_class = method_of_class(project, source, func)
        return Callee(*of_class, func) if of_class is not None else _by_partial(project, source, model, func)
    if len([n for n in home.names.binders(name) if home.names.bound_by(n) is None]) != 1:
        return None
    return Callee(found, home, "function", func)


def _by_partial(project: Project, source: SourceFile, model: ast.ClassDef, func: ast.expr) -> Callee | None:
    """The function that is called through a partial of it."""
    found = partial_of(project, source, func)
    if found is None:
        return None
    inner = callee(project, found[1], model, found[0].args[0])
    of_file = found[1].names.scope_of(found[0]) is None
    return dataclasses.replace(inner, bound=(*inner.bound, Bound(*found, of_file))) if inner is not None else None


def _method(source: SourceFile, model: ast.ClassDef, func: ast.expr) -> Callee | None:
    """`self.make_layer()`, of a class's own that nothing else in it is called."""
    found = [s for s in model.body if isinstance(func, ast.Attribute) and getattr(s, "name", "") == func.attr]
    if len(found) != 1 or not isinstance(found[0], ast.FunctionDef):
        return None
    method = found[0]
    decorators = [ast.unparse(d).rpartition(".")[2] for d in method.decorator_list]
    if decorators == ["staticmethod"]:
        return Callee(method, source, "static", func)
    if decorators not in ([], ["nowrap"]):
        return None
    spec = method.args
    first = [*spec.posonlyargs, *spec.args][:1]
    return Callee(method, source, "method", func) if first and first[0].arg == "self" else None


def makes(project: Project, source: SourceFile, model: ast.ClassDef, function: Callee, seen: set[ast.AST]) -> bool:
    """Does a function make modules or parameters, itself or by functions that it calls?"""
    if function.node in seen:
        return False
    seen.add(function.node)
    for node in function.nodes:
        if isinstance(node, ast.Return):
            given = (callee(project, function.source, model, said) for said in _returned(function.source, node.value))
            if any(makes(project, source, model, inner, seen) for inner in given if inner is not None):
                return True
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Call):  # `norm()(x)`, of whatever it is given
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("param", "variable"):
            return True
        if any(is_class(project, function.source, n) for n in (node.func, *node.args)):
            return True
        if isinstance(node.func, ast.Subscript) and is_maker(project, function.source, node.func):
            return True  # `{"layer": nn.LayerNorm, "rms": nn.RMSNorm}[kind]()`
        if project.qualname(function.source, node.func) in LIFTED:
            return True
        inner = callee(project, function.source, model, node.func)
        if inner is not None and makes(project, source, model, inner, seen):
            return True
    return False


def gives_classes(project: Project, function: Callee) -> bool:
    """Does a function only choose the class that its caller is to make: `return Plain if kind == "plain" else Deep`?"""
    values = [node.value for node in function.nodes if isinstance(node, ast.Return)]
    given = [list(_returned(function.source, value)) for value in values if not _is_item(project, function.source, value)]
    return bool(values) and all(one and all(is_class(project, function.source, n) for n in one) for one in given)


def _is_item(project: Project, source: SourceFile, node: ast.expr | None) -> bool:
    """Is it an item of a table that decorators fill with classes?"""
    return isinstance(node, ast.Subscript) and bool(registered.entries(project, project.qualname(source, node.value) or ""))


def is_given_makers(project: Project, source: SourceFile, model: ast.ClassDef, call: ast.Call) -> bool:
    """Is a function given others that make modules, to call them: `residual(x, lambda y: nn.Dense(8)(y))`?"""
    for given in [*call.args, *[k.value for k in call.keywords]]:
        if isinstance(given, ast.Lambda):
            calls = [n for n in subtree(given.body) if isinstance(n, ast.Call)]
            if any(isinstance(n.func, ast.Call) or is_class(project, source, n.func) for n in calls):
                return True
            inner = [callee(project, source, model, n.func) for n in calls]
        else:
            inner = [callee(project, source, model, given)]
        if any(f is not None and makes(project, source, model, f, set()) for f in inner):
            return True
    return False


def _returned(source: SourceFile, node: ast.expr | None) -> Iterator[ast.expr]:
    """The functions that may be given back: `return wide if kind else narrow`, `return BLOCKS[kind]`."""
    if isinstance(node, ast.IfExp):
        yield from _returned(source, node.body)
        yield from _returned(source, node.orelse)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        table = getattr(source.names.definitions.get(node.value.id), "value", None)
        yield from table.values if isinstance(table, ast.Dict) else ()
    elif isinstance(node, ast.Name | ast.Attribute):
        yield node


def is_class(project: Project, source: SourceFile, node: ast.expr) -> bool:
    """Does an expression name a layer or a class of modules?"""
    qualname = project.qualname(source, node) if isinstance(node, ast.Name | ast.Attribute) else None
    if qualname is None:
        return False
    layer = qualname.startswith("flax.linen.") and qualname.rpartition(".")[2][:1].isupper()
    return layer or qualname in project.linen_classes


def calls_in(source: SourceFile, model: ast.ClassDef) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    """The calls in the methods of a class, in the order of the text, each with its method."""
    for method in model.body:
        if isinstance(method, ast.FunctionDef):
            calls = [n for n in subtree(method) if isinstance(n, ast.Call)]
            yield from ((method, c) for c in sorted(calls, key=lambda n: (n.lineno, n.col_offset)))


def read_elsewhere(project: Project, source: SourceFile, model: ast.ClassDef, attributes: set[str]) -> bool:
    """May anything outside of a class read one of the attributes of such a module, or this one by another name for it?

    No Linen module may be given an attribute from outside, and `layers.attention` of an imported file is a name of that.
    """
    inside = {id(n) for n in subtree(model)}
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef)]
    if any(asked_of_arguments(m, attributes) for m in methods) or asked_by_name(project, attributes):
        return True
    for other in [source, *[s for module, s in project.files.items() if module != source.module]]:
        for node in other.by_kind.get(ast.Attribute, ()) if attributes & other.words else ():
            assert isinstance(node, ast.Attribute)
            if node.attr not in attributes or id(node) in inside or not isinstance(node.ctx, ast.Load):
                continue
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if not own and project.qualname(other, node.value) not in project.files:
                return True
    return False


__all__ = ["Callee", "Key", "NotInlined", "callee", "calls_in", "is_class", "is_given_makers", "makes"]
