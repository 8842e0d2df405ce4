"""Factories chosen by what a method reads off its fields under names of its own, by `match` and by the branches of setup."""

import functools
import types
from typing import Any

from flax import linen as nn


def config(**given):
    return types.SimpleNamespace(model=types.SimpleNamespace(**{"dropout": 0.0, "depth": 2, **given}))


class Plain(nn.Module):
    width: int
    scale: float = 1.0

    @nn.compact
    def __call__(self, x):
        return self.scale * nn.relu(nn.Dense(self.width)(x))


class Gated(nn.Module):
    width: int
    scale: float = 1.0
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        return self.scale * nn.Dense(self.width, use_bias=self.bias)(x) * nn.sigmoid(nn.Dense(self.width)(x))


class ReadInTwoSteps(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        config = self.config
        model = config.model
        kind = model.kind.lower()
        if kind == "plain":
            Block = functools.partial(Plain, scale=0.5)
        elif kind == "gated":
            Block = functools.partial(Gated, scale=2.0)
        else:
            raise ValueError(kind)
        for _ in range(model.depth):
            x = Block(4)(x)
        if kind == "plain":
            return Block(3)(x)
        return Block(5, bias=False)(x)


class NameBoundAgain(nn.Module):
    """`model` is another object when the modules are made."""

    first: Any
    second: Any

    @nn.compact
    def __call__(self, x):
        model = self.first.model
        kind = model.kind.lower()
        model = self.second.model
        if kind == "plain":
            Block = Plain
        else:
            Block = Gated
        x = Block(model.width)(x)
        return Block(2)(x)


def get_norm(kind, groups=2):
    match kind:
        case "batch":
            return functools.partial(nn.BatchNorm, use_running_average=False)
        case "layer" | "default":
            return nn.LayerNorm
        case "group":
            return functools.partial(nn.GroupNorm, num_groups=groups)
        case _:
            raise ValueError(kind)


class OfAMatch(nn.Module):
    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        Norm = get_norm(self.kind)
        norm = Norm()
        x = nn.Dense(4)(norm(x))
        last = get_norm(self.kind, 4)(name="last")
        return get_norm("group")()(last(x))


def by_conditions(kind, groups=2):
    if kind == "layer":
        return nn.LayerNorm
    elif kind == "group":
        return functools.partial(nn.GroupNorm, num_groups=groups)
    raise ValueError(kind)


class ChosenAndByItself(nn.Module):
    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        x = by_conditions(self.kind)()(x)
        return by_conditions("group")()(nn.Dense(4)(x))


class OfAnExpression(nn.Module):
    kind: Any = None

    @nn.compact
    def __call__(self, x):
        return get_norm(self.kind or "default")()(nn.Dense(4)(x))


class HeldBySetup(nn.Module):
    gated: bool

    def setup(self):
        if not self.gated:
            self.layer = Plain
        else:
            self.layer = Gated

    @nn.compact
    def __call__(self, x):
        x = self.layer(4)(x)
        return self.layer(3, name="last")(x)


class HeldBySetupOfNames(nn.Module):
    config: Any

    def setup(self):
        kind = self.config.model.kind
        self.layer = nn.Dense
        if kind == "gated":
            self.layer = functools.partial(Gated, scale=2.0)
        elif kind == "plain":
            self.layer = Plain

    @nn.compact
    def __call__(self, x):
        kind = 3
        x = self.layer(kind)(x)
        return self.layer(5)(x)


class AnotherByThen(nn.Module):
    """The name that a condition asks for is another thing when the module is made."""

    first: Any
    second: Any

    @nn.compact
    def __call__(self, x):
        kind = self.first.model.kind
        Block = Plain if kind == "plain" else Gated
        kind = self.second.model.kind
        x = Block(3)(x)
        return 2 * x if kind == "plain" else x


class AnotherByThenInBranches(nn.Module):
    first: Any
    second: Any

    @nn.compact
    def __call__(self, x):
        kind = self.first.model.kind
        if kind == "plain":
            Block = Plain
        elif kind == "gated":
            Block = Gated
        else:
            raise ValueError(kind)
        kind = self.second.model.kind
        x = Block(3)(x)
        x = 2 * x if kind == "plain" else x
        return Block(2, name="last")(x)


def made_of(kind):
    kind = kind.lower()
    match kind:
        case "plain":
            return Plain
        case _:
            return Gated


class AnotherByThenOfAFunction(nn.Module):
    first: Any
    second: Any

    @nn.compact
    def __call__(self, x):
        kind = self.first.model.kind
        Block = made_of(kind)
        kind = self.second.model.kind
        x = Block(3)(x)
        return 2 * x if kind == "plain" else x


CASES = [
    *[
        (name, {"first": config(kind=first), "second": config(kind=second)}, [(2, 3)], {})
        for first, second in (("plain", "gated"), ("gated", "plain"))
        for name in ("AnotherByThen", "AnotherByThenInBranches", "AnotherByThenOfAFunction")
    ],
    *[("ReadInTwoSteps", {"config": config(kind=kind)}, [(2, 3)], {}) for kind in ("Plain", "gated")],
    *[
        (
            "NameBoundAgain",
            {"first": config(kind=kind, width=4), "second": config(kind="other", width=5)},
            [(2, 3)],
            {},
        )
        for kind in ("Plain", "gated")
    ],
    *[("OfAMatch", {"kind": kind}, [(2, 6)], {}) for kind in ("batch", "layer", "default", "group")],
    *[("ChosenAndByItself", {"kind": kind}, [(2, 6)], {}) for kind in ("layer", "group")],
    *[("OfAnExpression", {"kind": kind}, [(2, 6)], {}) for kind in (None, "group")],
    *[("HeldBySetup", {"gated": gated}, [(2, 6)], {}) for gated in (False, True)],
    *[("HeldBySetupOfNames", {"config": config(kind=kind)}, [(2, 6)], {}) for kind in ("plain", "gated", "dense")],
]
