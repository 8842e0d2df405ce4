"""Which slices of shapes are spelled out, and that an array of fewer dimensions raises."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from flax import nnx
from nnx_migrate.migrate.inlining.items_of_shapes import _items
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = """from flax import linen as nn


class Sized(nn.Module):
    a: int
    b: int = 7

    @nn.compact
    def __call__(self, x):
        return x * self.param("w", nn.initializers.ones, (self.a, self.b)).sum()


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Sized(*{given})(x)
"""


@pytest.mark.parametrize(
    "text,items",
    [
        ("x.shape[-2:]", [-2, -1]),
        ("x.shape[:2]", [0, 1]),
        ("x.shape[1:3]", [1, 2]),
        ("x.shape[-3:-1]", [-3, -2]),
        ("x.shape[1:]", []),
        ("x.shape[1:-1]", []),
        ("x.shape[:-1]", []),
        ("x.shape[-2:3]", []),
        ("x.shape[-2::2]", []),
        ("x.shape[-n:]", []),
        ("x.shape[:n]", []),
        ("x.shape[:True]", []),
        ("f(x).shape[-2:]", []),
        ("x.sizes[-2:]", []),
        ("x.shape[2:1]", []),
    ],
)
def test_what_is_spelled_out(text: str, items: list[int]) -> None:
    assert _items(ast.parse(text, mode="eval").body) == [f"x.shape[{i}]" for i in items]


@pytest.mark.parametrize("given,native", [("x.shape[-2:]", True), ("x.shape[1:]", False)])
def test_an_array_of_fewer_dimensions_raises(given: str, native: bool) -> None:
    result = migrate_project([SourceFile.parse(Path("given_items.py"), "given_items", TEXT.format(given=given))])
    found = {c.qualname.rpartition(".")[2]: c.outcome.value for c in result.classes}
    assert found["Net"] == ("native" if native else "bridged")
    after = result.files[0].after
    if native and after is not None:
        with pytest.raises((IndexError, ValueError)):
            module("given_items_nnx", after).Net(in_shape=(3,), rngs=nnx.Rngs(0))
