"""What reads a module's state and is kept, in an attribute, by another module or as a cached property: it stays Linen."""

SUB = """class Sub(nn.Module):
  fn: Any
  @nn.compact
  def __call__(self, x):
    return self.fn(nn.Dense(4)(x))


"""

GO = """  def go(self, x):
    return self.d(x)
"""

CALL = """  def __call__(self, x):
    return self.f(x)
"""


def _in_setup(line: str, rest: str = GO + CALL) -> str:
    return f"class M(nn.Module):\n  flag: bool = True\n  def setup(self):\n    self.d = nn.Dense(4)\n{line}{rest}"


def _given(line: str) -> str:
    return SUB + _in_setup(f"    self.f = {line}\n")


REFUSED = {
    "a method under another name": ("NNX184", _in_setup("    self.f = self.go\n")),
    "one of two functions": ("NNX184", _in_setup("    self.f = self.go if self.flag else nn.relu\n")),
    "one of two functions, by statements": (
        "NNX184",
        _in_setup("    if self.flag:\n      self.f = self.go\n    else:\n      self.f = lambda x: x\n"),
    ),
    "one of several names": ("NNX184", _in_setup("    self.f, self.g = self.go, nn.relu\n")),
    "a partial of a method": ("NNX184", _in_setup("    self.f = functools.partial(self.go)\n")),
    "a partial of a function that is given the module": (
        "NNX184",
        "def go(module, x):\n  return module.d(x)\n\n\n" + _in_setup("    self.f = functools.partial(go, self)\n", CALL),
    ),
    "a function that a function of the file makes of a parameter": (
        "NNX184",
        """def scaled(w, power):
  table = jnp.stack([w, w])

  def scale(x):
    return x * table[0] ** power

  return scale


class M(nn.Module):
  def setup(self):
    self.w = self.param("w", nn.initializers.ones, (4,))
    self.f = scaled(self.w, 2)
"""
        + CALL,
    ),
    "a function that a function of the file makes, and that counts": (
        "NNX184",
        """def counted(power):
  calls = []

  def scale(x):
    calls.append(1)
    return x * len(calls) ** power

  return scale


class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.f = counted(2)

  def __call__(self, x):
    return self.d(self.f(x))
""",
    ),
    "a transformed module": ("NNX184", _in_setup("    self.f = jax.vmap(self.d)\n", CALL)),
    "a method of a layer": (
        "NNX184",
        """class M(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.f = self.e.attend
"""
        + CALL,
    ),
    "a list of methods": (
        "NNX184",
        _in_setup(
            "    fs = []\n    for i in range(2):\n      fs.append(self.go)\n    self.fs = fs\n",
            GO + "  def __call__(self, x):\n    for f in self.fs:\n      x = f(x)\n    return x\n",
        ),
    ),
    "a dict of methods": (
        "NNX184",
        _in_setup(
            "    self.fs = {'a': self.go, 'b': nn.relu}\n",
            GO + "  def __call__(self, x):\n    return self.fs['b'](self.fs['a'](x))\n",
        ),
    ),
    "a method among a stack's layers": ("NNX184", _in_setup("    self.f = nn.Sequential([nn.Dense(4), self.go])\n")),
    "a method under a local name": ("NNX184", _in_setup("    go = self.go\n    self.f = nn.Sequential([go])\n")),
    "a method given to a module": ("NNX184", _given("Sub(fn=self.go)")),
    "a partial given to a module": ("NNX184", _given("Sub(functools.partial(self.go))")),
    "a compact method given to a module": (
        "NNX184",
        SUB
        + """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Sub(self.go)(x)
  @nn.compact
  def go(self, x):
    return nn.Dense(4)(x)
""",
    ),
    "a method that computes the attention": (
        "NNX184",
        """class M(nn.Module):
  def setup(self):
    self.t = self.param('t', nn.initializers.ones, (4,))
    self.f = nn.MultiHeadDotProductAttention(num_heads=1, attention_fn=self.attend)
  def attend(self, query, key, value, bias=None, mask=None, **kwargs):
    return nn.dot_product_attention(query * self.t, key, value)
"""
        + CALL,
    ),
    "a method that counts": (
        "NNX184",
        """class M(nn.Module):
  def setup(self):
    self.c = self.variable('counts', 'c', jnp.zeros, ())
    self.f = nn.Sequential([self.count, nn.Dense(4)])
  def count(self, x):
    self.c.value = self.c.value + 1.
    return x * self.c.value
"""
        + CALL,
    ),
    "a method that another one gives": (
        "NNX184",
        _in_setup("    self.f = self.pick()\n", "  def pick(self):\n    return self.go\n" + GO + CALL),
    ),
    "a method kept by what setup calls": (
        "NNX184",
        _in_setup("    self.build()\n", "  def build(self):\n    self.f = self.go\n" + GO + CALL),
    ),
    "a cached property that makes a module": (
        "NNX184",
        """class M(nn.Module):
  @functools.cached_property
  def dense(self):
    return nn.Dense(4)
  @nn.compact
  def __call__(self, x):
    return self.dense(x) + self.dense(x * 2)
""",
    ),
    "a cached property that draws": (
        "NNX184",
        """class M(nn.Module):
  @functools.cached_property
  def noise(self):
    return jax.random.normal(self.make_rng('noise'), (4,))
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x) + self.noise
""",
    ),
    "a cached property that updates statistics": (
        "NNX184",
        """class M(nn.Module):
  def setup(self):
    self.norm = nn.BatchNorm(use_running_average=False)
    self.k = self.param('k', nn.initializers.ones, (2, 4))
  @functools.cached_property
  def normed(self):
    return self.norm(self.k)
  def __call__(self, x):
    return x * self.normed.sum() + self.normed.mean()
""",
    ),
    "a cached property of a base that is no module": (
        "NNX184",
        """class Tables:
  @functools.cached_property
  def table(self):
    return self.t * 2


class M(Tables, nn.Module):
  def setup(self):
    self.t = self.param('t', nn.initializers.ones, (4,))
  def __call__(self, x):
    return x * self.table + self.table
""",
    ),
}
