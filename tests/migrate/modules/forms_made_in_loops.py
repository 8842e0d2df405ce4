"""Modules made in loops and handed to others there: `[nn.RNN(nn.GRUCell(h)) for ...]`, `Residual(nn.Dense(d))(x)`."""

from collections.abc import Callable, Sequence

from flax import linen as nn


class Residual(nn.Module):
    inner: nn.Module

    @nn.compact
    def __call__(self, x):
        return x + self.inner(x)


class PreNorm(nn.Module):
    function: Callable

    @nn.compact
    def __call__(self, x):
        return self.function(nn.LayerNorm()(x))


class FeedForward(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(nn.gelu(nn.Dense(2 * self.features)(x)))


class Stacks(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        self.blocks = [nn.Sequential([nn.Dense(self.hidden), nn.relu]) for _ in range(self.n)]

    def __call__(self, x):
        for b in self.blocks:
            x = b(x)
        return x


class Stacks2(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        self.inp = nn.Dense(self.hidden)
        self.blocks = [
            nn.Sequential([nn.LayerNorm(), nn.Dense(4 * self.hidden), nn.gelu, nn.Dense(self.hidden)]) for _ in range(self.n)
        ]

    def __call__(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = x + b(x)
        return x


class Recurrent(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        self.inp = nn.Dense(self.hidden)
        self.rnns = [nn.RNN(nn.GRUCell(self.hidden)) for _ in range(self.n)]

    def __call__(self, x):
        x = self.inp(x)
        for b in self.rnns:
            x = x + b(x)
        return x


class RecurrentAppended(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        rnns = []
        for i in range(self.n):
            rnns.append(nn.RNN(nn.LSTMCell(self.hidden * (i + 1)), return_carry=True))
        self.rnns = rnns

    def __call__(self, x):
        cs = []
        for b in self.rnns:
            c, x = b(x)
            cs.append(c)
        return x


class CellsWithNames(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        rnns = []
        for i in range(self.n):
            cell = nn.LSTMCell(self.hidden * (i + 1))
            rnns.append(nn.RNN(cell))
        self.rnns = rnns

    def __call__(self, x):
        for b in self.rnns:
            x = b(x)
        return x


class BothWays(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        self.rnns = [
            nn.Bidirectional(nn.RNN(nn.GRUCell(self.hidden)), nn.RNN(nn.GRUCell(self.hidden))) for _ in range(self.n)
        ]

    def __call__(self, x):
        for b in self.rnns:
            x = b(x)
        return x


class RecurrentOfCompact(nn.Module):
    hidden: int = 8
    n: int = 2

    @nn.compact
    def __call__(self, x):
        rnns = [nn.RNN(nn.GRUCell(self.hidden)) for _ in range(self.n)]
        for b in rnns:
            x = b(x)
        return x


class StacksOfCompact(nn.Module):
    hidden: int = 8
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = x + nn.Sequential([nn.LayerNorm(), nn.Dense(4 * self.hidden), nn.gelu, nn.Dense(x.shape[-1])])(x)
        return x


class Residuals(nn.Module):
    hidden: int = 8
    n: int = 2

    def setup(self):
        self.inp = nn.Dense(self.hidden)
        self.blocks = [Residual(nn.Dense(self.hidden)) for _ in range(self.n)]

    def __call__(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = b(x)
        return x


class SeveralOfOneClass(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            inner = nn.Dense(x.shape[-1])
            other = nn.Dense(x.shape[-1])
            x = Residual(other)(x)
            x = Residual(inner, name=f"w{i}")(x)
            x = PreNorm(nn.Dense(4))(x)
        return x


class UnderCondition(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = Residual(PreNorm(nn.Dense(x.shape[-1])))(x)
            if self.n > 1:
                x = Residual(nn.Dense(x.shape[-1]))(x)
        return x


class Pairs(nn.Module):
    dim: int = 4
    n: int = 2

    def setup(self):
        layers = []
        for _ in range(self.n):
            layers.append([PreNorm(nn.SelfAttention(2)), PreNorm(FeedForward(self.dim))])
        self.layers = layers

    def __call__(self, x):
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return x


class LoopInLoop(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            for _ in range(2):
                x = Residual(nn.Dense(x.shape[-1]))(x)
        return x


class OtherWidths(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _, f in enumerate((8, 6)):
            x = PreNorm(nn.Dense(f))(x)
        return x


class HandedTwice(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = Residual(PreNorm(nn.Dense(x.shape[-1])))(x)
        return x


class HandedTwiceInSetup(nn.Module):
    n: int = 2

    def setup(self):
        self.a = Residual(PreNorm(nn.Dense(4)))

    def __call__(self, x):
        return self.a(x)


class TuplesOfComprehension(nn.Module):
    n: int = 2

    def setup(self):
        self.a = [(PreNorm(nn.Dense(4)), PreNorm(nn.Dense(4))) for _ in range(self.n)]

    def __call__(self, x):
        for a, b in self.a:
            x = a(x)
            x = b(x)
        return x


class TuplesAppended(nn.Module):
    n: int = 2

    def setup(self):
        ls = []
        for _ in range(self.n):
            ls.append((nn.Dense(4), nn.Dense(5)))
        self.ls = ls

    def __call__(self, x):
        for a, b in self.ls:
            x = b(a(x))
        return x


class ChainOfSetup(nn.Module):
    sizes: Sequence[int] = (4, 6)

    def setup(self):
        self.mlp = nn.Sequential([nn.Dense(s) for s in self.sizes])

    def __call__(self, x):
        return self.mlp(x)


class Chain(nn.Module):
    sizes: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        return nn.Sequential([nn.Dense(s) for s in self.sizes])(x)


class ChainAppended(nn.Module):
    sizes: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        layers = []
        for s in self.sizes:
            layers.append(nn.Dense(s))
            layers.append(nn.relu)
        return nn.Sequential(layers)(x)


class ChainAdded(nn.Module):
    sizes: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        layers = []
        for s in self.sizes:
            layers += [nn.Dense(s), nn.relu]
        layers += [nn.Dense(2)]
        return nn.Sequential(layers)(x)


class ChainStarred(nn.Module):
    sizes: Sequence[int] = (4, 6)

    def setup(self):
        layers = []
        for s in self.sizes:
            layers.extend([nn.Dense(s), nn.LayerNorm(), nn.relu])
        self.mlp = nn.Sequential([*layers, nn.Dense(2)])

    def __call__(self, x):
        return self.mlp(x)


class ChainOfChains(nn.Module):
    sizes: Sequence[int] = (4, 6)

    def setup(self):
        self.mlp = nn.Sequential([nn.Sequential([nn.Dense(s), nn.relu]) for s in self.sizes])

    def __call__(self, x):
        return self.mlp(x)


class ChainsAndHead(nn.Module):
    sizes: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        return nn.Sequential([nn.Sequential([nn.Dense(s), nn.relu]) for s in self.sizes] + [nn.Dense(2)])(x)


class JoinedHead(nn.Module):
    n: int = 3
    w: int = 4

    def setup(self):
        self.layers = [nn.Dense(self.w) for _ in range(self.n)] + [nn.Dense(2)]

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return x


class JoinedBothSides(nn.Module):
    n: int = 3
    w: int = 4

    def setup(self):
        self.layers = [nn.Dense(7)] + [nn.Dense(self.w) for _ in range(self.n)] + [nn.Dense(2)]

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return x


class JoinedInChain(nn.Module):
    n: int = 3
    w: int = 4

    def setup(self):
        self.net = nn.Sequential([nn.Dense(self.w) for _ in range(self.n)] + [nn.LayerNorm(), nn.Dense(2)])
        self.net2 = nn.Sequential([*[nn.Dense(self.w) for _ in range(self.n)], nn.Dense(3)])

    def __call__(self, x):
        return self.net2(self.net(x))


class ListsInARow(nn.Module):
    n: int = 3
    w: int = 4

    def setup(self):
        layers = [nn.Dense(self.w) for _ in range(self.n)]
        self.a = nn.Sequential(layers)
        self.b, self.c = nn.Sequential([nn.Dense(self.w) for _ in range(self.n)]), nn.Dense(3)

    def __call__(self, x):
        return self.c(self.b(self.a(x)))


class WidthsAndHead(nn.Module):
    widths: Sequence[int] = (8, 4, 6)

    def setup(self):
        self.layers = [nn.Dense(f, use_bias=False) for f in self.widths] + [nn.Dense(5)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class TwoListsJoined(nn.Module):
    widths: Sequence[int] = (8, 4, 6)

    def setup(self):
        self.layers = [nn.Dense(3)] + [nn.Dense(f) for f in self.widths] + [nn.Dense(f) for f in self.widths] + [nn.Dense(5)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class WidthsOfMethod(nn.Module):
    widths: Sequence[int] = (4, 6)

    def setup(self):
        self.layers = self.make()

    def make(self):
        return [nn.Dense(width, use_bias=False) for width in self.widths]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class WidthsInChain(nn.Module):
    widths: Sequence[int] = (4, 6)

    def setup(self):
        self.net = nn.Sequential([*[nn.Dense(f) for f in self.widths], nn.LayerNorm(), nn.Dense(2)])

    def __call__(self, x):
        return self.net(x)


class WidthOfHandedTwice(nn.Module):
    """The width of what comes back is asked of the innermost of the modules that were handed on."""

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = Residual(PreNorm(nn.Dense(x.shape[-1])))(x)
        return nn.Dense(3)(x)


CASES = [
    ("Stacks", {}, [(2, 5, 4)], {}),
    ("Stacks2", {}, [(2, 5, 4)], {}),
    ("Recurrent", {}, [(2, 5, 4)], {}),
    ("RecurrentAppended", {}, [(2, 5, 4)], {}),
    ("CellsWithNames", {}, [(2, 5, 4)], {}),
    ("BothWays", {}, [(2, 5, 4)], {}),
    ("RecurrentOfCompact", {}, [(2, 5, 4)], {}),
    ("StacksOfCompact", {}, [(2, 5, 4)], {}),
    ("Residuals", {}, [(2, 5, 4)], {}),
    ("SeveralOfOneClass", {}, [(2, 5, 4)], {}),
    ("UnderCondition", {}, [(2, 5, 4)], {}),
    ("Pairs", {}, [(2, 5, 4)], {}),
    ("LoopInLoop", {}, [(2, 5, 4)], {}),
    ("OtherWidths", {}, [(2, 5, 4)], {}),
    ("HandedTwice", {}, [(2, 5, 4)], {}),
    ("HandedTwiceInSetup", {}, [(2, 5, 4)], {}),
    ("TuplesOfComprehension", {}, [(2, 5, 4)], {}),
    ("TuplesAppended", {}, [(2, 5, 4)], {}),
    ("ChainOfSetup", {}, [(2, 5, 4)], {}),
    ("Chain", {}, [(2, 5, 4)], {}),
    ("ChainAppended", {}, [(2, 5, 4)], {}),
    ("ChainAdded", {}, [(2, 5, 4)], {}),
    ("ChainStarred", {}, [(2, 5, 4)], {}),
    ("ChainOfChains", {}, [(2, 5, 4)], {}),
    ("ChainsAndHead", {}, [(2, 5, 4)], {}),
    ("JoinedHead", {}, [(2, 5, 4)], {}),
    ("JoinedBothSides", {}, [(2, 5, 4)], {}),
    ("JoinedInChain", {}, [(2, 5, 4)], {}),
    ("ListsInARow", {}, [(2, 5, 4)], {}),
    ("WidthsAndHead", {}, [(2, 3)], {}),
    ("TwoListsJoined", {}, [(2, 3)], {}),
    ("WidthsOfMethod", {}, [(2, 3)], {}),
    ("WidthsInChain", {}, [(2, 3)], {}),
    ("WidthOfHandedTwice", {}, [(2, 3)], {}),
]
