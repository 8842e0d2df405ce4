"""Layers that other modules are given where they are made, among layers that are taken one by one: the class stays Linen."""

RESIDUAL = """class R(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    return x + self.inner(x)


"""

REFUSED = {
    "given in a loop before others": (
        "NNX153",
        RESIDUAL
        + """class M(nn.Module):
  depth: int = 3
  hidden: int = 2
  @nn.compact
  def __call__(self, x):
    for i in range(self.depth):
      x = R(nn.Dense(x.shape[-1]))(x)
    r = x
    x = nn.Dense(2 * self.hidden)(x)
    if r.shape[-1] != x.shape[-1]:
      r = nn.Dense(x.shape[-1])(r)
    x = x + r
    return nn.Dense(4)(x)
""",
    ),
    "given in a loop behind others": (
        "NNX153",
        RESIDUAL
        + """class M(nn.Module):
  depth: int = 3
  hidden: int = 2
  @nn.compact
  def __call__(self, x):
    r = x
    x = nn.Dense(2 * self.hidden)(x)
    if r.shape[-1] != x.shape[-1]:
      r = nn.Dense(x.shape[-1])(r)
    x = x + r
    for i in range(self.depth):
      x = R(nn.Dense(x.shape[-1]))(x)
    return nn.Dense(4)(x)
""",
    ),
    "given under a condition": (
        "NNX153",
        RESIDUAL
        + """class M(nn.Module):
  flag: bool = True
  @nn.compact
  def __call__(self, x):
    if self.flag:
      x = R(nn.Dense(4))(x)
    x = nn.Dense(4)(x)
    for i in range(2):
      x = nn.Dense(4)(x)
    return x
""",
    ),
    "given in a loop with others": (
        "NNX153",
        RESIDUAL
        + """class M(nn.Module):
  flag: bool = True
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      x = R(nn.Dense(4))(x)
      if self.flag:
        x = nn.Dense(4)(x)
    return nn.Dense(4)(x)
""",
    ),
}
