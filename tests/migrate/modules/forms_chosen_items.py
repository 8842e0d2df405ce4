"""Items of a list for nn.Sequential that are one thing or another: a norm or none, one layer or another, by a field."""

import flax.linen as nn

def identity(x):
    return x

class InPlace(nn.Module):
    normed: bool = True
    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.relu, nn.LayerNorm() if self.normed else identity]
        return nn.Sequential(layers)(x)

class FilledInLoop(nn.Module):
    depth: int = 3
    normed: bool = True
    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.relu, nn.LayerNorm() if self.normed else identity]
        for _ in range(self.depth - 1):
            layers += [nn.Dense(4), nn.relu, nn.LayerNorm() if self.normed else identity]
        layers += [nn.Dense(2), nn.tanh]
        return nn.Sequential(layers)(x)

class ByName(nn.Module):
    normed: bool = True
    @nn.compact
    def __call__(self, x):
        norm = nn.LayerNorm() if self.normed else nn.relu
        return nn.Sequential([nn.Dense(4), norm, nn.Dense(2)])(x)

class OfTwoKinds(nn.Module):
    normed: bool = True
    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.LayerNorm() if self.normed else nn.Dense(5)]
        return nn.Sequential(layers + [nn.Dense(2)])(x)

class InSetup(nn.Module):
    depth: int = 2
    normed: bool = True
    def setup(self):
        layers = [nn.Dense(4), nn.LayerNorm() if self.normed else identity]
        for _ in range(self.depth):
            layers += [nn.Dense(4), nn.relu, nn.LayerNorm() if self.normed else identity]
        self.net = nn.Sequential(layers + [nn.Dense(2)])
    def __call__(self, x):
        return self.net(x)

class KindsInSetup(nn.Module):
    normed: bool = True
    def setup(self):
        self.net = nn.Sequential([nn.Dense(4), nn.LayerNorm() if self.normed else nn.Dense(5), nn.Dense(2)])
    def __call__(self, x):
        return self.net(x)

CASES = [
    ("FilledInLoop", {}, [(2, 3)], {}), ("OfTwoKinds", {"normed": False}, [(2, 3)], {}),
    ("ByName", {}, [(2, 3)], {}), ("KindsInSetup", {"normed": False}, [(2, 3)], {}),
    ("FilledInLoop", {"normed": False, "depth": 2}, [(2, 3)], {}), ("OfTwoKinds", {}, [(2, 3)], {}),
    ("ByName", {"normed": False}, [(2, 3)], {}), ("KindsInSetup", {}, [(2, 3)], {}),
    ("InPlace", {}, [(2, 3)], {}), ("InPlace", {"normed": False}, [(2, 3)], {}),
    ("InSetup", {}, [(2, 3)], {}), ("InSetup", {"normed": False}, [(2, 3)], {}),
]
