"""One of several functions, each of which makes other layers for the class that calls it: what is called is said by
conditions, also where a function picks it."""

import jax.numpy as jnp
from flax import linen as nn


def plain(x, n=4):
    return nn.Dense(n)(x)


def normed(x, n=4):
    return nn.LayerNorm()(nn.Dense(n)(x))


def maker(kind, act):
    def inner(x, n):
        return act(nn.Dense(n)(x))

    def narrow(x, n):
        return inner(x, n)

    def wide(x, n):
        y = inner(x, 2 * n)
        return nn.LayerNorm()(y)

    return wide if kind else narrow


def pick(kind):
    if kind == "plain":
        return plain
    elif kind == "normed":
        return normed
    raise ValueError(kind)


def dense(n):
    return nn.Dense(n)


def mlp(n):
    return nn.Sequential([nn.Dense(2 * n), jnp.tanh, nn.Dense(n)])


TORSOS = {"plain": plain, "normed": normed}
MAKERS = {"dense": dense, "mlp": mlp}
LAMBDAS = {"biased": lambda n: nn.Dense(n), "plain": lambda n: nn.Dense(n, use_bias=False)}


class ByAMaker(nn.Module):
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        block = maker(self.wide, nn.relu)
        x = block(x, n=8)
        y = block(x, 3)
        return nn.Dense(2)(y) + block(x, 2)[..., :2]


class TwoMakers(nn.Module):
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        block = maker(self.wide, nn.relu)
        other = maker(True, jnp.tanh)
        return other(block(x, 3), 2)


class Picked(nn.Module):
    kind: str = "plain"

    @nn.compact
    def __call__(self, x):
        block = pick(self.kind)
        return block(block(x), 3)


class ByBranches(nn.Module):
    kind: str = "plain"

    @nn.compact
    def __call__(self, x, flip=False):
        if self.kind == "plain":
            f = plain
        elif self.kind == "normed":
            f = normed
        else:
            raise ValueError(self.kind)
        x = jnp.flip(x) if flip else x
        return f(x, 3)


class ByAnExpression(nn.Module):
    wide: bool = True

    @nn.compact
    def __call__(self, x):
        x = (plain if self.wide else normed)(x)
        f = plain if self.wide else (lambda y: nn.Dense(3, use_bias=False)(y))
        return nn.relu(f(x))


class ByATable(nn.Module):
    kind: str = "plain"

    @nn.compact
    def __call__(self, x):
        x = TORSOS[self.kind](x)
        torso = TORSOS[self.kind]
        return torso(x, n=3)


class ByATableOfTheMethod(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        def other(x):
            return nn.Dense(2)(nn.LayerNorm()(x))

        blocks = {"a": plain, "b": other, "c": lambda x: nn.Dense(5)(x)}
        return blocks[self.kind](x)


class MadeInSetup(nn.Module):
    kind: str = "mlp"
    wide: bool = False

    def setup(self):
        make = mlp if self.wide else dense
        self.first = make(3)
        self.net = MAKERS[self.kind](4)

    def __call__(self, x):
        return self.net(self.first(x))


class ByAMethod(nn.Module):
    """One of the methods is handed out by another; they make what they make under its condition."""

    kind: str = "a"
    bias: str = "biased"

    def pick(self):
        if self.kind == "a":
            return self._a
        return self._b

    def _b(self, x):
        return x * 2

    def _a(self, x):
        return x * self.param("w", nn.initializers.ones, (1,))

    @nn.compact
    def __call__(self, x):
        return LAMBDAS[self.bias](4)(self.pick()(nn.Dense(3)(x)))


class ByATableWithADefault(nn.Module):
    kind: str = "plain"

    def _a(self, x):
        return nn.Dense(6)(x)

    @nn.compact
    def __call__(self, x):
        x = {"plain": self._a, "normed": plain}[self.kind](x)
        x = TORSOS.get(self.kind, normed)(x)
        f = TORSOS.get(self.kind)
        return f(x, 3)


class ByATableInALoop(nn.Module):
    kinds: tuple[str, ...] = ("plain", "normed", "plain")

    @nn.compact
    def __call__(self, x):
        for kind in self.kinds:
            x = TORSOS[kind](x)
        return x


class OneOfATableMakesNothing(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x):
        x = {"a": lambda v: nn.Dense(5)(v), "b": lambda v: v}[self.kind](x)
        return nn.Dense(2)(x)


def lookup(kind):
    if kind not in TORSOS:
        raise ValueError(f"there is no {kind}")
    return TORSOS[kind]


class LookedUp(nn.Module):
    kind: str = "plain"

    @nn.compact
    def __call__(self, x):
        return lookup(self.kind)(x)


CASES = [
    ("LookedUp", {}, [(2, 3)], {}),
    ("LookedUp", {"kind": "normed"}, [(2, 3)], {}),
    ("OneOfATableMakesNothing", {}, [(2, 3)], {}),
    ("OneOfATableMakesNothing", {"kind": "b"}, [(2, 3)], {}),
    ("ByATableWithADefault", {}, [(2, 3)], {}),
    ("ByATableWithADefault", {"kind": "normed"}, [(2, 3)], {}),
    ("ByATableInALoop", {}, [(2, 3)], {}),
    ("ByAMethod", {}, [(2, 3)], {}),
    ("ByAMethod", {"kind": "b", "bias": "plain"}, [(2, 3)], {}),
    ("ByAMaker", {}, [(2, 3)], {}),
    ("ByATable", {"kind": "normed"}, [(2, 3)], {}),
    ("MadeInSetup", {}, [(2, 3)], {}),
    ("ByAMaker", {"wide": False}, [(2, 3)], {}),
    ("TwoMakers", {}, [(2, 3)], {}),
    ("TwoMakers", {"wide": False}, [(2, 3)], {}),
    ("Picked", {}, [(2, 3)], {}),
    ("Picked", {"kind": "normed"}, [(2, 3)], {}),
    ("ByBranches", {}, [(2, 3)], {}),
    ("ByBranches", {"kind": "normed"}, [(2, 3)], {"flip": True}),
    ("ByAnExpression", {}, [(2, 3)], {}),
    ("ByAnExpression", {"wide": False}, [(2, 3)], {}),
    ("ByATable", {}, [(2, 3)], {}),
    ("ByATableOfTheMethod", {}, [(2, 3)], {}),
    ("ByATableOfTheMethod", {"kind": "b"}, [(2, 3)], {}),
    ("ByATableOfTheMethod", {"kind": "c"}, [(2, 3)], {}),
    ("MadeInSetup", {"kind": "dense", "wide": True}, [(2, 3)], {}),
]
