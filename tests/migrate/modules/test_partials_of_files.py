"""Partials that files name (`TanhNormal = partial(Normal, squash=True)`): what their calls give by position is read."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

CLASSES = """
import functools
from functools import partial
import flax.linen as nn
import jax


class MLP(nn.Module):
    widths: tuple
    last: bool = False

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = nn.Dense(width)(x)
        return nn.relu(x) if self.last else x


class Head(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Normal(nn.Module):
    base_cls: nn.Module
    head_cls: nn.Module
    width: int
    squash: bool = False

    @nn.compact
    def __call__(self, x, *args, **kwargs):
        x = self.head_cls(self.width)(self.base_cls()(x, *args, **kwargs))
        return nn.tanh(x) if self.squash else x


TanhNormal = functools.partial(Normal, squash=True)
Deep = partial(Normal, partial(MLP, (5, 3), last=True))
"""
MAKERS = """

def tanh(width):
    base = partial(MLP, widths=(4, 5), last=True)
    return TanhNormal(base, Head, width)


def deep(width):
    return Deep(Head, width)
"""


def test_what_calls_give_by_position_is_read() -> None:
    linen, native = both_sides("named_partials", CLASSES + MAKERS)
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    for name in ("tanh", "deep"):
        before, after = (getattr(side, name)(6) for side in (linen, native))
        variables = before.init(jax.random.key(0), x)
        assert jax.tree.structure(variables) == jax.tree.structure(dict(after.init(jax.random.key(0), x)))
        np.testing.assert_array_equal(before.apply(variables, x), after.apply(variables, x))


def test_names_that_other_files_hand_on() -> None:
    files = {"dists": CLASSES, "names": "from dists import Deep, Head, MLP, TanhNormal\n"}
    files["run"] = "from functools import partial\nfrom names import Deep, Head, MLP, TanhNormal\n" + MAKERS
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])
    assert {str(c.outcome) for c in result.classes} == {"native"}, [c.reason for c in result.classes]
