"""One of several modules, made by a function that is called more than once."""

from flax import linen as nn


class Unnamed(nn.Module):
    norm: str = "ln"

    @nn.compact
    def __call__(self, x):
        def f(x):
            return (nn.LayerNorm if self.norm == "ln" else nn.RMSNorm)()(x)

        x = f(nn.Dense(4)(x))
        return f(nn.Dense(4)(x))


class Named(nn.Module):
    norm: str = "ln"

    @nn.compact
    def __call__(self, x):
        def f(x, name):
            return (nn.LayerNorm if self.norm == "ln" else nn.RMSNorm)(name=name)(x)

        x = f(nn.Dense(4)(x), "first")
        return f(nn.Dense(4)(x), name="last")


CASES = [
    ("Unnamed", {}, [(2, 4)], {}),
    ("Unnamed", {"norm": "rms"}, [(2, 4)], {}),
    ("Named", {}, [(2, 4)], {}),
    ("Named", {"norm": "rms"}, [(2, 4)], {}),
]
