"""What the setup of a submodule computes, read by the setup around it: what stays Linen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import after, both, migrate

PARTS = """class Part(nn.Module):
  width: int
  def setup(self):
    shape = list((2, 3))
    shape[0] = self.width
    self.shape = shape
    {more}
    self.dense = nn.Dense(3)
  def __call__(self, x):
    return self.dense(x)


class Whole(nn.Module):
  width: int
  def setup(self):
    {made}
    self.w = self.param('w', nn.initializers.ones, {read})
  def __call__(self, x):
    return self.part(x) + self.w.sum()


def run(x):
  return Whole(4).init(jax.random.key(0), x)
"""
MADE = "self.part = Part(self.width)"
REFUSED: dict[str, tuple[str, str, str]] = {
    "one that is wrapped, which has no such attribute": ("self.pairs = zip((1, 2), (3, 4))", MADE, "self.part.shape"),
    "one of several": ("", "self.part = [Part(3), Part(4)][self.width % 2]", "self.part.shape"),
    "what it has not": ("", MADE, "self.part.other"),
}
# A list that setup assigns is a tuple in Linen.
LISTS = {
    "added to": "self.part.shape + (2,)",
    "compared": "(3 if self.part.shape == (4, 3) else 2,)",
    "asked for its kind": "(3 if isinstance(self.part.shape, tuple) else 2,)",
    "that sorts": "(3 if self.part.fits else 2,)",
}


def test_it_is_read_off_a_native_one() -> None:
    result = migrate(PARTS.format(more="", made=MADE, read="self.part.shape"))
    assert {r.outcome.value for r in result.classes} == {"native"}
    assert "rngs.params(), self.part.shape)" in after(result)


@pytest.mark.parametrize("what", LISTS)
def test_a_list_of_a_submodule_is_the_tuple_that_it_was(what: str) -> None:
    more = "self.names = sorted(str(self.width) + '1')\n    self.fits = self.names == ('1', '4')"
    old, new, result = both(PARTS.format(more=more, made=MADE, read=LISTS[what]))
    assert {r.outcome.value for r in result.classes} == {"native"}
    x = jnp.ones((2, 5))
    variables = old.Whole(4).init(jax.random.key(0), x)
    model = new.Whole(4, in_features=5, rngs=nnx.Rngs(0))
    assert jax.tree.map(jnp.shape, compat.to_linen(model)) == jax.tree.map(jnp.shape, dict(variables))


def test_a_wrapped_one_has_only_fields_and_methods_to_read() -> None:
    text = PARTS.format(more="self.pairs = zip((1, 2), (3, 4))", made=MADE, read="(2,)")
    for read, outcome in (("self.part.width", "native"), ("self.part.shape[0]", "bridged")):
        result = migrate(text.replace("self.part(x) +", f"self.part(x) * {read} +"))
        assert {r.qualname: r.outcome.value for r in result.classes}["m.Whole"] == outcome


@pytest.mark.parametrize("what", REFUSED)
def test_what_may_be_otherwise_stays_linen(what: str) -> None:
    more, made, read = REFUSED[what]
    result = migrate(PARTS.format(more=more, made=made, read=read))
    assert {r.qualname: r.outcome.value for r in result.classes}["m.Whole"] == "bridged"


TWO_SHAPES = """class M(nn.Module):
  big: bool = False
  def setup(self):
    if self.big:
      self.q = self.variable('stats', 'q', jnp.zeros, (4,))
    else:
      self.q = self.variable('stats', 'q', jnp.zeros, (3,))
    self.dense = nn.Dense(2)
  def __call__(self, x):
    q = jnp.broadcast_to(self.q.value, (x.shape[0], self.q.value.shape[0]))
    return self.dense(jnp.concatenate([x, q], -1))
"""


@pytest.mark.parametrize("big", [False, True])
def test_a_variable_of_one_of_two_shapes_tells_no_size(big: bool) -> None:
    old, new, result = both(TWO_SHAPES)
    (plan,) = result.classes
    assert [a.name for a in plan.added_arguments] == ["dense_input_features"]
    x = jnp.ones((2, 5))
    variables = old.M(big).init(jax.random.key(0), x)
    model = new.M(big, dense_input_features=9 if big else 8, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    assert jnp.array_equal(model(x), old.M(big).apply(variables, x))
