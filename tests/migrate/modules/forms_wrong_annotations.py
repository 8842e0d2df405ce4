"""Fields whose annotation says a number and which are texts."""

from flax import linen as nn


class Chosen(nn.Module):
    activation: int
    width: int = 5

    def setup(self):
        if self.activation == "tanh":
            self.act = nn.tanh
        elif self.activation in ("relu", "relu6"):
            self.act = nn.relu
        else:
            raise ValueError(f"unknown: {self.activation}")
        self.layer = nn.Dense(self.width)

    def __call__(self, x):
        return self.act(self.layer(x))


class ByDefault(nn.Module):
    kind: int = "wide"

    @nn.compact
    def __call__(self, x):
        if self.kind.startswith("wide"):
            x = nn.Dense(6)(x)
        return nn.Dense(3)(x)


CASES = [
    ("Chosen", {"activation": "tanh"}, [(2, 3)], {}),
    ("Chosen", {"activation": "relu6"}, [(2, 3)], {}),
    ("ByDefault", {}, [(2, 3)], {}),
    ("ByDefault", {"kind": "deep"}, [(2, 3)], {}),
]
