"""Decorators that keep a class in a table and give it back."""

from flax import linen as nn

BLOCKS = {}


def register(name):
    def add(cls):
        BLOCKS[name] = cls
        return cls

    return add


def marked(cls):
    cls.kind = cls.__name__.lower()
    return cls


@register('block')
class Block(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


@marked
class Marked(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


CASES = [("Marked", {}, [(2, 3)], {}), ("Block", {}, [(2, 3)], {}), ("Block", {"width": 2}, [(2, 3)], {})]
