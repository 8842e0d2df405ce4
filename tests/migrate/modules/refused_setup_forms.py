"""What `setup` holds in forms that have no other: the classes stay Linen."""

REFUSED = {
    "a submodule that only a derived class calls": (
        "NNX110",
        """class M(nn.Module):
  def setup(self):
    self.first = nn.Dense(3)
    self.second = nn.Dense(3)

  def __call__(self, x):
    return self.first(x)


class Derived(M):
  def __call__(self, x):
    return self.second(x)
""",
    ),
    "parameters in a list that another method reads": (
        "NNX180",
        """class M(nn.Module):
  n: int = 2
  def setup(self):
    self.ws = [self.param(f"w{i}", nn.initializers.ones, (3,)) for i in range(self.n)]
  def __call__(self, x):
    return self.first(x)
  def first(self, x):
    return x * self.ws[0] + self.ws[1]
""",
    ),
    "parameters in a list that another class reads": (
        "NNX180",
        """class M(nn.Module):
  n: int = 2
  def setup(self):
    self.ws = [self.param(f"w{i}", nn.initializers.ones, (3,)) for i in range(self.n)]
  def __call__(self, x):
    return x * self.ws[0] + self.ws[1]


class N(nn.Module):
  def setup(self):
    self.m = M()
  def __call__(self, x):
    return self.m(x) * self.m.ws[0]
""",
    ),
    "parameters in a list, and a method that runs twice": (
        "NNX180",
        """class M(nn.Module):
  n: int = 2
  def setup(self):
    self.ws = [self.param(f"w{i}", nn.initializers.ones, (3,)) for i in range(self.n)]
  def __call__(self, x, again=True):
    x = x * self.ws[0] + self.ws[1]
    return self.__call__(x, False) if again else x
""",
    ),
    "parameters in a list that a module of setup is given": (
        "NNX180",
        """class M(nn.Module):
  n: int = 2
  def setup(self):
    ws = [self.param(f"w{i}", nn.initializers.ones, (3,)) for i in range(self.n)]
    self.ws = ws
    self.d = nn.Dense(len(ws))
  def __call__(self, x):
    return self.d(x * self.ws[0] + self.ws[1])
""",
    ),
    "attributes that are numbered from 1": (
        "NNX133",
        """class M(nn.Module):
  def setup(self):
    for i in range(1, 3):
      setattr(self, f"layer_{i}", nn.Dense(3))
  def __call__(self, x):
    for i in range(1, 3):
      x = getattr(self, f"layer_{i}")(x)
    return x
""",
    ),
    "numbered attributes, one of them by its name": (
        "NNX133",
        """class M(nn.Module):
  def setup(self):
    for i in range(2):
      setattr(self, f"layer_{i}", nn.Dense(3))
  def __call__(self, x):
    return self.layer_1(getattr(self, f"layer_{0}")(x))
""",
    ),
    "numbered attributes beside one that has the list's name": (
        "NNX133",
        """class M(nn.Module):
  def setup(self):
    for i in range(2):
      setattr(self, f"layer_{i}", nn.Dense(3))
    self.layer = nn.Dense(3)
  def __call__(self, x):
    for i in range(2):
      x = getattr(self, f"layer_{i}")(x)
    return self.layer(x)
""",
    ),
    "numbered attributes whose number is read behind the loop": (
        "NNX133",
        """class M(nn.Module):
  def setup(self):
    for i in range(2):
      setattr(self, f"layer_{i}", nn.Dense(3))
    self.out = nn.Dense(i + 1)
  def __call__(self, x):
    for i in range(2):
      x = getattr(self, f"layer_{i}")(x)
    return self.out(x)
""",
    ),
    "a lifted class that setup holds and makes something of": (
        "NNX130",
        """class M(nn.Module):
  def setup(self):
    self.block = nn.remat(nn.Dense)
    self.held = [self.block]
  @nn.compact
  def __call__(self, x):
    return self.held[0](3)(x)
""",
    ),
    "a dict that is read while a loop fills it": (
        "NNX121",
        """class M(nn.Module):
  degrees: Any = (1, 2)
  def setup(self):
    heads = {}
    for d in self.degrees:
      heads[d] = nn.Dense(d + len(heads))
    self.heads = heads
  def __call__(self, x):
    return [self.heads[d](x) for d in self.degrees]
""",
    ),
    "arrays and numbers in one dict of setup": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.table = {'mask': jnp.ones(4), 'count': 3}
    self.dense = nn.Dense(4)
  def __call__(self, x):
    return self.dense(x * self.table['mask']) * self.table['count']
""",
    ),
    "a parameter under the name of a field that other code reads": (
        "NNX156",
        """class M(nn.Module):
  latents: int = 3
  @nn.compact
  def __call__(self, x):
    z = self.param('latents', nn.initializers.ones, (self.latents, 4))
    return jnp.broadcast_to(z[None], (x.shape[0], self.latents, 4))


def count(module):
  return module.latents
""",
    ),
    "a layer under the name of a field that a function may read": (
        "NNX156",
        """def scaled(module, x):
  return x * getattr(module, 'he' + 'ad')


class M(nn.Module):
  head: int = 3
  @nn.compact
  def __call__(self, x):
    return scaled(self, nn.Dense(self.head, name='head')(x))
""",
    ),
    "a layer under the name of a field that a base reads": (
        "NNX156",
        """class Base(nn.Module):
  head: int = 3
  def rows(self, x):
    return x.reshape(-1, self.head)


class M(Base):
  @nn.compact
  def __call__(self, x):
    return self.rows(nn.Dense(self.head, name='head')(x))
""",
    ),
}
