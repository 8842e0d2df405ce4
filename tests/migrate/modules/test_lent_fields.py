"""Fields that each call lends a module: other values at other calls, what the module keeps, and what stays Linen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import after, both, migrate, same

PARTS = """class Scale(nn.Module):
  factor: Any
  @nn.compact
  def __call__(self, x):
    y = nn.BatchNorm(use_running_average=False)(nn.Dense(3)(x))
    self.sow('intermediates', 'y', y)
    return y * self.factor


class Within(nn.Module):
  factor: Any
  power: int = 1
  @nn.compact
  def __call__(self, x):
    return Scale(self.factor)(x) ** self.power


class Sized(nn.Module):
  size: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(x.shape[-1])(x.reshape(-1, self.size)) * self.size


class Listed(nn.Module):
  factors: Any
  @nn.compact
  def __call__(self, x):
    return x * sum(self.factors + (1.0,))


class Flagged(nn.Module):
  train: bool = False
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(3)(x)
    return self.scaled(y) if self.train is not None else y
  def scaled(self, y):
    return y * (2 if self.train else 1)


class Perhaps(nn.Module):
  wanted: bool
  @nn.compact
  def __call__(self, x):
    wanted = not self.wanted
    if wanted:
      x = nn.Dense(3)(x)
    return x


"""
HEAD = "class M(nn.Module):\n  @nn.compact\n  def __call__(self, x, n: float = 2.0, train: bool = False):\n"


def of(body: str) -> str:
    return PARTS + HEAD + "".join(f"    {line}\n" for line in body.splitlines())


LENT = {
    "a length": "return Scale(x.shape[1])(x)",
    "an argument": "return Scale(n)(x)",
    "what arrays hold": "scale = Scale(jnp.mean(x))\nx = x + 1\nreturn scale(x)",
    "a list, which Linen freezes": "return Listed([n, x.mean()])(Scale(n)(x))",
    "a flag that a helper reads, and that is compared": "x = Scale(n)(x)\nreturn Flagged(train=x.shape[1] == 2)(x)",
    "to one that is called twice": "scale = Scale(n)\nn = 7.0\nreturn scale(scale(x)) * n",
    "applied to a tree": "scale = Scale(n)\nn = 7.0\nreturn jax.tree.map(scale, x) * n",
    "in a loop": "for i in range(2):\n  x = Scale(n * i)(x)\nreturn Scale(x.shape[1])(x)",
}


@pytest.mark.parametrize("what", LENT)
def test_each_call_has_its_own(what: str) -> None:
    old, new, result = both(of(LENT[what]))
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert str(plan.outcome) == "native" and "linen_parity.with_fields(" in after(result), plan.reason
    x = jnp.sin(jnp.arange(24.0)).reshape(2, 4, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(**{a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}, rngs=nnx.Rngs(0))
    assert jax.tree.map(jnp.shape, compat.to_linen(model)["params"]) == jax.tree.map(jnp.shape, dict(variables["params"]))
    compat.from_linen({k: v for k, v in variables.items() if k != "intermediates"}, model)
    before = jax.tree.structure(nnx.split(model)[1])
    for given in ((x,), (x[:, :2], 3.0), (x[:1], 0.5)):
        kept = {k: v for k, v in compat.to_linen(model).items() if k != "intermediates"}
        wanted, changed = old.M().apply(kept, *given, mutable=["batch_stats", "intermediates"])
        same(nnx.jit(lambda m, *args: m(*args))(model, *given), wanted)
        same(compat.to_linen(model)["batch_stats"], dict(changed["batch_stats"]))
        sown = jax.tree.map(jnp.shape, jax.tree.leaves(nnx.pop(model, nnx.Intermediate)))
        assert sorted(sown) == sorted(jax.tree.map(jnp.shape, jax.tree.leaves(changed["intermediates"])))
    assert jax.tree.structure(nnx.split(model)[1]) == before


def test_what_the_call_on_shapes_makes_is_lent_them_too() -> None:
    text = PARTS + (
        "class M(nn.Module):\n  @nn.compact\n  def __call__(self, obs):\n"
        "    h = jnp.concatenate([v.reshape(v.shape[0], -1) for v in jax.tree.leaves(obs)], -1)\n"
        "    return Scale(h.shape[0])(h) + Scale(h.sum())(h)\n"
    )
    old, new, result = both(text)
    assert "linen_parity.Later(" in after(result) and "linen_parity.with_fields(" in after(result)
    obs = {"a": jnp.ones((2, 3)), "b": jnp.arange(16.0).reshape(2, 4, 2)}
    variables = old.M().init(jax.random.key(0), obs)
    model = new.M(in_example=obs, rngs=nnx.Rngs(0))
    compat.from_linen({k: v for k, v in variables.items() if k != "intermediates"}, model)
    for one in (obs, jax.tree.map(lambda v: jnp.concatenate([v, 2 * v]), obs)):
        wanted, _ = old.M().apply(variables, one, mutable=["batch_stats", "intermediates"])
        same(model(one), wanted)


def test_it_has_its_own_again_when_its_call_fails() -> None:
    _, new, _ = both(of("return Scale(n)(x)"))
    model = new.M(in_features=3, rngs=nnx.Rngs(0))
    with pytest.raises(TypeError):
        model(jnp.ones((2, 3)), "no number")
    assert model.Scale_0.factor is None


CLASS = "class Other(nn.Module):\n  factor: Any\n  @nn.compact\n  def __call__(self, x):\n    y = nn.Dense(3)(x)\n"
OTHERS = {
    "a function that reads it later": f"{CLASS}    return lambda: y * self.factor\n",
    "a method that is handed out": f"{CLASS}    return y, self.scaled\n  def scaled(self, y):\n    return y * self.factor\n",
    "a whole module that is handed on": f"{CLASS}    return scaled(self, y)\n",
    "setup computes with it": (
        "class Other(nn.Module):\n  factor: Any\n  def setup(self):\n    self.twice = 2 * self.factor\n"
        "  def __call__(self, x):\n    return x * self.twice\n"
    ),
    "a parameter starts from it": f"{CLASS}    return y + self.param('w', nn.initializers.constant(self.factor), (1,))\n",
    "a dtype of parameters": f"{CLASS}    return nn.Dense(3, param_dtype=self.factor)(y)\n",
    "a property": f"{CLASS}    return y * self.half\n  @property\n  def half(self):\n    return self.factor / 2\n",
    "a class that derives": f"{CLASS}    return y * self.factor\n\n\nclass More(Other):\n  rate: float = 0.1\n",
    "asked for by name": f"{CLASS}    return y * getattr(self, 'factor')\n",
    "modules by what follows from it": f"{CLASS}    n = 2 * self.factor\n    return nn.Dense(3)(y) if n > 2 else y\n",
    "a return by it": f"{CLASS}    if self.factor > 2:\n      return y\n    return nn.Dense(3)(y)\n",
    "kinds by it": f"{CLASS}    norm = nn.LayerNorm if self.factor > 2 else nn.RMSNorm\n    return norm()(y)\n",
}
SCALED = "def scaled(module, y):\n  return y * module.factor\n\n\n"


@pytest.mark.parametrize("what", OTHERS)
def test_a_class_that_does_more_with_it_stays_as_it_was(what: str) -> None:
    text = of("return Other(n)(x)")
    result = migrate(SCALED + OTHERS[what] + "\n\n" + text)
    assert "with_fields" not in after(result)
    assert {c.qualname: str(c.outcome) for c in result.classes}["m.M"] == "bridged"


REFUSED = {
    "modules by a flag": "return Perhaps(n > 2)(x)",
    "read where it was made": "scale = Scale(x.shape[1])\nreturn scale(x) * scale.factor",
    "handed on": "scale = Scale(n)\nreturn jax.lax.map(scale, x)",
    "a module within is given it": "return Within(n)(x)",
    "a transform": "return nn.remat(Scale)(n)(x)",
    "two of one name": "return Scale(n, name='a')(x) if train else Scale(1.0, name='a')(x)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    result = migrate(of(REFUSED[what]))
    assert {c.qualname: str(c.outcome) for c in result.classes}["m.M"] == "bridged"
    assert "with_fields" not in after(result)


def test_a_class_that_cannot_be_lent_a_field_decides_by_it_as_before() -> None:
    text = after(migrate(of("return Perhaps(n > 2)(x)")))
    assert "    if wanted:\n      self.Dense_0 = nnx.Linear(in_features, 3, rngs=rngs)\n" in text
