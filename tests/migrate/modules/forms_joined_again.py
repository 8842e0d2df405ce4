"""Arrays of unknown rank joined along an axis from the front, and what that gives joined once more."""

import flax.linen as nn
import jax.numpy as jnp

class Twice(nn.Module):
    width: int = 4
    @nn.compact
    def __call__(self, feature, state, action):
        both = jnp.concatenate([feature, action], axis=1)
        extra = jnp.concatenate([state, state], axis=1)
        hidden = nn.Dense(self.width)(both)
        hidden = hidden / (jnp.abs(hidden).mean(axis=-1, keepdims=True) + 1e-6)
        return nn.Dense(3)(jnp.concatenate([hidden, extra], axis=1))

class Chained(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        x = jnp.concatenate([x, y], axis=1)
        x = nn.Dense(4)(x)
        x = jnp.concatenate([x, y], axis=1)
        x = nn.Dense(4)(x)
        x = jnp.concatenate([x, y], axis=1)
        return nn.Dense(2)(x)

CASES = [
    ("Twice", {}, [(2, 3), (2, 5), (2, 1)], {}), ("Chained", {}, [(2, 3), (2, 2)], {}),
    ("Twice", {}, [(2, 3, 6), (2, 3, 4), (2, 3, 6)], {}), ("Chained", {}, [(2, 3, 5, 4), (2, 2, 5, 4)], {}),
]
