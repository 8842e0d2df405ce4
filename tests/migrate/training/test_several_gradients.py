"""Gradients by several arguments: `jax.value_and_grad(loss, argnums=(0, 1))`, of two models or of a model and an input."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """import functools

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.tanh(nn.Dense(4, kernel_init=ones)(x))


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, z):
        return nn.Dense(3, kernel_init=ones)(z)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
encoder, decoder = Encoder(), Decoder()
first = encoder.init(jax.random.key(0), x)["params"]
second = decoder.init(jax.random.key(1), jnp.ones((1, 4)))["params"]
one = TrainState.create(apply_fn=encoder.apply, params=first, tx=optax.adam(0.1))
two = TrainState.create(apply_fn=decoder.apply, params=second, tx=optax.sgd(0.1))


def loss_of(first, second, x):
    out = two.apply_fn({"params": second}, one.apply_fn({"params": first}, x))
    return ((out - x) ** 2).mean()


def with_aux(first, second, x):
    loss = loss_of(first, second, x)
    return loss, 2 * loss


@jax.jit
def step(one, two, x):
STEP
    return one.apply_gradients(grads=a), two.apply_gradients(grads=b), loss


for _ in range(3):
    one, two, loss = step(one, two, x)
    print(loss)
"""
GIVEN = "(one.params, two.params, x)"
STEPS = {
    "value": ["loss, (a, b) = jax.value_and_grad(loss_of, argnums=(0, 1))GIVEN"],
    "by_position": ["loss, grads = jax.value_and_grad(loss_of, (0, 1))GIVEN", "a, b = grads"],
    "turned": ["loss, (b, a) = jax.value_and_grad(loss_of, argnums=[1, 0])GIVEN"],
    "grad": ["a, b = jax.grad(loss_of, argnums=(0, 1))GIVEN", "loss = loss_ofGIVEN"],
    "aux": ["(loss, _), (a, b) = jax.value_and_grad(with_aux, argnums=(0, 1), has_aux=True)GIVEN"],
    "named": ["grad_fn = jax.value_and_grad(loss_of, argnums=(0, 1))", "loss, (a, b) = grad_fnGIVEN"],
    "of_the_input": ["loss, (a, b, c) = jax.value_and_grad(loss_of, (0, 1, 2))GIVEN", "loss += jnp.abs(c).sum()"],
    "one_in_a_tuple": ["loss, (a,) = jax.value_and_grad(loss_of, (0,))GIVEN", "b = jax.grad(loss_of, 1)GIVEN"],
    "clipped": [
        "loss, grads = jax.value_and_grad(loss_of, (0, 1))GIVEN",
        "a, b = jax.tree.map(lambda g: jnp.clip(g, -0.1, 0.1), grads)",
    ],
    "normed": [
        "loss, grads = jax.value_and_grad(loss_of, (0, 1))GIVEN",
        "a, b = grads",
        "loss += optax.global_norm(grads)",
    ],
}


def _step(lines: list[str]) -> str:
    return HEAD.replace("STEP", "\n".join(f"    {line}" for line in lines).replace("GIVEN", GIVEN))


@pytest.mark.parametrize("name", STEPS)
def test_each_has_its_own(name: str) -> None:
    program = _step(STEPS[name])
    assert printing_sides.check(f"several_gradients_{name}", program, "functional")[0] == ["NNX602"]
    taken, _ = printing_sides.check(f"several_gradients_{name}_native", program, "nnx")
    assert taken == ["NNX602"]


def test_what_keeps_the_idiom_away() -> None:
    printing_sides.check_reason(_step(STEPS["value"]), "gradients by several arguments")


@pytest.mark.parametrize(
    ("stem", "lines"),
    [
        (
            "bound",
            [
                "loss, (b, _) = jax.value_and_grad(functools.partial(loss_of, one.params), argnums=(0, 1))(two.params, x)",
                "a = jax.grad(loss_of)GIVEN",
            ],
        ),
        ("computed", ["loss, (a, b) = jax.value_and_grad(loss_of, argnums=tuple(range(2)))GIVEN"]),
    ],
)
def test_arguments_that_are_not_spelled_out(stem: str, lines: list[str]) -> None:
    assert "NNX603" in printing_sides.check(f"several_gradients_{stem}", _step(lines), "functional")[0]
