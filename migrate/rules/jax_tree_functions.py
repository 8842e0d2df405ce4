"""jax.tree_map and its family → jax.tree."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX801",
    name="jax-tree-function",
    summary=("jax.tree_map, tree_leaves, tree_multimap and their like are functions of jax.tree"),
    what=("Rewrites the removed tree functions to their equals in `jax.tree` (and `jax.tree_util` for treedefs)."),
    why=("`jax.tree_map` and the rest left the top of jax in 0.6.0, `tree_multimap` in 0.3.16."),
    how_sure=("by construction: the same functions under new names; a project's own `tree_map` is told apart by imports"),
    examples=(
        Example(
            title="attribute",
            before="""\
import jax

total = jax.tree_map(lambda a: a + 1, {'w': 1})
""",
            after="""\
import jax

total = jax.tree.map(lambda a: a + 1, {'w': 1})
""",
            run="""\
def check(before, after):
    assert after['total'] == {'w': 2}
""",
        ),
        Example(
            title="imported name",
            before="""\
from jax import tree_map, numpy as jnp

x = tree_map(jnp.shape, [jnp.ones(2)])
""",
            after="""\
import jax
from jax import numpy as jnp

x = jax.tree.map(jnp.shape, [jnp.ones(2)])
""",
            run="""\
def check(before, after):
    assert after['x'] == [(2,)]
""",
        ),
        Example(
            title="tree_multimap",
            before="""\
import jax
from jax.tree_util import tree_multimap, tree_leaves

x = tree_multimap(lambda a, b: a + b, (1, 2), (3, 4))
y = tree_leaves(x)
""",
            after="""\
import jax
from jax.tree_util import tree_leaves

x = jax.tree.map(lambda a, b: a + b, (1, 2), (3, 4))
y = tree_leaves(x)
""",
            run="""\
def check(before, after):
    assert after['y'] == [4, 6]
""",
        ),
        Example(
            title="a function of one's own is left alone",
            before="""\
def tree_map(f, tree):
    return [f(x) for x in tree]


y = tree_map(str, [1, 2])
""",
            after="""\
def tree_map(f, tree):
    return [f(x) for x in tree]


y = tree_map(str, [1, 2])
""",
        ),
    ),
)
attach(RULE)
