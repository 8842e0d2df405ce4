"""Modules that take flags when they are called, where a call may reach a function instead, or one of several kinds."""

import functools

from flax import linen as nn


def same(x):
    return x


class OrLambda(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        norm = nn.BatchNorm(use_running_average=not train) if self.n > 1 else (lambda v: v)
        return nn.Dense(3)(norm(x))


class OrNamed(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        if self.n > 1:
            norm = nn.BatchNorm(use_running_average=not train)
        else:
            norm = same
        return nn.Dense(3)(norm(x))


class OrActivation(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        drop = nn.Dropout(0.5, deterministic=not train) if self.n > 1 else nn.relu
        return nn.Dense(3)(drop(drop(x)))


class OrOthers(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        norm = nn.BatchNorm(use_running_average=not train) if self.n > 1 else nn.LayerNorm() if self.n > 0 else same
        return nn.Dense(3)(norm(x))


class InLists(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        for f in [nn.relu, nn.BatchNorm(use_running_average=not train)]:
            x = f(x)
        for f in (nn.Dense(4), nn.Dropout(0.5, deterministic=not train), nn.relu, lambda v: v * 2):
            x = f(x)
        return x


class Grown(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        layers = []
        for _ in range(self.n):
            layers.append(nn.Dense(4))
            layers.append(nn.relu)
            layers.append(nn.Dropout(0.5, deterministic=not train))
        for f in layers:
            x = f(x)
        return x


class Factories(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        if self.n > 1:
            norm = functools.partial(nn.BatchNorm, use_running_average=not train)
        elif self.n > 0:
            norm = nn.LayerNorm
        else:
            norm = lambda: lambda v: v  # noqa: E731
        return norm()(nn.Dense(4)(norm()(x)))


CASES = [
    (name, {"n": n}, [(2, 3)], {})
    for name in ("OrLambda", "OrNamed", "OrActivation", "OrOthers", "InLists", "Grown", "Factories")
    for n in (2, 1, 0)
]
