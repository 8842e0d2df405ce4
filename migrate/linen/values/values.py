"""What symbolic execution knows of a Python value: constants, sizes, array shapes, tuples; else nothing.

Contract of every size: dimensions of arrays are at least 1, and the program runs: a dimension that it asks for exists.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...frozen import frozen
from .dim_text import Render
from .dims import Atom, Dim, DimLike


@frozen(eq=False)
class Value:
    """Base of all abstract values. Those that stand for objects compare by identity, the others by what they hold."""


@frozen
class Unknown(Value):
    """Nothing is known; `why` goes into the diagnostic if a size depends on it."""

    why: str = ""


OPAQUE = Unknown("")


@frozen
class SomeNumber(Unknown):
    """An integer that the call alone has: what counts a loop over `range(x.shape[1])`."""


@frozen
class Text(Unknown):
    """A string that the constructor has; `why` is how it says it."""


@frozen
class NeedsRank(Unknown):
    """Not known because the ranks of `arguments` are not; with them (`Shape.with_rank`) it would be."""

    arguments: tuple[str, ...] = ()


@frozen
class DtypeOf(Unknown):
    """`x.dtype` of an array whose dtype is known only when the module is called, or an argument that is a dtype."""


DTYPES = frozenset(
    {"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
)


@frozen
class Const(Value):
    """A Python constant: str, float, bool, None, bytes, Ellipsis, slice-free. Integers are `Int`."""

    value: object


@frozen
class Global(Value):
    """A global object by its canonical dotted name: `jax.numpy.bfloat16`, `flax.linen.relu`."""

    name: str


@frozen
class Int(Value):
    """An integer, perhaps symbolic."""

    dim: Dim


@frozen
class Real(Value):
    """A Python number that need not be an integer: an expression whose order of evaluation is kept.

    `template` is Python source with {0}, {1} ... for `dims`, bracketed so that it can stand as an operand.
    """

    template: str
    dims: tuple[Dim, ...] = ()


@frozen
class Tup(Value):
    """A tuple or list of known length."""

    items: tuple[Value, ...]
    kind: str = "tuple"  # or list
    variable: str = ""  # for arrays: the constructor's list of their widths, see `size_lists`


@frozen
class Led(Tup):
    """A tuple that begins with an array, or that array alone: `if scanned: return x, None`, and else `return x`.

    Which of the two it is says what is done with it: it is taken apart, or it is an array.
    """

    @property
    def array(self) -> Value:
        return self.items[0]


@frozen
class Slice(Value):
    """start:stop:step as an index; a part that is left out is None."""

    start: Value | None = None
    stop: Value | None = None
    step: Value | None = None


@frozen
class Star(Value):
    """`*value` among the arguments of a call or the items of a tuple display."""

    value: Value


@frozen
class Lead:
    """An unknown number of leading dimensions: `head`, then the dimensions of `argument` without the first `skipped`
    and the last `dropped`.

    Two leads are the same dimensions exactly when they are equal. An argument that starts with "?" stands for
    dimensions that are not known; `needs` then names the arguments whose ranks would tell, and `counted` how many they
    are where that is known: as many as an argument has, and so many more.
    """

    argument: str
    dropped: int = 0
    skipped: int = 0
    head: tuple[Dim | None, ...] = ()
    needs: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    counted: tuple[str, int] | None = dataclasses.field(default=None, compare=False)

    @staticmethod
    def unknown(*needs: str) -> Lead:
        return Lead("?", needs=tuple(sorted(set(needs))))

    @property
    def known(self) -> bool:
        return not self.argument.startswith("?")

    def why(self) -> tuple[str, ...]:
        """The arguments whose ranks would make these dimensions known."""
        return (self.argument,) if self.known else self.needs


@frozen
class Shape:
    """A shape whose last dimensions are known. `lead=None`: these are all of them.

    An array argument `x` of unknown rank is `Shape((), Lead("x"))`: asking for its last dimension gives the size
    `x.shape[-1]`. A dimension that is not known is None.
    """

    dims: tuple[Dim | None, ...]
    lead: Lead | None = None

    @staticmethod
    def of(*dims: DimLike | None) -> Shape:
        return Shape(tuple(None if d is None else Dim.of(d) for d in dims))

    @staticmethod
    def argument(name: str) -> Shape:
        """The shape of an array argument about which nothing else is known."""
        return Shape((), Lead(name))

    @staticmethod
    def ranked(name: str, rank: int) -> Shape:
        """The shape of an array argument of known rank; dimensions count from the end."""
        return Shape(tuple(Dim.input(name, index) for index in range(-rank, 0)))

    @staticmethod
    def unknown(*needs: str) -> Shape:
        return Shape((), Lead.unknown(*needs))

    def of_argument(self, ranks: Mapping[str, int] = MappingProxyType({})) -> str:
        """The argument whose whole shape this is; "" where it is another.

        By sizes alone only where these are all that it has, by `ranks`: `(x.shape[-1],)` is not the shape of every x.
        """
        lead = self.lead
        if lead is not None:
            bare = lead.known and not (self.dims or lead.head or lead.dropped or lead.skipped)
            return lead.argument if bare else ""
        atom = self.dims[-1].single_atom() if self.dims and self.dims[-1] is not None else None
        name = str(atom.args[0]) if atom is not None and atom.kind == "input" else ""
        return name if ranks.get(name) == len(self.dims) and self == Shape.ranked(name, len(self.dims)) else ""

    @property
    def rank(self) -> int | None:
        return len(self.dims) if self.lead is None else None

    def needs(self) -> tuple[str, ...]:
        """The arguments whose ranks would tell the rank of this shape."""
        return () if self.lead is None else self.lead.why()

    def told_by_ranks(self, other: Shape) -> bool:
        """Is one width of the two not known only until ranks of arguments are: `a + b` beside `concatenate([a, b], -1)`?"""
        if not self.dims or not other.dims or (self.dims[-1] is None) is (other.dims[-1] is None):
            return False
        return bool((self if self.dims[-1] is None else other).needs())

    def ndim(self) -> Dim | None:
        """The number of dimensions."""
        if self.lead is None:
            return Dim.of(len(self.dims))
        if not self.lead.known:
            return None
        lead = self.lead
        return Dim.atom("rank", lead.argument) + (len(self.dims) + len(lead.head) - lead.dropped - lead.skipped)

    def expand(self, count: int) -> Shape:
        """The same shape with at least `count` trailing dimensions spelled out (fewer if the rank is smaller)."""
        missing = count - len(self.dims)
        if missing <= 0 or self.lead is None:
            return self
        lead = self.lead
        if not lead.known or lead.head:  # with a head, which dimension comes next depends on the rank
            last = _last_behind(lead) if missing == 1 else None
            counted = None if lead.counted is None else (lead.counted[0], lead.counted[1] - missing)
            rest = dataclasses.replace(Lead.unknown(*lead.why()), counted=counted)
            return Shape((*(None,) * (missing - 1), last, *self.dims), rest)
        new = [Dim.input(lead.argument, -(lead.dropped + offset)) for offset in range(missing, 0, -1)]
        return Shape((*new, *self.dims), dataclasses.replace(lead, dropped=lead.dropped + missing))

    def fold(self) -> Shape:
        """The shortest spelling: dimensions that belong to the lead are given back to it."""
        lead, dims = self.lead, self.dims
        if lead is None or not lead.known:
            return self
        while dims and lead.dropped and dims[0] == Dim.input(lead.argument, -lead.dropped):
            lead, dims = dataclasses.replace(lead, dropped=lead.dropped - 1), dims[1:]
        while lead.head and lead.skipped and lead.head[-1] == Dim.input(lead.argument, lead.skipped - 1):
            lead = dataclasses.replace(lead, skipped=lead.skipped - 1, head=lead.head[:-1])
        return Shape(dims, lead)

    def dim(self, index: int) -> Dim | None:
        """Dimension `index` as Python counts; None where it is not known."""
        if index < 0:
            shape = self.expand(-index)
            return shape.dims[index] if -index <= len(shape.dims) else None
        if self.lead is None:
            return self.dims[index] if index < len(self.dims) else None
        shape = self.fold()
        lead = shape.lead
        assert lead is not None
        if index < len(lead.head):
            return lead.head[index]
        if not lead.known or shape.dims:  # how many dimensions stand before `dims` depends on the rank
            return None
        return Dim.input(lead.argument, index - len(lead.head) + lead.skipped)

    def replace_last(self, count: int, *new: DimLike | None) -> Shape:
        """Drop the last `count` dimensions and put `new` in their place."""
        shape = self.expand(count)
        kept = shape.dims[: max(len(shape.dims) - count, 0)]
        return Shape((*kept, *[None if d is None else Dim.of(d) for d in new]), shape.lead)

    def size(self) -> Dim | None:
        """Number of elements; the leading part of an argument of unknown rank is one atom."""
        shape = self.fold()
        total = Dim.of(1)
        for d in (*(shape.lead.head if shape.lead else ()), *shape.dims):
            if d is None:
                return None
            total = total * d
        if shape.lead is not None:
            if not shape.lead.known:
                return None
            total = total * lead_size(shape.lead)
        return total

    def same(self, other: Shape) -> bool:
        """Provably equal, dimension for dimension."""
        count = max(len(self.dims), len(other.dims))
        a, b = self.expand(count), other.expand(count)
        known = a.lead is None or (a.lead.known and None not in a.lead.head)
        return a == b and None not in a.dims and known

    def with_rank(self, argument: str, rank: int) -> Shape:
        """The same shape, now that the rank of `argument` is known."""
        dims = tuple(None if d is None else dim_with_rank(d, argument, rank) for d in self.dims)
        lead = self.lead
        if lead is not None and lead.counted is not None and lead.counted[0] == argument:
            return Shape((*(None,) * (rank + lead.counted[1]), *dims))
        if lead is None or lead.argument != argument:
            return Shape(dims, lead)
        head = tuple(None if d is None else dim_with_rank(d, argument, rank) for d in lead.head)
        middle = Shape.ranked(argument, rank).dims[lead.skipped : rank - lead.dropped]
        return Shape((*head, *middle, *dims))

    def implied_rank(self, rank: int) -> tuple[str, int] | None:
        """(argument, its rank), given that this shape has `rank` dimensions."""
        lead = self.lead
        if lead is not None and lead.counted is not None:
            argument, more = lead.counted
            return argument, rank - len(self.dims) - more
        if lead is None or not lead.known:
            return None
        return lead.argument, rank - len(self.dims) - len(lead.head) + lead.dropped + lead.skipped

    def substitute(self, change: Callable[[Atom], Dim | None]) -> Shape:
        """Replace atoms in every dimension that is spelled out."""
        dims = tuple(None if d is None else d.substitute(change) for d in self.dims)
        if self.lead is None or not self.lead.head:
            return Shape(dims, self.lead)
        head = tuple(None if d is None else d.substitute(change) for d in self.lead.head)
        return Shape(dims, dataclasses.replace(self.lead, head=head))


def _last_behind(lead: Lead) -> Dim | None:
    """The last dimension of `x[:, None]`: the new axis, unless `x` has more dimensions than the index names.

    Only for numbers: the first of `x[:, 0]`, a token as a rule, is not asked for a batch.
    """
    new = lead.head[-1] if lead.head else None
    if not lead.known or lead.dropped or new is None or new.value is None:
        return None
    return Dim.by_rank(lead.argument, lead.skipped, new, Dim.input(lead.argument, -1))


def lead_size(lead: Lead) -> Dim:
    """The product of the argument's own dimensions in a lead, its head left out."""
    if lead.skipped:
        return Dim.atom("lead", lead.argument, lead.dropped, lead.skipped)
    return Dim.atom("lead", lead.argument, lead.dropped)


def dim_with_rank(dim: Dim, argument: str, rank: int) -> Dim:
    """`dim`, now that the rank of `argument` is known: its dimensions count from the end, its ndim is a number."""

    def change(atom: Atom) -> Dim | None:
        if atom.args[:1] != (argument,):
            return None
        if atom.kind == "rank":
            return Dim.of(rank)
        if atom.kind == "byrank":
            chosen: Dim = atom.args[2 if rank == atom.args[1] else 3]
            return chosen
        if atom.kind == "input" and atom.args[1] >= 0:
            return Dim.input(argument, atom.args[1] - rank)
        if atom.kind == "lead":
            total = Dim.of(1)
            skipped = atom.args[2] if len(atom.args) > 2 else 0
            for part in Shape.ranked(argument, rank).dims[skipped : rank - atom.args[1]]:
                total = total * (part if part is not None else 1)
            return total
        return None

    return dim.substitute(change)


@frozen
class Array(Value):
    """A jax or numpy array (or a scalar treated as one). `boolean`: of truth values."""

    shape: Shape
    boolean: bool = dataclasses.field(default=False, compare=False)


@frozen
class ShapeOf(Value):
    """A tuple or list of integers whose length is not known: the shape of an array, or made from one."""

    shape: Shape
    kind: str = "tuple"


@frozen
class Axes(Value):
    """`tuple(range(x.ndim - 2)) + (x.ndim - 1, x.ndim - 2)`, of any rank: all axes before `stop`, `then` these."""

    stop: Dim
    then: tuple[Value, ...] = ()


@frozen
class Pieces(Value):
    """A list of arrays of one shape, of which there are as many as some size says: `jnp.split(x, self.heads)`."""

    element: Array
    count: Dim | None = None
    widths: Dim | None = None  # the sum of the sizes of their last dimensions, which may differ


@frozen
class At(Value):
    """`x.at` (index None) and `x.at[index]`: its set, add, ... give an array of the same shape."""

    array: Array
    index: Value | None = None


def size_stem(index: int, shape: Shape | None = None) -> str:
    """What one would call a size by its place from the end, as Linen lays out images (NHWC) and sequences."""
    rank = len(shape.dims) + (shape.lead is not None) if shape is not None else 0
    return "features" if index == -1 else {(-3, 4): "height", (-2, 4): "width", (-2, 3): "length"}.get((index, rank), "size")


def value_with_rank(value: Value, argument: str, rank: int) -> Value:
    """Any value, now that the rank of `argument` is known."""
    if isinstance(value, Int):
        return Int(dim_with_rank(value.dim, argument, rank))
    if isinstance(value, Real):
        return Real(value.template, tuple(dim_with_rank(d, argument, rank) for d in value.dims))
    if isinstance(value, Tup):
        return Tup(tuple(value_with_rank(item, argument, rank) for item in value.items), value.kind)
    if isinstance(value, Array):  # one that may be None still may
        shape = value.shape.with_rank(argument, rank)
        if shape == value.shape:
            return value
        ranked = copy.copy(value)  # of whatever kind, with all that it says
        object.__setattr__(ranked, "shape", shape)
        return ranked
    if isinstance(value, ShapeOf):
        return shape_value(value.shape.with_rank(argument, rank), value.kind)
    return value


def shape_value(shape: Shape, kind: str = "tuple") -> Value:
    """`shape` as the Python tuple (or list) that holds it."""
    if shape.lead is not None:
        return ShapeOf(shape, kind)
    why = "a dimension that is not known"
    return Tup(tuple(Unknown(why) if d is None else Int(d) for d in shape.dims), kind)


def value_text(value: Value, render: Render | None = None) -> str | None:
    """Python source of a value whose parts are all known: sizes, numbers, constants, tuples of them; else None."""
    if isinstance(value, Int):
        return value.dim.text(render)
    if isinstance(value, Real):
        text = value.template.format(*[d.operand_text(render) for d in value.dims])
        return text[1:-1] if _is_bracketed(text) else text
    if isinstance(value, Const):
        return "..." if value.value is ... else repr(value.value)
    if isinstance(value, Tup):
        items = [value_text(item, render) for item in value.items]
        if any(item is None for item in items):
            return None
        listed = ", ".join(item for item in items if item is not None)
        if value.kind == "list":
            return f"[{listed}]"
        return f"({listed},)" if len(items) == 1 else f"({listed})"
    return None


def _is_bracketed(text: str) -> bool:
    """Is the whole text inside one pair of brackets?"""
    depth = 0
    for index, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return text[0] == "(" and index == len(text) - 1
    return False
