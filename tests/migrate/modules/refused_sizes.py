"""Classes that stay Linen because a size, a shape or an argument is not known before the call: with their codes."""

REFUSED = {
    "an array that a function of another library makes, arranged anew": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    table = jnp.frobnicate(x.shape[1])
    return nn.Dense(3)(jnp.reshape(table, [x.shape[1], -1]))
""",
    ),
    "a size with the number of a pass, where a comprehension calls another number so": (
        "NNX123",
        """class M(nn.Module):
  rows: tuple
  columns: tuple
  @nn.compact
  def __call__(self, x):
    for n in self.rows:
      width = n + x.shape[-1]
      sizes = [width * n for n in self.columns]
      for size in sizes:
        x = nn.Dense(size)(x)
    return x
""",
    ),
    "padding by the height of the input, of which the next call may have another": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = x.shape[1]
    return nn.Conv(4, (3, 3), 2, padding=((1 - h % 2, 1), (1, 1)))(x)
""",
    ),
    "a length that a submodule only divides by": (
        "NNX113",
        """class Scale(nn.Module):
  length: int
  def setup(self):
    self.dense = nn.Dense(3)
  def __call__(self, x):
    return self.dense(x) / self.length


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Scale(x.shape[1])(x)
""",
    ),
    "a height that a submodule resizes to": (
        "NNX113",
        """class Up(nn.Module):
  size: tuple[int, int]
  @nn.compact
  def __call__(self, x):
    shape = (x.shape[0], self.size[0], self.size[1], x.shape[-1])
    return nn.Conv(4, (3, 3))(jnp.broadcast_to(x[:, :1, :1], shape)), lambda: self.size


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = nn.Conv(4, (3, 3), 2)(x)
    return Up(size=x.shape[1:3])(h)
""",
    ),
    "strides by a function of the whole shape": (
        "NNX113",
        """def strides(shape):
  return shape[1] // 4


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Conv(4, (3, 3), strides(x.shape))(x)
""",
    ),
    "a method that calls itself and makes modules before that": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(3)(x)
    if x.ndim > 2:
      return nn.BatchApply(self.__call__)(x)
    return nn.LayerNorm()(x)
""",
    ),
    "a method that calls itself and makes modules of what that gives": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    if x.ndim > 2:
      y = self(x.reshape((-1, x.shape[-1])))
      return nn.Dense(3)(y)
    return nn.Dense(4)(x)
""",
    ),
    "a method that calls itself with another width": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    if x.ndim > 2:
      return self(x.reshape((x.shape[0], x.shape[-1] * 2)))
    return nn.Dense(4)(x)
""",
    ),
    "a starred field of unknown length whose last size is the width": (
        "NNX110",
        """class M(nn.Module):
  size: tuple = (4, 2)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(jnp.reshape(x, (x.shape[0], *self.size)))
""",
    ),
    "a starred field of unknown length before the rest of all elements": (
        "NNX110",
        """class M(nn.Module):
  size: tuple = (2, 2)

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(jnp.reshape(x, (x.shape[0], *self.size, -1)))
""",
    ),
    "an optional argument that calls give or not by conditions of which none excludes the other": (
        "NNX132",
        """class Inner(nn.Module):
  @nn.compact
  def __call__(self, x, c=None):
    x = nn.Dense(4)(x)
    if c is not None:
      x = nn.Dense(4)(x + nn.Dense(4)(c))
    return nn.Dense(2)(x)


class M(nn.Module):
  use: bool = True
  other: bool = False

  @nn.compact
  def __call__(self, x, c):
    inner = Inner()
    y = 0
    if self.use:
      y = inner(x, c)
    if self.other:
      y = y + inner(x)
    return y
""",
    ),
    "a width that one side of a condition leaves as it is, and the other side makes in an unknown way": (
        "NNX110",
        """class M(nn.Module):
  encode: bool = True
  encoder: Any = None

  @nn.compact
  def __call__(self, x):
    y = jnp.tanh(x)
    if self.encode:
      y = jnp.stack([y, y], -1).reshape(somewhere(y))
    return nn.Dense(2)(y)
""",
    ),
    "a stack along an axis that a field says, taken apart": (
        "NNX110",
        """class M(nn.Module):
  axis: int = 0
  @nn.compact
  def __call__(self, x, c):
    a, b = jnp.stack([nn.Dense(4)(c), nn.Dense(4)(x)], self.axis)
    return nn.Dense(3)(a) + nn.Dense(3)(b)
""",
    ),
    "a tuple or an array of another width": (
        "NNX110",
        """class Part(nn.Module):
  config: Any
  @nn.compact
  def __call__(self, x):
    if self.config.scan:
      return nn.Dense(4)(x), None
    return x[..., :2]


class M(nn.Module):
  config: Any
  @nn.compact
  def __call__(self, x):
    y = Part(self.config)(x)
    return nn.Dense(3)(y)
""",
    ),
    "a window over the last axis with unknown padding": (
        "NNX110",
        """class M(nn.Module):
  padding: Any = 'VALID'
  @nn.compact
  def __call__(self, x):
    y = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2), (1, 2, 2), self.padding)
    return nn.Dense(3)(y)
""",
    ),
    "a shape picked by a filter of the call": (
        "NNX110",
        """class Norm(nn.Module):
  @nn.compact
  def __call__(self, x, axes):
    shape = tuple(d for i, d in enumerate(x.shape) if i in axes)
    return x + self.param('scale', nn.initializers.ones, (1,)).reshape(shape)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, axes):
    y = jnp.ones(tuple(d for i, d in enumerate(x.shape) if i in axes))
    return nn.Dense(3)(y)
""",
    ),
    "a module of setup whose width is that of one which is made after it": (
        "NNX114",
        """class Body(nn.Module):
  widths: Any
  @nn.compact
  def __call__(self, x):
    for i in range(len(self.widths)):
      x = nn.Dense(self.widths[i])(x)
    return x


class M(nn.Module):
  widths: Any
  def setup(self):
    self.head = nn.Dense(3)
    self.body = Body(self.widths)
  def __call__(self, x):
    return self.head(self.body(x))
""",
    ),
    "a flag of the call in a field that the call does not take": (
        "NNX113",
        """class Norm(nn.Module):
  train: Any = None
  def setup(self):
    self.norm = nn.BatchNorm(use_running_average=not self.train)
  def __call__(self, x):
    return self.norm(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Norm(train=train)(x)
""",
    ),
    "an entry of a table of functions that change shapes": (
        "NNX110",
        """TABLE = {'mean': lambda v: v.mean(axis=-1, keepdims=True), 'relu': jax.nn.relu}


class M(nn.Module):
  kind: str = 'relu'
  def setup(self):
    self.pool = TABLE[self.kind]
    self.out = nn.Dense(4)
  def __call__(self, x):
    return self.out(self.pool(x))
""",
    ),
    "a size of setup behind a branch of the call": (
        "NNX110",
        """class M(nn.Module):
  def setup(self):
    self.p = nn.Dense(4)
    self.q = nn.Dense(5)

  def __call__(self, x, use: bool = False):
    if use:
      x = self.p(x)
    return self.q(x)
""",
    ),
    "a parameter's shape from what the arrays hold": (
        "NNX111",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, n):
    shape = tuple(int(v) for v in n)
    return x * self.param('p', nn.initializers.ones, shape)
""",
    ),
    "a shape that grows where a flag of the call says so": (
        "NNX111",
        """class M(nn.Module):
  dims: Any = (4,)
  @nn.compact
  def __call__(self, x, wide: bool = False):
    shape = list(self.dims)
    if wide:
      shape.append(2)
    return x * self.param('p', nn.initializers.ones, tuple(shape))
""",
    ),
    "a shape that grows by what the arrays hold": (
        "NNX111",
        """class M(nn.Module):
  dims: Any = (4,)
  @nn.compact
  def __call__(self, x, n):
    shape = list(self.dims)
    shape.append(int(n[0]))
    return x * self.param('p', nn.initializers.ones, tuple(shape))
""",
    ),
    "an initializer that reads the input's values": (
        "NNX111",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def first(rng, shape):
      return jnp.mean(x, 0).reshape(shape)
    return x * self.param('p', first, x.shape[-1:])
""",
    ),
    "a table of functions whose results have unlike widths": (
        "NNX110",
        """class M(nn.Module):
  kind: str = 'a'
  @nn.compact
  def __call__(self, x):
    x = {'a': lambda v: jnp.concatenate([v, v], -1), 'b': lambda v: v}[self.kind](nn.Dense(3)(x))
    return nn.Dense(2)(x)
""",
    ),
    "a comprehension over a range whose items are no numbers": (
        "NNX110",
        """class M(nn.Module):
  n: int = 3
  c: tuple = (1.0, 2.0)
  @nn.compact
  def __call__(self, x):
    c = self.c
    rows = jnp.array([c for _ in range(self.n)])
    return nn.Dense(2)(x) + nn.Dense(3)(rows).sum()
""",
    ),
    "a width that a field decides, and that is not known on one side": (
        "NNX110",
        """class Attend(nn.Module):
  heads: int = 2
  d: int = 3
  concat: bool = True
  @nn.compact
  def __call__(self, x, adj):
    n = x.shape[0]
    h = nn.Dense(self.heads * self.d, use_bias=False)(x).reshape(n, self.heads, self.d)
    a1 = self.param('a1', nn.initializers.glorot_uniform(), (1, self.heads, self.d))
    a2 = self.param('a2', nn.initializers.glorot_uniform(), (1, self.heads, self.d))
    e = nn.leaky_relu((h * a1).sum(-1)[:, None] + (h * a2).sum(-1)[None], 0.2)
    e = jnp.where(adj[..., None] > 0, e, -1e9)
    w = jax.nn.softmax(e, 1)
    o = jnp.einsum('ijh,jhd->ihd', w, h)
    return o.reshape(n, -1) if self.concat else o.mean(1)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, adj):
    for _ in range(2):
      x = nn.elu(Attend()(x, adj))
    return nn.Dense(3)(Attend(concat=False)(x, adj))
""",
    ),
    "attention by a height and an array": (
        "NNX110",
        """class M(nn.Module):
  resolutions: tuple = (4,)
  @nn.compact
  def __call__(self, x):
    hs = [nn.Conv(4, (3, 3))(x)]
    for i in range(3):
      h = nn.Conv(4, (3, 3), strides=2)(hs[-1])
      height = h.shape[1]
      if height in self.resolutions and x.sum() > 0:
        h = nn.Conv(4, (1, 1), name=f'attention_{i}')(h)
      hs.append(h)
    return nn.Dense(3)(hs[-1])
""",
    ),
    "a return by a flag and an optional array": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, memory=None, train=False):
    if not train or memory is None:
      return x
    return x + nn.Dense(3)(memory)
""",
    ),
    "a choice by a flag and an optional array": (
        "NNX110",
        """class M(nn.Module):
  def setup(self):
    self.kv = nn.Dense(3)
  def __call__(self, x, memory=None, train=False):
    return x + self.kv(memory) if train and memory is not None else x
""",
    ),
    "what a variable of the call and an optional array decide together": (
        "NNX110",
        """class M(nn.Module):
  kind: str = "a"
  @nn.compact
  def __call__(self, x, memory=None):
    cross = self.kind == "a"
    if cross and memory is not None:
      return x + nn.Dense(3)(memory)
    return x
""",
    ),
    "a flag that two conditions set": (
        "NNX114",
        """class M(nn.Module):
  a: bool = False
  b: bool = False
  def setup(self):
    self.on = False
    if self.a:
      self.on = True
    if self.b:
      self.on = False
    self.one = nn.Dense(8)
    self.two = nn.Dense(3)
  def __call__(self, x):
    h = self.one(x)
    if self.on:
      h = h[..., :4]
    return self.two(h)
""",
    ),
    "a width that is the number of a pass": (
        "NNX114",
        """class M(nn.Module):
  def setup(self):
    self.one = Sized()
  def __call__(self, x):
    out = 0
    for i in range(1, 2):
      out += self.one(x, i).sum(-1)
    return out


class Sized(nn.Module):
  @nn.compact
  def __call__(self, x, features: int):
    return nn.Dense(features)(x)
""",
    ),
    "what a base's setup makes for derived classes, where code asks for the base": (
        "NNX110",
        """class M(nn.Module):
  width: int
  def setup(self):
    self.dense = nn.Dense(self.width)


class Net(M):
  def __call__(self, x):
    return self.dense(x)


def is_ours(module):
  return isinstance(module, M)
""",
    ),
    "what a base's setup makes for derived classes, one of which adds to it": (
        "NNX110",
        """class M(nn.Module):
  width: int
  def setup(self):
    self.dense = nn.Dense(self.width)


class Net(M):
  def setup(self):
    super().setup()
    self.norm = nn.LayerNorm()
  def __call__(self, x):
    return self.norm(self.dense(x))
""",
    ),
}
