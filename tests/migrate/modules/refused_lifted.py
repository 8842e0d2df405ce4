"""Classes that stay Linen because of how a transform is applied to modules, functions or partials: with their codes."""

REFUSED = {
    "a chain that a vmap stacks, of layers that the method makes": (
        "NNX127",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    make = nn.vmap(nn.Sequential, variable_axes={'params': 0}, split_rngs={'params': True})
    return make([nn.Dense(3), nn.relu, nn.Dense(2)])(x)
""",
    ),
    "a loop over a cell that a vmap stacks": (
        "NNX127",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.vmap(nn.RNN, variable_axes={'params': 0}, split_rngs={'params': True})(nn.LSTMCell(3))(x)
""",
    ),
    "a normalized layer that a vmap stacks": (
        "NNX127",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.vmap(nn.WeightNorm, variable_axes={'params': 0}, split_rngs={'params': True})(nn.Dense(3))(x)
""",
    ),
    "a chain under remat": (
        "NNX203",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.remat(nn.Sequential)([nn.Dense(3), nn.relu, nn.Dense(2)])(x)
""",
    ),
    "a mapped module that updates statistics": (
        "NNX134",
        """class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.BatchNorm(use_running_average=True)(nn.Dense(4)(x))


class M(nn.Module):
  def setup(self):
    self.part = Part()
  def __call__(self, x):
    return jax.vmap(self.part)(x)
""",
    ),
    "a transform applied outside of a module": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


Batched = nn.vmap(M, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0)
""",
    ),
    "a transform applied by a function outside of modules": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


def batched():
  return nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False})()
""",
    ),
    "a mapped class that is told its member's whole shape": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.param('shift', nn.initializers.normal(), x.shape)


Batched = nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)
""",
    ),
    "a mapped class whose calls give another number of arguments": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, scale=2.0):
    return nn.Dense(4)(x) * scale


Batched = nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)
""",
    ),
    "a name for a lifted class that is bound twice": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


Batched = nn.remat(M)
if len('ab') > 1:
  Batched = nn.vmap(M, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)
""",
    ),
    "a function that stacks some variables of its module and not others": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, name='before')(x)

    def body(mdl, c, _):
      return nn.Dense(4)(c), None

    x, _ = nn.scan(body, variable_axes={'params': 0}, split_rngs={'params': True}, length=3)(self, x, None)
    return x
""",
    ),
    "modules made in a branch of nn.cond": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.cond(x.sum() > 0, lambda m, x: nn.Dense(4)(x), lambda m, x: nn.Dense(4)(x), self, x)
""",
    ),
    "a layer with a call of its own, given to jax.vmap as it is": (
        "NNX134",
        """class M(nn.Module):
  def setup(self):
    self.bn = nn.BatchNorm(use_running_average=False)

  def __call__(self, x):
    return jax.vmap(self.bn)(x)
""",
    ),
    "a mapped chain with a Dropout in it": (
        "NNX134",
        """class M(nn.Module):
  def setup(self):
    self.chain = nn.Sequential([nn.Dense(4), nn.Dropout(0.5, deterministic=False)])

  def __call__(self, x):
    return jax.vmap(self.chain)(x)
""",
    ),
    "a mapped chain with statistics in one of its chains": (
        "NNX134",
        """class M(nn.Module):
  def setup(self):
    self.chain = nn.Sequential([nn.Dense(4), nn.Sequential([nn.BatchNorm(True)])])

  def __call__(self, x):
    return jax.vmap(self.chain)(x)
""",
    ),
    "a mapped chain with a function that uses another module": (
        "NNX134",
        """class M(nn.Module):
  def setup(self):
    self.drop = nn.Dropout(0.5, deterministic=False)
    self.chain = nn.Sequential([nn.Dense(4), lambda x: self.drop(x)])

  def __call__(self, x):
    return jax.vmap(self.chain)(x)
""",
    ),
    "a mapped chain that an attribute keeps": (
        "NNX184",
        """class M(nn.Module):
  def setup(self):
    self.chain = nn.Sequential([nn.Dense(4), nn.relu])
    self.each = jax.vmap(self.chain)

  def __call__(self, x):
    return self.each(x)
""",
    ),
    "a mapped module that may be one that draws": (
        "NNX134",
        """class M(nn.Module):
  plain: bool = True
  def setup(self):
    self.part = nn.Dense(4) if self.plain else nn.Dropout(0.5, deterministic=False)

  def __call__(self, x):
    return jax.vmap(self.part)(x)
""",
    ),
    "a layer in a function given to a transform": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return jax.lax.map(lambda z: nn.Dense(4)(z), x)
""",
    ),
    "a layer in a function under a transform's decorator": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    @jax.vmap
    def apply(z):
      return nn.BatchNorm(use_running_average=False)(z)
    return apply(x)
""",
    ),
    "a partial under nn.remat that holds a name which has changed": (
        "NNX132",
        """class M(nn.Module):
  init: Any = nn.initializers.ones
  @nn.compact
  def __call__(self, x):
    init = self.init
    make = nn.remat(functools.partial(nn.Dense, 3, kernel_init=init))
    init = nn.initializers.zeros
    return nn.Dense(2, kernel_init=init)(make()(x))
""",
    ),
    "a layer under nn.remat that takes a flag of the call": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    return nn.remat(nn.BatchNorm)(use_running_average=not train)(x)
""",
    ),
    "a norm under nn.vmap that takes a flag of the call": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    norm = nn.vmap(
      nn.BatchNorm, variable_axes={'params': 0, 'batch_stats': 0}, split_rngs={'params': True}, in_axes=1, out_axes=1)
    return norm(use_running_average=not train)(x)
""",
    ),
    "a norm under nn.remat called with a keyword": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, mask):
    return nn.remat(nn.LayerNorm)()(x, mask=mask)
""",
    ),
    "a scan over one of two fields' modules": (
        "NNX130",
        """class M(nn.Module):
  one: nn.Module
  two: nn.Module
  flag: bool
  @nn.compact
  def __call__(self, c, x):
    cell = self.one if self.flag else self.two
    scan = nn.scan(lambda m, c, v: m(c, v), variable_broadcast='params', split_rngs={'params': False})
    return scan(cell, c, x)


class Outer(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    return M(nn.GRUCell(3), nn.SimpleCell(3), True)(c, x)
""",
    ),
    "a partial of what a field holds, under remat": (
        "NNX130",
        """class Block(nn.Module):
  act: Any = nn.relu
  @nn.compact
  def __call__(self, x):
    return self.act(nn.Dense(4)(x))


class M(nn.Module):
  block: Any = Block
  @nn.compact
  def __call__(self, x):
    return functools.partial(nn.remat(self.block), act=nn.tanh)()(x)
""",
    ),
    "remat or not by a number that setup computes": (
        "NNX130",
        """class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class M(nn.Module):
  k: int = 1
  def setup(self):
    k = self.k + 1
    k = k * 2
    big = k > 3
    self.h = nn.remat(Block)() if big else Block()
  def __call__(self, x):
    return self.h(x)
""",
    ),
    "remat of a field by a flag of the call": (
        "NNX132",
        """class M(nn.Module):
  layer: Any = nn.Dense
  @nn.compact
  def __call__(self, x, remat=False):
    layer = nn.remat(self.layer) if remat else self.layer
    return layer(4)(x)
""",
    ),
    "a collection that all steps share, beside stacked parameters": (
        "NNX168",
        """class Step(nn.Module):
  @nn.compact
  def __call__(self, carry, x):
    k = self.variable('consts', 'k', lambda: jnp.full((), 2.0))
    return nn.Dense(4)(carry) * k.value + x, None


class M(nn.Module):
  @nn.compact
  def __call__(self, x, xs):
    layers = nn.scan(Step, variable_axes={'params': 0}, variable_broadcast='consts', split_rngs={'params': True})
    return layers()(x, xs)[0]
""",
    ),
    "statistics that all steps of a function share, beside stacked parameters": (
        "NNX168",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def step(mdl, carry, _):
      return nn.BatchNorm(use_running_average=True)(nn.Dense(4)(carry)), None
    layers = nn.scan(
        step, variable_axes={'params': 0}, variable_broadcast=('batch_stats',), split_rngs={'params': True}, length=2
    )
    return layers(self, x, None)[0]
""",
    ),
    "a flag that a scanned method is given for all steps, and changes": (
        "NNX150",
        """class Step(nn.Module):
  @functools.partial(nn.scan, variable_broadcast='params', in_axes=(1, nn.broadcast), out_axes=1)
  @nn.compact
  def __call__(self, carry, x, train):
    train = not train
    h = nn.Dense(4)(x)
    return carry, h * 2 if train else h


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Step()(jnp.zeros(()), x, train)[1]
""",
    ),
    "a flag that a scanned method is given for all steps, behind text of several lines": (
        "NNX150",
        """class Step(nn.Module):
  @functools.partial(nn.scan, variable_broadcast='params', in_axes=(1, nn.broadcast), out_axes=1)
  @nn.compact
  def __call__(self, carry, x, train):
    print('''one
    two''')
    h = nn.Dense(4)(x)
    return carry, h * 2 if train else h


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Step()(jnp.zeros(()), x, train)[1]
""",
    ),
    "an ensemble of unknown width, whose members draw random numbers": (
        "NNX110",
        """class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(x))


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    parts = [v for v in jax.tree.leaves({'x': x})]
    split = {'params': True, 'dropout': True}
    made = nn.vmap(Part, variable_axes={'params': 0}, split_rngs=split, in_axes=None, axis_size=2)
    return made()(jnp.concatenate(parts, -1))
""",
    ),
    "an ensemble of unknown width along the last axis": (
        "NNX110",
        """class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    parts = [v for v in jax.tree.leaves({'x': x})]
    made = nn.vmap(Part, variable_axes={'params': -1}, split_rngs={'params': True}, in_axes=None, axis_size=2)
    return made()(jnp.concatenate(parts, -1))
""",
    ),
    "an ensemble of unknown width with one set of parameters": (
        "NNX110",
        """class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    parts = [v for v in jax.tree.leaves({'x': x})]
    made = nn.vmap(Part, variable_axes={'params': None}, split_rngs={'params': False}, in_axes=None, axis_size=2)
    return made()(jnp.concatenate(parts, -1))
""",
    ),
}
