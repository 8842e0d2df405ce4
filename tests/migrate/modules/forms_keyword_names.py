"""Names of variables and modules that are words of Python, which no attribute can be written as."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class KeywordNames(nn.Module):
    """Names that are words of Python: of layers and parameters, in the call."""

    features: int = 4

    @nn.compact
    def __call__(self, x):
        gate = nn.Dense(self.features, name="if")(x) * nn.Dense(self.features, name="is")(x)
        scale = self.param("lambda", nn.initializers.normal(0.1), (self.features,))
        seen = self.variable("batch_stats", "global", lambda: jnp.zeros((self.features,)))
        for i in range(2):
            gate = nn.Dense(self.features, name=f"in{i}")(gate)
        return jax.nn.sigmoid(gate) * scale + seen.value


class KeywordNamesInSetup(nn.Module):
    """The same made in `setup`."""

    def setup(self):
        self.gate = nn.Dense(3, name="in")

    def __call__(self, x):
        return self.gate(x)


class KeywordStem(nn.Module):
    """A list whose stem is one."""

    @nn.compact
    def __call__(self, x):
        for i in range(2):
            x = nn.Dense(3, name=f"in_{i}")(x)
        for i in range(2):
            x = nn.Dense(3, name=f"class{i}")(x)
        return x


CASES = [("KeywordNames", {}, [(2, 3)], {}), ("KeywordNamesInSetup", {}, [(2, 3)], {}), ("KeywordStem", {}, [(2, 3)], {})]
