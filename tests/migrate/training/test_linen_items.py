"""Params and gradients of single layers that are only looked at, on split state."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import STEP

LOOP = """for _ in range(3):
    state, loss = step(state, x)
    print(loss)
"""
READS = {
    "printed": 'print(state.params["Dense_0"]["bias"])',
    "in_a_text": "print(f\"{state.params['Dense_0']['bias']} {state.params['Dense_1']['kernel'].sum():.4f}\")",
    "computed": 'print(jnp.abs(state.params["Dense_0"]["kernel"]).max(), jnp.linalg.norm(state.params["Dense_1"]["bias"]))',
    "asked": 'print(state.params["Dense_0"]["kernel"].shape, params["Dense_1"]["kernel"].sum())',
    "added": 'print((state.params["Dense_0"]["bias"] + 2 * params["Dense_0"]["bias"]).sum())',
    "cut": 'print(state.params["Dense_0"]["kernel"][0].sum(), state.params["Dense_0"]["kernel"][:, 0].sum())',
    "reduced": 'print(optax.global_norm(state.params["Dense_0"]), len(state.params["Dense_0"]))',
    "by_a_key": 'for name in ("Dense_0", "Dense_1"):\n    print(state.params[name]["bias"])',
    "by_a_key_cut": 'for name in ("Dense_0", "Dense_1"):\n    print(state.params[name]["kernel"][0].sum())',
    "of_variables": 'variables = net.init(jax.random.key(0), x)\nprint(variables["params"]["Dense_0"]["kernel"].sum())',
}


@pytest.mark.parametrize("name", READS)
def test_are_those_of_linens_dictionaries(name: str) -> None:
    taken, after = printing_sides.check(f"linen_items_{name}", f"{STEP}{LOOP}{READS[name]}\n", "functional")
    assert taken == ["NNX602"] and "linen_tree(" in after


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_a_loss_that_reads_a_layer(jit: str) -> None:
    program = STEP.replace(
        '((state.apply_fn({"params": p}, x) - 1) ** 2).mean())',
        '((state.apply_fn({"params": p}, x) - 1) ** 2).mean() + 0.1 * jnp.sum(p["Dense_0"]["kernel"] ** 2))',
    )
    program = program.replace("params = net.init", "import numpy as np\n\nparams = net.init") + LOOP
    taken, _ = printing_sides.check(f"linen_items_loss_{jit}", program, jit)
    assert taken in (["NNX601"], ["NNX602"], ["NNX603"])


def test_gradients_of_a_layer() -> None:
    program = STEP.replace(
        "    return state.apply_gradients(grads=grads), loss",
        '    loss += jnp.linalg.norm(grads["Dense_0"]["kernel"]) + grads["Dense_1"]["bias"].sum()\n'
        "    return state.apply_gradients(grads=grads), loss",
    )
    taken, _ = printing_sides.check("linen_items_gradients", program + LOOP, "functional")
    assert taken == ["NNX602"]


@pytest.mark.parametrize(
    ("stem", "read"),
    [
        ("a_name", 'kernel = state.params["Dense_0"]["kernel"]\nprint(kernel.sum())'),
        ("a_key_of_a_name", 'for name in ("Dense_0", "Dense_1"):\n    layer = state.params[name]\n    print(layer["bias"])'),
        ("a_key_alone", 'for name in ("Dense_0", "Dense_1"):\n    print(state.params[name])'),
        ("a_new_tree", 'print({**params, "Dense_0": state.params["Dense_0"]}["Dense_0"]["bias"].sum())'),
        ("changed", 'print(state.params["Dense_0"]["kernel"].at[0].set(1.0).sum())'),
        ("a_dictionary", 'print(sorted(state.params["Dense_0"].items())[0][0])'),
    ],
)
def test_others_keep_their_loop(stem: str, read: str) -> None:
    assert printing_sides.check(f"linen_items_{stem}", f"{STEP}{LOOP}{read}\n", "functional")[0] == ["NNX603"]
