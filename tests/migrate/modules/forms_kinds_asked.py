"""Lists of modules of several kinds, whose loop asks each item what it is; and layers within weight transforms."""

from collections.abc import Sequence

from flax import linen as nn


class DropoutAsked(nn.Module):
    dim: int
    rate: float = 0.0

    def setup(self):
        self.linear = [
            nn.Dense(4 * self.dim),
            nn.gelu,
            nn.Dropout(self.rate),
            nn.Dense(self.dim),
        ]
        self.norm = nn.LayerNorm()

    def __call__(self, x, train=True):
        y = x
        for l in self.linear:
            y = l(y) if not isinstance(l, nn.Dropout) else l(y, deterministic=not train)
        return self.norm(x + y)


class DropoutAskedByIf(nn.Module):
    dim: int
    rate: float = 0.0

    def setup(self):
        self.net = [nn.Dense(self.dim), nn.LayerNorm(), nn.relu, nn.Dropout(self.rate), nn.Dense(3)]

    def __call__(self, x, train=True):
        for l in self.net:
            if isinstance(l, nn.Dropout):
                x = l(x, deterministic=not train)
            else:
                x = l(x)
        return x


class NormAsked(nn.Module):
    dim: int = 4

    def setup(self):
        self.net = [nn.Dense(self.dim), nn.BatchNorm(), nn.relu, nn.Dense(3)]

    def __call__(self, x, train=True):
        for l in self.net:
            x = l(x) if not isinstance(l, nn.BatchNorm) else l(x, use_running_average=not train)
        return x


class GrownAsked(nn.Module):
    widths: Sequence[int] = (4, 6)
    rate: float = 0.3

    def setup(self):
        layers = []
        for w in self.widths:
            layers += [nn.Dense(w), nn.LayerNorm(), nn.relu, nn.Dropout(self.rate)]
        layers.append(nn.Dense(2))
        self.layers = layers

    def __call__(self, x, train=False):
        for l in self.layers:
            x = l(x) if not isinstance(l, nn.Dropout) else l(x, deterministic=not train)
        return x


class CompactAsked(nn.Module):
    widths: Sequence[int] = (4, 6)
    rate: float = 0.3

    @nn.compact
    def __call__(self, x, train=False):
        layers = []
        for w in self.widths:
            layers.extend([nn.Dense(w), nn.BatchNorm(), nn.relu])
        layers.append(nn.Dense(2))
        for l in layers:
            if isinstance(l, nn.BatchNorm):
                x = l(x, use_running_average=not train)
            else:
                x = l(x)
        return x


class Res(nn.Module):
    n: int = 4
    @nn.compact
    def __call__(self, x, train=True):
        return x + nn.Dense(self.n)(x) * (2.0 if train else 1.0)


class Plain(nn.Module):
    n: int = 4
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n)(x)


class OwnClassesAsked(nn.Module):
    def setup(self):
        self.blocks = [Plain(4), Res(4), nn.relu, Plain(3)]

    def __call__(self, x, train=True):
        for b in self.blocks:
            if isinstance(b, Res):
                x = b(x, train=train)
            else:
                x = b(x)
        return x


class SeveralAsked(nn.Module):
    def setup(self):
        self.blocks = (nn.Dense(4), nn.BatchNorm(), nn.Dropout(0.5), nn.Dense(4), nn.LayerNorm())

    def __call__(self, x, train=False):
        for b in self.blocks:
            if isinstance(b, (nn.BatchNorm, nn.LayerNorm)) and not isinstance(b, nn.LayerNorm):
                x = b(x, use_running_average=not train)
            elif isinstance(b, nn.Dropout):
                x = b(x, deterministic=not train)
            else:
                x = b(x)
        return x


class ConvolutionsAsked(nn.Module):
    def setup(self):
        self.blocks = [nn.Conv(4, (3,)), nn.relu, nn.ConvLocal(4, (3,)), nn.ConvTranspose(3, (2,), (2,))]

    def __call__(self, x, train=False):
        for b in self.blocks:
            if isinstance(b, nn.Conv):
                x = b(x) * 3
            elif isinstance(b, nn.ConvLocal):
                x = b(x) * 2
            elif isinstance(b, nn.Module):
                x = b(x) * 5
            else:
                x = b(x)
        return x


class ManyAsked(nn.Module):
    def setup(self):
        self.blocks = [nn.Dense(4), nn.DenseGeneral(5), nn.Dropout(0.5), lambda x: x + 1, nn.WeightNorm(nn.Dense(4)), nn.RMSNorm(), nn.Embed(3, 4)]

    def __call__(self, x, train=False):
        for b in self.blocks:
            if isinstance(b, nn.DenseGeneral):
                x = b(x) * 3
            elif isinstance(b, nn.Dense):
                x = b(x) * 2
            elif isinstance(b, nn.Embed):
                x = b.attend(x)
            elif isinstance(b, nn.WeightNorm):
                x = b(x) * 4
            elif isinstance(b, nn.Dropout):
                x = b(x, deterministic=not train)
            elif isinstance(b, nn.RMSNorm):
                x = b(x)
            else:
                x = b(x) * 7
        return x


class NormsOfTheirOwn(nn.Module):
    def setup(self):
        self.blocks = [nn.Dense(4), nn.LayerNorm(reduction_axes=(-2, -1), feature_axes=(-2, -1)), nn.GroupNorm(2), nn.Dense(4)]

    def __call__(self, x, train=False):
        for b in self.blocks:
            if isinstance(b, nn.LayerNorm):
                x = b(x) * 3
            elif isinstance(b, nn.Module):
                x = b(x) * 2
            else:
                x = b(x)
        return x


class AnyAttention(nn.Module):
    def setup(self):
        self.blocks = [nn.Dense(4), nn.MultiHeadDotProductAttention(2), nn.SelfAttention(2), nn.Dense(4)]

    def __call__(self, x, train=False):
        for b in self.blocks:
            if isinstance(b, nn.MultiHeadDotProductAttention):
                x = b(x) * 2
            elif isinstance(b, (nn.Dense, nn.Embed)):
                x = b(x)
            else:
                x = b(x)
        return x


class ScaledItems(nn.Module):
    def setup(self):
        self.blocks = [nn.Dense(4), nn.WeightNorm(nn.Dense(4)), nn.SpectralNorm(nn.Dense(3))]

    def __call__(self, x):
        x = self.blocks[0](x)
        x = self.blocks[1](x)
        return self.blocks[2](x, update_stats=False)


class ScaledInComprehension(nn.Module):
    n: int = 2

    def setup(self):
        self.blocks = [nn.WeightNorm(nn.Dense(4)) for _ in range(self.n)]

    def __call__(self, x):
        for b in self.blocks:
            x = b(x)
        return x


class ScaledOfSetup(nn.Module):
    def setup(self):
        self.norm = nn.WeightNorm(nn.Dense(4))

    def __call__(self, x):
        return self.norm(x)


CASES = [
    ("DropoutAsked", {"dim": 4}, [(2, 4)], {}),
    ("DropoutAskedByIf", {"dim": 4}, [(2, 3)], {"train": False}),
    ("NormAsked", {}, [(2, 3)], {"train": True}),
    ("GrownAsked", {}, [(2, 4)], {}),
    ("CompactAsked", {}, [(2, 3)], {}),
    ("OwnClassesAsked", {}, [(2, 3)], {}),
    ("SeveralAsked", {}, [(2, 3)], {}),
    ("ConvolutionsAsked", {}, [(2, 6, 4)], {}),
    ("ManyAsked", {}, [(2, 4)], {}),
    ("NormsOfTheirOwn", {}, [(2, 3, 4)], {}),
    ("AnyAttention", {}, [(2, 3, 4)], {}),
    ("ScaledItems", {}, [(2, 4)], {}),
    ("ScaledInComprehension", {}, [(2, 4)], {}),
    ("ScaledOfSetup", {}, [(2, 4)], {}),
]
