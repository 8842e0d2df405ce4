"""Dictionaries, lists and tuples of states and params that are put together for what saves them."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import STEP

PROGRAM = f"""{STEP}import os
import pickle
import tempfile

import numpy as np
import orbax.checkpoint as ocp
from flax.serialization import msgpack_restore, to_bytes
from flax.training import orbax_utils

other_params = net.init(jax.random.key(1), x)
other = TrainState.create(apply_fn=net.apply, params=other_params, tx=optax.adam(0.1))


@jax.jit
def other_step(other, x):
    loss, grads = jax.value_and_grad(lambda p: ((other.apply_fn(p, x) + 1) ** 2).mean())(other.params)
    return other.apply_gradients(grads=grads), loss


def show(tree, at=""):
    if isinstance(tree, (dict, list, tuple)):
        for key in sorted(tree) if isinstance(tree, dict) else range(len(tree)):
            show(tree[key], f"{{at}}/{{key}}")
    else:
        print(at, type(tree).__name__ == "State", np.asarray(tree).sum())


def main(state, other, folder):
    for _ in range(2):
        state, loss = step(state, x)
        other, loss = other_step(other, x)
        print(loss)
SAVED
    state, loss = step(state, x)
    print(loss)


main(state, other, tempfile.mkdtemp())
"""
SHOWN = "show(msgpack_restore(to_bytes(TREE)))"


def _text(*lines: str) -> str:
    return PROGRAM.replace("SAVED", "\n".join(f"    {line}" for line in lines))


@pytest.mark.parametrize(
    ("stem", "tree"),
    [
        ("a_list", "[state.params, other.params]"),
        ("lists_in_lists", '[{"lr": 0.1}, [state.params, other.params]]'),
        ("a_tuple", "(state.params, other.params, 3)"),
        ("a_dictionary", '{"state": state.params, "other": other.params, "n": 3}'),
        ("states", '{"state": state, "other": other, "slots": other.opt_state}'),
        ("slots", "[state.opt_state, other.opt_state]"),
        ("numbers", "[state.params, int(state.step), optax.global_norm(other.params)]"),
    ],
)
def test_written_as_linen_has_them(stem: str, tree: str) -> None:
    taken, after = printing_sides.check(f"saved_displays_{stem}", _text(SHOWN.replace("TREE", tree)), "functional")
    assert taken == ["NNX602"] and "linen_" in after


@pytest.mark.parametrize(
    ("stem", "lines"),
    [
        ("a_name", ['ckpt = {"state": state, "n": np.arange(2)}', SHOWN.replace("TREE", "ckpt")]),
        (
            "orbax",
            [
                'ckpt = {"model": state, "other": other.params, "lr": 0.1}',
                "checkpointer = ocp.PyTreeCheckpointer()",
                'path = os.path.join(folder, "saved")',
                "checkpointer.save(path, ckpt, save_args=orbax_utils.save_args_from_target(ckpt))",
                "show(checkpointer.restore(path))",
            ],
        ),
        (
            "pickle",
            [
                'with open(os.path.join(folder, "saved"), "wb") as file:',
                '    pickle.dump({"slots": state.opt_state, "params": other.params}, file)',
                'with open(os.path.join(folder, "saved"), "rb") as file:',
                "    show(pickle.load(file))",
            ],
        ),
    ],
)
def test_saved_under_a_name_and_read_again(stem: str, lines: list[str]) -> None:
    assert printing_sides.check(f"saved_displays_{stem}", _text(*lines), "functional")[0] == ["NNX602"]


@pytest.mark.parametrize(
    ("stem", "lines"),
    [
        ("read", ["trees = [state.params]", "print(optax.global_norm(trees[0]))", SHOWN.replace("TREE", "trees")]),
        ("changed", ['trees = {"a": state.params}', 'trees["b"] = jnp.ones(2)', SHOWN.replace("TREE", "trees")]),
        (
            "given_twice",
            ["trees = [state.params]", "if loss > 100:", "    trees = [other.params]", SHOWN.replace("TREE", "trees")],
        ),
        ("scaled", [SHOWN.replace("TREE", "[state.params, optax.tree_utils.tree_scale(0.5, state.params)]")]),
        ("mapped", [SHOWN.replace("TREE", "[state.params, jax.tree.map(jnp.abs, state.params)]")]),
        (
            "gradients",
            [
                'grads = jax.grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)',
                SHOWN.replace("TREE", "[grads, state.params]"),
            ],
        ),
        ("added", [SHOWN.replace("TREE", "[state.params] + [other.params]")]),
    ],
)
def test_what_others_read_stays_as_it_was(stem: str, lines: list[str]) -> None:
    taken, _ = printing_sides.check(f"saved_displays_{stem}", _text(*lines), "functional")
    assert "NNX603" in taken
