"""What is sown under a scan or vmap that leaves the collection out is nowhere afterwards, in Linen and in NNX."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from flax.serialization import to_state_dict
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .test_forms import sides

LINEN, NATIVE, RESULT = sides("forms_sown_and_dropped")


FLAT = ["Drops", "Keeps", "Setup", "Twice", "RematScan"]
ATTENTION = ["AttentionDropped", "AttentionKept", "AttentionOfMembers", "NeverSown"]


@pytest.mark.parametrize("name", [*FLAT, "Vm", "Mixed", "Nested", *ATTENTION])
def test_the_same_values_are_left(name: str) -> None:
    x = jnp.asarray(np.random.RandomState(0).randn(*((2, 4) if name in FLAT else (2, 3, 4))), jnp.float32)
    module = getattr(LINEN, name)()
    variables = module.init(jax.random.key(0), x)
    _, wanted = module.apply({"params": variables["params"]}, x, mutable=["intermediates", "losses"])
    plan = {c.qualname.rpartition(".")[2]: c for c in RESULT.classes}[name]
    added = {a.name: eval(a.origin, {}, dict(zip(plan.call_arguments, [x]))) for a in plan.added_arguments}
    model = getattr(NATIVE, name)(**added, rngs=nnx.Rngs(0))
    compat.from_linen({"params": variables["params"]}, model)
    model(x)
    left = {c: tree for c, tree in compat.to_linen(model).items() if c != "params"}
    expected = to_state_dict(dict(wanted))
    assert jax.tree.structure(left) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("asks,outcome", [("", "bridged"), (", sow_weights=False", "native")])
def test_attention_that_sows_in_a_function_under_a_scan_that_leaves_it_out_stays_linen(asks: str, outcome: str) -> None:
    asks = asks or ", sow_weights=self.sow"
    text = f"""import flax.linen as nn


class M(nn.Module):
  sow: bool = True
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      y = nn.MultiHeadDotProductAttention(2)(c{asks})
      return y, None
    return nn.scan(body, variable_axes={{"params": 0}}, split_rngs={{"params": True}}, length=3)(self, x, None)[0]
"""
    plan = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes[0]
    assert plan.outcome == outcome, plan.reason


def test_a_function_that_sows_what_its_scan_leaves_out_stays_linen() -> None:
    text = """import flax.linen as nn


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      y = nn.Dense(4)(c)
      mdl.sow("intermediates", "y", y)
      return y, None
    return nn.scan(body, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(self, x, None)[0]
"""
    plan = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes[0]
    assert (plan.outcome, plan.code) == ("bridged", "NNX168"), plan.reason
