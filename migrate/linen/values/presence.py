"""Optional array arguments: whether they are given, as the constructor can ask it, and sizes that depend on it.

`is_cross = memory is not None` is a question that the constructor answers by whether it was given the size of `memory`.
A submodule that is called with one array where the answer is yes and with another where it is no has either one's size.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ...frozen import frozen
from .dims import Dim
from .sites import CallRecord, Localized, Site, Table
from .values import Array, Const, Shape, Tup, Unknown, Value

_PRESENT, _ABSENT = "\0present:", "\0absent:"
GIVEN = "__given__"  # `__given__.memory`, in a condition of several parts: is it there?


@frozen
class Presence(Unknown):
    """Whether an optional argument is given (`present`) or not."""

    argument: str = ""
    present: bool = True

    @property
    def text(self) -> str:
        return f"{_PRESENT if self.present else _ABSENT}{self.argument}"

    def negated(self) -> Presence:
        return dataclasses.replace(self, present=not self.present)


@frozen
class Known(Unknown):
    """Whether an array is there that is there where `step` holds, or (not `present`) is not."""

    step: Step | None = None
    present: bool = True

    def negated(self) -> Known:
        return dataclasses.replace(self, present=not self.present)


@frozen
class Mixed(Unknown):
    """What fields and optional arrays decide together; `asks`: as the constructor asks it, "" where it cannot.

    `__given__.memory` stands in it for whether it was given the size of `memory`. Where it cannot be asked, `holds` is the
    side on which all parts of an `and` hold, or none of an `or`.
    """

    asks: str = ""
    holds: bool = True
    optional: bool = True  # is one of the parts whether an array is given?

    @property
    def text(self) -> str:
        return self.asks if self.holds or not self.asks else f"not {self.asks}"

    def negated(self) -> Mixed:
        return Mixed(self.why, self.asks, not self.holds, self.optional)


@frozen
class NoneAtFirst(Unknown):
    """None before a loop and in its first pass; what a pass gave to the next one is not known."""


@frozen
class Step:
    """One condition on the way to a statement: its text in terms of the fields (or of presence), and which side.

    `test`: the condition as the constructor says it, where it names variables of the method.
    """

    text: str
    deps: frozenset[str]
    holds: bool
    test: Localized | None = dataclasses.field(default=None, compare=False)


@frozen
class OptionalArray(Array):
    """An array, or None where `step` does not hold; `step` is None where the constructor cannot ask."""

    step: Step | None = dataclasses.field(default=None, compare=False)


def with_none(array: Array, step: Step | None = None) -> OptionalArray:
    """The array, or None."""
    return OptionalArray(array.shape, array.boolean, step)


def certain(value: Value) -> Value:
    """An array that is there, now that it was asked."""
    return Array(value.shape, value.boolean) if isinstance(value, OptionalArray) else value


def asked(text: str) -> tuple[str, bool] | None:
    """(argument, is it asked whether it is there) of a condition on presence."""
    for head, present in ((_PRESENT, True), (_ABSENT, False)):
        if text.startswith(head):
            return text.removeprefix(head), present
    return None


def whole_argument(value: Value) -> str:
    """The argument that an array is, unchanged; "" for any other array."""
    if not isinstance(value, Array):
        return ""
    shape = value.shape
    if shape.lead is not None:
        whole = shape.lead.known and not shape.dims and not shape.lead.dropped and not shape.lead.skipped
        return shape.lead.argument if whole and not shape.lead.head else ""
    atoms = [dim.single_atom() if dim is not None else None for dim in shape.dims]
    names = {str(atom.args[0]) for atom in atoms if atom is not None and atom.kind == "input"}
    if len(names) == 1 and all(atom is not None for atom in atoms):
        name = names.pop()
        return name if shape == Shape.ranked(name, len(atoms)) else ""
    return ""


def condition_text(value: Value) -> str:
    """Whether something is there, as the condition under which it was made; "" where the constructor cannot say that."""
    if not isinstance(value, Known) or value.step is None or value.step.deps:
        return ""
    holds = value.step.holds == value.present
    question = asked(value.step.text)
    if question is not None:
        return f"{_PRESENT if question[1] == holds else _ABSENT}{question[0]}"
    return value.step.text if holds else f"not ({value.step.text})"


def step_of(run: Any, node: Any, test: Any, text: str, env: Any) -> tuple[Step, Step] | None:
    """The two sides of a condition that the constructor can say; None where it depends on the call."""
    if run.apart:
        return None
    if isinstance(test.value, Known) and test.value.step is not None:
        step = test.value.step
        yes = dataclasses.replace(step, holds=step.holds == test.value.present)
        return yes, dataclasses.replace(yes, holds=not yes.holds)
    if text:
        question = asked(text)
        if question is None:
            if not isinstance(test.value, Mixed):
                return None
            yes = Step(test.value.asks, frozenset(), test.value.holds)
            return yes, dataclasses.replace(yes, holds=not yes.holds)
        argument, present = question
        return Step(_PRESENT + argument, frozenset(), present), Step(_PRESENT + argument, frozenset(), not present)
    if not test.static or test.flags:
        return None
    said, deps = run.self_text(node, env, in_fields=True)
    return Step(said, deps, True), Step(said, deps, False)


def untold(run: Any, test: Value) -> tuple[Step, Step] | None:
    """The two sides of a condition on fields and optional arrays together that the constructor cannot ask."""
    if not isinstance(test, Mixed) or test.asks or not test.optional or run.in_setup or run.apart:
        return None
    yes = Step(test.why, frozenset({GIVEN}), test.holds)
    return yes, dataclasses.replace(yes, holds=not yes.holds)


def merged_call(site: Site, path: Sequence[Step], record: CallRecord, method: Any = None) -> None:
    """A further call of a module: where its condition excludes the first call's, the sizes are either's.

    `method`: what is called, if the project has it; what a call does not give of its optional arguments is None there.
    """
    first: tuple[Step, ...] = site.renders.get("path", ())
    if site.call is None:
        site.renders["path"] = tuple(path)
        return
    for position, (a, b) in enumerate(zip(first, path)):
        if a == b:
            continue
        if a.text != b.text or (site.in_setup and a.deps) or GIVEN in a.deps:
            break  # not the same question, or one that setup cannot ask
        then, other = (site.call, record) if a.holds else (record, site.call)
        combined = _either(a, *_filled_in(then, other, method))
        if combined is not None:
            site.call = combined
            site.renders["path"] = first[:position]
            return
        break
    if tuple(path) != first or site.loops:  # of a list, one item may be called so and another so
        uneven = _given_by_one(site.call, record, method)
        site.renders["uneven"] = site.renders.get("uneven", frozenset()) | uneven


def through_another(run: Any, site: Site, record: CallRecord) -> None:
    """A module is called by what it was handed to: under the conditions of that call."""
    site.renders["paths"] = (*site.renders.get("paths", ()), tuple(run.path))
    site.renders["sized"] = (*site.renders.get("sized", ()), tuple(run.sized))
    called = run.analyser.classes.get(site.target)
    merged_call(site, run.path, record, called.method("__call__") if called is not None else None)


def _given_by_one(call: CallRecord, record: CallRecord, method: Any) -> frozenset[str]:
    """The arguments that one call gives an array for and the other nothing, or None."""
    if method is None:
        return frozenset()
    names = [p.arg for p in method.positional]
    both = [dict(zip(names, one.args)) | dict(one.keywords) for one in (call, record)]
    arrays = [{name for name, value in given.items() if isinstance(value, Array)} for given in both]
    return frozenset(arrays[0] ^ arrays[1])


def _filled_in(then: CallRecord, other: CallRecord, method: Any) -> tuple[CallRecord, CallRecord]:
    """Two calls with the same arguments: `block(x, memory)` and `block(x)`, which leaves `memory` None."""
    if method is None or (len(then.args) == len(other.args) and set(then.keywords) == set(other.keywords)):
        return then, other
    names = [p.arg for p in method.positional]
    if max(len(then.args), len(other.args)) > len(names):
        return then, other
    both = [dict(zip(names, record.args)) | dict(record.keywords) for record in (then, other)]
    for name in {**both[0], **both[1]}:
        for given in both:
            default = method.default(name)
            if name not in given and isinstance(default, ast.Constant) and default.value is None:
                given[name] = Const(None)
    if both[0].keys() != both[1].keys():
        return then, other
    by_place = names[: max(len(then.args), len(other.args))]
    if not both[0].keys() >= set(by_place):
        return then, other
    return _placed(both[0], by_place), _placed(both[1], by_place)


def _placed(given: dict[str, Value], by_place: list[str]) -> CallRecord:
    """A call that gives the named ones by their places, and others by their names."""
    return CallRecord(tuple(given[n] for n in by_place), {n: v for n, v in given.items() if n not in by_place})


def _either(step: Step, then: CallRecord, other: CallRecord) -> CallRecord | None:
    if len(then.args) != len(other.args) or set(then.keywords) != set(other.keywords):
        return None
    args = tuple(_one(step, a, b) for a, b in zip(then.args, other.args))
    keywords: Mapping[str, Value] = {k: _one(step, v, other.keywords[k]) for k, v in then.keywords.items()}
    return CallRecord(args, keywords)


def _one(step: Step, a: Value, b: Value) -> Value:
    if type(a) is Array and b == Const(None):
        return with_none(a, dataclasses.replace(step, holds=True))
    if type(b) is Array and a == Const(None):
        return with_none(b, dataclasses.replace(step, holds=False))
    if isinstance(a, Tup) and isinstance(b, Tup) and a != b:
        alike = len(a.items) == len(b.items) and a.kind == b.kind
        items = tuple(_one(step, x, y) for x, y in zip(a.items, b.items))
        return dataclasses.replace(a, items=items) if alike else Unknown("of two tuples of unlike lengths")
    if isinstance(a, Table) and isinstance(b, Table) and a is not b:
        if a.items.keys() != b.items.keys() or a.maybe or b.maybe:
            return Unknown("of two dicts with unlike keys")
        return Table({key: _one(step, item, b.items[key]) for key, item in a.items.items()})
    if a == b or not (isinstance(a, Array) and isinstance(b, Array)):
        return a if not (isinstance(a, Const) and a.value is None) else b
    count = max(len(a.shape.dims), len(b.shape.dims), 1)
    left, right = a.shape.expand(count), b.shape.expand(count)
    if len(left.dims) != len(right.dims):
        count = min(len(left.dims), len(right.dims))
    dims: list[Dim | None] = []
    for x, y in zip(left.dims[-count:], right.dims[-count:]):
        dims.append(None if x is None or y is None else Dim.cond(step.text, x, y, step.deps))
    last = [d for d in (left.dims[-1:] + right.dims[-1:]) if d is not None]
    if dims and len(last) == 1 and last[0].value != 1 and (step.deps or not left.told_by_ranks(right)):
        dims[-1] = last[0]  # a width that is not known is the other's (see `same_width`)
    same = left.lead == right.lead and len(left.dims) == len(right.dims)
    return Array(Shape(tuple(dims), left.lead if same else Shape.unknown(*left.needs(), *right.needs()).lead))


def either_result(step: Step, then: Value, other: Value) -> Value:
    """One of two values: the first on this side of the condition."""
    if not step.holds:
        then, other = other, then
    return _one(step, then, other) if isinstance(then, Array) and isinstance(other, Array) else then


def assigned_when(before: tuple[Step, ...] | None, path: tuple[Step, ...]) -> tuple[Step, ...] | None:
    """The conditions of a first, or of one more assignment; None where they are no single set of conditions."""
    if before is None:
        return path
    if before and path and before[:-1] == path[:-1] and before[-1].text == path[-1].text:
        return before if before[-1].holds == path[-1].holds else path[:-1]
    return before if before == path[: len(before)] else None


def substituted(value: Value, optional: frozenset[str]) -> str | bool | Step | None:
    """Whether an argument is given by a call: known, or by whether the caller itself was given one; None: not known."""
    if isinstance(value, Const):
        return value.value is not None
    if isinstance(value, OptionalArray):
        return value.step
    argument = whole_argument(value)
    if argument in optional:
        return _PRESENT + argument
    return True if isinstance(value, Array) else None
