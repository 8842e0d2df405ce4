"""Parameters and variables of `setup` that start from other parameters: computed once, in Linen as in the constructor."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


def nu_init(key, shape, r_min=0.4):
    return jnp.log(jax.random.uniform(key, shape) + r_min)


def gamma_log_init(key, lamb):
    nu, theta = lamb
    return jnp.log(jnp.exp(nu) + jnp.exp(theta))


class Unit(nn.Module):
    d: int
    h: int
    extra: bool = False

    def setup(self):
        self.theta_log = self.param("theta_log", partial(nu_init, r_min=0.2), (self.h,))
        self.nu_log = self.param("nu_log", nu_init, (self.h,))
        self.gamma_log = self.param("gamma_log", gamma_log_init, (self.nu_log, self.theta_log))
        self.B = self.param("B", nn.initializers.ones, (self.h, self.d))
        if self.extra:
            self.shift = self.param("shift", lambda key, start: start.at[0].set(0.0) + 1, jnp.exp(self.nu_log))
        self.out = nn.Dense(self.d)

    def __call__(self, x):
        lam = jnp.exp(-jnp.exp(self.nu_log) + self.theta_log)
        y = x @ self.B.T * lam * jnp.exp(self.gamma_log)
        if self.extra:
            y = y + self.shift
        return self.out(y)


class Averaged(nn.Module):
    h: int

    def setup(self):
        self.rate = self.param("rate", nu_init, (self.h,))
        self.state = self.variable("averages", "state", lambda: jnp.exp(self.rate))

    def __call__(self, x):
        return x * self.rate + self.state.value


CASES: list[Any] = [
    ("Unit", {"d": 3, "h": 4}, [(2, 3)], {}),
    ("Unit", {"d": 3, "h": 4, "extra": True}, [(2, 3)], {}),
    ("Averaged", {"h": 3}, [(2, 3)], {}),
]
