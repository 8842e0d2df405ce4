"""`self.width or 6`, whose value depends on the field although its truth does not."""

import flax.linen as nn

class Numbers(nn.Module):
    n: int | None = None
    @nn.compact
    def __call__(self, x):
        n = self.n or 6
        if n == 6:
            x = nn.Dense(4)(x)
        return nn.Dense(n)(x)
class Texts(nn.Module):
    padding: str | None = None
    @nn.compact
    def __call__(self, x):
        p = self.padding or "SAME"
        x = nn.Conv(3, (3, 3), padding=p)(x)
        if p == "SAME":
            x = nn.Dense(4)(x)
        return nn.Dense(3)(x)
class Pairs(nn.Module):
    k: tuple | None = None
    @nn.compact
    def __call__(self, x):
        k = self.k or (3, 3)
        x = nn.Conv(3, k, padding="VALID")(x)
        return nn.Dense(3)(x.reshape(x.shape[0], -1))
class Unpacked(nn.Module):
    k: tuple | None = None
    @nn.compact
    def __call__(self, x):
        a, b = self.k or (3, 4)
        x = nn.Dense(a)(x)
        return nn.Dense(b)(x)
class Truths(nn.Module):
    n: int | None = None
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.Dense(int(self.n or True))(x))
class Strided(nn.Module):
    features: int
    strides: tuple = (1, 1)
    @nn.compact
    def __call__(self, x):
        y = nn.Conv(self.features, (3, 3), strides=self.strides)(x)
        if x.shape[-1] != self.features or self.strides != (1, 1):
            x = nn.Conv(self.features, (1, 1), strides=self.strides)(x)
        return x + y
class OfGivenStrides(nn.Module):
    depth: int = 2
    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = Strided(3 * 2**i, (2, 2))(x)
        return nn.Dense(4)(x)
CASES = [
    ("OfGivenStrides", {}, [(2, 8, 8, 3)], {}), ("Strided", {"features": 3}, [(2, 8, 8, 3)], {}),
    ("Truths", {"n": 3}, [(2, 3)], {}),
    ("Numbers", {"n": 5}, [(2, 3)], {}), ("Texts", {"padding": "VALID"}, [(2, 4, 4, 4)], {}),
    ("Pairs", {"k": (2, 2)}, [(2, 5, 5, 3)], {}), ("Unpacked", {"k": (1, 2)}, [(2, 3)], {}),
    ("Numbers", {}, [(2, 3)], {}), ("Texts", {}, [(2, 4, 4, 4)], {}), ("Pairs", {}, [(2, 5, 5, 3)], {}),
]
