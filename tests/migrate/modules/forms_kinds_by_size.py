"""Fields given layers and classes of the project, which NNX tells the size of their input under other names."""

import functools
from typing import Any, Callable

import jax.numpy as jnp
from flax import linen as nn


class Scale(nn.Module):
    """A norm of one's own."""

    eps: float = 1e-6

    @nn.compact
    def __call__(self, x):
        scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
        return x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + self.eps) * scale


class Places(nn.Module):
    """It asks for the whole shape."""

    @nn.compact
    def __call__(self, x):
        return x * self.param('scale', nn.initializers.normal(), x.shape[1:])


class Same(nn.Module):
    """It asks for nothing."""

    @nn.compact
    def __call__(self, x):
        return x


class Linear(nn.Module):
    features: int
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        y = x @ self.param('kernel', nn.initializers.normal(), (x.shape[-1], self.features))
        return y + 1 if self.use_bias else y


class Block(nn.Module):
    width: int
    norm: Callable[..., Any] = nn.LayerNorm

    @nn.compact
    def __call__(self, x):
        x = self.norm()(x)
        x = nn.Dense(self.width)(x)
        return self.norm(name='out')(x)


class Norms(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Block(4)(x)
        x = Block(5, Scale)(x)
        x = Block(4, functools.partial(Scale, eps=1e-3))(x)
        x = Block(4, functools.partial(nn.LayerNorm, epsilon=1e-2, use_bias=False))(x)
        return Block(4, norm=Same)(x)


class Shaped(nn.Module):
    norm: Callable[..., Any] = Places

    def setup(self):
        self.dense = nn.Dense(3)
        self.last = self.norm()

    def __call__(self, x):
        return self.last(self.dense(x))


class AllShapes(nn.Module):
    use: Any = None

    @nn.compact
    def __call__(self, x):
        x = Shaped()(x)
        x = Shaped(nn.LayerNorm)(x)
        x = Shaped(Scale)(x)
        return Shaped(functools.partial(nn.GroupNorm, num_groups=1))(x) if self.use else x


class Layers(nn.Module):
    """With arguments, and under remat."""

    width: int = 4
    dense: Any = nn.Dense
    norm: Any = None

    @nn.compact
    def __call__(self, x):
        x = self.dense(self.width, use_bias=False)(x)
        for i in range(2):
            x = self.dense(self.width + i)(x)
        norm = self.norm or nn.LayerNorm
        return norm()(x)


class Given(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Layers(norm=Scale)(x)
        x = Layers(3, dense=Linear)(x)
        return Layers(dense=functools.partial(nn.Dense, kernel_init=nn.initializers.ones))(x)


class Handed(nn.Module):
    """Through a class between."""

    norm: Any = nn.LayerNorm

    @nn.compact
    def __call__(self, x):
        return Block(6, norm=self.norm)(x)


class Hands(nn.Module):
    eps: float = 1e-3

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(Scale, eps=self.eps)
        return Handed(norm)(Handed()(x))


CASES = [
    ("Norms", {}, [(2, 3)], {}),
    ("Block", {"width": 3, "norm": Scale}, [(2, 3)], {}),
    ("AllShapes", {}, [(2, 5, 3)], {}),
    ("AllShapes", {"use": True}, [(2, 5, 3)], {}),
    ("Given", {}, [(2, 3)], {}),
    ("Hands", {}, [(2, 3)], {}),
]
