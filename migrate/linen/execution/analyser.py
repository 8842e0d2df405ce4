"""The analyser: executions of all classes of a project, and what calling one of them gives another."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Collection, Container, Iterable, Mapping
from typing import Any

from ...diagnostics import defect
from ...source import SourceFile
from ..lists import own_chains
from ..modules import bridged_results, default_modules, detached_cells, given_carries, lost_factories, objects_of_others
from ..modules.annotated_factories import annotated_factory
from ..modules.given_functions import GivenFunctions
from ..modules.handed_keywords import Caller
from ..modules.kinds import Kinds, same_kind
from ..modules.module_calls import as_shape
from ..modules.passed import (
    Apart,
    Given,
    Kind,
    Passed,
    held_value,
    joined,
    passed_value,
    passes_lists,
    taken_apart,
    tell_giver,
    tell_giver_of_items,
)
from ..modules.stateless import as_function
from ..outside import outside_chains
from ..outside.given_outside import GivenOutside, Template, given_outside
from ..outside.outside_chains import OutsideChain
from ..project.classes import Classes, ClassModel, Field
from ..values.dims import Dim
from ..values.environment import Env
from ..values.kind_results import said_by_itself
from ..values.presence import whole_argument
from ..values.replacing import replace_dims
from ..values.sites import Abs, BoundArg, CallRecord, Factory, Site, Static, Unmigratable
from ..values.substitution import Substitution
from ..values.vague import is_count, is_loose, is_vague, is_written_out
from ..values.values import Array, Const, Global, Int, Tup, Unknown, Value
from . import asked_values, changed_arguments, class_methods, entry_arguments, number_arguments, side_ranks
from .execute import Execution
from .helpers import Slot
from .needed_sizes import needed_sizes
from .reads import Reads

# Arguments with a dimension less than features have.
_IDS = re.compile(r"mask|(^|_)(ids|positions?)$")


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
        self.window_ranks: dict[str, dict[str, int]] = {}  # those that a window of any length was taken to tell
        self.changed_arguments: dict[str, set[str]] = {}  # class → what its call changes in place of what it is given
        self.side_ranks: dict[str, side_ranks.SideRanks] = {}  # class → what is certain on single sides of its conditions
        self.assumed: dict[str, dict[str, int]] = {}  # of these the ones that were guessed, or seen in examples only
        self.called: dict[str, dict[str, int]] = {}  # class → ranks that calls in other classes show, see `rank_checks`
        self.certain: dict[str, frozenset[str]] = {}  # class → arguments whose ranks were known before any was guessed
        self.done: dict[str, Execution | Unmigratable] = {}
        self.own_chains: dict[str, bool] = {}
        self.chain_calls: set[ast.AST] = set()  # where these are made as nn.Sequential
        self.running: set[str] = set()
        self.given: dict[str, dict[str, Given]] = {}  # class → field → what is passed in
        self.revised = False  # did a field get more kinds of modules after it was first known?
        self.bridging: set[str] = set()  # classes in which modules that stay Linen are wrapped
        self.of_others = objects_of_others.Memo()
        self.wrapped: set[str] = set()  # the classes of these modules
        self.foreign: dict[str, set[str]] = {}  # class → those of other packages that it wraps, see `foreign`
        self.later: set[str] = set()  # classes whose constructors find sizes by a call, see `later_sizes`
        self.shared_readings: set[tuple[ast.AST, str]] = set()  # of variables, in all classes of a family; see there
        self.by_passes: set[str] = set()  # those that find, too, how many modules their loops make, see `by_passes`
        self.untracked_sizes: set[str] = set()  # those that find, too, what a loop changes from pass to pass
        self.given_trees: dict[str, set[str]] = {}  # class → arguments that are dicts of arrays in some calls
        self.never_later: set[str] = set()  # those that may not
        self.never_told_apart: set[str] = set()  # those whose modules of one name must be the same in every call
        self.conflicts: dict[str, str] = {}
        self.read_attributes: set[str] = set()  # fields that the constructors of other classes read off an instance
        self.partial: set[tuple[str, str]] = set()  # (class, argument): shapes that are given in part only
        self.special: dict[tuple[str, str, str], Execution | None] = {}
        self.reads = Reads()
        self.news: set[str] = set()  # classes of which more was learnt since all were followed
        self._specialising: set[tuple[str, str, str]] = set()
        self.kinds = Kinds(classes)
        self.fallbacks: dict[tuple[str, str], Factory] = {}  # class, field → what stands in for it, see `fallback_factories`
        self.functions = GivenFunctions()
        self.carried_scans: set[ast.AST] = set()  # in helpers: scans over modules of which some change from step to step
        self.plain_results: dict[object, Value] = {}  # methods of objects that are no modules, on arguments → what they give
        self.class_methods = class_methods.Memo()
        self.slots: dict[ast.AST, dict[str, Slot]] = {}  # helper function → what its callers hand to it, see `helpers`
        self.checked: dict[ast.Call, ast.expr] = {}  # parameter of a helper function → the dtype that is the call's
        self.handed_on: dict[ast.Call, dict[str, str]] = {}  # call in a helper function → keyword → the helper's own
        self.of_kinds: set[str] = set()  # those that must, as they are one of several kinds
        self.mute: set[str] = set()  # classes that cannot say it
        self.nested: dict[ast.If, ast.If] = {}  # conditions of several parts, one within the other
        self.split: dict[ast.AST, list[ast.expr]] = {}  # conditions on the call with what fields decide inside → other parts
        self.settled_sides: dict[ast.If, bool] = {}  # what is asked there → the side that alone can be taken
        self.trackable: set[str] = set()  # classes with arrays that conditions give more dimensions
        self.tracking: set[str] = set()  # those of them whose constructors follow whole shapes through conditions
        self.untracked: dict[str, Execution | Unmigratable | None] = {}  # those without that
        self.call_fields: dict[str, set[str]] = {}  # class → its flags that the call takes, see `call_fields`
        self.constructed: set[str] = set()  # classes whose flags stay with the constructor
        self.call_values: dict[str, set[str]] = {}  # of `call_fields`: those that hold arrays
        self.read_off: set[tuple[str, str]] = set()  # classes and fields that callers read off what they have made
        self.loaded: frozenset[str] = frozenset()  # attributes that are read on anything but self, see `decide`
        self.without_values: set[str] = set()  # classes whose arrays stay with the constructor
        self.reader: Any = None  # of the code outside of modules; see `outside`
        self.given_by_tables: list[tuple[str, str, ast.expr]] = []  # class, field, what a table holds for it
        self.given_layers: list[tuple[str, Factory, ast.expr]] = []  # class, a factory that such code gives it, where
        self.asked_values: dict[str, dict[ast.expr, str]] = {}  # class → values that it asks for, see `asked_values`
        self.size_arguments: dict[str, frozenset[str]] = {}  # owner of a call → its arguments that are sizes themselves
        self.handed_asks: dict[str, set[str]] = {}  # class → what it asks for because its submodules do
        self.unasked: set[str] = set()  # classes that may ask for no more than the sizes of arguments
        self.wanted_sizes: dict[str, dict[str, Any]] = {}  # class → what it asks for; see `field_kinds`
        self.carries: dict[str, dict[str, bool]] = {}  # class → arguments that are carries, see `given_carries`
        self.without_variables: dict[str, dict[str, ast.Call]] = {}  # class → what others make for it, see `made_outside`
        self.settled: dict[str, dict[str, str]] = {}  # class → fields that have to be their defaults, see `settled_fields`
        self.asked: set[str] = set()  # classes whose modules say how many features they give

    def made_outside(self, source: SourceFile, call: ast.Call) -> frozenset[str]:
        """The classes that a call outside of modules may construct."""
        return frozenset(self.reader.made_by(call, source)) if self.reader is not None else frozenset()

    @functools.cached_property
    def given_outside(self) -> GivenOutside:
        """The modules that code outside of modules gives to classes."""

        def fields(qualname: str) -> list[str]:
            model = self.classes.get(qualname)
            return [f.name for f in model.fields() if f.init and not f.kw_only] if model is not None else []

        return given_outside(self.classes, fields, functools.partial(default_modules.calls, self.classes))

    @functools.cached_property
    def named_outside(self) -> frozenset[str]:
        """The classes that code outside of modules names."""
        return asked_values.named_outside(self.classes.project)

    def asked_places(self, model: ClassModel) -> dict[ast.expr, str]:
        """The places of values whose sizes a class asks for, its bases' among them."""
        if not self.asked_values:
            return {}
        return {place: name for m in model.mro() for place, name in self.asked_values.get(m.qualname, {}).items()}

    def is_asked_value(self, qualname: str, argument: str) -> bool:
        """Is what a class asks for no argument of its call, but a value inside of it?"""
        model = self.classes.get(qualname)
        names = {*self.handed_asks.get(qualname, ()), *(self.asked_places(model).values() if model is not None else ())}
        return argument.partition("[")[0].partition(".")[0] in names

    def templates(self, qualname: str) -> Mapping[str, tuple[Template, ...]]:
        """Field → the modules that code outside of modules gives it, which become factories."""
        return self.given_outside.templates.get(qualname, {})

    def takes(self, qualname: str, field: str, kind: Kind) -> None:
        """Remember a module that code outside of modules gives to a field."""
        table = self.given.setdefault(qualname, {})
        both = joined(table.get(field), Passed((kind,)))
        if both is None:
            self.conflicts[qualname] = _DIFFERENT.format(field)
        else:
            table[field] = both

    @functools.cached_property
    def outside_chains(self) -> Mapping[str, OutsideChain]:
        """Of these, the classes that only call what they are given in turn."""
        return outside_chains.find(self.classes.project, self.classes, self.given_outside.refused)

    def is_own_chain(self, qualname: str) -> bool:
        """Does a class do what nn.Sequential does?"""
        if qualname not in self.own_chains:
            self.own_chains[qualname] = own_chains.is_chain(self.classes.project, self.classes, qualname)
        return self.own_chains[qualname]

    def family(self, qualname: str) -> frozenset[str]:
        """A class and those that it inherits from."""
        model = self.classes.get(qualname)
        return frozenset(m.qualname for m in model.mro()) if model is not None else frozenset()

    def execution(self, qualname: str) -> Execution:
        """The execution of a class; raises Unmigratable as it did when first run."""
        self.reads.note(qualname)
        found = self.done.get(qualname)
        if found is None:
            if qualname in self.running:
                raise Unmigratable("NNX124", f"{qualname.rpartition('.')[2]} contains itself")
            model = self.classes.get(qualname)
            if model is None:
                raise Unmigratable("NNX125", f"{qualname} is not known")
            self.running.add(qualname)
            try:
                with self.reads.by(qualname):
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
            with entry_arguments.followed(model) as implied:
                failure: Unmigratable | None = None
                try:
                    execution.run()
                except Unmigratable as error:
                    failure = error
                    failure.wanted_ranks = execution.wanted_ranks()
            told = {**execution.assumed_ranks, **implied}.items()
            own = {k: v for k, v in told if k.partition("[")[0] in execution.arguments}  # items of tuples, too
            new = changed_arguments.learnt(execution, self.changed_arguments) | given_carries.learnt(execution)
            if not side_ranks.learnt(execution, self.side_ranks[model.qualname]) and not (new or set(own) - set(ranks)):
                if failure is not None:
                    raise failure
                return execution
            unsaid = {k: own[k] for k in execution.ranks_of_windows.difference(implied, ranks) if k in own}
            matter = {k: rank for k, rank in unsaid.items() if execution.asks_for_rank(k, rank)}
            self.window_ranks.setdefault(model.qualname, {}).update(matter)
            ranks.update({k: v for k, v in own.items() if k not in ranks})
        if failure is not None:
            raise failure
        return execution

    def assume(self, qualname: str, ranks: Mapping[str, int]) -> None:
        """Run a class again, taking arguments to have these numbers of dimensions."""
        self.certain.setdefault(qualname, frozenset(self.ranks.setdefault(qualname, {})))
        self._forget_implied(qualname)
        self.ranks[qualname].update(ranks)
        self.assumed.setdefault(qualname, {}).update(ranks)
        self.done.pop(qualname, None)
        self.forget_special([qualname])

    def _forget_implied(self, qualname: str) -> None:
        known = self.ranks.get(qualname, {})
        for argument in known.keys() - self.certain.get(qualname, known.keys()):
            del known[argument]

    def forget(self, qualname: str, arguments: Collection[str]) -> None:
        """Take back what `assume` said, and what followed from it of other arguments."""
        if arguments:
            self._forget_implied(qualname)
            self.certain.pop(qualname, None)
        for argument in arguments:
            self.ranks.get(qualname, {}).pop(argument, None)
            self.assumed.get(qualname, {}).pop(argument, None)
        self.done.pop(qualname, None)
        self.forget_special([qualname])

    def forget_special(self, changed: Iterable[str]) -> None:
        """Drop what classes are for the constants of single calls, where it was made of what was known of these before."""
        concerned = self.reads.concerned(changed)
        self.special = {key: run for key, run in self.special.items() if key[0] not in concerned}

    def forget_all(self) -> None:
        """Follow all classes anew."""
        self.done.clear()
        self.special.clear()
        self.news.clear()

    def forget_news(self) -> None:
        """Follow those anew of which more was learnt, those that looked at them, and those that could not be followed."""
        failed = {name for name, run in self.done.items() if isinstance(run, Unmigratable)}
        concerned = self.reads.concerned(self.news | failed)
        self.done = {name: run for name, run in self.done.items() if name not in concerned}
        self.special = {key: run for key, run in self.special.items() if key[0] not in concerned and run is not None}
        self.news.clear()

    def says_nothing(self, names: Iterable[str]) -> None:
        """The modules of these classes cannot say how many features they give."""
        more = set(names) - self.mute
        if more:
            self.mute |= more
            self.forget_special(more)

    def forget_users(self, qualname: str, planned: Container[str]) -> None:
        """Run the classes that contain one again, of which more is known than when they were run."""
        stale = {qualname}
        while True:
            users = {
                name
                for name, run in self.done.items()
                if isinstance(run, Execution) and name not in stale and any(site.target in stale for site in run.sites)
            }
            if not users:
                break
            stale |= users
        for name in stale - {qualname}:
            if name not in planned:
                self.done.pop(name)
        self.forget_special([qualname])

    def token_arguments(self, qualname: str) -> frozenset[str]:
        """Arguments that go to an nn.Embed as they are, and masks: one dimension less than the features they become."""
        model, run = self.classes.get(qualname), self.done.get(qualname)
        found = {p.arg for m in model.methods().values() for p in m.parameters if _IDS.search(p.arg)} if model else set()
        if not isinstance(run, Execution) or qualname in self.running:
            return frozenset(found)
        self.running.add(qualname)
        try:
            for site in run.sites:
                if site.call is None:
                    continue
                inner = self.classes.get(site.target) if site.kind == "class" else None
                method = inner.method(site.renders.get("method", "__call__")) if inner is not None else None
                names = [p.arg for p in method.positional] if method is not None else []
                tokens = self.token_arguments(site.target) if inner is not None else frozenset()
                given = [(names[i] if i < len(names) else "", v) for i, v in enumerate(site.call.args)]
                for name, value in [*given, *site.call.keywords.items()]:
                    if name in tokens or site.target == "flax.linen.Embed":
                        found.add(whole_argument(value))
        finally:
            self.running.discard(qualname)
        return frozenset(found - {""})

    def passes(self, execution: Execution, site: Site) -> None:
        """Remember the factories and modules that a site passes to a class; a module and a factory cannot be one field."""
        self.reads.note(site.target)
        self.learns(site.target, site.bound)
        lost_factories.check_kept(site.bound, site.node)
        if self.functions.learn(site.target, site.bound):
            self.revised = True
            self.again(site.target)
        table = self.given.setdefault(site.target, {})
        for name, argument in site.bound.items():
            value = argument.abs.value
            new: Given | None = value if isinstance(value, Factory) else passed_value(execution, value)
            if new is None:
                continue
            if name in self.templates(site.target):
                self.conflicts[site.target] = f"its field `{name}` is given modules by modules and by code outside of them"
                continue
            known = table.get(name)
            if isinstance(new, Factory) and isinstance(known, Factory):
                continue  # see `kinds`
            new = as_function(self, execution, site.target, name, new, known)
            before = as_function(self, execution, site.target, name, known, new) if known is not None else None
            both = joined(before, new)
            if both is None:
                self.conflicts[site.target] = _DIFFERENT.format(name)
            elif both != known:
                self.revised |= known is not None
                table[name] = both
                self.news.add(site.target)
                self.forget_special([site.target])
                if isinstance(both, Passed) or isinstance(known, Passed):  # run again now that the field is known
                    self.done.pop(site.target, None)

    def learns(self, target: str, arguments: Mapping[str, BoundArg]) -> None:
        """Remember the factories among the arguments of a class, and run it again if they are news."""
        if self.kinds.learn(target, arguments):
            self.again(target)

    def follow_shapes(self, name: str, follow: bool) -> bool:
        """Let a class's constructor follow whole shapes through conditions, or no more; does it from now on?"""
        if follow and name not in self.trackable:
            return False
        if follow and name not in self.tracking:
            self.tracking.add(name)
            self.untracked[name] = self.done.pop(name, None)
            self.forget_special([name])
        elif not follow and name in self.tracking:
            self.tracking.discard(name)
            self.done.pop(name, None)
            self.forget_special([name])
            before = self.untracked.pop(name)
            if before is not None:  # what was refused is a part of it
                self.done[name] = before
        return follow

    def again(self, target: str) -> None:
        """Run a class again, and those that share its methods."""
        names = [model.qualname for model in self.classes.lineage(target)]
        self.done = {name: run for name, run in self.done.items() if name not in names}
        self.news.update(names)
        self.forget_special(names)

    def gives(self, target: str, field: str, factory: Factory, origin: tuple[SourceFile, ast.AST]) -> None:
        """Remember a factory that code outside of modules gives to a field."""
        kinds = [dataclasses.replace(k, origin=origin, alternatives=()) for k in factory.kinds()]
        for kind in kinds:
            self.learns(target, {field: BoundArg(None, Abs(kind), None)})

    def output(self, execution: Execution, site: Site, method: str, record: CallRecord) -> Value:
        """What calling a project class gives, in terms of the caller."""
        name = site.target.rpartition(".")[2]
        try:
            called = self.execution(site.target)
        except Unmigratable as error:
            if execution.model.qualname in self.bridging:
                site.bridged = error.reason
                if site.target in self.running:  # a class that contains itself is no wrapper, whose shape can be asked for
                    return Unknown(f"what {name} gives, which contains itself")
                return bridged_results.result(execution, site, method)
            found = Unmigratable("NNX150", f"it contains {name}, which is not native: {error.reason}", site.node)
            found.inner = site.target
            if error.field:  # what is made further on may give it one: `Block()` first, and then `Block(norm=nn.LayerNorm)`
                execution.problems.append(found)
                return Unknown(f"what {name}.{method} returns")
            raise found from error
        summary = called.summaries.get(method)
        if summary is None:
            return detached_cells.of_static(execution, called.model, method, record)
        inputs = summary.inputs(record)
        changed_arguments.note_called(execution, called, inputs)
        for parameter, rank in self.ranks.get(site.target, {}).items():
            given = inputs.get(parameter)
            if isinstance(given, Array) and given.shape.rank not in (None, rank):
                run = self._specialised(execution, site, called, method, inputs, as_given=True)
                special = run.summaries.get(method) if run is not None else None
                if special is not None:  # the branch that asks for the other number is not taken here
                    return replace_dims(special.result, self.substitution(execution, site, called, inputs))
                return Unknown(f"what {name} returns where `{parameter}` has {given.shape.rank} dimensions, not {rank}")
            if isinstance(given, Array) and parameter not in self.assumed.get(site.target, {}):
                side_ranks.handed_back(execution, given, rank, parameter in self.window_ranks.get(site.target, {}))
        substitution = self.substitution(execution, site, called, inputs)
        caller = Caller(site, called.model.method(method), record)
        tell_giver(execution, site, called, substitution, caller)
        given_carries.learn(execution, site, called, substitution)
        listed = passes_lists(site)
        run = self._specialised(execution, site, called, method, inputs) if listed else None
        if run is not None:
            tell_giver_of_items(execution, site, run, substitution, caller)
        result = Unknown(f"what {name} makes of a list") if listed else replace_dims(summary.result, substitution)
        if is_vague(result) or (is_loose(result) and _ranks_of(inputs, called.ranks)):
            run = self._specialised(execution, site, called, method, inputs)
            special = run.summaries.get(method) if run is not None else None
            if special is not None:
                result = replace_dims(special.result, self.substitution(execution, site, called, inputs))
        if site.target in self.wrapped and execution.model.qualname in self.bridging:
            return bridged_results.result(execution, site, method) if bridged_results.lacks_width(result) else result
        return said_by_itself(execution, site, called, summary.result, result) if method == "__call__" else result

    def _specialised(
        self,
        execution: Execution,
        site: Site,
        called: Execution,
        method: str,
        inputs: Mapping[str, Value],
        as_given: bool = False,
    ) -> Execution | None:
        """The execution of a class for the constants that one site and one call give it, and the ranks of what the call
        gives it, where in general nothing is known; `as_given`: also where something else is taken in general."""
        known = {} if as_given else called.ranks
        ranks = {**called.ranks, **_ranks_of(inputs, known), **known}
        flags = {k: Abs(v, static=True) for k, v in inputs.items() if isinstance(v, Const)}
        given: dict[str, Abs] = {}
        passed: dict[str, Passed | Apart] = {}
        for field in called.model.fields():
            bound = site.bound.get(field.name)
            value = bound.abs.value if bound is not None else None
            module = passed_value(execution, value) if value is not None else None
            apart = taken_apart(value) if value is not None else None
            if isinstance(module, Passed):
                passed[field.name] = apart or module
            if bound is None and field.default is not None:
                value = default_modules.value_of(execution, field).value
            if isinstance(value, Const) or (isinstance(value, Int) and value.dim.value is not None):
                given[field.name] = Abs(value, static=True)
            elif _may_be_none(execution, value):
                continue
            elif isinstance(value, Int):
                given[field.name] = Abs(Int(Dim.field(field.name)), static=True)
            elif isinstance(value, Tup) and all(isinstance(i, Int) or is_count(i) for i in value.items):
                items = tuple(
                    i if isinstance(i, Int) and i.dim.value is not None else Int(Dim.opaque(f"self.{field.name}[{n}]"))
                    for n, i in enumerate(value.items)
                )
                given[field.name] = Abs(Tup(items, value.kind), static=True)
            elif isinstance(value, Tup) and is_written_out(value):  # `padding=((1, 1), (1, 1))`
                given[field.name] = Abs(value, static=True)
            elif isinstance(value, Static) and not value.sequence and field.may_be_int:
                given[field.name] = Abs(Int(Dim.field(field.name)), static=True)
        constants = sorted((k, repr(v.value)) for k, v in [*given.items(), *flags.items()])
        key = (site.target, method, repr((constants, sorted(ranks.items()), passed)))
        self.reads.note(site.target)
        if key not in self.special and key not in self._specialising:
            self.special[key] = None
            self._specialising.add(key)
            run = Execution(called.model, self, given, passed)
            run.ranks = ranks
            run.given_arguments = {method: flags}
            try:
                with self.reads.by(site.target), entry_arguments.followed(called.model):
                    run.run()
            except Unmigratable:
                return None
            finally:
                self._specialising.discard(key)
            if key not in self.special:  # more was learnt meanwhile: the next call that asks is told by that
                return run
            self.special[key] = run
        return self.special.get(key)

    def needed_sizes(
        self, execution: Execution, site: Site, called: Execution, method: str, inputs: Mapping[str, Value]
    ) -> frozenset[tuple[str, int]] | None:
        """The dimensions of its inputs that a class needs with what one site gives it; None where that is not clear."""
        run = self._specialised(execution, site, called, method, inputs)
        return needed_sizes(self, run) if run is not None else None

    def substitution(self, execution: Execution, site: Site, called: Execution, inputs: Mapping[str, Value]) -> Substitution:
        fields = [f for f in called.model.fields() if f.default is not None]
        defaults = {f.name: default_modules.value_of(execution, f) for f in fields}
        shapes = {name: as_shape(inputs[name]) for name in called.shape_arguments & inputs.keys()}
        numbers = number_arguments.as_arrays(called.number_arguments, inputs)
        return Substitution(execution, site, defaults, {**inputs, **shapes, **numbers})

    def note_sow(self, execution: Execution, node: ast.Call, env: Env) -> None:
        execution.sows.append(node)

    def field_factory(self, execution: Execution, field: Field) -> Value | None:
        """The factory that a module-typed field holds: what the project passes in, and its default."""
        found = self.kinds.of(execution.model, field.name)
        if field.default is not None and not default_modules.makes_nothing(self, field):
            default = execution.constant(field.default, field.source).value
            shared = self._shared_defaults(execution, field)
            if len(shared) > 1:
                found = [*shared, *[f for f in found if not any(same_kind(f, d) for d in shared)]]
            elif isinstance(default, Factory) and not any(same_kind(default, f) for f in found):
                found.insert(0, default)
            passed = execution.passed.get(field.name) or self.given.get(execution.model.qualname, {}).get(field.name)
            if isinstance(passed, Passed) and isinstance(default, Factory | Global):
                self.conflicts[execution.model.qualname] = _DIFFERENT.format(field.name)
        if not found:
            annotated = annotated_factory(execution, field)
            found = [annotated] if annotated is not None else []
        if not found:
            return None
        name = field.name
        if any(f.name is not None for f in found):
            raise Unmigratable("NNX155", f"its field `{name}` is given a partial that holds `name=`")
        seen = [dataclasses.replace(f, text=f"self.{name}", field=name, chosen_by=name, node=None) for f in found]
        return dataclasses.replace(seen[0], alternatives=tuple(seen[1:]))

    def _shared_defaults(self, execution: Execution, field: Field) -> list[Factory]:
        """The kinds that the classes of a family give a field by default, in one order: they share methods, which must be
        right for each of them.
        """
        owners = [m for m in execution.model.mro() if any(f.name == field.name for f in m.own_fields)]
        found: list[Factory] = []
        for model in [owners[-1], *self.classes.derived(owners[-1])] if owners else []:
            for own in model.own_fields:
                value = execution.constant(own.default, own.source).value if own.name == field.name and own.default else None
                if isinstance(value, Factory) and not any(same_kind(value, f) for f in found):
                    found.append(value)
        return found

    def field_module(self, execution: Execution, field: Field) -> Value | None:
        """The module that a field holds, by what the project passes in."""
        passed = execution.passed.get(field.name) or self.given.get(execution.model.qualname, {}).get(field.name)
        return held_value(execution, field, passed) if isinstance(passed, Passed | Apart) else None


_DIFFERENT = "its field `{}` is given different kinds of modules"


def _ranks_of(inputs: Mapping[str, Value], known: Mapping[str, int]) -> dict[str, int]:
    """The numbers of dimensions of what a call gives, where they are known and the class does not know them."""
    found = {name: value.shape.rank for name, value in inputs.items() if isinstance(value, Array)}
    return {name: rank for name, rank in found.items() if rank is not None and name not in known}


def _may_be_none(execution: Execution, value: Value | None) -> bool:
    """Is it an optional field of the caller, which a class asks for None (`n = self.out; if n is None: ...`)?"""
    text = value.dim.text() if isinstance(value, Int) else value.text if isinstance(value, Static) else ""
    return any(text == f"self.{f.name}" and f.may_be_none for f in execution.model.fields())


def internal_error(error: Exception) -> Unmigratable:
    """A defect of this tool, as the reason why a class stays Linen."""
    return Unmigratable("NNX199", defect(error))
