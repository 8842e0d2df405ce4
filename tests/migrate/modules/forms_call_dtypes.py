"""Layers whose compute dtype only the call knows: `nn.Dense(4, dtype=x.dtype)(x)`."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from flax.linen import Conv as C


class Plain(nn.Module):
    features: int = 6

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm(dtype=x.dtype)(x)
        x = nn.Dense(self.features, dtype=x.dtype)(x)
        return x


class Half(nn.Module):
    features: int = 6

    @nn.compact
    def __call__(self, x):
        x = x.astype(jnp.bfloat16)
        y = nn.Dense(self.features, True, x.dtype)(x)
        z = nn.DenseGeneral((2, 3), dtype=x.dtype, name="general")(y)
        z = nn.RMSNorm(dtype=y.dtype)(z.reshape(z.shape[0], 6))
        z = nn.GroupNorm(num_groups=2, dtype=x.dtype)(z)
        z = nn.BatchNorm(use_running_average=True, dtype=x.dtype)(z)
        return nn.InstanceNorm(dtype=x.dtype)(z[:, None, None] + jnp.arange(4, dtype=z.dtype).reshape(1, 2, 2, 1))


class Either(nn.Module):
    features: int = 6
    dtype: Any = None

    @nn.compact
    def __call__(self, x):
        dtype = self.dtype or x.dtype
        return nn.Dense(self.features, dtype=dtype, name="gate")(x)


class Loops(nn.Module):
    widths: tuple = (4, 5)

    @nn.compact
    def __call__(self, x):
        for w in self.widths:
            x = C(w, (3,), dtype=x.dtype, param_dtype=jnp.bfloat16)(x)
            x = nn.BatchNorm(dtype=x.dtype)(x, use_running_average=False)
        x = nn.ConvTranspose(3, (2,), dtype=x.dtype)(x)
        return x


class Rebound(nn.Module):
    """The dtype is what it was where the layer was made."""

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4, dtype=x.dtype)
        x = x.astype(jnp.bfloat16)
        return layer(x)


class Argument(nn.Module):
    @nn.compact
    def __call__(self, x, dtype=jnp.bfloat16):
        return nn.Dense(4, dtype=dtype)(x) + nn.Dense(4, dtype=jnp.promote_types(x.dtype, dtype))(x)


class Base(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        return self.head(nn.Dense(self.features, dtype=x.dtype)(x))

    def head(self, x):
        return x


class Derived(Base):
    def head(self, x):
        return nn.Dense(2, dtype=x.dtype)(x)


class Step(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, _):
        return x + nn.Dense(self.features, dtype=x.dtype)(x), None


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.remat(Plain)(7)(x)
        x = nn.scan(Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(7)(x, None)[0]
        return Derived(4)(x)


class Flag(nn.Module):
    @nn.compact
    def __call__(self, x, half=False):
        dtype = jnp.bfloat16 if half else x.dtype
        y = nn.Dense(5, dtype=dtype)(x)
        return nn.Sequential([nn.Dense(4, dtype=y.dtype), nn.relu, nn.Dense(3, dtype=dtype)])(y)


class Methods(nn.Module):
    @nn.compact
    def __call__(self, x):
        return self.mlp(x, 5) + self.mlp(x, 5)

    def mlp(self, x, w):
        return nn.Dense(w, dtype=x.dtype)(x)


class Fixed(nn.Module):
    def pick(self, x):
        return jnp.bfloat16

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, dtype=self.pick(x))(x)


class AsInput(Fixed):
    def pick(self, x):
        return x.dtype


class Asks(nn.Module):
    def pick(self, x):
        return x.dtype

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, dtype=self.pick(x))(x)


class AsBefore(Asks):
    def pick(self, x):
        return jnp.bfloat16


class Lists(nn.Module):
    widths: tuple = (3, 4)

    @nn.compact
    def __call__(self, x):
        layers = []
        for w in self.widths:
            layers.append(nn.Dense(w, dtype=x.dtype))
        x = x.astype(jnp.bfloat16)
        for f in layers:
            x = f(x)
        return x


class Comp(nn.Module):
    @nn.compact
    def __call__(self, x):
        a, b = [nn.Dense(w, dtype=x.dtype) for w in (3, 4)]
        return a(x), b(x)


class Fn(nn.Module):
    @nn.compact
    def __call__(self, x):
        def block(y, w):
            return nn.relu(nn.Dense(w, dtype=y.dtype)(y))

        return block(block(x, 3), 4)


class Cond(nn.Module):
    norm: bool = True

    @nn.compact
    def __call__(self, x):
        if self.norm:
            x = nn.LayerNorm(dtype=x.dtype)(x)
        layer = nn.Dense(4, dtype=x.dtype) if self.norm else nn.Conv(4, (1,), dtype=x.dtype)
        return layer(x)


class Fld(nn.Module):
    norm: type = nn.LayerNorm

    @nn.compact
    def __call__(self, x):
        return self.norm(dtype=x.dtype)(x)


class Seq(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Sequential([nn.Dense(4, dtype=x.dtype), nn.Dropout(0.5, deterministic=True), nn.LayerNorm(dtype=x.dtype)])(x)
        for _ in range(2):
            x = nn.Dense(4, dtype=x.dtype)(x) + x
        return x


def helper(x, w):
    return nn.Dense(w, dtype=x.dtype)(x)


def outer(x, w):
    x = helper(x, w + 1).astype(jnp.bfloat16)
    return nn.LayerNorm(dtype=x.dtype)(helper(x, w))


class One(nn.Module):
    @nn.compact
    def __call__(self, x):
        return helper(outer(x, 3), 4)


class Two(nn.Module):
    @nn.compact
    def __call__(self, x):
        for w in (3, 4):
            x = outer(x, w)
        return x


CASES: list[tuple[Any, ...]] = [
    ("Plain", {}, [(2, 5)], {}),
    ("Half", {}, [(2, 5)], {}),
    ("Either", {}, [(2, 5)], {}),
    ("Either", {"dtype": jnp.bfloat16}, [(2, 5)], {}),
    ("Loops", {}, [(2, 5, 3)], {}),
    ("Rebound", {}, [(2, 5)], {}),
    ("Argument", {}, [(2, 5)], {}),
    ("Argument", {}, [(2, 5)], {"dtype": jnp.float32}),
    ("Base", {}, [(2, 5)], {}),
    ("Derived", {}, [(2, 5)], {}),
    ("Outer", {}, [(2, 5)], {}),
    ("Flag", {}, [(2, 5)], {}),
    ("Flag", {}, [(2, 5)], {"half": True}),
    ("Methods", {}, [(2, 5)], {}),
    ("Cond", {"norm": False}, [(2, 5)], {}),
    *[(name, {}, [(2, 5)], {}) for name in ("Fixed", "AsInput", "Asks", "AsBefore", "Lists", "Comp", "Fn")],
    *[(name, {}, [(2, 5)], {}) for name in ("Cond", "Fld", "Seq", "One", "Two")],
]
