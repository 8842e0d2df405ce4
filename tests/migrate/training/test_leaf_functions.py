"""Functions that are mapped over leaves, and that draw, count or remember: the order of leaves decides what they give."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

DEEP = f"""{NET}import functools
import operator

import numpy as np


class Deep(nn.Module):
    def setup(self):
        self.body = [nn.Dense(3, kernel_init=ones, bias_init=nn.initializers.constant(0.1 * i)) for i in range(12)]

    def __call__(self, x):
        for layer in self.body:
            x = jnp.tanh(layer(x))
        return x


deep = Deep()
state = TrainState.create(apply_fn=deep.apply, params=deep.init(jax.random.key(0), x)["params"], tx=optax.sgd(0.1))
"""
OUT = """print(deep.apply({"params": new}, x).sum())
"""
BY_ORDER = {
    "next": f"count = iter(range(99))\nnew = jax.tree.map(lambda p: p * (1 + 0.1 * next(count)), state.params)\n{OUT}",
    "generator": "rng = np.random.default_rng(0)\n"
    f"new = jax.tree.map(lambda p: p + 0.1 * rng.standard_normal(p.shape), state.params)\n{OUT}",
    "numpy": f"np.random.seed(0)\nnew = jax.tree.map(lambda p: p + 0.1 * np.random.rand(*p.shape), state.params)\n{OUT}",
    "a_function": "rng = np.random.RandomState(0)\n\n\ndef jitter(p):\n    return p + 0.1 * rng.randn(*p.shape)\n\n\n"
    f"new = jax.tree.map(jitter, state.params)\n{OUT}",
    "through_another": "rng = np.random.RandomState(0)\n\n\ndef noise(shape):\n    return rng.randn(*shape)\n\n\n"
    f"new = jax.tree.map(lambda p: p + 0.1 * noise(p.shape), state.params)\n{OUT}",
    "nonlocal": "def scaled(params):\n    n = 0\n\n    def one(p):\n        nonlocal n\n        n += 1\n"
    "        return p * (1 + 0.1 * n)\n\n    return jax.tree.map(one, params)\n\n\n"
    f"new = scaled(state.params)\n{OUT}",
    "a_list": "seen = []\n"
    f"new = jax.tree.map(lambda p: (seen.append(p), p * (1 + 0.1 * len(seen)))[1], state.params)\n{OUT}",
    "an_object": "class Keys:\n    def __init__(self):\n        self.key = jax.random.key(0)\n\n    def __call__(self):\n"
    "        self.key, key = jax.random.split(self.key)\n        return key\n\n\ndraw = Keys()\n"
    f"new = jax.tree.map(lambda p: p + 0.1 * jax.random.normal(draw(), p.shape), state.params)\n{OUT}",
    "gradients": """rng = np.random.default_rng(0)
for _ in range(3):
    loss, grads = jax.value_and_grad(lambda p: (state.apply_fn({"params": p}, x) ** 2).mean())(state.params)
    grads = jax.tree.map(lambda g: g + rng.standard_normal(g.shape), grads)
    state = state.apply_gradients(grads=grads)
    print(loss)
""",
    "reduced": "print(jax.tree.reduce(lambda a, b: a * 0.5 + b.sum(), state.params, 0.0))\n",
    "reduced_by_a_function": "def fold(total, leaf):\n    return leaf.sum() - total\n\n\n"
    "print(jax.tree.reduce(fold, state.params, 0.0))\n",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", BY_ORDER)
def test_they_are_given_leaves_in_linen_s_order(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"leaf_functions_{name}_{jit}", DEEP + BY_ORDER[name], jit)
    assert "NNX603" in taken and not {"NNX601", "NNX602"} & set(taken)


ANY_ORDER = {
    "library": f"new = jax.tree.map(jnp.ones_like, state.params)\n{OUT}",
    "a_key": "key = jax.random.key(1)\n"
    f"new = jax.tree.map(lambda p: p + 0.1 * jax.random.normal(key, p.shape), state.params)\n{OUT}",
    "a_free_array": f"w = jnp.ones(3)\nnew = jax.tree.map(lambda p: p * w.mean(), state.params)\n{OUT}",
    "a_list_of_its_own": "def f(p):\n    parts = []\n    parts.append(p)\n    return next(iter(parts)) * 2\n\n\n"
    f"new = jax.tree.map(f, state.params)\n{OUT}",
    "partial": "def clip(p, low):\n    q = jnp.clip(p, low, 0.2)\n    return q.copy()\n\n\n"
    f"new = jax.tree.map(functools.partial(clip, low=-0.1), state.params)\n{OUT}",
    "an_object": "class Scale:\n    by = 0.5\n\n    def __call__(self, p):\n        return p * self.by\n\n\n"
    f"new = jax.tree.map(Scale(), state.params)\n{OUT}",
    "reduced": "print(jax.tree.reduce(lambda a, b: a + b.sum(), state.params, 0.0))\n"
    "print(jax.tree.reduce(operator.add, jax.tree.map(jnp.sum, state.params)))\n",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", ANY_ORDER)
def test_others_are_followed(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"leaf_functions_{name}_{jit}", DEEP + ANY_ORDER[name], jit)
    assert {"NNX601", "NNX602"} & set(taken)
