"""Ensembles of a class that a field holds, of inputs whose width only the first call knows."""

from functools import partial
from typing import Any, Sequence

import jax.numpy as jnp
from flax import linen as nn


def ensemblize(cls, num, in_axes=None, out_axes=0, **kwargs):
    return nn.vmap(
        cls,
        variable_axes={"params": 0},
        split_rngs={"params": True},
        in_axes=in_axes,
        out_axes=out_axes,
        axis_size=num,
        **kwargs,
    )


class MLP(nn.Module):
    hidden_dims: Sequence[int]
    activate_final: bool = False

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.hidden_dims):
            x = nn.Dense(size)(x)
            if i + 1 < len(self.hidden_dims) or self.activate_final:
                x = nn.relu(x)
        return x


class Value(nn.Module):
    hidden_dims: Sequence[int] = (5, 4)
    output_dim: int = None
    mlp_class: Any = MLP
    encoder: nn.Module = None
    num: int = 2

    def setup(self):
        mlp_class = self.mlp_class
        if self.num > 1:
            mlp_class = ensemblize(mlp_class, self.num)
        output_dim = self.output_dim if self.output_dim is not None else 1
        self.value_net = mlp_class((*self.hidden_dims, output_dim), activate_final=False)

    def __call__(self, observations, goals=None, actions=None):
        if self.encoder is not None:
            inputs = [self.encoder(observations)]
        else:
            inputs = [observations]
            if goals is not None:
                inputs.append(goals)
        if actions is not None:
            inputs.append(actions)
        v = self.value_net(jnp.concatenate(inputs, axis=-1))
        return v.squeeze(-1) if self.output_dim is None else v


class ByName(nn.Module):
    """The transformed class has a name of its own, which is no class of NNX."""

    kind: Any = MLP
    num: int = 3

    @nn.compact
    def __call__(self, x, y=None):
        xs = [x] if y is None else [x, y]
        Stack = nn.vmap(
            self.kind,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=1,
            axis_size=self.num,
        )
        return Stack((4, 1))(jnp.concatenate(xs, -1))


class OfPartial(nn.Module):
    kind: Any = partial(MLP, activate_final=True)

    @nn.compact
    def __call__(self, x, y=None):
        xs = [x] if y is None else [x, y]
        Stack = nn.vmap(self.kind, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=2)
        return Stack((4, 1))(jnp.concatenate(xs, -1))


class Rematerialized(nn.Module):
    kind: Any = MLP

    @nn.compact
    def __call__(self, x, y=None):
        xs = [x] if y is None else [x, y]
        Block = nn.remat(self.kind)
        return Block((4, 1))(jnp.concatenate(xs, -1))


CASES = [
    ("Value", {}, [(2, 6), (2, 3), (2, 2)], {}),
    ("Value", {"num": 1}, [(2, 6), (2, 3)], {"actions": None}),
    ("Value", {"output_dim": 3, "num": 3}, [(2, 6)], {"goals": None, "actions": None}),
    ("ByName", {}, [(2, 4), (2, 3)], {}),
    ("OfPartial", {}, [(2, 4)], {"y": None}),
    ("Rematerialized", {}, [(2, 4), (2, 3)], {}),
]
