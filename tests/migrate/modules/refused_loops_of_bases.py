"""Sizes that follow from a loop over modules which the constructor of a base makes, or that it would have to be told."""

_BASE = """class Base(nn.Module):
  widths: tuple = (5, 6)
  def setup(self):
    self.blocks = [nn.Dense(w) for w in self.widths]
    self.norms = [nn.LayerNorm() for w in self.widths]
  def run(self, x):
    for block in self.blocks:
      x = block(x)
    return x
  def __call__(self, x):
    for block, norm in zip(self.blocks, self.norms):
      x = norm(block(x))
    return x


"""

REFUSED = {
    "a size behind a loop over modules of a base": (
        "NNX161",
        _BASE
        + """class M(Base):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(super().__call__(x))
""",
    ),
    "a loop over modules of a base that is fed by one of the class": (
        "NNX161",
        _BASE
        + """class M(Base):
  def setup(self):
    super().setup()
    self.more = [nn.Dense(w + 1) for w in self.widths]
  def __call__(self, x):
    for block in self.more:
      x = block(x)
    return super().__call__(x)
""",
    ),
    "modules of a base that each see the input": (
        "NNX114",
        _BASE
        + """class M(Base):
  def setup(self):
    super().setup()
    self.out = nn.Dense(4)
  def __call__(self, x):
    return self.out(sum(norm(block(x)) for block, norm in zip(self.blocks, self.norms)))
""",
    ),
    "modules of a base that see a part of the input": (
        "NNX161",
        _BASE
        + """class M(Base):
  def setup(self):
    super().setup()
    self.out = nn.Dense(4)
  def __call__(self, x):
    for block, norm in zip(self.blocks, self.norms):
      x = norm(block(x[..., :3]))
    return x
""",
    ),
}
