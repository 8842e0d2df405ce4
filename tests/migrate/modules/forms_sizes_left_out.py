"""Sizes of the call that are None by default, beside options that a config picks; `CASES` as in forms_basic."""

import dataclasses

from flax import linen as nn


@dataclasses.dataclass(unsafe_hash=True)
class Options:
    width: int = 6
    out: int = 4
    kind: str = "plain"


class ByOptions(nn.Module):
    """A local name that is called as the field it holds decides what is called."""

    args: Options

    @nn.compact
    def __call__(self, x):
        first = nn.Dense(self.args.width)
        args = self.args
        if args.kind == "plain":
            x = first(x)
        else:
            x = nn.LayerNorm()(x)
        return nn.Dense(args.out)(x)


class Conditioned(nn.Module):
    """Modules of one name in both branches, of which one has a size that the call is given or not."""

    args: Options

    @nn.compact
    def __call__(self, x, cond=None, train=False, channels=None):
        args = self.args
        if channels is None:
            channels = args.out
        h = nn.Dense(args.width)(x)
        if cond is not None:
            if args.kind == "plain":
                shift = nn.Dense(args.width)
            else:
                shift = nn.Dense(args.width, use_bias=False)
            return nn.Dense(channels, use_bias=False)(h + shift(cond))
        h = nn.Dropout(0.1, deterministic=not train)(h)
        return nn.Dense(channels)(h)


class EitherWay(nn.Module):
    out: int = 4

    @nn.compact
    def __call__(self, x, cond=None, channels=None):
        if channels is None:
            channels = self.out
        if cond is not None:
            y = nn.Dense(channels, use_bias=False)(x)
            return nn.Dense(3)(y + nn.Dense(self.out)(cond))
        return nn.Dense(channels)(x)


class Wider(nn.Module):
    """Its calls, by more arguments than the others take, are of no other class."""

    @nn.compact
    def __call__(self, a, b, c, d):
        return nn.Dense(3)(a + b + c + d)


class Handed(nn.Module):
    """An optional input that is handed on, whose whole shape is not known here."""

    args: Options

    @nn.compact
    def __call__(self, x, cond=None):
        wide = Wider()
        h = Conditioned(self.args, name="one")(x, cond) + Conditioned(self.args, name="two")(x, train=False)
        return h + wide(x, x, x, x)[..., :1]


class Apart(nn.Module):
    """An attribute of two classes that holds another module in each."""

    def setup(self):
        self.mix = Wider()

    def __call__(self, x):
        return self.mix(x, x, x, x)


class Together(nn.Module):
    """Calls the one, and has the other called."""

    args: Options

    def setup(self):
        self.mix = Conditioned(self.args)
        self.apart = Apart()

    def __call__(self, x, cond=None):
        return self.apart(self.mix(x, cond))


CASES = [
    ("Together", dict(args=Options()), [(2, 3), (2, 5)], {}),
    ("Together", dict(args=Options()), [(2, 3)], dict(cond=None)),
    ("Handed", dict(args=Options()), [(2, 3)], dict(cond=None)),
    ("Handed", dict(args=Options()), [(2, 3), (2, 5)], {}),
    ("ByOptions", dict(args=Options()), [(2, 3)], {}),
    ("ByOptions", dict(args=Options(kind="norm")), [(2, 3)], {}),
    ("Conditioned", dict(args=Options()), [(2, 3)], dict(cond=None)),
    ("Conditioned", dict(args=Options(kind="other")), [(2, 3), (2, 5)], {}),
    ("EitherWay", {}, [(2, 3)], dict(cond=None)),
    ("EitherWay", {}, [(2, 3), (2, 5)], {}),
]
