"""One of two classes by one condition, under nn.remat or not by another."""

import flax.linen as nn


class Narrow(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class Wide(nn.Module):
  wide: int = 5

  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(nn.Dense(self.wide)(x))


class InSetup(nn.Module):
  policy: str = ""
  wide: bool = False

  def setup(self):
    block = Wide if self.wide else Narrow
    if self.policy != "":
      block = nn.remat(block)
    self.block = block()
    self.out = nn.Dense(2)

  def __call__(self, x):
    return self.out(self.block(x))


class Named(nn.Module):
  policy: str = ""
  wide: bool = False

  @nn.compact
  def __call__(self, x):
    block = Wide if self.wide else Narrow
    if self.policy != "":
      block = nn.remat(block)
    return nn.Dense(2)(block(name="block")(x))


class Unnamed(nn.Module):
  wide: bool = False

  @nn.compact
  def __call__(self, x):
    block = nn.remat(Wide if self.wide else Narrow)
    return nn.Dense(2)(block()(x))


KINDS = [{}, {"wide": True}]
POLICIES = [{"policy": "all"}, {"policy": "all", "wide": True}]
CASES = [
  *[(name, fields, [(2, 3)], {}) for name in ("InSetup", "Named") for fields in (*KINDS, *POLICIES)],
  *[("Unnamed", fields, [(2, 3)], {}) for fields in KINDS],
]
