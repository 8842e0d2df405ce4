"""Subclasses of layers with fields of their own and a call around the layer's; `CASES` as in forms_basic."""

import functools
from typing import Any, Callable, Optional

import flax.linen as nn
import jax.numpy as jnp


class PaddedConv(nn.Conv):
  """Convolution with padding of another kind."""

  mode: Optional[str] = None

  @nn.compact
  def __call__(self, x):
    """Pads, and calls the layer."""
    if self.mode is not None:
      assert self.padding == 'VALID', 'the layer must not pad'
      pads = [((k - 1) // 2, k // 2) for k in self.kernel_size]
      x = jnp.pad(x, [(0, 0)] + pads + [(0, 0)], mode=self.mode)
    return super(PaddedConv, self).__call__(x)


class CoordConv(nn.Conv):
  """Two features more than it is called with."""

  with_radius: bool = False
  use_bias: bool = False

  def __call__(self, inputs):
    rows = jnp.broadcast_to(jnp.linspace(-1, 1, inputs.shape[1])[None, :, None, None], (*inputs.shape[:-1], 1))
    columns = jnp.broadcast_to(jnp.linspace(-1, 1, inputs.shape[2])[None, None, :, None], (*inputs.shape[:-1], 1))
    parts = [inputs, rows, columns]
    if self.with_radius:
      parts.append(jnp.sqrt(rows**2 + columns**2))
    return super().__call__(jnp.concatenate(parts, axis=-1))


class Doubled(nn.LayerNorm):
  """Neither fields nor parameters, and other features than it is called with."""

  def __call__(self, x):
    return super().__call__(jnp.concatenate([x, jnp.zeros_like(x)], axis=-1))


class Gained(nn.Dense):
  """A parameter beside the layer's, and what its fields say."""

  gain_init: Callable = nn.initializers.ones
  residual: bool = False

  @nn.compact
  def __call__(self, x):
    y = super().__call__(inputs=x)
    gain = self.param('gain', self.gain_init, (self.features,), self.param_dtype)
    y = y * gain / self.features**0.5
    return x + y if self.residual else y


class MaybeNorm(nn.LayerNorm):
  """Of which some have no variables."""

  enabled: bool = True
  wide: Any = jnp.float32

  def __call__(self, x):
    if not self.enabled:
      return x
    dtype = x.dtype
    return super().__call__(x.astype(self.wide)).astype(dtype)


class Grouped(nn.GroupNorm):
  flat: bool = False

  @nn.compact
  def __call__(self, x):
    if self.flat:
      x = x[None]
      return super().__call__(x)[0]
    return super().__call__(x)


class Small(Gained):
  """Another default, and more of a call."""

  residual: bool = True
  power: int = 2

  @nn.compact
  def __call__(self, x):
    return super().__call__(x) ** self.power


class Rms(nn.RMSNorm):
  scale_by: float = 2.0

  @nn.compact
  def __call__(self, x):
    return self.scaled(super().__call__(x))

  def scaled(self, x):
    return x * self.scale_by


class Up(nn.ConvTranspose):
  act: Callable = nn.relu

  @nn.compact
  def __call__(self, x):
    return self.act(super().__call__(x)) + self.features


class ScaledEmbed(nn.Embed):
  """Whose table Linen makes in `setup`."""

  scale_by_width: bool = True
  shift: int = 0

  # by the square root of the width
  def __call__(self, tokens):
    found = super().__call__(tokens + self.shift)
    return found * self.features**0.5 if self.scale_by_width else found


class TiedEmbed(nn.Embed):
  cap: float = 0.0

  def __call__(self, tokens):
    return super(TiedEmbed, self).__call__(inputs=tokens)

  def attend(self, query):
    logits = super().attend(query)
    return self.cap * jnp.tanh(logits / self.cap) if self.cap else logits

  def norms(self):
    return jnp.sum(self.embedding**2, axis=-1)


class Tokens(nn.Module):
  def setup(self):
    self.first = ScaledEmbed(8, 4, shift=2)
    self.last = TiedEmbed(6, 4, cap=3.0, embedding_init=nn.initializers.normal(2.0))

  def __call__(self, tokens):
    x = self.first(tokens) + self.last(tokens)
    return self.last.attend(x) + self.first.attend(x)[..., :6] + self.last.norms()


class Images(nn.Module):
  mode: Optional[str] = 'reflect'

  @nn.compact
  def __call__(self, x):
    conv = functools.partial(PaddedConv, padding='VALID' if self.mode else 'SAME', mode=self.mode)
    x = nn.relu(conv(5, (3, 3))(x))
    for i in range(2):
      x = conv(4 + i, kernel_size=(3, 3), use_bias=False, name=f'conv{i}')(x)
    x = CoordConv(6, (3, 3), with_radius=True)(x)
    x = Doubled(epsilon=1e-2)(Grouped(num_groups=2)(x))
    x = Up(4, (2, 2), strides=(2, 2))(x)
    x = MaybeNorm(enabled=False)(x)
    return MaybeNorm(epsilon=1e-3, name='norm')(x)


class Heads(nn.Module):
  """Called twice, lifted, and in `setup`."""

  def setup(self):
    self.gained = Gained(5, residual=True)
    self.small = nn.remat(Small)(5)
    self.rms = Rms(use_scale=True)
    many = nn.vmap(
      Gained, in_axes=None, out_axes=1, axis_size=3, variable_axes={'params': 0}, split_rngs={'params': True})
    self.many = many(4)

  def __call__(self, x):
    x = self.gained(self.gained(x))
    return self.many(self.rms(self.small(x)))


class Activated(nn.BatchNorm):
  """Statistics, and a flag of the call."""

  act: Callable = nn.relu

  @nn.compact
  def __call__(self, x, train: bool = False):
    return self.act(super().__call__(x, use_running_average=not train))


class Centered(nn.BatchNorm):
  """Replaces the layer's call as a whole."""

  shift: float = 0.5

  @nn.compact
  def __call__(self, x, train: bool = False):
    mean = self.variable('batch_stats', 'mean', lambda: jnp.zeros(x.shape[-1]))
    if train:
      mean.value = self.momentum * mean.value + (1 - self.momentum) * x.mean(0)
    return x - mean.value + self.shift


class Scaled(nn.Dropout):
  scale: float = 1.0

  @nn.compact
  def __call__(self, x, train: bool = False):
    return super().__call__(x, deterministic=not train) * self.scale


class Attention(nn.MultiHeadDotProductAttention):
  residual: bool = True

  @nn.compact
  def __call__(self, x, mask=None, train: bool = False):
    y = super().__call__(x, x, mask=mask, deterministic=not train)
    return x + y if self.residual else y


class Layers(nn.Module):
  """Layers with statistics, random numbers and layers of their own."""

  @nn.compact
  def __call__(self, x, train: bool = False):
    x = Activated(momentum=0.9, dtype=jnp.bfloat16)(nn.Dense(8)(x.mean(axis=1)), train)
    x = Centered(momentum=0.5)(x, train)
    x = Scaled(0.3, scale=2.0)(x[:, None], False)
    x = Attention(num_heads=2, qkv_features=4, dropout_rate=0.1)(x)
    return Attention(num_heads=4, normalize_qk=True, residual=False, name='last')(x, mask=jnp.ones((1, 1, 1, 1)))


CASES = [
  ('PaddedConv', {'features': 4, 'kernel_size': (3, 3), 'padding': 'VALID', 'mode': 'edge'}, [(2, 5, 5, 3)], {}),
  ('Images', {}, [(2, 8, 8, 3)], {}),
  ('Heads', {}, [(2, 5)], {}),
  ('Layers', {}, [(3, 2, 5)], {'train': True}),
  ('Layers', {}, [(3, 2, 5)], {}),
  ('Attention', {'num_heads': 2, 'dtype': jnp.bfloat16}, [(3, 2, 6)], {}),
  ('Centered', {}, [(3, 6)], {'train': True}),
  ('Tokens', {}, [[[1, 3], [0, 5]]], {}),
  ('ScaledEmbed', {'num_embeddings': 6, 'features': 3, 'scale_by_width': False, 'dtype': jnp.bfloat16}, [[[1, 5]]], {}),
  ('TiedEmbed', {'num_embeddings': 6, 'features': 3}, [[[1, 5]]], {}),
  ('Images', {'mode': None}, [(2, 6, 6, 2)], {}),
  ('PaddedConv', {'features': 4, 'kernel_size': [1, 3], 'strides': 2}, [(2, 5, 5, 3)], {}),
  ('CoordConv', {'features': 4, 'kernel_size': (3, 3)}, [(2, 5, 6, 3)], {}),
  ('Doubled', {}, [(2, 3)], {}),
  ('Gained', {'features': 4, 'dtype': jnp.bfloat16}, [(2, 3, 6)], {}),
  ('MaybeNorm', {}, [(2, 3)], {}),
  ('MaybeNorm', {'enabled': False}, [(2, 3)], {}),
  ('Grouped', {'num_groups': 2, 'flat': True}, [(5, 4)], {}),
  ('Small', {'features': 4}, [(2, 4)], {}),
  ('Small', {'features': 3, 'residual': False, 'use_bias': False, 'power': 3}, [(2, 4)], {}),
  ('Rms', {'scale_by': 0.5}, [(2, 4)], {}),
  ('Up', {'features': 4, 'kernel_size': (3,)}, [(2, 5, 2)], {}),
]
