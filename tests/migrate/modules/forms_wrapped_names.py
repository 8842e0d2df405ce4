"""Classes that stay Linen inside of native ones, and whose parameters have logical names; `CASES` as in forms_basic."""

from flax import linen as nn
from flax.linen import partitioning


class Apart(nn.Module):
    """Its names are in a collection of their own."""

    width: int

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.normal()
        k = partitioning.param_with_axes("k", init, (x.shape[-1], self.width), axes=("embed", "mlp"))
        h = partitioning.with_sharding_constraint(x @ k, ("batch", "mlp"))
        return h + nn.vjp(lambda m, z: z * 2, self, h, vjp_variables=True)[1](h)[1]


class Boxed(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        boxed = nn.with_logical_partitioning(nn.initializers.normal(), ("embed", "mlp"))
        h = nn.BatchNorm(use_running_average=True)(nn.Dense(self.width, kernel_init=boxed)(x))
        h = nn.with_logical_constraint(h, ("batch", "mlp"))
        return h + nn.vjp(lambda m, z: z * 2, self, h, vjp_variables=True)[1](h)[1]


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Boxed(5)(Apart(4)(x)))


class Kept(nn.Module):
    def setup(self):
        self.boxed = Boxed(3)
        self.apart = [Apart(4), Apart(5)]

    def __call__(self, x):
        for layer in self.apart:
            x = layer(x)
        return self.boxed(x)


CASES = [
    ("Net", {}, [(2, 3)], {}),
    ("Kept", {}, [(2, 3)], {}),
]
