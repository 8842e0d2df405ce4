"""Recurrent cells that are made only to be asked for their first carry; `CASES` as in forms_basic."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp


class ScannedRNN(nn.Module):
  """A cell over time that starts anew where an episode ends; its own cell is Linen's second."""

  @functools.partial(nn.scan, variable_broadcast='params', in_axes=0, out_axes=0, split_rngs={'params': False})
  @nn.compact
  def __call__(self, carry, x):
    rnn_state = carry
    ins, resets = x
    rnn_state = jnp.where(resets[:, None], self.initialize_carry(*rnn_state.shape), rnn_state)
    rnn_state, y = nn.GRUCell(features=ins.shape[1])(rnn_state, ins)
    return rnn_state, y

  @staticmethod
  def initialize_carry(batch_size, hidden_size):
    # A key of no consequence, as the state is zeros.
    cell = nn.GRUCell(features=hidden_size)
    return cell.initialize_carry(jax.random.PRNGKey(0), (batch_size, hidden_size))


class ActorCritic(nn.Module):
  actions: int

  @nn.compact
  def __call__(self, hidden, obs, dones):
    e = nn.relu(nn.Dense(5)(obs))
    hidden, e = ScannedRNN()(hidden, (e, dones))
    return hidden, nn.Dense(self.actions)(e), nn.Dense(1)(e)


class Pair(nn.Module):
  """The carry of two arrays, asked of a cell that no module holds."""

  hidden: int

  @functools.partial(nn.scan, variable_broadcast='params', in_axes=1, out_axes=1, split_rngs={'params': False})
  @nn.compact
  def __call__(self, carry, x):
    return nn.OptimizedLSTMCell(self.hidden)(carry, x)

  def initialize_carry(self, input_shape):
    return nn.OptimizedLSTMCell(self.hidden, parent=None).initialize_carry(jax.random.key(0), input_shape)


class Reader(nn.Module):
  hidden: int = 4

  def setup(self):
    self.lstm = Pair(self.hidden)

  def __call__(self, x):
    carry = self.lstm.initialize_carry(x[:, 0].shape)
    (c, h), y = self.lstm(carry, x)
    return c, h, y


class Unrolled(nn.Module):
  """A carry from another cell than the one that runs."""

  @nn.compact
  def __call__(self, x):
    carry = nn.SimpleCell(3, parent=None, param_dtype=jnp.float32).initialize_carry(jax.random.key(1), x[:, 0].shape)
    cell = nn.SimpleCell(3)
    for i in range(3):
      carry, y = cell(carry, x[:, i])
    return y + nn.Dense(3)(carry)


class Stopping(nn.Module):
  """A pair within the carry, whose width is read off one of the two; a caller asks the class for the first."""

  @functools.partial(nn.scan, variable_broadcast='params', in_axes=1, out_axes=1, split_rngs={'params': False})
  @nn.compact
  def __call__(self, carry, x):
    state, done = carry
    new, y = nn.LSTMCell(state[0].shape[-1])(state, x)
    kept = tuple(jnp.where(done[:, None], old, now) for now, old in zip(new, state))
    return (kept, jnp.logical_or(done, x[:, 0] > 0)), y

  @staticmethod
  def initialize_carry(batch_size, hidden_size):
    return nn.LSTMCell(hidden_size, parent=None).initialize_carry(jax.random.PRNGKey(0), (batch_size, hidden_size))


class StoppingReader(nn.Module):
  hidden: int = 4

  @nn.compact
  def __call__(self, x):
    lstm = Stopping(name='lstm')
    first = (lstm.initialize_carry(x.shape[0], self.hidden), jnp.zeros(x.shape[0], bool))
    ((c, h), _), y = lstm(first, x)
    return c, h, nn.Dense(2)(y)


class OfAnArray(nn.Module):
  """A pair that is one array."""

  @nn.compact
  def __call__(self, carry, x):
    (_, h), y = nn.LSTMCell(carry.shape[-1])(carry, x)
    return h + y


class OfTwoKinds(nn.Module):
  """Linen's own cell is its first or its second, by its kind."""

  simple: bool = False

  @nn.compact
  def __call__(self, x):
    carry = nn.GRUCell(3).initialize_carry(jax.random.PRNGKey(0), x.shape)
    cell = nn.SimpleCell if self.simple else nn.GRUCell
    return cell(3)(carry, x)[1]


class NeverAsked(nn.Module):
  """Only programs call the static method."""

  @nn.compact
  def __call__(self, carry, x):
    return nn.GRUCell(4)(carry, x)

  @staticmethod
  def first(size):
    cell = nn.GRUCell(4)
    return cell.initialize_carry(jax.random.PRNGKey(0), (size, 4))


RESETS = [[True, False], [False, False], [False, True], [False, False]]
CASES = [
  ('ActorCritic', {'actions': 3}, [(2, 5), (4, 2, 6), RESETS], {}),
  ('Reader', {}, [(2, 5, 3)], {}),
  ('Reader', {'hidden': 7}, [(2, 5, 3)], {}),
  ('Unrolled', {}, [(2, 3, 5)], {}),
  ('StoppingReader', {}, [(2, 5, 3)], {}),
  ('OfAnArray', {}, [(2, 3, 4), (3, 6)], {}),
  ('OfTwoKinds', {}, [(2, 5)], {}),
  ('OfTwoKinds', {'simple': True}, [(2, 5)], {}),
  ('NeverAsked', {}, [(2, 4), (2, 3)], {}),
]
