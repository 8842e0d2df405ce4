"""Tuples with trees of a model in split state: replicated, added up, carried by a scan; and keys that may be none."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET, STEP

START = f"""import functools
from flax import jax_utils
{NET}params = net.init(jax.random.key(0), x)["params"]
tx = optax.sgd(0.1, momentum=0.9)
opt_state = tx.init(params)


def loss_fn(params, x):
    out = net.apply({{"params": params}}, x)
    return ((out - 1) ** 2).mean(), {{"most": out.max()}}


"""
REPLICATED = (
    START
    + """params, opt_state = jax_utils.replicate((params, opt_state))


@functools.partial(jax.pmap, axis_name="i")
def step(params, opt_state, x):
    (loss, more), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x)
    grads, loss = jax.lax.pmean((grads, loss), "i")
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


n = jax.local_device_count()
for _ in range(3):
    params, opt_state, loss = step(params, opt_state, jnp.stack([x] * n))
    print(float(loss[0]))
print(float(sum(leaf.sum() for leaf in jax.tree.leaves((params, opt_state)))) / n)
"""
)
ACCUMULATED = (
    START
    + """@jax.jit
def step(params, opt_state, x):
    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)

    def part(i):
        (_, more), grads = grad_fn(params, jax.lax.dynamic_slice_in_dim(x, i * 2, 2))
        return grads, more

    def body(carry, i):
        grads, more = part(i)
        carry = jax.tree.map(jnp.add, carry, (grads, more))
        return carry, None

    shapes, more_shapes = jax.eval_shape(part, 0)
    zeros = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    none = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), more_shapes)
    (grads, more), _ = jax.lax.scan(body, init=(zeros, none), xs=jnp.arange(2), length=2)
    grads = jax.tree.map(lambda g: g / 2, grads)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, more


for _ in range(3):
    params, opt_state, more = step(params, opt_state, x)
    print(float(more["most"]), float(optax.global_norm(params)))
"""
)
SHAPES = f"""{STEP}_, shape = jax.eval_shape(step, state, x)
total = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shape)
print(f"a loss of {{shape.shape}} and {{sum(p.size for p in jax.tree.leaves(jax.eval_shape(step, state, x)[0].params))}}")
for _ in range(3):
    state, loss = step(state, x)
    total += loss
print(float(total))
"""
DRAWN = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(4, kernel_init=nn.initializers.constant(0.3))(x)
        return nn.Dropout(1.0, deterministic=not train)(x)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
params = net.init(jax.random.key(0), x, train=False)
tx = optax.sgd(0.1)


def make_loss(train):
    def loss_fn(params, key):
        RNGS
        return ((net.apply(params, x, train=train, rngs=GIVEN) - 1) ** 2).mean()
    return loss_fn


@jax.jit
def step(params, opt_state, key):
    loss, grads = jax.value_and_grad(make_loss(True))(params, key)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, make_loss(False)(params, key)


opt_state = tx.init(params)
first = params
for i in range(2):
    params, opt_state, loss, other = step(params, opt_state, jax.random.key(i))
    print(float(loss), float(other), float(make_loss(False)(first, jax.random.key(9))))
"""
SPLIT, KEPT = ["NNX602"], ["NNX603"]
PROGRAMS = {
    "replicated together": (REPLICATED, SPLIT),
    "taken back together": (
        REPLICATED.replace(
            "print(float(sum(", "params, opt_state = jax_utils.unreplicate((params, opt_state))\nprint(float(sum("
        ),
        SPLIT,
    ),
    "added up by a scan": (ACCUMULATED, SPLIT),
    "added up by a scan that begins in its place": (ACCUMULATED.replace("init=(zeros", "(zeros"), SPLIT),
    "added to a dictionary": (
        ACCUMULATED.replace("(grads, more))", "({name: dict(layer) for name, layer in grads.items()}, more))"),
        KEPT,
    ),
    "with leaves of another kind": (
        ACCUMULATED.replace("jnp.add, carry, (grads, more))", "jnp.add, carry, (grads, more), is_leaf=lambda a: a is None)"),
        KEPT,
    ),
    "shapes of what a step gives": (SHAPES, SPLIT),
    "keys or none": (
        DRAWN.replace("RNGS", 'rngs = {"dropout": key} if train else None').replace("GIVEN", "rngs"),
        SPLIT,
    ),
    "keys or none at the call": (
        DRAWN.replace("RNGS", "").replace("GIVEN", '{"dropout": key} if train else {}'),
        SPLIT,
    ),
    "keys of another stream or none": (
        DRAWN.replace("RNGS", "").replace("GIVEN", '{"dropout": key} if train else {"noise": key}'),
        KEPT,
    ),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bundles(name: str, jit: str) -> None:
    text, forms = PROGRAMS[name]
    assert printing_sides.check("bundles", text, jit)[0] == forms
