"""A Linen training program that times its own steps: what `bench_steps.py` migrates and runs on every side.

    python benchmarks/steps_program.py LAYERS WIDTH STEPS

Prints one JSON line: seconds until the first step was done (tracing, compiling), milliseconds per step over all STEPS
(blocked on once, at the end), the least milliseconds until the call of a step returned (dispatch), and the last loss.
"""

import json
import sys
import time

import flax.linen as nn
import jax
import optax
from flax.training.train_state import TrainState

VOCABULARY = 256


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        mask = nn.make_causal_mask(x[..., 0])
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y, mask=mask)
        y = nn.Dense(4 * self.width)(nn.LayerNorm()(x))
        return x + nn.Dense(self.width)(nn.gelu(y))


class Decoder(nn.Module):
    layers: int
    width: int

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCABULARY, self.width)(tokens)
        for _ in range(self.layers):
            x = Block(self.width)(x)
        return nn.Dense(VOCABULARY)(nn.LayerNorm()(x))


@jax.jit
def train_step(state, tokens):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main(layers, width, steps):
    model = Decoder(layers, width)
    tokens = jax.random.randint(jax.random.key(1), (4, 33), 0, VOCABULARY)
    params = model.init(jax.random.key(0), tokens[:, :-1])["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))

    begun = time.perf_counter()
    state, loss = train_step(state, tokens)
    jax.block_until_ready(loss)
    first = time.perf_counter() - begun

    dispatch = []
    begun = time.perf_counter()
    for _ in range(steps):
        called = time.perf_counter()
        state, loss = train_step(state, tokens)
        dispatch.append(time.perf_counter() - called)
    jax.block_until_ready(loss)
    seconds = time.perf_counter() - begun
    figures = {"first_s": first, "step_ms": 1e3 * seconds / steps, "dispatch_ms": 1e3 * min(dispatch), "loss": float(loss)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
