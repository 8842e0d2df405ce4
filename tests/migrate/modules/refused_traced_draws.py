"""Draws and sown values in functions that JAX traces by themselves, where NNX raises at the call: with their codes."""

_PART = """class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=False)(nn.Dense(4)(x))


"""

REFUSED = {
    "a Dropout in a function that is differentiated": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    dense = nn.Dense(4)
    drop = nn.Dropout(0.5, deterministic=False)
    def energy(x):
      return jnp.sum(drop(dense(x)))
    return jax.grad(energy)(x)
""",
    ),
    "a Dropout in a function under jax.checkpoint as a decorator": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic=False):
    drop = nn.Dropout(0.5)
    @functools.partial(jax.checkpoint, policy=None)
    def inner(x):
      return drop(x, deterministic=deterministic)
    return nn.Dense(4)(inner(x))
""",
    ),
    "a module that draws in a lambda": (
        "NNX134",
        _PART
        + """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    part = Part()
    return part(x) + jax.lax.map(lambda row: part(row), x)
""",
    ),
    "a Dropout in a method that another calls under a mapped one": (
        "NNX134",
        """class M(nn.Module):
  def setup(self):
    self.dense = nn.Dense(4)
    self.drop = nn.Dropout(0.5, deterministic=False)
  def regular(self, x):
    return self.drop(x)
  def row(self, x):
    return self.regular(self.dense(x))
  def __call__(self, x):
    mapped = jax.vmap(self.row)
    return mapped(x)
""",
    ),
    "a branch of jax.lax.cond that draws": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=True):
    drop = nn.Dropout(0.5)
    x = nn.Dense(4)(x)
    return jax.lax.cond(x.sum() > 0, lambda x: drop(x, deterministic=not train), lambda x: x, x)
""",
    ),
    "a key drawn in a function under jax.checkpoint": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def noisy(x):
      return x + jax.random.normal(self.make_rng("noise"), x.shape)
    return nn.Dense(4)(jax.checkpoint(noisy)(x))
""",
    ),
    "a value sown in a function that is mapped": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    def chunk(x):
      self.sow("intermediates", "chunk", x)
      return x * 2
    return nn.Dense(4)(jax.lax.map(chunk, x))
""",
    ),
}
