"""Cells asked for their initial carry with arguments that stand in a tuple, in a static method of several kinds of cells."""

from functools import partial

import jax
from flax import linen as nn


class Scanned(nn.Module):
    arch: str = "lstm"
    dim: int = 6

    @partial(nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False})
    @nn.compact
    def __call__(self, carry, step):
        x, reset = step
        carry = jax.tree_util.tree_map(
            lambda old, new: jax.vmap(jax.lax.select)(reset, old, new),
            Scanned.initialize_carry(jax.random.PRNGKey(0), (x.shape[0],), self.dim, self.arch),
            carry,
        )
        options = dict(features=self.dim, kernel_init=nn.initializers.constant(0.3))
        if self.arch == "lstm":
            cell = nn.OptimizedLSTMCell(**options)
        elif self.arch == "gru":
            cell = nn.GRUCell(**options)
        else:
            raise ValueError(f"unsupported: {self.arch}")
        carry, y = cell(carry, x)
        return carry, y

    @staticmethod
    def initialize_carry(rng, batch_dims, dim, arch):
        init_args = (rng, (*batch_dims, dim))
        if arch == "lstm":
            return nn.OptimizedLSTMCell(dim, parent=None).initialize_carry(*init_args)
        elif arch == "gru":
            return nn.GRUCell(dim, parent=None).initialize_carry(*init_args)
        else:
            raise ValueError(f"unsupported: {arch}")


class Model(nn.Module):
    arch: str = "lstm"
    dim: int = 6

    @nn.compact
    def __call__(self, x):
        reset = x[..., 0] > 0
        carry = Scanned.initialize_carry(jax.random.PRNGKey(0), (x.shape[1],), self.dim, self.arch)
        carry, y = Scanned(self.arch, self.dim)(carry, (nn.Dense(5)(x), reset))
        return nn.Dense(2)(y), carry


CASES = [("Model", {}, [(3, 2, 4)], {}), ("Model", {"arch": "gru"}, [(3, 2, 4)], {})]
