"""The algebra of shapes: broadcasting, reshaping, reducing, joining, and the output sizes of convolutions and pools.

Every function takes and returns `Shape`s. What cannot be said raises `Stop` with the value that says why; nothing is
ever guessed. Where an operation tells the rank of an argument (`x.transpose(0, 2, 1)`), it is noted with `imply`.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools
import math
import operator
from collections.abc import Iterator, Sequence

from ..values.call_sizes import without_call_sizes
from ..values.dims import Atom, Dim, DimLike
from ..values.values import Lead, NeedsRank, Shape, Unknown


class Stop(Exception):
    """The result is not known; `value` says why."""

    def __init__(self, value: Unknown) -> None:
        super().__init__(value.why)
        self.value = value


def stop(why: str) -> Stop:
    return Stop(Unknown(why))


def needs_rank(what: str, *shapes: Shape) -> Stop:
    """The stop for something that depends on the ranks of arguments."""
    names = tuple(sorted({name for shape in shapes for name in shape.needs()}))
    if not names:
        return stop(f"{what}: the number of dimensions is not known")
    listed = " and ".join(f"`{name}`" for name in names)
    return Stop(NeedsRank(f"{what}: needs the number of dimensions of {listed}", names))


# ranks that operations imply -----------------------------------------------------------------------------------

_implied: contextvars.ContextVar[dict[str, int] | None] = contextvars.ContextVar("implied", default=None)


@contextlib.contextmanager
def implied_ranks() -> Iterator[dict[str, int]]:
    """Collects {argument: rank} that the operations evaluated inside make certain."""
    found: dict[str, int] = {}
    token = _implied.set(found)
    try:
        yield found
    finally:
        _implied.reset(token)


_sized: contextvars.ContextVar[frozenset[str]] = contextvars.ContextVar("sized", default=frozenset())


@contextlib.contextmanager
def sized(arguments: frozenset[str]) -> Iterator[None]:
    """Inside, these arguments are known to have dimensions: the code asks for `x.shape[-1]`, which a number has not."""
    token = _sized.set(arguments)
    try:
        yield
    finally:
        _sized.reset(token)


def imply(shape: Shape, rank: int) -> Shape:
    """`shape`, known to have `rank` dimensions. Raises Stop if it cannot have."""
    if shape.lead is None:
        if len(shape.dims) != rank:
            raise stop(f"{rank} dimensions are needed where there are {len(shape.dims)}")
        return shape
    fact = shape.implied_rank(rank)
    if fact is None:
        dims = shape.expand(rank).dims
        return Shape(dims[len(dims) - rank :])
    argument, own = fact
    if own < 0:
        raise stop(f"{rank} dimensions are needed where there are more")
    found = _implied.get()
    if found is not None:
        found[argument] = own
    return shape.with_rank(argument, own)


# axes ----------------------------------------------------------------------------------------------------------


def negative_axis(shape: Shape, axis: Dim, what: str = "axis") -> int:
    """An axis counted from the end (-1 is the last)."""
    number = axis.value
    if number is None:
        ndim = shape.ndim()
        from_end = None if ndim is None else (axis - ndim).value  # x.ndim - 1
        if from_end is None or from_end >= 0:
            raise stop(f"{what} `{axis}` is not a constant")
        return from_end
    if number < 0:
        return number
    if shape.rank is None:
        raise needs_rank(f"{what} {number}", shape)
    if number >= shape.rank:
        raise stop(f"{what} {number} of an array with {shape.rank} dimensions")
    return number - shape.rank


def spelled(shape: Shape, axis: int) -> Shape:
    """`shape` with the dimension `axis` (negative) among `dims`. Raises Stop if there is none."""
    out = shape.expand(-axis)
    if len(out.dims) < -axis:
        raise stop(f"axis {axis} of an array with {len(out.dims)} dimensions")
    return out


def with_dim(shape: Shape, axis: int, *new: DimLike | None) -> Shape:
    """The dimension `axis` (negative) replaced by `new`: none, one or more."""
    out = spelled(shape, axis)
    at = len(out.dims) + axis
    made = tuple(None if d is None else Dim.of(d) for d in new)
    return Shape((*out.dims[:at], *made, *out.dims[at + 1 :]), out.lead)


# broadcasting --------------------------------------------------------------------------------------------------


def broadcast_dim(a: Dim | None, b: Dim | None) -> Dim | None:
    """The size of two dimensions broadcast together."""
    if a is None or b is None:
        known = b if a is None else a
        return known if known is not None and _not_one(known) else None
    if a == b or b.value == 1:
        return a
    if a.value == 1:
        return b
    if _not_one(a):
        return a
    if _not_one(b):
        return b
    return a.maximum(b)  # equal, or one of them is 1


def _not_one(dim: Dim) -> bool:
    """Certainly not 1, so that the other dimension is the same or is 1: 32, 4 * features, 2 * n + 2."""
    if dim.value is not None:
        return dim.value != 1
    return math.gcd(*[coefficient for _, coefficient in dim.terms]) > 1


def broadcast(*shapes: Shape) -> Shape:
    """NumPy's broadcasting."""
    if not shapes:
        return Shape(())
    if any(_ends_anew(shape) for shape in shapes):  # `x * mask[:, None]` is as wide as x
        shapes = tuple(shape if shape.dims else shape.expand(1) for shape in shapes)
    out = shapes[0]
    for shape in shapes[1:]:
        out = _broadcast_two(out, shape)
    return out


def _broadcast_two(a: Shape, b: Shape) -> Shape:
    if a.same(b):
        return a if len(a.dims) >= len(b.dims) else b
    if a.lead is None and b.lead is not None:
        a, b = b, a
    a, b = _evidence(a, b), _evidence(b, a)
    if a.lead is not None and b.lead is not None:
        count = max(len(a.dims), len(b.dims))
        wide_a, wide_b = a.expand(count), b.expand(count)
        if wide_a.lead == wide_b.lead and a.lead.known and None not in a.lead.head:
            dims = [broadcast_dim(x, y) for x, y in zip(wide_a.dims, wide_b.dims)]
            return Shape(tuple(dims), wide_a.lead)
    common = min(len(a.dims), len(b.dims))
    tail = [broadcast_dim(x, y) for x, y in zip(_last(a.dims, common), _last(b.dims, common))]
    longer, shorter = (a, b) if len(a.dims) >= len(b.dims) else (b, a)
    front = longer.dims[: len(longer.dims) - common]
    if shorter.lead is None:  # every further dimension is the longer one's own
        return Shape((*front, *tail), longer.lead)
    # The shorter one may or may not go on: a size other than 1 stands either way.
    kept = [d if d is not None and _not_one(d) else None for d in front]
    return Shape((*kept, *tail), Lead.unknown(*a.needs(), *b.needs()))


def _ends_anew(shape: Shape) -> bool:
    """Is it `x[:, None]`, whose last dimension is the new one unless `x` has more than one?"""
    return not shape.dims and shape.expand(1).dim(-1) is not None and bool(shape.lead and shape.lead.head)


def _last(dims: tuple[Dim | None, ...], count: int) -> tuple[Dim | None, ...]:
    return dims[len(dims) - count :]


def _evidence(shape: Shape, other: Shape) -> Shape:
    """Spell out the dimensions of `shape` that `other` speaks of: `x.shape[-1]` says that x has a last dimension."""
    lead = shape.lead
    if lead is None or not lead.known or lead.head:
        return shape
    deepest = 0
    for dim in other.dims:
        for atom in dim.atoms() if dim is not None else ():
            if atom.kind == "input" and atom.args[0] == lead.argument and atom.args[1] < 0:
                deepest = max(deepest, -atom.args[1])
    if other.lead is None and other.dims and lead.argument in _sized.get():
        deepest = max(deepest, 1)
    missing = deepest - lead.dropped
    return shape.expand(len(shape.dims) + missing) if missing > 0 else shape


def broadcast_to(shape: Shape, target: Shape) -> Shape:
    """The shape after `broadcast_to(x, target)`: unknown target sizes are taken from x where x must have them."""
    if target.lead is not None or None not in target.dims:
        return target
    own = shape.expand(len(target.dims)).dims
    dims = list(target.dims)
    for offset in range(1, len(dims) + 1):
        if dims[-offset] is None and offset <= len(own):
            mine = own[-offset]
            dims[-offset] = mine if mine is not None and _not_one(mine) else None
    return Shape(tuple(dims))


# reductions ----------------------------------------------------------------------------------------------------


def reduce(shape: Shape, axes: Sequence[Dim] | None, keepdims: bool) -> Shape:
    """The shape after reducing over `axes` (None: all)."""
    if axes is None:
        if not keepdims:
            return Shape(())
        if shape.rank is None:
            raise needs_rank("keepdims", shape)
        return Shape.of(*[1] * shape.rank)
    lead = shape.lead
    if lead is not None and not lead.known and all(a.value is not None and 0 <= a.value < len(lead.head) for a in axes):
        gone = {a.value for a in axes}  # dimensions that were put in front: `jnp.stack(skips).mean(0)`
        head = tuple(Dim.of(1) if i in gone else d for i, d in enumerate(lead.head) if keepdims or i not in gone)
        return Shape(shape.dims, dataclasses.replace(lead, head=head))
    if lead is not None and shape.dims and list(axes) == [Dim.of(0)] and ("." in lead.argument or "['" in lead.argument):
        return Shape(shape.dims[-1:], Lead.unknown())  # `graph.nodes`, of which no rank is asked: rows of that width
    numbers = sorted({negative_axis(shape, axis) for axis in axes})
    for number in numbers:  # the one farthest from the end first; dropping it moves none of the rest
        shape = with_dim(shape, number, *([1] if keepdims else []))
    return shape


# reshaping -----------------------------------------------------------------------------------------------------


def reshape(shape: Shape, target: Shape) -> Shape:
    """The shape after `reshape(target)`; a dimension of -1 in `target` is computed from the sizes."""
    parts = [*(target.lead.head if target.lead else ()), *target.dims]
    wild = [d for d in parts if d is not None and d.value == -1]
    if not wild:
        return target
    if len(wild) > 1:
        raise stop("reshape with more than one -1")
    known = Shape(tuple(d for d in parts if d is None or d.value != -1), _headless(target.lead)).size()
    inferred = _inferred(shape, known)
    if inferred is None and known is not None and shape.lead is not None:
        raise needs_rank("reshape with -1", shape, target)
    dims = tuple(inferred if d is not None and d.value == -1 else d for d in target.dims)
    if target.lead is None:
        return Shape(dims)
    head = tuple(inferred if d is not None and d.value == -1 else d for d in target.lead.head)
    lead = target.lead
    return Shape(dims, Lead(lead.argument, lead.dropped, lead.skipped, head, lead.needs))


def _headless(lead: Lead | None) -> Lead | None:
    return None if lead is None else Lead(lead.argument, lead.dropped, lead.skipped, (), lead.needs)


def _inferred(shape: Shape, known: Dim | None) -> Dim | None:
    """What -1 stands for: all elements over those that are spoken for."""
    total = shape.size()
    if total is None or known is None:
        return None
    total = _same_leads(total, known)
    exact = total.exact_div(known)
    if exact is not None:
        return exact
    first = _split_first(shape, known)
    if first is not None:
        return first
    constant = without_call_sizes(total, known)
    return total // known if constant is None else constant


def _same_leads(total: Dim, known: Dim) -> Dim:
    """`total` with the products of leading dimensions spelled out as far as `known` has them."""
    deepest: dict[str, int] = {}
    for atom in known.atoms():
        if atom.kind == "lead":
            deepest[atom.args[0]] = max(deepest.get(atom.args[0], 0), atom.args[1])

    def change(atom: Atom) -> Dim | None:
        if atom.kind != "lead" or deepest.get(atom.args[0], 0) <= atom.args[1]:
            return None
        argument, dropped, *skipped = atom.args
        made = Dim.atom("lead", argument, deepest[argument], *skipped)
        for index in range(-deepest[argument], -dropped):
            made = made * Dim.input(argument, index)
        return made

    return total.substitute(change)


def _front_sizes(dim: Dim) -> bool:
    return any(atom.kind == "input" and atom.args[1] >= 0 for atom in dim.atoms())


def _split_first(shape: Shape, known: Dim) -> Dim | None:
    """`h.reshape(x.shape[0], -1)` of what has the first dimensions of `x`: these cancel against the product of all."""
    shape = shape.fold()
    lead = shape.lead
    behind = behind_argument(shape)
    if lead is None or behind is None:
        return None
    own = Dim.of(1)
    for count in (1, 2, 3):
        own = own * Dim.input(lead.argument, count - 1)
        rest = known.exact_div(own)
        if rest is not None and not _front_sizes(rest):
            left = Dim.atom("lead", lead.argument, lead.dropped, count) * behind
            return left.exact_div(rest) or left // rest
    return None


def behind_argument(shape: Shape) -> Dim | None:
    """The product of the dimensions that a shape has behind the first ones of an argument of unknown rank.

    Convolutions and heads are for inputs of a rank of their own, which is asked for instead where one can be told.
    """
    lead = shape.lead
    if lead is None or not lead.known or lead.head or lead.skipped or None in shape.dims:
        return None
    if max(lead.dropped, len(shape.dims)) > 1 and lead.argument.isidentifier():
        return None
    return functools.reduce(operator.mul, (d for d in shape.dims if d is not None), Dim.of(1))


# joining and splitting -----------------------------------------------------------------------------------------


def same_shape(shapes: Sequence[Shape]) -> Shape:
    """The one shape that several equal ones have, each dimension from where it is known best."""
    ranked = next((s for s in shapes if s.rank is not None), None)
    if ranked is not None:
        shapes = [imply(s, len(ranked.dims)) for s in shapes]
    count = max(len(s.dims) for s in shapes)
    wide = [s.expand(count) for s in shapes]
    dims: list[Dim | None] = []
    for index in range(count):
        options = [s.dims[index] for s in wide]
        known = [d for d in options if d is not None]
        if len({d.value for d in known if d.value is not None}) > 1:
            raise stop("shapes that must be equal differ")
        dims.append(min(known, key=_of_inputs) if known else None)
    leads = [s.lead for s in wide]
    return Shape(tuple(dims), next((lead for lead in leads if lead is not None and lead.known), leads[0]))


def _of_inputs(size: Dim) -> int:
    """How far a size is from being known; least what is a part of an argument (`cache.keys`), which the call may lack."""
    parts = [atom for atom in size.atoms() if atom.kind in _OF_INPUTS and not str(atom.args[0]).isidentifier()]
    return 0 if size.value is not None else 2 if parts else 1


_OF_INPUTS = ("input", "rank", "lead")


def concatenate(shapes: Sequence[Shape | None], axis: Dim) -> Shape:
    """Arrays joined along `axis`. None: an array of which nothing is known."""
    known = [s for s in shapes if s is not None]
    if not known:
        raise stop("concatenate: no array is known")
    ranked = next((s for s in known if s.rank is not None), None)
    if ranked is not None:
        known = [imply(s, len(ranked.dims)) for s in known]
    elif len(known) == len(shapes) and axis.value is not None and axis.value >= 0:
        return _concatenated_by_rank(known, axis.value)
    number = negative_axis(known[0], axis)
    wide = [spelled(s, number) for s in known]
    total: Dim | None = Dim.of(0)
    for shape in wide:
        size = shape.dims[number]
        total = None if total is None or size is None else total + size
    others = same_shape([with_dim(s, number, 1) for s in wide])
    return with_dim(others, number, total if len(known) == len(shapes) else None)


def _concatenated_by_rank(shapes: Sequence[Shape], axis: int) -> Shape:
    """Arrays of one unknown rank joined along an axis from the front, which is their last one or is not."""
    wanted = axis + 1  # dimensions, where the axis is the last one
    tested: list[tuple[str, int]] = []
    at_end = list(shapes)
    for shape in shapes:
        implied = shape.implied_rank(wanted)
        if implied is not None and implied[1] > 0:
            tested.append(implied)
            at_end = [other.with_rank(*implied) for other in at_end]
    total: Dim | None = Dim.of(0)
    for shape in at_end:
        size = shape.dim(-1)
        total = None if total is None or size is None else total + size
    rest = next((size for shape in shapes if (size := shape.dim(-1)) is not None), None)
    if not tested or total is None or rest is None:
        raise needs_rank(f"axis {axis}", *shapes)
    names = [name for shape in shapes for name in shape.needs()]
    argument, last = tested[0]
    lead = dataclasses.replace(Lead.unknown(*names), counted=(argument, axis - last))
    return Shape((Dim.by_rank(argument, last, total, rest),), lead)


def stack(shapes: Sequence[Shape], axis: Dim) -> Shape:
    """Arrays of one shape stacked along a new axis."""
    return insert(same_shape(shapes), axis, Dim.of(len(shapes)))


def insert(shape: Shape, axis: Dim, size: DimLike | None) -> Shape:
    """A new dimension; `axis` counts in the result."""
    made = None if size is None else Dim.of(size)
    number = axis.value
    if number is None:
        raise stop(f"axis `{axis}` is not a constant")
    if number >= 0:
        if shape.rank is not None:
            number -= shape.rank + 1
        else:
            return _insert_front(shape, number, made)
    if number == -1:
        return Shape((*shape.dims, made), shape.lead)
    out = spelled(shape, number + 1)
    at = len(out.dims) + number + 1
    return Shape((*out.dims[:at], made, *out.dims[at:]), out.lead)


def _insert_front(shape: Shape, index: int, size: Dim | None) -> Shape:
    """A dimension put before the leading ones: `x[None]`, `x[:, None]` of an argument of unknown rank."""
    shape = shape.fold()
    lead = shape.lead
    if lead is None or not lead.known or (index > len(lead.head) and shape.dims):
        kept = shape.dims[index:]  # the last dimensions, however many stand before them
        if not kept:
            raise needs_rank(f"a new axis {index}", shape)
        return Shape(kept, Lead.unknown(*shape.needs()))
    head, skipped = lead.head, lead.skipped
    while len(head) < index:
        head, skipped = (*head, Dim.input(lead.argument, skipped)), skipped + 1
    made = Lead(lead.argument, lead.dropped, skipped, (*head[:index], size, *head[index:]))
    return Shape(shape.dims, made)


def split_sizes(dim: Dim | None, parts: int) -> list[Dim | None]:
    """Sizes of `array_split` (and of `split`, whose parts are all equal)."""
    if dim is None:
        return [None] * parts
    exact = dim.exact_div(parts)
    if exact is not None:
        return [exact] * parts
    return [(dim + (parts - 1 - index)) // parts for index in range(parts)]


# matrix products -----------------------------------------------------------------------------------------------


def matmul(a: Shape, b: Shape) -> Shape:
    """`a @ b`."""
    if a.rank == 1 and b.rank == 1:
        return Shape(())
    if b.rank == 1:
        return with_dim(spelled(a, -1), -1)
    if a.rank == 1:
        return with_dim(spelled(b, -2), -2)
    for shape in (a, b):
        if shape.rank is None and len(shape.dims) < 2 and shape.lead is not None:
            if b.rank == 2 and shape is a:  # x @ kernel: whatever rank x has, only its last dimension goes
                return spelled(a, -1).replace_last(1, b.dims[-1])
            raise needs_rank("matmul", shape)
    rows, columns = a.dims[-2], b.dims[-1]
    batch = broadcast(Shape(a.dims[:-2], a.lead), Shape(b.dims[:-2], b.lead))
    return Shape((*batch.dims, rows, columns), batch.lead)


def dot(a: Shape, b: Shape) -> Shape:
    """`jnp.dot`: the last dimension of a with the last but one of b (the only one, if b is a vector)."""
    if a.rank == 0 or b.rank == 0:
        return broadcast(a, b)
    if b.rank is None:
        raise needs_rank("dot", b)
    kept = spelled(a, -1).replace_last(1)
    if b.rank == 1:
        return kept
    return Shape((*kept.dims, *b.dims[:-2], b.dims[-1]), kept.lead)
