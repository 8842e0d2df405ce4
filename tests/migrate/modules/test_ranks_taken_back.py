"""What follows from a guessed number of dimensions goes with the guess: axes were counted by it when no guess had fitted."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

TEXT = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Paths(nn.Module):
  hidden: int = 4
  @nn.compact
  def __call__(self, a, b, t):
    t = jnp.repeat(t[None, ...], repeats=a.shape[0], axis=0)
    x = jnp.concatenate([a, b, t], axis=1)
    h = nn.relu(jax.vmap(nn.Dense(self.hidden), in_axes=0)(x))
    return nn.Dense(1)(h).squeeze(), nn.sigmoid(nn.Dense(1)(h)).squeeze()
"""


def test_no_rank_is_left_of_guesses_that_fail() -> None:
    before, after = both_sides("ranks_taken_back", TEXT)
    inputs = jnp.ones((4, 3)), 2 * jnp.ones((4, 3)), jnp.arange(2.0)
    linen = before.Paths()
    variables = linen.init(jax.random.key(0), *inputs)
    model = after.Paths(in_shape=(4, 3), t_shape=(2,), b_example=inputs[1], rngs=nnx.Rngs(0))
    assert model.Dense_0.kernel.shape == variables["params"]["Dense_0"]["kernel"].shape == (8, 4)
    assert compat.check_equivalence(linen, variables, model, *inputs)


def test_a_guess_that_fits_keeps_what_follows() -> None:
    text = TEXT.replace("[a, b, t], axis=1)", "[a, b], axis=1)")
    text = text.replace("jax.vmap(nn.Dense(self.hidden), in_axes=0)", "nn.Dense(3)")
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert [plan.outcome for plan in result.classes] == ["native"]
