"""NNX701: checkpoint functions of flax.training in migrated programs."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule

_LOOP = """\
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import checkpoints, train_state


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


def train(workdir, batches):
    model = Model()
    params = model.init(jax.random.key(0), jnp.ones((1, 4)))['params']
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
    state = checkpoints.restore_checkpoint(workdir, state)
    for x in batches:
        loss, grads = jax.value_and_grad(lambda p: (state.apply_fn({'params': p}, x) ** 2).mean())(state.params)
        state = state.apply_gradients(grads=grads)
    checkpoints.save_checkpoint(workdir, state, state.step)
"""
_MIGRATED = """\
import jax
import optax
from flax import nnx
import linen_parity


class Model(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, rngs=rngs)

    def __call__(self, x):
        return self.Dense_0(x)


def train(workdir, batches):
    model = Model(in_features=4, rngs=nnx.Rngs(jax.random.key(0)))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    linen_parity.restore_checkpoint(workdir, (model, optimizer))
    for x in batches:
        loss, grads = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
        optimizer.update(model, grads)
    linen_parity.save_checkpoint(workdir, (model, optimizer), optimizer.step[...])
"""
KEPT = Rule(
    code="NNX701",
    name="flax-checkpoints",
    summary="flax.training.checkpoints stays: it saves and restores the state under the keys that it had",
    what="Leaves functions of flax.training.checkpoints where the loop around them keeps its functional form.",
    why="The state keeps the tree and the keys that it had under Linen, so the program restores its old and its "
    "new checkpoints alike. Flax keeps these functions for old programs; new ones use orbax.checkpoint.",
    how_sure="by construction: the tree is the same",
    examples=(
        Example(
            title="saving",
            before="""\
from flax.training import checkpoints


def save(state, step):
    checkpoints.save_checkpoint('/tmp/run', state, step)
""",
            after=None,
        ),
    ),
    words=frozenset({"checkpoints"}),
)
SAVED = Rule(
    code="NNX702",
    name="checkpoint-of-model-and-optimizer",
    summary="a loop with nnx.Optimizer saves the states of its model and optimizer with Orbax",
    what="`save_checkpoint(path, state, step)`, `manager.save(step, args=ocp.args.StandardSave(state))` and their like "
    "save `{'model': nnx.state(model), 'optimizer': nnx.state(optimizer)}`; restoring writes into both, in place. "
    "The helpers are generated into linen_parity.py.",
    why="Model and optimizer hold their variables themselves. A checkpoint of the Linen program has other keys: it is "
    "recognised and restored through nnx_migrate.compat.restore.",
    how_sure="programs are stopped and continued in the tests, from their own checkpoints and from Linen's",
    examples=(
        Example(
            title="saving and restoring",
            before=_LOOP,
            after=_MIGRATED,
        ),
    ),
)
RULES = (KEPT, SAVED)


@KEPT.register(ast.Call)
def flax_checkpoints(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func) or ""
    if ctx.edits.covers(ctx.span(node.func)):
        return  # the training writer has made it the model's and the optimizer's
    if name.startswith("flax.training.checkpoints."):
        ctx.report(
            node,
            KEPT.code,
            f"{name.rpartition('.')[2]} is kept: the state has the keys that it had, and old checkpoints restore",
            help="To load an old checkpoint into a model and nnx.Optimizer, use nnx_migrate.compat.restore; to save "
            "them with Orbax, ocp.StandardCheckpointer().save(path, nnx.state((model, optimizer))).",
        )
