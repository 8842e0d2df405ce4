"""`int(self.width * self.ratio)`: sizes are computed as integers, but what a field holds may be a fraction.

Rounding what is an integer for certain changes nothing and is left out; anything else is rounded in the constructor as
the code did it. There the terms of a size may stand in another order, which for fractions can give another last digit:
longer expressions of fractions are said in the code's own words, or are not known.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from .arguments import Arguments
from .dims import Atom, Dim
from .sites import Abs, Static
from .values import Int, Real, Unknown, Value

ROUNDING = frozenset({"int", "round", "math.floor", "math.ceil", "math.trunc"})
_INTEGERS = re.compile(r"(int|len|round|math\.(floor|ceil|trunc|prod))\(|-?\d+$|[\w.]+\.(shape\[|ndim$|size$)")
_INTEGER_TEMPLATES = re.compile(r"(int|round|math\.(floor|ceil))\(")


def rounded(run: Any, name: str, arguments: Arguments, env: Any) -> Abs | None:
    """What a call of a rounding function gives; None where rounding changes nothing, or for what is no number."""
    if len(arguments.positional) != 1 or arguments.keywords or arguments.starred():
        return None
    value = arguments.positional[0][1].value
    number: Value = run.plain(value) if isinstance(value, Static) else value
    dims = (number.dim,) if isinstance(number, Int) else number.dims if isinstance(number, Real) else ()
    if all(is_integral(run, dim) for dim in dims):
        return None
    if not all(_is_exact(dim) for dim in dims):
        if arguments.static:
            return run._static_text(arguments.node, True, arguments.flags, env)  # type: ignore[no-any-return]
        return Abs(Unknown("a rounded product of fractions"), False, arguments.flags)
    if isinstance(number, Int):
        function = name.replace("math.trunc", "int")
        return Abs(Int(Dim.expr(f"{function}({{0}})", number.dim)), arguments.static, arguments.flags)
    return None


def is_integral(run: Any, dim: Dim) -> bool:
    """Is the size an integer, whatever the fields hold?"""
    return all(_is_integer(run, atom) for monomial, _ in dim.terms for atom in monomial)


def _is_integer(run: Any, atom: Atom) -> bool:
    if atom.kind in ("input", "rank", "byrank", "lead"):
        return True
    if atom.kind == "field":
        return _type(run, atom.args[0]) in ("int", "Optional[int]", "int | None")
    if atom.kind == "local":
        return atom.args[0] in run.trackers
    if atom.kind == "opaque":
        return _INTEGERS.match(str(atom.args[0])) is not None or _is_item(run, str(atom.args[0]))
    if atom.kind == "expr" and _INTEGER_TEMPLATES.match(str(atom.args[0])) is not None:
        return True
    return all(is_integral(run, arg) for arg in atom.args if isinstance(arg, Dim))


def _is_item(run: Any, text: str) -> bool:
    """Is it an item of a field that is a sequence of integers, by its type?"""
    item = re.fullmatch(r"self\.(\w+)\[[^\[\]]+\]", text)
    said = _type(run, item[1]) if item else ""
    return "int" in re.findall(r"\w+", said) and "float" not in said


def _type(run: Any, name: str) -> str:
    field = run.fields.get(name)
    return ast.unparse(field.annotation).strip("'\"") if field is not None and field.annotation is not None else ""


def _is_exact(dim: Dim) -> bool:
    """Is it the same to the last digit in whatever order it is computed: two numbers added, or multiplied?"""
    if any(not _is_exact(arg) for atom in dim.atoms() for arg in atom.args if isinstance(arg, Dim)):
        return False
    factors = [len(monomial) + (coefficient != 1 and bool(monomial)) for monomial, coefficient in dim.terms]
    return len(factors) <= 2 and all(count <= 2 for count in factors)
