"""Symbolic execution of Linen modules: what is made where, of which sizes, and what shapes come out.

One `Execution` follows one class: `setup` first, then `__call__`, then the other public methods. Arrays are shapes,
integers are symbolic, modules are construction sites. Nothing is imported and nothing of the user's code is run.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..source import SourceFile
from . import calls, shape_ops
from .classes import Classes, ClassModel, Field, Method
from .dims import Atom, Dim
from .expressions import Expressions, replace_dims
from .sites import (
    Abs,
    Block,
    Branch,
    CallRecord,
    Factory,
    For,
    Local,
    Localized,
    Module,
    Site,
    Static,
    Table,
    Track,
    Unmigratable,
    Variable,
)
from .values import Array, Const, Int, NeedsRank, Shape, Tup, Unknown, Value

MAX_DEPTH = 24
_OPAQUE = Unknown("")


@dataclasses.dataclass
class Env:
    """Names of one function body. `local` are those whose assignments the constructor can copy."""

    names: dict[str, Abs]
    source: SourceFile
    local: set[str] = dataclasses.field(default_factory=set)
    method: Method | None = None
    parent: Env | None = None
    substituted: dict[str, Localized] = dataclasses.field(default_factory=dict)

    def get(self, name: str) -> Abs | None:
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return env.names[name]
            env = env.parent
        return None

    def is_local(self, name: str) -> bool:
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return name in env.local
            env = env.parent
        return False

    def copy(self) -> Env:
        return Env(dict(self.names), self.source, set(self.local), self.method, self.parent, dict(self.substituted))

    def restore(self, other: Env) -> None:
        self.names = dict(other.names)
        self.local = set(other.local)


@dataclasses.dataclass
class Returned:
    """Values that the `return` statements of one call gave."""

    values: list[Abs] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Summary:
    """What calling a module does to shapes, in terms of its fields and its arguments."""

    parameters: tuple[str, ...]
    defaults: Mapping[str, Abs]
    result: Value


class Execution(Expressions):
    """The execution of one class, with what it found."""

    def __init__(
        self,
        model: ClassModel,
        analyser: Analyser,
        given: Mapping[str, Abs] | None = None,
    ) -> None:
        self.model = model
        self.analyser = analyser
        self.project = analyser.classes.project
        self.given = dict(given or {})
        self.fields: dict[str, Field] = {f.name: f for f in model.fields()}
        self.attributes: dict[str, Abs] = {}  # what setup assigned to self
        self.sites: list[Site] = []
        self.blocks: dict[str, Block] = {}  # entry method → constructor skeleton
        self.block = Block()
        self.loops: list[For] = []
        self.entry = ""
        self.in_setup = False
        self.depth = 0
        self.active: list[ast.AST] = []  # functions that are being executed, outermost first
        self.trial = 0
        self.problems: list[Unmigratable] = []
        self.summaries: dict[str, Summary] = {}
        self.ranks: dict[str, int] = dict(analyser.ranks.get(model.qualname, {}))
        self.sized_arguments: dict[str, list[Dim]] = {}
        self.evaluated: dict[ast.AST, Abs] = {}
        self.trackers: set[str] = set()
        self.used_streams: set[str] = set()
        self.super_calls: list[tuple[ast.Call, Method]] = []
        self.all_names: set[str] = {
            n.id for m in model.methods().values() for n in ast.walk(m.node) if isinstance(n, ast.Name)
        } | {n.arg for m in model.methods().values() for n in ast.walk(m.node) if isinstance(n, ast.arg)}
        self.lazy: set[tuple[str, str]] = set()  # (collection, name) of variables that come to be when called
        self.loose: set[str] = set()  # arrays whose leading dimensions a loop changes
        self.sows: list[ast.Call] = []
        self.assumed_ranks: dict[str, int] = {}
        self.arguments: set[str] = {p.arg for m in model.methods().values() for p in m.parameters}
        self.inlined: set[Method] = set()
        self.mode_flag = False  # batch statistics are used or updated by train() and eval()
        self.constants: dict[ast.Call, str] = {}  # self.is_initializing() and the like → what it is in NNX
        self.carried: dict[Site, list[tuple[str, Dim, Dim]]] = {}  # list elements: tracker, first size, next size
        self.closed: dict[str, Dim] = {}  # tracker → its value after the loop, in terms of fields

    # entry points ----------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Execute setup and every public method; raises Unmigratable where the class cannot become native."""
        setup = self.model.method("setup")
        if setup is not None:
            self.entry, self.in_setup = "setup", True
            self.block = self.blocks["setup"] = Block()
            self._run_body(setup, {})
            self.in_setup = False
        names = list(self.model.methods())
        ordered = [n for n in ("__call__",) if n in names]
        ordered += [n for n in names if not n.startswith("_") and n not in ("setup", "__call__")]
        for name in ordered:
            method = self.model.method(name)
            assert method is not None
            if name != "__call__" and (
                method in self.inlined or {"property", "staticmethod", "classmethod"} & set(method.decorators)
            ):
                continue
            self.entry = name
            self.block = self.blocks[name] = Block()
            arguments = {p.arg: self.argument(method, p) for p in method.parameters}
            if method.node.args.vararg:
                arguments[method.node.args.vararg.arg] = Abs(Unknown(f"*{method.node.args.vararg.arg}"))
            if method.node.args.kwarg:
                arguments[method.node.args.kwarg.arg] = Abs(Unknown(f"**{method.node.args.kwarg.arg}"))
            try:
                result = self._run_body(method, arguments)
            except Unmigratable:
                if name == "__call__" or method.compact or self.sites_of(name):
                    raise
                continue  # a helper that makes nothing and that we cannot follow is left as it is
            defaults = {}
            for p in method.parameters:
                node = method.default(p.arg)
                if node is not None:
                    defaults[p.arg] = self.constant(node, method.source)
            self.summaries[name] = Summary(
                tuple(p.arg for p in method.positional), defaults, self.outward(result.value)
            )

    def wanted_ranks(self) -> tuple[str, ...]:
        """Arguments of the class whose number of dimensions would tell more."""
        found: set[str] = set()
        for value in self.evaluated.values():
            if isinstance(value.value, NeedsRank):
                found.update(value.value.arguments)
            elif isinstance(value.value, Array) and value.value.shape.lead is not None:
                if not value.value.shape.lead.known:
                    found.update(value.value.shape.lead.needs)
        return tuple(sorted(a for a in found if a in self.arguments and a not in self.ranks))

    def outward(self, value: Value) -> Value:
        """A result without the constructor's own variables: sizes after a loop in terms of the fields."""

        def change(atom: Atom) -> Dim | None:
            return self.closed.get(atom.args[0]) if atom.kind == "local" else None

        return map_dims(value, lambda dim: dim.substitute(change))

    def sites_of(self, entry: str) -> list[Site]:
        return [s for s in self.sites if s.method == entry]

    def argument(self, method: Method, parameter: ast.arg) -> Abs:
        """What an argument of an entry method is: an array of unknown shape, or a Python-level flag."""
        name = parameter.arg
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        default = method.default(name)
        if isinstance(default, ast.Constant) and (
            isinstance(default.value, bool | int | float | str) and not isinstance(default.value, complex)
        ):
            return Abs(Unknown(f"argument {name}"), flags=frozenset({name}))
        head = annotation.replace("Optional[", "").replace("typing.", "").rstrip("]").split("|")[0].strip()
        if head in ("bool", "int", "float", "str", "Callable", "Sequence[int]"):
            return Abs(Unknown(f"argument {name}"), flags=frozenset({name}))
        if name in ("train", "training", "deterministic", "is_training", "eval", "test", "rngs", "rng", "mode"):
            return Abs(Unknown(f"argument {name}"), flags=frozenset({name}))
        shape = Shape.argument(name)
        rank = self.ranks.get(name)
        if rank is not None:
            shape = Shape.ranked(name, rank)
        return Abs(Array(shape), flags=frozenset({name}) if default is not None else frozenset())

    def field_value(self, name: str) -> Abs:
        """A field as the constructor sees it: an int is a size, a known factory is that, anything else is text."""
        if name in self.given:
            return self.given[name]
        field = self.fields[name]
        annotation = ast.unparse(field.annotation) if field.annotation is not None else ""
        if annotation in ("int", "'int'", '"int"'):
            return Abs(Int(Dim.field(name)), static=True)
        factory = self.analyser.field_factory(self, field)
        if factory is not None:
            return Abs(factory, static=True)
        length = _tuple_length(field.annotation)
        if length:
            return Abs(Tup(tuple(Int(Dim.opaque(f"self.{name}[{i}]")) for i in range(length))), static=True)
        if isinstance(field.default, ast.Tuple) and annotation.lower().startswith(
            ("tuple", "sequence", "typing.tuple")
        ):
            default = self.constant(field.default, field.source).value
            if isinstance(default, Tup) and default.items and all(isinstance(i, Int) for i in default.items):
                items = tuple(Int(Dim.opaque(f"self.{name}[{i}]")) for i in range(len(default.items)))
                return Abs(Tup(items), static=True)
        return Abs(Static(f"self.{name}"), static=True)

    # bodies ----------------------------------------------------------------------------------------------------
    def _run_body(self, method: Method, arguments: Mapping[str, Abs]) -> Abs:
        env = Env(dict(arguments), method.source, method=method)
        return self.run_function(method.node, env)

    def run_function(self, node: ast.FunctionDef | ast.Lambda, env: Env) -> Abs:
        """Execute a function body whose parameters are bound in `env`."""
        # A function that calls itself more than once would be followed exponentially often.
        if self.depth > MAX_DEPTH or self.active.count(node) > 1:
            return Abs(Unknown("recursion"))
        self.depth += 1
        self.active.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, env)
            returned = Returned()
            self.run_block(node.body, env, returned)
            return self.merge_values(returned.values) if returned.values else Abs(Const(None), static=True)
        finally:
            self.depth -= 1
            self.active.pop()

    def run_block(self, statements: Sequence[ast.stmt], env: Env, returned: Returned) -> bool:
        """Execute statements; True where every path has returned."""
        for position, statement in enumerate(statements):
            if isinstance(statement, ast.If):
                if self._run_if(statement, statements[position + 1 :], env, returned):
                    return True
                if self._took_rest:
                    self._took_rest = False
                    return False
                continue
            if self.run_statement(statement, env, returned):
                return True
        return False

    _took_rest = False

    def run_statement(self, node: ast.stmt, env: Env, returned: Returned) -> bool:
        if isinstance(node, ast.Return):
            returned.values.append(self.evaluate(node.value, env) if node.value else Abs(Const(None), static=True))
            return True
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Expr):
            self.evaluate(node.value, env)
        elif isinstance(node, ast.Assign):
            self._assign(node, node.targets, node.value, env)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._assign(node, [node.target], node.value, env)
        elif isinstance(node, ast.AugAssign):
            self._augmented(node, env)
        elif isinstance(node, ast.For):
            self._run_for(node, env, returned)
        elif isinstance(node, ast.While):
            self._run_while(node, env, returned)
        elif isinstance(node, ast.With):
            for item in node.items:
                value = self.evaluate(item.context_expr, env)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, Abs(Unknown("with"), flags=value.flags), env)
            return self.run_block(node.body, env, returned)
        elif isinstance(node, ast.FunctionDef):
            self._define(node, env)
        elif isinstance(node, ast.Try):
            if self.run_block(node.body, env, returned) and not node.handlers:
                return True
            return self.run_block(node.finalbody, env, returned)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    env.names.pop(target.id, None)
        elif isinstance(node, ast.Match):
            before = len(self.sites)
            for case in node.cases:
                self.run_block(case.body, env.copy(), returned)
            if len(self.sites) > before:
                raise Unmigratable("NNX120", "submodules are made in a match statement", node)
            self._forget_assigned([c for case in node.cases for c in case.body], env)
        return False

    def _forget_assigned(self, statements: Sequence[ast.stmt], env: Env) -> None:
        for statement in statements:
            for child in ast.walk(statement):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    env.names[child.id] = Abs(Unknown(child.id))
                    env.local.discard(child.id)

    def _define(self, node: ast.FunctionDef, env: Env) -> None:
        """A nested function: what it makes is made where it is called; one that needs no array can be copied."""
        closed = not self.in_setup and not node.decorator_list and self._closed(node, env)
        env.names[node.name] = Abs(self.local_function(node, env), static=closed)
        env.local.discard(node.name)
        if self.in_setup:
            env.local.add(node.name)
        elif closed:
            localized = self.localize_function(node, env)
            if localized is not None:
                self.block.steps.append(Local(node, frozenset({node.name}), localized, env.source))
                env.local.add(node.name)

    # assignment ------------------------------------------------------------------------------------------------
    def _assign(self, statement: ast.stmt, targets: list[ast.expr], value_node: ast.expr, env: Env) -> None:
        before = len(self.sites)
        value = self.evaluate(value_node, env)
        made = len(self.sites) > before
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        simple = all(
            isinstance(t, ast.Name) or (isinstance(t, ast.Tuple) and all(isinstance(e, ast.Name) for e in t.elts))
            for t in targets
        )
        copied = False
        if simple and not made and not self.in_setup and names:
            self.keep_stale(names, env)
            localized = self.localize_statement(statement, value_node, value, env)
            if localized is not None:
                self.block.steps.append(Local(statement, frozenset(names), localized, env.source))
                copied = True
                if not value.static and len(names) == 1 and isinstance(targets[0], ast.Name):
                    name = targets[0].id
                    value = Abs(Static(name, frozenset({name})), static=True)
        for target in targets:
            self.bind(target, value, env)
        for name in names:
            if copied or self.in_setup:
                env.local.add(name)
            else:
                env.local.discard(name)

    def keep_stale(self, names: set[str], env: Env) -> None:
        """Sizes that mention a name about to change are saved under a name of their own."""
        affected: dict[Dim, Dim] = {}

        def saved(dim: Dim) -> Dim:
            if not (dim.dependencies() & names):
                return dim
            if dim not in affected:
                tracker = self.tracker("features")
                self.block.steps.append(Track(tracker, dim))
                affected[dim] = Dim.local(tracker)
            return affected[dim]

        for name, bound in list(env.names.items()):
            if name not in names:
                changed = map_dims(bound.value, saved)
                if changed is not bound.value:
                    env.names[name] = dataclasses.replace(bound, value=changed)

    def bind(self, target: ast.expr, value: Abs, env: Env) -> None:
        """Bind an assignment target; tuples are taken apart."""
        if isinstance(target, ast.Name):
            env.names[target.id] = value
        elif isinstance(target, ast.Starred):
            self.bind(target.value, Abs(Unknown("starred"), static=value.static, flags=value.flags), env)
        elif isinstance(target, ast.Tuple | ast.List):
            items = self.unpack(value, len(target.elts), any(isinstance(e, ast.Starred) for e in target.elts))
            for element, item in zip(target.elts, items):
                self.bind(element, item, env)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value, env)
        elif isinstance(target, ast.Subscript):
            holder = self.evaluate(target.value, env)
            if isinstance(holder.value, Table) and isinstance(target.value, ast.Name):
                key = self.evaluate(target.slice, env).value
                if isinstance(key, Const):
                    table = Table({**holder.value.items, key.value: value.value})
                    env.names[target.value.id] = dataclasses.replace(holder, value=table)
                    return
            if self.holds_module(value.value):
                raise Unmigratable("NNX121", "a submodule is stored under a computed key", target)
            if isinstance(target.value, ast.Name):
                old = env.get(target.value.id)
                if old is not None and not isinstance(old.value, Array):
                    env.names[target.value.id] = Abs(Unknown("item assigned"))
                    env.local.discard(target.value.id)

    def _assign_attribute(self, target: ast.Attribute, value: Abs, env: Env) -> None:
        base = self.evaluate(target.value, env)
        if isinstance(base.value, Variable):
            return  # variable.value = ...
        if isinstance(target.value, ast.Name) and target.value.id == "self":
            name = target.attr
            self.attributes[name] = value
            for site in self.modules_in(value.value):
                if not site.container and site.in_setup:
                    site.container = name

    def _augmented(self, node: ast.AugAssign, env: Env) -> None:
        op = type(node.op).__name__
        right = self.evaluate(node.value, env)
        if not isinstance(node.target, ast.Name):
            if isinstance(node.target, ast.Attribute) and isinstance(node.target.value, ast.Name):
                held = self.evaluate(node.target.value, env)
                if isinstance(held.value, Variable):
                    return
                if node.target.value.id == "self" and self.in_setup:
                    left = self.evaluate(node.target, env)
                    self.attributes[node.target.attr] = Abs(
                        self.combine(op, left, right, node), left.static and right.static
                    )
            return
        name = node.target.id
        left = env.get(name) or Abs(_OPAQUE)
        value = Abs(self.combine(op, left, right, node), left.static and right.static, left.flags | right.flags)
        if self.holds_module(left.value) or self.holds_module(right.value):
            value = Abs(self.extended(left.value, right.value, node), left.static, left.flags | right.flags)
            env.names[name] = value
            return
        if left.static and right.static and env.is_local(name):
            self.keep_stale({name}, env)
            localized = self.localize(node.value, env)
            if localized is not None:
                self.block.steps.append(Local(node, frozenset({name}), localized, env.source))
                if isinstance(value.value, Static) or not isinstance(value.value, Int | Const | Tup):
                    value = Abs(Int(Dim.local(name)), static=True)
                env.names[name] = value
                return
        env.names[name] = Abs(value.value, static=False, flags=value.flags)
        env.local.discard(name)

    # branches --------------------------------------------------------------------------------------------------
    def _run_if(self, node: ast.If, rest: Sequence[ast.stmt], env: Env, returned: Returned) -> bool:
        test = self.evaluate(node.test, env)
        certain = self.truth(test.value)
        if certain is not None:
            return self.run_block(node.body if certain else node.orelse, env, returned)
        localized, text, _ = self.condition(node.test, test, env)
        outer = self.block
        then, orelse = Block(), Block()
        branch = Branch(localized, then, orelse, env.source, text)
        outer.steps.append(branch)
        mark = len(self.sites)
        counts = (len(returned.values), dict(self.attributes))
        env_then, env_else = env.copy(), env.copy()
        self.narrow(node.test, env_then, True)
        self.narrow(node.test, env_else, False)

        self.block = then
        done_then = self.run_block(node.body, env_then, returned)
        attributes_then = self.attributes
        self.attributes = dict(counts[1])
        self.block = orelse
        done_else = self.run_block(node.orelse, env_else, returned)
        took_rest = False
        if done_then != done_else and rest:
            # An early return: what follows belongs to the other branch only.
            self.block = then if done_else else orelse
            survivor = env_then if done_else else env_else
            if done_else:
                self.attributes, attributes_then = attributes_then, self.attributes
            finished = self.run_block(rest, survivor, returned)
            if done_else:
                self.attributes, attributes_then = attributes_then, self.attributes
            took_rest = True
            done_then, done_else = (finished, True) if done_else else (True, finished)
        self.block = outer
        calltime = localized is None and not text
        for site in self.sites[mark:]:
            site.conditions = (*site.conditions, (node, calltime))
        self.attributes = {**attributes_then, **self.attributes}
        for name, value in attributes_then.items():
            other = self.attributes.get(name)
            if other is not value and other is not None:
                self.attributes[name] = self.merge_pair(value, other)
        if done_then and done_else:
            return True
        if done_then:
            env.restore(env_else)
        elif done_else:
            env.restore(env_then)
        else:
            self._merge_envs(env, env_then, env_else, then, orelse, branch, calltime)
        self._took_rest = took_rest
        return False

    def _merge_envs(self, env: Env, a: Env, b: Env, then: Block, orelse: Block, branch: Branch, calltime: bool) -> None:
        names = set(a.names) | set(b.names)
        for name in names:
            left, right = a.names.get(name), b.names.get(name)
            if left is None or right is None:
                env.names[name] = left or right or Abs(_OPAQUE)
                env.local.discard(name)
                if name in (a.local if left is not None else b.local):
                    env.local.add(name)
                continue
            if left == right:
                env.names[name] = left
            else:
                env.names[name] = self._merge_tracked(name, left, right, then, orelse, calltime)
            if name in a.local and name in b.local and not calltime:
                env.local.add(name)
            else:
                if left != right or not (name in a.local or name in b.local):
                    env.local.discard(name)

    def _merge_tracked(self, name: str, a: Abs, b: Abs, then: Block, orelse: Block, calltime: bool) -> Abs:
        """One value for both branches: sizes that differ are followed by a variable assigned in each."""
        static = a.static and b.static and not calltime
        flags = a.flags | b.flags
        if isinstance(a.value, Array) and isinstance(b.value, Array) and not calltime:
            count = max(len(a.value.shape.dims), len(b.value.shape.dims))
            left, right = a.value.shape.expand(count), b.value.shape.expand(count)
            if len(left.dims) != len(right.dims) or left.lead != right.lead:
                left, right = _last_only(left) or left, _last_only(right) or right
            if len(left.dims) == len(right.dims) and left.lead == right.lead:
                dims = [self._tracked_dim(x, y, then, orelse) for x, y in zip(left.dims, right.dims)]
                return Abs(Array(Shape(tuple(dims), left.lead)), False, flags)
        if isinstance(a.value, Int) and isinstance(b.value, Int) and not calltime:
            if static:
                return Abs(Int(Dim.local(name)), True, flags)
            dim = self._tracked_dim(a.value.dim, b.value.dim, then, orelse)
            return Abs(Int(dim) if dim is not None else _OPAQUE, False, flags)
        merged = self.merge_pair(a, b)
        if static and isinstance(merged.value, Unknown):
            return Abs(Static(name, frozenset({name})), True, flags)
        return Abs(merged.value, static, flags)

    def _tracked_dim(self, a: Dim | None, b: Dim | None, then: Block, orelse: Block) -> Dim | None:
        if a is None or b is None or a == b:
            return a if a == b else None
        name = self.tracker("features")
        then.steps.append(Track(name, a))
        orelse.steps.append(Track(name, b))
        return Dim.local(name)

    def tracker(self, stem: str) -> str:
        """A fresh name for a size that the constructor follows."""
        taken = set(self.fields) | self.trackers | self.all_names
        stems = [stem, "width", "dim"] if stem == "features" else [stem, "length"]
        name, count = next((s for s in stems if s not in taken), f"{stem}_2"), 2
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        self.trackers.add(name)
        return name

    def merge_pair(self, a: Abs, b: Abs) -> Abs:
        return self.merge_values([a, b])

    def merge_values(self, values: list[Abs]) -> Abs:
        """What is common to several values."""
        first = values[0]
        flags = frozenset().union(*[v.flags for v in values])
        merged = first.value
        for other in values[1:]:
            merged = merge(merged, other.value)
        return Abs(merged, all(v.static for v in values) and not isinstance(merged, Unknown), flags)

    # loops -----------------------------------------------------------------------------------------------------
    def _run_while(self, node: ast.While, env: Env, returned: Returned) -> None:
        before = len(self.sites)
        self.evaluate(node.test, env)
        self._forget_assigned(node.body, env)
        self.run_block(node.body, env.copy(), returned)
        if len(self.sites) > before:
            raise Unmigratable("NNX122", "submodules are made in a while loop", node)
        self._forget_assigned(node.body, env)

    def _run_for(self, node: ast.For, env: Env, returned: Returned) -> None:
        def body(inner: Env) -> None:
            self.run_block(node.body, inner, returned)

        self.loop(node, node.target, node.iter, env, body)
        if node.orelse:
            self.run_block(node.orelse, env, returned)

    def loop(
        self,
        node: ast.For | ast.comprehension,
        target: ast.expr,
        iterator: ast.expr,
        env: Env,
        body: Callable[[Env], None],
    ) -> For | None:
        """Execute a loop body for any iteration: sizes that change from one to the next become tracked names."""
        iterated = self.evaluate(iterator, env)
        one_by_one = calls.unrolled(self, iterator, iterated, env)
        if one_by_one is not None:
            for element in one_by_one:
                self.bind(target, element, env)
                body(env)
            return None
        elements = self.elements(iterator, iterated, env)
        localized = self.localize(iterator, env) if iterated.static else None
        names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}

        def enter(inner: Env) -> None:
            calls.name_elements(self, target, elements, inner)
            for name in names:
                if localized is not None:
                    inner.local.add(name)
                else:
                    inner.local.discard(name)

        # Trial runs find what changes along the loop; nothing of them is kept.
        start = env.copy()
        phis: dict[tuple[str, int], str | None] = {}
        rank_lost: set[str] = set()
        outer_loose, self.loose = self.loose, set(self.loose)
        for _ in range(6):
            trial_env = self._loop_start(start, phis, rank_lost, env)
            snapshot = self._snapshot()
            self.block = Block()
            self.trial += 1
            try:
                enter(trial_env)
                entry = trial_env.copy()
                body(trial_env)
            finally:
                self.trial -= 1
                self._rollback(snapshot)
            if not self._new_phis(start, entry, trial_env, phis, rank_lost, names):
                break
        inner = self._loop_start(start, phis, rank_lost, env)
        for (name, _), tracker in phis.items():
            if tracker is None:
                continue
            bound = start.names[name]
            self.block.steps.append(Track(tracker, self._phi_dim(bound.value, phis, name, tracker)))
        step: For | None = None
        outer = self.block
        block = Block()
        step = For(
            node,
            ast.unparse(target),
            localized if localized is not None else _no_iterator(env),
            block,
            env.source,
            self.counter(target, iterator, env),
        )
        if localized is not None:
            outer.steps.append(step)
            self.loops.append(step)
        mark = len(self.sites)
        self.block = block
        try:
            enter(inner)
            body(inner)
        finally:
            self.block = outer
            if localized is not None:
                self.loops.pop()
        if localized is None and any(s.kind != "rng" for s in self.sites[mark:]):
            raise Unmigratable("NNX123", f"submodules are made in a loop over `{ast.unparse(iterator)}`", node)
        for (name, index), tracker in phis.items():
            now = inner.get(name)
            dim = _dim_at(now.value, index) if now is not None else None
            if tracker is None:
                continue
            if dim is None:
                rank_lost.add(name)
            elif dim != Dim.local(tracker):
                block.steps.append(Track(tracker, dim))
            if dim is not None:
                last = self._last_value(dim, target, iterator, iterated, {t for t in phis.values() if t is not None})
                if last is not None:
                    self.closed[tracker] = last
        self._carry_sizes(iterated.value, start, inner, phis)
        self._leave_loop(env, inner, phis, rank_lost, names)
        self.loose = outer_loose
        return step if localized is not None else None

    def _carry_sizes(self, iterated: Value, start: Env, inner: Env, phis: Mapping[tuple[str, int], str | None]) -> None:
        """A loop over a list made in setup: the sizes that its elements see follow the loop that made them."""
        if not phis or self.trial:
            return
        made = {s for s in self.sites if s.in_setup and s.loops and s.call is not None}
        for site in made:
            assert site.call is not None
            used = frozenset().union(*[_dependencies(v) for v in [*site.call.args, *site.call.keywords.values()]])
            for (name, index), tracker in phis.items():
                if tracker is None or tracker not in used:
                    continue
                first, after = _dim_at(start.names[name].value, index), inner.get(name)
                following = _dim_at(after.value, index) if after is not None else None
                if first is not None and following is not None:
                    known = self.carried.setdefault(site, [])
                    if all(t != tracker for t, _, _ in known):
                        known.append((tracker, first, following))

    def _last_value(
        self, dim: Dim, target: ast.expr, iterator: ast.expr, iterated: Abs, trackers: set[str]
    ) -> Dim | None:
        """A tracked size after the loop, where the last iteration alone decides it."""
        names = dim.dependencies()
        if not names:
            return dim
        if names & trackers or not isinstance(target, ast.Name) or names != {target.id}:
            return None
        if isinstance(iterated.value, Static) and isinstance(iterator, ast.Attribute | ast.Subscript | ast.Name):
            if iterated.value.deps:
                return None
            last = Dim.opaque(f"{iterated.value.text}[-1]")
        elif isinstance(iterator, ast.Call) and ast.unparse(iterator.func) == "range" and len(iterator.args) == 1:
            count = self.evaluated[iterator.args[0]].value
            found = self.plain(count)
            if not isinstance(found, Int) or found.dim.dependencies():
                return None
            last = found.dim - 1
        else:
            return None
        if any(atom.kind in ("opaque", "cond") and atom.deps for atom in dim.atoms()):
            return None

        def change(atom: Atom) -> Dim | None:
            return last if atom.kind == "local" else None

        return dim.substitute(change)

    def _loop_start(self, start: Env, phis: Mapping[tuple[str, int], str | None], lost: set[str], env: Env) -> Env:
        inner = start.copy()
        for name in self.loose:
            bound = inner.names.get(name)
            last = _last_only(bound.value.shape) if bound is not None and isinstance(bound.value, Array) else None
            if bound is not None and last is not None and name not in lost:
                inner.names[name] = dataclasses.replace(bound, value=Array(last))
        for name in lost:
            bound = inner.names[name]
            inner.names[name] = Abs(
                Int(Dim.local(name)) if bound.static and isinstance(bound.value, Int) else _OPAQUE,
                bound.static,
                bound.flags,
            )
        for (name, index), tracker in phis.items():
            bound = inner.names[name]
            inner.names[name] = dataclasses.replace(bound, value=_with_dim(bound.value, index, _local(tracker)))
        return inner

    def _new_phis(
        self,
        start: Env,
        entry: Env,
        after: Env,
        phis: dict[tuple[str, int], str | None],
        lost: set[str],
        targets: set[str],
    ) -> bool:
        found = False
        for name in start.names:
            before, now = entry.names.get(name), after.names.get(name)
            if name in targets or name in lost or before is None or now is None or before.value == now.value:
                continue
            a, b = before.value, now.value
            if self.holds_module(b):
                continue
            if isinstance(a, Array) and isinstance(b, Array):
                count = max(len(a.shape.dims), len(b.shape.dims))
                left: Shape | None = a.shape.expand(count)
                right: Shape | None = b.shape.expand(count)
                assert left is not None and right is not None
                if len(left.dims) != len(right.dims) or left.lead != right.lead:
                    left, right = _last_only(a.shape), _last_only(b.shape)
                    if left is not None and right is not None and name not in self.loose:
                        self.loose.add(name)
                        found = True
                if left is not None and right is not None and left.lead == right.lead:
                    for index, (x, y) in enumerate(zip(left.dims, right.dims)):
                        key = (name, index - len(left.dims))
                        if x != y and key not in phis:
                            if y is None or x is None:
                                phis[key] = None
                            else:
                                phis[key] = self.tracker("features" if index == len(left.dims) - 1 else "size")
                            found = True
                        elif y is None and phis.get(key) is not None:
                            phis[key] = None
                            found = True
                    continue
            lost.add(name)
            found = True
        for key in [k for k in phis if k[0] in lost]:
            del phis[key]
        return found

    def _phi_dim(self, value: Value, phis: Any, name: str, tracker: str) -> Dim:
        for (n, index), t in phis.items():
            if n == name and t == tracker:
                dim = _dim_at(value, index)
                if dim is not None:
                    return dim
        raise Unmigratable("NNX110", f"the size of `{name}` before the loop is not known")

    def _leave_loop(
        self, env: Env, inner: Env, phis: Mapping[tuple[str, int], str | None], lost: set[str], targets: set[str]
    ) -> None:
        for name, now in inner.names.items():
            old = env.names.get(name)
            keys = [(k, t) for k, t in phis.items() if k[0] == name]
            if old is None:
                # Made in the loop: what depends on the loop's own names is gone after it.
                gone = _dependencies(now.value) & (targets | set(inner.names))
                env.names[name] = now if not gone else Abs(_OPAQUE, False, now.flags)
                continue
            if keys:
                value = now.value if isinstance(now.value, Array) else old.value
                for (_, index), tracker in keys:
                    value = _with_dim(value, index, _local(tracker))
                env.names[name] = Abs(value, False, old.flags | now.flags)
            elif name in lost:
                if now.static and name in inner.local:
                    env.names[name] = Abs(Int(Dim.local(name)), True, now.flags)
                else:
                    env.names[name] = Abs(_OPAQUE, False, old.flags | now.flags)
            elif now.value != old.value:
                env.names[name] = now if self.holds_module(now.value) else Abs(merge(old.value, now.value))
        env.local |= inner.local & set(env.names)

    def _snapshot(self) -> Any:
        calls_of = {s: (s.call, len(s.calls), dict(s.renders)) for s in self.sites}
        return (len(self.sites), self.block, dict(self.attributes), calls_of, list(self.super_calls))

    def _rollback(self, snapshot: Any) -> None:
        count, self.block, self.attributes, calls_of, self.super_calls = snapshot
        del self.sites[count:]
        for site, (call, length, renders) in calls_of.items():
            site.call, site.renders = call, renders
            del site.calls[length:]

    def counter(self, target: ast.expr, iterator: ast.expr, env: Env) -> str:
        """The loop name that counts 0, 1, 2, ...: `for i in range(n)`, `for i, x in enumerate(xs)`."""
        if not isinstance(iterator, ast.Call):
            return ""
        called = self.project.qualname(env.source, iterator.func) or (
            iterator.func.id if isinstance(iterator.func, ast.Name) else ""
        )
        if called == "range" and len(iterator.args) == 1 and isinstance(target, ast.Name):
            return target.id
        if (
            called == "enumerate"
            and len(iterator.args) == 1
            and not iterator.keywords
            and isinstance(target, ast.Tuple)
            and isinstance(target.elts[0], ast.Name)
        ):
            return target.elts[0].id
        return ""


def _no_iterator(env: Env) -> Localized:
    return Localized(None, env.source, (), frozenset())


def merge(a: Value, b: Value) -> Value:
    """What two values have in common."""
    if a == b:
        return a
    if isinstance(a, Array) and isinstance(b, Array):
        count = min(
            max(len(a.shape.dims), len(b.shape.dims)),
            len(a.shape.dims) if a.shape.lead is None else 99,
            len(b.shape.dims) if b.shape.lead is None else 99,
        )
        left, right = a.shape.expand(count), b.shape.expand(count)
        if len(left.dims) == len(right.dims):
            dims = tuple(x if x == y else None for x, y in zip(left.dims, right.dims))
            if left.lead == right.lead:
                return Array(Shape(dims, left.lead))
            return Array(Shape(dims, Shape.unknown().lead))
        return Array(Shape.unknown())
    if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        return Tup(tuple(merge(x, y) for x, y in zip(a.items, b.items)), a.kind)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Module | calls.Either) and (isinstance(y, Static) or y == Const(None)):
            return x  # made here, or handed in through a field: what is known of the one made here holds
    if isinstance(a, Module | calls.Either) and isinstance(b, Module | calls.Either):
        return calls.Either((*calls.members(a), *calls.members(b)))
    if isinstance(a, Const) and a.value is None and isinstance(b, Array):
        return b
    if isinstance(b, Const) and b.value is None and isinstance(a, Array):
        return a
    return Unknown("it differs between branches")


def map_dims(value: Value, change: Callable[[Dim], Dim]) -> Value:
    """Apply `change` to every size in a value; the same object where nothing changed."""
    if isinstance(value, Int):
        new = change(value.dim)
        return value if new is value.dim or new == value.dim else Int(new)
    if isinstance(value, Array):
        dims = tuple(None if d is None else change(d) for d in value.shape.dims)
        return value if dims == value.shape.dims else Array(Shape(dims, value.shape.lead))
    if isinstance(value, Tup):
        items = tuple(map_dims(item, change) for item in value.items)
        return value if all(x is y for x, y in zip(items, value.items)) else Tup(items, value.kind)
    return value


def _dependencies(value: Value) -> frozenset[str]:
    found: set[str] = set()

    def look(dim: Dim) -> Dim:
        found.update(dim.dependencies())
        return dim

    map_dims(value, look)
    if isinstance(value, Static):
        found |= value.deps
    return frozenset(found)


def _dim_at(value: Value, index: int) -> Dim | None:
    return value.shape.dim(index) if isinstance(value, Array) else None


def _last_only(shape: Shape) -> Shape | None:
    """What is left of a shape when its leading dimensions are not known: the last one."""
    dims = shape.expand(1).dims
    return Shape(dims[-1:], Shape.unknown().lead) if dims else None


def _local(tracker: str | None) -> Dim | None:
    return None if tracker is None else Dim.local(tracker)


def _with_dim(value: Value, index: int, dim: Dim | None) -> Value:
    if not isinstance(value, Array):
        return value
    shape = value.shape.expand(-index)
    dims: list[Dim | None] = list(shape.dims)
    dims[index] = dim
    return Array(Shape(tuple(dims), shape.lead))


class Analyser:
    """Executions of all classes of a project, each once, with the factories that its fields are given."""

    def __init__(
        self,
        classes: Classes,
        ranks: Mapping[str, Mapping[str, int]] | None = None,
        seen: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        """`ranks`: of arguments, certain. `seen`: in examples; taken only where a class cannot do without."""
        self.classes = classes
        self.seen = {k: dict(v) for k, v in (seen or {}).items()}
        self.ranks: dict[str, dict[str, int]] = {k: dict(v) for k, v in (ranks or {}).items()}
        self.done: dict[str, Execution | Unmigratable] = {}
        self.running: set[str] = set()
        self.given: dict[str, dict[str, Factory]] = {}  # class → field → factory passed in
        self.conflicts: dict[str, str] = {}
        self.special: dict[tuple[str, str, str], Summary | None] = {}

    def execution(self, qualname: str) -> Execution:
        """The execution of a class; raises Unmigratable as it did when first run."""
        found = self.done.get(qualname)
        if found is None:
            if qualname in self.running:
                raise Unmigratable("NNX124", f"{qualname.rpartition('.')[2]} contains itself")
            model = self.classes.get(qualname)
            if model is None:
                raise Unmigratable("NNX125", f"{qualname} is not known")
            self.running.add(qualname)
            try:
                found = self._run(model)
            except Unmigratable as error:
                found = error
            except RecursionError:
                found = Unmigratable("NNX126", "its code is nested too deeply to follow")
            except Exception as error:  # one class that cannot be followed never stops the others
                found = internal_error(error)
            finally:
                self.running.discard(qualname)
            self.done[qualname] = found
        if isinstance(found, Unmigratable):
            raise found
        return found

    def _run(self, model: ClassModel) -> Execution:
        """Run, and run again while operations tell the ranks of arguments."""
        ranks = self.ranks.setdefault(model.qualname, {})
        for _ in range(4):
            execution = Execution(model, self)
            with shape_ops.implied_ranks() as implied:
                failure: Unmigratable | None = None
                try:
                    execution.run()
                except Unmigratable as error:
                    failure = error
                    failure.wanted_ranks = execution.wanted_ranks()
            own = {k: v for k, v in {**execution.assumed_ranks, **implied}.items() if k in execution.arguments}
            if not (set(own) - set(ranks)):
                if failure is not None:
                    raise failure
                return execution
            ranks.update({k: v for k, v in own.items() if k not in ranks})
        if failure is not None:
            raise failure
        return execution

    def assume(self, qualname: str, ranks: Mapping[str, int]) -> None:
        """Run a class again, taking arguments to have these numbers of dimensions."""
        self.ranks.setdefault(qualname, {}).update(ranks)
        self.done.pop(qualname, None)

    def forget(self, qualname: str, arguments: Iterable[str]) -> None:
        """Take back what `assume` said."""
        for argument in arguments:
            self.ranks.get(qualname, {}).pop(argument, None)
        self.done.pop(qualname, None)

    def passes(self, execution: Execution, site: Site) -> None:
        """Remember the factories that a site passes to a class; two different ones for a field cannot be native."""
        table = self.given.setdefault(site.target, {})
        for name, argument in site.bound.items():
            factory = argument.abs.value
            if not isinstance(factory, Factory):
                continue
            if name in table and not same_factory(table[name], factory):
                self.conflicts[site.target] = f"its field `{name}` is given different kinds of modules"
            if name not in table:
                table[name] = factory
                if site.target in self.done:  # run again now that the field is known
                    del self.done[site.target]

    def output(self, execution: Execution, site: Site, method: str, record: CallRecord) -> Value:
        """What calling a project class gives, in terms of the caller."""
        name = site.target.rpartition(".")[2]
        try:
            called = self.execution(site.target)
        except Unmigratable as error:
            raise Unmigratable(
                "NNX150", f"it contains {name}, which is not native: {error.reason}", site.node
            ) from error
        summary = called.summaries.get(method)
        if summary is None:
            return Unknown(f"what {name}.{method} returns")
        inputs: dict[str, Value] = dict(zip(summary.parameters, record.args))
        inputs.update(record.keywords)
        for parameter, default in summary.defaults.items():
            inputs.setdefault(parameter, default.value)
        for parameter, rank in self.ranks.get(site.target, {}).items():
            given = inputs.get(parameter)
            if isinstance(given, Array) and given.shape.rank not in (None, rank):
                return Unknown(f"what {name} returns where `{parameter}` has {given.shape.rank} dimensions, not {rank}")
        result = replace_dims(summary.result, self.substitution(execution, site, called, inputs))
        if _is_vague(result):
            special = self._specialised(execution, site, called, method)
            if special is not None:
                result = replace_dims(special.result, self.substitution(execution, site, called, inputs))
        return result

    def _specialised(self, execution: Execution, site: Site, called: Execution, method: str) -> Summary | None:
        """The summary of a class for the constants that one site gives it, where in general nothing is known."""
        given: dict[str, Abs] = {}
        for field in called.model.fields():
            bound = site.bound.get(field.name)
            value = bound.abs.value if bound is not None else None
            if bound is None and field.default is not None:
                value = execution.constant(field.default, field.source).value
            if isinstance(value, Const) or (isinstance(value, Int) and value.dim.value is not None):
                given[field.name] = Abs(value, static=True)
            elif isinstance(value, Int):
                given[field.name] = Abs(Int(Dim.field(field.name)), static=True)
            elif isinstance(value, Tup) and all(isinstance(i, Int) for i in value.items):
                items = tuple(
                    i if i.dim.value is not None else Int(Dim.opaque(f"self.{field.name}[{n}]"))
                    for n, i in enumerate(value.items)
                    if isinstance(i, Int)
                )
                given[field.name] = Abs(Tup(items, value.kind), static=True)
        key = (site.target, method, repr(sorted((k, repr(v.value)) for k, v in given.items())))
        if key not in self.special:
            self.special[key] = None
            run = Execution(called.model, self, given)
            run.ranks = dict(called.ranks)
            try:
                run.run()
            except Unmigratable:
                return None
            self.special[key] = run.summaries.get(method)
        return self.special[key]

    def substitution(
        self, execution: Execution, site: Site, called: Execution, inputs: Mapping[str, Value]
    ) -> calls.Substitution:
        defaults = {
            f.name: execution.constant(f.default, f.source) for f in called.model.fields() if f.default is not None
        }
        return calls.Substitution(execution, site, defaults, inputs)

    def note_sow(self, execution: Execution, node: ast.Call, env: Env) -> None:
        execution.sows.append(node)

    def field_factory(self, execution: Execution, field: Field) -> Value | None:
        """The factory that a module-typed field holds: by what the project passes in, else by its default."""
        passed = self.given.get(execution.model.qualname, {}).get(field.name)
        default: Value | None = None
        if field.default is not None:
            default = execution.constant(field.default, field.source).value
        found = passed or (default if isinstance(default, Factory) else None)
        if found is None:
            return None
        if passed is not None and isinstance(default, Factory) and not same_factory(passed, default):
            self.conflicts[execution.model.qualname] = f"its field `{field.name}` is given different kinds of modules"
        return dataclasses.replace(found, text=f"self.{field.name}", field=field.name, node=None)


def _is_vague(value: Value) -> bool:
    """Is there a size in it that is not known?"""
    if isinstance(value, Array):
        return value.shape.dim(-1) is None
    if isinstance(value, Tup):
        return any(_is_vague(item) for item in value.items)
    return isinstance(value, Unknown)


def _tuple_length(annotation: ast.expr | None) -> int:
    """2 for `Tuple[int, int]`; 0 for anything else."""
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value).lower().rpartition(".")[2] != "tuple":
        return 0
    items = annotation.slice
    if isinstance(items, ast.Tuple) and all(isinstance(i, ast.Name) and i.id == "int" for i in items.elts):
        return len(items.elts)
    return 0


def internal_error(error: Exception) -> Unmigratable:
    """A defect of this tool, as the reason why a class stays Linen."""
    return Unmigratable("NNX199", f"this tool failed on it ({type(error).__name__}: {error}); please report it")


def same_factory(a: Factory, b: Factory) -> bool:
    """Do two factories make modules of one kind, so that one text serves both?"""
    return (
        a.target == b.target
        and set(a.args) == set(b.args)
        and set(a.calltime) == set(b.calltime)
        and len(a.positional) == len(b.positional)
        and [l.kind for l in a.lifted] == [l.kind for l in b.lifted]
    )
