"""Factories that code outside of modules gives to modules: `ResNet18 = partial(ResNet, block_cls=Block)`, scripts.

A local name stands for everything that its function assigns to it and that no later assignment hides, a parameter for
its default and for what the project's calls pass.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...catalog import layers
from ...source import SourceFile
from ...trees import of_kind, said, sides, subtree
from ..execution.analyser import Analyser
from ..execution.execute import Execution
from ..lifted import lifted_aliases
from ..modules import lambda_factories
from ..modules.passed import Kind, constant_of
from ..project.classes import ClassModel
from ..project.index import Project
from ..project.reaching import reaching
from ..values.environment import Env
from ..values.sites import Abs, Factory, Unmigratable
from ..values.values import Unknown, Value
from . import handed
from .given_outside import Template
from .tables import Tables

_MAX_DEPTH = 4
_MAX_COMBINATIONS = 16
_PLAIN = frozenset({"int", "float", "bool", "str", "Dtype", "Sequence[int]", "Tuple[int, int]", "tuple[int, int]"})


def learn(project: Project, analyser: Analyser) -> None:
    """Tell the analyser which factories constructions outside of modules give to fields."""
    reader = analyser.reader = _Reader(project, analyser)
    for source, call in reader.constructions():
        reader.read(source, call)
    for root in [model for model in analyser.classes if not model.bases]:
        _hand(analyser, handed.fields(analyser, root))
    for target, fields in analyser.given_outside.templates.items():
        for field, templates in fields.items():
            for template in templates:
                analyser.takes(target, field, reader.kind(template))


def _hand(analyser: Analyser, fields: Mapping[str, frozenset[str]]) -> None:
    for name, names in fields.items():
        analyser.given_outside.handed[name] = names
        analyser.later.add(name)
        analyser.given_outside.templates.pop(name, None)


def hand_over(analyser: Analyser, names: Iterable[str]) -> bool:
    """Let classes that could not make modules of the factories they were to be given take the modules as they are, where
    they do no more than call them: `Head(Wide(8) if big else Small())`. With them all that are given one of these. Any?
    """
    given, changed = analyser.given_outside, False
    for name in names:
        concerned, before = set[str](), {name}
        while before != concerned:
            concerned = before
            shared = [t for n in concerned for held in given.templates.get(n, {}).values() for t in held]
            before = concerned.union(*(given.takers[t] for t in shared))
        families = [model.mro() for n in concerned if (model := analyser.classes.get(n)) is not None]
        roots = {m.qualname: m for family in families for m in family if not m.bases}
        given.refused.update(dict.fromkeys(concerned - given.refused.keys(), "it is handed over as it is"))
        found = {k: v for root in roots.values() for k, v in handed.fields(analyser, root).items()}
        if concerned <= found.keys():
            changed = True
            _hand(analyser, found)
            for one in found:
                analyser.given.pop(one, None)
                analyser.conflicts.pop(one, None)
        else:
            for one in concerned:
                given.refused.pop(one)
    return changed


class _Reader:
    def __init__(self, project: Project, analyser: Analyser) -> None:
        self.project = project
        self.analyser = analyser
        self.inside = project.inside_modules
        self.calls: dict[str, list[tuple[SourceFile, ast.Call]]] = {}  # function → its calls, partials too
        self.aliases = {alias.qualname: alias.target for alias in lifted_aliases.find(project)}
        self.partials = set(_partials(project))
        self.names = project.class_words | {name.rpartition(".")[2] for name in (*self.aliases, *self.partials)}
        self.factory_fields = {f for model in analyser.classes for f in _factory_fields(model)}
        model = next(iter(analyser.classes), None)
        self.run = Execution(model, analyser) if model is not None else None
        self.tables = Tables(project, self._scope, self._assigned, self.calls)
        self._without_kinds: dict[ast.expr, list[object]] = {}  # what expressions are none of whose local names is a factory

    def constructions(self) -> list[tuple[SourceFile, ast.Call]]:
        """Calls outside of modules that may construct a module of the project or bind its arguments."""
        found: list[tuple[SourceFile, ast.Call]] = []
        for source in self.project.files.values():
            if self.names.isdisjoint(source.words):
                continue
            for node in source.by_kind.get(ast.Call, ()):
                assert isinstance(node, ast.Call)
                if node in self.inside or not (node.args or node.keywords):
                    continue
                called: ast.expr = node.func
                if self.project.qualname(source, called) == "functools.partial" and node.args:
                    called = node.args[0]
                name = self.project.qualname(source, called)
                if name is not None and self.project.definition(name) is not None:
                    self.calls.setdefault(name, []).append((source, node))
                model = self.analyser.classes.get(self.aliases.get(name or "", name))
                given = {k.arg for k in node.keywords}
                if model is not None:
                    places = [f.name for f in model.fields() if not f.kw_only]
                    given |= set(places[: len(node.args) - (called is not node.func)])
                local = model is None and isinstance(called, ast.Name) and self._scope(called, source) is not None
                local |= name in self.partials
                more = None in given if model is not None else local and (None in given or bool(node.args))
                if given & self.factory_fields or more:
                    found.append((source, node))
        return found

    def read(self, source: SourceFile, call: ast.Call) -> None:
        """Evaluate a call: constructing a module tells the analyser what it is given."""
        for value in self.values(call.args[0] if self._is_partial(source, call) else call.func, source, 0):
            if not isinstance(value, Factory) or self.analyser.classes.get(value.target) is None:
                continue
            model = self.analyser.classes.get(value.target)
            assert model is not None
            names = [f.name for f in model.fields() if not f.kw_only]
            given = call.args[1:] if self._is_partial(source, call) else call.args
            names = names[len(value.positional) :]  # a partial of a file has been given the first ones
            arguments = [*zip(names, given), *[(k.arg, k.value) for k in call.keywords if k.arg is not None]]
            tables = [self.tables.entries(k.value, source) for k in call.keywords if k.arg is None]
            held = [(str(key), node, home) for table in tables for key, node, home in table]
            self.analyser.given_by_tables += [(value.target, key, node) for key, node, _ in held]
            for name, node, where in [*[(name, node, source) for name, node in arguments], *held]:
                for kind in self.values(node, where, 0):
                    if isinstance(kind, Factory):
                        if isinstance(kind.node, ast.expr) and kind.source is not None and not kind.variant:
                            self.analyser.given_layers.append((value.target, kind, node))
                        self.analyser.gives(value.target, name, kind, (where, node))

    def kind(self, template: Template) -> Kind:
        """What is known of a module that is handed over: its class, and the constants among its arguments."""
        source, call = template.source, template.call
        name = self.project.qualname(source, call.func)
        model = self.analyser.classes.get(name)
        layer = layers.lookup(name) if name is not None and model is None else None
        assert name is not None and self.run is not None
        if layer is not None:
            names = [p.name for p in layer.parameters]
        else:
            assert model is not None
            names = [f.name for f in model.fields() if not f.kw_only]
        arguments: dict[str, Value | None] = {}
        for field, node in [*zip(names, call.args), *[(str(k.arg), k.value) for k in call.keywords]]:
            arguments[field] = constant_of(self.run.evaluate(node, Env({}, source))) if _is_literal(node) else None
        return Kind(name, layer is not None, arguments)

    def made_by(self, call: ast.Call, source: SourceFile) -> set[str]:
        """The module classes of the project that a call outside of modules may construct."""
        found = [v for v in self.values(call.func, source, 0) if isinstance(v, Factory)]
        return {v.target for v in found if self.analyser.classes.get(v.target) is not None}

    def _is_partial(self, source: SourceFile, call: ast.Call) -> bool:
        return bool(call.args) and self.project.qualname(source, call.func) == "functools.partial"

    def values(self, node: ast.expr, source: SourceFile, depth: int) -> list[object]:
        """Everything that an expression may be, as far as it matters: factories."""
        if depth > _MAX_DEPTH or isinstance(node, ast.Starred):
            return []
        if isinstance(node, ast.IfExp):
            return [*self.values(node.body, source, depth), *self.values(node.orelse, source, depth)]
        if isinstance(node, ast.Name):
            scope = self._scope(node, source)
            if scope is not None:
                return [v for e, s in self._assigned(node, scope, source) for v in self.values(e, s, depth + 1)]
            node, source = self._chosen(node, source)
        looked_up = [v for e, s in self.tables.looked_up(node, source) for v in self.values(e, s, depth + 1)]
        if looked_up:
            return looked_up
        if isinstance(node, ast.Lambda) and self.run is not None:
            made = lambda_factories.as_partial(self.run, node, Env({}, source)) if self._is_plain(node, source) else None
            return [made.value] if made is not None else []
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
            return []
        if isinstance(node, ast.Call) and not self._is_partial(source, node) and not self._is_lifted(source, node):
            return self._returned(node, source, depth)
        return [*self._evaluated(node, source, depth)]

    def _is_plain(self, node: ast.Lambda, source: SourceFile) -> bool:
        """Does a lambda name nothing that a function binds?"""
        return all(self._scope(n, source) is None for n in subtree(node) if isinstance(n, ast.Name))

    def _chosen(self, node: ast.Name, source: SourceFile) -> tuple[ast.expr, SourceFile]:
        """What a name of a file stands for, where that is looked up in a table: `Block = BLOCKS[flag]`."""
        found = self.project.definition(self.project.qualname(source, node) or "")
        value = found[1].value if found is not None and isinstance(found[1], ast.Assign) else None
        return (value, found[0]) if found is not None and isinstance(value, ast.Subscript) else (node, source)

    def _returned(self, node: ast.Call, source: SourceFile, depth: int) -> list[object]:
        """The factories that a function of the project gives: `return partial(Block, width=width)`."""
        name = self.project.qualname(source, node.func)
        found = self.project.definition(name) if name is not None else None
        if found is None or not isinstance(found[1], ast.FunctionDef) or found[1].decorator_list:
            return []
        home, function = found
        given = [s.value for s in subtree(function) if isinstance(s, ast.Return) and home.names.scope_of(s) is function]
        return [v for value in given if value is not None for v in self.values(value, home, depth + 1)]

    def _is_lifted(self, source: SourceFile, node: ast.Call) -> bool:
        return (self.project.qualname(source, node.func) or "").startswith("flax.linen.") and bool(node.args)

    def _evaluated(self, node: ast.expr, source: SourceFile, depth: int) -> Sequence[object]:
        local = {n.id: n for n in subtree(node) if isinstance(n, ast.Name) and self._scope(n, source) is not None}
        kinds = {name: [v for v in self.values(n, source, depth + 1) if isinstance(v, Factory)] for name, n in local.items()}
        if any(kinds.values()):
            return list(self._with_locals(node, source, kinds))
        if node not in self._without_kinds:
            self._without_kinds[node] = list(self._with_locals(node, source, kinds))
        return self._without_kinds[node]

    def _with_locals(self, node: ast.expr, source: SourceFile, kinds: Mapping[str, list[Factory]]) -> Iterator[object]:
        """`kinds`: what its local names may be; of those that are no factories nothing is known."""
        choices: list[list[tuple[str, Value]]] = [
            [*[(name, v) for v in found]] or [(name, Unknown(name))] for name, found in kinds.items()
        ]
        for chosen in itertools.islice(itertools.product(*choices), _MAX_COMBINATIONS):
            env = Env({name: Abs(value, static=True) for name, value in chosen}, source)
            assert self.run is not None  # without a class there is nothing to construct
            try:
                yield self.run.evaluate(node, env).value
            except (Unmigratable, RecursionError):
                continue

    def _scope(self, node: ast.Name, source: SourceFile) -> ast.FunctionDef | None:
        """The function that binds a name, if it is local to one."""
        for parent in source.ancestors(node):
            if isinstance(parent, ast.FunctionDef) and node.id in _bound(source, parent):
                return parent
        return None

    def _assigned(self, use: ast.Name, scope: ast.FunctionDef, source: SourceFile) -> list[tuple[ast.expr, SourceFile]]:
        """What a local name of a function may be given: by assignments, by its default, by calls of the function."""
        name = use.id
        binders: list[ast.Assign | ast.AnnAssign | ast.NamedExpr] = []
        for node in _binding(scope):
            if isinstance(node, ast.Assign):
                if _given_to(node, name) is not None:
                    binders.append(node)
            elif getattr(node.target, "id", "") == name and node.value is not None:
                binders.append(node)
        seen, from_outside = reaching(source, use, scope, binders)
        values = [_given_to(b, name) if isinstance(b, ast.Assign) else b.value for b in seen]
        found: list[tuple[ast.expr, SourceFile]] = [(value, source) for value in values if value is not None]
        if not from_outside:
            return found
        spec = scope.args
        named = [*spec.posonlyargs, *spec.args]
        parameters = [a.arg for a in named]
        defaults = [*zip([a.arg for a in named[len(named) - len(spec.defaults) :]], spec.defaults)]
        defaults += [(a.arg, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None]
        found += [(default, source) for arg, default in defaults if arg == name]
        for where, call in self.calls.get(f"{source.module}.{scope.name}", ()):
            given = call.args[1:] if self._is_partial(where, call) else call.args
            pairs = [*zip(parameters, given), *[(k.arg, k.value) for k in call.keywords]]
            found += [(value, where) for arg, value in pairs if arg == name]
        return found


@functools.lru_cache(maxsize=4096)
def _binding(scope: ast.FunctionDef) -> tuple[ast.Assign | ast.AnnAssign | ast.NamedExpr, ...]:
    """What may give a name of a function something; asked of for every name that stands in it."""
    return tuple(node for node in subtree(scope) if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr))


def _partials(project: Project) -> Iterator[str]:
    """Names of files for partials: `TanhNormal = functools.partial(Normal, squash_tanh=True)`."""
    for source in project.files.values():
        for name, node in source.names.definitions.items() if "partial" in source.words else ():
            value = node.value if isinstance(node, ast.Assign) else None
            if isinstance(value, ast.Call) and value.args and project.qualname(source, value.func) == "functools.partial":
                yield f"{source.module}.{name}"


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _factory_fields(model: ClassModel) -> set[str]:
    """Fields that the class calls or hands on, so that they may hold factories."""
    used: set[str] = set()
    fields = {f.name for f in model.fields() if f.annotation is None or said(f.annotation) not in _PLAIN}
    handed = [node.value for node in of_kind(model.node, ast.Assign)]
    for node in of_kind(model.node, ast.Call):
        handed += [node.func, *node.args, *[k.value for k in node.keywords]]
    for value in itertools.chain.from_iterable(map(sides, handed)):
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self":
            used.add(value.attr)
    return used & fields


def _given_to(statement: ast.Assign, name: str) -> ast.expr | None:
    """What an assignment gives a name, also one of several: `thin, wide = partial(Net, 4), partial(Net, 8)`."""
    for target in statement.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return statement.value
        if not isinstance(target, ast.Tuple) or not isinstance(statement.value, ast.Tuple):
            continue
        pairs = list(zip(target.elts, statement.value.elts))
        if len(target.elts) == len(statement.value.elts) and not any(isinstance(e, ast.Starred) for p in pairs for e in p):
            for one, value in pairs:
                if isinstance(one, ast.Name) and one.id == name:
                    return value
    return None


def _bound(source: SourceFile, scope: ast.FunctionDef) -> frozenset[str]:
    """The names that a function binds, as far as its assignments and parameters say."""
    key = ("outside", scope)
    if key not in source.found:
        source.found[key] = _find_bound(scope)
    known: frozenset[str] = source.found[key]
    return known


def _find_bound(scope: ast.FunctionDef) -> frozenset[str]:
    spec = scope.args
    rest = [a for a in (spec.vararg, spec.kwarg) if a is not None]
    names = {a.arg for a in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *rest]}
    return frozenset(names | {n.id for n in of_kind(scope, ast.Name) if isinstance(n.ctx, ast.Store)})
