"""Cells of one's own whose first carry the caller gives, of arrays whose rank nothing shows; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class DecodingCell(nn.RNNCellBase):
  features: int
  vocab: int
  force: bool = True

  @nn.compact
  def __call__(self, carry, x):
    state, last = carry
    if not self.force:
      x = last
    state, y = nn.LSTMCell(self.features)(state, x)
    logits = nn.Dense(features=self.vocab)(y)
    prediction = jax.nn.one_hot(jnp.argmax(logits, -1), self.vocab, dtype=jnp.float32)
    return (state, prediction), (logits, prediction)

  @property
  def num_feature_axes(self):
    return 1


class Translating(nn.Module):
  hidden: int = 5
  vocab: int = 5
  force: bool = True

  @nn.compact
  def __call__(self, a, b):
    encoder = nn.RNN(nn.LSTMCell(self.hidden), return_carry=True, name='encoder')
    decoder = nn.RNN(DecodingCell(b.shape[-1], self.vocab, self.force), name='decoder')
    lengths = jnp.argmax(jnp.argmax(a, -1) == 1, axis=-1)
    state, _ = encoder(a, seq_lengths=lengths)
    return decoder(b[:, :-1], initial_carry=(state, b[:, 0]))


CASES = [
  ("Translating", {}, [(2, 6, 5), (2, 7, 5)], {}),
  ("Translating", {"force": False}, [(2, 6, 4), (2, 7, 5)], {}),
]


class NoisyCell(nn.RNNCellBase):
  features: int

  @nn.compact
  def __call__(self, carry, x):
    noise = jax.random.normal(self.make_rng('noise'), x.shape)
    return carry + nn.Dense(self.features)(x) * 0, noise

  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], self.features))

  @property
  def num_feature_axes(self):
    return 1


class Noisy(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.RNN(NoisyCell(3), split_rngs={'params': False, 'noise': True}, name='rnn')(x)
