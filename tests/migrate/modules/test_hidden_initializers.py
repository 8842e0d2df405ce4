"""Initializers of the file that variables or fields of a class are called as: fresh models have Linen's values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import both, migrate

PARTS = """start = nn.initializers.ones


def block(x):
  x = nn.Dense(4, kernel_init=start, bias_init=start)(x)
  return nn.Dense(4, kernel_init=start, bias_init=start)(x)


class M(nn.Module):
"""
CALL = "  @nn.compact\n  def __call__(self, x):\n"
NATIVE = {
    "a variable": """
start = nn.initializers.zeros
return nn.Dense(4, kernel_init=start)(block(x))
""",
    "a loop": """
for start in (nn.initializers.zeros, nn.initializers.constant(0.5)):
  x = block(nn.Dense(4, kernel_init=start)(x))
return x
""",
    "a loop over numbers": """
y = 0.0
for start in (1.0, 2.0):
  y = y + block(x) * start
return y
""",
    "a variable that an f-string says": """
start = 3
outs = {}
for i in range(2):
  x = block(x)
  outs[f'start {start}'] = x
return outs
""",
    "a branch": """
if x.ndim > 1:
  start = nn.initializers.zeros
else:
  start = nn.initializers.constant(0.5)
return block(nn.Dense(4, kernel_init=start)(x))
""",
}
FIELDS = {"of a function": "return block(x) * self.start", "of the class itself": "return nn.Dense(4, kernel_init=start)(x)"}


def of(body: str) -> str:
    return CALL + "".join(f"    {line}\n" for line in body.strip().splitlines())


@pytest.mark.parametrize("what", NATIVE)
def test_variables_are_called_otherwise(what: str) -> None:
    old, new, result = both(PARTS + of(NATIVE[what]))
    (plan,) = result.classes
    assert str(plan.outcome) == "native", plan.reason
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(**{a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}, rngs=nnx.Rngs(0))
    fresh = compat.to_linen(model)["params"]
    assert jax.tree.structure(fresh) == jax.tree.structure(dict(variables["params"]))
    jax.tree.map(np.testing.assert_array_equal, fresh, dict(variables["params"]))
    jax.tree.map(np.testing.assert_array_equal, model(x), old.M().apply(variables, x))


@pytest.mark.parametrize("what", FIELDS)
def test_fields_of_the_name_keep_the_class(what: str) -> None:
    result = migrate(PARTS + "  start: float = 3.0\n" + of(FIELDS[what]))
    (plan,) = result.classes
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX151"), plan.reason
