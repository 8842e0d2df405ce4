"""Modules of either of two classes, asked which one they are and called as that class wants it."""

from flax import linen as nn


class Block(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x, training=False):
        return nn.relu(nn.Dense(self.size)(x)) * (2.0 if training else 1.0)


class Either(nn.Module):
    wide: bool = False

    def setup(self):
        self.first = Block(4) if self.wide else nn.Dense(4)
        self.last = nn.Dense(3)

    def __call__(self, x, training=False):
        if isinstance(self.first, nn.Dense):
            x = self.first(x)
        else:
            x = self.first(x, training)
        return self.last(x)


class ByField(nn.Module):
    wide: bool = False

    def setup(self):
        self.first = Block(4) if self.wide else nn.Dense(4)

    def __call__(self, x, training=False):
        if self.wide:
            return self.first(x, training)
        return self.first(x)


class Inside(nn.Module):
    wide: bool = False

    @nn.compact
    def __call__(self, x, training=False):
        first = nn.Dense(4) if not self.wide else Block(6)
        if isinstance(first, Block):
            x = nn.Dense(7)(x)
            x = first(x, training)
        else:
            x = first(x)
        return nn.Dense(3)(x)


class Early(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x, training=False):
        if self.kind == "a":
            first = nn.Dense(4)
        else:
            first = Block(6)
        if not isinstance(first, (Block, nn.Conv)):
            return first(x)
        y = first(x, training)
        return nn.Dense(3)(y)


CASES = [
    ("Either", {}, ((2, 5),), {}),
    ("Either", {"wide": True}, ((2, 5),), {}),
    ("Either", {"wide": True}, ((2, 5),), {"training": True}),
    ("ByField", {"wide": True}, ((2, 5),), {"training": True}),
    ("ByField", {}, ((2, 5),), {"training": True}),
    ("Inside", {}, ((2, 5),), {}),
    ("Inside", {"wide": True}, ((2, 5),), {"training": True}),
    ("Early", {}, ((2, 5),), {}),
    ("Early", {"kind": "b"}, ((2, 5),), {"training": True}),
]
