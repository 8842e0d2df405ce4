"""Conditions of the fields that the call asks more than once, and shapes that are written where they are not known."""
import flax.linen as nn
import jax.numpy as jnp

class Heads(nn.Module):
  width: int
  heads: int = 2
  split: bool = False
  def setup(self):
    self.query = nn.Dense(self.width, use_bias=False)
    self.key = nn.Dense(self.width, use_bias=False)
    self.proj = nn.Dense(self.width)
  def to_batch(self, x):
    batch, length, dim = x.shape
    x = x.reshape(batch, length, self.heads, dim // self.heads)
    return jnp.transpose(x, (0, 2, 1, 3)).reshape(batch * self.heads, length, dim // self.heads)
  def from_batch(self, x):
    batch, length, dim = x.shape
    x = x.reshape(batch // self.heads, self.heads, length, dim)
    return jnp.transpose(x, (0, 2, 1, 3)).reshape(batch // self.heads, length, dim * self.heads)
  def __call__(self, x):
    q, k = self.query(x), self.key(x)
    if self.split:
      q = jnp.reshape(q, (x.shape[0], -1, self.heads, self.width // self.heads))
      k = jnp.reshape(k, (x.shape[0], -1, self.heads, self.width // self.heads))
    else:
      q, k = self.to_batch(q), self.to_batch(k)
    if self.split:
      scores = nn.softmax(jnp.einsum("btnh,bfnh->bnft", k, q))
      out = jnp.einsum("bnft,btnh->bfnh", scores, k)
      out = jnp.reshape(out, (out.shape[0], -1, self.width))
    else:
      scores = nn.softmax(jnp.einsum("bid,bjd->bij", q, k))
      out = self.from_batch(jnp.einsum("bij,bjd->bid", scores, k))
    return self.proj(out)

class Folded(nn.Module):
  """The same in a compact method; the width differs between the sides."""
  fold: int = 2
  folded: bool = True
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(8)(x)
    if self.folded:
      y = y.reshape(x.shape[0], -1, 8 // self.fold)
    else:
      y = jnp.concatenate([y, y], -1)
    y = nn.relu(y)
    if not self.folded:
      y = y[..., :3]
    return nn.Dense(4)(y)

class Kept(nn.Module):
  width: int = 8
  split: bool = False
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(self.width)(x)
    if self.split:
      y = y.reshape(x.shape[0], -1, 2, 4)
    else:
      y = y[..., :6]
    if self.split:
      b, n, h, d = y.shape
      y = y.transpose(0, 2, 1, 3).reshape(b, n, h * d)
      y = nn.Dense(3)(y)
    else:
      b, n, d = y.shape
      y = nn.Dense(3)(y.reshape(b, n * d))
    return y

class Changed(nn.Module):
  """What one side gave is something else where the condition is asked again."""
  more: bool = True
  @nn.compact
  def __call__(self, x):
    if self.more:
      y = x[..., :3]
    else:
      y = x[..., :2]
    y = jnp.concatenate([y, y], -1)
    if self.more:
      y = nn.Dense(4)(y)
    for _ in range(2):
      y = nn.relu(y[..., :2])
    if self.more:
      y = nn.Dense(4)(y)
    return y

class Written(nn.Module):
  """What is reshaped is not known; the sizes are written."""
  inner: int = 6
  def setup(self):
    self.inner_proj = nn.Dense(self.inner)
    self.out = nn.Dense(5)
  def merged(self, x):
    return x.reshape(x.shape[0], -1, self.inner)
  def __call__(self, x, table=None):
    y = self.inner_proj(x)
    parts = {"all": [y, y]}
    y = sum(parts[name][0] for name in parts)
    y = self.merged(y)[:, : x.shape[1], :]
    return self.out(y)

class Ends(nn.Module):
  """The features at the place where a token of the fields stands."""
  vocabulary: int = 11
  width: int = 6
  end: int = 2
  def setup(self):
    self.embed = nn.Embed(self.vocabulary, self.width)
    self.proj = nn.Dense(3)
  def __call__(self, input_ids, return_all: bool = False):
    hidden = self.embed(input_ids)
    if self.end == 2:
      pooled = hidden[jnp.arange(hidden.shape[0]), input_ids.argmax(axis=-1)]
    else:
      pooled = hidden[jnp.arange(hidden.shape[0]), (input_ids == self.end).argmax(axis=-1)]
    return self.proj(pooled)

CASES = [
  ("Heads", {"width": 8}, [(2, 3, 5)], {}),
  ("Heads", {"width": 8, "split": True}, [(2, 3, 5)], {}),
  ("Folded", {}, [(2, 3, 5)], {}),
  ("Folded", {"folded": False}, [(2, 3, 5)], {}),
  ("Kept", {}, [(2, 3, 5)], {}),
  ("Kept", {"split": True}, [(2, 3, 5)], {}),
  ("Changed", {}, [(2, 5)], {}),
  ("Changed", {"more": False}, [(2, 5)], {}),
  ("Written", {}, [(2, 3, 4)], {}),
  ("Ends", {}, [[[1, 4, 2], [5, 3, 2]]], {}),
  ("Ends", {"end": 4}, [[[1, 4, 2], [5, 3, 4]]], {}),
]
