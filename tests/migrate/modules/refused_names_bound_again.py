"""Names that get another value, where nothing says by then what they held before."""

REFUSED = {
    "a layer made before the name of its input's size gets another value, and called after": (
        "NNX114",
        """class M(nn.Module):
  sizes: Any = (3, 4)
  @nn.compact
  def __call__(self, x):
    sizes = self.sizes
    layer = nn.Dense(sizes[1])
    sizes = sizes[0]
    x = layer(nn.Dense(sizes)(x))
    return nn.Dense(x.shape[-1])(x)
""",
    ),
    "the size that a layer of setup says, which is an attribute only later": (
        "NNX114",
        """class M(nn.Module):
  config: Any
  def setup(self):
    c = self.config
    a = nn.Dense(c["width"])
    if c["deep"]:
      c = c["head"]
    self.b = nn.Dense(c["width"])
    self.a = a
  def __call__(self, x):
    return self.b(self.a(x))
""",
    ),
}
