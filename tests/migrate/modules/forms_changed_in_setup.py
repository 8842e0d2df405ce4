"""What setup computes from parameters and from what it changes on the way: lists, iterators, counters; `CASES` as in
forms_basic."""

from typing import Any

from flax import linen as nn
from flax.linen import initializers as init


def make_list():
    return [1.0]


def fill(values):
    values.append(5.0)


class ByAFunction(nn.Module):
    def setup(self):
        w = self.param("w", init.normal(), (3,))
        xs = []
        def add(v):
            xs.append(v)
        add(2.0)
        self.y = w * sum(xs)

    def __call__(self, x):
        return x * self.y


class ByACall(nn.Module):
    def setup(self):
        w = self.param("w", init.normal(), (3,))
        xs = make_list()
        fill(xs)
        self.y = w * sum(xs)

    def __call__(self, x):
        return x * self.y


class ByAWhile(nn.Module):
    n: int = 2

    def setup(self):
        w = self.param("w", init.normal(), (3,))
        i = 0
        while i < self.n:
            i += 1
        self.y = w * i

    def __call__(self, x):
        return x * self.y


class UnderTwoNames(nn.Module):
    def setup(self):
        w = self.param("w", init.normal(), (3,))
        self.xs = [1.0, 2.0]
        xs = self.xs
        self.y = w * sum(xs)
        self.z = w * len(self.xs)

    def __call__(self, x):
        return x * self.y + self.z


class Iterated(nn.Module):
    def setup(self):
        w = self.param("w", init.normal(), (3,))
        it = iter([1.0, 2.0, 3.0])
        next(it)
        self.y = w * next(it)

    def __call__(self, x):
        return x * self.y


class Popped(nn.Module):
    def setup(self):
        w = self.param("w", init.normal(), (3,))
        xs = [1.0, 2.0]
        n = xs.pop()
        self.n = n
        self.y = w * sum(xs)

    def __call__(self, x):
        return x * self.y * self.n


class ByALoop(nn.Module):
    def setup(self):
        w = self.param("w", init.normal(), (3,))
        for i in range(3):
            k = i * 2
        self.y = w * k
        try:
            z = 3
        except ValueError:
            z = 4
        self.z = w * z

    def __call__(self, x):
        return x * self.y + self.z


class OnSides(nn.Module):
    flag: bool = True

    def setup(self):
        w = self.param("w", init.normal(), (3,))
        if self.flag:
            self.k = 3
        else:
            self.k = 5
        self.y = w * self.k

    def __call__(self, x):
        return x * self.y * self.k


CASES: list[Any] = [
    ("ByAFunction", {}, [(2, 3)], {}),
    ("ByACall", {}, [(2, 3)], {}),
    ("ByAWhile", {}, [(2, 3)], {}),
    ("UnderTwoNames", {}, [(2, 3)], {}),
    ("Iterated", {}, [(2, 3)], {}),
    ("Popped", {}, [(2, 3)], {}),
    ("ByALoop", {}, [(2, 3)], {}),
    ("OnSides", {}, [(2, 3)], {}),
    ("OnSides", {"flag": False}, [(2, 3)], {}),
]
