"""Keys and values of attention that are not equally wide: the code shows it, or the call says it."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

TEXT = (Path(__file__).parent / "forms_keys_and_values.py").read_text()


def test_a_call_with_unlike_widths_raises_as_the_report_says() -> None:
    _, after = both_sides("keys_and_values", TEXT)
    model = after.Decoder(in_features=4, key_features=6, rngs=nnx.Rngs(0))
    with pytest.raises(TypeError, match="contracting dimensions"):
        model(jnp.ones((2, 3, 4)), jnp.ones((2, 5, 6)), jnp.ones((2, 5, 8)))
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    notes = [d.message for d in result.files[0].diagnostics if d.code == "NNX117"]
    assert notes == ["the keys and the values of attention must have one width; else its call fails"] * 2


@pytest.mark.parametrize("values", ["jnp.concatenate([keys, keys], -1)", "nn.Dense(5)(keys)"])
def test_widths_that_differ_are_left(values: str) -> None:
    text = f"""import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, keys):
        keys = nn.Dense(6)(keys)
        return nn.MultiHeadDotProductAttention(num_heads=2)(x, keys, {values})
"""
    (net,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(net.outcome) == "bridged" and net.reason == "attention whose keys and values have different sizes"
