"""Attention as flax before 0.7.4 called it: `attention(inputs_q, inputs_kv, mask)`, which today's Linen cannot run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "import flax.linen as nn\nimport jax.numpy as jnp\n\n\n"
MODEL = """class Block(nn.Module):
    bias_mask: bool = False

    @nn.compact
    def __call__(self, x, encoded, cross_mask=None):
        mask = nn.make_attention_mask(x[..., 0], encoded[..., 0])
        return nn.MultiHeadDotProductAttention(2, deterministic=True)(x, encoded, MASK)
"""
MASKS = ("mask", "cross_mask", "nn.make_attention_mask(x[..., 0], encoded[..., 0])", "nn.combine_masks(mask, cross_mask)")
VALUES = ("encoded * 2", "jnp.tanh(encoded)", "None")


def _after(given: str) -> str:
    text = HEAD + MODEL.replace("MASK", given)
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    assert file.after is not None and "class Block(nnx.Module)" in file.after, given
    return file.after


@pytest.mark.parametrize("mask", MASKS)
def test_the_third_is_the_mask(mask: str) -> None:
    assert ast.dump(ast.parse(_after(mask))) == ast.dump(ast.parse(_after(f"mask={mask}")))


@pytest.mark.parametrize("values", VALUES)
def test_what_is_no_mask_by_its_name_is_the_values(values: str) -> None:
    assert f"(x, encoded, {values})" in _after(values)


@pytest.mark.parametrize("values", ["encoded * 2", "jnp.tanh(encoded)"])
def test_what_is_as_wide_as_the_keys_is_the_values_whatever_its_name(values: str) -> None:
    text = HEAD + MODEL.replace("mask = nn.make_attention_mask(x[..., 0], encoded[..., 0])", f"key_mask = {values}")
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text.replace("MASK", "key_mask"))]).files
    assert file.after is not None and "(x, encoded, key_mask)" in file.after
