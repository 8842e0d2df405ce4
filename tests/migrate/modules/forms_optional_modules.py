"""Submodules that are there or not: None first, a module later."""

from flax import linen as nn


class Shortcut(nn.Module):
    features: int
    project: bool = True

    def setup(self):
        self.main = nn.Dense(self.features)
        self.shortcut = None
        if self.project:
            self.shortcut = nn.Dense(self.features, use_bias=False)

    def __call__(self, x):
        y = nn.relu(self.main(x))
        if self.shortcut is not None:
            x = self.shortcut(x)
        return x + y


CASES = [
    ("Shortcut", {"features": 3}, [(2, 5)], {}),
    ("Shortcut", {"features": 5, "project": False}, [(2, 5)], {}),
]
