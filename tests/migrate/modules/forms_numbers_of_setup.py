"""Lists of `setup` whose loops change numbers, or have no name for what another list's loop calls its passes."""

from flax import linen as nn


class WidthDoubled(nn.Module):
    n: int = 2

    def setup(self):
        blocks = []
        in_dim = 4
        for i in range(self.n):
            blocks.append(nn.Dense(in_dim))
            in_dim = in_dim * 2
        self.blocks = blocks
        self.head = nn.Dense(in_dim)

    def __call__(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x)


class WidthDoubledBefore(nn.Module):
    n: int = 2

    def setup(self):
        d = 4
        self.inp = nn.Dense(d)
        blocks = []
        for i in range(self.n):
            d *= 2
            blocks.append(nn.Dense(d))
        self.blocks = blocks
        self.head = nn.Dense(d + 1)

    def __call__(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


class UnderFlag(nn.Module):
    w: int = 4
    flag: bool = True

    def setup(self):
        d = self.w
        self.a = nn.Dense(d)
        if self.flag:
            d = d * 2
        self.b = nn.Dense(d)
        self.c = nn.Dense(3)

    def __call__(self, x):
        return self.c(self.b(self.a(x)))


class LoopThenFlag(nn.Module):
    n: int = 2
    flag: bool = True

    def setup(self):
        d = 4
        ls = []
        for i in range(self.n):
            d = d * 2
            ls.append(nn.Dense(d))
        self.ls = ls
        if self.flag:
            d = d + 1
        else:
            d = d + 2
        self.mid = nn.Dense(d)
        self.fin = nn.Dense(2)

    def __call__(self, x):
        for l in self.ls:
            x = l(x)
        return self.fin(self.mid(x))


class Strided(nn.Module):
    n: int = 2

    def setup(self):
        self.convs = [nn.Conv(4 * 2**i, (3, 3), strides=(2, 2)) for i in range(self.n)]
        self.bns = [nn.BatchNorm() for _ in range(self.n)]

    def __call__(self, x, train: bool = False):
        for conv, bn in zip(self.convs, self.bns):
            x = nn.relu(bn(conv(x), use_running_average=not train))
        return x


class Powers(nn.Module):
    n: int = 2

    def setup(self):
        self.convs = [nn.Dense(4 * 2**i) for i in range(self.n)]
        self.bns = [nn.LayerNorm() for _ in range(self.n)]

    def __call__(self, x, train: bool = False):
        for conv, bn in zip(self.convs, self.bns):
            x = nn.relu(bn(conv(x)))
        return x


class Widths(nn.Module):
    widths: tuple = (4, 5)

    def setup(self):
        self.convs = [nn.Dense(f) for f in self.widths]
        self.bns = [nn.BatchNorm(use_running_average=True) for _ in self.widths]
        self.out = nn.Dense(3)

    def __call__(self, x):
        for conv, bn in zip(self.convs, self.bns):
            x = nn.relu(bn(conv(x)))
        return self.out(x)


class Appended(nn.Module):
    widths: tuple = (4, 5)

    def setup(self):
        self.convs = [nn.Dense(f) for f in self.widths]
        bns = []
        for _ in self.widths:
            bns.append(nn.LayerNorm())
        self.bns = bns

    def __call__(self, x):
        for i, conv in enumerate(self.convs):
            x = self.bns[i](conv(x))
        return x


class Residual(nn.Module):
    widths: tuple = (4, 5)

    def setup(self):
        self.convs = [nn.Dense(f) for f in self.widths]
        self.norm = [nn.LayerNorm() for _ in self.widths]
        self.res = [nn.Dense(f, use_bias=False) for f in self.widths]

    def __call__(self, x):
        for conv, n, r in zip(self.convs, self.norm, self.res):
            x = n(conv(x)) + r(x)
        return x


class Counted(nn.Module):
    features: tuple = (4, 5)

    def setup(self):
        self.layers = [nn.Dense(f) for f in self.features]
        self.norms = [nn.LayerNorm() for _ in range(len(self.features))]

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = nn.relu(self.norms[i](layer(x)))
        return x


class OneLess(nn.Module):
    n: int = 3

    def setup(self):
        self.ls = [nn.Dense(4) for _ in range(self.n)]
        self.ns = [nn.LayerNorm() for _ in range(self.n - 1)]

    def __call__(self, x):
        for i, l in enumerate(self.ls):
            x = l(x)
            if i < self.n - 1:
                x = self.ns[i](x)
        return x


class BothSides(nn.Module):
    n: int = 3

    def setup(self):
        self.ls = [nn.Dense(4) for _ in range(self.n)]

    def __call__(self, x):
        for i, l in enumerate(self.ls):
            if i < self.n - 1:
                x = nn.relu(l(x))
            else:
                x = l(x)
        return x


class EitherWay(nn.Module):
    n: int = 3

    def setup(self):
        self.ls = [nn.Dense(4) for _ in range(self.n)]

    def __call__(self, x):
        for i in range(self.n):
            x = self.ls[i](x) if i % 2 == 0 else nn.relu(self.ls[i](x))
        return x


class AllButTheLast(nn.Module):
    n: int = 3

    def setup(self):
        self.ls = [nn.Dense(4) for _ in range(self.n)]
        self.ns = [nn.LayerNorm() for _ in range(self.n)]

    def __call__(self, x):
        for i, l in enumerate(self.ls):
            x = l(x)
            if i < self.n - 1:
                x = self.ns[i](x)
        return x


class AllButTheLastOfWidths(nn.Module):
    feats: tuple = (4, 5)

    def setup(self):
        self.ls = [nn.Dense(f) for f in self.feats]
        self.ns = [nn.LayerNorm() for _ in range(len(self.feats))]

    def __call__(self, x):
        for i, l in enumerate(self.ls):
            x = l(x)
            if i != len(self.ls) - 1:
                x = nn.relu(self.ns[i](x))
        return x


class CalledElsewhereToo(nn.Module):
    n: int = 3

    def setup(self):
        self.ls = [nn.Dense(4) for _ in range(self.n)]
        self.ns = [nn.LayerNorm() for _ in range(self.n)]

    def __call__(self, x):
        for i in range(self.n):
            x = self.ls[i](x)
            if i > 0:
                x = self.ns[i](x)
        for n in self.ns:
            x = n(x)
        return x


class AllButTheLastAppended(nn.Module):
    n: int = 3

    def setup(self):
        ls, ns = [], []
        for i in range(self.n):
            ls.append(nn.Dense(4 + i))
            ns.append(nn.LayerNorm())
        self.ls = ls
        self.ns = ns

    def __call__(self, x):
        for i, (l, n) in enumerate(zip(self.ls, self.ns)):
            x = l(x)
            if i < self.n - 1:
                x = n(x)
        return x


CASES = [
    ("WidthDoubled", {}, [(2, 3)], {}),
    ("WidthDoubledBefore", {}, [(2, 3)], {}),
    ("UnderFlag", {}, [(2, 3)], {}),
    ("LoopThenFlag", {}, [(2, 3)], {}),
    ("Strided", {}, [(2, 8, 8, 3)], {}),
    ("Powers", {}, [(2, 3)], {}),
    ("Widths", {}, [(2, 3)], {}),
    ("Appended", {}, [(2, 3)], {}),
    ("Residual", {}, [(2, 3)], {}),
    ("UnderFlag", {"flag": False}, [(2, 3)], {}),
    ("LoopThenFlag", {"flag": False}, [(2, 3)], {}),
    ("Counted", {}, [(2, 4)], {}),
    ("OneLess", {}, [(2, 4)], {}),
    ("BothSides", {}, [(2, 4)], {}),
    ("EitherWay", {}, [(2, 4)], {}),
    ("AllButTheLast", {}, [(2, 4)], {}),
    ("AllButTheLastOfWidths", {}, [(2, 4)], {}),
    ("CalledElsewhereToo", {}, [(2, 4)], {}),
    ("AllButTheLastAppended", {}, [(2, 4)], {}),
]
