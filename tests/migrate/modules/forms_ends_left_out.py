"""Lists that loops and single items fill, called without their ends; `CASES` as in forms_basic."""

from typing import Any, Callable, Sequence

import flax.linen as nn
import jax.numpy as jnp


class Energy(nn.Module):
    widths: Sequence[int] = (4, 5)
    act: Callable = nn.softplus

    def setup(self):
        layers = list()
        for i in range(len(self.widths)):
            layers.append(nn.Dense(features=self.widths[i]))
        layers.append(nn.Dense(features=2))
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
        return self.layers[-1](x)


class Joined(nn.Module):
    widths: Sequence[int] = (4, 5)

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths] + [nn.Dense(2)]
        self.out = nn.Dense(3)

    def __call__(self, x):
        for i, layer in enumerate(self.layers[:-1]):
            x = nn.relu(layer(x)) + i
        return self.out(self.layers[-1](x))


class InTheCall(nn.Module):
    widths: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(w) for w in self.widths] + [nn.Dense(2)]
        for layer in layers[:-1]:
            x = nn.relu(layer(x))
        return layers[-1](x)


class BothEnds(nn.Module):
    widths: Sequence[int] = (4, 5)

    def setup(self):
        self.layers = [nn.Dense(6), *[nn.Dense(w) for w in self.widths], nn.Dense(2)]

    def __call__(self, x):
        x = self.layers[0](x)
        for layer in self.layers[1:-1]:
            x = nn.relu(layer(x))
        return self.layers[-1](x)


class BothEndsOfSums(nn.Module):
    widths: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(6)] + [nn.Dense(w) for w in self.widths] + [nn.Dense(2), nn.Dense(3)]
        x = layers[0](x)
        for layer in layers[1:-2]:
            x = nn.relu(layer(x))
        return layers[-1](layers[-2](x))


class LastActivation(nn.Module):
    """What the slice leaves out is a function."""

    widths: Sequence[int] = (4, 5)

    @nn.compact
    def __call__(self, x):
        layers = []
        for width in self.widths:
            layers += [nn.Dense(width), nn.relu]
        return nn.Dense(2)(nn.Sequential(layers[:-1])(x))


class LastOfSetup(nn.Module):
    widths: Sequence[int] = (4, 5)

    def setup(self):
        layers = []
        for width in self.widths:
            layers.append(nn.Dense(width))
            layers.append(jnp.tanh)
        self.net = nn.Sequential(layers[:-1])
        self.out = nn.Dense(2)

    def __call__(self, x):
        return self.out(self.net(x))


class LastOfLoops(nn.Module):
    widths: Sequence[int] = (4, 5)

    def setup(self):
        layers = []
        for width in self.widths:
            layers.append(nn.Dense(width))
            layers.append(nn.LayerNorm())
            layers.append(nn.relu)
        self.layers = layers
        self.out = nn.Dense(2)

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = layer(x)
        return self.out(x)


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(jnp.concatenate([x, x], -1))


class OwnLast(nn.Module):
    """Single items of a class of the project, each of which is called somewhere."""

    n: int = 2

    def setup(self):
        self.layers = [nn.Dense(3) for _ in range(self.n)] + [Twice()]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = layer(x)
        return self.layers[-1](x) * 2


CASES: list[Any] = [
    ("Energy", dict(), [(2, 3)], dict()),
    ("Energy", dict(widths=(7,)), [(2, 3)], dict()),
    ("Energy", dict(widths=()), [(2, 3)], dict()),
    ("Joined", dict(), [(2, 3)], dict()),
    ("Joined", dict(widths=()), [(2, 3)], dict()),
    ("InTheCall", dict(), [(2, 3)], dict()),
    ("BothEnds", dict(), [(2, 3)], dict()),
    ("BothEnds", dict(widths=()), [(2, 3)], dict()),
    ("BothEndsOfSums", dict(), [(2, 3)], dict()),
    ("LastActivation", dict(), [(2, 3)], dict()),
    ("LastOfSetup", dict(), [(2, 3)], dict()),
    ("LastOfSetup", dict(widths=(7,)), [(2, 3)], dict()),
    ("LastOfLoops", dict(), [(2, 3)], dict()),
    ("OwnLast", dict(), [(2, 3)], dict()),
]
