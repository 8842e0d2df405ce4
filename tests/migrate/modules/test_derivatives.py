"""Derivatives and maps of JAX's in modules: `jax.vmap(jax.grad(net))(x)`, `jax.vjp(f, x)`: energies, scores, PINNs."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

NETS = """from flax import linen as nn
import functools
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(8)(x))
        return nn.Dense(1)(x)[..., 0]


class Jacobian(nn.Module):
    def setup(self):
        self.net = nn.Dense(1)

    def __call__(self, x):
        return jax.vmap(jax.jacfwd(self.net))(x)


class ValueAndGrad(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()
        _, grads = jax.value_and_grad(lambda p: net(p).sum(), has_aux=False)(x)
        return nn.Dense(3)(grads)


class WithAux(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()

        def energy(p):
            e = net(p)
            return e.sum(), e

        (total, e), grads = jax.value_and_grad(energy, has_aux=True)(x)
        return nn.Dense(3)(grads) + e[:, None] + total


class Decorated(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()

        @jax.vmap
        def f(p):
            return net(p)

        @functools.partial(jax.vmap, in_axes=(0, None))
        def g(p, q):
            return net(p + q.mean())

        return f(x) + g(x, x)


class ByTwo(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        net = Net()
        f = lambda p, q: net(jnp.concatenate([p, q], -1)).sum()
        gx, gy = jax.grad(f, argnums=(0, 1))(x, y)
        return nn.Dense(2)(gx) + gy.sum()


class Linearized(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()
        y, tangent = jax.jvp(net, (x,), (jnp.ones_like(x),))
        z, pull = jax.vjp(lambda p: net(p), x)
        (g,) = pull(jnp.ones_like(z))
        w, lin = jax.linearize(lambda p: net(p), x)
        return nn.Dense(2)(g) + (y + tangent + w + lin(x))[:, None]


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()
        h = jax.vmap(jax.hessian(lambda p: net(p)))(x)
        j = jax.vmap(jax.jacfwd(jax.jacrev(lambda p: net(p))))(x)
        return jnp.trace(h + j, axis1=-2, axis2=-1)


class Compiled(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()
        step = jax.jit(jax.vmap(jax.grad(lambda p: net(p))))
        return x - 0.1 * step(x)


class InFunctions(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = Net()
        return jax.vmap(lambda p: jax.grad(net)(p))(x) + jax.vmap(jax.vmap(lambda p: p * 2))(x)


class Sequence(nn.Module):
    @nn.compact
    def __call__(self, x):
        net = nn.Sequential([nn.Dense(4), nn.tanh, nn.Dense(1)])
        return jax.vmap(jax.grad(lambda p: net(p)[0]))(x)


class AlongAnother(nn.Module):
    @nn.compact
    def __call__(self, x):
        f = nn.Dense(1)
        return jax.vmap(jax.grad(lambda p: f(p)[0]), in_axes=1, out_axes=1)(x.T)
"""


@pytest.mark.parametrize(
    "name",
    [
        "AlongAnother",
        "Compiled",
        "Decorated",
        "InFunctions",
        "Jacobian",
        "Linearized",
        "Sequence",
        "Twice",
        "ValueAndGrad",
        "WithAux",
    ],
)
def test_what_they_call_has_the_sizes_of_what_they_are_given(name: str) -> None:
    before, after = both_sides("derivatives", NETS)
    x = jax.random.normal(jax.random.key(0), (3, 4))
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(1), x)
    sizes = {"in_shape": x.shape} if name == "AlongAnother" else {"in_features": 4}
    assert compat.check_equivalence(linen, variables, getattr(after, name)(**sizes, rngs=nnx.Rngs(0)), x)


def test_by_two_arguments() -> None:
    before, after = both_sides("derivatives", NETS)
    xs = jax.random.normal(jax.random.key(0), (3, 4)), jax.random.normal(jax.random.key(1), (3, 2))
    variables = before.ByTwo().init(jax.random.key(1), *xs)
    new = after.ByTwo(in_features=4, y_features=2, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.ByTwo(), variables, new, *xs)


DRAWN = """from flax import linen as nn
import functools
import jax
import jax.numpy as jnp


class Drop(nn.Module):
    rate: float = 0.0

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.tanh(nn.Dense(8)(x))
        x = nn.Dropout(self.rate, deterministic=not train)(x)
        return nn.Dense(1)(x)[..., 0]


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x))
        return nn.Dense(1)(x)[..., 0]


"""

REFUSED = {
    "a dropout as it is": "    def setup(self):\n        self.net = Drop()\n\n    def __call__(self, x):\n"
    "        return jax.vmap(jax.grad(self.net))(x)",
    "statistics": "    def setup(self):\n        self.net = Normed()\n\n    def __call__(self, x):\n"
    "        return jax.jacfwd(self.net)(x)",
    "a dropout in a function": "    @nn.compact\n    def __call__(self, x):\n        net = Drop(0.5)\n"
    "        return jax.grad(lambda p: net(p, train=True).sum())(x)",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_more_than_compute_stays_linen(body: str) -> None:
    text = f"{DRAWN.rstrip()}\n\n\nclass Net(nn.Module):\n{body}\n"
    (net,) = [c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes if c.qualname == "m.Net"]
    assert (str(net.outcome), net.code) == ("bridged", "NNX134")
