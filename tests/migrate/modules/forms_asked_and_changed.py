"""Attributes of setup that a size asks, and that setup sets again afterwards."""

import flax.linen as nn
import jax.numpy as jnp

class Inner(nn.Module):
    width: int = 4
    wide: bool = True
    def setup(self):
        self.big = self.wide
        n = 4 * self.width if self.big else self.width
        self.n = n
        self.big = False
        self.lin = nn.Dense(n)
    def __call__(self, x):
        return self.lin(x)
class Outer(nn.Module):
    wide: bool = True
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Inner(4, self.wide)(x))
class Inner2(nn.Module):
    width: int = 4
    wide: bool = True
    def setup(self):
        self.big = self.wide
        if self.big:
            n = 4 * self.width
        else:
            n = self.width
        self.big = not self.big
        self.lin = nn.Dense(n)
    def __call__(self, x):
        return self.lin(x)
class Outer2(nn.Module):
    wide: bool = True
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Inner2(4, self.wide)(x))

class Aug(nn.Module):
    @nn.compact
    def __call__(self, x):
        d = self.variable("stats", "pair", lambda: {"a": jnp.zeros(4), "b": jnp.ones(4)})
        a = d.value["a"]
        d.value |= {"a": (a + x.sum(0))}
        d.value |= (
            {"b": a}
        )
        return nn.Dense(4)(x) + sum(d.value.values())

CASES = [("Outer", {}, [(2, 4)], {}), ("Outer", {"wide": False}, [(2, 4)], {}), ("Outer2", {}, [(2, 4)], {}), ("Outer2", {"wide": False}, [(2, 4)], {}), ("Aug", {}, [(2, 4)], {})]
