"""Parameters and variables of setup under names that nothing can have behind a dot: `iou_token.weight`, `lambda`."""

import flax.linen as nn
import jax.numpy as jnp


class Tokens(nn.Module):
    width: int = 4
    count: int = 2

    def setup(self):
        self.token = self.param("token.weight", nn.initializers.normal(stddev=1.0), (1, self.width))
        self.others = self.param(
            "others.weight",
            nn.initializers.normal(stddev=1.0),
            (self.count, self.width),
        )
        self.out = nn.Dense(3, name="out.0")

    def tokens(self):
        return jnp.concatenate([self.token, self.others], axis=0)

    def __call__(self, x):
        tokens = jnp.concatenate([self.tokens()[None].repeat(x.shape[0], 0), x], axis=1)
        return self.out(tokens) * self.token.sum() + self.others.shape[0]


def held(leaf):
    """What is asked here is no module."""
    return leaf.token if hasattr(leaf, "token") else leaf


class Keywords(nn.Module):
    """In methods of setup's own making, and under conditions."""

    width: int = 3
    biased: bool = True

    def setup(self):
        self.scale = self.param("lambda", nn.initializers.normal(), (self.width,))
        if self.biased:
            self.bias = self.param("if", nn.initializers.normal(), (self.width,))

    def __call__(self, x):
        x = x * self.scale
        return x + self.bias if self.biased else x


class Derived(Keywords):
    def shifted(self, x):
        return x + self.scale

    def __call__(self, x):
        return self.shifted(super().__call__(x))


class Computed(nn.Module):
    """Setup computes with what it has kept, which a method does for every call."""

    width: int = 3

    def setup(self):
        self.raw = self.param("raw.weight", nn.initializers.normal(), (self.width,))
        self.positive = nn.softplus(self.raw)

    def __call__(self, x):
        return x * self.positive + self.raw


class Counted(nn.Module):
    width: int = 3

    def setup(self):
        self.seen = self.variable("stats", "seen.count", jnp.zeros, (self.width,))
        self.steps = self.variable("stats", "steps", lambda: jnp.zeros(()))

    def update(self, x):
        self.seen.value = self.seen.value + x.sum(0)
        self.seen.value += 1.0

    def __call__(self, x):
        if not self.is_initializing():
            self.update(x)
            self.steps.value += 1.0
        return x - self.seen.value * self.steps.value


CASES = [
    ("Tokens", {}, [(2, 5, 4)], {}),
    ("Keywords", {}, [(2, 3)], {}),
    ("Keywords", {"biased": False}, [(2, 3)], {}),
    ("Derived", {}, [(2, 3)], {}),
    ("Computed", {}, [(2, 3)], {}),
    ("Counted", {}, [(2, 3)], {}),
]
