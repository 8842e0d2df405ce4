"""Loops that give the name which counts them another value."""

import flax.linen as nn

class Doubled(nn.Module):
    d: int = 3
    @nn.compact
    def __call__(self, x):
        for j in range(self.d):
            j *= 2
            x = nn.Dense(4)(x) + j
        return x
class Between(nn.Module):
    d: int = 3
    @nn.compact
    def __call__(self, x):
        for j in range(self.d):
            x = nn.Dense(4)(x)
            j += 1
            x = nn.Dense(4)(x) * j
        return x
class Widths(nn.Module):
    widths: tuple = (3, 4)
    @nn.compact
    def __call__(self, x):
        for i, w in enumerate(self.widths):
            i = i + 1
            w = w * 2
            x = nn.Dense(w)(x) / i
        return x
class Walrus(nn.Module):
    d: int = 3
    @nn.compact
    def __call__(self, x):
        for j in range(self.d):
            if (j := j + 1) > 1:
                x = x + 1
            x = nn.Dense(4, name=f"part_{j}")(x)
        return x
CASES = [("Doubled", {}, [(2, 3)], {}), ("Between", {}, [(2, 3)], {}), ("Widths", {}, [(2, 3)], {}), ("Walrus", {}, [(2, 3)], {})]
