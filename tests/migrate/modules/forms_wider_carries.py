"""Cells of one's own whose cells are given carries of other widths than their `features`; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Speaker(nn.RNNCellBase):
  """A pair within the carry, of the encoder's width."""

  features: int
  words: int

  @nn.compact
  def __call__(self, carry, x):
    state, last = carry
    state, y = nn.LSTMCell(self.features)(state, x + last)
    logits = nn.Dense(self.words)(y)
    return (state, nn.softmax(logits)), logits

  @property
  def num_feature_axes(self):
    return 1


class Translator(nn.Module):
  hidden: int
  words: int

  @nn.compact
  def __call__(self, query, answer):
    encoder = nn.RNN(nn.LSTMCell(self.hidden), return_carry=True, name="encoder")
    decoder = nn.RNN(Speaker(answer.shape[-1], self.words), split_rngs={"params": False}, name="decoder")
    state, _ = encoder(query)
    return decoder(answer[:, :-1], initial_carry=(state, answer[:, 0]))


class Step(nn.Module):
  """The whole argument is the carry, an array or a pair."""

  features: int = 3

  @nn.compact
  def __call__(self, h, x):
    h, y = nn.GRUCell(features=self.features)(h, x)
    return h, nn.Dense(2)(y)


class Stepping(nn.Module):
  width: int = 5

  @nn.compact
  def __call__(self, x):
    h = nn.Dense(self.width)(x[:, 0])
    step = Step()
    h, a = step(h, x[:, 1])
    h, b = step(h, x[:, 2])
    return a + b


class PairStep(nn.Module):
  @nn.compact
  def __call__(self, carry, x):
    carry, y = nn.OptimizedLSTMCell(4)(carry, x)
    return carry, nn.Dense(y.shape[-1] + 1)(y)


class PairStepping(nn.Module):
  @nn.compact
  def __call__(self, x):
    zeros = jnp.zeros((x.shape[0], 7))
    carry, y = PairStep()((zeros, zeros), x)
    return nn.Dense(2)(y)


class TwoCells(nn.Module):
  """One of two carries has another width."""

  wide: int = 6

  def setup(self):
    self.low = nn.GRUCell(3)
    self.high = nn.GRUCell(self.wide)

  def __call__(self, carries, x):
    a, b = carries
    a, y = self.low(a, x)
    b, z = self.high(b, y)
    return (a, b), z


class OfTwoCells(nn.Module):
  @nn.compact
  def __call__(self, x):
    a, b = nn.Dense(5)(x), nn.Dense(6)(x)
    (a, b), z = TwoCells()((a, b), x)
    return z, a, b


class Decoder(nn.Module):
  """A decoder whose RNN is handed the encoder's state."""

  features: int

  @nn.compact
  def __call__(self, state, x):
    return nn.Dense(2)(nn.RNN(nn.LSTMCell(self.features))(x, initial_carry=state))


class EncoderAndDecoder(nn.Module):
  hidden: int = 4

  @nn.compact
  def __call__(self, x):
    state, y = nn.RNN(nn.LSTMCell(self.hidden), return_carry=True)(x)
    return Decoder(self.hidden + 1)(state, y)


class Through(nn.Module):
  """Handed on by one more module."""

  @nn.compact
  def __call__(self, h, x):
    return Step(name="inner")(h, x)


class ThroughStepping(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Through()(nn.Dense(4)(x), x)


class Same(nn.Module):
  """Of the cell's own width: nothing is asked for."""

  width: int = 3

  @nn.compact
  def __call__(self, x):
    h, y = Step(self.width)(nn.Dense(self.width)(x), x)
    return y


class TakenApart(nn.Module):
  """A pair that is taken apart and put together."""

  def setup(self):
    self.cell = nn.LSTMCell(4)
    self.out = nn.Dense(2)

  def __call__(self, carry, x):
    c, h = carry
    carry, y = self.cell((c, h), x)
    return carry, self.out(y)


class OfTakenApart(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = nn.Dense(6)(x)
    carry, y = TakenApart()((h, h), x)
    return y, carry


class Recurring(nn.Module):
  """The carry of one pass is the next one's."""

  def setup(self):
    self.step = TakenApart()
    self.first = nn.Dense(6)

  def __call__(self, x):
    h = self.first(x)
    carry = (h, h)
    for _ in range(2):
      carry, y = self.step(carry, x)
    return y, carry


X = (2, 5, 6)
CASES = [
  ("Translator", {"hidden": 4, "words": 6}, [X, (2, 3, 6)], {}),
  ("Translator", {"hidden": 6, "words": 6}, [X, (2, 3, 6)], {}),
  ("Stepping", {}, [X], {}),
  ("Stepping", {"width": 3}, [X], {}),
  ("PairStepping", {}, [(2, 3)], {}),
  ("OfTwoCells", {}, [(2, 3)], {}),
  ("EncoderAndDecoder", {}, [X], {}),
  ("ThroughStepping", {}, [(2, 3)], {}),
  ("Same", {}, [(2, 3)], {}),
  ("OfTakenApart", {}, [(2, 3)], {}),
  ("Recurring", {}, [(2, 3)], {}),
]
