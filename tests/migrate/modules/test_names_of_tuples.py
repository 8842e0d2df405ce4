"""Names that a file gives values several at a time: `WIDTH, DEPTH = 4, 2`. Each is one item, not all of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

TEXT = """from flax import linen as nn

WIDTH, DEPTH = 4, 2
(SIZES, KINDS), Act = ((8, 6, 5), ("a", "b")), nn.relu
FIRST = LAST, MORE = 3, 7
KERNEL, *REST = (3, 3), 1


class Deep(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(DEPTH):
            x = nn.Dense(WIDTH)(x)
        return nn.Dense(2 * x.shape[-1])(x)


class Sized(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        for size in SIZES:
            x = Act(nn.Dense(size)(x))
        if self.kind in KINDS:
            x = nn.Dense(len(SIZES))(x)
        return nn.Dense(x.shape[-1])(x)


class Both(nn.Module):
    @nn.compact
    def __call__(self, x):
        for size in FIRST:
            x = nn.Dense(size)(x)
        x = nn.Dense(MORE)(nn.Dense(LAST)(x))
        return nn.Conv(5, KERNEL)(x[:, None, None])
"""


@pytest.mark.parametrize(
    "name,fields", [("Deep", {}), ("Sized", {}), ("Sized", {"kind": "c"}), ("Both", {})], ids=lambda v: str(v)
)
def test_each_name_is_its_item(name: str, fields: dict[str, str]) -> None:
    before, after = both_sides("names_of_tuples", TEXT)
    x = jax.random.normal(jax.random.key(0), (2, 4))
    linen = getattr(before, name)(**fields)
    variables = linen.init(jax.random.key(1), x)
    module = getattr(after, name)
    given = {"in_features": 4} if name != "Sized" else {"in_shape": x.shape}
    assert compat.check_equivalence(linen, variables, module(**fields, **given, rngs=nnx.Rngs(0)), x)


def test_sizes_are_known_without_a_call_on_shapes() -> None:
    _, after = both_sides("names_of_tuples", TEXT)
    deep = after.Deep(in_features=4, rngs=nnx.Rngs(0))
    assert [layer.kernel.shape for layer in deep.Dense] == [(4, 4), (4, 4), (4, 8)]
    assert deep(jnp.ones((2, 4))).shape == (2, 8)
