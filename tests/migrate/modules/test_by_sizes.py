"""NNX185: modules that a method makes or not by sizes that are not known: the call on shapes makes what it comes by."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import errors, nnx
from nnx_migrate import compat

from .test_by_passes import CLASSES, array
from .test_later_sizes import after, both, migrate

RESIZE = """class Resize(nn.Module):
  size: tuple
  @nn.compact
  def __call__(self, x):
    x = jax.image.resize(x, (*x.shape[:-3], *self.size, x.shape[-1]), 'linear')
    return nn.Conv(x.shape[-1], (3, 3))(x)


class Flipped(nn.Module):
  features: int
  kernel_size: tuple
  @nn.compact
  def __call__(self, x):
    return nn.Conv(self.features, self.kernel_size)(jnp.flip(x, 1))


def layer(features, kernel_size, padding, **kwargs):
  if isinstance(padding, str) and padding.lower() == 'flip':
    return Flipped(features, kernel_size, **kwargs)
  elif padding == 'local':
    return nn.ConvLocal(features, kernel_size, **kwargs)
  return nn.Conv(features, kernel_size, padding=padding, **kwargs)


"""


def of(body: str, arguments: str = "x", fields: str = "length: int = 4") -> str:
    head = f"class M(nn.Module):\n  {fields}\n  @nn.compact\n  def __call__(self, {arguments}):\n"
    return CLASSES + RESIZE + head + "".join(f"    {line}\n" for line in body.splitlines())


BY_NAME = """found = []
for key, value in sorted(cond.items()):
  if value.shape[-3:-1] != (self.length, self.length):
    value = Resize((self.length, self.length), name=f'resize_{key}')(value)
  found.append(value)
return jnp.concatenate(found, axis=-1)"""
IN_TURN = """found = []
for value in xs:
  if value.shape[-3:-1] != (self.length, self.length):
    value = Resize((self.length, self.length))(value)
  if value.shape[-1] > 2:
    value = nn.Dense(2)(value)
  else:
    value = nn.Dense(3)(nn.relu(value))
  found.append(nn.LayerNorm()(value))
return nn.Dense(4)(jnp.concatenate(found, axis=-1))"""
MAKERS = """for key, value in sorted(cond.items()):
  value = nn.swish(nn.LayerNorm()(value))
  if value.shape[1] != x.shape[1]:
    value = nn.avg_pool(value, (2, 2), (2, 2))
  value = layer(features=3, kernel_size=(3, 3), padding=self.padding, name=f'conv_{key}')(value)
  x = jnp.concatenate([x, value], axis=-1)
return x"""
ONCE = """h = leaves(x)[0]
if h.shape[1] != self.length:
  h = nn.Dense(8)(h)
h = jnp.tanh(nn.Dense(5)(h))
size = h.shape[0]
if size > 2 and self.length:
  h = nn.LayerNorm(name='norm')(leaves(h)[1])
  width = 6
else:
  h = Block(3)(h)
  width = 7
if width > 6:
  h = nn.relu(h)
return nn.Dense(width)(leaves(h)[0]), nn.LayerNorm()(h)"""
NESTED = """h = leaves(x)[1]
if h.ndim > 2:
  if h.shape[1] > self.length:
    h = nn.Dense(3)(h)
    if self.length > 2:
      h = Block(2)(h)
  h = h.mean(1)
return nn.Dense(2)(h)"""

GUARDED = """h = leaves(x)[0]
if h.shape[0] == 3:
  h = nn.Dense(4)(h)
elif h.shape[-1] == 3:
  raise ValueError
return h"""

BY_KEY = """found = []
for key, value in sorted(cond.items()):
  if key.startswith('b'):
    value = Resize((self.length, self.length), name=f'resize_{key}')(value)
  elif key != 'a':
    value = nn.Dense(3)(value)
  found.append(value.mean((1, 2)))
return nn.Dense(4)(jnp.concatenate(found, axis=-1))"""
BY_COUNT = """ys = []
for i, y in enumerate(xs):
  if i % 2:
    y = Block(3)(y)
  ys.append(nn.Dense(2)(y).mean())
return ys"""

MAPS = {"a": array(2, 4, 4, 3), "b": array(2, 6, 5, 2), "c": array(2, 3, 3, 1)}
FOUR = {"a": array(2, 4, 4, 3), "b": array(2, 4, 4, 2)}
PROGRAMS: dict[str, tuple[str, list[tuple[Any, ...]], dict[str, Any]]] = {
    "by name in a loop": (of(BY_NAME, "cond"), [(MAPS,), (FOUR,)], {}),
    "in turn in a loop": (of(IN_TURN, "xs"), [(list(MAPS.values()),), (list(FOUR.values()),)], {}),
    "by name, of a function": (
        of(MAKERS, "x, cond", "padding: str = 'SAME'"),
        [(array(2, 4, 4, 1), FOUR), (array(2, 2, 2, 1), FOUR)],
        {},
    ),
    "by name, of a class": (of(MAKERS, "x, cond", "padding: str"), [(array(2, 4, 4, 1), FOUR)], {"padding": "Flip"}),
    "by name, of another": (of(MAKERS, "x, cond", "padding: str"), [(array(2, 4, 4, 1), FOUR)], {"padding": "local"}),
    "by keys of the passes": (of(BY_KEY, "cond"), [(MAPS,), (FOUR,)], {}),
    "by numbers of the passes": (of(BY_COUNT, "xs"), [(list(MAPS.values()),), (list(FOUR.values()),)], {}),
    "outside of loops": (of(ONCE), [(array(2, 3, 3),), (array(2, 4, 3),), (array(3, 4, 3),), (array(3, 3, 3),)], {}),
    "beside one that raises": (of(GUARDED), [(array(3, 5),), (array(2, 5),), (array(3, 3),)], {}),
    "one within the other": (of(NESTED), [(array(2, 3),), (array(2, 3, 3),), (array(2, 6, 3),)], {}),
    "one within the other, by a field": (of(NESTED), [(array(2, 3),), (array(2, 6, 3),)], {"length": 2}),
}


def equal(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    assert all(jax.tree.leaves(jax.tree.map(lambda x, y: bool((x == y).all()), a, b)))


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_a_call_comes_by_is_made(what: str) -> None:
    text, every, fields = PROGRAMS[what]
    old, new, result = both(text)
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    plan = next(r for r in result.classes if r.qualname == "m.M")
    for given in every:
        module = old.M(**fields)
        variables = module.init(jax.random.key(0), *given)
        call = dict(zip(plan.call_arguments, given))
        model = new.M(**fields, **{a.name: eval(a.origin, {}, call) for a in plan.added_arguments}, rngs=nnx.Rngs(0))
        fresh = compat.to_linen(model)
        assert jax.tree.map(jnp.shape, fresh) == jax.tree.map(jnp.shape, dict(variables))
        compat.from_linen(variables, model)
        wanted = module.apply(variables, *given)
        equal(model(*given), wanted)
        equal(nnx.jit(lambda m, g: m(*g))(model, given), jax.jit(lambda v, g, m=module: m.apply(v, *g))(variables, given))
        got = nnx.jit(nnx.grad(lambda m, g: sum((leaf**2).sum() for leaf in jax.tree.leaves(m(*g)))))(model, given)
        assert len(jax.tree.leaves(got)) == len(jax.tree.leaves(variables))


def test_other_sizes_raise_as_in_linen() -> None:
    old, new, _ = both(of(BY_NAME, "cond"))
    variables = old.M().init(jax.random.key(0), MAPS)
    model = new.M(in_example=MAPS, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    fit = {"a": MAPS["a"], "b": FOUR["b"]}
    assert (model(fit) == old.M().apply(variables, fit)).all()
    odd = {"a": MAPS["b"]}
    with pytest.raises(Exception, match="resize_a"):
        old.M().apply(variables, odd)
    with pytest.raises(ValueError, match="M was made without a module 'resize_a'"):
        model(odd)


def test_other_sizes_never_take_a_module_of_another_place() -> None:
    old, new, _ = both(of(ONCE))
    for made, given in [((2, 3, 3), (2, 4, 3)), ((2, 4, 3), (2, 3, 3)), ((2, 4, 3), (3, 4, 3)), ((3, 4, 3), (2, 4, 3))]:
        variables = old.M().init(jax.random.key(0), array(*made))
        model = new.M(in_example=array(*made), rngs=nnx.Rngs(0))
        compat.from_linen(variables, model)
        with pytest.raises((errors.ScopeParamNotFoundError, errors.ScopeParamShapeError)):
            old.M().apply(variables, array(*given))
        with pytest.raises(ValueError, match=r"another place of the call|asks for more|was not called"):
            model(array(*given))


REFUSED = {  # behind `h = leaves(x)[0]`
    "a flag beside": "if train and h.shape[1] > 2:\n  h = nn.Dense(8)(h)\nreturn nn.Dense(4)(h)",
    "a flag around": "if train:\n  if h.shape[1] > 2:\n    h = nn.Dense(8)(h)\nreturn nn.Dense(4)(h)",
    "what arrays hold": "if h.shape[1] > h.max():\n  h = nn.Dense(8)(h)\nreturn nn.Dense(4)(h)",
    "what arrays of a loop hold": "for y in x:\n  if y.sum() > 0:\n    h = nn.Dense(4)(h)\nreturn h",
    "a parameter": "if h.ndim > 2:\n  h = h * self.param('w', nn.initializers.ones, (1,))\nreturn nn.Dense(4)(h)",
    "lifted": "if h.shape[1] > 2:\n  h = nn.remat(nn.Dense)(8)(h)\nreturn nn.Dense(4)(h)",
    "in a function": "def f(h):\n  if h.ndim > 2:\n    h = nn.Dense(8)(h)\n  return h\nreturn nn.Dense(4)(f(h))",
    "a number of the pass": "for i, y in enumerate(leaves(x)):\n  x = layer(i, (3,), 'SAME', name=f'l_{i}')(y)\nreturn x",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_sizes_may_not_decide_stays_linen(what: str) -> None:
    result = migrate(of("h = leaves(x)[0]\n" + REFUSED[what], "x, train: bool = False"))
    assert {r.outcome.value for r in result.classes if r.qualname == "m.M"} == {"bridged"}
    assert "InTurn" not in after(result)
