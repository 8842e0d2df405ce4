"""NNX185: classes whose constructors find input sizes by a call on shapes, and programs around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx
from nnx_migrate import compat
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module
from .outside_code import named_outside

HEAD = "from typing import Any\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"
LEAVES = "def leaves(x):\n  return jax.tree.leaves({'a': x, 'b': x})\n\n\n"


def migrate(text: str, options: Options | None = None) -> RunResult:
    return migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + LEAVES + text)], options or Options())


def after(result: RunResult) -> str:
    text = result.files[0].after
    assert text is not None
    return text


def both(text: str) -> tuple[Any, Any, RunResult]:
    """The text as it is, and as it becomes."""
    result = migrate(text)
    for path, content in result.created.items():
        module(path.stem, content)
    return module("later_linen", HEAD + LEAVES + text), module("later_nnx", after(result)), result


def same(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-6), a, b)


TREE = """class Inner(nn.Module):
  width: int
  @nn.compact
  def __call__(self, obs, scale):
    h = jnp.concatenate([v.reshape(v.shape[0], -1) for v in jax.tree.leaves(obs)], -1)
    return nn.Dense(self.width)(h) * scale


class Model(nn.Module):
  width: int
  @nn.compact
  def __call__(self, obs, scale):
    h = Inner(self.width)(obs, scale)
    return nn.Dense(2)(Inner(3)({'h': h, 'o': obs['a']}, scale=scale))


def run(obs, key):
  model = Model(4)
  variables = model.init(key, obs, 2.0)
  return variables, model.apply(variables, obs, 2.0)
"""
OBS = {"a": np.ones((2, 3), np.float32), "b": np.ones((2, 4, 2), np.float32)}


def test_what_may_be_no_array_is_given_as_an_example_and_gradients_are_equal() -> None:
    old, new, result = both(TREE)
    plan = {c.qualname: c for c in result.classes}["m.Model"]
    assert [(a.name, a.origin) for a in plan.added_arguments] == [("in_example", "obs"), ("scale_example", "scale")]
    linen_model = old.Model(4)
    variables = linen_model.init(jax.random.key(0), OBS, 2.0)
    model = new.Model(4, in_example=OBS, scale_example=2.0, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    wanted = jax.grad(lambda p: jnp.sin(linen_model.apply({"params": p}, OBS, 2.0)).sum())(variables["params"])
    got = nnx.grad(lambda m: jnp.sin(m(OBS, 2.0)).sum())(model)
    same(wanted, compat.to_linen(nnx.merge(nnx.graphdef(model), got))["params"])


def test_a_program_that_makes_the_model_gives_it_the_example() -> None:
    _, new, result = both(TREE)
    assert "in_example=obs, scale_example=2.0" in after(result)
    _, output = new.run(OBS, jax.random.key(0))
    assert output.shape == (2, 2)


KEPT = """

class Trainer:
  def __init__(self, models):
    self.models = models

  def start(self, key, obs):
    return {name: model.init(key, obs, 2.0) for name, model in self.models.items()}

  def step(self, variables, obs):
    return {name: model.apply(variables[name], obs, 2.0) for name, model in self.models.items()}


def run(obs, key):
  trainer = Trainer({"a": Model(4), "b": Model(width=5)})
  variables = trainer.start(key, obs)
  return variables, jax.jit(trainer.step)(variables, obs)
"""


def test_a_functional_is_told_examples_by_their_shapes() -> None:
    old, new, result = both(TREE.split("def run")[0] + KEPT)
    assert "linen_parity.Functional" in after(result) and "linen_parity.Example(obs)" in after(result)
    variables, output = new.run(OBS, jax.random.key(0))
    wanted = {name: old.Model(width).apply(variables[name], OBS, 2.0) for name, width in (("a", 4), ("b", 5))}
    same(wanted, output)


def test_what_the_call_does_not_reach_has_no_variables_and_says_so_when_it_is_called() -> None:
    text = named_outside(
        """class M(nn.Module):
  def setup(self):
    self.layers = [nn.Dense(4) for _ in range(3)]
  def __call__(self, x, last: int = 1):
    kept = list(self.layers)
    del kept[last]
    for layer in kept:
      x = layer(leaves(x)[1])
    return x
"""
    )
    result = migrate(text)
    assert str(result.classes[0].outcome) == "native", result.classes[0].reason
    old, new, _ = both(text.split("MODELS")[0])
    x = jnp.ones((2, 3))
    variables = old.M().init(jax.random.key(0), x)
    asked = {a.name: eval(a.origin, {}, {"x": x}) for a in result.classes[0].added_arguments}
    model = new.M(**asked, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(old.M().apply(variables, x), model(x))
    with pytest.raises(ValueError, match="was not called when its owner was made"):
        model(x, last=0)


FLAT = """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(leaves(x)[0])
"""


def test_it_is_noted_and_may_be_left_out() -> None:
    result = migrate(named_outside(FLAT))
    assert str(result.classes[0].outcome) == "native"
    assert [d.message for d in result.files[0].diagnostics if d.code == "NNX185"]
    (plan,) = migrate(named_outside(FLAT), Options(ignore=("NNX185",))).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX110")


def test_a_second_run_changes_nothing() -> None:
    once = after(migrate(TREE))
    again = migrate_project([SourceFile.parse(Path("m.py"), "m", once)])
    assert again.files[0].after == once


REFUSED = {
    "a module that only a flag of the call asks for": """class M(nn.Module):
  @nn.compact
  def __call__(self, x, aux: bool = False):
    h = leaves(x)[0]
    if aux:
      h = nn.Dense(3)(h)
    return h
""",
    "behind a return that a flag decides": """class M(nn.Module):
  @nn.compact
  def __call__(self, x, short: bool = True):
    h = leaves(x)[0]
    if short:
      return h
    return nn.Dense(3)(h)
""",
    "in a helper function, where a flag asks for it": """def helped(x, layer, train):
  if train:
    return layer(x)
  return x


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return helped(leaves(x)[0], nn.Dense(3), train)
""",
    "in a helper function, behind a return that a flag decides": """def helped(x, layer, train):
  if train:
    return x
  return layer(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    return helped(leaves(x)[0], nn.Dense(3), train)
""",
    "in a helper function, where values ask for it": """def helped(x, layer):
  if x.sum() > 0:
    return layer(x)
  return x


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return helped(leaves(x)[0], nn.Dense(3))
""",
    "in a helper function, where an optional array asks for it": """def helped(x, layer, mask):
  if mask is not None:
    return layer(x)
  return x


class M(nn.Module):
  @nn.compact
  def __call__(self, x, mask=None):
    return helped(leaves(x)[0], nn.Dense(3), mask)
""",
    "in a helper function that a flag calls": """def helped(x, layer):
  return layer(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    h = leaves(x)[0]
    return helped(h, nn.Dense(3)) if train else h
""",
    "a setup of a base": """class Base(nn.Module):
  def setup(self):
    self.first = nn.Dense(2)


class M(Base):
  def setup(self):
    super().setup()
    self.last = nn.Dense(3)
  def __call__(self, x):
    return self.last(leaves(self.first(x))[0])
""",
    "given by the name of a field that the module takes, too": """class Inner(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, bias):
    return nn.Dense(self.width)(x) + nn.Dense(self.width)(bias)


class M(nn.Module):
  bias: int = 2
  @nn.compact
  def __call__(self, x):
    return Inner(self.bias)(leaves(x)[0], bias=leaves(x)[1])
""",
    "under a transform that stacks it": """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.vmap(nn.Dense, variable_axes={'params': 0}, split_rngs={'params': True})(3)(leaves(x)[0])
""",
    "a module that is handed to another, which may not call it": """class Inner(nn.Module):
  layer: nn.Module
  @nn.compact
  def __call__(self, x, skip=False):
    return x if skip else self.layer(leaves(x)[0])


class M(nn.Module):
  def setup(self):
    self.dense = nn.Dense(3)
    self.inner = Inner(self.dense)
  def __call__(self, x):
    return self.inner(x)
""",
    "what is no flag, and may be given to the constructor or to the call": """class M(nn.Module):
  scale: float | None = None
  @nn.compact
  def __call__(self, obs, scale=None):
    scale = nn.merge_param('scale', self.scale, scale)
    h = jnp.concatenate([v.reshape(v.shape[0], -1) for v in jax.tree.leaves(obs)], -1)
    return nn.Dense(3)(h) * scale
""",
    "an embedding whose table is read": """class M(nn.Module):
  def setup(self):
    self.dense = nn.Dense(3)
  def __call__(self, x):
    return self.dense(leaves(x)[0]) + self.dense.variables['params']['kernel'].sum()
""",
    "a class that another one derives from": """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(leaves(x)[0])


class More(M):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(super().__call__(x))
""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    result = migrate(named_outside(REFUSED[what]))
    assert str({c.qualname: c for c in result.classes}["m.M"].outcome) == "bridged"


def test_a_module_that_stays_linen_is_wrapped_on_what_it_is_first_called_with() -> None:
    text = """class Odd(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, y, scale=1.0):
    kernel = self.param('kernel', lambda key, like: jnp.full((like.shape[-1], self.width), like.mean()), x)
    return x @ kernel + y.sum() * scale


class M(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    a, b = leaves(x)
    h = Odd(self.width)(a, b, scale=2.0)
    return nn.Dense(3)(leaves(Odd(self.width + 1)(h, y=h))[1])
"""
    old, new, result = both(text)
    assert {c.qualname: str(c.outcome) for c in result.classes} == {"m.Odd": "bridged", "m.M": "native"}
    assert "linen_parity.Bridged(" in after(result) and "*args, rngs=rngs, **kwargs" in after(result)
    x = jnp.ones((2, 3))
    variables = old.M(4).init(jax.random.key(0), x)
    model = new.M(4, in_example=x, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(old.M(4).apply(variables, x), model(x))
    assert issubclass(new.Odd, linen.Module)


@pytest.mark.parametrize("held", [None, False])
def test_a_flag_of_the_constructor_or_of_the_call_is_given_once(held: bool | None) -> None:
    text = """class M(nn.Module):
  train: Any = None
  @nn.compact
  def __call__(self, obs, train=None):
    train = nn.merge_param('train', self.train, train)
    h = jnp.concatenate([v.reshape(v.shape[0], -1) for v in jax.tree.leaves(obs)], -1)
    h = nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(h))
    return nn.Dense(2)(nn.Dropout(0.5, deterministic=not train)(h))
"""
    old, new, result = both(text)
    assert "settle(self, in_example, train=False if train is None else None, rngs=rngs)" in after(result)
    given = {} if held is not None else {"train": False}
    variables = old.M(held).init(jax.random.key(0), OBS, **given)
    model = new.M(held, in_example=OBS, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(old.M(held).apply(variables, OBS, **given), model(OBS, **given))
