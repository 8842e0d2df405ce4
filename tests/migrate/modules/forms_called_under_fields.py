"""Modules that a compact method always makes, and calls under a condition of the fields: Linen makes variables when called."""

from flax import linen as nn


class Normalized(nn.Module):
    bn: bool = False

    @nn.compact
    def __call__(self, x, train=False):
        norm = nn.BatchNorm(use_running_average=not train)
        x = nn.Dense(4)(x)
        if self.bn:
            x = norm(x)
        return nn.Dense(2)(x)


class NormalizedInLoop(nn.Module):
    n: int = 2
    bn: bool = False

    @nn.compact
    def __call__(self, x):
        norm = nn.LayerNorm()
        for i in range(self.n):
            x = nn.Dense(4)(x)
            if self.bn:
                x = norm(x)
        return nn.Dense(2)(x)


class Projected(nn.Module):
    skip: bool = False

    @nn.compact
    def __call__(self, x):
        proj = nn.Dense(4, name="proj")
        y = nn.Dense(4)(x)
        return y + proj(x) if self.skip else y


class SharedOrNot(nn.Module):
    share: bool = False

    @nn.compact
    def __call__(self, x):
        cross = nn.Dense(4, name="cross")
        x = nn.Dense(4)(x)
        for i in range(2):
            if self.share:
                x = cross(x)
            else:
                x = nn.Dense(4, name=f"cross_{i}")(x)
        return x


class NeverAlone(nn.Module):
    """It is handed on, so that it has variables whatever the field says."""

    use: bool = False

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4)
        if self.use:
            x = layer(x)
        return nn.Sequential([nn.relu, layer])(x)


class UnderEither(nn.Module):
    use: bool = False

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4)
        return layer(x) if self.use else layer(2 * x)


class Returned(nn.Module):
    use: bool = False

    @nn.compact
    def __call__(self, x):
        norm = nn.LayerNorm()
        x = nn.Dense(3)(x)
        if not self.use:
            return x
        return norm(x)


CASES = [
    ("Normalized", {}, [(2, 4)], {}),
    ("Normalized", {"bn": True}, [(2, 4)], {}),
    ("NormalizedInLoop", {}, [(2, 4)], {}),
    ("NormalizedInLoop", {"bn": True}, [(2, 4)], {}),
    ("Projected", {}, [(2, 4)], {}),
    ("Projected", {"skip": True}, [(2, 4)], {}),
    ("SharedOrNot", {}, [(2, 4)], {}),
    ("SharedOrNot", {"share": True}, [(2, 4)], {}),
    ("NeverAlone", {}, [(2, 4)], {}),
    ("NeverAlone", {"use": True}, [(2, 4)], {}),
    ("UnderEither", {}, [(2, 4)], {}),
    ("UnderEither", {"use": True}, [(2, 4)], {}),
    ("Returned", {}, [(2, 4)], {}),
    ("Returned", {"use": True}, [(2, 4)], {}),
]
