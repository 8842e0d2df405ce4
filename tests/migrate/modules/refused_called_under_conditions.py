"""Modules of a compact method of which only the call says whether they have variables: with their codes."""

_LOOP = """class M(nn.Module):
  count: int = 3
  features: tuple = (3, 5, 3)
  @nn.compact
  def __call__(self, x):
"""

REFUSED = {
    "a condition of what is known later": (
        "NNX157",
        f"""{_LOOP}    m = nn.Dense(3)
    k = self.count * 2
    if k > 3:
      x = m(x)
    return nn.Dense(2)(x)
""",
    ),
    "a condition of what each pass says later": (
        "NNX157",
        f"""{_LOOP}    for i, f in enumerate(self.features):
      norm = nn.LayerNorm()
      x = nn.Dense(f)(x)
      last = i == len(self.features) - 1
      if not last:
        x = norm(x)
    return x
""",
    ),
    "a condition of an inner loop": (
        "NNX157",
        f"""{_LOOP}    for i in range(3):
      m = nn.Dense(3)
      for j in range(2):
        if i + j > 1:
          x = m(x)
    return x
""",
    ),
    "a condition of widths in a loop": (
        "NNX157",
        f"""{_LOOP}    for f in self.features:
      block, skip = nn.Dense(f), nn.Dense(f)
      y = block(x)
      if x.shape[-1] != f:
        x = skip(x)
      x = x + y
    return x
""",
    ),
    "a condition of ranks": (
        "NNX157",
        f"""{_LOOP}    m = nn.Dense(3)
    if x.ndim > 2:
      x = m(x)
    return nn.Dense(2)(x)
""",
    ),
    "a condition of other sizes": (
        "NNX157",
        f"""{_LOOP}    b, d = x.shape
    m = nn.Dense(3)
    if b > 7:
      x = m(x)
    return nn.Dense(2)(x)
""",
    ),
    "passes that are left by sizes": (
        "NNX157",
        f"""{_LOOP}    for i in range(3):
      m = nn.Dense(x.shape[-1])
      if not x.shape[-1] > 2:
        continue
      x = m(x)
    return x
""",
    ),
    "a field or sizes": (
        "NNX157",
        f"""{_LOOP}    m = nn.Dense(x.shape[-1])
    if x.shape[-1] > 2:
      x = m(x)
    if self.count > 2:
      x = m(2 * x)
    return x
""",
    ),
    "sizes within one side of a field, and the other side": (
        "NNX157",
        f"""{_LOOP}    down, up, across = nn.Dense(4), nn.Dense(6), nn.Dense(6)
    y = down(x)
    if self.count < 4:
      if x.shape[-1] > y.shape[-1]:
        return up(y) + across(x)
      return up(y)
    return across(y)
""",
    ),
    "one item of a list": (
        "NNX157",
        f"""{_LOOP}    ms = [nn.Dense(4) for _ in range(3)]
    return ms[0](x)
""",
    ),
    "an item of a list under a condition": (
        "NNX157",
        f"""{_LOOP}    ms = [nn.Dense(3) for _ in range(3)]
    y = ms[0](x) + ms[-1](x)
    if self.count > 2:
      y = y + ms[1](x)
    return y
""",
    ),
    "one item of a dict": (
        "NNX157",
        f"""{_LOOP}    ms = {{k: nn.Dense(4) for k in ('a', 'b')}}
    return ms['a'](x)
""",
    ),
    "two items of a list that is filled": (
        "NNX157",
        f"""{_LOOP}    ms = []
    for i in range(3):
      ms.append(nn.Dense(3))
    return ms[0](x) + ms[2](x)
""",
    ),
    "one of two names": (
        "NNX157",
        f"""{_LOOP}    a, b = [nn.Dense(3) for _ in range(2)]
    return a(x)
""",
    ),
}
