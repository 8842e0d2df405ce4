"""`mutable=['batch_stats'] if train else []`: a pair either way, whose second is empty where nothing is updated."""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train, momentum=0.5)(x)
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(x)


class State(train_state.TrainState):
    batch_stats: Any


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
variables = net.init(jax.random.key(0), x, False)
state = first = State.create(
    apply_fn=net.apply, params=variables["params"], batch_stats=variables["batch_stats"], tx=optax.adam(0.1)
)


def run(state, params, x, train):
    return state.apply_fn({"params": params, "batch_stats": state.batch_stats}, x, train, mutable=MUTABLE)


@jax.jit
def step(state, x):
    def loss_fn(params):
        out, new = run(state, params, x, True)
        return ((out - 1) ** 2).mean(), new
    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new["batch_stats"]), loss


for _ in range(3):
    state, loss = step(state, x)
    out, _ = run(state, state.params, x, False)
    print(loss, out.sum())
out, _ = run(first, first.params, x, False)
print(out.sum())
"""


@pytest.mark.parametrize(
    ("mutable", "said"),
    [
        ("['batch_stats'] if train else []", "if train else {}"),
        ("[] if not train else ['batch_stats']", "if not (not train) else {}"),
        ("('batch_stats',) if train is True else ()", "if train is True else {}"),
    ],
)
def test_updates_by_a_flag(mutable: str, said: str) -> None:
    taken, after = printing_sides.check("updates_by_flags", PROGRAM.replace("MUTABLE", mutable), "functional")
    assert taken == ["NNX602"] and said in after


# `else False`: a pair only where something is updated.
ALONE = PROGRAM.replace(
    """    return state.apply_fn({"params": params, "batch_stats": state.batch_stats}, x, train, mutable=MUTABLE)
""",
    """    variables = {"params": params, "batch_stats": state.batch_stats}
    outs = state.apply_fn(variables, x, train, mutable=MUTABLE)
TAKEN
""",
)
CHOSEN = "    out, new = outs if train else (outs, None)\n    return out, new"
TURNED = "    out, new = (outs, None) if not train else outs\n    return out, new"
BRANCHES = "    if train:\n        out, new = outs\n    else:\n        out, new = outs, None\n    return out, new"
STARRED = "    out = [*outs] if train else [outs, None]\n    pair = out[0], *out[1:]\n    return pair"
AT_ONCE = "    return outs if train else (outs, None)"


@pytest.mark.parametrize(
    ("stem", "mutable", "taken"),
    [
        ("chosen", "['batch_stats'] if train else False", CHOSEN),
        ("turned", "False if not train else ['batch_stats']", TURNED),
        ("at_once", "['batch_stats'] if train else False", AT_ONCE),
    ],
)
def test_a_pair_only_where_there_are_updates(stem: str, mutable: str, taken: str) -> None:
    program = ALONE.replace("MUTABLE", mutable).replace("TAKEN", taken)
    forms, after = printing_sides.check(f"updates_by_flags_{stem}", program, "functional")
    assert forms == ["NNX602"] and "outs = (outs, {'batch_stats': " in after


def test_results_that_are_unpacked_into_a_tuple() -> None:
    program = ALONE.replace("MUTABLE", "['batch_stats'] if train else False").replace("TAKEN", CHOSEN)
    program = program.replace(
        "        return ((out - 1) ** 2).mean(), new\n    (loss, new), grads =",
        "        return ((out - 1) ** 2).mean(), (out.sum(), new)\n    ret, grads =",
    )
    program = program.replace(
        "    return state.apply_gradients",
        "    loss, total, new = ret[0], *ret[1]\n    loss += total\n    return state.apply_gradients",
    )
    forms, _ = printing_sides.check("updates_by_flags_unpacked", program, "functional")
    assert forms == ["NNX602"]


@pytest.mark.parametrize(
    ("stem", "taken"),
    [
        ("listed", STARRED),
        ("branches", BRANCHES),
        ("first_alone", "    out = outs[0] if train else outs\n    return out, outs[1] if train else None"),
    ],
)
def test_pairs_that_are_taken_apart_otherwise(stem: str, taken: str) -> None:
    program = ALONE.replace("MUTABLE", "['batch_stats'] if train else False").replace("TAKEN", taken)
    assert printing_sides.check(f"updates_by_flags_{stem}", program, "functional")[0] == ["NNX603"]


def test_a_pair_that_has_no_name() -> None:
    program = PROGRAM.replace("MUTABLE", "['batch_stats'] if train else False")
    program = program.replace(
        "    out, _ = run(state, state.params, x, False)\n", "    out = run(state, state.params, x, False)\n"
    )
    program = program.replace("out, _ = run(first, first.params, x, False)\n", "out = run(first, first.params, x, False)\n")
    assert printing_sides.check("updates_by_flags_unnamed", program, "functional")[0] == ["NNX603"]
