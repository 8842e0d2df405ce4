"""Keywords of attention that a mapping holds and that NNX must be told: the constructor raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from flax import nnx

from .loading import both_sides

TEXT = (Path(__file__).parent / "forms_attention_options.py").read_text()


@pytest.mark.parametrize(
    "options", [{"out_features": 3}, {"qkv_features": 6}, {"dtype": jnp.bfloat16}, {"normalize_qk": True}]
)
def test_what_a_mapping_may_not_say_raises(options: dict[str, Any]) -> None:
    _, after = both_sides("attention_options", TEXT)
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` of Linen's attention must be written out"):
        after.Older(options, in_features=4, rngs=nnx.Rngs(0))
