"""Modules whose batch statistics one pass updates and reads, and that therefore stay Linen: with their codes."""

PART = """class Part(nn.Module):
  @nn.compact
  def __call__(self, x, train):
    return nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))


"""

REFUSED = {
    "a norm that is called with and without running averages": (
        "NNX183",
        """class M(nn.Module):
  def setup(self):
    self.norm = nn.BatchNorm()
  def __call__(self, x, y):
    return self.norm(x, use_running_average=False) + self.norm(y, use_running_average=True)
""",
    ),
    "a module with a norm that is called under unlike flags": (
        "NNX183",
        PART
        + """class M(nn.Module):
  @nn.compact
  def __call__(self, x, y):
    part = Part()
    return part(x, True) + part(y, train=False)
""",
    ),
    "a flag and its opposite": (
        "NNX183",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, y, train=False):
    norm = nn.BatchNorm()
    return norm(x, use_running_average=not train) + norm(y, True)
""",
    ),
}
