"""Objects of the project's classes that are no modules: what calling them, or a method of theirs, gives.

`self.attend = Attention(heads, size)` in setup holds such an object, and `self.attend(q, k, v)` gives an array that a layer
takes. The method is followed with what the constructor was given. None of its code is ever in the constructor of the module,
so that only sizes come back which the module itself can say. What makes modules there makes them for whoever calls it.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...frozen import frozen
from ...source import SourceFile
from ...trees import said, subtree
from ..lifted.higher_order import TRANSPARENT
from ..modules.lost_factories import factories_in
from ..modules.made_by_text import kind_of, makes_modules
from ..outside.made_outside import outside
from ..project.classes import Field
from ..values.arguments import Arguments, defaults_of, parameters_of, stored_names
from ..values.bundles import Bundle, map_values
from ..values.dims import Atom, Dim
from ..values.environment import Env
from ..values.sites import Abs, Block, Static, Unmigratable
from ..values.values import Array, Const, Global, Int, Real, Shape, ShapeOf, Tup, Unknown, Value

# Decorators that leave a class what its text says.
_PLAIN_DECORATORS = frozenset({"dataclass", "register_pytree_node_class", "final", "runtime_checkable"})
_PLAIN_BASES = frozenset({"object", "abc.ABC", "typing.Generic", "builtins.object"})
# Refusals that say that the code works with modules, whatever else is not known of it.
_OF_MODULES = frozenset({"NNX130", "NNX135", "NNX136"})


@frozen(eq=False)
class Made:
    """How an object was made: its class, that one's bases, and what the constructor was given."""

    classes: tuple[tuple[SourceFile, ast.ClassDef], ...]
    given: Mapping[str, Value]
    text: str = ""  # the field that holds it, where what it was given is not known

    def method(self, name: str) -> tuple[SourceFile, ast.FunctionDef] | None:
        for source, statement in self.classes:
            for child in statement.body:
                if isinstance(child, ast.FunctionDef) and child.name == name:
                    return source, child
        return None


@frozen
class PlainObject(Static):
    """An object that the constructor makes, too; to it, it is a text like any other."""

    made: Made | None = dataclasses.field(default=None, compare=False)
    of_fields: ClassVar[bool] = True


@frozen
class CallObject(Unknown):
    """An object that is made anew in every call."""

    made: Made | None = dataclasses.field(default=None, compare=False)


@frozen
class PlainMethod(Static):
    """A method of such an object."""

    made: Made | None = dataclasses.field(default=None, compare=False)
    name: str = dataclasses.field(default="", compare=False)


@frozen
class CallMethod(Unknown):
    """A method of an object that is made in the call, or of the object whose method is being followed."""

    made: Made | None = dataclasses.field(default=None, compare=False)
    name: str = dataclasses.field(default="", compare=False)


def made_object(run: Any, qualname: str, arguments: Arguments, found: Abs) -> Abs:
    """The object that a call of a class makes; `found` as it is where the class is not such a one."""
    classes = _classes(run, qualname)
    if classes is None or arguments.starred():
        return found
    values = [a.value for _, a in arguments.positional] + [a.value for _, _, a in arguments.keywords]
    if any(run.holds_module(v) or next(factories_in(v), None) is not None for v in values):
        return found
    positional = [a.value for _, a in arguments.positional]
    keywords = {k: a.value for k, _, a in arguments.keywords if k is not None}
    made = Made(classes, {})
    init = made.method("__init__")
    if init is not None:
        bound = _bound(run, init[1], init[0], [Unknown("self"), *positional], keywords)
        if bound is None:
            return found
        made = Made(classes, {name: value.value for name, value in bound.items()})
    else:
        names = _dataclass_fields(classes)
        if len(positional) > len(names):
            return found
        made = Made(classes, {**dict(zip(names, positional)), **keywords})
    if isinstance(found.value, Static):
        return dataclasses.replace(found, value=PlainObject(found.value.text, found.value.deps, made=made))
    if type(found.value) is Unknown:
        return dataclasses.replace(found, value=CallObject(found.value.why, made=made))
    return found


def static_method(run: Any, qualname: str) -> CallMethod | None:
    """`package.Owner.method` where that is a static method of a class that is no module."""
    owner, _, name = qualname.rpartition(".")
    classes = _classes(run, owner) if owner else None
    made = Made(classes, {}) if classes is not None else None
    method = made.method(name) if made is not None else None
    return CallMethod(f"`{name}`", made=made, name=name) if method is not None and _is_static(method[1]) else None


def of_field(run: Any, field: Field) -> PlainObject | None:
    """What a field holds that is annotated with a class of the project which is no module: `config: ModelConfig`.

    It may be given a subclass of it; then a size that is taken from here and is wrong fails where the array meets the layer.
    """
    node = field.annotation
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        node = ast.Name(node.value, ast.Load())
    if isinstance(node, ast.Subscript) and said(node.value).rpartition(".")[2] == "Optional":
        node = node.slice
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    dotted = said(node)
    head, _, rest = dotted.partition(".")
    names = field.source.names
    target = names.imports.get(head) or (f"{field.source.module}.{head}" if head in names.definitions else None)
    if target is None:
        return None
    classes = _classes(run, run.project.canonical(f"{target}.{rest}" if rest else target), open_to_others=True)
    if classes is None:
        return None
    text = f"self.{field.name}"
    return PlainObject(text, made=Made(classes, {}, text))


def _classes(run: Any, qualname: str, open_to_others: bool = False) -> tuple[tuple[SourceFile, ast.ClassDef], ...] | None:
    """A class and its bases, the class first; None where it is a module, or something of it stands elsewhere.

    `open_to_others`: bases of other packages and decorators are no matter.
    """
    found: list[tuple[SourceFile, ast.ClassDef]] = []
    waiting = [qualname]
    while waiting:
        name = waiting.pop(0)
        if name in _PLAIN_BASES and found:
            continue
        known = run.project.definition(name)
        if open_to_others and found and known is None:
            continue
        if known is None or not isinstance(known[1], ast.ClassDef) or known[1].keywords or len(found) > 8:
            return None
        if run.analyser.classes.get(name) is not None or name in run.project.linen_classes:
            return None
        source, statement = known
        for decorator in statement.decorator_list if not open_to_others else ():
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(head).rpartition(".")[2] not in _PLAIN_DECORATORS:
                return None
        found.append((source, statement))
        for base in statement.bases:
            head = base.value if isinstance(base, ast.Subscript) else base
            waiting.append(run.project.qualname(source, head) or ast.unparse(head))
    return tuple(found) or None


def _dataclass_fields(classes: tuple[tuple[SourceFile, ast.ClassDef], ...]) -> list[str]:
    found: list[str] = []
    for _, statement in classes[::-1]:
        own = [s.target.id for s in statement.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        found += [name for name in own if name not in found]
    return found


def _bound(
    run: Any, node: ast.FunctionDef, source: SourceFile, positional: list[Value], keywords: Mapping[str, Value]
) -> dict[str, Abs] | None:
    """The parameters of a function as one call binds them; None where the two do not fit."""
    names = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]
    every = parameters_of(node)
    if len(positional) > len(names) and node.args.vararg is None:
        return None
    if any(k not in every for k in keywords) and node.args.kwarg is None:
        return None
    bound = {name: Abs(value) for name, value in zip(names, positional)}
    bound |= {name: Abs(value) for name, value in keywords.items() if name in every}
    for name, default in defaults_of(node).items():
        if name not in bound:
            bound[name] = Abs(run.constant(default, source).value)
    for name in every:
        bound.setdefault(name, Abs(Unknown(f"argument {name}")))
    return bound


# What it holds -----------------------------------------------------------------------------------------------------


def attribute(run: Any, value: PlainObject | CallObject, node: ast.Attribute, static: bool) -> Abs:
    """`object.name`: a method, what the constructor assigned once, a constant of the class; else what it was before."""
    assert value.made is not None
    name, method = node.attr, value.made.method(node.attr)
    if method is not None and not method[1].decorator_list:
        if isinstance(value, PlainObject):
            return Abs(PlainMethod(f"{value.stem}.{name}", value.deps, made=value.made, name=name), static)
        return Abs(CallMethod(f"{value.why}.{name}", made=value.made, name=name))
    if method is not None and kind_of(method[1]) == "staticmethod":
        return Abs(CallMethod(f"`{name}`", made=value.made, name=name))
    if method is not None:  # a property, a class method, or what is decorated in another way
        _unseen(run, method, node)
    if isinstance(value, PlainObject):  # the module's own code reads it off the object, which the constructor has
        return Abs(Static(f"{value.stem}.{name}", value.deps), static)
    if value.made.text:
        return Abs(Static(f"{value.made.text}.{name}"))
    return Abs(_held(run, value.made, name))


def _held(run: Any, made: Made, name: str) -> Value:
    """What an attribute holds that is assigned at one place alone: by the constructor, under no condition."""
    tables = [_assigned(statement) for _, statement in made.classes]
    stored = [node for table in tables for node in (*table.get(name, ()), *table[""])]
    unknown = Unknown(f"the attribute `{name}` of an object")
    init = made.method("__init__")
    if not stored and init is None and name in made.given:
        return made.given[name]  # of a dataclass
    if len(stored) != 1 or init is None:
        return unknown
    source, function = init
    for statement in function.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None or stored[0] not in targets:
            continue
        names = {n: Abs(v) for n, v in made.given.items()}
        names |= {n: Abs(Unknown(n)) for n in stored_names(function)}
        names[function.args.args[0].arg] = Abs(Unknown("the object that is being made"))
        found: Value = run.evaluate(value, Env(names, source)).value
        return found
    return unknown


@functools.lru_cache(maxsize=1024)
def _assigned(statement: ast.ClassDef) -> Mapping[str, Sequence[ast.AST]]:
    """Attribute → where a class assigns it, on whatever object; under "" are computed names, which may be any."""
    found: dict[str, list[ast.AST]] = {"": []}
    for node in subtree(statement):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.setdefault(node.attr, []).append(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            if (node.func.id if isinstance(node.func, ast.Name) else node.func.attr) in ("setattr", "__setattr__"):
                found[""].append(node)
    return found


# Calls -------------------------------------------------------------------------------------------------------------


def call_plain(run: Any, value: Value, arguments: Arguments, env: Any) -> Abs | None:
    """The result of calling such an object or its method; None for anything else, and where it cannot be followed."""
    made = getattr(value, "made", None)
    if not isinstance(made, Made):
        return None
    name = value.name if isinstance(value, PlainMethod | CallMethod) else "__call__"
    found = made.method(name)
    given = [a.value for _, a in arguments.positional] + [a.value for _, _, a in arguments.keywords]
    held = any(run.holds_module(v) or next(factories_in(v), None) is not None for v in given)
    if found is None:
        return None
    source, function = found
    if held or arguments.starred():
        _unseen(run, found, arguments.node)
        return None
    positional = [run.plain(a.value) for _, a in arguments.positional]
    keywords = {k: run.plain(a.value) for k, _, a in arguments.keywords if k is not None}
    own: list[Value] = [] if _is_static(function) else [CallObject("self", made=made)]
    bound = _bound(run, function, source, [*own, *positional], keywords)
    if bound is None or not _may_be_followed(run, function, source):
        _unseen(run, found, arguments.node)
        return None
    key = (function, *[(k, v.value) for k, v in bound.items()], *made.given.items(), made.text)
    known_result: dict[Any, Value] = run.analyser.plain_results
    if key in known_result:  # nothing else has a part in it
        result, makes = known_result[key], False
    else:
        result, makes = _followed(run, function, Env(bound, source, caller=env), arguments.node)
        if not makes:
            known_result[key] = result
    if isinstance(value, Static) and arguments.static:  # the constructor calls it, too
        said: Abs = run._static_text(arguments.node, True, arguments.flags, env)
        module = outside(run, result, said.value) if makes and isinstance(said.value, Static) else None
        if makes and module is None:
            raise _makes(arguments.node)
        return dataclasses.replace(said, value=module) if module is not None else None
    if makes:
        raise _makes(arguments.node)
    known = _atoms([*given, *[v.value for v in bound.values()], *made.given.values()])
    texts = (*[v.text for v in [*given, *made.given.values()] if isinstance(v, Static)], *([made.text] if made.text else []))
    return Abs(_sayable(result, known, texts), False, arguments.flags)


def _is_static(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(d) == "staticmethod" for d in function.decorator_list)


def _may_be_followed(run: Any, function: ast.FunctionDef, source: SourceFile) -> bool:
    """Is it what its text says: no generator, and under no decorator that changes what it gives?"""
    for decorator in function.decorator_list:
        head = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = run.project.qualname(source, head) or ast.unparse(head)
        if name not in TRANSPARENT and name != "staticmethod":
            return False
    return run.depth < 20 and not any(isinstance(n, ast.Yield | ast.YieldFrom) for n in subtree(function))


def _unseen(run: Any, found: tuple[SourceFile, ast.FunctionDef], node: ast.expr) -> None:
    """Raises Unmigratable for a method that is not followed and makes modules, as its text says."""
    source, function = found
    owner = source.parents[function]
    name = f"{source.module}.{owner.name}" if isinstance(owner, ast.ClassDef) else ""
    if makes_modules(run.project, source, function, set(), owner=name):
        raise _makes(node)


def _makes(node: ast.expr) -> Unmigratable:
    called = node.func if isinstance(node, ast.Call) else node
    what = f"`{ast.unparse(called)}` makes or lifts submodules for the module that calls it, in a class that is none"
    return Unmigratable("NNX135", what, node)


def _followed(run: Any, function: ast.FunctionDef, env: Env, node: ast.Call) -> tuple[Value, bool]:
    """What a function gives none of whose code is in the constructor, and whether it makes modules."""
    snapshot, before, place = run._snapshot(), len(run.sites), run.mark
    run.block = Block()
    run.mark = (run.block, 0)
    run.apart += 1
    problem: Unmigratable | None = None
    result: Value = Unknown(f"the result of `{run.project.said(node.func)}`")
    try:
        result = run.run_function(function, env).value
    except Unmigratable as error:
        problem = error
    makes = any(site.kind != "rng" for site in run.sites[before:])
    run.apart -= 1
    run.mark = place
    run._rollback(snapshot)
    if problem is not None and (makes or problem.code in _OF_MODULES):
        raise _makes(node)
    return result, makes


def _atoms(values: list[Value]) -> frozenset[Atom]:
    """What the sizes in some values are made of."""
    found: set[Atom] = set()

    def look(value: Value) -> Value:
        if isinstance(value, Int):
            found.update(value.dim.atoms())
        elif isinstance(value, Array | ShapeOf):
            lead = value.shape.lead
            for dim in (*value.shape.dims, *(lead.head if lead is not None else ())):
                if dim is not None:
                    found.update(dim.atoms())
        elif isinstance(value, Tup):
            for item in value.items:
                look(item)
        elif isinstance(value, Bundle):
            map_values(value, look)
        return value

    for value in values:
        look(value)
    return frozenset(found)


def _sayable(value: Value, known: frozenset[Atom], texts: tuple[str, ...]) -> Value:
    """A result without sizes that only the followed code can say."""

    def is_said(atom: Atom) -> bool:
        if atom in known or atom.kind not in ("local", "opaque", "cond", "expr"):
            return True
        return atom.kind == "opaque" and any(atom.args[0] == t or atom.args[0].startswith(f"{t}.") for t in texts)

    def dim_of(dim: Dim | None) -> Dim | None:
        return dim if dim is not None and all(is_said(atom) for atom in dim.atoms()) else None

    def shape_of(shape: Shape) -> Shape:
        lead = shape.lead
        if lead is not None and lead.head:
            lead = dataclasses.replace(lead, head=tuple(dim_of(d) for d in lead.head))
        return Shape(tuple(dim_of(d) for d in shape.dims), lead)

    unknown = Unknown("a size of an object's own")
    if isinstance(value, Array):
        return dataclasses.replace(value, shape=shape_of(value.shape))
    if isinstance(value, ShapeOf):
        return ShapeOf(shape_of(value.shape), value.kind)
    if isinstance(value, Int):
        return value if dim_of(value.dim) is not None else unknown
    if isinstance(value, Tup):
        return Tup(tuple(_sayable(item, known, texts) for item in value.items), value.kind)
    if isinstance(value, Bundle):
        return map_values(value, lambda item: _sayable(item, known, texts))
    if isinstance(value, Const | Global):
        return value
    if isinstance(value, Real):
        return unknown
    if type(value) is Unknown:
        return value
    return Unknown(value.why) if isinstance(value, Unknown) else Unknown("what an object gives")


__all__ = ["CallObject", "PlainObject", "attribute", "call_plain", "made_object", "of_field", "static_method"]
