"""Flags in fields of modules that are made anew at each call, known only then: `Block(decode=decode)(x)`; `CASES` as in
forms_basic, `DECODED` as in test_flags_of_callers."""

import jax.numpy as jnp
from flax import linen as nn
from jax import lax


class AddPositions(nn.Module):
  """Adds positions, which decoding counts."""

  decode: bool = False

  @nn.compact
  def __call__(self, x, pe):
    """One step, or all of them."""
    if self.decode:
      is_initialized = self.has_variable('cache', 'cache_index')
      cache_index = self.variable('cache', 'cache_index', lambda: jnp.array(0, dtype=jnp.uint32))
      if is_initialized:
        i = cache_index.value
        cache_index.value = i + 1
        _, _, width = pe.shape
        pe = lax.dynamic_slice(pe, jnp.array((0, i, 0)), (1, 1, width))
    return x + pe


class DecoderBlock(nn.Module):
  width: int
  decode: bool = False

  @nn.compact
  def __call__(self, x, mask=None, *, deterministic=True):
    y = nn.LayerNorm()(x)
    y = nn.SelfAttention(2, dropout_rate=0.1, decode=self.decode, name='Attn')(y, mask, deterministic=deterministic)
    x = x + nn.Dropout(0.1)(y, deterministic=deterministic)
    return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(self.width)(x)))


class Decoder(nn.Module):
  @nn.compact
  def __call__(self, x, pe, mask=None, decode=False, deterministic=True):
    x = AddPositions(decode=decode, name='pos')(x, pe)
    for i in range(2):
      x = DecoderBlock(8, decode=decode, name=f'Block{i}')(x, mask, deterministic=deterministic)
    return nn.Dense(4)(x)


class Scaled(nn.Module):
  double: bool = False
  shift: bool = True

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(3)(x)
    if self.shift:
      x = x + 1
    return x * (2 if self.double else 1)


class GivesFlags(nn.Module):
  @nn.compact
  def __call__(self, x, double: bool = True):
    a = Scaled(double=double)(x)
    b = Scaled(double=not double, shift=False)(x)
    return a + Scaled()(b)


class OnByDefault(nn.Module):
  decode: bool = True

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(3)(x)
    return x if self.decode else x + 1


class GivesNone(nn.Module):
  """None is false in Linen, and no default."""

  @nn.compact
  def __call__(self, x, decode=None):
    return OnByDefault(decode)(x)


CASES = [
  ("Decoder", {}, [(2, 6, 4), (1, 6, 4)], {}),
  ("AddPositions", {}, [(2, 6, 4), (1, 6, 4)], {}),
  ("DecoderBlock", {"width": 8}, [(2, 6, 4)], {}),
  ("Scaled", {"double": True}, [(2, 4)], {}),
  ("GivesFlags", {}, [(2, 4)], {}),
  ("GivesFlags", {}, [(2, 4)], {"double": False}),
  ("GivesNone", {}, [(2, 4)], {}),
  ("GivesNone", {}, [(2, 4)], {"decode": True}),
]
