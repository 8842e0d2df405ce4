"""Sizes behind lists of arrays and of modules that are not known: with their codes."""

REFUSED = {
    "an optional argument that some items of a list are given": (
        "NNX132",
        """class Inner(nn.Module):
  @nn.compact
  def __call__(self, x, c=None):
    x = nn.Dense(4)(x)
    if c is not None:
      x = nn.Dense(4)(x + nn.Dense(4)(c))
    return nn.Dense(4)(x)


class M(nn.Module):
  every: int = 2

  def setup(self):
    self.blocks = [Inner() for _ in range(4)]

  def __call__(self, x, c):
    for i, block in enumerate(self.blocks):
      if i % self.every == 0:
        x = block(x, c)
      else:
        x = block(x)
    return x
""",
    ),
    "a list of one text whose sizes change where it is handed to": (
        "NNX114",
        """class Chain(nn.Module):
  layers: Any
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Chain([nn.Dense(7) for _ in range(3)])(x)
""",
    ),
    "an item that only some results have": (
        "NNX110",
        """class M(nn.Module):
  def setup(self):
    self.dense = nn.Dense(4)
    self.head = nn.Dense(3)
  def parts(self, x, more):
    y = self.dense(x)
    return (y, y[..., :2]) if more else (y,)
  def __call__(self, x, more: bool = False):
    outputs = self.parts(x, more)
    return self.head(outputs[1]) if more else outputs[0]
""",
    ),
    "a list of skips that grows under a condition of the call": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    skips = []
    for i in range(3):
      x = nn.Dense(4 + i)(x)
      if train:
        skips.append(x)
    for i in range(3):
      x = nn.Dense(5)(jnp.concatenate([x, skips.pop()], axis=-1))
    return x
""",
    ),
    "modules of setup that are called with what a loop takes from a list": (
        "NNX114",
        """class M(nn.Module):
  feats: Any = (4, 8)
  def setup(self):
    self.down = [nn.Dense(f) for f in self.feats]
    self.up = [nn.Dense(f) for f in reversed(self.feats)]

  def __call__(self, x):
    skips = []
    for d in self.down:
      x = d(x)
      skips.append(x)
    for u in self.up:
      x = u(jnp.concatenate([x, skips.pop(0)], -1))
    return x
""",
    ),
    "a list of modules called in reverse": (
        "NNX114",
        """class M(nn.Module):
  def setup(self):
    self.ls = [nn.Dense(5) for _ in range(3)]

  def __call__(self, x):
    for l in self.ls[::-1]:
      x = l(x)
    return x
""",
    ),
    "a list of arrays that grows depending on the call": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, more):
    xs = [x]
    for _ in range(2):
      if more.sum() > 0:
        xs.append(x)
    return nn.Dense(4)(jnp.concatenate(xs, -1))
""",
    ),
    "a list of arrays that is reversed in place": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    xs = []
    for i in range(3):
      xs.append(nn.Dense(i + 1)(x))
    xs.reverse()
    return nn.Dense(4)(xs[0])
""",
    ),
    "arrays that a loop over modules of setup puts in a list, the first of which is left out": (
        "NNX114",
        """class M(nn.Module):
  count: int
  def setup(self):
    self.heads = [nn.Dense(4) for _ in range(self.count)]
    self.projection = nn.Dense(7)
  def __call__(self, x):
    outs = []
    for head in self.heads:
      outs.append(head(x))
    outs = outs[1:]
    return self.projection(jnp.concatenate(outs, axis=-1))
""",
    ),
    "arrays that a loop over modules of setup puts in a list, where a field says so": (
        "NNX114",
        """class M(nn.Module):
  count: int
  more: bool
  def setup(self):
    self.heads = [nn.Dense(4) for _ in range(self.count)]
    self.projection = nn.Dense(7)
  def __call__(self, x):
    outs = [x]
    if self.more:
      for head in self.heads:
        outs.append(head(x))
    return self.projection(jnp.concatenate(outs, axis=-1))
""",
    ),
    "arrays that a loop in a loop puts in a list": (
        "NNX114",
        """class M(nn.Module):
  count: int
  def setup(self):
    self.heads = [nn.Dense(4) for _ in range(self.count)]
    self.projection = nn.Dense(7)
  def __call__(self, x):
    outs = [x]
    for k in range(2):
      for head in self.heads:
        outs.append(head(x) * k)
    return self.projection(jnp.concatenate(outs, axis=-1))
""",
    ),
    "arrays that are put in a list by numbers of items of several sizes": (
        "NNX114",
        """class M(nn.Module):
  sizes: tuple
  def setup(self):
    self.heads = [nn.Dense(size) for size in self.sizes]
    self.projection = nn.Dense(7)
  def __call__(self, x):
    outs = []
    for i in range(len(self.sizes)):
      outs.append(self.heads[i](x))
    return self.projection(jnp.concatenate(outs, axis=-1))
""",
    ),
    "a list of arrays behind another, to which one more is put": (
        "NNX110",
        """class M(nn.Module):
  sizes: tuple
  @nn.compact
  def __call__(self, x, ids):
    parts = [x] + [nn.Embed(size, 4)(ids[..., i]) for i, size in enumerate(self.sizes)]
    parts.append(2 * x)
    return nn.Dense(3)(jnp.concatenate(parts, axis=-1))
""",
    ),
    "a list of arrays behind another, of which one is replaced": (
        "NNX110",
        """class M(nn.Module):
  sizes: tuple
  @nn.compact
  def __call__(self, x, ids):
    parts = [x] + [nn.Embed(size, 4)(ids[..., i]) for i, size in enumerate(self.sizes)]
    parts[0] = nn.Dense(7)(x)
    return nn.Dense(3)(jnp.concatenate(parts, axis=-1))
""",
    ),
    "items that are called by a flag of the call": (
        "NNX114",
        """class M(nn.Module):
  widths: tuple
  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.downs = [nn.Dense(w * 2) for w in self.widths[:-1]]
  def __call__(self, x, train=False):
    for i, layer in enumerate(self.layers):
      x = nn.relu(layer(x))
      if train and i < len(self.downs):
        x = self.downs[i](x)
    return x
""",
    ),
    "items that are called by what an array holds": (
        "NNX114",
        """class M(nn.Module):
  widths: tuple
  def setup(self):
    self.layers = [nn.Dense(w) for w in self.widths]
    self.downs = [nn.Dense(w * 2) for w in self.widths[:-1]]
  def __call__(self, x):
    for i, layer in enumerate(self.layers):
      x = nn.relu(layer(x))
      if x.mean() > 0 and i < len(self.downs):
        x = self.downs[i](x)
    return x
""",
    ),
}
