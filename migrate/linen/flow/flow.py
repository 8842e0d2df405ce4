"""Data flow of modules, variables and training states outside of module classes, over a whole project.

Flow-insensitive: every name has one abstract value, the join of all that is assigned to it (but see `flow_versions`), and
functions are followed through calls, `jit`, `partial`, `grad`, `eval_shape` and attributes of `self`. Runs nothing.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping

from ...plan import ClassPlan, Outcome, Plan
from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..values import records
from . import (
    compiled_ahead,
    flow_changes,
    flow_classes,
    flow_control,
    flow_dictionaries,
    flow_gradients,
    flow_loaded,
    flow_nones,
    flow_optimizers,
    flow_records,
    flow_versions,
    local_classes,
    module_code,
    spec_makers,
    tree_helpers,
    unmentioned,
)
from .flow_readers import Read, statement_of
from .flow_uses import Uses, restored_target
from .flow_values import (
    ANY,
    COND,
    DERIVATIVES,
    GRADIENTS,
    LOOPS,
    MAPS,
    NOTHING,
    SAME_TREE,
    SCAN,
    SWITCH,
    WRAPPERS,
    Bound,
    ClassValue,
    Collection,
    Entries,
    Function,
    Gradients,
    Half,
    Instance,
    Items,
    Method,
    Model,
    Nothing,
    OptState,
    Record,
    State,
    Symbol,
    Table,
    Tracked,
    Transformation,
    Updated,
    Value,
    Variables,
    is_sequence,
    join,
)
from .registries import Registries
from .self_names import SelfName
from .state_classes import StateClasses

# What gives a name, a result or a parameter its value.
_STATEMENTS: frozenset[type[ast.AST]] = frozenset({
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.FunctionDef, ast.ClassDef, ast.Return, ast.Lambda, ast.For,
    ast.comprehension, ast.withitem, ast.Call,
})  # fmt: skip


class Flow:
    """Values of names and expressions. `value(node)` answers for any expression outside of module classes."""

    def __init__(self, project: Project, plan: Plan) -> None:
        self.project = project
        self.plan = plan
        self._late: set[ast.AST] = set()  # statements that have read what has changed since
        self.env: Read[Symbol] = Read(self._late)
        self.returns: Read[ast.AST] = Read(self._late)
        self.source_of: dict[ast.AST, SourceFile] = {}
        self.nodes_by_file: dict[str, list[ast.AST]] = {}  # the same, by module
        self.site_classes: dict[ast.Call, frozenset[str]] = {}
        self.site_source: dict[ast.Call, SourceFile] = {}
        self.callers: dict[ast.AST, dict[ast.Call, SourceFile]] = {}  # function → calls that reach it
        self.partials: dict[ast.AST, dict[ast.Call, None]] = {}  # function → functools.partial of it, which calls nothing
        self._module_code = module_code.inside(project, plan)
        self.state_classes = StateClasses(project)
        self.records = records.find(project)
        self.class_facts = flow_classes.ClassFacts(project)
        self.registries = Registries(project, plan)
        self._names: dict[ast.AST, str | None] = {}
        inside = {node for root in self._module_code for node in subtree(root)}
        statements: dict[str, list[ast.AST]] = {}
        for module, source in project.files.items():
            nodes = self.nodes_by_file[module] = [node for node in source.nodes if node not in inside]
            self.source_of.update(dict.fromkeys(nodes, source))
            statements[module] = [node for node in nodes if node.__class__ in _STATEMENTS]
        self.loaded: set[ast.AST] = set()  # names and attributes where they are given values from elsewhere
        self._memo: dict[ast.AST, Value] = {}
        self.makers: dict[ast.AST, str] = {}
        self.clashes: dict[Symbol, None] = {}  # names that are given what does not go together
        self._versions: dict[ast.AST, str] = {}
        self._helpers: dict[ast.AST, str] = {}  # what is called where functions map one tree, and what for
        self._settle(statements)
        self._versions = flow_versions.find(self, self.clashes)
        if self._versions:
            self._forget()
            self._settle(statements)
        self._helpers = tree_helpers.find(self)
        self._names.update(self._helpers)
        if self._helpers:
            self._forget()
            self._settle(statements)
        self.unmentioned = unmentioned.bind(self)
        if self.unmentioned:
            self._settle(statements)

    def _forget(self) -> None:
        for known in (self.env, self.returns, self.makers):
            known.clear()  # type: ignore[attr-defined]

    def _settle(self, statements: Mapping[str, list[ast.AST]]) -> None:
        """Evaluate all statements until nothing changes any more.

        Between two turns over everything only the statements run again that have read what changed. A turn over everything
        that changes nothing is the end. What has grown in many turns (`x = (x, y)` in a loop) may be anything.
        """
        files = self.project.files
        every = [(files[m], node, statement_of(files[m], node)) for m, nodes in statements.items() for node in nodes]
        whole = True
        changes: Counter[Symbol | ast.AST] = Counter()
        again: set[ast.AST] = set()
        while True:
            env, returns = dict(self.env), dict(self.returns)
            if whole:
                self.callers.clear()
                self.partials.clear()
                self.env.forget_readers()
                self.returns.forget_readers()
            memos: dict[ast.AST, dict[ast.AST, Value]] = {}
            self._late.clear()
            for source, node, statement in every:
                if whole or statement in again or statement in self._late:
                    self._memo = memos.setdefault(statement, {})
                    self.env.reader = self.returns.reader = statement
                    self._statement(source, node)
            symbols = [symbol for symbol, value in self.env.items() if env.get(symbol) != value]
            functions = [function for function, value in self.returns.items() if returns.get(function) != value]
            if not symbols and not functions:
                if whole:
                    break
                whole = True
                continue
            changes.update([*symbols, *functions])
            for symbol in (symbol for symbol in symbols if changes[symbol] > 8):
                self.env[symbol] = ANY
            for function in (function for function in functions if changes[function] > 8):
                self.returns[function] = ANY
            whole, again = False, set(self._late)
        self._memo = {}
        self.env.forget_readers()
        self.returns.forget_readers()

    def is_module_code(self, node: ast.AST) -> bool:
        """Is it the definition of a Linen class, or of a function that only their methods call?"""
        return node in self._module_code

    def creates_state(self, call: ast.Call) -> bool:
        """Is `call` a `TrainState.create(...)`, or the constructor itself?"""
        return (self.name(call.func) or "").removesuffix(".create") in self.state_classes

    # symbols ---------------------------------------------------------------------------------------------------
    def symbol(self, source: SourceFile, node: ast.Name) -> Symbol:
        if isinstance(node, SelfName):
            return source.module, node.owner, node.id
        scope = source.names.binding_scope(node.id, node)
        if scope is None:
            target = source.names.imported(node)
            if target and node.id not in source.names.definitions:
                target = self.project.canonical(target)
                module, _, name = target.rpartition(".")
                if module in self.project.files:
                    return module, None, name
        return source.module, scope, self._versions.get(node, node.id)

    def occurrences(self, symbol: Symbol) -> list[ast.Name]:
        """Where the file that a symbol is of says its name and means it."""
        source = self.project.files[symbol[0]]
        said = flow_versions.bare(symbol)
        return [n for n in source.saying(said) if isinstance(n, ast.Name) and self.symbol(source, n) == symbol]

    def _self_symbol(self, source: SourceFile, node: ast.Attribute) -> Symbol | None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            return None
        for parent in source.ancestors(node):
            if isinstance(parent, ast.ClassDef):
                # What a state has is told by the state that its methods are called on.
                return None if self.state_classes.defines(parent) else (source.module, parent, f"self.{node.attr}")
        return None

    def held_by(self, source: SourceFile, target: ast.AST) -> Symbol | None:
        """What a target of an assignment is to the flow, where that is one name or attribute."""
        if isinstance(target, ast.Attribute):
            return self._self_symbol(source, target)
        return self.symbol(source, target) if isinstance(target, ast.Name) else None

    def _bind(self, source: SourceFile, target: ast.AST, value: Value) -> None:
        if target in self.loaded:
            return
        if isinstance(target, ast.Name | ast.Attribute):
            symbol = self.held_by(source, target)
            if symbol is not None:
                self.join(symbol, value)
        elif isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, Nothing):
                return
            value = flow_optimizers.HALVES if isinstance(value, Transformation) else value
            known = is_sequence(value, len(target.elts))
            starred = any(isinstance(e, ast.Starred) for e in target.elts)
            for index, element in enumerate(target.elts):
                item = value.items[index] if isinstance(value, Items) and known and not starred else ANY
                self._bind(source, element, item)
        elif isinstance(target, ast.Starred):
            self._bind(source, target.value, ANY)

    def join(self, symbol: Symbol, value: Value) -> None:
        held = self.env.held(symbol)
        joined = join(held, value)
        if joined is not None and joined is not held:
            self.env[symbol] = joined
        apart = joined is not held and joined is not value and flow_versions.clash(held, value, joined)
        if apart or flow_versions.unknown(held, value):
            self.clashes[symbol] = None

    # statements ------------------------------------------------------------------------------------------------
    def _statement(self, source: SourceFile, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            value = self.value(node.value)
            if self.loaded:
                self.loaded.difference_update(n for target in node.targets for n in subtree(target))
            self.loaded.update(flow_loaded.names(self, source, node, value))
            changed = flow_changes.named(self, source, node, value)
            if changed is not None:
                self._bind(source, node.targets[0], changed)
                self.loaded.add(node.targets[0])
            for target in node.targets:
                self._bind(source, target, flow_nones.given(source, target, node.value, value))
        elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, ast.NamedExpr):
            given = flow_nones.given(source, node.target, node.value, self.value(node.value))
            self._bind(source, node.target, given)
        elif isinstance(node, ast.FunctionDef):
            flow_classes.bind_defaults(self, source, node)
            owner = source.parents.get(node)
            if isinstance(owner, ast.ClassDef):
                method = flow_classes.method(self, owner, node)
                if isinstance(method, Function):
                    flow_classes.bind_class(self, source, owner, node)
                    self.join((source.module, owner, f"self.{node.name}"), method)
                return
            function = flow_classes.decorated(self, node)
            self.join((source.module, source.names.binding_scope(node.name, node), node.name), function)
        elif isinstance(node, ast.ClassDef):
            local_classes.bind(self, source, node)
        elif isinstance(node, ast.Return):
            owner = self.function_of(source, node)
            if owner is not None:
                joined = join(self.returns.held(owner), self.value(node.value) if node.value else ANY)
                if joined is not None:
                    self.returns[owner] = joined
        elif isinstance(node, ast.Lambda):
            self.returns[node] = join(self.returns.held(node), self.value(node.body)) or ANY
        elif isinstance(node, ast.For | ast.comprehension | ast.AugAssign):
            self._bind(source, node.target, ANY)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(source, node.optional_vars, ANY)
        elif isinstance(node, ast.Call):
            self.value(node)

    def function_of(self, source: SourceFile, node: ast.AST) -> ast.AST | None:
        for parent in source.ancestors(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return parent
            if isinstance(parent, ast.ClassDef):
                return None
        return None

    # expressions -----------------------------------------------------------------------------------------------
    def name(self, node: ast.AST) -> str | None:
        """Canonical dotted name of an expression outside of module classes."""
        if node not in self._names:
            source = self.source_of.get(node) if not isinstance(node, SelfName) else None
            name = self.project.qualname(source, node) if source is not None else None
            self._names[node] = self.plan.redirected.get(node, name)
        return self._names[node]

    def value(self, node: ast.AST | None) -> Value:
        if node is None or node not in self.source_of:
            return ANY
        if node not in self._memo:
            self._memo[node] = NOTHING  # a cycle
            self._memo[node] = self._evaluate(self.source_of[node], node)
        return self._memo[node]

    def _evaluate(self, source: SourceFile, node: ast.AST) -> Value:
        if node in self.plan.redirected and not self.plan.module_class(self.plan.redirected[node]):
            return ANY  # a table or function whose classes stay Linen
        if node in self._helpers:
            return ANY
        if isinstance(node, ast.Name):
            qualname = self.name(node)
            if qualname and self.plan.module_class(qualname):
                meant = {qualname, *self.project.alternatives(source, node)}
                return ClassValue(frozenset(filter(self.plan.module_class, meant)))
            symbol = self.symbol(source, node)
            if symbol in self.registries.tables:
                return self.registries.tables[symbol]
            module, scope, name = symbol
            known = symbol in self.env or scope is not None or name in self.project.files[module].names.definitions
            return self.env.get(symbol, NOTHING) if known else ANY
        if isinstance(node, ast.Attribute):
            return self._attribute(source, node)
        if isinstance(node, ast.Call):
            return self._call(source, node)
        if isinstance(node, ast.Tuple | ast.List):
            return flow_control.listed(self, node)
        if isinstance(node, ast.Subscript):
            return self._subscript(self.value(node.value), node.slice)
        if isinstance(node, ast.IfExp):
            pair = flow_nones.pair(self, node)
            return self.value(pair) if pair is not None else join(self.value(node.body), self.value(node.orelse)) or ANY
        if isinstance(node, ast.NamedExpr):
            return self.value(node.value)
        if isinstance(node, ast.Lambda):
            return Function(frozenset([node]))
        if isinstance(node, ast.Dict):
            return flow_dictionaries.of(self, node)
        return ANY

    def _subscript(self, base: Value, index: ast.expr) -> Value:
        if isinstance(base, Nothing | ClassValue | Bound):  # `Encoder[int]` is the class
            return base
        if isinstance(base, Table):
            return base.classes
        constant = index.value if isinstance(index, ast.Constant) else None
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and isinstance(index.operand, ast.Constant):
            constant = -index.operand.value if isinstance(index.operand.value, int) else None
        if isinstance(base, Variables | Updated) and isinstance(constant, str):
            return Collection(base.sites, constant, isinstance(base, Updated))
        if isinstance(base, Collection) and isinstance(constant, str):
            return dataclasses.replace(base, updated=False)  # a part of the tree
        if isinstance(base, Gradients) and isinstance(constant, str):
            return base
        if isinstance(base, Entries):
            return base.entry(constant) or ANY
        if isinstance(base, Items) and isinstance(constant, int) and -len(base.items) <= constant < len(base.items):
            return base.items[constant]
        return ANY

    def _attribute(self, source: SourceFile, node: ast.Attribute) -> Value:
        qualname = self.name(node)
        if qualname and self.plan.module_class(qualname):
            return ClassValue(frozenset([qualname]))
        symbol = self._self_symbol(source, node)
        if symbol in self.registries.tables:
            return self.registries.tables[symbol]
        if symbol is not None:
            value = self.env.get(symbol, NOTHING)
            assert isinstance(symbol[1], ast.ClassDef)
            return flow_classes.held_class(self, symbol[1], node.attr) if isinstance(value, Nothing | ClassValue) else value
        inherited = flow_classes.inherited(self, source, node)
        if inherited is not None:
            return inherited
        if qualname:
            module, _, name = qualname.rpartition(".")
            if module in self.project.files:
                table = self.registries.tables.get((module, None, name))
                return table if table is not None else self.env.get((module, None, name), NOTHING)
            if flow_classes.definition(self, module) is not None:
                return flow_classes.attribute(self, node, module)
        base = self.value(node.value)
        if isinstance(base, Nothing):
            return base
        if isinstance(base, Instance):
            return flow_classes.attribute(self, node, base.cls)
        if isinstance(base, Bound) and node.attr not in ("variables", "unbind"):
            return base
        if isinstance(base, Transformation) and node.attr in ("init", "update"):
            return Half(node.attr)
        if isinstance(base, Model):
            return Method(base.sites, node.attr)
        if isinstance(base, Record):
            return base.field(node.attr) or ANY
        if isinstance(base, State):
            if node.attr == "params" and base.whole:
                return Variables(base.sites)
            if node.attr == "params" or node.attr in self.state_classes.fields(base.cls):
                return Collection(base.sites, node.attr)
            if node.attr == "apply_fn":
                return Method(base.sites, "apply")
            return flow_classes.state_method(self, base, node.attr)
        return ANY

    def _call(self, source: SourceFile, node: ast.Call) -> Value:
        name = self.name(node.func)
        if (name in GRADIENTS or name in DERIVATIVES) and node.args:
            return flow_gradients.of(self, GRADIENTS.get(str(name), "derivative"), node)
        if name in WRAPPERS and node.args:
            return self.value(node.args[0])
        if name == "functools.partial" and node.args:
            return self._partial(node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and node.args and name is None:
            return flow_classes.chosen(self, node.args[0], node.args[1] if len(node.args) > 1 else None)
        if name == "jax.eval_shape" and node.args:
            return self._apply(source, node, self.value(node.args[0]), node.args[1:])
        if name == SCAN and (start := flow_control.start(node)) is not None:
            carried = self.value(start)
            if isinstance(carried, State | Variables | Collection | OptState | Nothing | Items):
                return carried if isinstance(carried, Nothing) else flow_control.scan(self, source, node)
        if (name == COND and len(node.args) >= 3) or (name == SWITCH and len(node.args) >= 2):
            return flow_control.cond(self, source, node)
        if name in LOOPS and len(node.args) == LOOPS[name] + 1:
            return flow_control.loop(self, source, node)
        if name in SAME_TREE and len(node.args) > SAME_TREE[name] and not spec_makers.makes_specs(self, node):
            tree = self.value(node.args[SAME_TREE[name]])
            return dataclasses.replace(tree, updated=False) if isinstance(tree, Collection) and name in MAPS else tree
        if flow_records.made_by(self, node):
            return flow_records.made(self, node)
        if flow_changes.copied(self, node) or flow_changes.deeply(self, node):
            return self.value(node.args[0])
        if name == "flax.core.pop" and len(node.args) == 2:
            base = self.value(node.args[0])
            return Items((base, self._subscript(base, node.args[1])))
        if name == "dataclasses.replace" and node.args:  # of a model: as its clone does
            base = self.value(node.args[0])
            return base if isinstance(base, Model | Nothing) else ANY
        if name == "optax.apply_updates" and len(node.args) == 2:
            base = self.value(node.args[1])
            applied = flow_optimizers.is_deltas(base)
            return self.value(node.args[0]) if applied else base if isinstance(base, Nothing) else ANY
        if name and name.endswith(".create") and self.creates_state(node):
            return self._state(node, name.removesuffix(".create"))
        restored = restored_target(self, node)
        if restored is not None:
            value = self.value(restored)
            if isinstance(value, State | Nothing) or flow_loaded.stays(self, source, node, restored):
                return value
            return ANY
        if flow_optimizers.makes_transformation(name):
            return Transformation()
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value)
            attribute = node.func.attr
            if isinstance(base, Table) and attribute == "get" and len(node.args) == 1:
                return base.classes
            if isinstance(base, Variables | Updated) and attribute in ("pop", "get") and node.args:
                above = source.parents.get(node)
                if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Tuple):
                    return ANY  # of a FrozenDict: all but it, and it
                return self._subscript(base, node.args[0])
            if isinstance(base, Variables | Collection) and attribute in ("unfreeze", "copy"):
                return base
            if isinstance(base, State) and attribute in ("apply_gradients", "replace"):
                return base
            if isinstance(base, State) and attribute == "create":
                return ANY
            if (compiled := compiled_ahead.function_of(self.project, node, base)) is not None:
                return compiled
            if attribute in ("init", "update") and node.args and not isinstance(base, Tracked):
                optimized = flow_optimizers.of(self, node, attribute)
                if optimized is not None:
                    return optimized
        function = self.value(node.func)
        if isinstance(function, Half):
            return flow_optimizers.of_half(self, node, function)
        return self._apply(source, node, function, node.args)

    def _state(self, node: ast.Call, cls: str) -> Value:
        sites: frozenset[ast.Call] = frozenset()
        whole = False
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg in ("apply_fn", "params") and isinstance(value, Nothing):
                return value
            if keyword.arg in ("apply_fn", "params") and isinstance(value, Tracked):
                sites |= value.sites
                whole |= keyword.arg == "params" and isinstance(value, Variables)
        return State(sites, cls, whole) if sites else ANY

    def _partial(self, node: ast.Call) -> Value:
        function = self.value(node.args[0])
        if isinstance(function, Nothing):
            return function
        if isinstance(function, Function):
            for target in function.nodes:
                self.partials.setdefault(target, {})[node] = None
            self._join_arguments(node, function, node.args[1:])
            given = len(node.args) - 1
            left = function.argnum - given if function.transform else 0
            if function.inner or (given and (function.several or function.transform == "derivative")):
                return ANY
            return dataclasses.replace(function, bound=function.bound + given, argnum=left) if left >= 0 else ANY
        if self.name(node.args[0]) in WRAPPERS:
            return ANY
        return function if isinstance(function, ClassValue) else ANY

    def bind_arguments(self, source: SourceFile, node: ast.Call, function: Function, args: list[ast.expr]) -> None:
        for target in function.nodes:
            self.callers.setdefault(target, {})[node] = source
        self._join_arguments(node, function, args)

    def _join_arguments(self, node: ast.Call, function: Function, args: list[ast.expr]) -> None:
        for target in function.nodes:
            arguments = target.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
            module = self.source_of[target].module
            for index, argument in enumerate(args):
                position = index + function.bound
                if isinstance(argument, ast.Starred) or position >= len(names):
                    partial = self.name(node.func) == "functools.partial"  # of which the call gives the rest
                    given = {keyword.arg for keyword in node.keywords}
                    for name in names[position:] if not partial else ():
                        if name not in given:
                            self.join((module, target, name), ANY)
                    break
                self.join((module, target, names[position]), self.value(argument))
            for keyword in node.keywords:
                if keyword.arg in names or keyword.arg in [a.arg for a in arguments.kwonlyargs]:
                    self.join((module, target, str(keyword.arg)), self.value(keyword.value))

    def _apply(self, source: SourceFile, node: ast.Call, function: Value, args: list[ast.expr]) -> Value:
        if isinstance(function, ClassValue) and (node in self.plan.templates or node in self.plan.taken):
            return ANY  # it becomes a partial of the class; a layer that the caller has made
        if isinstance(function, ClassValue):
            self.site_classes[node] = flow_classes.constructible(self, node, function.qualnames)
            self.site_source[node] = source
            return Model(frozenset([node]))
        if isinstance(function, Method):
            return self._method(function, node)
        if not isinstance(function, Function):
            made = flow_classes.made(self, source, node, args)
            return made if made is not None else function if isinstance(function, Nothing) else ANY
        self.bind_arguments(source, node, function, args)
        result: Value = NOTHING
        for target in function.nodes:
            result = join(result, self.returns.get(target, NOTHING)) or ANY
        if not function.transform:
            return result
        return flow_gradients.result(self, function, result, args)

    def _method(self, method: Method, node: ast.Call) -> Value:
        if method.name in ("init", "lazy_init"):
            return Variables(method.sites)
        if method.name == "init_with_output":
            return Items((ANY, Variables(method.sites)))
        if method.name in ("clone", "bind"):
            return Model(method.sites) if method.name == "clone" else Bound(method.sites)
        if method.name == "apply":
            mutable = next((k.value for k in node.keywords if k.arg == "mutable"), None)
            if mutable is not None and not (isinstance(mutable, ast.Constant) and mutable.value is False):
                return Items((ANY, Updated(method.sites)))
        return ANY

    @functools.cached_property
    def uses(self) -> Uses:
        """Where values are used; asked for when all is known."""
        return Uses(self)

    # for writers -----------------------------------------------------------------------------------------------
    @functools.cached_property
    def native_sites(self) -> dict[ast.Call, None]:
        """Calls that may construct native module classes outside of module classes, in the order of the files."""
        return {site: None for site in self.site_classes if self.site_plans(site)}

    @functools.cached_property
    def native_sites_by_file(self) -> Counter[str]:
        """How many of them each module has."""
        return Counter(self.site_source[site].module for site in self.native_sites)

    def site_plans(self, site: ast.Call) -> tuple[ClassPlan, ...]:
        """The native classes that a call may construct, by name."""
        plans = (self.plan.classes[name] for name in sorted(self.site_classes[site]))
        return tuple(plan for plan in plans if plan.outcome is Outcome.NATIVE)
