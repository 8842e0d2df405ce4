"""Layers that are given what a number of dimensions decides: right for the number that is met, or refused by name."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import migrate, module

HEAD = """class M(nn.Module):
  wide: bool = False

  @nn.compact
  def __call__(self, x, train: bool = False):
"""
BODIES = {
    "one under a condition": "k = (3,) * (x.ndim - 2)\nif self.wide:\n  k = (5,) * (x.ndim - 2)\nreturn nn.Conv(4, k)(x)",
    "one of each pass": "for i in range(2):\n  k = (i + 2,) * (x.ndim - 2)\n  x = nn.Conv(3, k)(x)\nreturn x",
    "one that is added to": "k = (2,)\nk += (1,) * (x.ndim - 3)\nreturn nn.Conv(3, k)(x)",
    "one that is put together": "k = (2,)\nk = k + (1,) * (x.ndim - 3)\nreturn nn.Conv(3, k)(x)",
    "a list that grows": "k = [2]\nk.extend([1] * (x.ndim - 3))\nreturn nn.Conv(3, k)(x)",
    "a list that a loop fills": "k = [2]\nfor _ in range(x.ndim - 3):\n  k.append(1)\nreturn nn.Conv(3, tuple(k))(x)",
    "one beside a name that changes": "m = 2\nk = (m,) * (x.ndim - 2)\nm = 7\nreturn nn.Conv(3, k)(x) * m",
    "by the length of the shape": "n = len(x.shape)\nk = (3,) * (n - 2)\nif self.wide:\n  k = (1,) * (n - 2)\n"
    "return nn.Conv(3, k)(x)",
    "by jnp": "n = jnp.ndim(x)\nk = (3,) * (n - 2)\nif self.wide:\n  k = (1,) * (n - 2)\nreturn nn.Conv(3, k)(x)",
    "strides": "s = (2,)\ns += (1,) * (x.ndim - 3)\nreturn nn.Conv(3, (1,) * (x.ndim - 2), strides=s)(x)",
    "one or another": "return nn.Conv(3, (3, 3) if x.ndim == 4 else (3,))(x)",
    "by a flag": "k = (2 if train else 3,) * (x.ndim - 2)\nreturn nn.Conv(3, k)(x)",
}


@pytest.mark.parametrize("what", BODIES)
def test_no_other_model_than_linens(what: str) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in BODIES[what].splitlines())
    result = migrate(text)
    (plan,) = result.classes
    if str(plan.outcome) == "bridged":
        assert plan.code == "NNX113"
        return
    for path, content in result.created.items():
        module(path.stem, content)
    old, new = module("ranks_linen", result.files[0].before), module("ranks_nnx", result.files[0].after or "")
    fits = 0
    for shape in ((2, 6, 5), (2, 6, 4, 5)):
        x = jnp.asarray(np.random.RandomState(0).randn(*shape), jnp.float32)
        variables = old.M().init(jax.random.key(0), x)
        try:
            model = new.M(in_shape=shape, rngs=nnx.Rngs(0))
        except ValueError as error:
            assert "`in_shape` must have" in str(error)
            continue
        assert compat.check_equivalence(old.M(), variables, model, x)
        fits += 1
    assert fits
