"""How sizes read: a `Dim` as Python source, with brackets only where an operand needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .constant_text import condition
from .dim_factors import Terms, factors_of

if TYPE_CHECKING:
    from .dims import Atom, Dim, Monomial

Render = Callable[["Atom"], str | None]
_SUM, _QUOTIENT, _PRODUCT, ATOM = 1, 2, 3, 4  # precedence of the printed text
PLAIN = frozenset({"field", "input", "local"})  # kinds of atoms that hold no sizes themselves


def text_of(dim: Dim, render: Render | None) -> tuple[str, int]:
    """Python source of a size, and how tightly it binds."""
    if not dim.terms:
        return "0", ATOM
    alone = dim.single_atom()
    if alone is not None and alone.kind in PLAIN:
        return _atom_text(alone, render)
    shifted = _with_shift(dim)
    if shifted is not None:
        return _floordiv_text(*shifted, render)
    place = {atom: index for index, atom in enumerate(dim.order)}
    product = factors_of(dict(dim.terms))
    if product is not None:
        return _product_text(*product, place, render)
    last = len(place)

    def key(term: tuple[Monomial, int]) -> tuple[bool, bool, int]:
        monomial, coefficient = term
        return monomial == (), coefficient < 0, min((place.get(a, last) for a in monomial), default=last)

    terms = sorted(dim.terms, key=key)
    if terms[0][1] < 0:  # `9 - a` reads better than `-a + 9`
        terms.sort(key=lambda t: t[1] < 0)
    pieces: list[str] = []
    level = _SUM
    for monomial, coefficient in terms:
        text, level = _monomial_text(monomial, abs(coefficient), place, render)
        if (level == _SUM and len(terms) > 1) or (level < _PRODUCT and not pieces and coefficient < 0):
            text = f"({text})"
        sign = "-" if coefficient < 0 else "+"
        pieces.append(text if not pieces and sign == "+" else f"{sign} {text}" if pieces else f"-{text}")
    if len(pieces) == 1 and terms[0][1] > 0:
        return pieces[0], level
    return " ".join(pieces), _SUM


def _product_text(
    term: Terms, sums: list[tuple[Atom, int]], place: dict[Atom, int], render: Render | None
) -> tuple[str, int]:
    """The term and the sums, each in brackets where it needs them."""
    from .dims import Dim

    ((monomial, coefficient),) = term.items()
    text, level = _monomial_text(monomial, coefficient, place, render)
    alone = [text if level > _SUM else f"({text})"] if (monomial, coefficient) != ((), 1) else []
    ordered = sorted(sums, key=lambda factor: place.get(factor[0], len(place)))
    factors = [(Dim.atom(a.kind, *a.args, deps=a.deps) + number).operand_text(render) for a, number in ordered]
    return " * ".join([*alone, *factors]), _PRODUCT


def _monomial_text(monomial: Monomial, coefficient: int, place: dict[Atom, int], render: Render | None) -> tuple[str, int]:
    factors = [str(coefficient)] if coefficient != 1 or not monomial else []
    levels: list[int] = [ATOM] if factors else []
    counted: dict[Atom, int] = {}
    for atom in sorted(monomial, key=lambda a: place.get(a, len(place))):
        counted[atom] = counted.get(atom, 0) + 1
    for atom, power in counted.items():
        text, level = _atom_text(atom, render)
        if power > 1:
            factors.append(f"{text if level == ATOM else f'({text})'} ** {power}")
            levels.append(_PRODUCT)
        else:
            # `a * b // c` would divide the product: a quotient is bracketed unless it stands alone.
            alone = len(counted) == 1 and coefficient == 1
            factors.append(text if level == ATOM or alone else f"({text})")
            levels.append(level)
    if len(factors) == 1:
        return factors[0], levels[0]
    return " * ".join(factors), _PRODUCT


def _atom_text(atom: Atom, render: Render | None) -> tuple[str, int]:
    custom = render(atom) if render else None
    if custom is not None:
        return custom, level_of(custom)
    kind, args = atom.kind, atom.args
    if kind == "field":
        return f"self.{args[0]}", ATOM
    if kind == "input":
        return f"{args[0]}.shape[{args[1]}]", ATOM
    if kind == "rank":
        return f"{args[0]}.ndim", ATOM
    if kind == "item":
        return f"self.{args[0]}[{args[1]}].{args[2]}", ATOM
    if kind == "lead":
        start = str(args[2]) if len(args) > 2 and args[2] else ""
        stop = f"-{args[1]}" if args[1] else ""
        return f"math.prod({args[0]}.shape{f'[{start}:{stop}]' if start or stop else ''})", ATOM
    if kind in ("local", "opaque"):
        return str(args[0]), level_of(str(args[0]))
    if kind == "floordiv":
        return _floordiv_text(args[0], args[1], render)
    if kind == "mod":
        return f"{args[0].operand_text(render)} % {args[1].operand_text(render)}", _QUOTIENT
    if kind in ("max", "min"):
        return f"{kind}({', '.join(d.text(render) for d in args)})", ATOM
    if kind == "cond":
        return f"({args[1].text(render)} if {condition(args[0])} else {args[2].text(render)})", ATOM
    if kind == "byrank":
        return f"({args[2].text(render)} if {args[0]}.ndim == {args[1]} else {args[3].text(render)})", ATOM
    if kind == "expr":
        alone = str(args[0]).endswith("({0})")  # the argument of a function
        text = str(args[0]).format(*[d.text(render) if alone else d.operand_text(render) for d in args[1:]])
        return text, level_of(text)
    raise ValueError(f"unknown kind of atom: {kind}")


def _floordiv_text(above: Dim, below: Dim, render: Render | None) -> tuple[str, int]:
    if below.value is not None and below.value > 2 and above.constant == below.value - 1:
        rounded_up = above - above.constant  # (h + 6) // 7 reads better as what it is: h / 7, rounded up
        return f"-(-{rounded_up.operand_text(render)} // {below.value})", _SUM
    return f"{above.operand_text(render)} // {below.operand_text(render)}", _QUOTIENT


def _with_shift(dim: Dim) -> tuple[Dim, Dim] | None:
    """(h + 1) // 2 - 1 reads better as (h - 1) // 2: the dividend and the divisor."""
    atom = (dim - dim.constant).single_atom() if dim.constant < 0 else None
    if atom is None or atom.kind != "floordiv":
        return None
    above: Dim = atom.args[0]
    below: Dim = atom.args[1]
    if below.value is None or above.constant <= 0:
        return None
    return above + dim.constant * below, below


def level_of(text: str) -> int:
    """Precedence of opaque text: a name, call, index or bracket is an atom; anything else is bracketed when nested."""
    depth = 0
    for index, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif depth == 0 and (char == " " or (char == "-" and index == 0)):
            return _SUM
    return ATOM
