"""Examples that nobody wrote: what is likely is taken before what Linen merely accepts."""

from __future__ import annotations

import importlib
from typing import Any

import flax.linen as nn
import pytest
from nnx_migrate.compat.equivalence import guessing


class Flattened(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Conv(4, (3, 3))(x)
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


class OfOneImage(nn.Module):
    @nn.compact
    def __call__(self, image: Any) -> Any:
        height, width, channels = image.shape
        return nn.Conv(channels, (3, 3))(image).reshape((height, width * channels))


class Refused(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        raise ValueError("no shape suits it")


@pytest.mark.parametrize("cls, rank", [(Flattened, 4), (OfOneImage, 3)])
def test_a_convolution_is_given_a_batch_where_one_will_do(cls: Any, rank: int) -> None:
    (shape,) = guessing.example(cls, importlib.import_module).inputs.values()
    assert len(shape.shape) == rank


def test_no_example_says_what_was_raised() -> None:
    with pytest.raises(guessing.NoExample, match="no shape suits it"):
        guessing.example(Refused, importlib.import_module)
