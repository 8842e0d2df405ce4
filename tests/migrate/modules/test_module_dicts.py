"""Dicts of modules in the order in which they were made, also of a model that was split and merged; what keeps none."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

FORMS = Path(__file__).parent / "forms_module_dicts.py"


@pytest.mark.parametrize("name", ["Values", "Sorted", "Items", "Chained", "ItemByItem", "Numbers"])
def test_a_merged_model_has_the_items_in_their_order(name: str) -> None:
    text = FORMS.read_text()
    result = migrate_project([SourceFile.parse(FORMS, FORMS.stem, text)])
    after = result.files[0].after
    assert after is not None
    for path, content in result.created.items():
        _module(path.stem, content)
    linen, native = _module("dicts_linen", text), _module("dicts_nnx", after)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 3), jnp.float32)
    module = getattr(linen, name)()
    variables = module.init(jax.random.key(0), x)
    model = getattr(native, name)(in_features=3, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    merged = nnx.merge(*nnx.split(model))
    expected, got = module.apply(variables, x), merged(x)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got), strict=True))
    assert jax.tree.structure(compat.to_linen(merged)["params"]) == jax.tree.structure(variables["params"])


HEADS = 'self.heads = {"b": nn.Dense(3), "a": nn.Dense(3)}'
REFUSED = {
    "another name whose items are asked for": (HEADS, "heads = self.heads\n    return [h(x) for h in heads.values()]"),
    "a dict in a list": (HEADS.replace("= {", "= [{").replace("}", "}]"), "return [h(x) for h in self.heads[0].values()]"),
    "a dict that is handed on": (HEADS, "return total(self.heads, x)"),
    "all items, of which some may not be there": (
        "heads = {'b': nn.Dense(3)}\n    if self.more:\n      heads['a'] = nn.Dense(3)\n    self.heads = heads",
        "return [h(x) for h in self.heads.values()]",
    ),
    "numbers and their items": (
        "self.heads = {10: nn.Dense(3), 9: nn.Dense(3)}",
        "return [h(x) for _, h in self.heads.items()]",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_order_that_nothing_keeps_is_refused(what: str) -> None:
    setup, call = REFUSED[what]
    text = f"""from flax import linen as nn


def total(heads, x):
  return sum(h(x).sum() for h in heads.values())


class M(nn.Module):
  more: bool = True
  def setup(self):
    {setup}
  def __call__(self, x):
    {call}
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX121"), plan.reason
