"""Variables that may hold None, or what is not followed, are read as a whole: NNX's indexing asks for an array."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import flax.linen as nn
import jax.numpy as jnp


class Shifted(nn.Module):
    shift: int = 0

    def mask_of(self, shift, count):
        if shift > 0:
            mask = jnp.arange(count) < shift
        else:
            mask = None
        return mask

    @nn.compact
    def __call__(self, x):
        shift, count = self.shift, x.shape[-1]
        mask = self.variable("masks", "mask", self.mask_of, self.shift, 4)
        unset = self.variable("masks", "unset", lambda: None)
        x = nn.Dense(4)(x)
        if mask.value is not None:
            x = jnp.where(mask.value, x, 0.0)
        return x if unset.value is None else x + unset.value
"""


@pytest.mark.parametrize("shift", [0, 2])
def test_outputs_are_the_same(shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    sides = types.ModuleType("none_linen"), types.ModuleType("none_migrated")
    for module, text in zip(sides, (TEXT, result.files[0].after or "")):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(text, module.__name__, "exec"), module.__dict__)
    x = jnp.ones((2, 3))
    variables = sides[0].Shifted(shift).init(jax.random.key(0), x)
    model = sides[1].Shifted(shift, in_features=3, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    wanted = sides[0].Shifted(shift).apply(variables, x)
    assert (model(x) == wanted).all()
