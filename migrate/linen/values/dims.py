"""Symbolic sizes: polynomials over named atoms, compared by meaning and printed as Python.

A `Dim` is an integer polynomial: {monomial: coefficient}, a monomial being a sorted tuple of atoms. Equal dims
compare equal however they were built (`d * 3 + d == 4 * d`, `(h + 1) // 2 == h.ceil_div(2)`); what is not polynomial
(`//`, `%`, `2 ** i`) is an atom of its own, compared by its arguments.

Assumed throughout: dimensions of arrays are at least 1, divisors are positive, and fields that take part in sizes are
not negative.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Union

from ...frozen import frozen
from . import dim_text
from .constant_text import number_of, settled
from .dim_text import PLAIN, Render


@frozen
class Atom:
    """What a polynomial is made of.

    kind      args                meaning
    field     (name,)             a field of the module class: self.<name>
    input     (argument, index)   dimension `index` of an array argument; negative counts from the end
    rank      (argument,)         number of dimensions of an array argument
    lead      (argument, k[, s])  product of all dimensions of an argument but the last k (and the first s)
    local     (name,)             a local variable of the generated constructor
    item      (field, i, name)    what item i of a list of modules that a field holds was made with: self.<field>[i].<name>
    opaque    (text,)             any other Python expression; `deps` names the local variables that it reads
    floordiv, mod                 (Dim, Dim)
    max, min                      (Dim, Dim, ...)
    cond      (text, Dim, Dim)    first if the expression is true, else second
    expr      (template, Dim ...) Python source with {0}, {1} ... for the sizes, each bracketed as an operand
    """

    kind: str
    args: tuple
    deps: frozenset[str] = frozenset()

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.args, self.deps))

    def __hash__(self) -> int:
        return self._hash  # what it is made of is hashed once only

    @functools.cached_property
    def sort_key(self) -> str:
        return f"{self.kind}:{self.args!r}"

    def dependencies(self) -> frozenset[str]:
        """Local names that the value depends on, nested sizes included."""
        return self._dependencies

    @functools.cached_property
    def _dependencies(self) -> frozenset[str]:
        first = self.args[0]
        found = self.deps
        if self.kind == "local":
            found |= {first}
        elif isinstance(first, str) and first[:1] == "=":  # a shape that the constructor has under a name of its own
            found |= {name for name in (first[1:],) if name.isidentifier()}
        return found.union(*(arg.dependencies() for arg in self.args if isinstance(arg, Dim)))

    def atoms(self) -> frozenset[Atom]:
        return self._atoms

    @functools.cached_property
    def _atoms(self) -> frozenset[Atom]:
        return frozenset({self}).union(*(arg.atoms() for arg in self.args if isinstance(arg, Dim)))


Monomial = tuple[Atom, ...]
DimLike = Union["Dim", int]


@frozen
class Dim:
    """An integer expression. `terms` is sorted; the empty monomial () holds the constant.

    `order` lists the atoms as they were first written: printing follows it, equality does not look at it.
    """

    terms: tuple[tuple[Monomial, int], ...]
    order: tuple[Atom, ...] = dataclasses.field(default=(), compare=False, repr=False)

    # building --------------------------------------------------------------------------------------------------
    @staticmethod
    def of(value: DimLike) -> Dim:
        if isinstance(value, Dim):
            return value
        return Dim((((), value),)) if value else Dim(())

    @staticmethod
    def atom(kind: str, *args: object, deps: frozenset[str] = frozenset()) -> Dim:
        made = Atom(kind, args, deps)
        return Dim((((made,), 1),), (made,))

    @staticmethod
    def field(name: str) -> Dim:
        return Dim.atom("field", name)

    @staticmethod
    def input(argument: str, index: int) -> Dim:
        return Dim.atom("input", argument, index)

    @staticmethod
    def local(name: str) -> Dim:
        return Dim.atom("local", name)

    @staticmethod
    def opaque(text: str, deps: frozenset[str] = frozenset()) -> Dim:
        return Dim.atom("opaque", text, deps=deps)

    @staticmethod
    def cond(test: str, then: DimLike, other: DimLike, deps: frozenset[str] = frozenset()) -> Dim:
        a, b = Dim.of(then), Dim.of(other)
        known = settled(test)
        if known is not None:
            return a if known else b
        return a if a == b else Dim.atom("cond", test, a, b, deps=deps)

    @staticmethod
    def by_rank(argument: str, rank: int, then: DimLike, other: DimLike) -> Dim:
        """One size where an array has so many dimensions, another where it has not."""
        return Dim.atom("byrank", argument, rank, Dim.of(then), Dim.of(other))

    @staticmethod
    def expr(template: str, *dims: Dim) -> Dim:
        """Any integer expression; a number where all the sizes are and it can be computed."""
        number = evaluate(template, dims)
        return Dim.of(number) if isinstance(number, int) else Dim.atom("expr", template, *dims)

    @staticmethod
    def _collect(terms: dict[Monomial, int], order: tuple[Atom, ...] = ()) -> Dim:
        kept = [(m, c) for m, c in terms.items() if c]
        conditional = [(m[0], c) for m, c in kept if len(m) == 1 and m[0].kind == "cond"]
        if len(conditional) > 1 and len({a.args[0] for a, _ in conditional}) == 1:
            then, other = (sum((a.args[side] * c for a, c in conditional), Dim.of(0)) for side in (1, 2))
            if then == other:  # what one has more on one side of the condition, the other has on the other
                rest = {m: c for m, c in kept if not (len(m) == 1 and m[0].kind == "cond")}
                return Dim._collect(rest, order) + then
        if len(kept) > 1:
            kept.sort(key=lambda t: (-len(t[0]), [a.sort_key for a in t[0]]))
        return Dim(tuple(kept), order)

    def _merged_order(self, other: Dim) -> tuple[Atom, ...]:
        if not other.order or self.order == other.order:
            return self.order
        return (*self.order, *[a for a in other.order if a not in self.order])

    # asking ----------------------------------------------------------------------------------------------------
    @property
    def value(self) -> int | None:
        """The number, where the size is a constant."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def constant(self) -> int:
        """The term without atoms."""
        return self.terms[-1][1] if self.terms and self.terms[-1][0] == () else 0

    def single_atom(self) -> Atom | None:
        """The atom, where the size is exactly one."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def atoms(self) -> frozenset[Atom]:
        """Every atom in it, nested ones too."""
        return self._atoms

    @functools.cached_property
    def _atoms(self) -> frozenset[Atom]:
        return frozenset().union(*[atom.atoms() for monomial, _ in self.terms for atom in monomial])

    @functools.cached_property
    def asks(self) -> bool:
        """Is one of two sizes in it, by a condition?"""
        return any(atom.kind == "cond" for atom in self._atoms)

    def dependencies(self) -> frozenset[str]:
        """The local names that it is made of."""
        return self._dependencies

    @functools.cached_property
    def _dependencies(self) -> frozenset[str]:
        return frozenset().union(*[atom.dependencies() for monomial, _ in self.terms for atom in monomial])

    def lower_bound(self, *, fields: bool = True) -> int | None:
        """A number that the size is never below, where one is known.

        `fields=False`: without the assumption that fields and local variables are not negative.
        """
        total = 0
        for monomial, coefficient in self.terms:
            if coefficient < 0 and monomial:
                return None
            bound = 1
            for atom in monomial:
                low = _atom_lower_bound(atom, fields)
                if low is None:
                    return None
                bound *= low
            total += coefficient * bound
        return total

    # arithmetic ------------------------------------------------------------------------------------------------
    def __add__(self, other: DimLike) -> Dim:
        right = Dim.of(other)
        terms = dict(self.terms)
        for monomial, coefficient in right.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Dim._collect(terms, self._merged_order(right))

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim(tuple((m, -c) for m, c in self.terms), self.order)

    def __sub__(self, other: DimLike) -> Dim:
        return self + (-Dim.of(other))

    def __rsub__(self, other: DimLike) -> Dim:
        return Dim.of(other) - self

    def __mul__(self, other: DimLike) -> Dim:
        right = Dim.of(other)
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in right.terms:
                monomial = _product(m1, m2)
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Dim._collect(terms, self._merged_order(right))

    __rmul__ = __mul__

    def exact_div(self, other: DimLike) -> Dim | None:
        """The quotient where division is exact as polynomials, else None."""
        divisor = Dim.of(other)
        if divisor == self:
            return Dim.of(1)
        if not divisor.terms:
            return None
        order = self._merged_order(divisor)
        head, head_coefficient = divisor.terms[0]
        quotient: dict[Monomial, int] = {}
        rest = self
        for _ in range(64):  # long division; every step removes the leading term of what is left
            if not rest.terms:
                return Dim._collect(quotient, order)
            monomial, coefficient = rest.terms[0]
            left = _without(monomial, head)
            if left is None or coefficient % head_coefficient:
                return None
            factor = coefficient // head_coefficient
            quotient[left] = quotient.get(left, 0) + factor
            rest = rest - Dim(((left, factor),)) * divisor
        return None

    def __floordiv__(self, other: DimLike) -> Dim:
        """Python's floor division; divisors are taken to be positive."""
        divisor = Dim.of(other)
        if self.value is not None and divisor.value:
            return Dim.of(self.value // divisor.value)
        if divisor.value == 1 or not self.terms:
            return self
        exact = self.exact_div(divisor)
        if exact is not None:
            return exact
        common = _common_factor([self, divisor])
        if common.value != 1:  # (g * a) // (g * b) == a // b
            above, below = self.exact_div(common), divisor.exact_div(common)
            assert above is not None and below is not None
            return above // below
        if len(divisor.terms) == 1 and (divisor.value is None or divisor.value > 0):
            # (q * d + r) // d == q + r // d, for every term that d divides; a constant goes over modulo d
            lifted, rest = Dim.of(0), Dim.of(0)
            for monomial, coefficient in self.terms:
                term = Dim(((monomial, coefficient),), tuple(a for a in self.order if a in monomial))
                part = term.exact_div(divisor)
                if part is None and monomial == () and divisor.value:
                    part, term = Dim.of(coefficient // divisor.value), Dim.of(coefficient % divisor.value)
                    rest = rest + term
                elif part is None:
                    rest = rest + term
                lifted = lifted + (part if part is not None else 0)
            if lifted.terms:
                return lifted + rest // divisor
        inner = (self - self.constant).single_atom()
        if inner is not None and inner.kind == "floordiv":
            a: Dim = inner.args[0]  # (a // b + c) // d == (a + b * c) // (b * d)
            b: Dim = inner.args[1]
            if not self.constant or (b.value is not None and divisor.value is not None):
                return (a + b * self.constant) // (b * divisor)
        return self._quotient("floordiv", divisor)

    def _quotient(self, kind: str, divisor: Dim) -> Dim:
        made = Atom(kind, (self, divisor))
        return Dim((((made,), 1),), (*self._merged_order(divisor), made))

    def __rfloordiv__(self, other: DimLike) -> Dim:
        return Dim.of(other) // self

    def ceil_div(self, other: DimLike) -> Dim:
        """Smallest integer not below self / other."""
        return (self + Dim.of(other) - 1) // other

    def __mod__(self, other: DimLike) -> Dim:
        divisor = Dim.of(other)
        if self.value is not None and divisor.value:
            return Dim.of(self.value % divisor.value)
        rest = self
        if len(divisor.terms) == 1:
            for monomial, coefficient in self.terms:
                term = Dim(((monomial, coefficient),))
                if term.exact_div(divisor) is not None:
                    rest = rest - term
                elif monomial == () and divisor.value is not None and divisor.value > 0:
                    rest = rest - term + coefficient % divisor.value
        if rest.value is not None and divisor.value:
            return Dim.of(rest.value % divisor.value)
        if not rest.terms or rest.exact_div(divisor) is not None:
            return Dim.of(0)
        return rest._quotient("mod", divisor)

    def maximum(self, other: DimLike) -> Dim:
        return _extreme("max", [self, Dim.of(other)])

    def minimum(self, other: DimLike) -> Dim:
        return _extreme("min", [self, Dim.of(other)])

    def substitute(self, change: Callable[[Atom], Dim | None]) -> Dim:
        """Replace atoms, innermost first; None keeps an atom."""
        if self.value is not None:
            return self
        alone = self.single_atom()
        if alone is not None and alone.kind in PLAIN and change(alone) is None:  # by far the most common
            return self
        total = Dim.of(0)
        for monomial, coefficient in self.terms:
            product = Dim.of(coefficient)
            for atom in monomial:
                product = product * _substitute_atom(atom, change)
            total = total + product
        kept = [a for a in self.order if a in total.order]
        return Dim(total.terms, (*kept, *[a for a in total.order if a not in kept]))

    # printing --------------------------------------------------------------------------------------------------
    def text(self, render: Render | None = None) -> str:
        """Python source. `render` gives the text of an atom (None: the default)."""
        return dim_text.text_of(self, render)[0]

    def operand_text(self, render: Render | None = None) -> str:
        """Python source that can stand anywhere in an expression."""
        text, level = dim_text.text_of(self, render)
        return text if level == dim_text.ATOM else f"({text})"

    def __str__(self) -> str:
        return self.text()


def evaluate(template: str, dims: Iterable[Dim]) -> int | float | None:
    """The number that a template gives, where all its sizes are numbers."""
    values = [d.value for d in dims]
    if any(v is None for v in values):
        return None
    # A negative number is bracketed: `{0} ** 2`.
    return number_of(template.format(*[f"({v})" if v is not None and v < 0 else v for v in values]))


def _product(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    return tuple(sorted((*a, *b), key=lambda atom: atom.sort_key))


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    left = list(monomial)
    for atom in factor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _common_factor(dims: list[Dim]) -> Dim:
    """The largest single term that divides all of them."""
    terms = [term for d in dims for term in d.terms]
    if not terms:
        return Dim.of(1)
    shared = list(terms[0][0])
    for monomial, _ in terms[1:]:
        left, kept = list(monomial), []
        for atom in shared:
            if atom in left:
                left.remove(atom)
                kept.append(atom)
        shared = kept
    return Dim(((tuple(shared), math.gcd(*[c for _, c in terms])),))


_OF_FIELD = re.compile(r"self(\.[A-Za-z_]\w*)+")  # `self.config.heads`: a size like any field


def _atom_lower_bound(atom: Atom, fields: bool = True) -> int | None:
    kind = atom.kind
    if kind in ("input", "lead"):
        return 1
    if kind in ("field", "local") or (kind == "opaque" and _OF_FIELD.fullmatch(atom.args[0])):
        return 0 if fields else None
    if kind in ("rank", "mod"):
        return 0
    if kind == "floordiv":
        low, divisor = atom.args[0].lower_bound(fields=fields), atom.args[1].value
        if low is None or low < 0:
            return None
        return low // divisor if divisor else 0
    if kind in ("max", "min", "cond", "byrank"):
        lows = [d.lower_bound(fields=fields) for d in atom.args if isinstance(d, Dim)]
        known = [low for low in lows if low is not None]
        if kind == "max":
            return max(known, default=None)
        return min(known) if len(known) == len(lows) else None
    return None


def _extreme(kind: str, dims: list[Dim]) -> Dim:
    """max or min of several sizes: nested ones are flattened, what can never win is left out."""
    flat: list[Dim] = []
    for dim in dims:
        atom = dim.single_atom()
        flat += atom.args if atom is not None and atom.kind == kind else [dim]
    kept: list[Dim] = []
    for dim in flat:
        if any(_beats(kind, other, dim) for other in kept):
            continue
        kept = [other for other in kept if not _beats(kind, dim, other)] + [dim]
    if len(kept) == 1:
        return kept[0]
    made = Atom(kind, tuple(sorted(kept, key=repr)))
    order: tuple[Atom, ...] = ()
    for dim in kept:
        order = Dim((), order)._merged_order(dim)
    return Dim((((made,), 1),), (*order, made))


def _beats(kind: str, a: Dim, b: Dim) -> bool:
    small, large = (b, a) if kind == "max" else (a, b)
    lows = [(large - other).lower_bound() for other in (small, _divided(small)) if other is not None]
    return any(low is not None and low >= 0 for low in lows)


def _divided(dim: Dim) -> Dim | None:
    """The size of which another is a part: n of n // 2, which is no larger."""
    atom = dim.single_atom()
    if atom is None or atom.kind not in ("floordiv", "ceildiv") or (atom.args[1].value or 0) < 1:
        return None
    whole: Dim = atom.args[0]
    return whole if (whole.lower_bound() or 0) >= 0 and whole.lower_bound() is not None else None


def _substitute_atom(atom: Atom, change: Callable[[Atom], Dim | None]) -> Dim:
    if any(isinstance(arg, Dim) for arg in atom.args):
        args: list[Any] = [arg.substitute(change) if isinstance(arg, Dim) else arg for arg in atom.args]
        dims: list[Dim] = [arg for arg in args if isinstance(arg, Dim)]
        if atom.kind == "floordiv":
            return dims[0] // dims[1]
        if atom.kind == "mod":
            return dims[0] % dims[1]
        if atom.kind in ("max", "min"):
            return _extreme(atom.kind, dims)
        if atom.kind == "cond":
            changed = change(Atom("cond", tuple(args), atom.deps))
            return Dim.cond(args[0], args[1], args[2], atom.deps) if changed is None else changed
        if atom.kind == "expr":
            return Dim.expr(*args)
        atom = Atom(atom.kind, tuple(args), atom.deps)
    changed = change(atom)
    return Dim((((atom,), 1),), (atom,)) if changed is None else changed
