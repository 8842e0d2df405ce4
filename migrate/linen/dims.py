"""Symbolic sizes: polynomials over named atoms, compared by meaning and printed as Python.

A `Dim` is an integer polynomial: {monomial: coefficient}, a monomial being a sorted tuple of atoms. Equal dims
compare equal however they were built (`d * 3 + d == 4 * d`); what is not polynomial (`//`, `%`, `2 ** i`) is an atom
of its own, compared by its arguments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Union

Render = Callable[["Atom"], str | None]


@dataclasses.dataclass(frozen=True)
class Atom:
    """What a polynomial is made of.

    kind      args                meaning
    field     (name,)             a field of the module class: self.<name>
    input     (argument, index)   dimension `index` of an array argument; negative counts from the end
    rank      (argument,)         number of dimensions of an array argument
    lead      (argument, k)       product of all dimensions of an argument but the last k
    local     (name,)             a local variable of the generated constructor
    opaque    (text,)             any other Python expression; `deps` names the local variables that it reads
    floordiv, mod, max, min       (Dim, Dim)
    cond      (text, Dim, Dim)    first if the expression is true, else second
    """

    kind: str
    args: tuple
    deps: frozenset[str] = frozenset()

    def sort_key(self) -> str:
        return f"{self.kind}:{self.args!r}"

    def dependencies(self) -> frozenset[str]:
        """Local names that the value depends on, nested sizes included."""
        found = self.deps
        if self.kind == "local":
            found |= {self.args[0]}
        for arg in self.args:
            if isinstance(arg, Dim):
                found |= arg.dependencies()
        return found

    def atoms(self) -> frozenset[Atom]:
        found = frozenset({self})
        for arg in self.args:
            if isinstance(arg, Dim):
                found |= arg.atoms()
        return found


Monomial = tuple[Atom, ...]
DimLike = Union["Dim", int]

_SUM, _PRODUCT, _ATOM = 1, 2, 3  # precedence of the printed text


@dataclasses.dataclass(frozen=True)
class Dim:
    """An integer expression. `terms` is sorted; the empty monomial () holds the constant."""

    terms: tuple[tuple[Monomial, int], ...]

    # building --------------------------------------------------------------------------------------------------
    @staticmethod
    def of(value: DimLike) -> Dim:
        if isinstance(value, Dim):
            return value
        return Dim((((), value),)) if value else Dim(())

    @staticmethod
    def atom(kind: str, *args: object, deps: frozenset[str] = frozenset()) -> Dim:
        return Dim((((Atom(kind, args, deps),), 1),))

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
        return a if a == b else Dim.atom("cond", test, a, b, deps=deps)

    @staticmethod
    def _collect(terms: dict[Monomial, int]) -> Dim:
        kept = [(m, c) for m, c in terms.items() if c]
        return Dim(tuple(sorted(kept, key=lambda t: (-len(t[0]), [a.sort_key() for a in t[0]]))))

    # asking ----------------------------------------------------------------------------------------------------
    @property
    def value(self) -> int | None:
        """The number, where the size is a constant."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    def single_atom(self) -> Atom | None:
        """The atom, where the size is exactly one."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def atoms(self) -> frozenset[Atom]:
        """Every atom in it, nested ones too."""
        found: frozenset[Atom] = frozenset()
        for monomial, _ in self.terms:
            for atom in monomial:
                found |= atom.atoms()
        return found

    def dependencies(self) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for monomial, _ in self.terms:
            for atom in monomial:
                found |= atom.dependencies()
        return found

    # arithmetic ------------------------------------------------------------------------------------------------
    def __add__(self, other: DimLike) -> Dim:
        terms = dict(self.terms)
        for monomial, coefficient in Dim.of(other).terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Dim._collect(terms)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim._collect({m: -c for m, c in self.terms})

    def __sub__(self, other: DimLike) -> Dim:
        return self + (-Dim.of(other))

    def __rsub__(self, other: DimLike) -> Dim:
        return Dim.of(other) - self

    def __mul__(self, other: DimLike) -> Dim:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in Dim.of(other).terms:
                monomial = tuple(sorted([*m1, *m2], key=Atom.sort_key))
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Dim._collect(terms)

    __rmul__ = __mul__

    def exact_div(self, other: DimLike) -> Dim | None:
        """The quotient where division is exact as polynomials by a single term, else None."""
        divisor = Dim.of(other)
        if divisor == self:
            return Dim.of(1)
        if len(divisor.terms) != 1:
            return None
        monomial, coefficient = divisor.terms[0]
        out: dict[Monomial, int] = {}
        for own, c in self.terms:
            left = list(own)
            for atom in monomial:
                if atom not in left:
                    return None
                left.remove(atom)
            if c % coefficient:
                return None
            out[tuple(left)] = c // coefficient
        return Dim._collect(out)

    def __floordiv__(self, other: DimLike) -> Dim:
        """Python's floor division; sizes and divisors are taken to be positive."""
        divisor = Dim.of(other)
        if self.value is not None and divisor.value:
            return Dim.of(self.value // divisor.value)
        if divisor.value == 1:
            return self
        exact = self.exact_div(divisor)
        if exact is not None:
            return exact
        inner = self.single_atom()
        if inner is not None and inner.kind == "floordiv":  # (a // b) // c == a // (b * c)
            return inner.args[0] // (inner.args[1] * divisor)
        if divisor.value is not None and divisor.value > 0:  # (k*c + r) // c == k + r // c
            whole = {m: c for m, c in self.terms if c % divisor.value == 0 and m != ()}
            if whole:
                rest = Dim._collect({m: c for m, c in self.terms if m not in whole})
                lifted = Dim._collect({m: c // divisor.value for m, c in whole.items()})
                return lifted + rest // divisor
            constant = dict(self.terms).get((), 0)
            shift = constant // divisor.value
            if shift and constant:
                return (self - shift * divisor.value) // divisor + shift
        return Dim.atom("floordiv", self, divisor)

    def __rfloordiv__(self, other: DimLike) -> Dim:
        return Dim.of(other) // self

    def ceil_div(self, other: DimLike) -> Dim:
        """Smallest integer not below self / other, printed as `-(-a // b)`."""
        divisor = Dim.of(other)
        if self.value is not None and divisor.value:
            return Dim.of(-(-self.value // divisor.value))
        exact = self.exact_div(divisor)
        if exact is not None:
            return exact
        if divisor.value == 1:
            return self
        inner = self.single_atom()
        if inner is not None and inner.kind == "ceildiv":
            return inner.args[0].ceil_div(inner.args[1] * divisor)
        return Dim.atom("ceildiv", self, divisor)

    def __mod__(self, other: DimLike) -> Dim:
        divisor = Dim.of(other)
        if self.value is not None and divisor.value:
            return Dim.of(self.value % divisor.value)
        if self.exact_div(divisor) is not None:
            return Dim.of(0)
        return Dim.atom("mod", self, divisor)

    def maximum(self, other: DimLike) -> Dim:
        return self._extreme("max", other, max)

    def minimum(self, other: DimLike) -> Dim:
        return self._extreme("min", other, min)

    def _extreme(self, kind: str, other: DimLike, pick: Callable[[int, int], int]) -> Dim:
        right = Dim.of(other)
        if self == right:
            return self
        difference = (self - right).value
        if difference is not None:
            return self if pick(difference, 0) == difference else right
        return Dim.atom(kind, *sorted((self, right), key=str))

    def substitute(self, change: Callable[[Atom], Dim | None]) -> Dim:
        """Replace atoms, innermost first; None keeps an atom."""
        total = Dim.of(0)
        for monomial, coefficient in self.terms:
            product = Dim.of(coefficient)
            for atom in monomial:
                product = product * _substitute_atom(atom, change)
            total = total + product
        return total

    # printing --------------------------------------------------------------------------------------------------
    def text(self, render: Render | None = None) -> str:
        """Python source. `render` gives the text of an atom (None: the default)."""
        return self._text(render)[0]

    def factor_text(self, render: Render | None = None) -> str:
        """Python source that can stand as a factor: in brackets where needed."""
        text, level = self._text(render)
        return text if level >= _PRODUCT else f"({text})"

    def __str__(self) -> str:
        return self.text()

    def _text(self, render: Render | None) -> tuple[str, int]:
        if not self.terms:
            return "0", _ATOM
        pieces: list[str] = []
        level = _SUM
        for monomial, coefficient in sorted(self.terms, key=lambda t: t[1] < 0):
            text, level = _monomial_text(monomial, abs(coefficient), render)
            sign = "-" if coefficient < 0 else "+"
            pieces.append(text if not pieces and sign == "+" else f"{sign} {text}" if pieces else f"-{text}")
        if len(pieces) == 1 and self.terms[0][1] > 0:
            return pieces[0], level
        return " ".join(pieces), _SUM


def _substitute_atom(atom: Atom, change: Callable[[Atom], Dim | None]) -> Dim:
    if any(isinstance(arg, Dim) for arg in atom.args):
        args = [arg.substitute(change) if isinstance(arg, Dim) else arg for arg in atom.args]
        if atom.kind == "floordiv":
            return args[0] // args[1]
        if atom.kind == "ceildiv":
            return args[0].ceil_div(args[1])
        if atom.kind == "mod":
            return args[0] % args[1]
        if atom.kind in ("max", "min"):
            return args[0].maximum(args[1]) if atom.kind == "max" else args[0].minimum(args[1])
        if atom.kind == "cond":
            return Dim.cond(args[0], args[1], args[2], atom.deps)
        atom = Atom(atom.kind, tuple(args), atom.deps)
    changed = change(atom)
    return Dim((((atom,), 1),)) if changed is None else changed


def _monomial_text(monomial: Monomial, coefficient: int, render: Render | None) -> tuple[str, int]:
    factors = [str(coefficient)] if coefficient != 1 or not monomial else []
    levels: list[int] = [_ATOM] if factors else []
    counted: dict[Atom, int] = {}
    for atom in monomial:
        counted[atom] = counted.get(atom, 0) + 1
    ordered = sorted(counted.items(), key=lambda item: item[0].kind in ("floordiv", "mod"), reverse=False)
    for atom, power in ordered:
        text, level = _atom_text(atom, render)
        if power > 1:
            factors.append(f"{text if level == _ATOM else f'({text})'} ** {power}")
            levels.append(_PRODUCT)
        else:
            # `a * b // c` would divide the product: a quotient is bracketed unless it stands alone.
            alone = len(counted) == 1 and coefficient == 1
            factors.append(text if level == _ATOM or alone else f"({text})")
            levels.append(level)
    if len(factors) == 1:
        return factors[0], levels[0]
    return " * ".join(factors), _PRODUCT


def _atom_text(atom: Atom, render: Render | None) -> tuple[str, int]:
    custom = render(atom) if render else None
    if custom is not None:
        return custom, _level_of(custom)
    kind, args = atom.kind, atom.args
    if kind == "field":
        return f"self.{args[0]}", _ATOM
    if kind == "input":
        return f"{args[0]}.shape[{args[1]}]", _ATOM
    if kind == "rank":
        return f"{args[0]}.ndim", _ATOM
    if kind == "lead":
        return f"math.prod({args[0]}.shape[:-{args[1]}])" if args[1] else f"math.prod({args[0]}.shape)", _ATOM
    if kind in ("local", "opaque"):
        return str(args[0]), _level_of(str(args[0]))
    if kind == "floordiv":
        return f"{args[0].factor_text(render)} // {_divisor(args[1], render)}", _PRODUCT
    if kind == "mod":
        return f"{args[0].factor_text(render)} % {_divisor(args[1], render)}", _PRODUCT
    if kind == "ceildiv":
        return f"-(-{args[0].factor_text(render)} // {_divisor(args[1], render)})", _ATOM
    if kind in ("max", "min"):
        return f"{kind}({args[0].text(render)}, {args[1].text(render)})", _ATOM
    if kind == "cond":
        return f"({args[1].text(render)} if {args[0]} else {args[2].text(render)})", _ATOM
    raise ValueError(f"unknown kind of atom: {kind}")


def _divisor(dim: Dim, render: Render | None) -> str:
    text, level = dim._text(render)
    return text if level == _ATOM else f"({text})"


def _level_of(text: str) -> int:
    """Precedence of opaque text: a name, call, index or bracket is an atom; anything else is bracketed when nested."""
    depth = 0
    for char in text:
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == " " and depth == 0:
            return _SUM
    return _ATOM
