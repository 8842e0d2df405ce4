"""Hash-consed terms: a computation as a graph in which equal subcomputations are one node.

A term is an integer. Two terms of one `Terms` store are the same integer exactly when they were built from the same
operation, parameters and arguments; that is what a proof compares in the end.

Beside the structure each node knows what the loop and key rules need:

* `levels`: the loop depths (de Bruijn levels) over whose iterations the value may vary;
* `variables`: the loop variables that occur free in it;
* `purity`: CONST (literals only), RNG (made from random roots and literals only) or DATA;
* `blind`: the same term with every random key made anonymous. Terms that hold no key are their own blind term.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

CONST, RNG, DATA = 0, 1, 2

#: Operations that derive keys from keys: data in a later operand (a step number that is folded in) leaves them keys.
KEY_OPS = frozenset(
    {
        "random_fold_in",
        "random_wrap",
        "random_unwrap",
        "random_split",
        "random_clone",
        "slice",
        "reshape",
        "broadcast",
        "transpose",
        "dynamic_slice",
        "gather",
        "element",
        "get",
    }
)
_NONE: frozenset[int] = frozenset()


@dataclasses.dataclass(slots=True)
class Node:
    """One operation. `aval` is `(shape, dtype name)`, or None where a node stands for several results."""

    op: str
    params: Hashable
    args: tuple[int, ...]
    aval: tuple[tuple[int, ...], str] | None
    levels: frozenset[int]
    variables: frozenset[int]
    purity: int
    blind: int
    keyed: bool


class Terms:
    """The store of terms. Both sides of a comparison are built in one store."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._ids: dict[tuple[Any, ...], int] = {}
        self.values: dict[int, Any] = {}  # terms of constants → their arrays
        self.side = ""
        self.shared: frozenset[Any] = frozenset()  # labels of roots that both sides have: keys given as arguments
        self.streams: dict[Any, str] = {}  # label of an input → the random stream that it is the root of
        self.drawn_from: dict[int, frozenset[str]] = {}  # opaque key → the streams that it was derived from
        self.origin: dict[tuple[str, int], Any] = {}  # (side, term) → source info of the equation that made it first

    def make(
        self,
        op: str,
        params: Hashable,
        args: Sequence[int],
        aval: tuple[tuple[int, ...], str] | None,
        *,
        purity: int | None = None,
        levels: frozenset[int] | None = None,
        variables: frozenset[int] | None = None,
        keyed: bool | None = None,
    ) -> int:
        """The term of `op`; the keyword arguments override what otherwise follows from `args`."""
        args = tuple(args)
        identity = (op, params, args, aval)
        found = self._ids.get(identity)
        if found is not None:
            return found
        nodes = [self.nodes[a] for a in args]
        if levels is None:
            levels = _union([n.levels for n in nodes])
        if variables is None:
            variables = _union([n.variables for n in nodes])
        if purity is None:
            purity = max((n.purity for n in nodes), default=CONST)
            if op in KEY_OPS and nodes and nodes[0].purity == RNG:
                purity = RNG
        if keyed is None:
            keyed = any(n.keyed for n in nodes)
        term = len(self.nodes)
        self.nodes.append(Node(op, params, args, aval, levels, variables, purity, term, keyed))
        self._ids[identity] = term
        if keyed and op != "key":
            blind_args = tuple(n.blind for n in nodes)
            if blind_args != args:
                if op in COMMUTATIVE:
                    blind_args = tuple(sorted(blind_args))
                self.nodes[term].blind = self.make(
                    op, params, blind_args, aval, purity=purity, levels=levels, variables=_NONE, keyed=False
                )
        return term

    def key(self, raw: int, aval: tuple[tuple[int, ...], str], dependencies: Sequence[int], origins: Sequence[Any]) -> int:
        """An opaque random key that stands for the derivation `raw`, folded with the data `dependencies`.

        `origins` are the labels of the shared roots that it comes from: of two keys that the caller passes, one is not the
        other.
        """
        node = self.nodes[raw]
        args = tuple(sorted(dependencies))
        levels = node.levels
        blind = self.make("key", None, [self.nodes[a].blind for a in args], aval, purity=DATA, levels=levels, keyed=False)
        # Levels belong to what is compared: a mask that is drawn once is not one that is drawn in every iteration.
        blind = self.make("key_at", (tuple(sorted(levels)), tuple(origins)), (blind,), aval, levels=levels)
        term = self.make("key", (self.side, raw, tuple(sorted(levels))), args, aval, purity=DATA, levels=levels, keyed=True)
        self.nodes[term].blind = blind
        return term

    def note(self, term: int, source: Any) -> None:
        """Remember where `term` came from on the present side; the first place wins."""
        self.origin.setdefault((self.side, term), source)

    def order(self, term: int) -> tuple[int, int]:
        """Sort key of commutative operands: one that the names of random keys do not change."""
        return (self.nodes[term].blind, term)

    def __getitem__(self, term: int) -> Node:
        return self.nodes[term]


#: Bitwise commutative operations; the canonicaliser sorts their operands.
COMMUTATIVE = frozenset({"add", "mul", "max", "min", "and", "or", "xor", "eq", "ne"})


def _union(sets: list[frozenset[int]]) -> frozenset[int]:
    """Union that keeps one object where it can: most terms share their argument's set."""
    result = _NONE
    for one in sets:
        if not one or one is result:
            continue
        result = one if not result else (result if one <= result else result | one)
    return result
