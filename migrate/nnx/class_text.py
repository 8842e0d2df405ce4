"""The text of one native class: its constructor, and the edits to its methods.

Nothing is decided here: the execution says what is made where, `naming` how it is called. `prepare` builds every
piece once without a file, to learn which input sizes the constructor must be given and whether anything has no
native form; `write` builds them again into a file's context.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Mapping, Set
from typing import Any, Protocol

from ..catalog import layers
from ..edits import Edit, Overlay, Part, Parts, Span
from ..linen.analyser import Analyser
from ..linen.classes import Field, Method
from ..linen.dims import Atom, Dim
from ..linen.execute import Execution
from ..linen.module_calls import layer_arg
from ..linen.needed_sizes import enough
from ..linen.passed import attribute_name, held_modules
from ..linen.presence import OptionalArray, Step, asked, whole_argument
from ..linen.replacing import sayable
from ..linen.self_calls import SELF_CALLS
from ..linen.sites import (
    Block,
    BoundArg,
    Branch,
    DimPart,
    DtypePart,
    Factory,
    For,
    Local,
    Localized,
    Make,
    Module,
    ShapePart,
    Site,
    SitePart,
    SizeStep,
    Track,
    Unmigratable,
    Variable,
    overlay,
)
from ..linen.values import Array, Const, Shape, Unknown, Value
from ..linen.variable_reads import VariableRead, own_variable
from ..names import is_attribute_name
from ..plan import AddedArgument, ClassPlan
from ..source import SourceFile
from . import (
    bridging,
    carried,
    cells,
    constructor_names,
    elsewhere,
    field_kinds,
    layer_variants,
    lifted,
    linen_copies,
    merged_flags,
    naming,
    rank_checks,
    setup_names,
    setup_params,
    size_steps,
)
from .naming import Names, Place

VARIABLE_TYPES = {
    "params": "Param",
    "batch_stats": "BatchStat",
    "cache": "Cache",
    "intermediates": "Intermediate",
    "perturbations": "Perturbation",
}
_WIDTH = 100


class Namer(Protocol):
    """How a file says a dotted name; a FileContext, or a dry stand-in while planning."""

    def name(self, dotted: str) -> str: ...

    def parity(self, part: str) -> str: ...


class DryNamer:
    """Names as they are, for planning."""

    def name(self, dotted: str) -> str:
        return dotted.removeprefix("flax.")

    def parity(self, part: str) -> str:
        return f"linen_parity.{part}"


@dataclasses.dataclass
class MethodEdit:
    source: SourceFile
    span: Span
    parts: Parts
    code: str = "NNX100"
    insert: bool = False
    order: int = 0
    in_place: bool = False
    parity: tuple[str, ...] = ()  # the parts of linen_parity that the text names, where its file is not the class's


@dataclasses.dataclass
class Details:
    """What other classes need to know of a planned class to construct and call it."""

    added: list[tuple[AddedArgument, str, Any]]  # argument, input name, index (-1) or "shape"
    call_keywords: dict[str, tuple[str, str]]  # keyword of the call → (field, Linen argument)


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
        self.used: dict[str, set[Any]] = {}
        self.optional: set[str] = set()
        self.needs: set[str] = set()
        self.namer: Namer = DryNamer()
        self.edits: list[MethodEdit] = []
        self.notes: list[tuple[str, str, ast.AST]] = []
        self.streams: dict[str, str] = {}
        self.call_keywords: dict[str, tuple[str, str]] = {}
        self.perhaps: set[str] = set()  # those that not every kind of the field's modules takes
        self.collections: set[str] = set()
        self.built: dict[Site, tuple[InitLines, set[str]]] = {}
        self.final = False
        self.setup_params: dict[str, str] = {}  # attributes that hold a parameter of another name
        self.closing = False  # a size of setup is being said
        self.building: Site | None = None  # whose constructor expression is being made
        self.moved: list[Span] = []
        # Fields whose names the constructor gives to something else: they are said as `self.<field>`.
        self.bound: frozenset[str] = constructor_names.bound_names(run)
        self.inner = constructor_names.inner_names(run)
        self.shadowed = (self.bound | self.inner) & run.fields.keys()
        self.emitted: set[str] = set()
        self.renamed: dict[str, str] = {}  # attributes of setup that take Linen's name
        self.with_compact = [n for n in run.blocks if n != "setup" and any(not s.in_setup for s in run.sites_of(n))]

    # planning --------------------------------------------------------------------------------------------------
    def prepare(self) -> None:
        """Name and build everything once; raises Unmigratable."""
        self._refuse()
        self.setup_params = setup_params.check(self.run, self.model)
        self.renamed = setup_names.renamed(self.run)
        for entry in self.run.blocks:
            if entry != "setup":
                naming.assign(self.run, entry, self.names)
        for site in self.run.sites:
            if site.in_setup and site.kind in ("layer", "class", "param", "variable"):
                attribute = site.container or "_"
                attribute = self.renamed.get(attribute, self.setup_params.get(attribute, attribute))
                if is_attribute_name(attribute):
                    self.names.places[site] = Place("attribute", attribute)
                else:
                    self.names.places[site] = Place("dynamic", "", dynamic=ast.Constant(attribute))
        for text, site in self.run.reached.items():
            self.names.places[site] = Place("attribute", text)
        for field, module in held_modules(self.run):
            self.names.places[module.site] = Place("list" if module.element else "attribute", field)
        self._call_keywords()
        self._build_all()
        self._find_shadowed()
        for sizes in self.run.carried.values():
            for _, first, following in sizes:
                self.dim(first), self.dim(following)
        for entry in self.run.blocks:
            self.constructor_lines(entry)
        self._nothing_left()
        for read in self.run.variable_reads.values():
            self.variable_read(read)

    def _find_shadowed(self) -> None:
        """Keep as bound, and as shadowed, only what the constructor as built so far does bind."""
        if not self.bound:
            return
        self.emitted.clear()
        for entry in self.run.blocks:
            self.constructor_lines(entry)
        self.bound = constructor_names.bound_in_setup(self.run) | self.emitted
        self.shadowed = (self.bound | self.inner) & self.run.fields.keys()
        self._build_all()

    def _nothing_left(self) -> None:
        """Whatever makes a layer or variable in the class's own methods must have been followed, or it would stay Linen."""
        known = [*[s.node for s in self.run.sites], *self.run.constants, *self.run.sows, *self.run.variable_reads]
        followed = {id(node) for node in known}
        for method in self.model.own_methods.values():
            for node in ast.walk(method.node):
                if not isinstance(node, ast.Call) or id(node) in followed:
                    continue
                func = node.func
                name = self.run.project.qualname(self.source, func) or ""
                makes = layers.lookup(name) is not None or name in self.run.project.linen_classes
                if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
                    makes = func.attr in SELF_CALLS and self.model.method(func.attr) is None
                elif isinstance(func, ast.Attribute) and func.attr in ("param", "variable") and node.args:
                    makes = isinstance(node.args[0], ast.Constant)  # of a module under another name, as `mdl.param("w", …)`
                if makes:
                    raise Unmigratable("NNX134", f"`{_short(node)}` stands where the code is not followed", node)

    def _refuse(self) -> None:
        fields = self.run.fields
        constructor_names.refuse_reserved(self.run)
        for name in ("rngs", "cls"):  # `cls` is a parameter of the metaclass, which hands all keywords on
            if name in fields:
                raise Unmigratable("NNX151", f"a field is called `{name}`, which NNX needs for itself", fields[name].node)
        for base in self.model.foreign_bases:
            if base.startswith("flax.linen.") and base not in ("flax.linen.Module", cells.BASE):
                raise Unmigratable("NNX160", f"it inherits from {base}", self.model.node)
        for method in self.model.own_methods.values():
            if "flax.linen.compact_name_scope" in method.decorators:
                raise Unmigratable("NNX162", "`nn.compact_name_scope` is used", method.node)
            for decorator, known in zip(method.node.decorator_list, method.decorators):
                if known not in _DECORATORS and decorator not in self.run.decorators and self._mentions_linen(decorator):
                    raise Unmigratable("NNX130", f"the method {method.name} is lifted by a decorator", method.node)
        for decorator in self.model.node.decorator_list:
            if self._mentions_linen(decorator):
                raise Unmigratable("NNX130", "the class is lifted by a decorator", self.model.node)
        outside = self.analyser.given_outside.get(self.model.qualname)
        if outside is not None:
            raise Unmigratable("NNX127", f"a module is passed to it outside of modules ({outside})", self.model.node)
        given = self.analyser.given.get(self.model.qualname, {})
        for name, field in fields.items():
            if name not in given and field.annotation is not None and _holds_modules(field.annotation):
                text = f"the field {name} holds modules that nothing in the project gives it"
                raise Unmigratable("NNX138", text, field.node)
        conflict = self.analyser.conflicts.get(self.model.qualname)
        if conflict:
            raise Unmigratable("NNX163", conflict)
        for node in ast.walk(self.model.node):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and node.attr in ("scope", "path", "parent", "variables", "name")
                and node.attr not in fields
                and node.attr not in self.run.attributes
                and node not in self.run.followed
            ):
                raise Unmigratable("NNX164", f"`self.{node.attr}` is used", node)

    def variable_read(self, read: VariableRead) -> Parts:
        """A variable that Linen looked up by collection and names, as an attribute."""
        if read.base is not None:
            return (read.source.span(read.base), *[f".{name}" for name in read.path], "[...]")
        if len(read.path) > 1:
            return (f"self.{'.'.join(read.path)}[...]",)
        site = own_variable(self.run, read)
        if not site.lazy:
            return (*self.reference(site), "[...]")
        name = read.path[0]
        if isinstance(read.node, ast.Call):
            return (f"(self.{name}[...] if hasattr(self, {name!r}) else None)",)
        return (f"self.{name}[...]",)

    def _mentions_linen(self, node: ast.expr) -> bool:
        names = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
        return any((self.run.project.qualname(self.source, n) or "").startswith("flax.linen") for n in names)

    def _build_all(self) -> None:
        self.built.clear()
        for site in self.run.sites:
            if site.kind != "rng" and not site.lazy:
                if self.made_when(site) == "":
                    self.built[site] = (InitLines((), ("None",)), set())
                    continue
                self.needs, self.building = set(), site
                self.closing = site.in_setup and site not in self.run.carried
                lines = self.site_lines(site)
                self.closing, self.building = False, None
                unmet = self.needs & self.run.trackers if site.in_setup and site not in self.run.carried else set()
                if unmet - (carried.available(self.run, site) if unmet else set()):
                    raise Unmigratable("NNX114", "a size of setup depends on a branch or loop of the call", site.node)
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
            if any(taking) and self.call_keywords.setdefault(keyword, (factory.field, key)) != (factory.field, key):
                reason = f"`{keyword}` of the modules in `{factory.field}` and in another field cannot be told apart"
                raise Unmigratable("NNX172", reason, site.node)
            if any(taking) and not all(taking):
                self.perhaps.add(keyword)

    def _calltime_name(self, site: Site, key: str) -> str:
        layer = layers.lookup(site.target)
        keyword = layer.call_time_fields.get(key, key) if layer is not None else key
        assert site.factory is not None
        known = self.call_keywords.get(keyword)
        if known is not None and known != (site.factory.field, key):
            return f"{site.factory.field}_{keyword}"
        return keyword

    def details(self) -> Details:
        return Details(self.added(), dict(self.call_keywords))

    def first_array(self) -> str:
        method = self.model.method("__call__")
        if method is None:
            return ""
        parameters = [p.arg for p in method.parameters]
        return next((p for p in parameters if p in {re.split(r"[.\[]", k)[0] for k in self.used}), "") or (
            parameters[0] if parameters else ""
        )

    def _first(self) -> str:
        method = self.model.method("__call__")
        return method.parameters[0].arg if method is not None and method.parameters else ""

    def added(self) -> list[tuple[AddedArgument, str, Any]]:
        found: list[tuple[AddedArgument, str, Any]] = []
        for argument, indices in self.used.items():
            whole = indices != {-1}
            name = self.size_name(argument)
            origin = f"{argument}.shape" if whole else f"{argument}.shape[-1]"
            if argument in self.optional:
                origin = f"None if {argument} is None else {origin}"
            found.append((AddedArgument(name, origin), argument, "shape" if whole else -1))
        return found

    def dtypes(self) -> list[str]:
        """Arguments for the dtypes of parameters that Linen made with the dtype of an array of the call."""
        found = [s.renders["dtype"][0] for s in self.run.sites if s.kind == "param" and "dtype" in s.renders]
        taken = self.bound | self.run.fields.keys()
        for name in found:
            if name in taken:
                raise Unmigratable("NNX111", f"a dtype would be called `{name}`, and that name is taken", self.model.node)
        return list(dict.fromkeys(found))

    def size_name(self, argument: str) -> str:
        whole = self.used.get(argument, {-1}) != {-1}
        stem = "in" if argument == self._first() else re.sub(r"\W+", "_", argument).strip("_")
        name = f"{stem}_shape" if whole else f"{stem}_features"
        while name in self.run.fields or name in self.bound:
            name += "_"
        return name

    def needed(self, names: Iterable[str]) -> set[str]:
        """Of the names that an expression reads, those that the constructor has to assign first."""
        return {n for n in names if n not in self.run.fields or n in self.shadowed}

    def field(self, name: str) -> str:
        """A field as the constructor says it."""
        return f"self.{name}" if name in self.shadowed else name

    # sizes -----------------------------------------------------------------------------------------------------
    def dim(self, dim: Dim) -> str:
        """A size as the constructor says it."""
        if self.closing:  # setup does not run the loops of the call: sizes behind them, as the last iteration leaves them
            dim = dim.substitute(lambda a: self.run.closed.get(a.args[0]) if a.kind == "local" else None)
        self.needs |= self.needed(dim.dependencies())
        return dim.text(self._atom)

    def _atom(self, atom: Atom) -> str | None:
        if atom.kind == "field":
            return self.field(str(atom.args[0]))
        if atom.kind == "input":
            argument, index = atom.args
            self.used.setdefault(argument, set()).add(index)
            name = self.size_name(argument)
            return f"{name}[{index}]" if name.rstrip("_").endswith("_shape") else name
        if atom.kind == "rank":
            self.used.setdefault(atom.args[0], set()).add("shape")
            return f"len({self.size_name(atom.args[0])})"
        if atom.kind == "lead":
            self.used.setdefault(atom.args[0], set()).add("shape")
            start = atom.args[2] if len(atom.args) > 2 else 0
            stop = f"-{atom.args[1]}" if atom.args[1] else ""
            return f"{self.namer.name('math.prod')}({self.size_name(atom.args[0])}[{start or ''}:{stop}])"
        if atom.kind == "opaque":
            return self.own_text(str(atom.args[0]))
        if atom.kind == "cond":
            test, then, other = atom.args
            question = asked(test)
            if question is not None:  # whether an optional argument is given: whether its size is
                self.optional.add(question[0])
                self.used.setdefault(question[0], {-1})
                test = f"{self.size_name(question[0])} is not None"
            return f"({then.text(self._atom)} if {self.own_text(test)} else {other.text(self._atom)})"
        return None

    def own_text(self, text: str) -> str:
        """`self.field` → the constructor's argument."""

        def said(match: re.Match[str]) -> str:
            field, attribute = match[1], match[2]
            if field not in self.run.fields:
                field_kinds.check_order(self, field, attribute)
                return match[0]
            if attribute is None:
                return self.field(field)
            return f"{self.field(field)}.{self.held_attribute(field, attribute)}"

        return re.sub(r"\bself\.(\w+)(?:\.(\w+))?", said, text)

    def held_attribute(self, field: str, attribute: str) -> str:
        """How NNX calls an attribute of what a field holds; of a class of the project it is then read from outside."""
        names = set()
        for name, module in held_modules(self.run):
            if name == field:
                names.add(attribute_name(module.site, attribute))
                if module.site.kind == "class":
                    self.analyser.read_attributes.add(attribute)
        if not names:
            return attribute
        found = names.pop()
        if names or found is None:
            raise Unmigratable("NNX127", f"`{attribute}` of what is passed as `{field}` is kept under different names")
        return found

    def shape(self, shape: Shape) -> str:
        """A whole shape as the constructor says it; it must be `sayable`."""
        sizes = ", ".join(self.dim(d) for d in shape.dims if d is not None)
        if shape.lead is None:
            return f"({sizes},)" if len(shape.dims) == 1 else f"({sizes})"
        self.used.setdefault(shape.lead.argument, set()).add("shape")
        name = self.size_name(shape.lead.argument)
        if not shape.dims and not shape.lead.dropped and not shape.lead.skipped:
            return name
        stop = f"-{shape.lead.dropped}" if shape.lead.dropped else ""
        return f"(*{name}[{shape.lead.skipped or ''}:{stop}], {sizes})"

    def partial_shape(self, shape: Shape, needed: Set[int]) -> str:
        """A shape of which some dimensions do not count: None stands for them."""
        shape = shape.expand(-min(needed))
        sizes = ["None"] * len(shape.dims)
        for index in needed:
            dim = shape.dims[index]
            sizes[index] = self.dim(dim) if dim is not None else "None"
        if shape.lead is not None:
            sizes.insert(0, "None")
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"

    def reference(self, site: Site) -> Parts:
        """A site's object as a method says it."""
        place = self.names.places[site]
        if place.kind == "attribute":
            return (place.held_by(site.holder),)
        if place.iterator and site.holder != "self":
            raise Unmigratable("NNX158", "a lifted function makes several modules that cannot be numbered", site.node)
        if place.kind == "list":
            return (f"next({place.iterator})" if place.iterator else f"{place.held_by(site.holder)}[{place.index}]",)
        name = site.name.node if site.name is not None else None
        shown: Part = site.source.span(name) if name is not None else repr(site.name.constant if site.name else "")
        return (f"getattr({site.holder}, ", shown, ")")

    def resolve(self, part: SitePart | DimPart | ShapePart | DtypePart) -> str:
        if isinstance(part, ShapePart):
            return self.shape(part.shape)
        if isinstance(part, DtypePart):
            return part.argument
        if isinstance(part, DimPart):
            text = self.dim(part.dim)
            return f"({text})" if part.factor and " " in text else text
        place = self.names.places.get(part.site)
        if place is None or place.kind != "attribute":
            raise Unmigratable("NNX127", "a submodule that is one of a list is passed on", part.site.node)
        return place.object

    def said(self, localized: Localized) -> Parts:
        """An expression of the source as the constructor says it."""
        self.needs |= self.needed(localized.needs)
        if elsewhere.is_own(localized, self.source):
            return (overlay(localized, self.resolve),)
        return elsewhere.said(self, localized)

    # construction ----------------------------------------------------------------------------------------------
    def argument(self, bound: BoundArg, name: str, site: Site) -> Parts:
        if bound.text is not None:
            return (bound.text,)
        value = bound.abs.value
        if isinstance(value, Module) and bound.node is value.site.node and not site.in_setup:
            return (self.resolve(SitePart(value.site)),)
        if bound.localized is None:
            node = bound.node
            raise Unmigratable(
                "NNX113",
                f"`{name}` of {site.target.rpartition('.')[2]} is `{ast.unparse(node) if node else '?'}`, "
                "known only when the module is called",
                node or site.node,
            )
        if site.in_setup and bound.node is not None and site.source is self.source:
            return (site.source.span(bound.node),)
        return self.said(bound.localized)

    def site_lines(self, site: Site) -> InitLines:
        """The constructor expression of a site, and what must stand before it."""
        if site.kind == "param":
            return self._under_transforms(site, self._param(site))
        if site.kind == "variable":
            return self._under_transforms(site, self._variable(site))
        if self.is_wrapper(site):
            site = dataclasses.replace(site, in_setup=True)  # said where it stands, in the method's own words
            return InitLines((), self._layer(site))
        lines = self._made(site)
        field_kinds.check(self, site, lines)
        return lines

    def _made(self, site: Site) -> InitLines:
        inner = self._layer(site) if site.kind == "layer" else self._class(site)
        return self._under_transforms(site, inner)

    def _under_transforms(self, site: Site, inner: Parts) -> InitLines:
        return lifted.constructor(self, site, inner) if site.lifted or site.scopes else InitLines((), inner)

    @staticmethod
    def is_wrapper(site: Site) -> bool:
        """A layer without variables around others (nn.RNN, nn.Sequential): in a compact method it is made at the call."""
        layer = layers.lookup(site.target) if site.kind == "layer" else None
        return bool(layer is not None and layer.wrapper and not site.in_setup and not site.lifted)

    def _layer(self, site: Site) -> Parts:
        layer = layers.lookup(site.target)
        assert layer is not None
        given: dict[str, layers.Arg] = {}
        held: dict[str, layers.Arg] = {}
        moved = self.moved_fields(site, layer)
        for name, bound in site.bound.items():
            if name in moved:
                continue
            if name.endswith("_cls") and not (isinstance(bound.abs.value, Const) and bound.abs.value.value is None):
                label = site.target.rpartition(".")[2]
                raise Unmigratable("NNX203", f"`{name}` of {label} has no counterpart in NNX", site.node)
            if bound.given:
                given[name] = layer_arg(self.run, site.target, name, bound, lambda b, n=name: self.argument(b, n, site))
            else:
                held[name] = layer_arg(self.run, site.target, name, bound, lambda b, n=name: (f"<{n}>",))
        call = None
        if site.call is not None and site.renders.get("method", "__call__") == "__call__":
            keywords = dict(site.call.keywords)
            for name in [*moved, *site.calltime]:
                keywords.setdefault(layer.call_time_fields.get(name, name), Unknown(name))
            known = {p.name for p in layer.call_parameters}
            call = layers.Call(site.call.args, {k: v for k, v in keywords.items() if k in known})
        try:
            if held:
                built = layer.complete(held, given, call, self.dim)
            else:
                built = layer.build(given, call, self.dim)
        except layers.SizeUnknown as error:
            raise Unmigratable(
                "NNX110", f"the input size of `{_short(site.node)}` is not known: {error.why}", site.node
            ) from error
        except layers.Unsupported as error:
            raise Unmigratable(error.code, error.reason, site.node) from error
        except layers.BadCall as error:
            raise Unmigratable("NNX165", str(error), site.node) from error
        for code, message in built.notes:
            self.notes.append((code, message, site.node))
        for part in built.parity:
            self.namer.parity(part)
        callee = self.callee(site, built.target)
        arguments: list[Parts] = [self.named(p) for p in built.positional]
        arguments += [(f"{name}=", *self.named(parts)) for name, parts in built.keywords]
        arguments += self.handed_on(site)
        if built.rngs:
            arguments.append(("rngs=rngs",))
        return joined(callee, arguments)

    def handed_on(self, site: Site) -> list[Parts]:
        """`**mapping`, where a construction is given one whose keys are not known."""
        if "**" not in site.renders:
            return []
        if site.renders["**"] is None:
            raise Unmigratable("NNX137", f"`{_short(site.node)}` is given **kwargs known only when called", site.node)
        return [("**", *self.expression(site.renders["**"], site))]

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
            if site.choice:
                raise Unmigratable("NNX160", f"{factory.text} is chosen by a condition", site.node)
            if spelled:
                return (site.source.span(func),) if site.source is self.source else (ast.unparse(func),)
        if site.lifted or site.choice or spelled:
            if target.startswith("linen_parity."):
                return (self.namer.parity(target.removeprefix("linen_parity.")),)
            if site.kind == "class":
                return lifted.base_text(self, site)
            return (self.namer.name(target),)
        localized = site.renders.get("func")
        if localized is None:
            raise Unmigratable("NNX138", f"`{ast.unparse(func)}` is known only when the module is called", func)
        if site.in_setup and site.source is self.source:
            return (site.source.span(func),)
        return self.said(localized)

    def _class(self, site: Site) -> Parts:
        called = self.plans.get(site.target)
        if called is None or called.details is None:
            if self.model.qualname in self.analyser.bridging and self.references is not None:
                return bridging.bridged(self, site, self.references, site.bridged)
            found = Unmigratable("NNX150", f"it contains {site.target.rpartition('.')[2]}, which is not native", site.node)
            found.inner = site.target
            raise found
        callee = self.callee(site, site.target)
        arguments: list[Parts] = []
        order = [f.name for f in self.analyser.classes.get(site.target).fields()]  # type: ignore[union-attr]
        moved = merged_flags.moved(self, site)
        given = {n: b for n, b in site.bound.items() if b.given and n not in moved}
        positional = len(site.node.args)
        for position, (name, bound) in enumerate(given.items()):
            parts = self.argument(bound, name, site)
            in_place = position < positional and position < len(order) and order[position] == name
            arguments.append(parts if in_place else (f"{name}=", *parts))
        arguments += self.handed_on(site)
        details: Details = called.details
        for added, argument, index in details.added:
            arguments.append((f"{added.name}=", self.added_value(site, added, argument, index)))
        arguments.append(("rngs=rngs",))
        return joined(callee, arguments)

    def added_value(self, site: Site, added: AddedArgument, argument: str, index: Any) -> str:
        """The size that a submodule's constructor asks for, in this constructor's terms."""
        called = self.analyser.execution(site.target)
        method = site.renders.get("method", "__call__")
        summary = called.summaries.get(method)
        name = site.target.rpartition(".")[2]
        if site.call is None or summary is None:
            raise Unmigratable("NNX110", f"{name} is never called where its `{added.name}` could be seen", site.node)
        inputs: dict[str, Value] = dict(zip(summary.parameters, site.call.args))
        inputs.update(site.call.keywords)
        for parameter, default in summary.defaults.items():
            inputs.setdefault(parameter, default.value)
        substitution = self.analyser.substitution(self.run, site, called, inputs)
        value = substitution._input(argument)
        if isinstance(value, Const) and value.value is None:
            return "None"
        if not isinstance(value, Array):
            raise Unmigratable(
                "NNX110", f"`{added.name}` of {name} is not known: `{argument}` is not an array here", site.node
            )
        if added.origin.startswith("None if") and whole_argument(value) in self.run.optional_arguments:
            self.optional.add(whole_argument(value))  # optional there, and optional here
        if index == -1:
            dim = value.shape.dim(-1)
            if dim is None:
                raise Unmigratable("NNX110", f"`{added.name}` of {name} is not known", site.node)
            if isinstance(value, OptionalArray):
                return f"({self.dim(dim)} if {self.step_text(value.step, site)} else None)"
            return self.dim(dim)
        rank_checks.refuse_unknown(self, site, argument, value.shape)
        needed = self.analyser.needed_sizes(self.run, site, called, method, inputs)
        if enough(value.shape, argument, needed):
            self.analyser.partial.add((site.target, added.name))
            return self.partial_shape(value.shape, {index for name, index in needed or () if name == argument})
        if sayable(value.shape):
            return self.shape(value.shape)
        raise Unmigratable("NNX110", f"the whole shape of `{argument}` for {name} is not known", site.node)

    def made_when(self, site: Site) -> str | None:
        """The condition under which setup's layer has variables: Linen makes them when it is called.

        None: always. "": never, as it is only ever applied with weights from elsewhere.
        """
        paths: tuple[tuple[Step, ...], ...] = site.renders.get("paths", ())
        statement = site.source.parents.get(site.node)
        alone = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is site.node
        applied = [a.node.func for a in self.run.applied.values() if a.site is site]
        if not (alone and site.in_setup and not site.loops and (paths or applied)):
            return None
        common = [step for step in (paths[0] if paths else ()) if all(step in path for path in paths)]
        already = site.renders.get("made_under", ())
        asked_of = [s for s in common if not s.deps and s not in already and self._asks_fields(s)]
        if paths and not asked_of:
            return None
        calls = {node.func for node, _, _ in site.calls}
        reads = [n for a in applied if isinstance(a, ast.Attribute) for n in [a.value]]
        for method in self.model.methods().values():
            for node in ast.walk(method.node):
                if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"):
                    continue
                if node.attr == site.container and isinstance(node.ctx, ast.Load) and method.name != "setup":
                    held = method.source.parents.get(node)
                    if node not in calls and node not in reads and held not in calls:
                        return None  # it is read for something else
        return " and ".join(dict.fromkeys(self.step_text(step, site) for step in asked_of))

    def _asks_fields(self, step: Step) -> bool:
        """Can setup ask it: about fields and optional arguments only?"""
        if asked(step.text) is not None:
            return True
        return all(name in self.run.fields for name in re.findall(r"\bself\.(\w+)", step.text))

    def step_text(self, step: Step | None, site: Site) -> str:
        """A condition as the constructor asks it."""
        if step is None or step.deps:
            raise Unmigratable("NNX110", "whether an optional array is given is known only when called", site.node)
        question = asked(step.text)
        if question is None:
            text = self.own_text(step.text)
            simple = re.fullmatch(r"[\w.]+", text) is not None
            return text if step.holds else f"not {text}" if simple else f"not ({text})"
        argument, present = question
        self.optional.add(argument)
        self.used.setdefault(argument, {-1})
        return f"{self.size_name(argument)} is {'not ' if present == step.holds else ''}None"

    def _param(self, site: Site) -> Parts:
        init, *rest = site.init_localized
        variable = self.namer.name("flax.nnx.Param")
        arguments: list[Parts] = [("rngs.params()",)]
        arguments += [self.expression(l, site) for l in rest]
        arguments += [
            (f"{key.removeprefix('kw:')}=", *self.expression(said, site))
            for key, said in site.renders.items()
            if key.startswith("kw:")
        ]
        function = self.expression(init, site)
        if _needs_brackets(init, site):
            function = ("(", *function, ")")
        axes = site.renders.get("axes")
        if axes is not None:
            wrapper = self.namer.parity("param_with_axes")
            function = (f"{wrapper}(", *function, ", ", *self.expression(axes, site), ")")
        return (f"{variable}(", *joined(function, arguments), ")")

    def expression(self, localized: Localized, site: Site) -> Parts:
        if site.in_setup and site.source is self.source:
            return (localized.span,)
        return self.said(localized)

    def _variable(self, site: Site) -> Parts:
        kind = self.variable_type(site.target)
        if not site.init_localized:
            raise Unmigratable("NNX166", f"the variable `{_short(site.node)}` has no initial value", site.node)
        init, *rest = site.init_localized
        function = self.expression(init, site)
        if _needs_brackets(init, site):
            function = ("(", *function, ")")
        return (f"{kind}(", *joined(function, [self.expression(l, site) for l in rest]), ")")

    def variable_type(self, collection: str) -> str:
        known = VARIABLE_TYPES.get(collection)
        if known is not None:
            return self.namer.name(f"flax.nnx.{known}")
        if not collection.isidentifier():
            raise Unmigratable("NNX167", f"the collection {collection!r} is no identifier")
        self.collections.add(collection)
        name = "".join(word[:1].upper() + word[1:] for word in collection.split("_"))
        taken = self.source.names
        while name in taken.definitions or name in taken.imports:
            name += "Variable"
        return name

    # the constructor -------------------------------------------------------------------------------------------
    def constructor_lines(self, entry: str) -> list[tuple[int, Parts]]:
        """The lines that one entry method's skeleton adds to `__init__`: (depth, text)."""
        block = self.run.blocks[entry]
        try:
            said = field_kinds.own_features(self) if entry == "__call__" else None
        except Unmigratable:
            if self.model.qualname in self.analyser.of_kinds:
                raise
            said = None
            self.analyser.mute.add(self.model.qualname)
        lines, live = self._emit(block, 0, set(said[1]) if said is not None else set())
        live -= carried.followed(self.run)
        if live & self.run.trackers and said is not None and self.model.qualname not in self.analyser.of_kinds:
            self.analyser.mute.add(self.model.qualname)  # then it says nothing, and its callers do not ask
            said = None
            lines, live = self._emit(block, 0, set())
        if live & self.run.trackers:
            raise Unmigratable("NNX110", "a module is first called in a loop, where its input size changes", self.model.node)
        return lines if said is None else [*lines, (0, (said[0],))]

    def _emit(self, block: Block, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
        """Lines of a block, given the names that what follows needs; and the names needed before it."""
        out: list[list[tuple[int, Parts]]] = []
        for step in reversed(block.steps):
            lines, live = self._emit_step(step, depth, live)
            out.append(lines if depth else [*[(0, line) for line in field_kinds.names_before(self, step)], *lines])
        return [line for lines in reversed(out) for line in lines], live

    def _emit_step(self, step: Any, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
        if isinstance(step, Make):
            if self.is_wrapper(step.site):
                return [], live
            lines, needs = self.built[step.site]
            text = [(depth + d, p) for d, p in lines.before]
            self.needs = set()
            text.append((depth, self._placed(step.site, lines.expression)))
            return text, live | needs | self.needs
        if isinstance(step, Local):
            if not (step.names & live):
                return [], live
            if not constructor_names.is_identity(step):
                self.emitted |= step.names
            self.needs = set()
            parts = self.said(step.localized)
            kept = live if step.changes or isinstance(step.statement, ast.AugAssign) else live - step.names
            return [(depth, parts)], kept | self.needs
        if isinstance(step, Track):
            if step.name not in live or step.name in carried.followed(self.run):
                return [], live
            self.needs = set()
            size: Parts = field_kinds.features_of(self, step.site) if step.site is not None else (self.dim(step.dim),)
            return [(depth, (f"{step.name} = ", *size))], (live - {step.name}) | self.needs
        if isinstance(step, SizeStep):
            return size_steps.emit(self, step, depth, live)
        if isinstance(step, Branch):
            return self._emit_branch(step, depth, live)
        assert isinstance(step, For)
        inner = set(live)
        for _ in range(4):
            body, before = self._emit(step.body, depth + 1, inner)
            if before <= inner:
                break
            inner |= before
        if not body:
            return [], live
        self.emitted |= constructor_names.names_of(step)
        self.needs = set()
        iterator = self.said(step.iterator)
        target = step.target.removeprefix("(").removesuffix(")")
        return [(depth, (f"for {target} in ", *iterator, ":")), *body], inner | live | self.needs

    def _emit_branch(self, step: Branch, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
        if step.test is None and not step.text:
            then, a = self._emit(step.then, depth, live)
            orelse, b = self._emit(step.orelse, depth, live)
            return [*then, *orelse], a | b
        then, a = self._emit(step.then, depth + 1, live)
        orelse, b = self._emit(step.orelse, depth + 1, live)
        if not then and not orelse:
            return [], live
        self.needs = set()
        negative = False
        if step.test is not None:
            test = self.said(step.test)
        else:
            argument, present = asked(step.text) or ("", True)
            self.optional.add(argument)
            self.used.setdefault(argument, {-1})
            name = self.size_name(argument)
            test = (f"{name} is not None",)
            negative = not present
        lines: list[tuple[int, Parts]] = []
        if negative:
            then, orelse = orelse, then
        if then:
            lines.append((depth, ("if ", *test, ":")))
            lines += then
            if orelse:
                lines.append((depth, ("else:",)))
                lines += orelse
        else:
            lines.append((depth, ("if not (", *test, "):")))
            lines += orelse
        return lines, a | b | self.needs

    def _placed(self, site: Site, expression: Parts) -> Parts:
        place = self.names.places[site]
        if place.kind == "attribute":
            return place.assigned(expression)
        if place.kind == "list":
            return (f"{place.object}.append(", *expression, ")")
        assert site.name is not None
        if site.name.constant is not None and is_attribute_name(site.name.constant):
            return (f"self.{site.name.constant} = ", *expression)
        if site.name.localized is not None:
            name: Parts = self.said(site.name.localized)
        else:
            name = (repr(site.name.constant),)
        return ("setattr(self, ", *name, ", ", *expression, ")")


@dataclasses.dataclass
class InitLines:
    """Lines that stand before a constructor expression (depth, text), and the expression."""

    before: tuple[tuple[int, Parts], ...]
    expression: Parts


_DECORATORS = {"flax.linen.compact", "flax.linen.nowrap"}


def length(parts: Iterable[Part]) -> int:
    total = 0
    for part in parts:
        if isinstance(part, str):
            total += len(part)
        else:
            span = part.span if isinstance(part, Overlay) else part
            total += span.end - span.start
    return total


def joined(callee: Parts, arguments: list[Parts]) -> Parts:
    """`callee(a, b)`; what would be too long for a line goes one argument a line, marked for the indenter."""
    total = length(callee) + sum(length(a) + 2 for a in arguments)
    out: list[Part] = [*callee, "("]
    if total <= _WIDTH or len(arguments) < 2:
        for position, argument in enumerate(arguments):
            out += [", " if position else "", *argument]
        return (*out, ")")
    for argument in arguments:
        out += [BREAK, *argument, ","]
    return (*out, CLOSE, ")")


BREAK = "\0break"  # a new line, one step deeper than the statement
CLOSE = "\0close"  # a new line at the statement's own depth


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) < 60 else text[:57] + "..."


def _needs_brackets(localized: Localized, site: Site) -> bool:
    for node in ast.walk(site.node):
        if isinstance(node, ast.Lambda | ast.IfExp | ast.BoolOp) and localized.source.span(node) == localized.span:
            return True
    return False


__all__ = ["BREAK", "CLOSE", "ClassText", "Details", "Edit", "Field", "InitLines", "Method", "Module", "Variable"]


_CONTAINER = re.compile(r"\b(Sequence|List|list|Tuple|tuple|Dict|dict|Mapping|Iterable)\[.*\bModule\b", re.S)


def _holds_modules(annotation: ast.expr) -> bool:
    """`Sequence[nn.Module]` and the like."""
    return _CONTAINER.search(ast.unparse(annotation)) is not None
