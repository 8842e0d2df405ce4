"""Modules that code outside of modules hands to a module's constructor: `AutoEncoder(Encoder(8), Decoder(3))`.

In Linen such a module is a description that its new owner makes parameters for: a template. In NNX it would have to be made
before its owner, with its sizes and random streams, which such code does not hold. Where every module that a class is handed
comes from calls that can be followed, and goes to constructors alone (see `template_flow.py`), it becomes a factory that the
owner calls; a class that is handed others (lists of them, attributes of other objects) stays Linen.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...source import SourceFile
from ...trees import children, of_kind, subtree
from ..flow.function_calls import FunctionCalls, parameters
from ..project import configured
from . import model_makers
from .classes_outside import classes, may_be_class
from .module_holders import ModuleHolders, may_call
from .template_flow import Lost, Template, TemplateFlow

# Layers that may be handed over, with the size that their counterpart in NNX asks for.
TEMPLATE_LAYERS = {
    **dict.fromkeys(("flax.linen.Dense", "flax.linen.Conv", "flax.linen.ConvTranspose"), "in_features"),
    **dict.fromkeys((f"flax.linen.{n}Norm" for n in ("Layer", "RMS", "Batch", "Group")), "num_features"),
    "flax.linen.Dropout": "",
}
# Methods that put modules into what holds them.
GROWING = ("append", "extend", "insert", "update")
# What gives the items of what it is given, in another container or a copy of it.
_COLLECTING = frozenset({"dict", "list", "tuple", "zip", "enumerate", "reversed"})
_COPYING = frozenset({"copy.copy", "copy.deepcopy", "flax.core.freeze", "flax.core.FrozenDict"})
_OUT_OF = frozenset({"items", "values", "get", "pop", "copy"})
_MAX_DEPTH = 4
_Defaults = Callable[[str], Mapping[str, tuple[SourceFile, ast.Call]]]  # class → field → the module that it is by default


@dataclasses.dataclass(frozen=True)
class GivenOutside:
    """What classes are given outside of modules."""

    refused: dict[str, str]  # class → where it is given a module that is no template, and why that is none
    templates: dict[str, Mapping[str, tuple[Template, ...]]]  # class → field → what it is given, for all other classes
    nothing: frozenset[tuple[str, str]]  # the classes and fields that are given None
    takers: Mapping[Template, frozenset[str]]  # the classes that a module is handed to
    holds: Callable[[SourceFile, ast.expr], bool]  # may an expression hold a module, or a list of them?
    fields: Mapping[str, frozenset[str]]  # class → its fields that are given modules of either kind
    unnamed: frozenset[str]  # classes that are given modules under no field's name
    givers: Sequence[tuple[str, SourceFile, ast.expr]]  # the classes, and what each call gives them that may be a module
    functions: FunctionCalls
    unknown: Mapping[str, frozenset[str]]  # class → its fields that are given what is not followed
    # Class → its fields of modules that are not followed, and need not be: see `handed`.
    handed: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)


def given_outside(classes: Any, fields: Callable[[str], Sequence[str]], defaults: _Defaults) -> GivenOutside:
    """`fields`: those of a class, in the order in which its constructor takes them; `defaults`: what some are by default."""
    return _Reader(classes, fields, defaults).read()


class _Reader:
    def __init__(self, classes: Any, fields: Callable[[str], Sequence[str]], defaults: _Defaults) -> None:
        self.classes = classes
        self.project = classes.project
        self.fields = fields
        self.defaults = defaults
        self.flow = TemplateFlow(self.project, self.is_template)
        self.refused: dict[str, str] = {}
        self.templates: dict[str, dict[str, set[Template]]] = {}
        self.nothing: set[tuple[str, str]] = set()
        self.handed: dict[str, set[str]] = {}  # class → the fields that are given modules
        self.unknown: dict[str, set[str]] = {}
        self.unnamed: set[str] = set()
        self.givers: list[tuple[str, SourceFile, ast.expr]] = []
        self.takers: dict[Template, frozenset[str]] = {}
        self.others: list[tuple[str, str, str]] = []  # class, field and place of what may be a module, or may not
        self._held: dict[tuple[SourceFile, ast.AST | None], set[str]] = {}
        # What is a matter of the project's text alone: what functions return, what is called that may be a class.
        self._returns: dict[ast.FunctionDef, list[ast.expr]] = {}
        self._classes: dict[ast.expr, bool] = {}

    def read(self) -> GivenOutside:
        for source in self.project.files.values():
            if self.project.class_words.isdisjoint(source.words):
                continue
            for function in _scopes(self.project, source):
                for call in _body(source, function).calls:
                    self._read(source, call, function)
        self._read_defaults()
        self._read_configurations()
        for target, name, place in self.others:
            if name in self.templates.get(target, {}) or (name == "" and target in self.templates):
                self.refused.setdefault(target, f"{place}: it is given something else, too")
        self._spread()
        kept: dict[str, Mapping[str, tuple[Template, ...]]] = {
            target: {name: tuple(sorted(given, key=_order)) for name, given in by.items()}
            for target, by in self.templates.items()
            if target not in self.refused
        }
        handed = {target: frozenset(names) for target, names in self.handed.items()}
        return GivenOutside(
            *(self.refused, kept, frozenset(self.nothing), self.takers, self.holds, handed, frozenset(self.unnamed)),
            *(self.givers, self.flow.functions, {target: frozenset(names) for target, names in self.unknown.items()}),
        )

    def _read(self, source: SourceFile, call: ast.Call, function: ast.AST | None) -> None:
        """Note what a call gives to a class."""
        target = model_makers.own_class(self.project, source, call.func) or self.project.qualname(source, call.func)
        place = f"{source.path.name}:{call.lineno}"
        if target == "functools.partial" and call.args:
            target = self.project.qualname(source, call.args[0])
            if target in self.project.linen_classes:
                order = self.fields(target)[: len(call.args) - 1]
                self.others += [(target, n, place) for n in _given(call, order)]
                held = self.held(source, function)
                if any(self.makes_module(source, a, held) for a in [*call.args[1:], *(k.value for k in call.keywords)]):
                    self.unnamed.add(target)  # which lends what is made of it one module
            else:
                self._read_chosen(source, call, function)
            return
        if target not in self.project.linen_classes:
            self._read_chosen(source, call, function)
            return
        held = self.held(source, function)
        order = self.fields(target)
        pairs = [*zip(order, call.args), *_named(call)]
        plain: set[str] = set()
        for name, node in pairs:
            if name == "None" and self.makes_module(source, node, held):
                self.refused.setdefault(target, f"{place}: `**{ast.unparse(node)[:40]}` is not followed")
                self.unnamed.add(target)
            if isinstance(node, ast.Constant):
                plain.add(name)
                if node.value is None:
                    self.nothing.add((target, name))
                continue
            handed = self.makes_module(source, node, held)
            if handed:
                self.handed.setdefault(target, set()).add(name)
                self.givers.append((target, source, node))
            try:
                found, nothing = self.flow.origins(source, node)
                for template in found:
                    self.takers[template] = frozenset(taker.target for taker in self.flow.takers(template))
            except Lost as error:
                if handed:
                    self.refused.setdefault(target, f"{place}: {error}")
                    plain.add(name)
                elif not self._is_called_by_modules(source, function):
                    self._note_unknown(target, name, source, node)
                continue
            if nothing:
                self.nothing.add((target, name))
            elif not (found or handed or self._is_called_by_modules(source, function)):
                self._note_unknown(target, name, source, node)
            if found:
                self.handed.setdefault(target, set()).add(name)
                self.templates.setdefault(target, {}).setdefault(name, set()).update(found)
            plain.add(name)
        if any(isinstance(a, ast.Starred) and self.makes_module(source, a, held) for a in call.args):
            self.unnamed.add(target)
        if any(self.makes_module(source, a, held) for a in call.args[len(order) :]):
            self.refused.setdefault(target, f"{place}: it has no field for it")
            self.unnamed.add(target)
        self.others += [(target, name, place) for name in _given(call, order[: len(call.args)]) if name not in plain]

    def _is_called_by_modules(self, source: SourceFile, function: ast.AST | None) -> bool:
        """Is it a helper of modules, which is followed with them?"""
        calls = self.flow.functions.found(source, function) if isinstance(function, ast.FunctionDef) else []
        return any(call in self.project.inside_modules for _, call in calls)

    def _read_chosen(self, source: SourceFile, call: ast.Call, function: ast.AST | None) -> None:
        """Note what a call gives to the classes that it may mean: `HEADS[name](encoder)`, `partial(cls, encoder=other)`."""
        partial = self.project.qualname(source, call.func) == "functools.partial"
        made = call.args[0] if partial else call.func
        if not isinstance(made, ast.Name | ast.Subscript | ast.Call | ast.IfExp):
            return
        given = [*enumerate(call.args[partial:]), *((k.arg, k.value) for k in call.keywords)]
        if all(isinstance(node, ast.Constant) for _, node in given) or self._is_known(source, made):
            return
        held = self.held(source, function)
        modules = [(key, node) for key, node in given if self.makes_module(source, node, held)]
        place = f"{source.path.name}:{call.lineno}: its class is chosen when the program runs"
        for target in dict.fromkeys(classes(self.flow.functions, source, made, self._makes) if modules else ()):
            order = self.fields(target) if target else ()
            for key, node in modules:
                name = order[key] if isinstance(key, int) and key < len(order) else key
                if target and isinstance(name, str) and name in order:
                    self.handed.setdefault(target, set()).add(name)
                    self.givers.append((target, source, node))
                    self.refused.setdefault(target, place)

    def _is_known(self, source: SourceFile, made: ast.expr) -> bool:
        """Is it a name of a file, or of a package, for what is neither a module class nor computed?"""
        if not isinstance(made, ast.Name) or source.names.binding_scope(made.id, made) is not None:
            return False
        found = self.project.definition(self.project.qualname(source, made) or "")
        return found is None or not isinstance(found[1], ast.Assign | ast.AnnAssign)

    def _read_defaults(self) -> None:
        """Note the modules that fields hold where nothing is given."""
        for target in sorted(self.project.linen_classes):
            for name, (source, call) in self.defaults(target).items():
                if self.is_template(source, call):
                    template = Template(source, call)
                    self.takers[template] = frozenset({target})
                    self.templates.setdefault(target, {}).setdefault(name, set()).add(template)

    def _read_configurations(self) -> None:
        """Note the modules that configurations hand over."""
        for made in self.project.made_by_configurations.values():
            for target, name in made.within:
                if target in self.project.linen_classes:
                    self.handed.setdefault(target, set()).add(name)
                    self.refused.setdefault(target, f"{made.place}: a configuration makes it")

    def _spread(self) -> None:
        """What is handed to a class that stays Linen cannot be a factory for another."""
        by_target = {t: {m for given in by.values() for m in given} for t, by in self.templates.items()}
        while True:
            lost = {m for target in self.refused for m in by_target.get(target, ())}
            lost |= {m for m, takers in self.takers.items() if not self.refused.keys().isdisjoint(takers)}
            news = [(t, min(lost & own, key=_order)) for t, own in by_target.items() if t not in self.refused and lost & own]
            if not news:
                return
            for target, shared in news:
                place = f"{shared.source.path.name}:{shared.call.lineno}"
                self.refused[target] = f"{place}: a class that stays Linen is given it, too"

    def is_template(self, source: SourceFile, call: ast.Call) -> bool:
        """Does a call make a module of the project's, or a layer that takes nothing but sizes, flags and functions?"""
        name = self.project.qualname(source, call.func) or ""
        starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
        named = any(k.arg in ("name", "parent") for k in call.keywords)
        return (name in self.project.linen_classes or name in TEMPLATE_LAYERS) and not starred and not named

    def held(self, source: SourceFile, function: ast.AST | None) -> set[str]:
        """Names of a function (None: of the file) that hold modules, or lists of them."""
        key = (source, function)
        if key in self._held:
            return self._held[key]
        held = self._held[key] = set()
        if function is not None:
            first = function.body[0]  # type: ignore[attr-defined]
            held |= {n for n in self.held(source, None) if source.names.binding_scope(n, first) is None}
        if isinstance(function, ast.FunctionDef):
            held |= self._parameters(source, function)
        self._find_holders(source, _body(source, function), held)
        return held

    def _parameters(self, source: SourceFile, function: ast.FunctionDef) -> set[str]:
        """The parameters of a function that are given modules."""
        return {
            name
            for name in parameters(function)
            for where, value in self.flow.functions.given(source, function, name)
            if self.holds(where, value)
        }

    def _find_holders(self, source: SourceFile, body: _Body, held: set[str]) -> None:
        for _ in range(3):
            before = len(held)
            for targets, values in body.filled:
                if any(self.makes_module(source, value, held) for value in values):
                    held |= {name for target in targets for name in _roots(target)}
            if len(held) == before:
                break

    def holds(self, source: SourceFile, node: ast.expr, depth: int = 0) -> bool:
        """May an expression hold a module, or a list of them?"""
        return self.makes_module(source, node, self.held(source, source.function_of(node)), depth)

    def _makes(self, source: SourceFile, node: ast.expr) -> bool:
        return self.holds(source, node, _MAX_DEPTH - 1)

    def makes_module(self, source: SourceFile, node: ast.expr, held: set[str], depth: int = 0) -> bool:
        """Is this a module, or a display of some?"""

        def inner(*parts: ast.expr) -> bool:
            return any(self.makes_module(source, part, held, depth) for part in parts)

        if isinstance(node, ast.Name):
            return node.id in held
        if isinstance(node, ast.Call):
            name = self.project.qualname(source, node.func) or ""
            if name.startswith("flax.linen."):
                return name.rpartition(".")[2][:1].isupper()
            if (isinstance(node.func, ast.Name) and node.func.id in _COLLECTING) or name in _COPYING:
                return inner(*node.args, *(k.value for k in node.keywords))
            method = node.func if isinstance(node.func, ast.Attribute) else None
            if method is not None and method.attr in _OUT_OF and self._is_value(source, method.value):
                return inner(method.value)
            if name in configured.MAKERS:
                return bool(self.project.made_by_configurations)
            if name in self.project.linen_classes or (depth < _MAX_DEPTH and self._returns_module(source, node, depth)):
                return True
            if node.func not in self._classes:
                self._classes[node.func] = False  # while it is asked
                self._classes[node.func] = may_be_class(self.flow.functions, source, node.func, self._makes)
            return self._classes[node.func]
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return inner(*node.elts)
        if isinstance(node, ast.Dict):
            return inner(*node.values)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return inner(node.elt)
        if isinstance(node, ast.DictComp):
            return inner(node.value)
        if isinstance(node, ast.BinOp):
            return inner(node.left, node.right)
        if isinstance(node, ast.IfExp):
            return inner(node.body, node.orelse)
        if isinstance(node, ast.Subscript | ast.Starred):
            return inner(node.value)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return depth < _MAX_DEPTH and self._attribute_holds(source, node, depth)
        return False

    def _is_value(self, source: SourceFile, node: ast.expr) -> bool:
        """Is it no name of a package, nor of a class or function: a value, also that of a name of a whole file?"""
        name = self.project.qualname(source, node)
        found = self.project.definition(name) if name else None
        return not name or (found is not None and isinstance(found[1], ast.Assign | ast.AnnAssign))

    @functools.cached_property
    def _holders(self) -> ModuleHolders:
        return ModuleHolders(self.project)

    def _note_unknown(self, target: str, name: str, source: SourceFile, node: ast.expr) -> None:
        """Note what is not followed, and may be a module all the same where the class may call it."""
        self.unknown.setdefault(target, set()).add(name)
        named = self.fields(target) if name == "None" else [name]  # `**kwargs`
        asked = [field for field in named if may_call(self.classes, target, field)]
        if not asked or not self._holders.may_hold(source, node):
            return
        for field in asked:
            if name != "None" or field in self._holders.names:
                self.handed.setdefault(target, set()).add(field)
                self.givers.append((target, source, node))
                said = ast.unparse(node)[:40]
                self.refused.setdefault(target, f"{source.path.name}:{node.lineno}: `{said}` is not followed")

    def _attribute_holds(self, source: SourceFile, node: ast.Attribute, depth: int) -> bool:
        """Does a class that is no module put modules into an attribute of its own?"""
        home = next((p for p in source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
        for statement in subtree(home) if home is not None else ():
            if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(t, ast.Attribute) and t.attr == node.attr for t in targets):
                if self.holds(source, statement.value, depth + 1):
                    return True
        return False

    def _returns_module(self, source: SourceFile, call: ast.Call, depth: int) -> bool:
        """Does a function of the project, or of the code around, return modules?"""
        found = self.flow.functions.called(source, call)
        if found is None:
            return False
        home, function = found
        if function not in self._returns:
            own = [s for s in of_kind(function, ast.Return) if home.names.scope_of(s) is function]
            self._returns[function] = [s.value for s in own if s.value is not None]
        return any(self.holds(home, value, depth + 1) for value in self._returns[function])


def _filled(node: ast.AST) -> tuple[Sequence[ast.expr], Sequence[ast.expr]] | None:
    """What a node puts something into, and what it puts there."""
    if isinstance(node, ast.Assign):
        return node.targets, (node.value,)
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return ((node.target,), (node.value,)) if node.value is not None else None
    if isinstance(node, (ast.For, ast.comprehension)):
        return (node.target,), (node.iter,)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
        return (node.func.value,), (*node.args, *(k.value for k in node.keywords))
    return None


def _order(template: Template) -> tuple[str, int, int]:
    return str(template.source.path), template.call.lineno, template.call.col_offset


def _roots(target: ast.expr) -> Iterator[str]:
    """The names that an assignment fills: `encoders` of `encoders["actor"] = ...`."""
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
    for part in target.elts if isinstance(target, ast.Tuple | ast.List) else ():
        yield from _roots(part)


def _given(call: ast.Call, order: Sequence[str]) -> list[str]:
    """The fields that a call gives, "" for any."""
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    return [*order, *("" if name == "None" else name for name, _ in _named(call)), *([""] if starred else [])]


def _named(call: ast.Call) -> list[tuple[str, ast.expr]]:
    """What a call gives by name, also as `**{"layers": layers}`; "None" for what another mapping gives."""
    found: list[tuple[str, ast.expr]] = []
    for keyword in call.keywords:
        value = keyword.value
        keys = value.keys if keyword.arg is None and isinstance(value, ast.Dict) else []
        names = [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        if isinstance(value, ast.Dict) and names and len(names) == len(keys):
            found += zip(names, value.values)
        else:
            found.append((str(keyword.arg), value))
    return found


def _script(source: SourceFile) -> list[ast.stmt]:
    return [s for s in source.tree.body if not isinstance(s, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]


def _scopes(project: Any, source: SourceFile) -> Iterator[ast.AST | None]:
    """The module (None), its functions and those of plain classes; of Linen modules what makes models of them."""
    yield None
    queue: list[ast.AST] = [source.tree]
    while queue:
        for node in children(queue.pop()):
            if isinstance(node, ast.ClassDef):
                bases = [project.qualname(source, b) for b in node.bases]
                if any(b == "flax.linen.Module" or b in project.linen_classes for b in bases):
                    yield from (s for s in node.body if s in model_makers.find(project))
                    continue
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if node in project.stand_elsewhere:
                    continue
                yield node
            if not isinstance(node, ast.expr):  # which holds no definitions
                queue.append(node)


@dataclasses.dataclass(frozen=True)
class _Body:
    """What stands in a body, in the order of its statements."""

    calls: Sequence[ast.Call]
    filled: Sequence[tuple[Sequence[ast.expr], Sequence[ast.expr]]]  # see `_filled`


def _body(source: SourceFile, function: ast.AST | None) -> _Body:
    """The body of a function, or that of a file without its definitions."""
    key = ("given_outside", function or source.tree)
    if key not in source.found:
        body: list[ast.stmt] = _script(source) if function is None else function.body  # type: ignore[attr-defined]
        nodes = [node for statement in body for node in subtree(statement)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        source.found[key] = _Body(calls, [found for node in nodes if (found := _filled(node)) is not None])
    known: _Body = source.found[key]
    return known


__all__ = ["GROWING", "TEMPLATE_LAYERS", "GivenOutside", "Template", "given_outside"]
