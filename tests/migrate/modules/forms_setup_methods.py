"""Methods that make modules for `setup`: `self.layers = self.make_layers()`."""

from flax import linen as nn


class ListOfModules(nn.Module):
    dim: int = 4

    def setup(self):
        self.layers = self.make_layers()

    def make_layers(self):
        return [nn.Dense(self.dim), nn.Dense(3)]

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x


class WithArguments(nn.Module):
    dim: int = 4

    def setup(self):
        self.layer = self.mlp(self.dim, 3)

    def mlp(self, d, out):
        return nn.Sequential([nn.Dense(d), nn.relu, nn.Dense(out)])

    def __call__(self, x):
        return self.layer(x)


class SetsAttributes(nn.Module):
    dim: int = 4

    def setup(self):
        self.make()

    def make(self):
        self.a = nn.Dense(self.dim)
        self.b = nn.Dense(3)

    def __call__(self, x):
        return self.b(self.a(x))


class TwoAtOnce(nn.Module):
    dim: int = 4

    def setup(self):
        self.a, self.b = self.make()

    def make(self):
        return nn.Dense(self.dim), nn.Dense(3)

    def __call__(self, x):
        return self.b(self.a(x))


class FilledInLoop(nn.Module):
    dim: int = 4
    n: int = 2

    def setup(self):
        self.layers = self.make()

    def make(self):
        layers = []
        for i in range(self.n):
            layers.append(nn.Dense(self.dim))
        return layers

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x


class Comprehension(nn.Module):
    dim: int = 4
    n: int = 2

    def setup(self):
        self.inp = nn.Dense(self.dim)
        self.layers = self.make()

    def make(self):
        return [nn.Dense(self.dim) for _ in range(self.n)]

    def __call__(self, x):
        x = self.inp(x)
        for l in self.layers:
            x = l(x)
        return x


class Widths(nn.Module):
    widths: tuple = (5, 6)

    def setup(self):
        self.layers = self.make()

    def make(self):
        return [nn.Dense(width, use_bias=False) for width in self.widths]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class AroundWidths(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Widths()(x) * 2


CASES = [
    ("AroundWidths", {}, [(2, 3)], {}),
    ("ListOfModules", {}, [(2, 3)], {}),
    ("WithArguments", {}, [(2, 3)], {}),
    ("SetsAttributes", {}, [(2, 3)], {}),
    ("TwoAtOnce", {}, [(2, 3)], {}),
    ("FilledInLoop", {}, [(2, 3)], {}),
    ("Comprehension", {}, [(2, 3)], {}),
]
