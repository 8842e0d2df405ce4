"""Symbolic execution of Linen modules: what is made where, of which sizes, and what shapes come out.

One `Execution` follows one class: `setup` first, then `__call__`, then the other public methods. Arrays are shapes,
integers are symbolic, modules are construction sites. Nothing is imported and nothing of the user's code is run.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import jumps, mutation, size_lists
from .applied import Applied
from .arguments import is_self
from .choices import FactoryChoice, chosen
from .classes import ClassModel, Field, Method
from .dims import Atom, Dim
from .environment import Env, Returned
from .lifting import lift_method, run_method
from .localization import is_sequence, named_after
from .loop_execution import OPAQUE, LoopExecution
from .merging import Either, decided, dependencies_of, last_of_both, map_dims, merge, same_width, under_step
from .module_calls import INITIAL_CARRY
from .presence import Step, assigned_when, either_result, step_of
from .sites import (
    Abs,
    Block,
    Branch,
    Factory,
    For,
    Function,
    Lifted,
    LiftedCall,
    Local,
    Localized,
    Repeated,
    Site,
    Static,
    Table,
    Track,
    Unmigratable,
    Variable,
    steps_of,
)
from .unpacking import entry, merged
from .values import Array, Const, Int, NeedsRank, Shape, ShapeOf, Tup, Unknown, Value
from .variable_reads import VariableRead

if TYPE_CHECKING:
    from .analyser import Analyser
    from .passed import Apart, Passed

MAX_DEPTH = 24


@dataclasses.dataclass
class Summary:
    """What calling a module does to shapes, in terms of its fields and its arguments."""

    parameters: tuple[str, ...]
    defaults: Mapping[str, Abs]
    result: Value


class Execution(LoopExecution):
    """The execution of one class, with what it found."""

    def __init__(
        self,
        model: ClassModel,
        analyser: Analyser,
        given: Mapping[str, Abs] | None = None,
        passed: Mapping[str, Passed | Apart] | None = None,
    ) -> None:
        """`given` and `passed`: what one construction gives to fields; by default what all constructions agree on."""
        self.model = model
        self.analyser = analyser
        self.project = analyser.classes.project
        self.given = dict(given or {})
        self.given_arguments: dict[str, dict[str, Abs]] = {}  # method → what a certain call gives it
        self.passed = dict(passed or {})
        self.fields: dict[str, Field] = {f.name: f for f in model.fields()}
        self.attributes: dict[str, Abs] = {}  # what setup assigned to self
        self.sites: list[Site] = []
        self.blocks: dict[str, Block] = {}  # entry method → constructor skeleton
        self.block = Block()
        self.loops: list[For] = []
        self.entry = ""
        self.in_setup = False
        self.assigned: dict[ast.expr, ast.expr] = {}  # the targets of the assignment at hand → what is assigned
        self.depth = 0
        self.scopes: tuple[Lifted, ...] = ()  # transforms of the functions that are being executed, outermost first
        self.holder = "self"  # what the innermost of these functions calls the module
        self.counts: dict[Lifted, object] = {}  # scan or vmap → the size of what it maps over
        self.decorators: dict[ast.expr, Lifted] = {}
        self.lifted_calls: list[LiftedCall] = []
        self.controls: dict[ast.Call, tuple[str, Value]] = {}  # nn.cond and the like → its kind and module
        self.unjumped: dict[ast.For, list[ast.stmt]] = {}  # loop → its body without `continue`
        self.left: list[list[Env]] = []  # for every loop that is being executed: what held where it was left
        self.active: list[ast.AST] = []  # functions that are being executed, outermost first
        self.trial = 0
        self.problems: list[Unmigratable] = []
        self.summaries: dict[str, Summary] = {}
        self.ranks: dict[str, int] = dict(analyser.ranks.get(model.qualname, {}))
        self.sized_arguments: dict[str, list[Dim]] = {}
        self.path: list[Step] = []
        self.optional_arguments: set[str] = set()  # array arguments that may be None
        self.evaluated: dict[ast.AST, Abs] = {}
        self.trackers: set[str] = set()
        self.looked_up: set[ast.AST] = set()  # values of global names that are being evaluated
        self.used_streams: set[str] = set()
        self.super_calls: list[tuple[ast.Call, Method]] = []
        self.all_names: frozenset[str] = model.local_names
        self.lazy: set[str] = set()  # collections whose variables come to be when called
        self.loose: set[str] = set()  # arrays whose leading dimensions a loop changes
        self.sows: list[ast.Call] = []
        self.assumed_ranks: dict[str, int] = {}
        self.arguments: set[str] = {p.arg for m in model.methods().values() for p in m.parameters}
        self.inlined: set[Method] = set()
        self.mode_flag = False  # batch statistics are used or updated by train() and eval()
        self.variable_reads: dict[ast.expr, VariableRead] = {}  # `self.variables[...]` and the like
        self.attribute_paths: dict[str, tuple[Step, ...] | None] = {}  # setup's attributes → when they are made
        self.applied: dict[ast.Call, Applied] = {}  # layers called with weights from elsewhere
        self.followed: set[ast.AST] = set()  # attributes of Linen's that were understood
        self.constants: dict[ast.Call, str] = {}  # self.is_initializing() and the like → what it is in NNX
        self.carried: dict[Site, list[tuple[str, Dim, Dim]]] = {}  # list elements: tracker, first size, next size
        self.held: dict[str, Value] = {}  # field → the module that it hands in
        self.list_scopes: dict[str, str] = {}  # names of setup's loops, with what they run over in the list called last
        self.item_widths: dict[Site, list[tuple[tuple[Dim | None, ...], bool]]] = {}  # lists of setup: what calls give
        self.list_ranks: dict[str, set[int | None]] = {}  # lists of arrays: the ranks of what is in them
        self.broken_lists: dict[str, str] = {}  # lists of arrays that the constructor cannot follow, and why
        self.mark: tuple[Block, int] = (self.block, 0)  # where the steps of the present statement begin
        self.marks: list[tuple[Block, int]] = []  # the same for the functions that led here, the entry method's first
        self.reached: dict[str, Site] = {}  # modules that submodules made for themselves, by the text that reads them
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
            arguments |= self.given_arguments.get(name, {})
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
            self.summaries[name] = Summary(tuple(p.arg for p in method.positional), defaults, self.outward(result.value))

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
        if isinstance(default, ast.Constant) and default.value is None:
            self.optional_arguments.add(name)
        shape = Shape.argument(name)
        if method.name == INITIAL_CARRY and name == "input_shape":
            return Abs(ShapeOf(shape))
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
        optional = isinstance(field.default, ast.Constant) and field.default.value is None
        if annotation in ("int", "'int'", '"int"') and not optional:
            return Abs(Int(Dim.field(name)), static=True)
        factory = self.analyser.field_factory(self, field) or self.analyser.field_module(self, field)
        if factory is not None:
            return Abs(factory, static=True)
        length = _tuple_length(field.annotation)
        if length:
            return Abs(Tup(tuple(Int(Dim.opaque(f"self.{name}[{i}]")) for i in range(length))), static=True)
        if isinstance(field.default, ast.Tuple) and annotation.lower().startswith(("tuple", "sequence", "typing.tuple")):
            default = self.constant(field.default, field.source).value
            if isinstance(default, Tup) and default.items and all(isinstance(i, Int) for i in default.items):
                items = tuple(Int(Dim.opaque(f"self.{name}[{i}]")) for i in range(len(default.items)))
                return Abs(Tup(items), static=True)
        return Abs(Static(f"self.{name}"), static=True)

    # bodies ----------------------------------------------------------------------------------------------------
    def _run_body(self, method: Method, arguments: Mapping[str, Abs]) -> Abs:
        lifted = lift_method(self, method)
        if lifted:
            named = [(p.arg, arguments[p.arg]) for p in method.parameters]
            function = Function(method.node, None, method.source, method)
            return run_method(self, method, lifted, named, None, function)
        env = Env(dict(arguments), method.source, method=method)
        return self.run_function(method.node, env)

    def run_function(self, node: ast.FunctionDef | ast.Lambda, env: Env) -> Abs:
        """Execute a function body whose parameters are bound in `env`."""
        # A function that calls itself more than once would be followed exponentially often.
        if self.depth > MAX_DEPTH or self.active.count(node) > 1:
            return Abs(Unknown("recursion"))
        self.depth += 1
        self.active.append(node)
        self.marks.append(self.mark)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, env)
            returned = Returned()
            self.run_block(node.body, env, returned)
            return self.merge_values(returned.values) if returned.values else Abs(Const(None), static=True)
        finally:
            self.depth -= 1
            self.active.pop()
            self.mark = self.marks.pop()

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
        self.mark = (self.block, len(self.block.steps))
        names = frozenset() if self.in_setup else mutation.changed_names(node)
        changed = {n for n in names if env.is_local(n) and not size_lists.variable_of(env.get(n).value)}  # type: ignore[union-attr]
        if changed:
            self.keep_stale(set(changed), env)
        done = self._run_statement(node, env, returned)
        if changed:
            mutation.record(self, node, frozenset(changed), env)
        return done

    def _run_statement(self, node: ast.stmt, env: Env, returned: Returned) -> bool:
        if isinstance(node, ast.Return):
            returned.values.append(self.evaluate(node.value, env) if node.value else Abs(Const(None), static=True))
            return True
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Break) and self.left:
            self.left[-1].append(env.copy())
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
        plain = not self.in_setup and not node.decorator_list
        closed = plain and self._closed(node, env)
        env.names[node.name] = Abs(self.local_function(node, env), static=closed)
        env.local.discard(node.name)
        if self.in_setup:
            env.local.add(node.name)
        elif plain and not env.is_taken(node.name) and (closed or self._reads_sizes_only(node, env)):
            localized = self.localize_function(node, env)
            if localized is not None:
                self.block.steps.append(Local(node, frozenset({node.name}), localized, env.source))
                env.local.add(node.name)
                env.names[node.name] = dataclasses.replace(env.names[node.name], static=True)

    def _reads_sizes_only(self, node: ast.FunctionDef, env: Env) -> bool:
        """A function that is handed on as a value (an initializer), and makes nothing: evaluated once, on unknown
        arguments, so that the sizes it reads can be said in the constructor."""
        handed = env.method is not None and any(
            isinstance(n, ast.Name) and n.id == node.name and n not in called
            for called in [{c.func for c in ast.walk(env.method.node) if isinstance(c, ast.Call)}]
            for n in ast.walk(env.method.node)
        )
        if not handed or any(isinstance(n, ast.Nonlocal | ast.Global) for n in ast.walk(node)):
            return False
        return self.look_inside(node, env)

    # assignment ------------------------------------------------------------------------------------------------
    def _assign(self, statement: ast.stmt, targets: list[ast.expr], value_node: ast.expr, env: Env) -> None:
        before = len(self.sites)
        value = self.evaluate(value_node, env)
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            followed = size_lists.cut(self, targets[0].id, value_node, env)
            value = dataclasses.replace(value, value=followed or size_lists.noticed(self, value.value, targets[0].id))
        made = len(self.sites) > before
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        simple = all(
            isinstance(t, ast.Name) or (isinstance(t, ast.Tuple) and all(isinstance(e, ast.Name) for e in t.elts))
            for t in targets
        )
        copied = False
        if simple and not made and not self.in_setup and names and not any(env.is_taken(n) for n in names):
            self.keep_stale(names, env)
            localized = self.localize_statement(statement, value_node, value, env)
            if localized is not None:
                self.block.steps.append(Local(statement, frozenset(names), localized, env.source))
                copied = True
                if not value.static and len(names) == 1 and isinstance(targets[0], ast.Name):
                    value = named_after(targets[0].id, value.value, is_sequence(value_node, env))
                if dependencies_of(value.value) & names:  # `size = 2 * size`: from here on the name means the new one
                    (name,) = names if len(names) == 1 else ("",)
                    renamed: Value = Unknown(ast.unparse(statement))
                    if name and isinstance(value.value, Int | Static):
                        renamed = Int(Dim.local(name)) if isinstance(value.value, Int) else Static(name, frozenset(names))
                    value = dataclasses.replace(value, value=renamed)
        self.assigned = dict.fromkeys(targets, value_node)
        for target in targets:
            self.bind(target, value, env)
            if copied and not value.static and isinstance(target, ast.Tuple):
                for name in sorted(names):
                    env.names[name] = named_after(name, env.names[name].value)
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
            self.bind(target.value, value, env)
        elif isinstance(target, ast.Tuple | ast.List):
            star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
            items = self.unpack(value, len(target.elts), star)
            for element, item in zip(target.elts, items):
                self.bind(element, item, env)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value, env)
        elif isinstance(target, ast.Subscript):
            holder = self.evaluate(target.value, env)
            if isinstance(holder.value, Table) and isinstance(target.value, ast.Name):
                key = self.evaluate(target.slice, env).value
                if isinstance(key, Const):
                    node = self.assigned.get(target)
                    own = {key.value: entry(self, node, value, env)} if node is not None else {}
                    table = merged([holder.value, Table({key.value: value.value}, own)])
                    env.names[target.value.id] = dataclasses.replace(holder, value=table)
                    return
            if self.holds_module(value.value):
                raise Unmigratable("NNX121", "a submodule is stored under a computed key", target)
            if isinstance(target.value, ast.Name):
                old = env.get(target.value.id)
                size_lists.broken(self, {size_lists.variable_of(holder.value)} - {""})
                if old is not None and not isinstance(old.value, Array):
                    env.names[target.value.id] = Abs(Unknown("item assigned"))
                    env.local.discard(target.value.id)

    def _assign_attribute(self, target: ast.Attribute, value: Abs, env: Env) -> None:
        base = self.evaluate(target.value, env)
        if isinstance(base.value, Variable):  # variable.value = ...
            held, new = base.value.site.shape, value.value
            if isinstance(held, Array) and not (isinstance(new, Array) and new.shape.same(held.shape)):
                base.value.site.shape = Unknown("a variable that takes another shape")
            return
        if is_self(target.value, env):
            name = target.attr
            if self.in_setup:
                self.attribute_paths[name] = assigned_when(self.attribute_paths.get(name), tuple(self.path))
            self.attributes[name] = value
            for site in self.modules_in(value.value):
                if site.held and site.held not in self.fields:
                    raise Unmigratable("NNX127", f"`self.{name}` is a module of another module", target)
                if not site.container and site.in_setup:
                    if site.adopted:
                        reason = f"`self.{name}` is a module that was passed to another one before"
                        raise Unmigratable("NNX127", reason, target)
                    site.container = name
                elif site.container and site.in_setup and self.in_setup and name < site.container:
                    # NNX loses the order of attributes when a model is split: its keys would then be those of this one.
                    reason = f"`self.{name}` is a second name for `self.{site.container}` and comes first in the alphabet"
                    raise Unmigratable("NNX127", reason, target)

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
        left = env.get(name) or Abs(OPAQUE)
        if op == "Add" and size_lists.variable_of(left.value):
            grown = size_lists.grown(self, left.value, right.value, False)
            if grown is not None:
                variable = size_lists.variable_of(left.value)
                if sum(size_lists.variable_of(v.value) == variable for v in env.names.values()) > 1:
                    size_lists.broken(self, {variable})
                env.names[name] = Abs(grown, False, left.flags | right.flags)
                env.local.discard(name)
                return
        value = Abs(self.combine(op, left, right, node), left.static and right.static, left.flags | right.flags)
        if self.holds_module(left.value) or self.holds_module(right.value):
            value = Abs(self.extended(left.value, right.value, node), left.static, left.flags | right.flags)
            env.names[name] = value
            return
        if left.static and right.static and env.is_local(name):
            self.keep_stale({name}, env)
            said = self.localize(node.value, env)
            if said is not None:
                needs = said.needs | {name}
                localized = dataclasses.replace(said, span=env.source.span(node), needs=needs)
                self.block.steps.append(Local(node, frozenset({name}), localized, env.source))
                if isinstance(value.value, Static) or not isinstance(value.value, Int | Const | Tup):
                    value = Abs(Int(Dim.local(name)), static=True)
                env.names[name] = value
                return
        env.names[name] = Abs(value.value, static=False, flags=value.flags)
        env.local.discard(name)

    # branches --------------------------------------------------------------------------------------------------
    def _run_if(self, node: ast.If, rest: Sequence[ast.stmt], env: Env, returned: Returned) -> bool:
        self.mark = (self.block, len(self.block.steps))
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
        attributes_before = dict(self.attributes)
        given = (Returned(), Returned())  # what the two sides return
        env_then, env_else = env.copy(), env.copy()
        self.narrow(node.test, env_then, True)
        self.narrow(node.test, env_else, False)
        sides = step_of(self, node.test, test, text, env)

        self.block = then
        with self.under(sides, True):
            done_then = self.run_block(node.body, env_then, given[0])
        attributes_then = self.attributes
        self.attributes = dict(attributes_before)
        self.block = orelse
        with self.under(sides, False):
            done_else = self.run_block(node.orelse, env_else, given[1])
        took_rest = False
        if done_then != done_else and rest:
            # An early return: what follows belongs to the other branch only.
            self.block = then if done_else else orelse
            survivor = env_then if done_else else env_else
            if done_else:
                self.attributes, attributes_then = attributes_then, self.attributes
            with self.under(sides, not done_then):
                finished = self.run_block(rest, survivor, given[0 if done_else else 1])
            if done_else:
                self.attributes, attributes_then = attributes_then, self.attributes
            took_rest = True
            done_then, done_else = (finished, True) if done_else else (True, finished)
        self.block = outer
        calltime = localized is None and not text
        returned.values += self._of_both(given, None if calltime else branch, sides)
        if calltime:
            size_lists.broken(self, size_lists.changed_in([branch]))
        for site in self.sites[mark:]:
            site.conditions = (*site.conditions, (node, calltime))
        self.attributes = {**attributes_then, **self.attributes}
        for name, value in attributes_then.items():
            other = self.attributes.get(name)
            if other is not value and other is not None:
                merged = self.merge_pair(value, other)
                self.attributes[name] = dataclasses.replace(
                    merged, value=under_step(merged.value, value.value, other.value, sides)
                )
        if done_then and done_else:
            return True
        if done_then:
            env.restore(env_else)
        elif done_else:
            env.restore(env_then)
        else:
            self._merge_envs(env, env_then, env_else, then, orelse, calltime, sides)
            self._choose(node, env, env_then, env_else, localized, text)
        if calltime:  # both sides would be in the constructor, one after the other
            for step in [*steps_of(then), *steps_of(orelse)]:
                if isinstance(step, Local) and step.changes:
                    for name in step.names:
                        env.names[name] = Abs(Unknown(name))
                        env.local.discard(name)
        self._took_rest = took_rest
        return False

    def _of_both(
        self, given: tuple[Returned, Returned], branch: Branch | None, sides: tuple[Step, Step] | None
    ) -> list[Abs]:
        """What a function returns on the sides of a condition: one array, where the constructor knows the condition.

        The size that it chooses is assigned before the statement that calls the function: `nn.Dense(4)(scaled(x))` makes
        its layer first.
        """
        values = [*given[0].values, *given[1].values]
        both = bool(given[0].values and given[1].values)
        if branch is None or not both or len(self.marks) < 2 or self.marks[1][0] is not self.block:
            return values
        a, b = (self.merge_values(side.values) for side in given)
        if not (isinstance(a.value, Array) and isinstance(b.value, Array)) or a.value == b.value:
            return values
        needed = dependencies_of(a.value) | dependencies_of(b.value) | (branch.test.needs if branch.test else set())
        late = steps_of(Block(self.block.steps[self.marks[1][1] :]))
        if any(needed & (s.names if isinstance(s, Local) else {getattr(s, "name", "")}) for s in late):
            return values
        chosen = dataclasses.replace(branch, then=Block(), orelse=Block())
        merged = self._merge_tracked("", a, b, chosen.then, chosen.orelse, False, sides)
        if chosen.then.steps:
            here, self.mark = self.mark, self.marks[1]
            size_lists.before_statement(self, chosen, "")
            self.marks[1], self.mark = self.mark, (here[0], here[1] + (here[0] is self.block))
        return [merged]

    def _choose(self, node: ast.If, env: Env, then: Env, orelse: Env, localized: Localized | None, text: str) -> None:
        """Names that hold one factory or another, or one module or another, by the condition."""
        for name, bound in env.names.items():
            left, right = then.names.get(name), orelse.names.get(name)
            if left is None or right is None or left.value is right.value:
                continue
            if isinstance(left.value, Factory | FactoryChoice) and isinstance(right.value, Factory | FactoryChoice):
                value = chosen(self, node.test, localized, text, left.value, right.value, env)
                env.names[name] = dataclasses.replace(bound, value=value, static=left.static and right.static)
            elif isinstance(bound.value, Either) and localized is not None:
                value = decided(bound.value, *self.self_text(node.test, env), left.value, right.value)
                env.names[name] = dataclasses.replace(bound, value=value)

    def _merge_envs(
        self, env: Env, a: Env, b: Env, then: Block, orelse: Block, calltime: bool, sides: tuple[Step, Step] | None
    ) -> None:
        names = set(a.names) | set(b.names)
        for name in names:
            left, right = a.names.get(name), b.names.get(name)
            if left is None or right is None:
                env.names[name] = left or right or Abs(OPAQUE)
                env.local.discard(name)
                if name in (a.local if left is not None else b.local):
                    env.local.add(name)
                continue
            if left == right:
                env.names[name] = left
            else:
                found = self._merge_tracked(name, left, right, then, orelse, calltime, sides)
                known = under_step(found.value, left.value, right.value, sides)
                env.names[name] = found if known is found.value else dataclasses.replace(found, value=known)
            if name in a.local and name in b.local and not calltime:
                env.local.add(name)
            else:
                if left != right or not (name in a.local or name in b.local):
                    env.local.discard(name)

    def _merge_tracked(
        self,
        name: str,
        a: Abs,
        b: Abs,
        then: Block,
        orelse: Block,
        calltime: bool,
        sides: tuple[Step, Step] | None,
    ) -> Abs:
        """One value for both branches: sizes that differ are followed by a variable assigned in each.

        Layers made in setup cannot see such a variable: for them the size says the condition itself.
        """
        if sides is not None and not sides[0].deps and "setup" in self.blocks:
            if isinstance(a.value, Array) and isinstance(b.value, Array):
                return Abs(either_result(sides[0], a.value, b.value), False, a.flags | b.flags)
        static = a.static and b.static and not calltime
        flags = a.flags | b.flags
        variable = size_lists.variable_of(a.value)
        if variable and variable == size_lists.variable_of(b.value) and not calltime:
            return Abs(size_lists.SizeList(variable), False, flags)
        if isinstance(a.value, Array) and isinstance(b.value, Array) and not calltime:
            count = max(len(a.value.shape.dims), len(b.value.shape.dims))
            left, right = a.value.shape.expand(count), b.value.shape.expand(count)
            there: tuple[None, ...] = ()  # dimensions that are there on both sides, and no more is known of them
            if len(left.dims) != len(right.dims) or left.lead != right.lead:
                there = (None,) * (min(len(left.dims), len(right.dims)) - 1)
                one, other = last_of_both(left, right)
                if one is not None and other is not None:
                    left, right = one, other
            if len(left.dims) == len(right.dims) and left.lead == right.lead:
                pairs = list(zip(left.dims, right.dims))
                dims = [self._tracked_dim(x, y, then, orelse, i == len(pairs) - 1) for i, (x, y) in enumerate(pairs)]
                return Abs(Array(Shape((*there, *dims), left.lead)), False, flags)
        if isinstance(a.value, Int) and isinstance(b.value, Int) and not calltime:
            if static:
                return Abs(Int(Dim.local(name)), True, flags)
            dim = self._tracked_dim(a.value.dim, b.value.dim, then, orelse)
            return Abs(Int(dim) if dim is not None else OPAQUE, False, flags)
        if self.in_setup and self.repeating and sides is not None and not sides[0].deps:
            # A list that is filled or stays empty, by a condition that is the same in all passes of the loop.
            for filled, empty in ((a, b), (b, a)):
                if isinstance(filled.value, Repeated) and isinstance(empty.value, Tup) and not empty.value.items:
                    return filled
        merged = self.merge_pair(a, b)
        if static and isinstance(merged.value, Unknown):
            return Abs(Static(name, frozenset({name})), True, flags)
        return Abs(merged.value, static, flags)

    def merge_tracked(self, a: Abs, b: Abs, then: Block, orelse: Block) -> Abs | None:
        """Two arrays, of which a condition of the constructor decides; None for anything else."""
        if not (isinstance(a.value, Array) and isinstance(b.value, Array)):
            return None
        return self._merge_tracked("", a, b, then, orelse, False, None)

    def _tracked_dim(self, a: Dim | None, b: Dim | None, then: Block, orelse: Block, last: bool = False) -> Dim | None:
        if a is None or b is None or a == b:
            return same_width(a, b) if last else a if a == b else None
        name = self.tracker("features")
        then.steps.append(Track(name, a))
        orelse.steps.append(Track(name, b))
        return Dim.local(name)

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
        outer, self.block = self.block, Block()
        self.repeating += 1
        self.run_block(node.body, env.copy(), returned)
        size_lists.broken(self, size_lists.changed_in(self.block.steps))
        self.repeating -= 1
        self.block = outer
        if len(self.sites) > before:
            raise Unmigratable("NNX122", "submodules are made in a while loop", node)
        self._forget_assigned(node.body, env)

    def _run_for(self, node: ast.For, env: Env, returned: Returned) -> None:
        statements = self.unjumped.get(node)
        if statements is None:
            statements = self.unjumped[node] = jumps.without_continue(node.body)
        early = jumps.left_early(statements)
        left: list[Env] = []

        def body(inner: Env) -> None:
            self.left.append(left)
            try:
                self.run_block(statements, inner, returned)
            finally:
                self.left.pop()

        made, results, trackers = len(self.sites), len(returned.values), set(self.trackers)
        self.loop(node, node.target, node.iter, env, body)
        if node.orelse:
            self.run_block(node.orelse, env, returned)
        if early is None:
            return
        if any(s.kind != "rng" for s in self.sites[made:]):
            what = type(early).__name__.lower()
            raise Unmigratable("NNX122", f"a loop that makes submodules is left early by a `{what}`", early)
        jumps.after_break(self, env, left, self.trackers - trackers)
        returned.values[results:] = [
            jumps.forget_sizes(self, v, self.trackers - trackers) for v in returned.values[results:]
        ]


def _tuple_length(annotation: ast.expr | None) -> int:
    """2 for `Tuple[int, int]`; 0 for anything else."""
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value).lower().rpartition(".")[2] != "tuple":
        return 0
    items = annotation.slice
    if isinstance(items, ast.Tuple) and all(isinstance(i, ast.Name) and i.id == "int" for i in items.elts):
        return len(items.elts)
    return 0
