"""Products that were multiplied out, as products again: `a * b - 4 * a - 4 * b + 16` is `(a - 4) * (b - 4)`.

What flattens an image multiplies its sizes, and each of them has a number taken away by convolutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .dims import Atom, Monomial

_LEAST = 3  # terms of a sum that is worth it
_MOST = 10_000  # beyond that the divisors of a number are not looked for
Terms = Mapping["Monomial", int]


def factors_of(terms: Terms) -> tuple[Terms, list[tuple[Atom, int]]] | None:
    """One term, and the sums of an atom and a number that it is multiplied with; None where a sum is no such product."""
    if len(terms) < _LEAST:
        return None
    sums: list[tuple[Atom, int]] = []
    while len(terms) > 1:
        found = next(filter(None, (_divided(terms, atom) for atom in dict.fromkeys(a for m in terms for a in m))), None)
        if found is None:
            return None
        terms, factor = found
        sums.append(factor)
    return terms, sums


def _divided(terms: Terms, atom: Atom) -> tuple[Terms, tuple[Atom, int]] | None:
    """The terms divided by the sum of an atom and some number, where that leaves no rest: Horner's rule."""
    degree = max(monomial.count(atom) for monomial in terms)
    rows: list[dict[Monomial, int]] = [{} for _ in range(degree + 1)]  # what the powers of the atom are multiplied with
    for monomial, coefficient in terms.items():
        rows[monomial.count(atom)][tuple(a for a in monomial if a != atom)] = coefficient
    first = next(iter(rows[degree]))
    for number in _numbers(rows, first):
        row, quotient = rows[degree], list[dict["Monomial", int]]()
        for lower in reversed(rows[:-1]):
            quotient.append(row)
            row = {m: lower.get(m, 0) - number * row.get(m, 0) for m in lower.keys() | row.keys()}
        if not any(row.values()):
            powers = range(degree - 1, -1, -1)
            made = {(*m, *(atom,) * power): c for power, part in zip(powers, quotient) for m, c in part.items() if c}
            return made, (atom, number)
    return None


def _numbers(rows: list[dict[Monomial, int]], first: Monomial) -> list[int]:
    """The numbers that may stand beside the atom: whole ones, by what one product has with and without it."""
    highest, lowest = rows[-1][first], rows[0].get(first, 0)
    if not lowest or lowest % highest:
        return []
    ratio = lowest // highest
    if len(rows) == 2:
        return [ratio]
    sizes = [size for size in range(1, abs(ratio) + 1) if ratio % size == 0] if abs(ratio) < _MOST else []
    return [number for size in sizes for number in (size, -size)]


__all__ = ["factors_of"]
