"""Lists of arrays that loops fill, made one array; `CASES` as in forms_basic."""
import jax.numpy as jnp
import flax.linen as nn

class Gru(nn.Module):
  hidden: int
  @nn.compact
  def __call__(self, x, state):
    new, out = nn.GRUCell(self.hidden)(state, x)
    return out, new

class Recurrent(nn.Module):
  hidden: int = 4
  count: int = 2
  @nn.compact
  def __call__(self, x, states):
    outs, news = [], []
    for layer in range(self.count):
      x, state = Gru(self.hidden)(x, states[layer])
      outs.append(x)
      news.append(state)
    return nn.Dense(3)(jnp.array(outs).sum(0)), jnp.array(news)

class Reduced(nn.Module):
  count: int = 2
  @nn.compact
  def __call__(self, x):
    outs = []
    for _ in range(self.count):
      x = nn.Dense(4)(x)
      outs.append(x)
    mean = nn.Dense(3)(jnp.asarray(outs, jnp.float32).mean(axis=0))
    largest = nn.Dense(5)(jnp.array(outs, dtype=x.dtype).max(0))
    return mean, largest, nn.Dense(2)(jnp.stack(outs, dtype=jnp.float32, axis=0).sum(0))

class Widened(nn.Module):
  count: int = 2
  @nn.compact
  def __call__(self, x):
    whole, parts = list(), []
    for _ in range(self.count):
      x = nn.Dense(6)(x)
      whole.append(x)
      parts += [x[..., :2]]
    return nn.Dense(3)(jnp.array(whole).mean(0)), nn.Dense(3)(jnp.array(parts).mean(0, keepdims=False))

class OfSetup(nn.Module):
  count: int = 2
  summed: bool = False
  def setup(self):
    self.layers = [nn.Dense(4) for _ in range(self.count)]
    self.out = nn.Dense(3)
  def __call__(self, x):
    outs = []
    for layer in self.layers:
      x = layer(x)
      outs.append(x)
    return self.out(sum(outs)) if self.summed else self.out(jnp.array(outs).mean(0))

class Two(nn.Module):
  @nn.compact
  def __call__(self, x):
    a, b = nn.Dense(4)(x), nn.Dense(4)(nn.relu(x))
    return nn.Dense(3)(jnp.array([a, b]).sum(0))

class Comprehended(nn.Module):
  count: int = 2
  @nn.compact
  def __call__(self, x):
    heads = [nn.Dense(4)(x) for _ in range(self.count)]
    return nn.Dense(3)(jnp.array(heads).mean(axis=0))

class Both(nn.Module):  # one list is emptied by another loop
  sizes: tuple = (4, 6)
  @nn.compact
  def __call__(self, x):
    skips, kept = [], []
    for size in self.sizes:
      x = nn.Dense(size)(x)
      skips.append(x)
      kept.append(x.mean(-1, keepdims=True))
    for size in reversed(self.sizes):
      x = nn.Dense(size)(jnp.concatenate([x, skips.pop()], -1))
    return x * jnp.asarray(kept).sum(0)

CASES = [
  ('Recurrent', {}, [(2, 5), (2, 2, 4)], {}),
  ('Recurrent', {'count': 1}, [(2, 5), (2, 2, 4)], {}),
  ('Reduced', {}, [(2, 5)], {}),
  ('Widened', {}, [(2, 5)], {}),
  ('OfSetup', {}, [(2, 5)], {}),
  ('OfSetup', {'summed': True}, [(2, 5)], {}),
  ('Two', {}, [(2, 5)], {}),
  ('Comprehended', {}, [(2, 5)], {}),
  ('Both', {}, [(2, 5)], {}),
]
