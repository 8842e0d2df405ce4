"""Are two terms the same computation, up to a one-to-one renaming of random keys? And if not, where do they part?"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from .randomness import other_streams
from .terms import COMMUTATIVE, Node, Terms

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclasses.dataclass(frozen=True)
class Place:
    """One side of a divergence: what is computed there, and the line of the user's code that does it."""

    what: str
    source: str
    via: str = ""  # the innermost function of flax on the way there

    def to_dict(self) -> dict[str, str]:
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Divergence:
    """The first operation, from the inputs on, that the two sides do not share."""

    output: str
    left: Place
    right: Place
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.output}: {self.reason}\n    left:  {self.left.what}  [{self.left.source}]\n"
            f"    right: {self.right.what}  [{self.right.source}]"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "output": self.output,
            "reason": self.reason,
            "left": self.left.to_dict(),
            "right": self.right.to_dict(),
        }


class Matching:
    """The bijection between the two sides' random keys, grown while terms are compared."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.forward: dict[int, int] = {}
        self.backward: dict[int, int] = {}
        self._done: set[tuple[int, int]] = set()
        self.conflict: tuple[int, int] | None = None
        self.why = ""

    def equal(self, pairs: Sequence[tuple[int, int]]) -> list[bool]:
        """For each pair of output terms: equal, under the one bijection that serves them all?"""
        results = []
        for left, right in pairs:
            same = self.terms[left].blind == self.terms[right].blind
            results.append(same and self._match(left, right))
        return results

    def _match(self, left: int, right: int) -> bool:
        """Walk both terms in step.

        Commutative operands that look alike without their keys are decided last, when most keys are matched; of the
        orders that remain the first that fits what is known is taken.
        """
        stack: list[tuple[int, int]] = [(left, right)]
        later: list[tuple[int, int]] = []
        while stack or later:
            if not stack:
                a, b = later.pop(0)
                pairs = self._pair(a, b)
                if pairs is None:
                    return False
                stack.extend(pairs)
                continue
            a, b = stack.pop()
            if (a, b) in self._done:
                continue
            self._done.add((a, b))
            one, two = self.terms[a], self.terms[b]
            if not one.keyed and not two.keyed:
                if a != b:
                    return False
                continue
            if one.blind != two.blind or len(one.args) != len(two.args):
                return False
            if one.op == "key":
                why = other_streams(self.terms, a, b)
                if why is not None:
                    self.conflict, self.why = (a, b), why
                    return False
                if self.forward.setdefault(a, b) != b or self.backward.setdefault(b, a) != a:
                    self.conflict = (a, b)
                    return False
                blinds = [[self.terms[t].blind for t in n.args] for n in (one, two)]
                if len(set(blinds[0])) == len(blinds[0]):
                    stack.extend(zip(sorted(one.args, key=self.terms.order), sorted(two.args, key=self.terms.order)))
                else:
                    stack.extend(zip(one.args, two.args))
                continue
            twins = one.op in COMMUTATIVE and len({self.terms[t].blind for t in one.args}) < len(one.args)
            if twins and one.args[0] != one.args[1]:
                later.append((a, b))
            else:
                stack.extend(zip(one.args, two.args))
        return True

    def _pair(self, a: int, b: int) -> list[tuple[int, int]] | None:
        left, right = self.terms[a].args, self.terms[b].args
        for order in (right, right[::-1]):
            trial = Matching(self.terms)
            trial.forward, trial.backward = dict(self.forward), dict(self.backward)
            if all(trial._match(x, y) for x, y in zip(left, order)):
                return list(zip(left, order))
        return None


def first_divergence(terms: Terms, output: str, left: int, right: int, matching: Matching | None = None) -> Divergence:
    """Descend from two different outputs to the operation nearest the inputs at which they part."""
    seen: set[tuple[int, int]] = set()
    a, b = left, right
    trail = [(left, right)]
    while True:
        seen.add((a, b))
        step = _deeper(terms, a, b, seen)
        if step is None:
            break
        a, b = step
        trail.append((a, b))
    if terms[a].blind == terms[b].blind:
        reason = "the same operations, but other uses share a random key (one mask where the other side draws two?)"
        if matching is not None and matching.conflict:
            a, b = matching.conflict
            reason = matching.why or reason
        return Divergence(output, place(terms, "left", a, trail, 0), place(terms, "right", b, trail, 1), reason)
    # A constant or an input says little alone: the line is that of the operation that reads it.
    return Divergence(output, place(terms, "left", a, trail, 0), place(terms, "right", b, trail, 1), _reason(terms, a, b))


def _deeper(terms: Terms, a: int, b: int, seen: set[tuple[int, int]]) -> tuple[int, int] | None:
    one, two = terms[a], terms[b]
    if one.op != two.op or one.params != two.params or len(one.args) != len(two.args):
        if one.op == two.op == "key":
            return None
        if one.op != two.op or one.op not in ("scan", "while") or not one.args or not two.args:
            return None
    left, right = list(one.args), list(two.args)
    if one.op in COMMUTATIVE or one.op in ("scan", "while"):
        # Leave out what both have, by the terms without keys; then pair operands that are alike on the outside.
        shared = {terms[t].blind for t in left} & {terms[t].blind for t in right}
        left = [t for t in left if terms[t].blind not in shared]
        right = [t for t in right if terms[t].blind not in shared]
        right.sort(key=lambda t: 0 if left and terms[t].op == terms[left[0]].op else 1)
    for x, y in zip(left, right):
        if terms[x].blind != terms[y].blind and (x, y) not in seen:
            return x, y
    return None


def _reason(terms: Terms, a: int, b: int) -> str:
    one, two = terms[a], terms[b]
    if one.op == two.op == "constant":
        return "another constant"
    if one.op == two.op == "input":
        return (
            "another input (weights swapped, or wired elsewhere)" if one.params != two.params else "an input of another type"
        )
    if one.op == two.op == "key" or {one.op, two.op} == {"key", "key_at"}:
        if one.levels != two.levels:
            return "a random key that changes in each iteration of a loop on one side only (one mask for all iterations?)"
        return "random keys folded with other data"
    if one.op == two.op:
        if one.aval != two.aval:
            return f"{one.op} with another result type"
        return f"{one.op} with other parameters" if one.params != two.params else f"{one.op} of other operands"
    if "constraint" in (one.op, two.op):
        return "a sharding constraint on one side only"
    if "remat" in (one.op, two.op):
        return "rematerialised on one side only"
    return "another operation"


def place(terms: Terms, side: str, term: int, trail: Sequence[tuple[int, int]], index: int) -> Place:
    """Describe a term, with the nearest source line on the way to it."""
    source, via = "input", ""
    for candidate in [term, *(pair[index] for pair in reversed(trail))]:
        info = terms.origin.get((side, candidate))
        if info is not None:
            source, via = summarize(info), library(info)
            break
    return Place(describe(terms, term), source, via)


def summarize(info: Any) -> str:
    """File and line of the user's frame of an equation; frames within jax and flax are skipped where others are
    known.
    """
    from jax._src import source_info_util

    try:
        frames = list(source_info_util.user_frames(info.traceback))
    except (AttributeError, TypeError):
        return str(source_info_util.summarize(info))
    for frame in frames:
        if "/flax/" not in frame.file_name and not frame.file_name.startswith(_HERE):
            return f"{frame.file_name}:{frame.start_line} ({frame.function_name})"
    return str(source_info_util.summarize(info))


def library(info: Any) -> str:
    """File and function of the innermost frame within flax, "" where there is none."""
    from jax._src import source_info_util

    try:
        frames = list(source_info_util.user_frames(info.traceback))
    except (AttributeError, TypeError):
        return ""
    inside = next((f for f in frames if "/flax/" in f.file_name), None)
    return f"{inside.file_name.rsplit('/flax/', 1)[1]} {inside.function_name}" if inside else ""


def describe(terms: Terms, term: int, depth: int = 2) -> str:
    """A term in a few words: `add(mul(input params/scale, …), 1e-06)`."""
    node = terms[term]
    if node.op == "input":
        return f"input {label_text(node.params)}"
    if node.op == "constant":
        return _constant_text(node)
    typed = "" if node.aval is None else f":{node.aval[1]}{list(node.aval[0])}"
    if depth == 0:
        return f"{node.op}(…){typed}"
    inner = ", ".join(describe(terms, a, depth - 1) for a in node.args[:3]) + (", …" if len(node.args) > 3 else "")
    return f"{node.op}({inner}){typed}"


def _constant_text(node: Node) -> str:
    import numpy as np

    params = node.params
    if isinstance(params, tuple) and len(params) == 3 and node.aval is not None:
        dtype, shape, data = params
        if shape == () and isinstance(data, bytes):
            try:
                value = np.frombuffer(data, np.dtype(dtype))[0]
                return f"{value!s}:{dtype}"
            except (TypeError, ValueError):
                pass
    return "constant" + ("" if node.aval is None else f":{node.aval[1]}{list(node.aval[0])}")


def label_text(label: Any) -> str:
    return "/".join(map(str, label)) if isinstance(label, tuple) else str(label)


__all__ = ["Divergence", "Matching", "Place", "describe", "first_divergence", "label_text"]
