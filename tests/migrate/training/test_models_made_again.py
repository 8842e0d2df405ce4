"""A file's model that a function initializes stays what makes modules: none takes its name, where it is used again."""

from __future__ import annotations

import re

import numpy as np
import pytest

CREATE = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
model = MLP(8)
def create(rate=0.1):
  params = model.init(jax.random.key(0), x)['params']
  return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(rate))
@jax.jit
def step(state, x):
  def loss_fn(params):
    return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss
losses = []
"""
TURN = "state, loss = step(state, x)\nlosses.append(float(loss))\n"


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def turns(n: int) -> str:
    return f"for i in range({n}):\n" + indented(TURN)


def in_main(text: str) -> str:
    return "def main():\n" + indented(CREATE + text) + "  return losses\nlosses = main()\n"


# Name → program, and whether the module may have the name of what makes it.
PROGRAMS = {
    "once": (CREATE + "state = create()\n" + turns(3), True),
    "once in a function that nobody else calls": (
        CREATE + "def start():\n  return create(0.2)\nstate = start()\n" + turns(3),
        True,
    ),
    "twice": (CREATE + "state = create()\n" + turns(2) + "state = create(0.2)\n" + turns(2), False),
    "under a condition of the loop": (
        CREATE + "state = create()\nfor i in range(4):\n  if i == 2:\n    state = create()\n" + indented(TURN),
        False,
    ),
    "in every turn": (CREATE + "for rate in (0.1, 0.2):\n  state = create(rate)\n" + indented(turns(2)), False),
    "by another function": (
        CREATE
        + "def once_more():\n  other = create(0.3)\n  other, loss = step(other, x)\n  return float(loss)\n"
        + "state = create()\n"
        + turns(2)
        + "losses.append(once_more())\n",
        False,
    ),
    "beside another": (
        CREATE + "state = create()\nother = create(0.2)\n" + turns(2) + TURN.replace("state", "other"),
        False,
    ),
    "twice in a function": (
        in_main("state = create()\n" + turns(2) + "state = create(0.2)\n" + turns(2)),
        False,
    ),
    "in every turn of a function": (
        in_main("for rate in (0.1, 0.2):\n  state = create(rate)\n" + indented(turns(2))),
        False,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_is_made_again(kit, name: str) -> None:
    program, same_name = PROGRAMS[name]
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX601"]
    assert bool(re.search(r"^ *model, \w+ = \w+\(", done.after, re.M)) is same_name
    before, after = done.both()
    assert len(before["losses"]) > 2
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)


@pytest.mark.parametrize("name", ["optimizer", "opt", "net"])
@pytest.mark.parametrize("state", ["state", "model_state", "net_state"])
@pytest.mark.parametrize("local", [True, False])
def test_a_model_has_the_name_of_what_else_is_made(kit, name: str, state: str, local: bool) -> None:
    program = CREATE.replace("model = MLP(8)", f"{name} = MLP(8)")
    if local:
        program = CREATE.replace("model = MLP(8)\n", "").replace("  params", f"  {name} = MLP(8)\n  params")
    program = re.sub(r"  return (train_state.*)", r"  state = \1\n  return state", program)
    program = program.replace("model.", f"{name}.") + "state = create()\n" + turns(3)
    done = kit.migrate(re.sub(r"\bstate\b", state, program), kit.MLP)
    assert done.codes == ["NNX601"]
    assert "model_model" not in done.after
    before, after = done.both()
    assert len(before["losses"]) == 3
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)
