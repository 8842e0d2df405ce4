"""Parameters that start from what the call draws: the constructor draws for them, and all else is the call's own draw."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    n: int = 4
    learned: bool = True

    @nn.compact
    def __call__(self, x, train: bool = False):
"""
DRAW = "r = 5 + jax.random.uniform(self.make_rng('params'), (self.n,))"
BODIES = {
    "a_parameter": [DRAW, "b = self.param('b', lambda *_: r)", "return nn.Dense(self.n)(x) + b"],
    "of_a_chain": [
        "key = self.make_rng('params')",
        "one, two = jax.random.split(key)",
        "r = 5 + jax.random.uniform(one, (self.n,))",
        "s = jnp.log(r) + 2 * jax.random.uniform(two, (x.shape[-1],)).sum()",
        "b = self.param('b', lambda key, shape: r, (self.n,))",
        "c = self.param('c', lambda *_: jnp.exp(s))",
        "return nn.Dense(self.n)(x) * c + b",
    ],
    "a_layer": [DRAW, "return nn.Dense(self.n, bias_init=lambda *_: r)(x)"],
    "layers_of_a_loop": [
        DRAW,
        "for i in range(2):",
        "    x = nn.Dense(self.n, bias_init=lambda *_: r)(x)",
        "return x",
    ],
    "a_name_bound_again": [
        DRAW,
        "r = jnp.exp(r) + 1",
        "b = self.param('b', lambda *_: r)",
        "r, s = jnp.split(nn.Dense(2 * self.n)(x), 2, axis=-1)",
        "return r * s + b",
    ],
    "a_function": [
        DRAW,
        "",
        "def init(key, shape):",
        "    return r.reshape(shape)",
        "",
        "b = self.param('b', init, (self.n,))",
        "return nn.Dense(self.n)(x) + b",
    ],
    "under_a_field": [
        DRAW,
        "if self.learned:",
        "    x = x + self.param('b', lambda *_: r)",
        "return nn.Dense(self.n)(x)",
    ],
    "its_own_lambda": [
        "b = self.param('b', lambda *_: 5 + jax.random.uniform(self.make_rng('params'), (self.n,)))",
        "return nn.Dense(self.n)(x) + b",
    ],
    "a_variable": [DRAW, "b = self.variable('stats', 'b', lambda: r)", "return nn.Dense(self.n)(x) + b.value"],
    "a_name_of_the_constructor": [
        "n = 5 + jax.random.uniform(self.make_rng('params'), (self.n,))",
        "b = self.param('b', lambda *_: n)",
        "return nn.Dense(self.n)(x) + b",
    ],
    "another_stream": [
        "r = 5 + jax.random.uniform(self.make_rng('noise'), (self.n,))",
        "b = self.param('b', lambda *_: r)",
        "return nn.Dense(self.n)(x) + b",
    ],
    "a_condition_on_a_draw": [
        DRAW,
        "b = self.param('b', lambda *_: r)",
        "if r.sum() > 0:",
        "    x = nn.Dense(self.n)(x)",
        "return x + b",
    ],
}


def _text(lines: list[str]) -> str:
    return HEAD + "".join(f"        {line}\n" if line else "\n" for line in lines)


@pytest.mark.parametrize("kind", BODIES)
def test_parameters_start_from_what_the_constructor_draws(kind: str) -> None:
    before, after = both_sides(f"drawn_{kind}", _text(BODIES[kind]))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4)), jnp.float32)
    linen, keys = before.Net(), {"params": jax.random.key(0), "noise": jax.random.key(1)}
    variables = linen.init(keys, x)
    new = after.Net(in_features=4, rngs=nnx.Rngs(0, noise=1))
    made = compat.to_linen(new)
    assert jax.tree.map(jnp.shape, made["params"]) == jax.tree.map(jnp.shape, variables["params"])
    starts = [v for p, v in jax.tree.leaves_with_path(made) if "kernel" not in str(p) and v.ndim == 1 and v.any()]
    assert starts and all(((v >= 5) & (v < 800)).all() for v in starts)
    assert all(len(set(np.asarray(v).tolist())) > 1 for v in starts)
    compat.from_linen(variables, new)
    for call in (5, 6):  # Linen asks for the stream at each call, and what comes out does not depend on it
        said = linen.apply(variables, x, rngs={"params": jax.random.key(call), "noise": jax.random.key(call)})
        np.testing.assert_array_equal(said, new(x))


def test_related_parameters_start_from_one_draw() -> None:
    lines = [DRAW, "b = self.param('b', lambda *_: r)", "c = self.param('c', lambda *_: 2 * r)", "return b + c + x"]
    _, after = both_sides("drawn_together", _text(lines))
    new = after.Net(rngs=nnx.Rngs(3))
    np.testing.assert_array_equal(2 * new.b[...], new.c[...])
    assert (after.Net(rngs=nnx.Rngs(4)).b[...] != new.b[...]).all()


def test_the_call_draws_anew() -> None:
    text = _text([DRAW, "b = self.param('b', lambda *_: r)", "return Scaled(r)(x) + 0 * b + r - r"]) + (
        "\n\nclass Scaled(nn.Module):\n    scale: jax.Array\n\n    @nn.compact\n    def __call__(self, x):\n"
        "        return nn.Dense(4)(x) * self.scale\n"
    )
    before, after = both_sides("drawn_anew", text)
    x = jnp.ones((2, 4))
    new = after.Net(in_features=4, rngs=nnx.Rngs(0))
    first, second = new(x), new(x)
    assert (first != second).all()  # as in Linen, where each call is given a key
    linen = before.Net()
    variables = linen.init(jax.random.key(0), x)
    drawn = [linen.apply(variables, x, rngs={"params": jax.random.key(i)}) for i in range(2)]
    assert (drawn[0] != drawn[1]).all()


@pytest.mark.parametrize(
    "lines",
    [
        [f"{DRAW} + x.mean()"],
        [DRAW, "if self.learned:", "    r = 2 * r"],
        [DRAW, "for i in range(2):", "    r = r + i"],
        [DRAW, "r += 1"],
        [f"{DRAW} if train else jnp.ones((self.n,))"],
        [DRAW, "r = r * self.param('c', nn.initializers.ones, (self.n,))"],
    ],
)
def test_what_the_constructor_cannot_draw_stays_linen(lines: list[str]) -> None:
    text = _text([*lines, "b = self.param('b', lambda *_: r)", "return nn.Dense(self.n)(x) + b"])
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes
    assert str(net.outcome) == "bridged" and "`lambda *_: r`, known only when it is called" in net.reason


def test_a_draw_under_a_name_bound_again_is_the_calls_elsewhere() -> None:
    text = _text([DRAW, "r = jnp.exp(r)", "b = self.param('b', lambda *_: r)", "return Scaled(r)(x) + 0 * b"]) + (
        "\n\nclass Scaled(nn.Module):\n    scale: jax.Array\n\n    @nn.compact\n    def __call__(self, x):\n"
        "        return nn.Dense(4)(x) * self.scale\n"
    )
    _, after = both_sides("drawn_again", text)
    new = after.Net(in_features=4, rngs=nnx.Rngs(0))
    assert (new(jnp.ones((2, 4))) != new(jnp.ones((2, 4)))).all()


V = "v = self.param('v', nn.initializers.lecun_normal(), (x.shape[-1], self.n))"
OF_PARAMETERS = {
    "its_norm": [V, "g = self.param('g', lambda key: jnp.linalg.norm(v, axis=0))", "return x @ (g * v)"],
    "a_name_between": [
        V,
        "norm = jnp.linalg.norm(v, axis=0)",
        "g = self.param('g', lambda key, shape: norm.reshape(shape), (self.n,))",
        "return x @ (g * v / norm)",
    ],
    "bound_again": [
        V,
        "v = jnp.square(v)",
        "g = self.param('g', lambda key: jnp.sqrt(v.sum(0)))",
        "return x @ (g * v)",
    ],
    "of_a_loop": [
        V,
        "for i in range(2):",
        "    x = x @ v * self.param(f'g_{i}', lambda key: jnp.linalg.norm(v, axis=0))",
        "return x",
    ],
    "of_a_layer": [V, "return nn.Dense(self.n, bias_init=lambda *_: jnp.linalg.norm(v, axis=0))(x @ v)"],
    "under_a_field": [
        V,
        "if self.learned:",
        "    x = x * self.param('g', lambda key: jnp.linalg.norm(v, axis=0))",
        "return x @ v",
    ],
}


@pytest.mark.parametrize("kind", OF_PARAMETERS)
def test_parameters_start_from_those_before_them(kind: str) -> None:
    before, after = both_sides(f"started_{kind}", _text(OF_PARAMETERS[kind]))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4)), jnp.float32)
    linen, new = before.Net(), after.Net(in_features=4, rngs=nnx.Rngs(0))
    variables = linen.init(jax.random.key(0), x)
    for made in (variables["params"], compat.to_linen(new)["params"]):
        others = [leaf for path, leaf in jax.tree.leaves_with_path(made) if leaf.shape == (4,)]
        assert others
        for leaf in others:
            np.testing.assert_allclose(leaf, jnp.linalg.norm(made["v"], axis=0), rtol=1e-6)
    assert compat.check_equivalence(linen, variables, new, x)


@pytest.mark.parametrize(
    "lines",
    [
        [V, "y = x @ v", "g = self.param('g', lambda key: 1 / jnp.std(y, axis=0))", "return y * g"],
        [V, "if self.learned:", "    v = 2 * v", "g = self.param('g', lambda key: v[0])", "return x @ v * g"],
        [V, "v += 1", "g = self.param('g', lambda key: v[0])", "return x @ v * g"],
    ],
)
def test_parameters_that_start_from_the_input_stay(lines: list[str]) -> None:
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", _text(lines))]).classes
    assert (str(net.outcome), net.code) == ("bridged", "NNX111"), net.reason
