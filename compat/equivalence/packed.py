"""Cells whose layers NNX keeps in one array and Linen gate by gate: the pieces are what both sides are given.

Joined again where the NNX module is called, so a proof that succeeds is one for the arrays that Linen has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..sharing import Path
from ..state import GATES, packed_cells
from ..target import linen_key
from .proof import plain_path

Label = tuple[Any, ...]


def gates_of(graphdef: Any, state: Any, paths: Sequence[Path], known: set[Label]) -> dict[int, tuple[str, ...]]:
    """Position among the leaves → Linen's names of the pieces, for what is packed and what Linen has in pieces.

    Args:
        graphdef, state: the NNX side; shapes alone will do.
        paths: of its leaves.
        known: Linen's labels.
    """
    from flax import nnx

    if not any("dense_i" in path or "dense_h" in path for path in paths):
        return {}
    cells = packed_cells(nnx.merge(graphdef, state, copy=True))
    # The optimizer knows a parameter by its path within the model, which may be one of several in a tuple.
    cells |= {path[1:]: kind for path, kind in cells.items() if path and isinstance(path[0], int)}
    found = {}
    for i, path in enumerate(paths):
        for start in range(len(path) - 1):
            names = GATES.get(cells.get(path[start:-2], ""), {}).get(str(path[-2]))
            if names and all(("params", *linen_key(piece(path[start:], name))) in known for name in names):
                found[i] = names
                break
    return found


def piece(path: Path, gate: str) -> Path:
    """The path that the piece would have, had NNX kept it apart."""
    return (*path[:-2], gate, path[-1])


def cut(shape: Any, count: int) -> list[jax.ShapeDtypeStruct]:
    """The shapes of equal pieces along the last dimension."""
    return [jax.ShapeDtypeStruct((*shape.shape[:-1], shape.shape[-1] // count), shape.dtype)] * count


class Packing:
    """The leaves of an NNX state with each packed one in pieces.

    Attributes:
        paths, leaves: of the pieces, and of all else, in order; what is cut is given by its shape.
        stored: path of a piece → where the state has it.
    """

    def __init__(self, graphdef: Any, state: Any, known: set[Label]) -> None:
        flat, self.structure = jax.tree_util.tree_flatten_with_path(state)
        paths = [plain_path(path) for path, _ in flat]
        self._gates = gates_of(graphdef, state, paths, known)
        self._at = {path: i for i, path in enumerate(paths)}
        self.paths: list[Path] = []
        self.leaves: list[Any] = []
        self.stored: dict[Path, Path] = {}
        for i, (path, (_, leaf)) in enumerate(zip(paths, flat)):
            gates = self._gates.get(i, ())
            pieces = [piece(path, gate) for gate in gates] or [path]
            self.paths += pieces
            self.leaves += cut(leaf, len(gates)) if gates else [leaf]
            self.stored |= dict.fromkeys(pieces, path)

    def join(self, leaves: Sequence[Any]) -> tuple[Any, Callable[[Any], list[tuple[Path, Any]]]]:
        """The state of which `leaves` are the pieces; and what takes a state after that apart again, by path.

        An array that comes back as it was made is its pieces, not cuts of their concatenation.
        """
        given, made, whole = iter(leaves), list[tuple[Any, list[Any]]](), list[Any]()
        for i in range(self.structure.num_leaves):
            pieces = [next(given) for _ in self._gates.get(i, (None,))]
            whole.append(pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces, axis=-1))
            made.append((whole[-1], pieces))

        def apart(state: Any) -> list[tuple[Path, Any]]:
            found = []
            for path, leaf in ((plain_path(p), v) for p, v in jax.tree_util.tree_flatten_with_path(state)[0]):
                gates = self._gates.get(self._at.get(path, -1), ())
                if not gates:
                    found.append((path, leaf))
                    continue
                pieces = next((parts for one, parts in made if one is leaf), None)
                cuts = list(jnp.split(leaf, len(gates), axis=-1)) if pieces is None else pieces
                found += [(piece(path, gate), part) for gate, part in zip(gates, cuts)]
            return found

        return jax.tree_util.tree_unflatten(self.structure, whole), apart
