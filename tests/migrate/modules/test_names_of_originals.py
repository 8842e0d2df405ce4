"""Linen copies import names of the file of the originals, which has to keep them: both sides are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from .linen_copy_programs import assert_same, fresh, load, migrate, outcomes, write

__all__ = ["fresh"]

NAMES_OF_THE_ORIGINAL = {
    "pkg/__init__.py": "",
    "pkg/tables.py": """import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning

param_with_axes = partitioning.param_with_axes
Width = int


class Table(nn.Module):
    n: Width

    @nn.compact
    def __call__(self, x):
        table = param_with_axes("table", nn.initializers.ones, (self.n, x.shape[-1]), axes=("rows", "embed"))
        return jnp.tanh(x @ table.T)
""",
    "pkg/model.py": """import jax
import jax.numpy as jnp
from flax import linen as nn

from pkg.tables import Table


class Odd(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        n = 0
        while n < self.depth:
            x = Table(x.shape[-1] + n)(x)
            n += 1
        return x


def run():
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    variables = Odd().init(jax.random.key(0), x)
    return variables["params"], Odd().apply(variables, x)
""",
}


@pytest.mark.usefixtures("fresh")
def test_names_of_the_original_that_a_copy_imports_stay(tmp_path: Path) -> None:
    before = write(tmp_path / "before", NAMES_OF_THE_ORIGINAL)
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Table": "native", "Odd": "bridged"}
    assert "from pkg.tables import param_with_axes" in (tmp_path / "after/pkg/tables_linen.py").read_text()
    assert_same(load(before, "pkg.model").run(), load(tmp_path / "after", "pkg.model").run())
