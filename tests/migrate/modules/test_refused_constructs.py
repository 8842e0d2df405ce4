"""Seldom constructs next to those that are understood: such classes stay Linen, with the code that says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "from typing import Any\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"

REFUSED = {
    "a layer's subclass that is asked for by its layer": (
        "NNX160",
        """def is_dense(module):
  return isinstance(module, (nn.Conv, nn.Dense))


class M(nn.Dense):
  @nn.compact
  def __call__(self, x):
    return x @ self.param('kernel', self.kernel_init, (x.shape[-1], self.features))
""",
    ),
    "a method of the layer that the class does not replace": (
        "NNX160",
        """class M(nn.Embed):
  def setup(self):
    self.embedding = self.param('embedding', self.embedding_init, (self.num_embeddings, self.features))
  def __call__(self, t):
    return self.attend(self.embedding[t])
""",
    ),
    "what the layer's own setup makes": (
        "NNX160",
        """class M(nn.Embed):
  def __call__(self, t):
    return self.embedding[t]
""",
    ),
    "a layer's subclass that asks the layer for more": (
        "NNX136",
        """class M(nn.Dense):
  scale: float = 2.0
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.param('s', nn.initializers.ones, ()) * self.scale
""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_stays_linen(name: str) -> None:
    code, body = REFUSED[name]
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)]).classes
    plan = {p.qualname.rpartition(".")[2]: p for p in plans}["M"]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
