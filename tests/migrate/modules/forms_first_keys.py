"""Variables whose first values are drawn: the constructor draws them."""

import jax
from flax import linen as nn


class Codes(nn.Module):
    count: int = 8

    @nn.compact
    def __call__(self, x):
        codes = self.variable("codes", "table", lambda: jax.random.normal(self.make_rng("params"), (self.count, x.shape[-1])))
        return x @ codes.value.T


class InSetup(nn.Module):
    count: int = 8

    def setup(self):
        init = nn.initializers.lecun_normal()
        self.table = self.variable("codes", "table", lambda: init(self.make_rng("codes"), (self.count, 4)))

    def __call__(self, x):
        return x @ self.table.value.T


class WithShape(nn.Module):
    @nn.compact
    def __call__(self, x):
        table = self.variable("codes", "table", lambda s: nn.initializers.ones(self.make_rng(), s), (x.shape[-1], 3))
        return x @ table.value


CASES = [
    ("Codes", {}, [(2, 4)], {}),
    ("InSetup", {}, [(2, 4)], {}),
    ("WithShape", {}, [(2, 4)], {}),
]
SAME_START = ["WithShape"]  # its first values are no draws
