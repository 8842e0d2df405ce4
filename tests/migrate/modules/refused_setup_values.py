"""Setups that compute from variables of submodules in ways no method can follow, call them, or draw: they stay Linen."""

SUB = """class Sub(nn.Module):
  n: int = 4
  def setup(self):
    self.w = self.param('w', nn.initializers.normal(1.0), (self.n,))
    self.k = self.n * 2
  @property
  def double(self):
    return self.w * 2
  def get(self):
    return self.w * 3
  def __call__(self, x):
    return x * self.w


"""

REFUSED = {
    "a parameter and what follows it under one name": (
        "NNX180",
        """class M(nn.Module):
  flip: bool = False
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    if self.flip:
      self.w = self.w[::-1]
  def __call__(self, x):
    return x * self.w
  def other(self, x):
    return x + self.w
""",
    ),
    "the same by way of a name": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.w = self.param('w', nn.initializers.ones, (3,))
    w = self.w * 2
    self.w = w
  def __call__(self, x):
    return x * self.w
  def other(self, x):
    return x + self.w
""",
    ),
    "a method of a submodule": (
        "NNX180",
        SUB
        + """class M(nn.Module):
  def setup(self):
    self.s = Sub()
    self.w = self.s.get()
  def __call__(self, x):
    return self.s(x) * self.w
""",
    ),
    "a table in a method that setup calls": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.build()
  def build(self):
    self.e = nn.Embed(5, 4)
    self.table = self.e.embedding.T
  def __call__(self, x):
    return x @ self.table
""",
    ),
    "a submodule that is called": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.e = nn.Embed(5, 4)
    self.t = self.e(jnp.arange(5))
  def __call__(self, x):
    return x @ self.t.T
""",
    ),
    "random numbers": (
        "NNX180",
        """class M(nn.Module):
  def setup(self):
    self.noise = jax.random.normal(self.make_rng('dropout'), (4,))
    self.d = nn.Dense(4)
  def __call__(self, x):
    return self.d(x) + 0 * self.noise
""",
    ),
}
