"""Loops, by bisimulation.

A loop is a system of equations: each carried value has a first value and a step. Two results are equal when the
parts of
the systems that they reach are equal up to the names of the carried values. So:

1. Values that are equal at the start and stay equal in every step are one (greatest fixed point, by partition
   refinement:
   suppose all that start equal are equal, split what the step tells apart, repeat until nothing splits). By
   induction over the
   iterations that is exact. A value that its step leaves at its first value is that value: a constant of the loop.
2. Each remaining variable is named by what it does (its first value, then as many unfoldings of its step as it
   takes to tell all
   apart), so that order and names on the two sides do not matter.
3. A result is the equations reachable from it and the value it is. Equal terms are therefore equal systems: no
   number of
   rounds is involved in that, names only help to find it.

What follows from structure: unused carries vanish; `unroll`, `linear` and `_split_transpose` say how to run the
loop, not what it
computes; a value yielded that does not change is repeated; the slices of an input, yielded, are that input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import rules
from .terms import CONST, DATA, RNG

if TYPE_CHECKING:
    from .canonical import Aval, Canonicaliser


def scan(canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: Sequence[Aval], depth: int) -> list[int]:
    """Terms of a scan's final carries and stacked outputs."""
    terms, level = canon.terms, depth + 1
    n_consts, n_carry = params["num_consts"], params["num_carry"]
    constants, first, stacked = (
        arguments[:n_consts],
        arguments[n_consts : n_consts + n_carry],
        arguments[n_consts + n_carry :],
    )
    length, reverse = params["length"], bool(params["reverse"])
    slices = [_element(canon, x, level) for x in stacked]

    def step(carry: list[int]) -> list[int]:
        return canon.run(params["jaxpr"], [*constants, *carry, *slices], level)

    carry, outputs = _solve(canon, first, step, n_carry, level)
    results: list[int] = []
    for i in range(n_carry):
        if carry[i] == first[i]:
            results.append(first[i])
        else:
            results.append(
                _close(canon, ("scan", length, reverse, "carry"), [carry[i]], carry, first, outputs, level, avals[i])
            )
    for term, aval in zip(outputs[n_carry:], avals[n_carry:]):
        node = terms[term]
        if level not in node.levels:
            shape = aval[0]
            results.append(rules.broadcast(canon, term, shape, tuple(range(1, len(shape)))))
        elif node.op == "element" and node.params == level:
            results.append(node.args[0])
        else:
            ordered = any(terms[v].params[0] == level for v in node.variables)  # type: ignore[index]
            # Without a carried value the iterations do not see each other, so their order makes no difference.
            kind = ("scan", length, reverse and ordered, "stack")
            results.append(_close(canon, kind, [term], carry, first, outputs, level, aval))
    return results


def while_loop(
    canon: Canonicaliser, params: dict[str, Any], arguments: list[int], avals: Sequence[Aval], depth: int
) -> list[int]:
    """Terms of a while loop's final values. Its condition is part of every result that the loop changes."""
    level = depth + 1
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    for_cond, for_body, first = arguments[:n_cond], arguments[n_cond : n_cond + n_body], arguments[n_cond + n_body :]

    def step(carry: list[int]) -> list[int]:
        body = canon.run(params["body_jaxpr"], [*for_body, *carry], level)
        return [*body, *canon.run(params["cond_jaxpr"], [*for_cond, *carry], level)]

    carry, outputs = _solve(canon, first, step, len(first), level)
    condition = outputs[-1]
    return [
        start if variable == start else _close(canon, ("while",), [variable, condition], carry, first, outputs, level, aval)
        for variable, start, aval in zip(carry, first, avals)
    ]


def _element(canon: Canonicaliser, stacked: int, level: int) -> int:
    """The part of a scanned input that an iteration sees. A repeated value's parts are that value in every
    iteration.
    """
    node = canon.terms[stacked]
    assert node.aval is not None
    shape = node.aval[0][1:]
    if node.op == "broadcast" and 0 not in node.params:  # type: ignore[operator]
        dims = tuple(d - 1 for d in node.params)  # type: ignore[attr-defined]
        return rules.broadcast(canon, node.args[0], shape, dims)
    return canon.terms.make("element", level, (stacked,), (shape, node.aval[1]), levels=node.levels | {level})


def _variable(canon: Canonicaliser, level: int, index: Any, like: Sequence[int], first: int, purity: int) -> int:
    """A loop variable, named by the terms `like` and, only where that leaves doubt, by `index`."""
    terms = canon.terms
    levels = frozenset({n for n in terms[first].levels if n < level} | {level})
    # A variable's own occurrences in its name are not occurrences in the program.
    outer = frozenset(v for v in terms[first].variables if terms[v].params[0] < level)  # type: ignore[index]
    made = terms.make(
        "variable",
        (level, index, purity),
        tuple(like),
        terms[first].aval,
        purity=purity,
        levels=levels,
        variables=outer,
    )
    terms[made].variables = outer | {made}
    blind = terms[made].blind
    if blind != made:
        terms[blind].purity = purity
    return made


def _solve(
    canon: Canonicaliser, first: list[int], step: Callable[[list[int]], list[int]], n_carry: int, level: int
) -> tuple[list[int], list[int]]:
    """The variables of a loop (equal ones being one, unchanging ones being their first value), and the step's
    results.
    """
    terms = canon.terms
    if not n_carry:
        return [], step([])
    purity = [terms[t].purity for t in first]
    group: list[Any] = list(first)  # the class of each carried value, by first value at the start
    fixed = [True] * n_carry
    while True:
        carry = [
            first[i] if fixed[i] else _variable(canon, level, ("class", group[i]), (first[i],), first[i], purity[i])
            for i in range(n_carry)
        ]
        outputs = step(carry)
        changed = False
        for i in range(n_carry):
            reached = max(purity[i], terms[outputs[i]].purity)
            if fixed[i] and outputs[i] != carry[i]:
                fixed[i], changed = False, True
            if not fixed[i] and reached != purity[i]:
                purity[i], changed = reached, True
        if changed:
            continue
        signature = [(group[i], fixed[i], purity[i], None if fixed[i] else outputs[i]) for i in range(n_carry)]
        numbers: dict[Any, int] = {}
        split = [numbers.setdefault(s, len(numbers)) for s in signature]
        if len(set(split)) == len({(g, f, p) for g, f, p in zip(group, fixed, purity)}):
            break
        group = list(split)
    # The partition is stable: name the classes by what they do.
    alive = sorted({group[i] for i in range(n_carry) if not fixed[i]}, key=str)
    member = {g: next(i for i in range(n_carry) if group[i] == g and not fixed[i]) for g in alive}
    if not alive:
        return carry, outputs
    names: dict[Any, tuple[int, ...]] = {g: (first[member[g]],) for g in alive}
    variables: dict[Any, int] = {}
    for round_ in range(len(alive) + 1):
        doubtful = len(set(names.values())) < len(names) and round_ == len(alive)
        variables = {
            g: _variable(canon, level, k if doubtful else None, names[g], first[member[g]], purity[member[g]])
            for k, g in enumerate(alive)
        }
        carry = [first[i] if fixed[i] else variables[group[i]] for i in range(n_carry)]
        outputs = step(carry)
        if len(set(names.values())) == len(names):
            break
        names = {g: (variables[g], outputs[member[g]]) for g in alive}
    return carry, outputs


def _close(
    canon: Canonicaliser,
    kind: tuple[Any, ...],
    results: list[int],
    carry: list[int],
    first: list[int],
    outputs: list[int],
    level: int,
    aval: Aval,
) -> int:
    """The loop's value `results`, with the equations of the variables that it reaches, in the order of reaching."""
    terms = canon.terms
    equation = {v: (first[i], outputs[i]) for i, v in enumerate(carry) if v != first[i]}
    order: list[int] = []
    queue = list(results)
    for term in queue:
        for variable in sorted(terms[term].variables, key=terms.order):
            if variable in equation and variable not in order:
                order.append(variable)
                queue.append(equation[variable][1])
    arguments = [*results]
    for variable in order:
        arguments += [variable, *equation[variable]]
    every = [terms[a] for a in arguments]
    levels = frozenset(n for node in every for n in node.levels if n != level)
    own = set(order)
    variables = frozenset(v for node in every for v in node.variables if v not in own)
    purity = max((node.purity for node in every), default=CONST)
    if purity == DATA and terms[results[0]].purity == RNG:
        purity = RNG
    return terms.make(
        kind[0], (level, *kind[1:], len(results)), arguments, aval, purity=purity, levels=levels, variables=variables
    )
