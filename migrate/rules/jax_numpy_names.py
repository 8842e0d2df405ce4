"""jnp names that followed NumPy out."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX805",
    name="jax-numpy-name",
    summary="jnp.product, in1d, NINF, round_ and their like have today's NumPy names",
    what=("Rewrites removed `jax.numpy`, `jax.scipy` and `jax.nn` names to the ones that replace them."),
    why="They followed NumPy 2 out of jax between 0.4.16 and 0.10.0.",
    how_sure="by construction: aliases before they went",
    examples=(
        Example(
            title="functions",
            before="""\
import jax.numpy as jnp

n = jnp.product(jnp.asarray((2, 3)))
m = jnp.alltrue(jnp.ones(2) > 0)
""",
            after="""\
import jax.numpy as jnp

n = jnp.prod(jnp.asarray((2, 3)))
m = jnp.all(jnp.ones(2) > 0)
""",
            run="""\
def check(before, after):
    assert int(after['n']) == 6 and bool(after['m'])
""",
        ),
        Example(
            title="constants",
            before="""\
import jax.numpy as jnp

low = jnp.NINF
high = 1 - jnp.NINF
""",
            after="""\
import jax.numpy as jnp

low = -jnp.inf
high = 1 - (-jnp.inf)
""",
            run="""\
def check(before, after):
    assert after['low'] < 0 < after['high']
""",
        ),
    ),
)
attach(RULE)
