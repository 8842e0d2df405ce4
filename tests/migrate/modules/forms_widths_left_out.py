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
CASES = [("Cont", {}, [(2, 4)], {}), ("Cont", {"out": 5}, [(2, 4)], {}), ("Part", {}, [(2, 4)], {})]
