"""Symbolic execution of Linen modules: what is made where, of which sizes, and what shapes come out.

One `Execution` follows one class: `setup` first, then `__call__`, then the other public methods. Arrays are shapes,
integers are symbolic, modules are construction sites. Nothing is imported and nothing of the user's code is run.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree
from ..lifted.lifting import lift_method, run_method
from ..lists import conditional_items, list_items, size_lists
from ..lists.agreeing import Agreement
from ..lists.last_pass import Pass
from ..modules import alternatives, call_fields, helpers_of_derived, named_methods, own_methods, uncalled, unreached_methods
from ..modules.applied import Applied
from ..modules.module_calls import INITIAL_CARRY
from ..modules.normalize_calls import Normalized
from ..modules.variable_reads import VariableRead
from ..project.classes import ClassModel, Field, Method, is_abstract
from ..values import drawn_names, jumps, mutation
from ..values.dims import Dim
from ..values.environment import Env, Returned
from ..values.merging import dependencies_of, map_dims, merge, merge_returned
from ..values.presence import Step
from ..values.sites import (
    Abs,
    Block,
    BoundArg,
    CallRecord,
    For,
    Function,
    Lifted,
    LiftedCall,
    Local,
    ModuleField,
    Site,
    Static,
    Unmigratable,
)
from ..values.values import Array, Const, Int, NeedsRank, Real, Shape, Tup, Unknown, Value, value_with_rank
from ..values.variable_starts import made_by_calls
from . import (
    aliases,
    asserted,
    assignment,
    branch_execution,
    changed_arguments,
    drawn_assignments,
    early_returns,
    entry_arguments,
    given_objects,
    plain_objects,
    post_inits,
    said_types,
    stale_names,
    uncertain,
)
from .loop_execution import LoopExecution
from .side_ranks import SideRanks

if TYPE_CHECKING:
    from ..lists.skip_lists import Filled
    from ..modules.detached_cells import InitialCarry
    from ..modules.layer_calls import LayerCall
    from ..modules.passed import Apart, Passed
    from ..modules.shared_scopes import SharedScope
    from .analyser import Analyser

MAX_DEPTH = 24


@dataclasses.dataclass
class Summary:
    """What calling a module does to shapes, in terms of its fields and its arguments."""

    parameters: tuple[str, ...]
    defaults: Mapping[str, Abs]
    result: Value
    names: Mapping[str, str] | None = None  # parameter → the argument of `__call__` that it is, "" for none; None: its own
    rest: str = ""  # the name of `*args`

    def inputs(self, record: CallRecord) -> dict[str, Value]:
        """What a call gives for the arguments that the class's sizes are said in."""
        given: dict[str, Value] = dict(zip(self.parameters, record.args))
        given.update(record.keywords)
        if self.rest:
            given[self.rest] = Tup(record.args[len(self.parameters) :])
        for parameter, default in self.defaults.items():
            given.setdefault(parameter, default.value)
        if self.names is None:
            return given
        return {self.names[name]: value for name, value in given.items() if self.names.get(name)}


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
        self.renamed: dict[int, tuple[Abs, Abs]] = {}  # what names hold, said anew, and as it was: `stale_names`
        self.names_of_sites: dict[Site, tuple[list[BoundArg], frozenset[str]]] = {}  # see `stale_names`
        self.assigned: dict[ast.expr, ast.expr] = {}  # the targets of the assignment at hand → what is assigned
        self.depth = 0
        self.layer_calls: list[LayerCall] = []  # calls of layers' subclasses that are being followed, outermost first
        self.scopes: tuple[Lifted, ...] = ()  # transforms of the functions that are being executed, outermost first
        self.holder = "self"  # what the innermost of these functions calls the module
        self.counts: dict[Lifted, object] = {}  # scan or vmap → the size of what it maps over
        self.decorators: dict[ast.expr, Lifted] = {}
        self.lifted_calls: list[LiftedCall] = []
        self.normalized: dict[ast.Call, Normalized] = {}  # calls of Linen's `_normalize`
        self.call_fields = frozenset(analyser.call_fields.get(model.qualname, ()))  # flags that the call takes
        self.derivatives: dict[ast.Call, tuple[str, SourceFile]] = {}  # nn.vjp, nn.grad and the like
        # nn.cond and the like → its kind, its module and its options
        self.controls: dict[ast.Call, tuple[str, Value, Mapping[str, Abs]]] = {}
        self.unjumped: dict[ast.For, list[ast.stmt]] = {}  # loop → its body without `continue`
        self.left: list[list[Env]] = []  # for every loop that is being executed: what held where it was left
        self.of_functions: set[ast.Call] = set()  # calls of what is, or may be, a function
        self.active: list[ast.AST] = []  # functions that are being executed, outermost first
        self.cut_short: set[ast.AST] = set()  # functions that call themselves more often than is followed
        self.trial = 0
        self.unsteady: dict[str, ast.AST] = {}  # names of objects that all passes of a loop change, and the loop
        self.starting, self.drawn = False, drawn_names.DrawnNames()  # is what a variable starts from being said?
        self.asked_dtype = None
        self.uncalled: list[ast.stmt] = []  # what makes submodules that nothing calls
        self.apart = 0  # how many functions are being followed none of whose code is in the constructor
        self.problems: list[Unmigratable] = []
        self.summaries: dict[str, Summary] = {}
        self.ranks: dict[str, int] = dict(analyser.ranks.get(model.qualname, {}))
        self.changed_arguments: set[str] = set(analyser.changed_arguments.get(model.qualname, ()))
        self.sized_arguments: dict[str, list[Dim]] = {}
        self.path, self.sized, self.facts = [], [], []  # facts: what else holds there, parts of conditions on the call
        self.running_loops: list[ast.AST] = []
        self.loop_depths: list[int] = []
        self.passes: list[Pass] = []  # of loops, as they are followed on trial
        self.before_last: dict[str, tuple[str, frozenset[Site]]] = {}  # see `all_but_last`
        self.optional_arguments: set[str] = set()  # array arguments that may be None
        self.evaluated: dict[ast.AST, Abs] = {}
        self.first_draws: dict[ast.AST, str] = {}  # calls of `make_rng` in first values of variables → stream
        self.in_words: dict[ast.expr, ast.expr] = {}  # what functions say in the words of their callers → in their own
        self.nothing: dict[ast.Call, list[Site]] = {}  # where a factory makes nothing, as the other sites of that call
        self.trackers: set[str] = set()
        self.grown_from_one, self.columns, self.last_called, self.picked_from = set(), set(), set(), set()
        self.one_or: dict[str, frozenset[Dim]] = {}  # sizes that are 1 on a branch → all that they may be
        self.looked_up: set[ast.AST] = set()  # values of global names that are being evaluated
        self.used_streams: set[str] = set()
        self.super_calls: list[tuple[ast.Call, Method]] = []
        self.all_names: frozenset[str] = model.local_names
        self.lazy = made_by_calls(model)  # collections whose variables come to be when called
        self.loose: set[str] = set()  # arrays whose leading dimensions a loop changes
        self.sows: list[ast.Call] = []
        self.initial_carries: dict[ast.Call, InitialCarry] = {}  # of cells that are made for nothing else
        self.shared_scopes: list[SharedScope] = []  # nn.share_scope(self, ...)
        call = model.method("__call__")  # its arguments that are sizes themselves, see `number_arguments`
        self.number_arguments = analyser.size_arguments.get(call.owner.qualname, frozenset()) if call else frozenset()
        self.shape_arguments: set[str] = set()  # arguments of the call that are shapes themselves
        self.assumed_ranks: dict[str, int] = {}
        self.ranks_of_windows: set[str] = set()  # arguments whose ranks are guessed from windows of any length
        self.handed_ranks: set[str] = set()  # those of them that a class it calls has guessed so
        self.side_ranks: SideRanks = analyser.side_ranks.setdefault(model.qualname, {})
        self.told_by_sides: SideRanks = {}
        self.arguments: set[str] = {p.arg for m in model.methods().values() for p in m.parameters}
        # Places where a value comes to be whose size the constructor asks for → what the value is called there.
        self.asked: dict[ast.expr, str] = analyser.asked_places(model)
        self.arguments |= set(self.asked.values())
        self.inlined: set[Method] = set()
        self.for_derived: set[str] = set()  # entry methods for whose text alone they are followed, see `helpers_of_derived`
        self.handed: dict[str, own_methods.Handed] = {}  # methods that `__call__` calls
        self.executed: dict[ast.AST, SourceFile] = {}  # the functions whose bodies were followed, and where they stand
        self.called_by_networks: set[ast.AST] = set()  # those of them that graph networks call
        self.mode_flag = False  # batch statistics are used or updated by train() and eval()
        self.variable_reads: dict[ast.expr, VariableRead] = {}  # `self.variables[...]` and the like
        self.attribute_paths: dict[str, tuple[Step, ...] | None] = {}  # setup's attributes → when they are made
        self.applied: dict[ast.Call, Applied] = {}  # layers called with weights from elsewhere
        self.followed: set[ast.AST] = set()  # attributes of Linen's that were understood
        self.constants: dict[ast.Call, str] = {}  # self.is_initializing() and the like → what it is in NNX
        self.all_carried: dict[Site, list[tuple[str, Dim, Dim]]] = {}  # list elements: tracker, first size, next size
        self.carried: dict[Site, list[tuple[str, Dim, Dim]]] = {}  # the same for the sizes that a constructor asks for
        self.along: dict[str, For | None] = {}  # tracker → the loop of setup that makes the list along which it changes
        self.agreements: dict[str, Agreement] = {}  # tracker → sizes of a loop's passes that the constructor finds equal
        self.joined_loops: dict[For, For] = {}  # loops that make lists → the loop in which the constructor makes them
        self.held: dict[str, Value] = {}  # field → the module that it hands in
        self.list_scopes: dict[str, str] = {}  # names of setup's loops, with what they run over in the list called last
        self.item_widths: dict[Site, list[tuple[tuple[Dim | None, ...], bool]]] = {}  # lists of setup: what calls give
        self.list_ranks: dict[str, set[int | None]] = {}  # lists of arrays: the ranks of what is in them
        self.list_widths: dict[str, set[Dim | None]] = {}  # and their last dimensions
        self.list_shapes: dict[str, set[Shape | None]] = {}  # and all that is known of these arrays
        self.filled_lists: dict[str, Filled] = {}  # those that a loop over a list of setup fills, see `skip_lists`
        self.width_names: set[str] = set()  # what loops over lists of arrays bind
        self.item_names: set[str] = set()  # names of such loops that are arrays in the call and widths in the constructor
        self.lost_ends: set[str] = set()  # lists of arrays whose end is not followed: see `list_ends`
        self.broken_lists: dict[str, str] = {}  # lists of arrays that the constructor cannot follow, and why
        self.unlooped: list[tuple[Block, str, Dim | None]] = []  # what loops that it lacks add to the widths of lists
        self.mark: tuple[Block, int] = (self.block, 0)  # where the steps of the present statement begin
        self.decided_counts: dict[str, Dim | None] = {}  # numbers of setup that one condition decides
        self.marks: list[tuple[Block, int]] = []  # the same for the functions that led here, the entry method's first
        self.reached: dict[str, Site] = {}  # modules that submodules made for themselves, by the text that reads them
        self.setup_helpers: dict[ast.Call, Block] = {}  # functions that make parameters for setup → what they make
        self.compact_calls = 0  # of compact methods by others, see `compact_calls`
        self.in_compact = False  # is such a call being followed?
        self.closed: dict[str, Dim] = {}  # tracker → its value after the loop, in terms of fields
        self.computing: post_inits.Computing | None = None  # what its `__post_init__` does

    # entry points ----------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Execute setup and every public method; raises Unmigratable where the class cannot become native."""
        post_inits.execute(self)
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
                self._ask_static(method)
                if name in self.handed:
                    self._summarize(name, method, self.handed[name].result, self.handed[name].names)
                continue
            self.entry = name
            self.block = self.blocks[name] = Block()
            try:
                result = self._run_body(method, entry_arguments.of_method(self, method))
            except Unmigratable:
                if name == "__call__" or method.compact or self.sites_of(name):
                    raise
                continue  # a helper that makes nothing and that we cannot follow is left as it is
            if result.value == alternatives.RAISES and self.analyser.assumed.get(self.model.qualname):
                if not isinstance(method.node.body[-1], ast.Raise):  # `if x.ndim < 4: raise ...`, and what follows is dead
                    reason = f"with the number of dimensions that is guessed, {name} raises"
                    raise Unmigratable("NNX110", reason, method.node)
            if name != "__call__":
                unreached_methods.refuse(self, method)
            self._summarize(name, method, result.value)
        self._follow_named()
        self._follow_for_derived()
        call_fields.refuse_deciding(self)
        uncalled.take_back(self)

    def _follow_named(self) -> None:
        """Helpers that are called under other names: followed for their text."""
        for method in list(named_methods.found(self)):
            self._follow(method)
            named_methods.refuse(self, method)

    def _follow_for_derived(self) -> None:
        """Helpers that only derived classes call: followed for their text."""
        own = self.fields
        for method, borrowed in list(helpers_of_derived.found(self)):
            self.fields = {**own, **borrowed}
            try:
                self._follow(method)
            finally:
                self.fields = own
            self.for_derived.add(method.name)
            helpers_of_derived.refuse(self, method)

    def _follow(self, method: Method) -> None:
        """Run a helper's body for its text. Raises Unmigratable where it makes something and cannot be followed."""
        self.entry = method.name
        self.block = self.blocks[method.name] = Block()
        try:
            self._run_body(method, entry_arguments.of_method(self, method))
        except Unmigratable:
            if self.sites_of(method.name):
                raise

    def _summarize(self, name: str, method: Method, result: Value, names: Mapping[str, str] | None = None) -> None:
        """Keep what a method gives, for those that call it."""
        found = {p.arg: method.default(p.arg) for p in method.parameters}
        defaults = {key: self.constant(node, method.source) for key, node in found.items() if node is not None}
        parameters = tuple(p.arg for p in method.positional)
        self.summaries[name] = Summary(parameters, defaults, self.outward(result), names, method.vararg)

    def _ask_static(self, method: Method) -> None:
        """A static method that the class does not call itself: the carries that it makes are noted."""
        names = {node.attr for node in method.nodes if isinstance(node, ast.Attribute)}
        if method in self.inlined or "staticmethod" not in method.decorators or INITIAL_CARRY not in names:
            return
        self.entry, self.block = method.name, Block()
        arguments = {p.arg: Abs(Unknown(f"argument {p.arg}")) for p in method.parameters}
        made = len(self.sites)
        try:
            self.run_function(method.node, Env(arguments, method.source, method=method))
        except Unmigratable:
            pass
        del self.sites[made:]

    def wanted_ranks(self) -> tuple[str, ...]:
        """Arguments of the class whose number of dimensions would tell more."""
        found: set[str] = set()
        for value in self.evaluated.values():
            if isinstance(value.value, NeedsRank):
                found.update(value.value.arguments)
            elif isinstance(value.value, Array) and (lead := value.value.shape.lead) is not None and not lead.known:
                found.update(lead.needs)
        wanted = found - self.ranks.keys() - self.columns
        return tuple(sorted(a for a in wanted if a.partition("[")[0] in self.arguments))

    def asks_for_rank(self, argument: str, rank: int) -> bool:
        """Would a size be said otherwise, or not be known, without this rank of an argument: `x.shape[1]`?"""
        if argument in self.handed_ranks or argument in self.wanted_ranks():
            return True
        sizes = (bound.value for bound in self.evaluated.values() if isinstance(bound.value, Int | Real | Tup))
        return any(value_with_rank(value, argument, rank) != value for value in sizes)

    def outward(self, value: Value) -> Value:
        """A result without the constructor's own variables: sizes after a loop in terms of the fields."""

        if dependencies_of(value) & set(self.before_last):
            value = list_items.without(value, frozenset(self.before_last))
        return conditional_items.told(self, map_dims(value, self.settled))

    def settled(self, dim: Dim) -> Dim:
        """A size without the constructor's own variables, as far as it is known in terms of the fields."""
        return dim.substitute(lambda atom: self.closed.get(atom.args[0]) if atom.kind == "local" else None)

    def sites_of(self, entry: str) -> list[Site]:
        return [s for s in self.sites if s.method == entry]

    def field_value(self, name: str) -> Abs:
        """A field as the constructor sees it: an int is a size, a known factory is that, anything else is text."""
        if name in self.given:
            return self.given[name]
        if name in self.call_fields:
            return Abs(Unknown(f"the flag {name}"), flags=frozenset({name}))
        field = self.fields[name]
        annotation = self.project.said(field.annotation) if field.annotation is not None else ""
        if said_types.is_size(self.model, field, annotation):
            return Abs(Int(Dim.field(name)), static=True)
        if name in self.analyser.given_outside.handed.get(self.model.qualname, ()):
            return Abs(ModuleField(name), static=True)
        factory = self.analyser.field_factory(self, field) or self.analyser.field_module(self, field)
        if factory is not None:
            return Abs(factory, static=True)
        length = _tuple_length(field.annotation)
        if length:
            return Abs(Tup(tuple(Int(Dim.opaque(f"self.{name}[{i}]")) for i in range(length))), static=True)
        held = plain_objects.of_field(self, field)
        return Abs(held or Static(f"self.{name}", sequence=_is_sequence_type(annotation)), static=True)

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
        self.executed[node] = env.source
        # A function that calls itself more than once would be followed exponentially often.
        if self.depth > MAX_DEPTH or self.active.count(node) > 1:
            self.cut_short.add(node)
            return Abs(Unknown("recursion"))
        mark = len(self.sites)
        self.depth += 1
        self.active.append(node)
        self.marks.append(self.mark)
        try:
            if isinstance(node, ast.Lambda):
                given_back = self.evaluate(node.body, env)
                self._check_cut_short(node, mark)
                return given_back
            returned = Returned()
            given = [bound.value for bound in env.names.values()]
            done = is_abstract(self.project, env.source, node) or self.run_block(node.body, env, returned)
            self._check_cut_short(node, mark)
            ways = alternatives.filled_in(alternatives.returning(returned.values), given)
            if done and not ways:
                return Abs(alternatives.RAISES)
            return self.merge_values(ways, merge_returned) if ways else Abs(Const(None), static=True)
        finally:
            self.depth -= 1
            self.active.pop()
            self.mark = self.marks.pop()

    def _check_cut_short(self, node: ast.FunctionDef | ast.Lambda, mark: int) -> None:
        """Refuse a function that calls itself and makes modules: how often is not known."""
        if node in self.cut_short and self.active.count(node) == 1:
            self.cut_short.discard(node)
            if any(site.kind != "rng" for site in self.sites[mark:]):
                called = node.name if isinstance(node, ast.FunctionDef) else "a lambda"
                raise Unmigratable("NNX135", f"`{called}` calls itself and makes modules", node)

    def run_block(self, statements: Sequence[ast.stmt], env: Env, returned: Returned) -> bool:
        """Execute statements; True where every path has returned."""
        for position, statement in enumerate(statements):
            rest, left = statements[position + 1 :], len(returned.exits)
            if isinstance(statement, ast.If):
                done, took_rest = branch_execution.run_if(self, statement, rest, env, returned)
                if done or took_rest:
                    return done
            elif self.run_statement(statement, env, returned):
                return True
            if isinstance(statement, ast.For | ast.While | ast.Try | ast.Match):
                returned.exits[left:] = early_returns.of_a_loop(returned.exits[left:])
            if rest and len(returned.exits) > left:
                return early_returns.follow(self, rest, returned.exits[left:], env, returned)
        return False

    def run_statement(self, node: ast.stmt, env: Env, returned: Returned) -> bool:
        self.mark = (self.block, len(self.block.steps))
        changed_by_calls = given_objects.check(self, node, env)
        names = frozenset() if self.in_setup else mutation.changed_names(node)
        changed_arguments.note(self, names, env)
        lists = {n: env.get(n) for n in names if env.is_local(n)}
        changed = {n for n, held in lists.items() if held is None or not size_lists.variable_of(held.value)}
        if changed:
            stale_names.keep_stale(self, set(changed), env)
        done = self._run_statement(node, env, returned)
        mutation.forget_object(self, node, env)
        changed |= mutation.no_arrays(lists, changed, env)
        if changed:
            mutation.record(self, node, frozenset(changed), env)
        mutation.forget_items(self, node, names - changed, env)
        aliases.forget_others(self, node, env)
        given_objects.forget(changed_by_calls, env)
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
            assignment.assign(self, node, node.targets, node.value, env)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                assignment.assign(self, node, [node.target], node.value, env)
        elif isinstance(node, ast.AugAssign):
            assignment.augmented(self, node, env)
        elif isinstance(node, ast.For):
            self._run_for(node, env, returned)
        elif isinstance(node, ast.While):
            uncertain.run_while(self, node, env, returned)
        elif isinstance(node, ast.With):
            for item in node.items:
                value = self.evaluate(item.context_expr, env)
                if item.optional_vars is not None:
                    assignment.bind(self, item.optional_vars, Abs(Unknown("with"), flags=value.flags), env)
            return self.run_block(node.body, env, returned)
        elif isinstance(node, ast.FunctionDef):
            self._define(node, env)
        elif isinstance(node, ast.Assert):
            asserted.learn(self, node, env)
        elif isinstance(node, ast.Try):
            return uncertain.run_try(self, node, env, returned)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    env.names.pop(target.id, None)
                elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    aliases.forget(self, {target.value.id}, env)
        elif isinstance(node, ast.Match):
            return uncertain.run_match(self, node, env, returned)
        elif isinstance(node, ast.Global) and self.apart:
            env.names.update({name: Abs(Unknown(name)) for name in node.names})
        elif isinstance(node, ast.Nonlocal | ast.Global):
            what = f"`{ast.unparse(node)}`: a function assigns to a name of another scope"
            raise Unmigratable("NNX134", what, node)
        return False

    def _define(self, node: ast.FunctionDef, env: Env) -> None:
        """A nested function: what it makes is made where it is called; one that needs no array can be copied."""
        plain = not node.decorator_list
        closed = plain and self._closed(node, env)
        env.names[node.name] = Abs(self.local_function(node, env), static=closed)
        env.local.discard(node.name)
        if self.in_setup:
            env.local.add(node.name)
        elif plain and not env.is_taken(node.name) and (closed or self._reads_sizes_only(node, env)):
            localized = drawn_assignments.defined(self, node, env)
            if localized is not None:
                self.block.steps.append(Local(node, frozenset({node.name}), localized, env.source))
                env.local.add(node.name)
                env.names[node.name] = dataclasses.replace(env.names[node.name], static=True)

    def _reads_sizes_only(self, node: ast.FunctionDef, env: Env) -> bool:
        """A function that is handed on as a value (an initializer), and makes nothing: evaluated once, on unknown
        arguments, so that the sizes it reads can be said in the constructor."""
        handed = env.method is not None and any(
            isinstance(n, ast.Name) and n.id == node.name and n not in called
            for called in [{c.func for c in env.method.nodes if isinstance(c, ast.Call)}]
            for n in env.method.nodes
        )
        if not handed or any(isinstance(n, ast.Nonlocal | ast.Global) for n in subtree(node)):
            return False
        return self.look_inside(node, env)

    def bind(self, target: ast.expr, value: Abs, env: Env) -> None:
        """Bind an assignment target; tuples are taken apart."""
        assignment.bind(self, target, value, env)

    # what several paths give -----------------------------------------------------------------------------------
    def merge_tracked(self, a: Abs, b: Abs, then: Block, orelse: Block, sides: tuple[Step, Step] | None) -> Abs | None:
        """Two arrays, of which a condition of the constructor decides; None for anything else."""
        return branch_execution.merge_tracked(self, a, b, then, orelse, sides)

    def merge_sides(self, env: Env, a: Env, b: Env, then: Block, orelse: Block, sides: tuple[Step, Step]) -> None:
        """The names after a condition that the constructor can ask."""
        branch_execution.merge_envs(self, env, a, b, then, orelse, False, sides)

    def merge_pair(self, a: Abs, b: Abs) -> Abs:
        return self.merge_values([a, b])

    def merge_values(self, values: list[Abs], merge: Callable[[Value, Value], Value] = merge) -> Abs:
        """What is common to several values."""
        first = values[0]
        flags = frozenset().union(*[v.flags for v in values])
        merged = first.value
        for other in values[1:]:
            merged = merge(merged, other.value)
        return Abs(merged, all(v.static for v in values) and not isinstance(merged, Unknown), flags)

    # loops -----------------------------------------------------------------------------------------------------
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
        jumps.after_break(env, left, self.trackers - trackers)
        returned.values[results:] = [jumps.returned_within(v, self.trackers - trackers) for v in returned.values[results:]]


def _is_sequence_type(annotation: str) -> bool:
    """`Sequence[int]`, `tuple[int, ...]`: how many items there are is not known, and it is no number."""
    text = annotation.strip("'\"").replace("typing.", "").replace("collections.abc.", "").replace("Optional[", "", 1)
    return re.match(r"(tuple|Tuple|Sequence|list|List|Iterable)\b", text) is not None and "|" not in text


def _tuple_length(annotation: ast.expr | None) -> int:
    """2 for `Tuple[int, int]`; 0 for anything else."""
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value).lower().rpartition(".")[2] != "tuple":
        return 0
    items = annotation.slice
    if isinstance(items, ast.Tuple) and all(isinstance(i, ast.Name) and i.id == "int" for i in items.elts):
        return len(items.elts)
    return 0
