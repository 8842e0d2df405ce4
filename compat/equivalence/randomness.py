"""Random keys as opaque labels.

Linen and NNX derive keys differently, from seeds and paths the one, from counters the other, so masks never agree by
number. What a migration must keep is the pattern: which uses share a key, which have their own, in which loops a key
changes, and what data it was folded with. So a key that is derived from random roots (rng inputs, streams' keys and
counters) becomes an opaque node at the place where it is consumed; the comparison then looks for a one-to-one
matching of the
two sides' keys. Under the usual assumption that distinct derivations give independent keys, matched programs
compute the same distribution, and the same numbers when given each other's keys.
"""

from __future__ import annotations

from typing import Any

from .terms import CONST, DATA, RNG, Terms

#: Primitives that draw from a key, as their first operand.
CONSUMERS = frozenset({"random_bits", "random_gamma", "rng_bit_generator"})


def abstract_key(terms: Terms, key: int) -> int:
    """The opaque key for a derived one; keys that are not made from roots alone stay as they are.

    Repeating a key over an axis (`broadcast`) is kept outside: the parts share a key, which is not what a split gives.
    """
    node = terms[key]
    if node.purity != RNG or node.aval is None:
        return key
    if node.op == "broadcast" and node.args:
        inner = abstract_key(terms, node.args[0])
        return terms.make(node.op, node.params, (inner,), node.aval)
    data, origins, streams = _sources(terms, key)
    opaque = terms.key(key, node.aval, data, origins)
    terms.drawn_from[opaque] = streams
    return opaque


def other_streams(terms: Terms, left: int, right: int) -> str | None:
    """Why two keys cannot answer to each other: Linen draws from one stream, NNX from another that Linen has too.

    What NNX calls by a name that Linen does not know, its `default` stream say, may stand for any.
    """
    linen, nnx = (terms.drawn_from.get(key, frozenset()) for key in (left, right))
    known = {"params", *(name for (side, _), name in terms.streams.items() if side == "left")}
    wrong = (nnx - linen) & known
    if not linen or not wrong:
        return None
    return f"drawn from the stream {_names(linen)} in Linen and from {_names(nnx)} in NNX"


def _names(streams: frozenset[str]) -> str:
    return " and ".join(sorted(streams))


def _sources(terms: Terms, key: int) -> tuple[list[int], list[Any], frozenset[str]]:
    """What a derivation was made from beside its own side's streams.

    Returns:
        The data that it was folded with (the maximal subterms that are neither keys nor constants), the labels of the
        roots that both sides have, and the names of its streams.
    """
    origins: set[Any] = set()
    streams: set[str] = set()
    found: set[int] = set()
    seen: set[int] = set()
    stack = [key]
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        node = terms[term]
        if node.purity == DATA:
            found.add(term)
        elif node.purity != CONST:
            stack.extend(node.args)
            if node.op == "input":
                if node.params in terms.streams:
                    streams.add(terms.streams[node.params])
                label = node.params[1] if isinstance(node.params, tuple) else node.params
                if label in terms.shared:
                    origins.add(label)
    return sorted(found), sorted(origins, key=str), frozenset(streams)
