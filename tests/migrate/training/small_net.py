"""A small net and its training, which tests of whole programs put what they are about behind."""

from __future__ import annotations

NET = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=ones)(jnp.tanh(nn.Dense(4, kernel_init=ones)(x)))


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
"""
STEP = f"""{NET}params = net.init(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1, momentum=0.9))


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({{"params": p}}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


"""
