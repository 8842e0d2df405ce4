"""Random streams of stacked layers in split state: each layer draws its own numbers from the key of a call, as in Linen."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state

ones = nn.initializers.constant(0.3)


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        noise = jax.random.normal(self.make_rng("dropout"), ()) if train else jnp.zeros(())
        x = nn.Dropout(0.0)(x + 0.0 * noise, deterministic=not train)
        return nn.Dense(3, kernel_init=ones)(x), noise


"""
SCANNED = """class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        stack = nn.scan(
            Layer, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, in_axes=nn.broadcast, length=3
        )
        return stack()(x, train)


"""
REMATERIALIZED = SCANNED.replace("            Layer,", "            nn.remat(Layer, static_argnums=(2,)),")
MAPPED = """class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        heads = nn.vmap(
            Layer,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=(None, None),
            axis_size=3,
        )
        x, noise = heads()(x, train)
        return x.mean(0), noise


"""
NESTED = """class Group(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        stack = nn.scan(
            Layer, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, in_axes=nn.broadcast, length=2
        )
        return stack()(x, train)


""" + SCANNED.replace("            Layer,", "            Group,")
TRAIN = """x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
key = jax.random.key(0)
net = Net()
params = net.init({"params": key, "dropout": key}, x, True)["params"]
state = first = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))


@jax.jit
def step(state, x, key):
    def loss_fn(params):
        out, noise = state.apply_fn({"params": params}, x, True, rngs={"dropout": key})
        return ((out - 1) ** 2).mean(), noise
    (loss, noise), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), loss, noise


drawn = []
for i in (0, 1, 1):
    state, loss, noise = step(state, x, jax.random.key(i))
    drawn.append(noise.ravel())
    print(loss, noise.shape)
print(len(jnp.unique(jnp.stack(drawn))), bool((drawn[1] == drawn[2]).all()))
print(first.apply_fn({"params": first.params}, x, False)[0].sum())
"""
SPLIT, KEPT = ["NNX602"], ["NNX603"]
PROGRAMS = {
    "scanned": (SCANNED, SPLIT),
    "scanned and rematerialized": (REMATERIALIZED, SPLIT),
    "mapped": (MAPPED, SPLIT),
    "stacks of stacks": (NESTED, SPLIT),
    "one stream for all": (MAPPED.replace('"dropout": True', '"dropout": False'), KEPT),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_stacked_streams(name: str, jit: str) -> None:
    text, forms = PROGRAMS[name]
    taken, _ = printing_sides.check(f"stacked_{list(PROGRAMS).index(name)}_{jit}", HEAD + text + TRAIN, jit)
    assert taken == forms


BESIDE = """class Odd(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(getattr(self, "wi" + "dth"), kernel_init=ones)(x)


class Holder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=ones)(Odd()(x))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=ones)(x)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = {made}()
state = train_state.TrainState.create(
    apply_fn=net.apply, params=net.init(jax.random.key(0), x)["params"], tx=optax.adam(0.1)
)


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda params: (state.apply_fn({{"params": params}}, x) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(state, x)
    print(loss)
held = Holder()
print(held.apply(held.init(jax.random.key(1), x), x).sum())
"""


@pytest.mark.parametrize(("made", "form"), [("Net", "NNX602"), ("Holder", "NNX603")])
def test_a_module_that_stays_linen_keeps_only_the_models_with_it(made: str, form: str) -> None:
    taken, after = printing_sides.check(f"beside_{made.lower()}", HEAD + BESIDE.format(made=made), "functional")
    assert form in taken and "Bridged(" in after
    assert made == "Net" or "NNX602" not in taken
