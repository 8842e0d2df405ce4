"""Arrays that a caller gives to fields at each call: other ones at other calls, their gradients, and what stays with the
constructor."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_forms import sides
from .test_later_sizes import after, both, migrate


def same(a: Any, b: Any, tolerance: float = 1e-6) -> None:
    jax.tree.map(lambda p, q: np.testing.assert_allclose(p, q, rtol=tolerance, atol=tolerance), a, b)


@pytest.mark.parametrize("scanned", [True, False])
def test_gradients_are_equal_also_those_of_what_is_given(scanned: bool) -> None:
    linen, native, _ = sides("forms_arrays_of_callers")
    given: dict[str, Any] = {"remat": ("mlp", "attention"), "scanned": scanned}
    x = jnp.sin(jnp.arange(40.0)).reshape(2, 5, 4)
    module = linen.Transformer(**given)
    variables = module.init(jax.random.key(0), x)
    model = native.Transformer(**given, in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    for mask in (None, jnp.arange(5)[:, None] > 1, jnp.arange(5)[:, None] > 3):
        for train in (True, False):
            wanted = jax.grad(lambda v, x: (module.apply(v, x, mask, train) ** 2).mean(), argnums=(0, 1))(variables, x)  # noqa: B023
            found = nnx.grad(lambda m, x: (m(x, mask, train) ** 2).mean(), argnums=(0, 1))(model, x)  # noqa: B023
            others = nnx.state(model, nnx.Not(nnx.Param))
            same(compat.to_linen(nnx.merge(nnx.graphdef(model), found[0], others)), wanted[0], 1e-5)
            same(found[1], wanted[1], 1e-5)
    scaled = linen.Mixed().init(jax.random.key(0), x)
    mixed = native.Mixed(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(scaled, mixed)
    wanted = jax.grad(lambda f: (linen.Mixed().apply(scaled, x, f) ** 2).sum())(jnp.float32(0.5))
    same(jax.grad(lambda f: (mixed(x, f) ** 2).sum())(jnp.float32(0.5)), wanted)


HEAD = """class Scaled(nn.Module):
  factor: Any
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(3)(x)
    return BODY


class Part(nn.Module):
  outer: Any
  def __call__(self, x):
    return x


def scaled(module, y):
  return y * module.factor


class M(nn.Module):
  @nn.compact
  def __call__(self, x, factor=None):
    return CALL
"""
STAYS = {
    "a function reads it": ("scaled(self, y) * self.factor", "Scaled(jnp.mean(x))(x)"),
    "its maker reads it": ("y * self.factor", "(s := Scaled(jnp.mean(x)))(x) * s.factor"),
    "it decides what there is": ("nn.Dense(3)(y) if self.factor is not None else y", "Scaled(factor)(x)"),
    "it decides a kind": ("(nn.Dense(3) if self.factor is None else nn.Dense(4))(y)", "Scaled(factor)(x)"),
    "sizes follow it": ("nn.Dense(self.factor.shape[-1])(y)", "Scaled(x)(x)"),
    "a parameter starts from it": ("y * self.param('w', lambda key: jnp.ones(3) * self.factor)", "Scaled(jnp.mean(x))(x)"),
}


@pytest.mark.parametrize("what", STAYS)
def test_it_stays_with_the_constructor(what: str) -> None:
    body, call = STAYS[what]
    result = migrate(HEAD.replace("BODY", body).replace("CALL", call))
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX113"), plan.reason
    assert "def __call__(self, x, *, factor" not in after(result)


def test_a_line_ahead_of_what_goes_stays() -> None:
    text = (
        "class Scaled(nn.Module):\n  train: bool\n  @nn.compact\n  def __call__(self, x):\n    features = x.shape[-1]\n"
        "    return nn.Dense(features)(x) * (2 if self.train else 1)\n\n\n"
        "class M(nn.Module):\n  @nn.compact\n  def __call__(self, x, train: bool):\n    return Scaled(train)(x)\n"
    )
    old, new, _ = both(text)
    x = jnp.ones((2, 3))
    variables = old.Scaled(True).init(jax.random.key(0), x)
    for train in (True, False):  # as the constructor was given it, which no call says
        model = new.Scaled(train, in_features=3, rngs=nnx.Rngs(0))
        compat.from_linen(variables, model)
        same(model(x), old.Scaled(train).apply(variables, x))
    with pytest.raises(ValueError, match="neither"):
        new.Scaled(in_features=3, rngs=nnx.Rngs(0))(x)


PLAIN = """class Scaled(nn.Module):
  factor: Any = None
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(3)(x)
    return y if self.factor is None else y * self.factor


class M(nn.Module):
  @nn.compact
  def __call__(self, x, on=False):
    held = FIRST
    module = Scaled(GIVEN)
    THEN
    return module(x)
"""
CHANGED = {
    "an item of a dict": ("{'f': jnp.mean(x)}", "held['f']", "held['f'] = held['f'] + 1"),
    "an item of a list": ("[jnp.mean(x)]", "held[0]", "held[0] += 1"),
    "by a method": ("{'f': jnp.mean(x)}", "held['f']", "held.update(f=jnp.max(x))"),
    "under another name": ("[jnp.mean(x)]", "held[0]", "other = held; other[0] = other[0] + 1"),
    "by a function": ("[jnp.mean(x)]", "held[0]", "(lambda: held.append(held.pop() + 1))()"),
    "taken": ("[jnp.mean(x), jnp.max(x)]", "held.pop()", "x = x + 0"),
    "the next of some": ("iter([jnp.mean(x), jnp.max(x)])", "next(held)", "x = x + 0"),
    "another array by then": ("jnp.mean(x)", "held", "held = held + 1"),
    "nothing": ("{'f': jnp.mean(x)}", "held['f']", "x = x + 0"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_changes_before_the_call_is_what_it_was(what: str) -> None:
    """The call is given an array where the module is called, which may stand behind the place where it was made."""
    first, given, then = CHANGED[what]
    text = PLAIN.replace("FIRST", first).replace("GIVEN", given).replace("THEN", then)
    old, new, result = both(text)
    plan = {c.qualname: c for c in result.classes}["m.M"]
    if what == "nothing":
        assert plan.outcome == "native" and "module(x, factor=held['f'])" in after(result)
    x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
    variables = old.M().init(jax.random.key(0), x)
    if plan.outcome != "native":
        assert "class M(nn.Module)" in after(result)  # it goes on as it was
        return
    model = new.M(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(x), old.M().apply(variables, x))


DRAWS = {
    "of a stream": "s = Scaled(jax.random.normal(self.make_rng('params')))\n    return s(x) - s(x)",
    "by a function": "s = Scaled(drawn())\n    return s(x) - s(x)",
    "by a method": "s = Scaled(self.drawn())\n    return s(x) - s(x)",
    "by a layer": "s = Scaled(nn.Dropout(0.5, deterministic=False, rng_collection='params')(jnp.ones(3)))\n"
    "    return s(x) - s(x)",
    "later": "s = Scaled(drawn())\n    y = jax.random.normal(self.make_rng('params'))\n    return s(x) * 0 + y * 0",
}
DRAWING = """class Scaled(nn.Module):
  factor: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * self.factor


class M(nn.Module):
  def drawn(self):
    return jax.random.normal(self.make_rng('params'))

  @nn.compact
  def __call__(self, x):
    def drawn():
      return self.drawn()
    BODY
"""


@pytest.mark.parametrize("what", DRAWS)
def test_what_is_drawn_where_a_module_is_made_is_drawn_once(what: str) -> None:
    old, new, result = both(DRAWING.replace("BODY", DRAWS[what]))
    assert {str(c.outcome) for c in result.classes} == {"native"}
    x = jnp.ones((2, 3))
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_features=3, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    wanted = old.M().apply(variables, x, rngs={"params": jax.random.key(1)})
    same(model(x), wanted)
    same(wanted, jnp.zeros((2, 3)))
