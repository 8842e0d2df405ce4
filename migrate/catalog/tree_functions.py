"""Functions of jax over pytrees, by the names that programs have for them."""

from __future__ import annotations

# Those that map a function over trees of one structure.
TREE_MAPS = frozenset({"jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"})
