"""Calls of `init` within the statements of a script, which need a name there on split state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module

HEAD = """import jax
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


def loss(first, second):
    return ((decoder.apply({"params": second}, encoder.apply({"params": first}, x)) - x) ** 2).mean()


said = []
"""
BOTH = '"encoder": encoder.init(KEY, x)["params"], "decoder": decoder.init(jax.random.key(1), jnp.ones((1, 4)))["params"]'
STEPS = """
tx = optax.adam(0.1)
slots = tx.init(params)
for _ in range(3):
    value, grads = jax.value_and_grad(lambda p: loss(p["encoder"], p["decoder"]))(params)
    updates, slots = tx.update(grads, slots)
    params = optax.apply_updates(params, updates)
    said.append(float(value))
"""
DRAWN = """made = []


def key():
    made.append(1)
    return jax.random.key(len(made))


"""
# The program → whether split state is written.
PROGRAMS = {
    "a dictionary of two": (f"params = {{{BOTH}}}\n{STEPS}", True),
    "made in a loop": (f"for number in range(2):\n    params = {{{BOTH}}}\n{STEPS}", True),
    "the names are taken": (f"encoder_params = decoder_params = 1\nparams = {{{BOTH}}}\n{STEPS}", False),
    "states in a dictionary": (
        'held = {"a": TrainState.create(apply_fn=encoder.apply, params=encoder.init(jax.random.key(0), x)["params"], tx='
        'optax.sgd(0.1)), "b": decoder.init(jax.random.key(1), jnp.ones((1, 4)))["params"]}\n'
        'said.append(float(loss(held["a"].params, held["b"])))\n',
        None,
    ),
    "behind what counts": (
        DRAWN + 'held = [len(made), encoder.init(key(), x)["params"], len(made)]\nsaid += [held[0], held[2]]\n',
        False,
    ),
    "in a class": (
        'class Held:\n    trees = [encoder.init(jax.random.key(0), x)["params"]]\n\n\n'
        'said.append(float(encoder.apply({"params": Held.trees[0]}, x).sum()))\n',
        False,
    ),
    "under a condition": (
        'tree = encoder.init(jax.random.key(0), x)["params"] if x.sum() > 99 else None\nsaid.append(tree is None)\n',
        False,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_inits_in_place(name: str) -> None:
    program, split = PROGRAMS[name]
    text = HEAD + program.replace("KEY", "jax.random.key(0)")
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options())
    for path, content in result.created.items():
        module(path.stem, content)
    codes = {found.code for found in result.files[0].diagnostics}
    before, after = _said(text), _said(result.files[0].after or "")
    np.testing.assert_allclose(np.array(after, float), np.array(before, float), rtol=1e-5)
    assert split is None or ("NNX602" in codes) is split


def _said(text: str) -> Any:
    return module("inits_in_place", text).said
