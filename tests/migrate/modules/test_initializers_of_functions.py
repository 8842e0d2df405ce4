"""Initializers of functions that read an array's sizes: models start with Linen's values; what reads more stays Linen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_forms import sides
from .test_later_sizes import after, migrate

GIVEN: list[tuple[str, tuple[int, ...], dict[str, object]]] = [
    ("Within", (2, 6), {"in_shape": (2, 6)}),
    ("Tower", (2, 3, 4), {"in_shape": (2, 3, 4)}),
    ("Named", (2, 6), {"in_features": 6}),
]


@pytest.mark.parametrize("name,shape,sizes", GIVEN)
def test_models_start_with_the_same_values(name: str, shape: tuple[int, ...], sizes: dict[str, object]) -> None:
    linen, native, _ = sides("forms_initializers_of_functions")
    x = jnp.ones(shape)
    wanted = getattr(linen, name)().init(jax.random.key(0), x)["params"]
    found = compat.to_linen(getattr(native, name)(**sizes, rngs=nnx.Rngs(0)))["params"]
    if name == "Within":
        del wanted["Dense_0"], found["Dense_0"]  # drawn
    jax.tree.map(np.testing.assert_array_equal, found, wanted)


def test_so_do_those_that_a_call_on_shapes_makes() -> None:
    linen, native, result = sides("forms_initializers_of_functions")
    handed = after(result).partition("class Handed")[2].partition("\nclass ")[0]
    assert "kernel_init=full_of(inputs)" in handed
    x = jnp.ones((2, 6))
    found, wanted = native.run(x), linen.run(x)
    for name in ("sigmoid", "leaky"):
        jax.tree.map(np.testing.assert_array_equal, dict(found[name]), wanted[name])


HEAD = """from flax import linen as nn
import jax
import jax.numpy as jnp


def init_of(y, n=1.0):
  return lambda rng, shape, dtype: jnp.full(shape, BODY)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, n=2):
    x = x.reshape(-1, 4)
    return nn.Dense(3, kernel_init=CALL)(x)
"""
REFUSED = {
    "a dtype": ("1, y.dtype", "init_of(x)"),
    "what arrays hold": ("y.mean()", "init_of(x)"),
    "the whole shape": ("len(y.shape)", "init_of(x)"),
    "an axis that is computed": ("y.shape[int(n)]", "init_of(x)"),
    "an argument of the call beside it": ("y.shape[1] * n", "init_of(x, n)"),
    "what is given to another function": ("other(y)", "init_of(x)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    body, call = REFUSED[what]
    result = migrate(HEAD.replace("BODY", body).replace("CALL", call))
    assert [(str(c.outcome), c.code) for c in result.classes] == [("bridged", "NNX113")], result.classes[0].reason


@pytest.mark.parametrize("again", ["init_of = print\n", "def init_of(y):\n  return y\n", "for init_of in ():\n  pass\n"])
def test_a_function_that_is_bound_twice_is_not_known(again: str) -> None:
    text = HEAD.replace("BODY", "y.shape[1]").replace("CALL", "init_of(x)")
    assert str(migrate(text).classes[0].outcome) == "native"
    assert str(migrate(text + "\n\n" + again).classes[0].outcome) == "bridged"
