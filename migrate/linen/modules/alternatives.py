"""Functions that choose between several ways to compute the same: a kernel of a library, or a few lines of jax.

`return flash(q, k, v)` under a condition and `return jnp.einsum(...)` without: the first says nothing of its shape, and goes
to the layers that the second goes to. They take its width from the way that is known. Where the two differ the layer fails
when weights are loaded or when it is called. A way that returns what the function was given computes nothing, and says
nothing of the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..values.bundles import Bundle
from ..values.dims import Dim
from ..values.sites import Abs
from ..values.values import Array, Const, Lead, NeedsRank, Shape, Tup, Unknown, Value

_NOT_COMPUTED = ("argument ", "recursion", "*")


RAISES = Unknown("it raises an error")


def returning(values: list[Abs]) -> list[Abs]:
    """The values of those ways that do not end in an error."""
    return [v for v in values if v.value is not RAISES] or values


def filled_in(values: list[Abs], given: Sequence[Value]) -> list[Abs]:
    """What the ways of a function return, those that are not known with the width of the others; `given`: its arguments."""
    if len(values) < 2:
        return values
    found = _filled([v.value for v in values], given)
    return [v if new is v.value else dataclasses.replace(v, value=new) for v, new in zip(values, found)]


def saying(a: Abs, b: Abs, before: Sequence[Value]) -> tuple[Abs, Abs]:
    """Both sides of a condition of the constructor, so that one which does nothing says nothing of the other.

    `x = encode(x) if self.encode else x`: where the width of the one is not known, it is not that of `x`. Two that compute
    the same in two ways have one width.
    """
    left, right = a.value, b.value
    if not isinstance(left, Array) or not isinstance(right, Array):
        return a, b
    known = [side for side in (left, right) if side.shape.dim(-1) is not None]
    if len(known) != 1 or not any(value is known[0] for value in before):
        return a, b
    names = [*left.shape.needs(), *right.shape.needs()]
    nothing = Array(Shape((None,), Shape.unknown(*names).lead))
    return dataclasses.replace(a, value=nothing, static=False), dataclasses.replace(b, value=nothing, static=False)


def _filled(values: list[Value], given: Sequence[Value]) -> list[Value]:
    computed = [v for v in values if not (isinstance(v, Const) and v.value is None)]
    whole = next((v for v in computed if isinstance(v, Bundle | Tup) and all(v is not g for g in given)), None)
    if whole is not None and any(_is_computed(v) for v in computed):  # another way to give the same parts
        computed = [whole if _is_computed(v) else v for v in computed]
        return _filled(_put_back(values, computed), given)
    bundles = [v for v in computed if isinstance(v, Bundle)]
    tuples = [v for v in computed if isinstance(v, Tup)]
    if bundles and len(bundles) == len(computed):
        names = {name for b in bundles for name, _ in b.names}
        records = [b for b in bundles if b.names]  # a plain tuple has no attributes, and says nothing of them
        parts = {name: iter(_filled([b.attribute(name) for b in records], given)) for name in sorted(names)}
        items = _columns([b.items for b in bundles], given)
        return _put_back(values, [
            Bundle(items[n], tuple((name, next(parts[name])) for name, _ in _ordered(b, names) if b.names), b.tail)
            for n, b in enumerate(bundles)
        ])  # fmt: skip
    if tuples and len(tuples) == len(computed) and len({len(t.items) for t in tuples}) == 1:
        items = _columns([t.items for t in tuples], given)
        return _put_back(values, [Tup(items[n], t.kind, t.variable) for n, t in enumerate(tuples)])
    known = [v.shape for v in computed if isinstance(v, Array) and all(v is not g for g in given)]
    known = [shape for shape in known if _sized(shape.dim(-1)) is not None]
    if not known or not all(isinstance(v, Array) or _is_computed(v) for v in computed):
        return values
    best = max(known, key=lambda shape: (shape.lead is None, sum(_sized(d) is not None for d in shape.dims)))
    for shape in known:  # what one does not tell another may
        if shape.lead is None and best.lead is None and len(shape.dims) == len(best.dims):
            best = Shape(tuple(own if own is not None else other for own, other in zip(best.dims, shape.dims)))
    return _put_back(values, [_like(v, best) for v in computed])


def _like(value: Value, best: Shape) -> Value:
    """A result with the sizes of another way where its own are not known."""
    sizes = tuple(_sized(d) for d in best.dims)
    if not isinstance(value, Array):
        return Array(Shape(sizes, None if best.lead is None else Lead.unknown(*best.needs())))
    shape = value.shape
    if shape.lead is None and best.lead is None and len(shape.dims) == len(sizes):
        return Array(Shape(tuple(own if own is not None else other for own, other in zip(shape.dims, sizes))))
    if shape.lead is not None and not shape.lead.known and best.lead is None and len(shape.dims) <= len(sizes):
        own = (*[None] * (len(sizes) - len(shape.dims)), *shape.dims)
        return Array(Shape(tuple(d if d is not None else other for d, other in zip(own, sizes))))
    return value


def _sized(dim: Dim | None) -> Dim | None:
    """A size that says something of other ways: one of 1 may be broadcast."""
    return dim if dim is not None and dim.value != 1 else None


def _ordered(bundle: Bundle, names: set[str]) -> list[tuple[str, Value]]:
    """The attributes of a record, its own first, then those that the others have."""
    return [*bundle.names, *[(n, Unknown("")) for n in sorted(names - dict(bundle.names).keys())]]


def _columns(rows: list[tuple[Value, ...]], given: Sequence[Value]) -> list[tuple[Value, ...]]:
    """The same for every place of several tuples that all of them have."""
    count = min(len(row) for row in rows)
    columns = [_filled([row[i] for row in rows], given) for i in range(count)]
    return [(*[column[n] for column in columns], *row[count:]) for n, row in enumerate(rows)]


def _put_back(values: list[Value], computed: list[Value]) -> list[Value]:
    rest = iter(computed)
    return [v if isinstance(v, Const) and v.value is None else next(rest) for v in values]


def _is_computed(value: Value) -> bool:
    kind = type(value) in (Unknown, NeedsRank)
    return kind and value is not RAISES and not value.why.startswith(_NOT_COMPUTED)  # type: ignore[attr-defined]


__all__ = ["RAISES", "filled_in", "returning"]
