"""One function that makes the states of several models: what their calls name their inputs makes no difference."""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Generator(nn.Module):
    @nn.compact
    def __call__(self, z):
        return nn.Dense(3, kernel_init=ones)(jnp.tanh(nn.Dense(4, kernel_init=ones)(z)))


class Critic(nn.Module):
    @nn.compact
    def __call__(self, CALL):
        return nn.Dense(1, kernel_init=ones)(jnp.tanh(nn.Dense(6, kernel_init=ones)(SIZED)))


def create(model, key, shape):
    return TrainState.create(apply_fn=model.apply, params=model.init(GIVEN)["params"], tx=optax.adam(0.1))


generator = create(Generator(), jax.random.key(0), (1, 2))
critic = create(Critic(), jax.random.key(1), (1, 3))
real = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
z = jnp.cos(jnp.arange(8.0)).reshape(4, 2)


@jax.jit
def step(generator, critic, z, real):
    def critic_loss(params):
        fake = generator.apply_fn({"params": generator.params}, z)
        return (critic.apply_fn({"params": params}, fake) - critic.apply_fn({"params": params}, real)).mean()

    def generator_loss(params):
        return -critic.apply_fn({"params": critic.params}, generator.apply_fn({"params": params}, z)).mean()

    loss, grads = jax.value_and_grad(critic_loss)(critic.params)
    critic = critic.apply_gradients(grads=grads)
    other, grads = jax.value_and_grad(generator_loss)(generator.params)
    return generator.apply_gradients(grads=grads), critic, loss, other


for _ in range(3):
    generator, critic, loss, other = step(generator, critic, z, real)
    print(loss, other)
"""


def _text(call: str, sized: str, given: str) -> str:
    return PROGRAM.replace("CALL", call).replace("SIZED", sized).replace("GIVEN", given)


@pytest.mark.parametrize(
    ("stem", "call", "sized"),
    [("another_name", "x", "x"), ("one_name", "z", "z")],
)
def test_inputs_in_the_same_place(stem: str, call: str, sized: str) -> None:
    taken, after = printing_sides.check(f"one_maker_{stem}", _text(call, sized, "key, jnp.ones(shape)"), "functional")
    assert taken == ["NNX602"] and "in_features=jnp.ones(shape).shape[-1]" in after


@pytest.mark.parametrize(
    ("stem", "call", "sized", "given"),
    [
        ("more_by_default", "x, scale=1.0", "x * scale", "key, jnp.ones(shape)"),
        ("another_place", "x, y=None", "jnp.concatenate([x, x], -1) if y is None else y", "key, jnp.ones(shape)"),
        ("another_size", "x", "x.reshape(x.shape[0], -1, 1)[..., 0]", "key, jnp.ones(shape)"),
    ],
)
def test_sizes_of_another_kind(stem: str, call: str, sized: str, given: str) -> None:
    assert printing_sides.check(f"one_maker_{stem}", _text(call, sized, given), "functional")[0] == ["NNX603"]


def test_inputs_that_are_named() -> None:
    program = _text("z", "z", "key, z=jnp.ones(shape)")
    assert printing_sides.check("one_maker_named", program, "functional")[0] == ["NNX602"]
