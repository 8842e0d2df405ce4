"""Optional widths that are handed on to a class, which has a width of its own where none is given."""

import flax.linen as nn

class Part(nn.Module):
    width: int = 4
    out: int | None = None
    @nn.compact
    def __call__(self, x):
        n = self.out
        if n is None:
            n = self.width
        return nn.Dense(n)(x)
class Cont(nn.Module):
    out: int | None = None
    @nn.compact
    def __call__(self, x):
        x = Part(6, self.out)(x)
        return nn.Dense(3)(x)
class Wide(nn.Module):
    width: int
    out: int | None = None
    def setup(self):
        self.lin = nn.Dense(self.out or self.width)
    def __call__(self, x):
        return self.lin(x)
class OfCall(nn.Module):
    wide: bool = True
    @nn.compact
    def __call__(self, x):
        x = Wide(6, x.shape[-1] if self.wide else None)(x)
        return nn.Dense(3)(x)
CASES = [("OfCall", {}, [(2, 4)], {}), ("OfCall", {"wide": False}, [(2, 4)], {}), ("Cont", {}, [(2, 4)], {}), ("Cont", {"out": 5}, [(2, 4)], {}), ("Part", {}, [(2, 4)], {})]
