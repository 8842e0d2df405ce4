"""Names that hold one thing and then another: followed where each assignment stands in the function's own block."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

HEAD = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
model = MLP(8)
def create(key):
  params = model.init(key, x)
  return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
def one(state, x):
  loss, grads = jax.value_and_grad(lambda p: jnp.mean((state.apply_fn(p, x) - y) ** 2))(state.params)
  return state.apply_gradients(grads=grads), loss
def turn(carry, _):
  state, n = carry
  state, loss = one(state, x * (1 + 0.1 * n))
  return (state, n + 1), loss
def counted(carry, _):
  run, turns = carry
  run, loss = turn(run, None)
  return (run, turns + 1), loss
"""
# What `train(key)` does.
FOLLOWED = {
    "a tuple in another": """
        run = (create(key), 0)
        run, losses = jax.lax.scan(counted, (run, 0), None, 3)
        return [*losses, one(run[0][0], x)[1]]
        """,
    "and out of it again": """
        run = (create(key), 0)
        run, first = jax.lax.scan(counted, (run, 0), None, 3)
        run = run[0]
        run, second = jax.lax.scan(turn, run, None, 2)
        run, third = jax.lax.scan(counted, (run, 0), None, 2)
        return [*first, *second, *third, one(run[0][0], x)[1]]
        """,
    "a state, and a tuple with it": """
        run = create(key)
        run = (run, 0)
        losses = []
        for i in range(3):
          state, loss = one(run[0], x * (i + 1))
          losses.append(loss)
        return losses
        """,
    "variables, and what they are the params of": """
        params = model.init(key, x)
        first = jnp.mean(model.apply(params, x))
        state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
        params = (params, 1.0)
        state, loss = one(state, x)
        return [first, loss, jnp.mean(model.apply(params[0], x)) * params[1]]
        """,
    "read under conditions below": """
        run = (create(key), 0)
        if len(x) > 99:
          return [one(run[0], x)[1]]
        run, losses = jax.lax.scan(counted, (run, 0), None, 3)
        if len(x) > 2:
          state = run[0][0]
          return [*losses, one(state, x)[1]]
        return losses
        """,
    "two names that change places": """
        a, b = create(key), (create(key), 0)
        b, losses = jax.lax.scan(counted, (b, 0), None, 2)
        a, b = b[0][0], a
        return [*losses, one(a, x)[1], one(b, x)[1]]
        """,
}
LEFT = {
    "under a condition": """
        run = (create(key), 0)
        losses = []
        if len(x) > 2:
          run, losses = jax.lax.scan(counted, (run, 0), None, 3)
          run = run[0]
        return [*losses, one(run[0], x)[1]]
        """,
    "in a loop": """
        run, losses = (create(key), 0), []
        for i in range(2):
          run, more = jax.lax.scan(counted, (run, 0), None, 3)
          run = run[0]
          losses += list(more)
        return losses
        """,
    "read by a function that runs later": """
        run = (create(key), 0)
        def late():
          return one(run[0][0], x)[1]
        run, losses = jax.lax.scan(counted, (run, 0), None, 3)
        return [*losses, late()]
        """,
    "read by a comprehension": """
        run = (create(key), 0)
        run, losses = jax.lax.scan(counted, (run, 0), None, 3)
        return [*losses, *[one(run[0][0], x * k)[1] for k in (1, 2)]]
        """,
    "added to": """
        run = (create(key),)
        run += (0,)
        run, losses = jax.lax.scan(counted, (run, 0), None, 3)
        return [*losses, one(run[0][0], x)[1]]
        """,
    "deleted": """
        run = (create(key), 0)
        out, losses = jax.lax.scan(counted, (run, 0), None, 3)
        del run
        run = out[0]
        return [*losses, one(run[0], x)[1]]
        """,
    "inputs of init out of a list that grows": """
        given = [jnp.zeros((1, 5))]
        given.append(0.0)
        params = model.init(key, *given[:1])
        state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
        return [one(state, x)[1], one(state, 2 * x)[1]]
        """,
}


@pytest.mark.parametrize("name", [*FOLLOWED, *LEFT])
def test_the_losses_stay(kit, name: str) -> None:
    body = textwrap.indent(textwrap.dedent({**FOLLOWED, **LEFT}[name]), "  ")
    text = f"{HEAD}def train(key):{body}\nlosses = [float(loss) for loss in train(jax.random.key(0))]\n"
    done = kit.migrate(text, kit.MLP)
    assert done.codes == ["NNX602" if name in FOLLOWED else "NNX603"]
    linen, now = done.both()
    assert len(set(linen["losses"])) > 1
    np.testing.assert_allclose(now["losses"], linen["losses"], rtol=1e-4)
