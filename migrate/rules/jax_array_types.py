"""KeyArray, DeviceArray and the other array types of old → jax.Array."""

from __future__ import annotations

from ..rule import Example, Rule
from ._renames import attach

RULE = Rule(
    code="NNX802",
    name="jax-array-type",
    summary="KeyArray, DeviceArray, ShardedDeviceArray and GlobalDeviceArray are jax.Array",
    what=("Rewrites the removed array, key and device types to `jax.Array`, `jax.Device` and `jax.errors`."),
    why=("There is one array type since jax 0.4; the old names went with 0.4.14 (DeviceArray) and 0.4.24 (KeyArray)."),
    how_sure="by construction: they were aliases before they went",
    examples=(
        Example(
            title="annotations",
            before="""\
import jax
import jax.numpy as jnp


def f(key: jax.random.KeyArray, x: jnp.DeviceArray):
    return jnp.sin(x)
""",
            after="""\
import jax
import jax.numpy as jnp


def f(key: jax.Array, x: jax.Array):
    return jnp.sin(x)
""",
            run="""\
def check(before, after):
    assert float(after['f'](None, 0.0)) == 0
""",
        ),
        Example(
            title="imported name",
            before="""\
import jax
from jax.interpreters.xla import DeviceArray

ok = isinstance(jax.numpy.ones(1), DeviceArray)
""",
            after="""\
import jax

ok = isinstance(jax.numpy.ones(1), jax.Array)
""",
            run="""\
def check(before, after):
    assert after['ok']
""",
        ),
    ),
)
attach(RULE)
