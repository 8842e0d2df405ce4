"""Fields of a model that are read outside of it, where split state has its class and arguments under the name."""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Actor(nn.Module):
    width: int
    scale: jnp.ndarray
    sizes: tuple = ()

    def label(self):
        return f"width {self.width}"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, kernel_init=ones)(jnp.tanh(nn.Dense(self.width, kernel_init=ones)(x))) * self.scale


def main(x, actor):
    state = TrainState.create(apply_fn=actor.apply, params=actor.init(jax.random.key(0), x)["params"], tx=optax.adam(0.1))
    first = state

    @jax.jit
    def step(state, x):
        loss, grads = jax.value_and_grad(lambda p: ((actor.apply({"params": p}, x) - NOISE) ** 2).mean())(state.params)
        return state.apply_gradients(grads=grads), loss

    for _ in range(3):
        state, loss = step(state, x)
        print(loss)
    print(actor.apply({"params": first.params}, x).sum())


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
"""
INSIDE = PROGRAM.replace("def main(x, actor):\n", "def main(x):\n    actor = MADE\n") + "main(x)\n"
MADE = "Actor(width=4, scale=jnp.array([0.5, 2.0]), sizes=(1, 2))"


@pytest.mark.parametrize(
    ("stem", "noise"),
    [("array", "0.1 * actor.scale"), ("number", "1 / actor.width"), ("both", "actor.scale.sum() / actor.width")],
)
def test_are_read_from_the_arguments(stem: str, noise: str) -> None:
    program = INSIDE.replace("MADE", MADE).replace("NOISE", noise)
    taken, after = printing_sides.check(f"class_fields_{stem}", program, "functional")
    assert taken == ["NNX602"] and "actor.keywords['" in after
    assert printing_sides.check(f"class_fields_{stem}_native", program, "nnx")[0] == ["NNX601"]


@pytest.mark.parametrize(
    ("stem", "made", "noise"),
    [
        ("by_position", "Actor(4, jnp.array([0.5, 2.0]))", "actor.scale"),
        ("by_default", "Actor(width=4, scale=jnp.array([0.5, 2.0]))", "len(actor.sizes)"),
        ("a_list", "Actor(width=4, scale=jnp.array([0.5, 2.0]), sizes=[1, 2])", "(actor.sizes == (1, 2))"),
        ("chosen", f"{MADE} if x.ndim else {MADE.replace('4', '5')}", "actor.width"),
        ("a_method", MADE, "len(actor.label())"),
    ],
)
def test_others_keep_their_loop(stem: str, made: str, noise: str) -> None:
    program = INSIDE.replace("MADE", made).replace("NOISE", noise)
    assert printing_sides.check(f"class_fields_{stem}", program, "functional")[0] == ["NNX603"]


def test_a_model_that_a_function_is_given() -> None:
    program = f"{PROGRAM}main(x, {MADE})\n".replace("NOISE", "actor.scale")
    assert printing_sides.check("class_fields_given", program, "functional")[0] == ["NNX603"]
