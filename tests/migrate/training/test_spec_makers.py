"""Programs that make trees of shardings of their variables themselves: both sides run, and lay them out alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..rules.test_values_under_mesh import HEADER, migrated, run, same

MODEL = """class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.relu(nn.Dense(32)(x)))


def spec_for(x, axis="model"):
    if x.ndim == 2:
        return P(None, axis)
    return P()


def put(mesh, x):
    return NamedSharding(mesh, spec_for(x))


def loss_of(params, model, x):
    return (model.apply({"params": params}, x) ** 2).mean()


def laid_out(tree):
    return sorted(str((x.shape, x.sharding.spec)) for x in jax.tree_util.tree_leaves(tree) if x.ndim)


"""
STATE = (
    MODEL
    + """def create(key, model, tx):
    params = model.init(key, jnp.ones((1, 16)))["params"]
    return TrainState.create(apply_fn=model.apply, params=params, tx=tx)


def train_step(state, x):
    def loss_fn(params):
        return (state.apply_fn({"params": params}, x) ** 2).mean()
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    model, tx = MLP(), optax.adam(1e-2)
    abstract = jax.eval_shape(lambda key: create(key, model, tx), jax.random.key(0))
    shardings = MADE_OF_THEM
    state = jax.jit(lambda key: create(key, model, tx), out_shardings=shardings)(jax.random.key(0))
    step = jax.jit(train_step, in_shardings=(shardings, by_rows), out_shardings=(shardings, None))
    losses = []
    for i in range(3):
        state, loss = step(state, np.ones((8, 16), np.float32) * i)
        losses.append(loss)
    return losses, laid_out(state.params)
"""
)
PARAMS = (
    MODEL
    + """def main():
    model, tx = MLP(), optax.adam(1e-2)
    params = model.init(jax.random.key(0), jnp.ones((1, 16)))["params"]
    shardings = MADE_OF_THEM
    params = jax.device_put(params, shardings)
    opt_state = tx.init(params)

    @partial(jax.jit, in_shardings=(shardings, None, by_rows), out_shardings=(shardings, None, None))
    def step(params, opt_state, x):
        loss, grads = jax.value_and_grad(loss_of)(params, model, x)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    losses = []
    for i in range(3):
        params, opt_state, loss = step(params, opt_state, np.ones((8, 16), np.float32) * i)
        losses.append(loss)
    return losses, laid_out(params)
"""
)
MADE = [
    "jax.tree.map(lambda x: NamedSharding(mesh, spec_for(x)), {of})",
    "jax.tree_util.tree_map(partial(put, mesh), {of})",
    "jax.tree.map(lambda x: NamedSharding(mesh, P(None, 'model') if x.ndim == 2 else P()), {of})",
    "jax.tree.map(lambda s: NamedSharding(mesh, s), jax.tree.map(spec_for, {of}), is_leaf=lambda s: isinstance(s, P))",
]


def form(program: str) -> set[str]:
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", HEADER + program)])
    return {d.code for d in result.files[0].diagnostics} & {"NNX601", "NNX602", "NNX603"}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("program,of", [(STATE, "abstract"), (PARAMS, "params")])
def test_trees_of_shardings_of_split_state(made: str, program: str, of: str) -> None:
    text = program.replace("MADE_OF_THEM", made.format(of=of))
    assert form(text) == {"NNX602"}
    same(run(HEADER + text), run(migrated(text)))


@pytest.mark.parametrize(
    "changed",
    [
        "shardings = {**shardings, 'Dense_0': jax.tree.map(lambda x: everywhere, shardings['Dense_0'])}",
        "shardings = {k: v if k == 'Dense_0' else jax.tree.map(lambda x: everywhere, v) for k, v in shardings.items()}",
        "shardings = jax.tree_util.tree_map_with_path(lambda p, s: everywhere if p[-1].key == 'bias' else s, shardings)",
    ],
)
def test_those_that_go_by_names_keep_dictionaries(changed: str) -> None:
    text = PARAMS.replace("MADE_OF_THEM", MADE[0].format(of="params")).replace(
        "    params = jax.device_put", f"    {changed}\n    params = jax.device_put"
    )
    assert form(text) == {"NNX603"}
    same(run(HEADER + text), run(migrated(text)))


def test_those_of_modules_under_the_same_names_may_be_asked_for() -> None:
    changed = "shardings['Dense_0'] = jax.tree.map(lambda x: everywhere, shardings['Dense_0'])"
    text = PARAMS.replace("MADE_OF_THEM", MADE[0].format(of="params") + f"\n    {changed}")
    assert form(text) == {"NNX602"}
    same(run(HEADER + text), run(migrated(text)))
