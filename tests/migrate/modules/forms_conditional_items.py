"""Lists of `setup` that get some of their items only under a condition, and what a list's items are called."""
import flax.linen as nn
import jax.numpy as jnp

class Attend(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, memory=None, deterministic=True):
    keys = x if memory is None else memory
    keys = nn.Dense(self.width, name="k")(keys)
    query = nn.Dense(self.width, name="q")(x)
    scores = nn.softmax(jnp.einsum("...qd,...kd->...qk", query, keys))
    out = jnp.einsum("...qk,...kd->...qd", scores, nn.Dense(self.width, name="v")(keys))
    return (x + nn.Dense(x.shape[-1], name="o")(out),)

class Feed(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x, deterministic=True):
    return x + nn.Dense(x.shape[-1])(nn.relu(nn.Dense(self.width)(x)))

class Grown(nn.Module):
  width: int = 8
  causal: bool = True
  def setup(self):
    self.layer = (Attend(self.width),)
    if self.causal:
      self.layer += (Attend(self.width),)
    self.layer += (Feed(self.width),)
  def __call__(self, x, memory=None, deterministic=True):
    outputs = self.layer[0](x, deterministic=deterministic)
    x = outputs[0]
    rest = outputs[1:]
    cross = self.causal and memory is not None
    if cross:
      outputs = self.layer[1](x, memory, deterministic=deterministic)
      x = outputs[0]
      rest = rest + outputs[1:]
    x = self.layer[-1](x, deterministic=deterministic)
    return (x,) + rest

class Numbered(nn.Module):
  width: int = 8
  causal: bool = True
  def setup(self):
    self.layer = (Attend(self.width, name=str(0)),)
    last = 1
    if self.causal:
      self.layer += (Attend(self.width, name=str(1)),)
      last += 1
    self.layer += (Feed(self.width, name=str(last)),)
  def __call__(self, x, memory=None, deterministic=True):
    outputs = self.layer[0](x, deterministic=deterministic)
    x = outputs[0]
    if self.causal and memory is not None:
      outputs = self.layer[1](x, memory, deterministic=deterministic)
      x = outputs[0]
    return self.layer[-1](x, deterministic=deterministic)

class Appended(nn.Module):
  width: int = 8
  normed: bool = True
  def setup(self):
    layers = [nn.Dense(self.width)]
    if self.normed:
      layers.append(nn.LayerNorm())
    layers.append(nn.Dense(5))
    self.layers = layers
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x

class Chained(nn.Module):
  width: int = 8
  more: bool = True
  def setup(self):
    layers = [nn.Dense(self.width)]
    if self.more:
      layers += [nn.Dense(2 * self.width), nn.relu]
    layers.append(nn.Dense(5))
    self.body = nn.Sequential(layers)
  def __call__(self, x):
    return self.body(x)

class Counted(nn.Module):
  width: int = 8
  depth: int = 3
  def setup(self):
    layers = [nn.Dense(self.width, name="0")]
    for i in range(self.depth - 1):
      layers.append(nn.Dense(self.width, name=str(i + 1)))
    self.layers = layers
  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x

class Biased(nn.Module):
  heads: int
  first: bool
  @nn.compact
  def __call__(self, x, bias=None):
    if bias is None:
      bias = nn.Dense(self.heads, name="bias")(x) if self.first else jnp.zeros((*x.shape[:-1], self.heads))
    return nn.Dense(self.heads, name="mix")(x) + bias, bias

class Sharing(nn.Module):
  heads: int = 6
  depth: int = 3
  def setup(self):
    self.blocks = [Biased(self.heads, first=i == 0) for i in range(self.depth)]
  def __call__(self, x):
    bias = None
    for block in self.blocks:
      out = block(x, bias)
      x, bias = out[0], out[1]
    return x

class Compared(nn.Module):
  n: int = 2
  w: int = 4
  def setup(self):
    self.layer = (nn.Dense(self.w),)
    if self.n > 1:
      self.layer += (nn.LayerNorm(),)
    self.layer += (nn.Dense(3),)
  def __call__(self, x):
    x = self.layer[0](x)
    if self.n > 1:
      x = self.layer[1](x)
    return self.layer[-1](x)

CASES = [
  ("Compared", {}, [(2, 3)], {}),
  ("Compared", {"n": 1}, [(2, 3)], {}),
  ("Grown", {}, [(2, 3, 6), (2, 4, 7)], {}),
  ("Grown", {"causal": False}, [(2, 3, 6)], {"memory": None}),
  ("Numbered", {}, [(2, 3, 6), (2, 4, 7)], {}),
  ("Numbered", {"causal": False}, [(2, 3, 6), (2, 4, 7)], {}),
  ("Appended", {}, [(2, 3)], {}),
  ("Appended", {"normed": False}, [(2, 3)], {}),
  ("Chained", {}, [(2, 3)], {}),
  ("Chained", {"more": False}, [(2, 3)], {}),
  ("Counted", {}, [(2, 3)], {}),
  ("Counted", {"depth": 1}, [(2, 3)], {}),
  ("Sharing", {}, [(2, 6)], {}),
]
NUMBERED = ("Numbered", "Counted")
