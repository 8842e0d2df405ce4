"""Sizes of batches and lengths in the width that a reshape infers: a width is the same at every call, so they cancel.

`x.reshape(b, n // k, k, -1)` shares out `n` as `k * (n // k)`, and an array that was masked has the batch of the mask too.
Were that not so, the width would follow the batch: weights would not fit, nor does the input.
"""

from __future__ import annotations

from collections.abc import Callable

from .dims import Atom, Dim


def without_call_sizes(total: Dim, known: Dim) -> Dim | None:
    """All elements over those that are spoken for, where that depends on no batch or length; None where it does."""
    if not of_one_call(total // known):
        return None
    same = _same_batches(total, known)
    above, below = (rounded(dim.substitute(same), of_one_call) for dim in (total, known))
    exact = above.exact_div(below)
    return exact if exact is not None and not of_one_call(exact) else None


def of_one_call(dim: Dim) -> bool:
    """Is a batch, a length or a height of an input in it?"""
    return any(atom.kind == "lead" or (atom.kind == "input" and atom.args[1] != -1) for atom in dim.atoms())


def _same_batches(total: Dim, known: Dim) -> Callable[[Atom], Dim | None]:
    """One size for those that two arrays of an operation have along an axis: that which is spoken for."""
    spoken = {atom for monomial, _ in known.terms for atom in monomial}
    same: dict[Atom, Dim] = {}
    for atom in total.atoms():
        atoms = [size.single_atom() for size in atom.args] if atom.kind == "max" else []
        kept = [a for a in atoms if a is not None and a in spoken and a.kind == "input" and a.args[1] != -1]
        if len(kept) == 1 and all(a is not None and a.kind == "input" for a in atoms):
            same |= {a: Dim.input(*kept[0].args) for a in atoms if a is not None}
    return same.get


def rounded(dim: Dim, which: Callable[[Dim], bool] = lambda whole: True) -> Dim:
    """The size with `n` for every `k * (n // k)`; `which` of these."""
    total = Dim.of(0)
    for monomial, count in dim.terms:
        atoms, factor = list(monomial), Dim.of(count)
        for atom in monomial:
            if atom.kind != "floordiv":
                continue
            whole, part = atom.args
            if not which(whole):
                continue
            if part.value is None and (single := part.single_atom()) is not None and single in atoms:
                atoms.remove(single)
                atoms.remove(atom)
                factor = factor * whole
        for atom in atoms:
            factor = factor * Dim((((atom,), 1),), (atom,))
        total = total + factor
    return total
