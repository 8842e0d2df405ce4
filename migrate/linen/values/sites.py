"""What symbolic execution of a module finds: construction sites and the skeleton of the constructor to write.

The skeleton (`Block` of steps) mirrors the control flow in which Linen's compact method created its submodules and
parameters. It holds source spans and sizes, no NNX: the writer decides how each step reads.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ...edits import Edit, Overlay, Part
from ...frozen import frozen
from ...source import SourceFile
from .dims import Dim
from .other_files import OF
from .values import Const, Int, Shape, Slice, Tup, Unknown, Value


class Unmigratable(Exception):
    """This class cannot become native; `code` and `reason` go into the report."""

    def __init__(self, code: str, reason: str, node: ast.AST | None = None) -> None:
        reason = reason.replace(f"{OF}.", "")
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.node = node
        self.inner = ""  # the class that this one contains and that is not native, where that is why
        self.wanted_ranks: tuple[str, ...] = ()  # arguments whose number of dimensions might have helped
        # The class of a package that is not migrated with this one, where that is why, and the file that names it.
        self.foreign: tuple[SourceFile, str] | None = None
        self.field = ""  # the field that nothing has given a factory so far, where that is why
        self.lacks: tuple[Site, str] | None = None  # a module and an argument of its call whose size is not known


@frozen
class Static(Value):
    """A Python value that `__init__` can compute by itself from fields and globals.

    `text` is its source with fields spelled `self.<field>`; `deps` are the local names in it.
    """

    text: str
    deps: frozenset[str] = frozenset()
    sequence: bool = False  # certainly a tuple or list, and no size
    of_fields: ClassVar[bool] = False  # more is known of it, and its text says the same anywhere in the class

    @property
    def stem(self) -> str:
        """The text as something may follow it: `(self.sizes or (3, 3))`, of which `[0]` is an item."""
        if self.text.replace(".", "").isidentifier():
            return self.text
        whole = isinstance(ast.parse(self.text, mode="eval").body, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        return self.text if whole else f"({self.text})"


@frozen
class NumberList(Static):
    """`[2.0 ** i for i in range(self.octaves)]`: so many numbers, which are an array where one is made of them."""

    count: Dim = dataclasses.field(default_factory=lambda: Dim.of(0))


@frozen
class Abs:
    """An abstract value with what is known of how it came about.

    static   its expression can be evaluated in `__init__`
    flags    Python-level arguments of the method that it depends on (train, deterministic, ...)
    """

    value: Value
    static: bool = False
    flags: frozenset[str] = frozenset()


@frozen
class SitePart:
    """Stands in generated text for the attribute that holds a site's module."""

    site: Site


@frozen
class DimPart:
    """Stands in generated text for a size, printed when names are known."""

    dim: Dim
    factor: bool = False  # an operator stands beside it
    inside: frozenset[str] = frozenset()  # names that a comprehension around it binds


@frozen
class ShapePart:
    """Stands in generated text for a whole shape."""

    shape: Any
    factor: bool = False  # an operator stands beside it, or an index


@frozen
class DtypePart:
    """Stands in generated text for the dtype of a parameter that takes that of an array of the call."""

    argument: str  # the constructor's own argument for it


@frozen
class LocalizedPart:
    """Stands for an expression said elsewhere (an argument of an inlined function)."""

    localized: Localized


InitPart = Part | SitePart | DimPart | ShapePart | DtypePart | LocalizedPart


@frozen
class Localized:
    """An expression as `__init__` can say it: pieces to replace within the source span, and the names it needs."""

    span: Any  # Span
    source: SourceFile
    replaced: tuple[tuple[Any, tuple[InitPart, ...]], ...]  # (Span, parts)
    needs: frozenset[str]
    flags: frozenset[str] = frozenset()


@frozen(eq=False)
class Passage:
    """A call of a helper function that makes something for the module that calls it."""

    call: ast.Call
    source: SourceFile  # where the call stands
    function: ast.FunctionDef
    home: SourceFile  # where the function stands
    slot: str  # the keyword under which the function is handed what was made; "" where it reads it off the module


@dataclasses.dataclass(eq=False)
class Site:
    """One place where a submodule, parameter, variable or rng stream comes into being."""

    kind: str  # layer | class | param | variable | rng
    node: ast.Call
    source: SourceFile
    target: str = ""  # canonical Linen layer or project class; the collection for variables; the stream for rngs
    bound: dict[str, Any] = dataclasses.field(default_factory=dict)  # Linen parameter → BoundArg
    name: NameSpec | None = None
    attr: str = ""  # attribute on the NNX object, set by the naming step
    index: str = ""  # for members of a list: index expression in the method, "" if looked up otherwise
    call: CallRecord | None = None  # the first call with its abstract arguments
    calls: list[tuple[ast.Call, str, Any]] = dataclasses.field(default_factory=list)  # node, method, context
    loops: tuple[For, ...] = ()
    conditions: tuple[Any, ...] = ()
    lifted: tuple[Lifted, ...] = ()
    scopes: tuple[Lifted, ...] = ()  # transforms of the function that makes it, outermost first
    choice: tuple[tuple[ast.expr, bool], ...] = ()  # conditions under which this factory is the one, outermost first
    holder: str = "self"  # what that function calls the module that holds it
    factory: Factory | None = None
    in_setup: bool = False
    container: str = ""  # setup attribute that holds it
    shape: Value | None = None  # params and variables: abstract value
    init_localized: tuple[Localized, ...] = ()
    number: bool = False  # a parameter or variable that starts as a Python number
    several: bool = False  # one that holds a tuple or dict of arrays
    renders: dict[str, Any] = dataclasses.field(default_factory=dict)
    method: str = ""  # name of the method whose text holds the node
    calltime: dict[str, Any] = dataclasses.field(default_factory=dict)  # call keyword → source node of its value
    origin: int = 0  # order of creation
    lazy: bool = False  # a variable made where it is first asked for, as its first value needs the call
    bridged: str = ""  # why its class stays Linen, where it is wrapped
    foreign: bool = False  # its class is of a package that is not migrated with this one, see `foreign`
    traits: Any = None  # where it is wrapped: what its Linen code has of collections and streams
    held: str = ""  # the field that hands the module in, or the attribute of another module: it is made elsewhere
    passed: bool = False  # handed to another module's constructor
    through: tuple[Passage, ...] = ()  # calls of helper functions that lead to it, outermost first
    within: Site | None = None  # in setup: the module of the same item of a list that it is made for (an RNN's cell)
    adopted: bool = False  # passed to another module before it was an attribute, so that it is named after the other's field
    alternatives: tuple[Site, ...] = ()  # the same place for the other kinds that its factory's field is given

    @property
    def init_said(self) -> tuple[Localized, ...]:
        """All that the initializer of a parameter or variable is said with: itself, its arguments and its keywords."""
        return (*self.init_localized, *(v for k, v in self.renders.items() if k.startswith("kw:")))

    @property
    def opened(self) -> str:
        """How NNX reads what it holds: indexing reaches into tuples and dicts."""
        return ".get_value()" if self.several else "[...]"

    def anchor(self) -> tuple[SourceFile, ast.Call]:
        """The call in the class's own code that makes it: the construction, or that of a helper function."""
        return (self.through[0].source, self.through[0].call) if self.through else (self.source, self.node)

    @property
    def maker(self) -> ast.FunctionDef | None:
        """The function of the class's own code that makes it."""
        source, call = self.anchor()
        return source.function_of(call)

    def in_own_words(self, source: SourceFile) -> bool:
        """Does it stand in setup's own text, which the constructor keeps?"""
        return self.in_setup and not self.through and self.source is source

    def item_of(self, loop: For | None = None) -> Site:
        """The item of a list that it is part of: of that which `loop` makes, or of the outermost."""
        if self.within is None or (loop is not None and self.loops[-1:] == (loop,) != self.within.loops[-1:]):
            return self
        return self.within.item_of(loop)

    def place_key(self) -> tuple[object, ...]:
        """The same for everything that is made at one place of the class's own code."""
        return (*[id(p.call) for p in self.through], id(self.node), self.choice)


@frozen
class NameSpec:
    """`name=`: a constant, or an expression evaluated in `__init__`."""

    constant: str | None
    node: ast.expr | None = None
    localized: Localized | None = None


@frozen
class BoundArg:
    """A constructor argument at a site: where it stands, what it is, how `__init__` says it."""

    node: ast.expr | None
    abs: Abs
    localized: Localized | None
    text: str | None = None  # given by a factory elsewhere; not printed at the site
    given: bool = True  # False: comes from a partial or a default, and is not printed at the site
    of_class: bool = False  # a default that a layer's subclass has changed
    asked: Localized | None = None  # the same where it asks whether an array is given, which one call may be and another not


@frozen
class CallRecord:
    """The abstract arguments of a call."""

    args: tuple[Value, ...]
    keywords: Mapping[str, Value]


@frozen(eq=False)
class Lifted:
    """One lifted transform around a constructed class: nn.remat, nn.scan, nn.vmap, nn.jit, ..."""

    kind: str
    node: ast.Call
    options: Mapping[str, ast.expr]
    abs: Mapping[str, Abs]
    condition: tuple[ast.expr, bool] | None = None  # the transform is there only where this holds (or does not)
    said: Mapping[str, Localized] = dataclasses.field(default_factory=dict)  # options that the constructor says, too
    label: str = ""  # what it puts before the names of classes, where that is not what the kind does
    name: str = ""  # flax.linen.remat, flax.linen.partitioning.remat, ...


@frozen
class SelfModule(Unknown):
    """The module that is being executed: `self`, or the argument under which a lifted function has it."""


@frozen(eq=False)
class Module(Value):
    """An instance of a Linen module; identity is that of its site."""

    site: Site
    element: bool = False  # one of many made at the site in a loop


@frozen(eq=False)
class ModuleField(Value):
    """A module passed in through a field."""

    name: str
    target: str = ""


@frozen(eq=False)
class Variable(Value):
    """What `self.variable(...)` returns."""

    site: Site


class AnyFactory(Value):
    """A factory, or one of several."""


@frozen(eq=False)
class Factory(AnyFactory):
    """Something that makes modules when called: a class, a partial of one, a lifted class, a field that holds one."""

    target: str  # canonical layer or class, "" if unknown
    text: str = ""  # how `__init__` names it
    args: Mapping[str, BoundArg] = dataclasses.field(default_factory=dict)  # bound by a partial
    positional: tuple[BoundArg, ...] = ()
    calltime: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # call keyword → node or field marker
    lifted: tuple[Lifted, ...] = ()
    node: ast.AST | None = None
    source: SourceFile | None = None
    field: str = ""  # the field that holds it, if any
    unpacked: tuple[ast.expr, ...] = ()  # mappings that a partial hands on as they are
    alternatives: tuple[Factory, ...] = ()  # the other kinds that the field is given somewhere
    variant: str = ""  # the project's class that it makes, where that is the layer `target` with something changed
    chosen_by: str = ""  # the field whose kinds these are, also under a partial or a lifted transform
    origin: tuple[SourceFile, ast.AST] | None = None  # where it was given, if outside of modules
    name: NameSpec | None = None  # the `name=` of a partial

    # Two that are not the same object may make different modules; `kinds.same_kind` tells.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def kinds(self) -> tuple[Factory, ...]:
        """Everything that it may be, itself first."""
        return (self, *self.alternatives)


@frozen(eq=False)
class Function(Value):
    """A local function, lambda or method that is executed where it is called."""

    node: ast.FunctionDef | ast.Lambda
    env: Any
    source: SourceFile
    method: Any = None


@frozen(eq=False)
class LiftedFunction(Value):
    """A function of a module under lifted transforms, outermost first."""

    function: Function
    lifted: tuple[Lifted, ...]


@frozen(eq=False)
class PartialLift(Value):
    """`functools.partial(nn.scan, ...)`: a lifted transform with some of its options."""

    name: str  # flax.linen.scan
    kind: str
    options: Mapping[str, ast.expr]
    abs: Mapping[str, Abs]


@frozen(eq=False)
class LiftedCall:
    """One call of a lifted function: what it was given behind the module."""

    function: LiftedFunction
    node: ast.AST
    module: Value
    count: int  # positional arguments behind the module (and the carry of a scan)
    source: SourceFile
    outer: tuple[Value, ...] = ()  # what they are, outside of the transforms


@frozen(eq=False)
class Repeated(Value):
    """A list of modules made by a loop or comprehension: every element is the site's.

    `turned`: it is in the reverse of the order in which they were made. `part`: only its first items ("head"), or items
    of it in an order of their own ("other").
    """

    element: Value
    loop: Any
    kind: str = "list"
    turned: bool = False
    grown: tuple[ast.AST, tuple[Any, ...]] | None = None  # the loop that appends them, and under which conditions
    part: str = ""
    count: Dim | None = None  # how many there are, where that is known
    widths: Dim | None = None  # the widths together, where they are arrays
    under: tuple[Any, ...] = ()  # the conditions of the loop's passes under which it appends them

    @property
    def in_order(self) -> bool:
        """Does it begin with the module made first, and go on as they were made?"""
        return not self.turned and self.part != "other"

    @property
    def in_some_passes(self) -> bool:
        """Are there passes of the loop that append none?"""
        return any(step.deps for step in self.under)

    def reversed(self) -> Repeated:
        return dataclasses.replace(self, turned=not self.turned, part="other" if self.part else "")

    def sliced(self, key: Slice) -> Repeated:
        """What an index of several items gives."""
        start, stop, step = (None if part == Const(None) else part for part in (key.start, key.stop, key.step))
        first = start is None or (isinstance(start, Int) and start.dim.value == 0)
        if step is not None and not (isinstance(step, Int) and step.dim.value == 1):
            back = isinstance(step, Int) and step.dim.value == -1 and start is None and stop is None
            return self.reversed() if back else dataclasses.replace(self, part="other")
        if first and stop is None:
            return self
        return dataclasses.replace(self, part="head" if first and not self.turned and self.part != "other" else "other")

    def disordered(self) -> Repeated:
        """The list after a change in place that is not followed."""
        return dataclasses.replace(self, part="other")


@frozen(eq=False)
class Entry:
    """How an item of a dict is written: its expression, in which scope, and what the names in it were bound to."""

    node: ast.expr
    found: Abs
    scope: object
    reads: Mapping[str, Abs]


@frozen(eq=False)
class Table(Value):
    """A dict with constant keys."""

    items: Mapping[object, Value]
    entries: Mapping[object, Entry] = dataclasses.field(default_factory=dict)
    maybe: frozenset[object] = frozenset()  # the keys that it has under conditions of setup

    def __eq__(self, other: object) -> bool:
        return self is other  # two dicts are never taken to be one, whatever `Value` says

    def __hash__(self) -> int:
        return id(self)


@frozen(eq=False)
class SomeItems(Value):
    """A dict of which only the items are known that were set last; it may have others."""

    items: Mapping[str, Value]

    __eq__ = object.__eq__
    __hash__ = object.__hash__


# The constructor's skeleton ------------------------------------------------------------------------------------


@dataclasses.dataclass(eq=False)
class Block:
    steps: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Make:
    """Create the site's module or variable here."""

    site: Site


@dataclasses.dataclass(eq=False)
class Counted:
    """Where Linen gives the site's module its number; the constructor makes it further on."""

    site: Site


@dataclasses.dataclass(eq=False)
class Skipped:
    """Where Linen gives a number to a module that never has variables, and that NNX does not make."""

    label: str
    group: int = 0  # of `compact_calls`
    often: bool = False  # in a loop: to how many is not counted


@dataclasses.dataclass(eq=False)
class Local:
    """A copy of an assignment, kept only if something needs its names."""

    statement: ast.stmt
    names: frozenset[str]
    localized: Localized
    source: SourceFile
    changes: bool = False  # the statement changes what its name holds, in place


@dataclasses.dataclass(eq=False)
class Track:
    """`name = size`: follows a size along a loop or branch, as the method followed it through shapes.

    With a site, the size is what the module made there says of its own output, by the attribute `said`. With a shape, it is
    that one: to what follows one more array argument, whose name begins with "=".
    """

    name: str
    dim: Dim
    site: Site | None = None
    said: str = ""
    shape: Shape | None = None


@dataclasses.dataclass(eq=False)
class SizeStep:
    """One change of, or look into, a list of sizes that goes along with a list of arrays (`size_lists`).

    kind    new (`dims`), append (`dims`), extend (by the list `text`), pop and read (into `tracker`, at `text` or
            `where`), cut (`variable` from the list `tracker`, sliced as `where` says)
    """

    kind: str
    variable: str
    dims: tuple[Dim | None, ...]
    tracker: str = ""
    text: str = ""
    where: Localized | None = None


@dataclasses.dataclass(eq=False)
class Branch:
    """An `if` on something known to the constructor."""

    test: Localized | None  # None: the branch depends on call arguments; both sides are made
    then: Block
    orelse: Block
    source: SourceFile
    text: str = ""  # a condition made from sizes, instead of the source's
    choice: str = ""  # the condition as written, where it chooses between factories
    raises: bool | None = None  # the side that ends in an error: nothing behind it needs what the other side assigns
    step: Any = None  # the condition in terms of the fields, or of whether an array is given, and the side `then` is


@dataclasses.dataclass(eq=False)
class For:
    """A `for` loop (or comprehension) on something known to the constructor."""

    node: ast.For | ast.comprehension
    target: str
    iterator: Localized
    body: Block
    source: SourceFile
    index: str = ""  # the name that counts 0, 1, 2, ... if the loop has one
    conditions: tuple[Localized, ...] = ()
    hidden: frozenset[str] = frozenset()  # names of comprehensions, which mean something else after them
    again: For | None = None  # the loop of setup that it says again


def items_of(held: Value) -> list[Value]:
    """What a tuple, list or dict holds; nothing of what is none."""
    if isinstance(held, Tup):
        return list(held.items)
    if isinstance(held, Table):
        return list(held.items.values())
    return [held.element] if isinstance(held, Repeated) else []


def steps_of(block: Block) -> Iterator[Any]:
    """Every step of a skeleton, those in branches and loops too."""
    for step in block.steps:
        yield step
        if isinstance(step, For):
            yield from steps_of(step.body)
        elif isinstance(step, Branch):
            yield from steps_of(step.then)
            yield from steps_of(step.orelse)


def overlay(localized: Localized, resolve: Any) -> Overlay:
    """The expression as a renderable part; `resolve` turns SitePart and DimPart into text."""

    def said(part: InitPart) -> Part:
        if isinstance(part, LocalizedPart):
            return overlay(part.localized, resolve)
        if isinstance(part, SitePart | DimPart | ShapePart | DtypePart):
            text: str = resolve(part)
            return text
        return part

    edits = tuple(Edit(span, tuple(said(part) for part in parts)) for span, parts in localized.replaced)
    return Overlay(localized.span, edits)
