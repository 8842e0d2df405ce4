"""Arrays that are one wide on one branch: what they are added to, or multiplied with, keeps its width."""

import flax.linen as nn
import jax.numpy as jnp


class Add(nn.Module):
    kind: int = 0

    @nn.compact
    def __call__(self, x):
        if self.kind == 0:
            pos = jnp.sin(x)
        else:
            pos = jnp.zeros((1, 1))
        return nn.Dense(3)(x + pos)


class Add3(nn.Module):
    kind: int = 0

    @nn.compact
    def __call__(self, x):
        if self.kind == 0:
            pos = jnp.sin(x)
        else:
            pos = jnp.zeros((1, 1))
        return x + pos


class Net3(nn.Module):
    kind: int = 0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Add3(self.kind)(x))


class Scale(nn.Module):
    kind: int = 0

    @nn.compact
    def __call__(self, x):
        s = self.param("s", nn.initializers.ones, (x.shape[-1],)) if self.kind == 0 else jnp.ones((1,))
        return nn.Dense(3)(x * s)


class Mul(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        if self.kind == "a":
            s = self.param("s", nn.initializers.ones, (x.shape[-1],))
        elif self.kind == "b":
            s = nn.Dense(x.shape[-1])(x)
        elif self.kind == "c":
            s = nn.Dense(1)(x)
        else:
            s = jnp.ones((x.shape[0], 1))
        return nn.Dense(3)(s * x) + nn.Dense(3)(x - s)


class Gate(nn.Module):
    gate: bool = False
    width: int = 4

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(self.width)(x)
        g = nn.Dense(1)(x) if self.gate else nn.Dense(self.width)(x)
        return nn.Dense(2)(y * g)


class Grow(nn.Module):
    kind: int = 0

    @nn.compact
    def __call__(self, x):
        y = x[..., :1] if self.kind == 0 else x
        z = jnp.concatenate([x, x], -1) if self.kind else x
        return nn.Dense(3)(y + z[..., : x.shape[-1]])


class Positions(nn.Module):
    kind: str = "none"

    @nn.compact
    def __call__(self, x):
        if self.kind == "fixed":
            pos = jnp.sin(x)
        elif self.kind == "learned":
            pos = self.param("pos", nn.initializers.ones, (1, 1, x.shape[-1]))
        else:
            pos = jnp.zeros((1, 1, 1))
        return x + pos, pos


class Encoder(nn.Module):
    kind: str = "none"

    @nn.compact
    def __call__(self, x):
        x, _ = Positions(self.kind)(x)
        x, _ = Positions(self.kind)(nn.Dense(4)(x))
        return nn.Dense(3)(x)


CASES = [
    *[(name, {"kind": kind}, [(2, 3)], {}) for name in ("Add", "Net3", "Scale", "Grow") for kind in (0, 1)],
    *[("Mul", {"kind": kind}, [(2, 3)], {}) for kind in "abcd"],
    *[("Gate", {"gate": gate}, [(2, 3)], {}) for gate in (False, True)],
    *[("Encoder", {"kind": kind}, [(2, 5, 3)], {}) for kind in ("none", "fixed", "learned")],
]
