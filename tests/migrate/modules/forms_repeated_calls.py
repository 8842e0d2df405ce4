"""Compact methods that several methods call, or one method several times: what they make is made once."""

import flax.linen as nn


class Flow(nn.Module):
    """Two ways through one compact method, with layers, a loop and a parameter."""

    width: int = 4
    depth: int = 2

    @nn.compact
    def net(self, x, train=False):
        scale = self.param("scale", nn.initializers.normal(), (x.shape[-1],))
        y = nn.Dense(8)(x * scale)
        for i in range(self.depth):
            y = nn.relu(nn.Dense(8, name=f"hidden_{i}")(y))
        y = nn.Dropout(0.5)(y, deterministic=not train)
        return nn.Dense(self.width)(y)

    def forward(self, x):
        return x + self.net(x)

    def inverse(self, y, train=False):
        return y - self.net(y, train=train)

    def __call__(self, x):
        return self.forward(x)


class Counted(nn.Module):
    """Automatic names in a loop."""

    depth: int = 2

    @nn.compact
    def net(self, x):
        for _ in range(self.depth):
            x = nn.relu(nn.Dense(4)(x))
        return x

    def inverse(self, y):
        return y - self.net(y)

    def __call__(self, x):
        return self.net(x)


class Twice(nn.Module):
    """Called twice in one call of the model: Linen has one `Dense_0`."""

    width: int = 4
    third: bool = True

    @nn.compact
    def net(self, x):
        x = nn.LayerNorm()(x)
        return nn.Dense(self.width)(x)

    @nn.compact
    def head(self, x):
        return nn.Dense(3, name="out")(x)

    def __call__(self, x):
        x = self.net(nn.relu(self.net(x)))
        if self.third:
            x = self.net(x)
        return self.head(x)


class Dropped(nn.Module):
    """A method within a compact one, whose Dropout serves for all its calls."""

    width: int = 4
    rate: float = 0.5

    def block(self, x, i, train):
        x = nn.Dense(self.width, name=f"fc{i}")(x)
        return nn.Dropout(self.rate)(nn.relu(x), deterministic=not train)

    @nn.compact
    def __call__(self, x, train=False):
        x = self.block(x, 1, train)
        x = nn.Dropout(self.rate)(x, deterministic=not train)
        return self.block(x, 2, train)


CASES = [
    ("Flow", {}, [(2, 4)], {}),
    ("Counted", {}, [(2, 4)], {}),
    ("Twice", {}, [(2, 4)], {}),
    ("Twice", {"third": False}, [(2, 4)], {}),
    ("Dropped", {}, [(2, 5)], {}),
]
