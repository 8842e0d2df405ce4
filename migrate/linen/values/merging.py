"""Merging of values where control flow joins, and the sizes inside values."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Collection, Sequence, Set
from typing import Any, TypeGuard

from ...frozen import frozen
from .bundles import Bundle, common, map_values
from .call_sizes import rounded
from .dims import Dim
from .graph_networks import Concatenated
from .nothing_made import GivesBack
from .presence import Known, OptionalArray, Step, asked, certain, with_none
from .sites import Abs, AnyFactory, Factory, Function, Module, Repeated, Site, Static, Table, Variable
from .values import OPAQUE, Array, Const, Global, Int, Led, NeedsRank, Shape, Tup, Unknown, Value

OF_BRANCHES = "it differs between branches"  # why a value is not known


@frozen(eq=False)
class Either(Value):
    """One of several modules; a call reaches them all.

    `test` is the condition that chooses, as the constructor evaluates it, with the names in it; `sides` are its options.
    One of these may be a function, which is among the `functions`. `absent`: it may be None, too, unless `step` holds.
    """

    modules: tuple[Module, ...]
    test: tuple[str, frozenset[str]] | None = None
    sides: tuple[Value, Value] | None = None
    functions: tuple[Value, ...] = ()
    absent: bool = False
    step: Step | None = None

    def may_be_none_of_them(self) -> bool:
        """Is one of its options something that gives its input back?"""
        inner = [s for s in self.sides or () if isinstance(s, Either)]
        return any(isinstance(s, GivesBack) for s in self.sides or ()) or any(s.may_be_none_of_them() for s in inner)


@frozen(eq=False)
class OptionalModule(Module):
    """A module, or None where `step` does not hold; `step` is None where the constructor cannot ask."""

    step: Step | None = None


@frozen
class ArrayOrModule(Unknown):
    """An array, as a parameter, where `step` holds, and else a module; or the other way round."""

    step: Step | None = None
    then: Value | None = None
    other: Value | None = None


def on_this_side(found: Abs, path: Sequence[Step]) -> Abs:
    """An array or a module, read under the very condition by which it is the one or the other."""
    value = found.value
    if isinstance(value, ArrayOrModule) and value.step is not None:
        text, holds = _plainly(value.step)
        for step in path:
            asked, answer = _plainly(step)
            side = value.then if answer == holds else value.other
            if asked == text and side is not None:
                return dataclasses.replace(found, value=side)
    return found


def _plainly(step: Step) -> tuple[str, bool]:
    """The condition without a `not` before a field, and whether it holds."""
    name = step.text.removeprefix("not ")
    negated = name != step.text and name.removeprefix("self.").isidentifier()
    return (name, not step.holds) if negated else (step.text, step.holds)


def question(test: Abs) -> Abs:
    """`if self.head:` of a module that may be None asks whether it is there."""
    value = test.value
    if may_be_none(value) and value.step is not None:
        return Abs(Known("is there a module", value.step, True), False, test.flags)
    return test


def may_be_none(value: Value) -> TypeGuard[OptionalModule | Either]:
    """Is it a module or None?"""
    return isinstance(value, OptionalModule) or (isinstance(value, Either) and value.absent)


def _or_none(value: Module | Either) -> Module | Either:
    """The module where on another way there is None."""
    if isinstance(value, Module):
        return OptionalModule(value.site, value.element)
    return dataclasses.replace(value, absent=True, step=None)


def _one_of(a: Value, b: Value) -> Either:
    return Either((*members(a), *members(b)), functions=functions_of(a, b), absent=may_be_none(a) or may_be_none(b))


def _there(a: Value, b: Value, sides: tuple[Step, Step]) -> Step | None:
    """When a choice between two values is a module or a function, and not None."""
    always = [_said(side) for value, side in zip((a, b), sides) if not isinstance(value, Const) and not may_be_none(value)]
    sometimes: list[str] = []
    for value, side in zip((a, b), sides):
        if may_be_none(value):
            if value.step is None or value.step.deps:
                return None
            sometimes.append(_said(value.step) if always else f"{_said(side)} and {_said(value.step)}")
    return Step(" or ".join([*always, *sometimes]), frozenset(), True)


def _said(step: Step) -> str:
    return f"({step.text})" if step.holds else f"(not ({step.text}))"


def decided(value: Value, text: str, deps: frozenset[str], then: Value, orelse: Value) -> Value:
    """The choice between two modules with its condition; what is called is not the None of a third way."""
    if any(isinstance(side, Const) for side in (then, orelse)):
        return value
    return dataclasses.replace(value, test=(text, deps), sides=(then, orelse)) if isinstance(value, Either) else value


def merge_by(test: tuple[str, frozenset[str]], a: Value, b: Value) -> Value:
    """As `merge`; a size that differs is the one or the other by the condition, and not known where one of them is not."""
    merged = merge(a, b)
    if not isinstance(a, Array) or not isinstance(b, Array) or not isinstance(merged, Array):
        return merged
    dims = list(merged.shape.dims)
    for place in range(-len(dims), 0):
        x, y = a.shape.dim(place), b.shape.dim(place)
        if dims[place] is None and x is not None and y is not None:
            dims[place] = Dim.cond(test[0], x, y, test[1])
        elif x is None or y is None:
            dims[place] = None
    return Array(Shape(tuple(dims), merged.shape.lead))


def under_step(merged: Value, a: Value, b: Value, sides: tuple[Step, Step] | None) -> Value:
    """Either of two values, with the condition that the constructor can say."""
    if sides is None or sides[0].deps:
        return merged
    if isinstance(a, Const) and isinstance(b, Const) and {type(a.value), type(b.value)} == {bool} and a != b:
        return Known("it is true on one side", sides[0], a.value is True)
    if isinstance(merged, OptionalArray):  # None on one side
        there = [side for side, value in zip(sides, (a, b)) if type(value) is Array]
        if len(there) == 1 and any(isinstance(v, Const) and v.value is None for v in (a, b)):
            return with_none(merged, there[0])
    if isinstance(merged, OptionalModule) and merged.step is None and not merged.site.held:
        there = [side for side, value in zip(sides, (a, b)) if type(value) is Module or getattr(value, "step", None) == side]
        if len(there) == 1 and any(isinstance(v, Const) and v.value is None for v in (a, b)):
            return dataclasses.replace(merged, step=there[0])
    if Module in (type(a), type(b)) and (isinstance(a, Array) or isinstance(b, Array)):
        return ArrayOrModule("it is an array or a module", sides[0], a, b)
    if isinstance(merged, Either) and merged.absent and merged.step is None:
        merged = dataclasses.replace(merged, step=_there(a, b, sides))
    plain = all(isinstance(v, Module | Either | Function | Global) for v in (a, b))
    if isinstance(merged, Either) and merged.test is None and plain:
        then, other = (a, b) if sides[0].holds else (b, a)
        return decided(merged, sides[0].text, sides[0].deps, then, other)
    return merged


@frozen
class Choice(Unknown):
    """One of several things from outside: fields, functions."""

    options: tuple[Value, ...] = ()


@frozen(eq=False)
class Several(AnyFactory):
    """One of several factories, and which of them is not known."""

    options: tuple[Value, ...]


def members(value: Value) -> tuple[Module, ...]:
    """The modules that a value may be."""
    return value.modules if isinstance(value, Either) else (value,) if isinstance(value, Module) else ()


def either(run: Any, a: Value, b: Value, node: ast.AST) -> Value:
    """One of two modules, by a condition of the constructor."""
    if isinstance(a, Const) and a.value is None:
        return _or_none(b) if isinstance(b, Module | Either) else b
    if isinstance(b, Const) and b.value is None:
        return _or_none(a) if isinstance(a, Module | Either) else a
    if a is b and isinstance(a, GivesBack):
        return a
    if isinstance(a, Module | Either | GivesBack) and isinstance(b, Module | Either | GivesBack):
        return _one_of(a, b)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Module | Either) and isinstance(y, Function | Global | Static):
            return Either(members(x), functions=(*functions_of(x), y), absent=may_be_none(x))
    return Unknown("one of several things")


def functions_of(*values: Value) -> tuple[Value, ...]:
    """The functions that stand beside modules in a choice."""
    return tuple(f for value in values if isinstance(value, Either) for f in value.functions)


def merge(a: Value, b: Value) -> Value:
    """What two values have in common."""
    if a == b:
        return a
    if any(isinstance(v, GivesBack) or (isinstance(v, Either) and v.may_be_none_of_them()) for v in (a, b)):
        return Unknown("one of several things")
    if isinstance(a, OptionalArray) or isinstance(b, OptionalArray):
        there = [certain(v) for v in (a, b) if not (isinstance(v, Const) and v.value is None)]
        both = merge(there[0], there[-1])
        steps = {v.step if isinstance(v, OptionalArray) else None for v in (a, b)}
        return with_none(both, steps.pop() if len(steps) == 1 else None) if isinstance(both, Array) else both
    if isinstance(a, Array) and isinstance(b, Array):
        count = min(
            max(len(a.shape.dims), len(b.shape.dims)),
            len(a.shape.dims) if a.shape.lead is None else 99,
            len(b.shape.dims) if b.shape.lead is None else 99,
        )
        left, right = a.shape.expand(count), b.shape.expand(count)
        if len(left.dims) == len(right.dims):
            dims = tuple(same_size(x, y) for x, y in zip(left.dims, right.dims))
            if dims:
                dims = (*dims[:-1], same_width(left.dims[-1], right.dims[-1]))
            if left.lead == right.lead and _counted(left) == _counted(right):
                return Array(Shape(dims, left.lead))
            return Array(Shape(dims, Shape.unknown(*a.shape.needs(), *b.shape.needs()).lead))
        ends = list(zip(left.dims[::-1], right.dims[::-1]))[::-1]  # of different ranks: what they end with
        lead = Shape.unknown(*a.shape.needs(), *b.shape.needs()).lead
        return Array(Shape(tuple(x if x == y else None for x, y in ends), lead))
    if isinstance(a, Led) and isinstance(b, Array):
        return merge(a.array, b)
    if isinstance(b, Led) and isinstance(a, Array):
        return merge(a, b.array)
    if isinstance(a, Led) and isinstance(b, Led) and len(a.items) == len(b.items):
        return Led(tuple(merge(x, y) for x, y in zip(a.items, b.items)), a.kind)
    if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        return Tup(tuple(merge(x, y) for x, y in zip(a.items, b.items)), a.kind)
    bundle = common(a, b, merge)
    if bundle is not None:
        return bundle
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Module | Either) and y == Const(None):
            return _or_none(x)
        if isinstance(x, Module | Either) and isinstance(y, Static):
            return x  # made here, or handed in through a field: what is known of the one made here holds
        if isinstance(x, Module | Either) and isinstance(y, Function | Global):
            return Either(members(x), functions=(*functions_of(x), y), absent=may_be_none(x))
    if isinstance(a, Variable) and isinstance(b, Variable) and _is_one_attribute(a.site, b.site):
        a.site.several = b.site.several = True  # whatever it holds is read as a whole
        if isinstance(a.site.shape, Array) and isinstance(b.site.shape, Array) and a.site.shape != b.site.shape:
            a.site.shape = b.site.shape = merge(a.site.shape, b.site.shape)  # no size is that of one way
        return a
    if isinstance(a, Factory) and isinstance(b, Factory) and _same_text(a, b):
        return a
    if isinstance(a, AnyFactory) or isinstance(b, AnyFactory):
        return Several((a, b))
    if isinstance(a, Module | Either) and isinstance(b, Module | Either):
        return _one_of(a, b)
    if isinstance(a, Repeated) and isinstance(b, Repeated) and a.kind == b.kind:
        element = merge(a.element, b.element)
        if isinstance(element, Module | Either):  # one list or the other: an element is one of either's
            same = (a.turned, a.part) == (b.turned, b.part)
            return Repeated(element, a.loop, a.kind, a.turned, part=a.part if same else "other")
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Concatenated) and (isinstance(y, Concatenated) or y == Const(None)):
            return x.beside(y)
    if isinstance(a, Const) and a.value is None and isinstance(b, Array):
        return with_none(b)
    if isinstance(b, Const) and b.value is None and isinstance(a, Array):
        return with_none(a)
    chosen = [c for v in (a, b) for c in (v.options if isinstance(v, Choice) else (v,))]
    if all(isinstance(v, Static | Global | Function) for v in chosen):
        return Choice(OF_BRANCHES, tuple(chosen))
    return _needing((a, b), OF_BRANCHES)


def _is_one_attribute(a: Site, b: Site) -> bool:
    """Do both ways of a condition in setup make one variable, from one or another first value?"""
    named = a.name is not None and b.name is not None and a.name.constant is not None and a.name.constant == b.name.constant
    alike = (a.target, a.kind, a.container, a.number) == (b.target, b.kind, b.container, b.number)
    return named and alike and a.in_setup and b.in_setup and not (a.loops or b.loops or a.lazy or b.lazy)


def any_of(values: Sequence[Value]) -> Array | None:
    """What arrays have in common of which a computed key picks one: `{"up": grown(x), "down": pooled(x)}[self.kind]`."""
    arrays = [value for value in values if type(value) is Array]
    if not arrays or len(arrays) < len(values):
        return None
    found: Value = arrays[0]
    for other in arrays[1:]:
        found = merge(found, other)
    if type(found) is not Array:
        return None
    dims = []  # a size that is not known is not that of the others, which other modules take
    for place in range(-len(found.shape.dims), 0):
        sizes = [array.shape.dim(place) for array in arrays]
        dims.append(sizes[0] if all(size == sizes[0] for size in sizes) else None)
    return Array(Shape(tuple(dims), found.shape.lead))


def merge_returned(a: Value, b: Value) -> Value:
    """As `merge`, of what two ways of a function return: a tuple and the array that it begins with are both at once."""
    several, alone = (a, b) if isinstance(a, Tup) else (b, a)
    if isinstance(several, Tup) and len(several.items) > 1 and type(several.items[0]) is Array and type(alone) is Array:
        return Led((merge(several.items[0], alone), *several.items[1:]), several.kind)
    return merge(a, b)


def same_size(a: Dim | None, b: Dim | None) -> Dim | None:
    """The size that two branches of the call give; None where they may differ.

    `k * (n // k)` on one side and `n` on the other are the same wherever both branches can feed one layer.
    """
    if a == b or a is None or b is None:
        return a if a == b else None
    if rounded(a) == rounded(b):
        return min(a, b, key=lambda dim: len(dim.atoms()))
    return None


def of_other_modules(a: Value, b: Value, sides: tuple[Step, Step] | None) -> bool:
    """Is a width of `a if self.flag else b` not known, which is then not the other's, as another module takes that side?"""
    of_fields = sides is not None and not sides[0].deps and asked(sides[0].text) is None
    return of_fields and isinstance(a, Array) and isinstance(b, Array) and None in (a.shape.dim(-1), b.shape.dim(-1))


def chosen_apart(merged: Value, a: Value, b: Value, sides: tuple[Step, Step] | None) -> Value:
    """What `a if self.flag else b` is."""
    if of_other_modules(a, b, sides) and type(merged) is Array and merged.shape.dims:
        return dataclasses.replace(merged, shape=dataclasses.replace(merged.shape, dims=(*merged.shape.dims[:-1], None)))
    return merged


def same_width(a: Dim | None, b: Dim | None) -> Dim | None:
    """The width of two arrays that one layer takes, by what a call says: where one is not known it is that of the other.

    Were it not so, the layer would have one size in Linen and be given another; a size of 1 may be broadcast.
    """
    if a == b:
        return a
    known = b if a is None else a if b is None else same_size(a, b)
    return None if known is None or known.value == 1 else known


def _same_text(a: Factory, b: Factory) -> bool:
    """Two factories written alike: the same class, or the same partial of it."""
    return a.target == b.target and a.text == b.text and a.field == b.field and len(a.lifted) == len(b.lifted)


def _needing(values: Sequence[Value], why: str) -> Unknown:
    """Not known; where the ranks of some arguments would have helped with one of the values, it says so."""
    needed = {name for value in values if isinstance(value, NeedsRank) for name in value.arguments}
    return NeedsRank(why, tuple(sorted(needed))) if needed else Unknown(why)


def grown(before: Value, after: Value) -> Value | None:
    """What every item is of a list that was empty before a loop and grows in it."""
    if isinstance(after, Repeated) and isinstance(before, Tup) and not before.items:
        return after.element
    return None


def map_dims(value: Value, change: Callable[[Dim], Dim]) -> Value:
    """Apply `change` to every size in a value; the same object where nothing changed."""
    if isinstance(value, Int):
        new = change(value.dim)
        return value if new is value.dim or new == value.dim else Int(new)
    if isinstance(value, Array):
        dims = tuple(None if d is None else change(d) for d in value.shape.dims)
        shape = Shape(dims, value.shape.lead)
        return value if dims == value.shape.dims else dataclasses.replace(value, shape=shape)
    if isinstance(value, Bundle):
        return map_values(value, lambda item: map_dims(item, change))
    if isinstance(value, Tup):
        items = tuple(map_dims(item, change) for item in value.items)
        return value if all(x is y for x, y in zip(items, value.items)) else dataclasses.replace(value, items=items)
    if isinstance(value, Table):
        entries = {key: map_dims(item, change) for key, item in value.items.items()}
        same = all(entries[key] is item for key, item in value.items.items())
        return value if same else dataclasses.replace(value, items=entries)
    return value


def mentions(value: Value, names: Collection[str]) -> bool:
    """Is one of the sizes in a value made of one of these local names?"""
    if isinstance(value, Int):
        return not value.dim.dependencies().isdisjoint(names)
    if isinstance(value, Array):
        return any(d is not None and not d.dependencies().isdisjoint(names) for d in value.shape.dims)
    if isinstance(value, Bundle):
        return not dependencies_of(value).isdisjoint(names)
    if isinstance(value, Tup):
        return any(mentions(item, names) for item in value.items)
    if isinstance(value, Table):
        return any(mentions(item, names) for item in value.items.values())
    return False


def dependencies_of(value: Value) -> frozenset[str]:
    """The local names that the sizes and texts in a value are made of; of a bundle, the sizes."""
    if isinstance(value, Int):
        return value.dim.dependencies()
    if isinstance(value, Static):
        return value.deps
    if isinstance(value, Array):
        return _NO_NAMES.union(*[dim.dependencies() for dim in value.shape.dims if dim is not None])
    if isinstance(value, Tup):
        return _NO_NAMES.union(*[dependencies_of(item) for item in value.items])
    if isinstance(value, Table):
        return _NO_NAMES.union(*[dependencies_of(item) for item in value.items.values()])
    return _size_dependencies(value) if isinstance(value, Bundle) else _NO_NAMES


def _size_dependencies(bundle: Bundle) -> frozenset[str]:
    found: set[str] = set()

    def look(dim: Dim) -> Dim:
        found.update(dim.dependencies())
        return dim

    map_dims(bundle, look)
    return frozenset(found)


_NO_NAMES: frozenset[str] = frozenset()


def dim_at(value: Value, index: int) -> Dim | None:
    """A dimension of an array, or (`index` 0) the size that a number is, or what the constructor says it by; else None."""
    if type(value) is Static and index == 0 and not value.sequence:
        name = value.text.removeprefix("self.")
        return Dim.field(name) if name != value.text and name.isidentifier() else Dim.opaque(value.text, value.deps)
    if type(value) is Int and index == 0:
        return value.dim
    return value.shape.dim(index) if isinstance(value, Array) and index else None


def _counted(shape: Shape) -> tuple[str, int] | None:
    return shape.lead.counted if shape.lead is not None else None


def same_lead(a: Shape, b: Shape) -> bool:
    """Are the leading dimensions the same, or not known on either side?"""
    if a.lead is None or b.lead is None or a.lead.known or b.lead.known:
        return a.lead == b.lead
    return True


def last_only(shape: Shape) -> Shape | None:
    """What is left of a shape when its leading dimensions are not known: the last one."""
    dims = shape.expand(1).dims
    return Shape(dims[-1:], Shape.unknown(*shape.needs()).lead) if dims else None


def last_of_both(a: Shape, b: Shape) -> tuple[Shape | None, Shape | None]:
    """The last dimensions of two shapes, with one lead: what is not known of either is not known."""
    left, right = last_only(a), last_only(b)
    if left is None or right is None:
        return left, right
    lead = Shape.unknown(*left.needs(), *right.needs()).lead
    return Shape(left.dims, lead), Shape(right.dims, lead)


def local_dim(tracker: str | None) -> Dim | None:
    """The size that a tracked name holds."""
    return None if tracker is None else Dim.local(tracker)


def without(array: Array, names: Set[str]) -> Array:
    """An array of which the sizes that depend on these names are not known."""
    dims = (None if dim is not None and dim.dependencies() & names else dim for dim in array.shape.dims)
    return Array(Shape(tuple(dims), array.shape.lead))


def with_dim(value: Value, index: int, dim: Dim | None) -> Value:
    """An array with one dimension (counted from the end) replaced, or (`index` 0) another number."""
    if not isinstance(value, Array):
        return value if index else Int(dim) if dim is not None else OPAQUE
    shape = value.shape.expand(-index)
    dims: list[Dim | None] = list(shape.dims)
    dims[index] = dim
    return Array(Shape(tuple(dims), shape.lead))
