"""Variables that start from a key which every call draws, whether or not it makes the variable."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

HEAD = "import jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"
NORMED = """class Normed(nn.Module):
  features: int = 4
  @nn.compact
  def __call__(self, x):
    kernel = self.param("kernel", nn.initializers.lecun_normal(), (x.shape[-1], self.features))
    {key}
    held = self.variable("norms", "u", nn.initializers.normal(), {said}, (1, kernel.shape[-1]))
    v = held.value @ kernel.T
    held.value = v @ kernel / jnp.sum(v * v)
    return x @ kernel / jnp.sum(held.value)


class Two(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Normed(2)(nn.relu(Normed(5)(x)))
"""
FORMS = {
    "named": ("key = self.make_rng('norms')", "key"),
    "in place": ("pass", "self.make_rng('norms')"),
    "of params": ("key = self.make_rng()", "key"),
    "split": ("key = jax.random.split(self.make_rng('norms'))[0]", "key"),
}
REFUSED = {
    "a key under a condition": ("key = self.make_rng('norms') if x.ndim > 1 else jax.random.key(0)", "key"),
}


def _migrated(key: str, said: str) -> tuple[str, RunResult]:
    text = HEAD + NORMED.format(key=key, said=said)
    return text, migrate_project([SourceFile.parse(Path("m.py"), "m", text)])


@pytest.mark.parametrize("form", FORMS)
def test_both_sides_are_equal(form: str) -> None:
    text, result = _migrated(*FORMS[form])
    assert {c.outcome.value for c in result.classes} == {"native"}
    for created, content in result.created.items():
        _module(created.stem, content)
    linen, native = _module("keys_linen", text), _module("keys_nnx", result.files[0].after or "")
    x = jnp.asarray(np.random.RandomState(0).randn(3, 3), jnp.float32)
    keys = {"params": jax.random.key(0), "norms": jax.random.key(1)}
    variables = linen.Two().init(keys, x)
    model = native.Two(in_features=3, rngs=nnx.Rngs(0, norms=1))
    assert float(jnp.std(model.Normed_0.u[...])) > 0  # it is drawn
    compat.from_linen(variables, model)
    for _ in range(2):
        expected, changed = linen.Two().apply(variables, x, rngs=keys, mutable=["norms"])
        np.testing.assert_array_equal(model(x), expected)
        variables = {**variables, **changed}
        jax.tree.map(np.testing.assert_array_equal, compat.to_linen(model)["norms"], dict(changed["norms"]))


def test_a_key_that_is_used_again_is_drawn_by_each_call_too() -> None:
    text, result = _migrated("key = self.make_rng('norms'); x = x + jax.random.normal(key, x.shape)", "key")
    native = _module("keys_again_nnx", result.files[0].after or "")
    model = native.Normed(in_features=3, rngs=nnx.Rngs(0, norms=1))
    other = native.Normed(in_features=3, rngs=nnx.Rngs(0, norms=2))
    assert (model.u[...] != other.u[...]).all()
    linen = _module("keys_again_linen", text).Normed()
    variables = linen.init({"params": jax.random.key(0), "norms": jax.random.key(1)}, jnp.ones((400, 3)))
    compat.from_linen(variables, model)
    keys = [{"norms": jax.random.key(i)} for i in (3, 4)]
    drawn = [linen.apply(variables, jnp.ones((400, 3)), rngs=key, mutable=["norms"])[0] for key in keys]
    compat.from_linen(variables, other)
    given = [model(jnp.ones((400, 3))), other(jnp.ones((400, 3)))]
    assert (given[0] != given[1]).any() and (drawn[0] != drawn[1]).any()
    np.testing.assert_allclose(jnp.std(given[0]), jnp.std(drawn[0]), rtol=0.3)


@pytest.mark.parametrize("form", REFUSED)
def test_keys_that_are_more_than_first_values_keep_the_class_linen(form: str) -> None:
    _, result = _migrated(*REFUSED[form])
    assert {c.qualname: c.code for c in result.classes}["m.Normed"] == "NNX112"
