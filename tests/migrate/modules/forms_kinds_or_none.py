"""A module of one of several kinds, or None, by a field: an attribute of setup, a name, or what a function makes for setup."""

import flax.linen as nn

class Biased(nn.Module):
    width: int
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)

class Scaled(nn.Module):
    width: int
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, use_bias=False)(x) * self.param("scale", nn.initializers.ones, (1,))

def positions(kind, width):
    if kind == "biased":
        made = Biased(width=width)
    elif kind == "scaled":
        made = Scaled(width=width)
    elif kind is None:
        made = None
    else:
        raise ValueError(kind)
    return made

class MadeByFunction(nn.Module):
    kind: str | None = None
    width: int = 2
    def setup(self):
        self.rel = positions(self.kind, self.width)
        self.out = nn.Dense(4)
    def __call__(self, x):
        if self.rel is not None:
            x = self.rel(x)
        return self.out(x)

class NoneFirst(nn.Module):
    kind: str | None = None
    width: int = 2
    def setup(self):
        if self.kind is None:
            made = None
        elif self.kind == "dense":
            made = nn.Dense(self.width)
        else:
            made = nn.LayerNorm()
        self.rel = made
        self.out = nn.Dense(4)
    def __call__(self, x):
        if self.rel is None:
            return self.out(x)
        return self.out(self.rel(x))

class NoneBetween(nn.Module):
    kind: str | None = None
    width: int = 2
    @nn.compact
    def __call__(self, x):
        if self.kind == "dense":
            made = nn.Dense(self.width)
        elif self.kind is None:
            made = None
        else:
            made = nn.LayerNorm()
        if made is not None:
            x = made(x)
        return nn.Dense(4)(x)

class NoneLast(nn.Module):
    kind: str | None = None
    width: int = 2
    def setup(self):
        if self.kind == "dense":
            self.rel = nn.Dense(self.width)
        elif self.kind == "norm":
            self.rel = nn.LayerNorm()
        elif self.kind == "wide":
            self.rel = nn.Dense(2 * self.width)
        else:
            self.rel = None
        self.out = nn.Dense(4)
    def __call__(self, x):
        if self.rel:
            x = self.rel(x)
        return self.out(x)

class Nested(nn.Module):
    used: bool = True
    kind: str | None = None
    def setup(self):
        rel = None
        if self.used:
            if self.kind == "dense":
                rel = nn.Dense(2)
            elif self.kind == "norm":
                rel = nn.LayerNorm()
        self.rel = rel
        self.out = nn.Dense(4)
    def __call__(self, x):
        if self.rel is not None:
            x = self.rel(x)
        return self.out(x)

class ParameterOrLayer(nn.Module):
    shared: bool = True
    def setup(self):
        if self.shared:
            self.scale = self.param("scale", nn.initializers.ones, (4,))
        else:
            self.scale = nn.Dense(4, name="each")
    def __call__(self, x):
        return x + self.scale if self.shared else self.scale(x)

class Always(nn.Module):
    kind: str = "dense"
    def setup(self):
        if self.kind == "dense":
            self.rel = nn.Dense(2)
        else:
            self.rel = nn.LayerNorm()
        self.out = nn.Dense(4)
    def __call__(self, x):
        if self.rel is not None:
            x = self.rel(x)
        return self.out(x)

CASES = [
    ("Nested", {"used": False, "kind": "dense"}, [(2, 3)], {}),
    ("MadeByFunction", {"kind": "scaled"}, [(2, 3)], {}), ("NoneFirst", {"kind": "norm"}, [(2, 3)], {}),
    ("NoneBetween", {}, [(2, 3)], {}), ("NoneLast", {"kind": "wide"}, [(2, 3)], {}),
    ("MadeByFunction", {}, [(2, 3)], {}), ("NoneFirst", {}, [(2, 3)], {}), ("NoneBetween", {"kind": "dense"}, [(2, 3)], {}),
    ("NoneBetween", {"kind": "norm"}, [(2, 3)], {}), ("NoneFirst", {"kind": "dense"}, [(2, 3)], {}),
    ("NoneLast", {}, [(2, 3)], {}), ("NoneLast", {"kind": "norm"}, [(2, 3)], {}), ("Always", {}, [(2, 3)], {}),
    ("Always", {"kind": "norm"}, [(2, 3)], {}), ("MadeByFunction", {"kind": "biased"}, [(2, 3)], {}),
    ("Nested", {"kind": "dense"}, [(2, 3)], {}), ("Nested", {}, [(2, 3)], {}), ("Nested", {"kind": "norm"}, [(2, 3)], {}),
    ("ParameterOrLayer", {}, [(2, 4)], {}), ("ParameterOrLayer", {"shared": False}, [(2, 4)], {}),
]
