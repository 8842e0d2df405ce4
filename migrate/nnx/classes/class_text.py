"""The text of one native class: its constructor, and the edits to its methods.

Nothing is decided here: the execution says what is made where, `naming` how it is called. `prepare` builds every
piece once without a file, to learn which input sizes the constructor must be given and whether anything has no
native form; `write` builds them again into a file's context.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Set
from typing import Any

from ...catalog import layers
from ...edits import Part, Parts, Span
from ...linen.execution.analyser import Analyser
from ...linen.execution.execute import Execution
from ...linen.execution.needed_sizes import refuse_of_one_call
from ...linen.lists import all_but_last, uncalled_items
from ...linen.lists.chains import Chain
from ...linen.modules.bridged_results import OUT_SHAPE, told
from ...linen.modules.passed import held_modules
from ...linen.values.constant_text import condition
from ...linen.values.dim_text import ATOM, level_of
from ...linen.values.dims import Atom, Dim
from ...linen.values.merging import Either
from ...linen.values.presence import asked
from ...linen.values.sites import (
    BoundArg,
    DimPart,
    DtypePart,
    Factory,
    Function,
    Localized,
    ShapePart,
    Site,
    SitePart,
    Unmigratable,
    overlay,
)
from ...linen.values.values import Shape, Tup
from ...linen.values.wrappers import is_wrapper
from ...names import is_attribute_name
from ...plan import AddedArgument, ClassPlan
from ...source import SourceFile
from .. import linen_copies
from ..calls import cached_properties, traced_draws
from ..factories import choice_text, field_kinds, given_modules, outside_chains
from ..lifted import lifted
from ..refused import kept_methods, refusals, rules_in_methods, unheld_modules, updated_statistics
from ..setup import carried, computed_plan, setup_conditions, setup_names, setup_values
from ..text import elsewhere, layer_variants, naming, variable_places
from ..text.naming import Names, Place
from ..text.text_parts import Details, DryNamer, InitLines, MethodEdit, Namer, Recorder, short
from . import (
    constructor_names,
    constructor_text,
    hidden_globals,
    later_sizes,
    repeated_entries,
    setup_sizes,
    shared_scopes,
    templates,
)
from .built_from import BuiltFrom, inputs_of

VARIABLE_TYPES = {
    "params": "Param",
    "batch_stats": "BatchStat",
    "cache": "Cache",
    "intermediates": "Intermediate",
    "perturbations": "Perturbation",
}


class ClassText:
    """One class in the making."""

    def __init__(
        self,
        run: Execution,
        analyser: Analyser,
        plans: Mapping[str, ClassPlan],
        references: linen_copies.References | None = None,
    ) -> None:
        """`references`: of the project, where modules that stay Linen may be wrapped."""
        self.run = run
        self.references = references
        self.model = run.model
        self.source = run.model.source
        self.analyser = analyser
        self.plans = plans
        self.names = Names()
        # Sizes that the constructor asks for; those first that other kinds of modules in its place ask for.
        wanted = analyser.wanted_sizes.get(run.model.qualname, {})
        self.used: dict[str, set[Any]] = {argument: {index} for argument, index in wanted.items()}
        self.optional: set[str] = set()
        self.needs: set[str] = set()
        self.of_other_files: list[tuple[SourceFile, Span, list[Span]]] = []  # what is said of them; what of that anew
        self.namer: Namer = DryNamer()
        self.written: tuple[list[MethodEdit], Recorder] | None = None  # the edits of a trial, and how they name things
        self.edits: list[MethodEdit] = []
        self.notes: list[tuple[str, str, ast.AST]] = []
        self.streams: dict[str, str] = {}
        self.template_lines: list[Parts] = []
        self.call_keywords: dict[str, tuple[str, str]] = {}
        self.perhaps: set[str] = set()  # those that not every kind of the field's modules takes
        self.collections: set[str] = set()
        self.built: dict[Site, tuple[InitLines, set[str]]] = {}
        self.said_sizes: dict[str, set[str]] = {}  # arguments of the call → what their sizes were called
        self._built_from: BuiltFrom | None = None
        self.call_example = ""  # what the constructor calls the arguments of the first call, if it is given these
        self.examples: dict[str, str] = {}  # arguments of the call that the constructor is given → under which name
        self.later: dict[Site, None] = {}  # what is made when the class was called once, see `later_sizes`
        self.lines: list[Any] = []  # what the constructor makes, as it was planned
        self.again: dict[Site, Site] = {}  # what a method makes that an earlier one made, see `repeated_entries`
        self.setup_params: dict[str, str] = {}  # attributes that hold a parameter of another name
        self.computed: setup_values.Computed | None = None  # what setup computes from parameters
        self.closing = False  # a size of setup is being said
        self.building: Site | None = None  # whose constructor expression is being made
        self.moved: list[Span] = []
        # Fields whose names the constructor gives to something else: they are said as `self.<field>`.
        self.bound: frozenset[str] = constructor_names.bound_names(run)
        self.gave_way = False  # did a size take another name for one of `bound`?
        self.inner = constructor_names.inner_names(run)
        self.shadowed = (self.bound | self.inner) & run.fields.keys()
        self.hidden: dict[str, frozenset[str]] = {}  # module → its names that the constructor may have for something else
        self.of_files: list[tuple[SourceFile, ast.Name]] = []  # where it says them
        self.emitted: set[str] = set()
        self.renamed: dict[str, str] = {}  # attributes of setup that take Linen's name
        self.with_compact = [n for n in run.blocks if n != "setup" and any(not s.in_setup for s in run.sites_of(n))]

    # planning --------------------------------------------------------------------------------------------------
    def prepare(self) -> None:
        """Name and build everything once; raises Unmigratable."""
        refusals.refuse(self)
        cached_properties.refuse(self)
        unheld_modules.refuse(self)
        outside_chains.prepare(self)
        self.run.carried = {site: list(sizes) for site, sizes in self.run.all_carried.items()}
        self.setup_params, self.computed = computed_plan.of_class(self.run, self.model)
        self.renamed = setup_names.renamed(self.run)
        for entry in self.run.blocks:
            if entry != "setup" or self.run.setup_helpers:
                naming.assign(self.run, entry, self.names)
        for site in self.run.sites:
            if site.in_setup and site.kind in ("layer", "class", "param", "variable"):
                attribute = site.container or "_"
                attribute = self.renamed.get(attribute, self.setup_params.get(attribute, attribute))
                if is_attribute_name(attribute):
                    self.names.places[site] = Place("attribute", attribute)
                else:
                    self.names.places[site] = Place("dynamic", "", dynamic=ast.Constant(attribute))
        repeated_entries.find(self)
        for text, site in self.run.reached.items():
            self.names.places[site] = Place("attribute", text)
        for field, module in held_modules(self.run):
            self.names.places[module.site] = Place("list" if module.element else "attribute", field)
        self._call_keywords()
        self._build_all()
        self._find_shadowed()
        repeated_entries.check(self)
        carried.keep_needed(self)
        for sizes in self.run.carried.values():
            for _, first, following in sizes:
                self.dim(first), self.dim(following)
        self.lines = [constructor_text.constructor_lines(self, entry) for entry in self.run.blocks]
        constructor_names.refuse_reserved(self.run, self.bound | self.emitted)
        hidden_globals.refuse(self)
        self.template_lines = templates.lines(self)
        later_sizes.lines(self)
        refusals.nothing_left(self)
        rules_in_methods.refuse(self)
        traced_draws.refuse(self)
        updated_statistics.refuse(self)
        kept_methods.refuse(self)
        shared_scopes.check(self)
        for read in self.run.variable_reads.values():
            variable_places.said(self, read)

    def _find_shadowed(self) -> None:
        """Keep as bound, and as shadowed, only what the constructor as built so far does bind."""
        if not self.bound:
            return
        self.emitted.clear()
        for entry in self.run.blocks:
            constructor_text.constructor_lines(self, entry)
        self.bound = constructor_names.bound_in_setup(self.run) | self.emitted
        shadowed = (self.bound | self.inner) & self.run.fields.keys()
        if shadowed != self.shadowed or self.gave_way:
            self.shadowed = shadowed
            self._build_all()

    def rebuild(self, namer: Namer) -> None:
        """Build everything with the names of a file, unless these, and all else, are what it was built with."""
        self.namer = namer
        if self._built_from is None or not self._built_from.holds_for(self):
            self._build_all()

    def _build_all(self) -> None:
        given, asked, inputs = self.namer, Recorder(self.namer), inputs_of(self)
        self.said_sizes, self._built_from, self.namer = {}, None, asked
        try:
            self._build_sites()
        finally:
            self.namer = given
        self._built_from = BuiltFrom(asked, inputs, self.said_sizes)

    def _build_sites(self) -> None:
        self.built.clear()
        all_but_last.check(self.run)
        uncalled_items.check(self.run)
        setup_conditions.check_told(self)
        for site in self.run.sites:
            if site in self.again:
                self.built[site] = self.built[self.again[site]]
            elif site.kind != "rng" and not site.lazy and site.method not in self.run.for_derived:
                if setup_conditions.made_when(self, site) == ():
                    self.built[site] = (InitLines((), ("None",)), set())
                    continue
                lines = setup_sizes.site_lines(self, site)
                self.built[site] = (lines, set(self.needs))

    def _call_keywords(self) -> None:
        for site in self.run.sites:
            if site.factory is None or not site.factory.field:
                continue
            for key in {k: None for kind in site.factory.kinds() for k in kind.calltime}:
                keyword = self._calltime_name(site, key)
                self.call_keywords[keyword] = (site.factory.field, key)
                if any(key not in kind.calltime for kind in site.factory.kinds()):
                    self.perhaps.add(keyword)
        for site in self.run.sites:
            self._handed_keywords(site)

    def _handed_keywords(self, site: Site) -> None:
        """Flags that a submodule's call takes for a factory which it is given from a field of this class."""
        called = self.plans.get(site.target) if site.kind == "class" else None
        keywords = called.details.call_keywords if called is not None and called.details is not None else {}
        for keyword, (field, key) in keywords.items():
            bound = site.bound.get(field)
            factory = bound.abs.value if bound is not None else None
            if not isinstance(factory, Factory) or not factory.field:
                continue
            taking = [key in kind.calltime for kind in factory.kinds()]
            own = self._flag_name(keyword, factory.field)
            if any(taking) and self.call_keywords.setdefault(own, (factory.field, key)) != (factory.field, key):
                reason = f"`{keyword}` of the modules in `{factory.field}` and in another field cannot be told apart"
                raise Unmigratable("NNX172", reason, site.node)
            if any(taking) and not all(taking):
                self.perhaps.add(own)

    def _calltime_name(self, site: Site, key: str) -> str:
        layer = layers.lookup(site.target)
        keyword = layer.call_time_fields.get(key, key) if layer is not None else key
        assert site.factory is not None
        known = self.call_keywords.get(keyword)
        if known is not None and known != (site.factory.field, key):
            return f"{site.factory.field}_{keyword}"
        return self._flag_name(keyword, site.factory.field)

    def _flag_name(self, keyword: str, field: str) -> str:
        """What the call takes for a flag of the modules in a field; an argument of its own of that name is another one."""
        method = self.model.own_methods.get("__call__")
        taken = method is not None and any(p.arg == keyword for p in method.parameters)
        return f"{field}_{keyword}" if taken else keyword

    def details(self) -> Details:
        return Details(self.added(), dict(self.call_keywords), later_sizes.is_typed(self))

    def first_argument(self) -> str:
        method = self.model.method("__call__")
        return method.parameters[0].arg if method is not None and method.parameters else ""

    def added(self) -> list[tuple[AddedArgument, str, Any]]:
        found: list[tuple[AddedArgument, str, Any]] = []
        for argument, indices in self.used.items():
            whole = indices != {-1}
            name = self.size_name(argument)
            shape = argument if argument in self.run.shape_arguments else f"{argument}.shape"
            origin = shape if whole else f"{shape}[-1]"
            if argument in self.run.number_arguments:
                origin = argument
            if argument in self.optional or argument in self.run.optional_arguments:  # those who call it may leave it out
                origin = f"None if {argument} is None else {origin}"
            found.append((AddedArgument(name, origin), argument, "shape" if whole else -1))
        found += [(later_sizes.example(self, argument, name), argument, "whole") for argument, name in self.examples.items()]
        called = AddedArgument(self.call_example, "(args, kwargs)", call=True)
        return [*found, (called, "", "call")] if self.call_example else found

    def dtypes(self) -> dict[str, str]:
        """Arguments for the dtypes of parameters that Linen made with the dtype of an array of the call, with defaults."""
        made = [s.renders["dtype"] for s in self.run.sites if s.kind == "param" and "dtype" in s.renders]
        found = {name: default for name, _, default in made}
        taken = self.bound | self.run.fields.keys()
        for name in found:
            if name in taken:
                raise Unmigratable("NNX111", f"a dtype would be called `{name}`, and that name is taken", self.model.node)
        return found

    def size_name(self, argument: str) -> str:
        whole = self.used.get(argument, {-1}) != {-1}
        stem = "in" if argument == self.first_argument() else re.sub(r"\W+", "_", argument).strip("_")
        if argument in self.run.shape_arguments:
            stem = stem.removesuffix("_shape")
        name = f"{stem}_shape" if whole else f"{stem}_features"
        if argument in self.run.number_arguments:
            name = argument
        while name in self.run.fields or name in self.bound:
            self.gave_way |= name in self.bound
            name += "_"
        self.said_sizes.setdefault(argument, set()).add(name)
        return name

    def needed(self, names: Iterable[str]) -> set[str]:
        """Of the names that an expression reads, those that the constructor has to assign first."""
        return {n for n in names if n not in self.run.fields or n in self.shadowed}

    def field(self, name: str) -> str:
        """A field as the constructor says it."""
        handed = name in self.analyser.templates(self.model.qualname)  # a factory, that has become the module
        return f"self.{name}" if handed or name in self.shadowed else name

    # sizes -----------------------------------------------------------------------------------------------------
    def dim(self, dim: Dim) -> str:
        """A size as the constructor says it."""
        if self.closing:  # setup does not run the loops of the call: sizes behind them, as the last iteration leaves them
            dim = dim.substitute(lambda a: self.run.closed.get(a.args[0]) if a.kind == "local" else None)
        plainer = dim.substitute(self._either)
        if plainer is not dim and not any(atom.kind == "cond" for atom in plainer.atoms()):
            dim = plainer  # `a + b` of the two halves of x, whichever of them a is
        self.needs |= self.needed(dim.dependencies())
        return dim.text(self._atom)

    def sized(self, argument: str, index: int | str) -> str:
        """The constructor's name for the sizes of an argument, of which it needs one or the whole shape."""
        own = told(argument)
        if own:
            if not re.fullmatch(rf"\w+|self\.\w+\.{OUT_SHAPE}|\w+(\[\d+\])*\.shape", own):
                raise Unmigratable("NNX110", "parts of what a module that stays Linen gives are not known", self.model.node)
            self.needs |= self.needed({own}) if own.isidentifier() else set()
            return self.own_text(own)
        self.used.setdefault(argument, set()).add(index)
        return self.size_name(argument)

    def _either(self, atom: Atom) -> Dim | None:
        """The sizes that a condition of the fields has assigned to a variable of the constructor."""
        found = self.run.closed.get(atom.args[0]) if atom.kind == "local" else None
        one = found.single_atom() if found is not None else None
        return found if one is not None and one.kind == "cond" else None

    def _atom(self, atom: Atom) -> str | None:
        if atom.kind == "field":  # or a property, or an attribute of the class
            name = str(atom.args[0])
            return self.field(name) if name in self.run.fields else self.own_text(f"self.{name}")
        if atom.kind == "input":
            argument, index = atom.args
            name = self.sized(argument, index)
            return f"{name}[{index}]" if name.rstrip("_").endswith("_shape") or told(argument) else name
        if atom.kind == "rank":
            return f"len({self.sized(atom.args[0], 'shape')})"
        if atom.kind == "lead":
            start = atom.args[2] if len(atom.args) > 2 else 0
            stop = f"-{atom.args[1]}" if atom.args[1] else ""
            return f"{self.namer.name('math.prod')}({self.sized(atom.args[0], 'shape')}[{start or ''}:{stop}])"
        if atom.kind == "byrank":
            argument, rank, then, other = atom.args
            test = f"len({self.sized(argument, 'shape')}) == {rank}"
            return f"({then.text(self._atom)} if {test} else {other.text(self._atom)})"
        if atom.kind == "opaque":
            return self.own_text(str(atom.args[0]))
        if atom.kind == "cond":
            test, then, other = atom.args
            question = asked(test)
            if question is not None:  # whether an optional argument is given: whether its size is
                test = setup_conditions.is_given(self, question[0])
            if test == then.text():
                return f"({then.text(self._atom)} or {other.text(self._atom)})"
            return f"({then.text(self._atom)} if {self.own_text(condition(test))} else {other.text(self._atom)})"
        return None

    def own_text(self, text: str) -> str:
        """`self.field` → the constructor's argument; `__given__.memory` → whether it was given the size of `memory`."""

        def said(match: re.Match[str]) -> str:
            field, attribute = match[1], match[2].removeprefix(".")
            if field not in self.run.fields:
                inner = re.match(r"self(?:\.\w+)+", text[match.start() :])
                field_kinds.check_order(self, field, inner[0].rpartition(".")[2] if inner else attribute)
                return f"self.{setup_names.asked_as(self.run, field + match[2])}" if attribute else match[0]
            if not attribute:
                return self.field(field)
            return f"{self.field(field)}.{given_modules.attribute(self, self.run, field, attribute.split('.'))}"

        own = re.sub(r"\bself\.(\w+)((?:\.\w+)*)", said, text)
        return elsewhere.in_own_words(self, setup_conditions.asking_sizes(self, own))

    def shape(self, shape: Shape) -> str:
        """A whole shape as the constructor says it; it must be `sayable`."""
        argument = shape.of_argument(self.run.ranks)
        if argument:
            return self.sized(argument, "shape")
        sizes = ", ".join(self.dim(d) for d in shape.dims if d is not None)
        if shape.lead is None:
            return f"({sizes},)" if len(shape.dims) == 1 else f"({sizes})"
        name = self.sized(shape.lead.argument, "shape")
        if not shape.dims and not shape.lead.dropped and not shape.lead.skipped:
            return name
        stop = f"-{shape.lead.dropped}" if shape.lead.dropped else ""
        return f"(*{name}[{shape.lead.skipped or ''}:{stop}], {sizes})"

    def partial_shape(self, shape: Shape, needed: Set[int]) -> str:
        """A shape of which some dimensions do not count: None stands for them."""
        shape = shape.expand(-min(needed))
        sizes = ["None"] * len(shape.dims)
        for index in needed:
            sizes[index] = self.dim(dim) if (dim := shape.dims[index]) is not None else "None"
        if shape.lead is not None:
            sizes.insert(0, "None")
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def reference(self, site: Site) -> Parts:
        """A site's object as a method says it."""
        number, held = self.names.places[site].only_at, self._object(site)
        return held if number is None else (self.namer.parity("only_at"), "(", *held, f", {number})")

    def _object(self, site: Site) -> Parts:
        place = self.names.places[site]
        if place.kind == "attribute":
            return (place.held_by(site.holder),)
        if place.iterator and site.holder != "self":
            raise Unmigratable("NNX158", "a lifted function makes several modules that cannot be numbered", site.node)
        if place.kind == "list":
            return (place.next if place.iterator else f"{place.held_by(site.holder)}[{place.index}]",)
        name = site.name.node if site.name is not None else None
        shown: Part = site.source.span(name) if name is not None else repr(site.name.constant if site.name else "")
        return place.looked_up(site.holder, shown)

    def resolve(self, part: SitePart | DimPart | ShapePart | DtypePart) -> str:
        if isinstance(part, ShapePart):
            text = self.shape(part.shape)
            return f"({text})" if part.factor and level_of(text) != ATOM else text
        if isinstance(part, DtypePart):
            return part.argument
        if isinstance(part, DimPart):
            before, text = set(self.needs), self.dim(part.dim)
            self.needs -= part.inside - before
            return f"({text})" if part.factor and level_of(text) != ATOM else text
        place = self.names.places.get(part.site)
        if place is not None and place.only_at is not None:
            raise Unmigratable("NNX152", "one of two modules of one name is passed on", part.site.node)
        if place is not None and place.kind == "attribute":
            return place.object
        return self.of_this_pass(part.site, place.object if place is not None and place.kind == "list" else "")

    def of_this_pass(self, site: Site, held: str, *, asked: bool = False) -> str:
        """The item of a list that the constructor has made in the present pass of its loop; `asked`: where that is asked."""
        user, places = self.building, self.names.places
        items = [s for s, at in places.items() if at.kind == "list" and at.object == held and not at.named_by]
        later = [s for s in items if user is not None and site.origin < s.origin < user.origin]
        holding = {*(user.conditions if user is not None else ()), *(site.conditions if asked else ())}
        made = all(s.loops == site.loops and holding.issuperset(s.conditions) for s in [site, *later])
        if site in items and user is not None and user.loops == site.loops and made:
            return f"{held}[-{len(later) + 1}]"
        raise Unmigratable("NNX127", "a submodule that is one of a list is passed on", site.node)

    def said(self, localized: Localized) -> Parts:
        """An expression of the source as the constructor says it."""
        self.needs |= self.needed(localized.needs)
        hidden_globals.note(self, localized)
        own = elsewhere.is_own(localized, self.source)
        return (overlay(localized, self.resolve),) if own else elsewhere.said(self, localized)

    # construction ----------------------------------------------------------------------------------------------
    def argument(self, bound: BoundArg, name: str, site: Site) -> Parts:
        if bound.text is not None:
            return (bound.text,)
        value = bound.abs.value
        module = given_modules.said(self, bound, site)
        if module is not None:
            return module
        chosen = choice_text.argument(self, bound, site)
        if chosen is not None:
            return chosen
        listed = isinstance(value, Chain)
        if bound.node is not None and any((s.loops or listed) and not s.in_setup for s in self.run.modules_in(value)):
            if is_wrapper(site):
                return (site.source.span(bound.node),)  # of lists, around whose items the method makes a wrapper
        if bound.node is not None and bound.localized is None and is_wrapper(site):
            chosen_items = isinstance(value, Tup) and any(isinstance(item, Either) for item in value.items)
            if isinstance(value, Function) or chosen_items:
                return (site.source.span(bound.node),)  # `nn.BatchApply(lambda y: norm(dense(y)))`, said in a method
        if bound.localized is None:
            node = bound.node
            raise Unmigratable(
                "NNX113",
                f"`{name}` of {site.target.rpartition('.')[2]} is `{ast.unparse(node) if node else '?'}`, "
                "known only when the module is called",
                node or site.node,
            )
        refuse_of_one_call(self.run, site, name, bound)
        if bound.node is not None and site.in_own_words(self.source) and _stands_by(site, bound.node):
            return (site.source.span(bound.node),)
        return self.said(bound.localized)

    @staticmethod
    def is_wrapper(site: Site) -> bool:
        """A layer without variables around others (nn.RNN, nn.Sequential): in a compact method it is made at the call."""
        return is_wrapper(site) and not site.in_setup

    def of_wrappers(self, held: str) -> bool:
        """Is a list (`self.RNN`) one of wrappers alone, which the call makes around what the constructor has?"""
        sites = [s for s, place in self.names.places.items() if place.kind == "list" and place.object == held]
        return bool(sites) and all(map(self.is_wrapper, sites))

    def handed_on(self, site: Site) -> list[Parts]:
        """`**mapping`, where a construction is given one whose keys are not known."""
        if "**" not in site.renders:
            return []
        if site.renders["**"] is None:
            raise Unmigratable("NNX137", f"`{short(site.node)}` is given **kwargs known only when called", site.node)
        mapping = self.expression(site.renders["**"], site)
        if site.renders.get("options"):
            return [("**", self.namer.parity(site.renders["options"]), "(", *mapping, ")")]
        return [("**", *mapping)]

    def named(self, parts: Parts) -> Parts:
        return tuple(self._ref(p) if isinstance(p, layers.Ref) else p for p in parts)

    def _ref(self, ref: layers.Ref) -> str:
        if ref.startswith("linen_parity."):
            return self.namer.parity(ref.removeprefix("linen_parity."))
        return self.namer.name(str(ref))

    def moved_fields(self, site: Site, layer: layers.Layer) -> list[str]:
        """Constructor arguments that depend on the call, and that NNX takes at the call."""
        if site.held:  # settled where it is made
            return []
        moved = [n for n, b in site.bound.items() if b.localized is None and n in layer.call_time_fields]
        late = [n for n, b in site.bound.items() if b.localized is None and b.text is None and n in layer.late_fields]
        moved += [n for n in late if site.bound[n].given and site.bound[n].node is not None and not site.alternatives]
        if moved and site.passed:
            reason = f"`{moved[0]}` of a module that is passed on is known only when called"
            raise Unmigratable("NNX172", reason, site.node)
        return moved

    def callee(self, site: Site, target: str) -> Parts:
        """What is called to make the site: the class, or the factory's own name."""
        factory = site.factory
        assert factory is not None
        func = site.node.func
        direct = self.run.evaluated.get(func)
        spelled = direct is not None and isinstance(direct.value, Factory) and direct.value.node is func
        if factory.variant:
            layer_variants.check(site, target)
            if site.choice or site.renders.get("spelled") or (spelled and site.source is not self.source):
                return (layer_variants.name_here(self, factory, site),)
            if spelled:
                return (site.source.span(func),)
        by_field = bool(factory.field) if site.choice or site.renders.get("spelled") else bool(site.lifted)
        if by_field and factory.chosen_by in self.run.fields:
            return (self.dim(Dim.field(factory.chosen_by)),)  # it may hold a partial, whose arguments count
        spelled = spelled and not factory.chosen_by  # `partial(self.head, scale=0.5)()`
        if site.lifted or site.choice or spelled or site.renders.get("spelled"):
            if target.startswith("linen_parity."):
                return (self.namer.parity(target.removeprefix("linen_parity.")),)
            if site.kind == "class":
                return lifted.base_text(self, site)
            return (self.namer.name(target),)
        localized = site.renders.get("func")
        if localized is None:
            raise Unmigratable("NNX138", f"`{ast.unparse(func)}` is known only when the module is called", func)
        if site.in_own_words(self.source):
            return (site.source.span(func),)
        return self.said(localized)

    def expression(self, localized: Localized, site: Site) -> Parts:
        if site.in_own_words(self.source):
            return (localized.span,)
        return self.said(localized)

    def variable_type(self, collection: str) -> str:
        if collection in VARIABLE_TYPES:
            return self.namer.name(f"flax.nnx.{VARIABLE_TYPES[collection]}")
        if not collection.isidentifier():
            raise Unmigratable("NNX167", f"the collection {collection!r} is no identifier")
        self.collections.add(collection)
        name = "".join(word[:1].upper() + word[1:] for word in collection.split("_"))
        taken = self.source.names
        while name in taken.definitions or name in taken.imports:
            name += "Variable"
        return name


def _stands_by(site: Site, node: ast.expr) -> bool:
    """Does an argument stand where its names mean the same as at the construction: not in another function?"""
    source = site.source
    around = {a for a in source.ancestors(site.node) if isinstance(a, ast.FunctionDef | ast.Lambda)}
    return all(a in around for a in source.ancestors(node) if isinstance(a, ast.FunctionDef | ast.Lambda))
