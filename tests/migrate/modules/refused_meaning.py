"""Classes that stay Linen because NNX would do something else, or has nothing that does it: with their codes."""

REFUSED = {
    "a field called as a parameter of the metaclass": (
        "NNX151",
        """class M(nn.Module):
  cls: Any = nn.Dense
  @nn.compact
  def __call__(self, x):
    return self.cls(3)(x)
""",
    ),
    "a partial with a name that is given to a field": (
        "NNX155",
        """class M(nn.Module):
  norm: Any = functools.partial(nn.LayerNorm, name='own')
  @nn.compact
  def __call__(self, x):
    return self.norm()(x)
""",
    ),
    "a parameter whose start follows another's": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    start = jnp.exp(self.w)
    self.v = self.param('v', lambda key: start)
  def __call__(self, x):
    return x * self.v
""",
    ),
    "what setup computes from a parameter, changed by a method": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    self.scale = jnp.exp(self.w)
  def __call__(self, x):
    object.__setattr__(self, 'scale', 2)
    self.scale += 1
    return x * self.scale
""",
    ),
    "a method of setup that reads what setup computes": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    self.scale = jnp.exp(self.w)
    self.twice = self.double()
  def double(self):
    return 2 * self.scale
  def __call__(self, x):
    return x * self.twice
""",
    ),
    "a module called in setup": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.embed = nn.Embed(4, 3)
    self.table = self.embed(jnp.arange(4))
  def __call__(self, x):
    return x + self.table[0]
""",
    ),
    "all variables of a submodule at once": (
        "NNX164",
        """class M(nn.Module):
  def setup(self):
    self.inner = nn.Dense(4)
  def __call__(self, x):
    y = self.inner(x)
    return y, jax.tree.map(jnp.sum, self.inner.variables['params'])
""",
    ),
    "a variable looked up that another class makes": (
        "NNX164",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) + self.variables['statistics']['mean']
""",
    ),
    "a variable looked up under a computed name": (
        "NNX147",
        """class M(nn.Module):
  which: str = 'a'
  @nn.compact
  def __call__(self, x):
    a = self.variable('state', 'a', jnp.zeros, ())
    return nn.Dense(4)(x) + a.value + self.get_variable('state', self.which)
""",
    ),
    "a field of two kinds that count under one name": (
        "NNX163",
        """class M(nn.Module):
  part: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(self.part(features=4)(x))


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Dense)(x) + M(nn.DenseGeneral)(x)
""",
    ),
    "a field of two kinds, one with a field that is called as the size of an input": (
        "NNX163",
        """class Own(nn.Module):
  in_features: int = 4
  @nn.compact
  def __call__(self, x):
    return x @ self.param('kernel', nn.initializers.normal(), (x.shape[-1], self.in_features))


class M(nn.Module):
  part: Any
  @nn.compact
  def __call__(self, x):
    return self.part(4)(x)


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Dense)(x) + M(Own)(x)
""",
    ),
    "a field of two kinds, a layer of other axes": (
        "NNX163",
        """class Scale(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x * self.param('scale', nn.initializers.ones, (x.shape[-1],))


class M(nn.Module):
  part: Any
  @nn.compact
  def __call__(self, x):
    return self.part()(x)


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    norm = functools.partial(nn.LayerNorm, reduction_axes=1, feature_axes=1)
    return M(norm)(x) + M(Scale)(x)
""",
    ),
    "another collection than the field's default": (
        "NNX143",
        """class Kept(nn.Module):
  collection: str = 'kept'
  @nn.compact
  def __call__(self, x):
    return x + self.variable(self.collection, 'a', jnp.zeros, ()).value


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Kept('others')(x)
""",
    ),
    "a collection that nobody names": (
        "NNX143",
        """class M(nn.Module):
  collection: str
  @nn.compact
  def __call__(self, x):
    return x + self.variable(self.collection, 'a', jnp.zeros, ()).value
""",
    ),
    "a collection that __post_init__ names": (
        "NNX143",
        """class M(nn.Module):
  collection: str = ''
  def __post_init__(self):
    self.collection = self.collection or 'kept'
    super().__post_init__()
  @nn.compact
  def __call__(self, x):
    return x + self.variable(self.collection, 'a', jnp.zeros, ()).value
""",
    ),
    "a field of two kinds that NNX makes in different ways": (
        "NNX163",
        """class M(nn.Module):
  part: Any
  @nn.compact
  def __call__(self, x):
    return self.part(4, (3, 3))(x)


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Conv)(x) + M(nn.ConvLocal)(x)
""",
    ),
    "a field of two kinds, one with a flag of the call, in nested loops": (
        "NNX163",
        """class M(nn.Module):
  norm: Any
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      for j in range(i):
        x = self.norm()(x)
    return x


class N(nn.Module):
  @nn.compact
  def __call__(self, x, train):
    return M(functools.partial(nn.BatchNorm, use_running_average=not train))(x) + M(nn.LayerNorm)(x)
""",
    ),
    "a base's submodule that sees an input of the base's own nowhere": (
        "NNX161",
        """class B(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
    self.b = nn.Dense(4)

  def __call__(self, x):
    return self.a(x) + self.b(x)


class D(B):
  e: int = 3

  def __call__(self, x):
    return self.a(x) + self.b(x[..., :self.e])
""",
    ),
    "a layer's subclass whose param looks at the initializer": (
        "NNX160",
        """class M(nn.Dense):
  def param(self, name, init, *args):
    value = super().param(name, init, *args)
    return value if init is None else value * 2
""",
    ),
    "a field called rngs": (
        "NNX151",
        """class M(nn.Module):
  rngs: Any = None
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)
""",
    ),
    "a lifted method with optional arguments": (
        "NNX141",
        """class M(nn.Module):
  @functools.partial(nn.scan, variable_broadcast='params', split_rngs={'params': False})
  @nn.compact
  def __call__(self, c, x, scale=1.0):
    return nn.GRUCell(4)(c, x * scale)
""",
    ),
    "every step of a scan drops the same": (
        "NNX168",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      return nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(c)), None

    f = nn.scan(body, variable_broadcast='params', split_rngs={'params': False, 'dropout': False}, length=3)
    return f(self, x, None)[0]
""",
    ),
    "a scan that carries some variables and stacks others": (
        "NNX168",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def body(mdl, c, _):
      return nn.Dense(4)(c), None

    f = nn.scan(body, variable_axes={'params': 0}, variable_carry='state', split_rngs={'params': True}, length=3)
    return f(self, x, None)[0]
""",
    ),
    "a lifted function called with keywords, which Linen ignores": (
        "NNX141",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    f = nn.vmap(lambda mdl, x, y=1: nn.Dense(4)(x) * y, variable_axes={'params': None}, split_rngs={'params': False})
    return f(self, x, y=2)
""",
    ),
    "a cell of images": (
        "NNX160",
        """class M(nn.RNNCellBase):
  @nn.compact
  def __call__(self, carry, x):
    y = nn.Conv(3, (3, 3))(x) + carry
    return y, y

  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], 3))

  @property
  def num_feature_axes(self):
    return 3
""",
    ),
    "a module that is cloned": (
        "NNX149",
        """class M(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    return self.inner.clone(name='a')(x)
""",
    ),
    "an operation class of Linen's own": (
        "NNX203",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.MultiHeadDotProductAttention(num_heads=2, qkv_dot_general_cls=nn.Fp8DotGeneralOp)(x)
""",
    ),
    "an item of a list whose name in Linen is the number of another place": (
        "NNX155",
        """class M(nn.Module):
  def setup(self):
    self.ls = [nn.Dense(4, name=str(i + 1)) for i in range(2)]

  def __call__(self, x):
    for layer in self.ls:
      x = layer(x)
    return x
""",
    ),
    "self.variables": (
        "NNX164",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(4, name='d')(x)
    return y + sum(self.variables['params']['d'].values())
""",
    ),
    "a local variable called rngs": (
        "NNX151",
        """class M(nn.Module):
  dims: Any = (4,)
  @nn.compact
  def __call__(self, x):
    rngs = tuple(self.dims)
    return x * self.param('p', nn.initializers.ones, rngs)
""",
    ),
    "either of two modules, called as one of them cannot be": (
        "NNX165",
        """class B(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    return nn.Dense(4)(x) * (2.0 if train else 1.0)


class M(nn.Module):
  wide: bool = False
  def setup(self):
    self.first = B() if self.wide else nn.Dense(4)
  def __call__(self, x, train=False):
    return self.first(x, train)
""",
    ),
    "a size of the call that a condition asks about": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, features: int):
    if features > 3:
      x = nn.Dense(features)(x)
    return x
""",
    ),
    "a size of the call that is assigned anew": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, features: int):
    features = features * 2
    return nn.Dense(features)(x)
""",
    ),
    "a size of the call with a default": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, features: int = 4):
    return nn.Dense(features)(x)
""",
    ),
    "a number of the call that is no size": (
        "NNX113",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, scale):
    return nn.Dense(4, kernel_init=nn.initializers.constant(scale))(x)
""",
    ),
    "a method that makes a layer and that none calls": (
        "NNX157",
        """class M(nn.Module):
  def head(self, x):
    return nn.LayerNorm()(x)
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)
""",
    ),
    "a method of a base that another class calls": (
        "NNX157",
        """class Base(nn.Module):
  def norm(self, x):
    return nn.LayerNorm()(x)
  def scale(self, x):
    return x * self.param('scale', nn.initializers.ones, (1,))


class Other(Base):
  @nn.compact
  def __call__(self, x):
    return self.scale(x)


class M(Base):
  @nn.compact
  def __call__(self, x):
    return self.norm(x)
""",
    ),
    "a field that decides what there is, given from the call's own flag": (
        "NNX113",
        """class Sum(nn.Module):
  project: bool = False
  @nn.compact
  def __call__(self, x, y):
    if self.project:
      y = nn.Dense(x.shape[-1])(y)
    return x + y


class Plain(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Sum()(x, x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x, up: bool = True):
    return Sum(project=up)(nn.Dense(5)(x), x)
""",
    ),
}

_OR_NONE = """class Enc(nn.Module):
  norm: object = None
  @nn.compact
  def __call__(self, x):
    return x if self.norm is None else self.norm(x)


class M(nn.Module):
  before: bool = True
  @nn.compact
  def __call__(self, x, mask=None, train: bool = False):
    norm = None
    {how}
    return Enc(norm=norm)(nn.Dense(4)(x))
"""
_HOW = {
    "a flag": "norm = nn.LayerNorm() if train else None",
    "an argument": "norm = nn.LayerNorm() if mask is not None else None",
    "a name for an argument": "has = mask is not None\n    if has:\n      norm = nn.LayerNorm()",
    "a rank": "norm = nn.LayerNorm() if x.ndim == 3 else None",
    "a field and an argument": "if self.before:\n      if mask is not None:\n        norm = nn.LayerNorm()",
}
REFUSED |= {f"a module or None handed on, by {key}": ("NNX113", _OR_NONE.replace("{how}", how)) for key, how in _HOW.items()}
