"""Names that get another value while sizes, arguments of layers or partials still say what they held before."""

from functools import partial
from typing import Any

import flax.linen as nn


class PairAfterItsItem(nn.Module):
    pairs: Any = ((3, 5), (4, 6))

    @nn.compact
    def __call__(self, x):
        for pair in self.pairs:
            width = pair[1]
            pair = pair[0]
            x = nn.Dense(pair + width)(x)
        return x


class PairTakenApart(nn.Module):
    pairs: Any = ((3, 5), (4, 6))

    @nn.compact
    def __call__(self, x):
        for pair in self.pairs:
            a, b = pair
            pair = (b, 2)
            x = nn.Dense(pair[0] + a)(x)
            x = nn.Dense(pair[1])(x)
        return x


class PairOfItsItems(nn.Module):
    sizes: Any = (3, 4)

    @nn.compact
    def __call__(self, x):
        sizes = self.sizes
        sizes = (sizes[1], sizes[0], sizes[1] + 1)
        sizes = [sizes[2], sizes[0]]
        x = nn.Dense(sizes[0])(x)
        return nn.Dense(x.shape[-1] + sizes[1])(x)


class PartOfConfig(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        config = self.config
        width, kind = config["width"], config["kind"]
        config = config["head"]
        x = nn.Dense(width)(x)
        x = nn.Dense(config["width"], use_bias=kind == "gated")(x)
        return nn.Dense(width + config["width"])(x)


class PartUnderFlag(nn.Module):
    config: Any
    deep: bool = True

    @nn.compact
    def __call__(self, x):
        config = self.config
        width = config["width"]
        if self.deep:
            config = config["head"]
            x = nn.Dense(width + config["width"])(x)
        x = nn.Dense(config["width"])(x)
        return nn.Dense(width)(x)


class PartInLoop(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        config = self.config
        for key in ("width", "head"):
            width = config["width"]
            x = nn.Dense(width)(x)
            if key == "head":
                config = config[key]
            x = nn.Dense(width + config["width"])(x)
        return nn.Dense(width)(x)


class NameOfALoop(nn.Module):
    sizes: Any = (3, 4)

    @nn.compact
    def __call__(self, x):
        size = self.sizes
        first = size[0]
        more = size[1] * 2
        for size in range(first):
            x = nn.Dense(size + more)(x)
        return nn.Dense(more + first)(x)


class NameOfALoopWithin(nn.Module):
    sizes: Any = (3, 4)

    @nn.compact
    def __call__(self, x):
        for a, b in zip(self.sizes, self.sizes[::-1]):
            both = a + b
            for a in range(2):
                x = nn.Dense(both + a)(x)
            b, both = both, b
            x = nn.Dense(b)(x)
            x = nn.Dense(both)(x)
        return x


class InPartial(nn.Module):
    sizes: Any = (3, 4)

    @nn.compact
    def __call__(self, x):
        sizes = self.sizes
        make = partial(nn.Dense, sizes[1])
        sizes = sizes[0]
        x = make()(x)
        x = nn.Dense(sizes)(x)
        return make()(x)


class InShape(nn.Module):
    sizes: Any = (3, 4)

    @nn.compact
    def __call__(self, x):
        sizes = self.sizes
        shape = (sizes[0], sizes[1])
        sizes = 2
        x = nn.Dense(shape[0] * shape[1])(x)
        x = x.reshape((x.shape[0], *shape))
        return nn.Dense(sizes)(x), nn.Dense(3)(x.reshape(x.shape[0], -1))


class Part(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class CalledAfter(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        config = self.config
        first = Part(config["width"])
        config = config["head"]
        second = Part(width=config["width"])
        config = None
        return Part(2)(second(first(x)))


class KindKept(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        config = self.config
        kind = config["kind"]
        width = config["width"]
        norm = nn.LayerNorm if kind == "gated" else nn.RMSNorm
        make = partial(nn.Dense, width)
        config = config["head"]
        x = make()(norm()(x))
        return nn.Dense(config["width"])(x)


CONFIG = {"width": 3, "kind": "gated", "head": {"width": 5, "kind": "plain"}}
PLAIN = {"width": 4, "kind": "plain", "head": {"width": 2, "kind": "plain"}}
CASES = [
    ("PairAfterItsItem", {}, [(2, 4)], {}),
    ("PartOfConfig", {"config": CONFIG}, [(2, 4)], {}),
    ("PartUnderFlag", {"config": CONFIG}, [(2, 4)], {}),
    ("InPartial", {}, [(2, 4)], {}),
    ("PairTakenApart", {}, [(2, 4)], {}),
    ("PairOfItsItems", {}, [(2, 4)], {}),
    ("PartUnderFlag", {"config": CONFIG, "deep": False}, [(2, 4)], {}),
    ("PartInLoop", {"config": CONFIG}, [(2, 4)], {}),
    ("NameOfALoop", {}, [(2, 4)], {}),
    ("NameOfALoopWithin", {}, [(2, 4)], {}),
    ("InShape", {}, [(2, 4)], {}),
    ("CalledAfter", {"config": CONFIG}, [(2, 4)], {}),
    ("KindKept", {"config": CONFIG}, [(2, 4)], {}),
    ("KindKept", {"config": PLAIN}, [(2, 4)], {}),
]
