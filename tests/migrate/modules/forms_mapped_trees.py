"""Functions applied to dicts and tuples of arrays with `jax.tree.map`, whose sizes layers need; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Reset(nn.Module):
    """A state of several parts is cleared where an episode begins."""

    deter: int = 8
    stoch: int = 3
    classes: int = 4

    def initial(self, size):
        return dict(deter=jnp.zeros((size, self.deter)), stoch=jnp.zeros((size, self.stoch, self.classes)))

    def setup(self):
        self.inp = nn.Dense(5)
        self.out = nn.Dense(self.deter)

    def step(self, prev, action):
        stoch = prev["stoch"].reshape(prev["stoch"].shape[:-2] + (-1,))
        x = nn.relu(self.inp(jnp.concatenate([stoch, action], -1)))
        return {"deter": self.out(jnp.concatenate([x, prev["deter"]], -1)), "stoch": prev["stoch"]}

    def __call__(self, action, is_first):
        prev = self.initial(action.shape[0])
        prev = jax.tree_util.tree_map(lambda t: t * (1 - is_first).reshape((-1,) + (1,) * (t.ndim - 1)), prev)
        return self.step(prev, action)


class Pairs(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        one = {"a": x, "b": (y, nn.Dense(3)(x))}
        other = {"a": jnp.ones((1, 1)), "b": (jnp.ones((1, 1)), jnp.ones((1, 1)))}
        both = jax.tree.map(lambda p, q: jnp.concatenate([p + q, p], -1), one, other)
        return nn.Dense(2)(both["a"]) + nn.Dense(2)(both["b"][0]) + nn.Dense(2)(both["b"][1])


class Known(nn.Module):
    """By a function that has a name, and one of jax's."""

    @nn.compact
    def __call__(self, x):
        def double(t):
            return jnp.concatenate([t, t], -1)

        parts = jax.tree.map(double, {"x": x, "y": x[..., :1]})
        parts = jax.tree.map(jnp.tanh, parts)
        return nn.Dense(2)(parts["x"]) + nn.Dense(2)(parts["y"])


CASES = [
    ("Reset", {}, [(2, 3), [1.0, 0.0]], {}),
    ("Pairs", {}, [(2, 3), (2, 4)], {}),
    ("Known", {}, [(2, 3)], {}),
]
