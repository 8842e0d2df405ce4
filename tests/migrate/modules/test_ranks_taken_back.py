"""What follows from a guessed number of dimensions goes with the guess: axes were counted by it when no guess had fitted."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as loaded

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
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    assert [(plan.outcome, plan.code) for plan in result.classes] == [("bridged", "NNX110")]
    inputs = jnp.ones((4, 3)), jnp.ones((4, 3)), jnp.ones(2)
    found = []
    for side in (TEXT, result.files[0].after):
        assert side is not None
        module = loaded(f"ranks_{len(found)}", side)
        out, variables = module.Paths().init_with_output(jax.random.key(0), *inputs)
        found.append((np.stack(out), variables["params"]["Dense_0"]["kernel"].shape))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1] == (8, 4)


def test_a_guess_that_fits_keeps_what_follows() -> None:
    text = TEXT.replace("[a, b, t], axis=1)", "[a, b], axis=1)")
    text = text.replace("jax.vmap(nn.Dense(self.hidden), in_axes=0)", "nn.Dense(3)")
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert [plan.outcome for plan in result.classes] == ["native"]
