"""NNX185: variables whose first values only the call knows: what they hold after calls, and what stays Linen."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from .test_later_parameters import of
from .test_later_sizes import after, both, migrate, same


def variables_of(model: Any) -> Any:
    return {name: value[...] for name, value in vars(model).items() if isinstance(value, nnx.Variable)}


COUNTING = of(
    "v = self.variable('stats', 'mean', jnp.zeros, h.shape[-1:])\n"
    "n = self.variable('stats', 'count', lambda s: jnp.full(s, 2, jnp.int32), (h.ndim,))\n"
    "if train:\n  v.value = 0.5 * v.value + h.mean(0)\n  n.value += 1\n"
    "return h + v.value * n.value[0]"
)


def test_calls_change_them_as_in_linen() -> None:
    old, new, result = both(COUNTING)
    assert "late_variable" in after(result)
    x = jnp.arange(6.0).reshape(2, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    same(variables_of(model), variables["stats"])
    for factor in (1.0, 3.0):
        y, changed = old.M().apply(variables, x * factor, train=True, mutable=["stats"])
        variables = {**variables, **changed}
        same(model(x * factor, train=True), y)
        same(variables_of(model), variables["stats"])
    same(model(x), old.M().apply(variables, x))


def test_another_shape_meets_what_was_made_as_in_linen() -> None:
    old, new, _ = both(of("v = self.variable('stats', 'v', jnp.ones, h.shape)\nreturn h * v.value"))
    x = jnp.ones((2, 3))
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    same(model(x[:1]), old.M().apply(variables, x[:1]))


REFUSED: dict[str, str] = {
    "like an array": "v = self.variable('stats', 'v', jnp.zeros_like, h)\nreturn h + v.value",
    "what arrays hold": "v = self.variable('stats', 'v', lambda: h.mean(0))\nreturn h + v.value",
    "what arrays hold, before": "m = h.mean(0)\nv = self.variable('stats', 'v', lambda: m)\nreturn h + v.value",
    "a key": (
        "v = self.variable('stats', 'v', lambda: jax.random.normal(self.make_rng('params'), h.shape))\nreturn h + v.value"
    ),
    "a flag": "if train:\n  h = h + self.variable('stats', 'v', jnp.zeros, h.shape).value\nreturn h",
    "a shape by a flag": (
        "n = 1\nif train:\n  n = 2\nreturn h + self.variable('stats', 'v', jnp.ones, (n, h.shape[-1])).value.sum(0)"
    ),
    "a return before": "if train:\n  return h\nreturn h * self.variable('stats', 'v', jnp.ones, (h.shape[-1],)).value",
    "a loop": "for i in range(2):\n  h = h * self.variable('stats', f'v{i}', jnp.ones, (h.shape[-1],)).value\nreturn h",
    "read elsewhere": (
        "v = self.variable('stats', 'v', jnp.ones, (h.shape[-1],))\nreturn h * self.get_variable('stats', 'v')"
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_call_on_shapes_does_not_show_stays_linen(what: str) -> None:
    result = migrate(of(REFUSED[what]))
    assert {report.outcome.value for report in result.classes} == {"bridged"}
    assert "LaterVariable" not in after(result)


HELD = """import flax


@flax.struct.dataclass
class Stats:
  mean: Any
  count: Any
  @classmethod
  def start(cls, shape):
    return cls(mean=jnp.zeros(shape), count=jnp.ones(shape))


""" + of(
    "v = self.variable('stats', 'v', Stats.start, h.shape[-1:])\n"
    "if train:\n  v.value = Stats(v.value.mean + h.mean(0), v.value.count + 1)\n"
    "return h * v.value.count + v.value.mean"
)


def test_they_may_hold_objects() -> None:
    old, new, _ = both(HELD)
    x = jnp.arange(6.0).reshape(2, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    same(model(x), old.M().apply(variables, x))
    y, changed = old.M().apply(variables, x, train=True, mutable=["stats"])
    same(model(x, train=True), y)
    same(model(x), old.M().apply({**variables, **changed}, x))
