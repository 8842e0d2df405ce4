"""Items of dicts whose other items are not known: what may have been replaced is not taken for what it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .outside_code import named_outside

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = """import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  key: str = 'a'
  @nn.compact
  def __call__(self, x):
    out = {}
    for i in range(2):
      x = nn.Dense(4)(x)
      out[f'x{i}'] = x
    out['a'] = x
"""
REFUSED = {
    "an item that a computed key may have replaced": "    out[self.key] = x[..., :2]\n    return nn.Dense(3)(out['a'])\n",
    "an item that was not set since": "    return nn.Dense(3)(out['x1'])\n",
    "an item of another name": "    other = out\n    other['a'] = x[..., :2]\n    return nn.Dense(3)(out['a'])\n",
    "an item that was taken out": "    out.pop('a')\n    out.update(a=x[..., :2])\n    return nn.Dense(3)(out['a'])\n",
    "an item set on one side of a condition": """    if x.sum() > 0:
      out['a'] = x[..., :2]
    return nn.Dense(3)(out['a'])
""",
    "an item that a function sets": """    def put(table):
      table['a'] = x[..., :2]
    put(out)
    return nn.Dense(3)(out['a'])
""",
    "an item that a function around which it stands sets": """    def put(key, value):
      out[key] = value
    put('a', x[..., :2])
    return nn.Dense(3)(out['a'])
""",
    "an item of a list that a function sets": """    items = [x, x]
    def put(value):
      items[0] = value
    put(x[..., :2])
    return nn.Dense(3)(items[0])
""",
    "one of two widths by a computed key": """    out = {'a': x, 'b': x[..., :2]}
    return nn.Dense(3)(out[self.key])
""",
    "one of which a width is not known, by a computed key": """    out = {'a': x, 'b': getattr(jnp, self.key)(x)}
    return nn.Dense(3)(out[self.key])
""",
    "what a computed key has replaced, by that key": """    out = {'a': x, 'b': x * 2}
    out[self.key] = x[..., :2]
    return nn.Dense(3)(out[self.key])
""",
    "what a loop has changed, by a computed key": """    out = {'a': x, 'b': x * 2}
    for key in out:
      out[key] = jnp.concatenate([out[key], x], -1)
    return nn.Dense(3)(out[self.key])
""",
}


def _plan(body: str) -> object:
    text = named_outside(HEAD + body)
    return {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    plan = _plan(REFUSED[what])
    assert (plan.outcome, plan.code) == ("bridged", "NNX110"), plan.reason  # type: ignore[attr-defined]


def test_the_item_set_last_is_known() -> None:
    plan = _plan("    return nn.Dense(3)(out['a'])\n")
    assert plan.outcome == "native", plan.reason  # type: ignore[attr-defined]
