"""Classes that stay Linen because what is looked up, spread or left behind cannot be told for certain."""

REFUSED = {
    "a function that makes modules, looked up by a field": (
        "NNX138",
        """def small(owner, i):
  return nn.Dense(owner.width, name=f"layer_{i}")


def normed(owner, i):
  return nn.LayerNorm(name=f"layer_{i}")


MAKERS = {"small": small, "normed": normed}


class M(nn.Module):
  width: int = 4
  kind: str = "small"
  def setup(self):
    make = MAKERS.get(self.kind)
    if make is None:
      raise ValueError(self.kind)
    self.layers = [make(self, i) for i in range(2)]
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x
""",
    ),
    "a layer picked from a dict by an argument of the call": (
        "NNX132",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, kind):
    return {"a": nn.LayerNorm, "b": nn.RMSNorm}[kind]()(x)
""",
    ),
    "a layer picked from a dict by a name that changes before it is made": (
        "NNX132",
        """class M(nn.Module):
  kinds: tuple
  @nn.compact
  def __call__(self, x):
    for i in range(len(self.kinds)):
      norm = {"a": nn.LayerNorm, "b": nn.RMSNorm}[self.kinds[i]]
      x = nn.Dense(4)(norm()(x))
    return x
""",
    ),
    "a layer picked from a dict that other code fills": (
        "NNX138",
        """NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}
NORMS["rms"] = nn.GroupNorm


class M(nn.Module):
  kind: str = "layer"
  @nn.compact
  def __call__(self, x):
    return NORMS[self.kind]()(x)
""",
    ),
    "sizes of a number that is not known, spread into a constructor": (
        "NNX137",
        """class Inner(nn.Module):
  a: int
  b: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.a)(nn.Dense(self.b)(x))


class M(nn.Module):
  sizes: tuple
  @nn.compact
  def __call__(self, x):
    return Inner(*self.sizes)(x)
""",
    ),
    "a size left behind by a loop that is left early": (
        "NNX113",
        """class M(nn.Module):
  widths: tuple
  @nn.compact
  def __call__(self, x):
    for m in self.widths:
      width = 2 * m
      if width > 6:
        break
    return nn.Dense(2)(nn.Dense(width)(x))
""",
    ),
    "layers made in a function that is applied to several arrays": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    a, b = map(lambda t: nn.Dense(4)(t), jnp.split(x, 2, axis=-1))
    return a + b
""",
    ),
    "a lifted class under two names, of which one is asked for something else": (
        "NNX130",
        """class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class M(nn.Module):
  saved: bool = True
  @nn.compact
  def __call__(self, x):
    block = Block
    if self.saved:
      lifted = nn.remat(Block)
      block = lifted
    print(lifted.__name__)
    return block()(x)
""",
    ),
    "kept arrays zipped under a condition of its own": (
        "NNX123",
        """class M(nn.Module):
  widths: tuple
  strict: bool = True
  @nn.compact
  def __call__(self, x):
    kept = []
    for width in self.widths:
      x = nn.Dense(width)(x)
      kept.append(x)
    for width, old in zip(self.widths, kept, strict=self.strict):
      x = jnp.concatenate([x, nn.Dense(width)(old)], axis=-1)
    return x
""",
    ),
    "a class that a table of another package has under an attribute": (
        "NNX138",
        """from elsewhere import MODELS


class M(nn.Module):
  config: Any
  def setup(self):
    kind = MODELS[self.config.kind].module_class
    self.inner = kind(self.config, dtype=jnp.float32)
    self.head = nn.Dense(3)
  def __call__(self, x):
    return self.head(x) + self.inner(x)[1].sum()
""",
    ),
}
