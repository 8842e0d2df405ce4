"""Arrays joined by `hstack`, `dstack` and `column_stack`, whose numbers of dimensions nothing shows."""

import flax.linen as nn
import jax.numpy as jnp


class Critic(nn.Module):
    """Vectors at init, batches of them in training."""

    width: int = 8

    @nn.compact
    def __call__(self, state, action):
        network = nn.Sequential([nn.Dense(self.width), nn.relu, nn.Dense(1)])
        return network(jnp.hstack([state, action])).squeeze(-1)


class Ensemble(nn.Module):
    @nn.compact
    def __call__(self, state, action):
        critics = nn.vmap(Critic, in_axes=None, variable_axes={"params": 0}, split_rngs={"params": True}, axis_size=3)
        return critics(8)(state, action)


class Doubled(nn.Module):
    """The number of dimensions follows from what is done with the result."""

    @nn.compact
    def __call__(self, x):
        batch, width = x.shape
        return nn.Dense(width)(jnp.hstack((x, x[:, :2])))


class Columns(nn.Module):
    @nn.compact
    def __call__(self, x, t):
        return nn.Dense(3)(jnp.column_stack([x, t]))


class Planes(nn.Module):
    @nn.compact
    def __call__(self, x):
        height, width = x.shape
        return nn.Dense(3)(jnp.dstack([x, x * 2, x + 1]))


CASES = [
    ("Critic", {}, [(4,), (2,)], {}),
    ("Critic", {}, [(5, 4), (5, 2)], {}),
    ("Ensemble", {}, [(5, 4), (5, 2)], {}),
    ("Doubled", {}, [(5, 4)], {}),
    ("Columns", {}, [(5, 4), (5, 2)], {}),
    ("Planes", {}, [(5, 4)], {}),
]
