"""The functional form of models with statistics and random streams, and what must not take it."""

from __future__ import annotations

import flax
import jax
import numpy as np
import pytest

HEAD = """
class TrainState(train_state.TrainState):
  batch_stats: Any
x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
model = Normed(4)
variables = model.init(jax.random.key(0), x, train=False)
state = TrainState.create(
    apply_fn=model.apply, params=variables['params'], batch_stats=variables['batch_stats'], tx=optax.adam(0.1))
"""
# Old statistics are used again, and a state is carried in a tuple: nothing that is updated in place does for it.
LOOP = (
    HEAD
    + """
def loss_fn(params, stats, batch, key):
  out, updates = model.apply(
      {'params': params, 'batch_stats': stats}, batch, rngs={'dropout': key}, mutable=['batch_stats'])
  return jnp.mean((out - 1.0) ** 2), updates
def turn(carry, batch):
  state, key = carry
  key, drop = jax.random.split(key)
  gradient = jax.value_and_grad(loss_fn, has_aux=True)
  (loss, updates), grads = gradient(state.params, state.batch_stats, batch, drop)
  (other, _), _ = gradient(state.params, state.batch_stats, batch + 1.0, drop)
  state = state.apply_gradients(grads=grads, batch_stats=updates['batch_stats'])
  return (state, key), loss + other
carry, losses = jax.lax.scan(turn, (state, jax.random.key(1)), jnp.stack([x, x + 1, x * 2]))
old = model.apply({'params': state.params, 'batch_stats': state.batch_stats}, x, train=False)
new = model.apply({'params': carry[0].params, 'batch_stats': carry[0].batch_stats}, x, train=False)
losses = [*losses.tolist(), *old.ravel().tolist(), *new.ravel().tolist()]
"""
)


def test_old_statistics_are_kept(kit) -> None:
    done = kit.migrate(LOOP, kit.NORMED)
    assert done.codes == ["NNX602"]
    assert "(4, 5)" in done.after and "nnx.Param, nnx.BatchStat)" in done.after
    assert "params=params" in done.after and "batch_stats=batch_stats" in done.after and "variables" not in done.after
    assert "\n  out = merged(" in done.after
    assert "\n  updates = {'batch_stats': nnx.state(merged, nnx.BatchStat)}\n" in done.after
    assert "merged = linen_parity.keyed(nnx.merge(graphdef, params, stats, copy=True), dropout=key)" in done.after
    before, after = done.both()
    assert len(set(before["losses"])) > 10
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4, atol=1e-5)


KEPT = {
    "another order": (
        "{'params': params, 'batch_stats': stats}, batch",
        "{'batch_stats': stats, 'params': params}, batch",
    ),
    "a name for the variables": (
        "  out, updates = model.apply(\n      {'params': params, 'batch_stats': stats}, batch",
        "  given = {'params': params, 'batch_stats': stats}\n  out, updates = model.apply(\n      given, batch",
    ),
    "a string": ("mutable=['batch_stats']", "mutable='batch_stats'"),
    "a tuple": ("mutable=['batch_stats']", "mutable=('batch_stats',)"),
    "keys under a name": (
        "  out, updates = model.apply(\n      {'params': params, 'batch_stats': stats}, batch, rngs={'dropout': key}",
        "  keys = {'dropout': key}\n  out, updates = model.apply(\n"
        "      {'params': params, 'batch_stats': stats}, batch, rngs=keys",
    ),
    "other names in the scope": (
        "state = TrainState.create",
        "params, batch_stats = 1, 2\nassert (params, batch_stats) == (1, 2)\nstate = TrainState.create",
    ),
    "popped": (
        "params=variables['params'], batch_stats=variables['batch_stats']",
        "params=variables.pop('params'), batch_stats=variables.get('batch_stats')",
    ),
    "all of them at a call": (
        "old = model.apply({'params': state.params, 'batch_stats': state.batch_stats}, x, train=False)",
        "old = model.apply(variables, x, train=False)",
    ),
    "mapped over the inputs": (
        "old = model.apply({'params': state.params, 'batch_stats': state.batch_stats}, x, train=False)",
        "old = jax.vmap(lambda v: model.apply(variables, v, train=False))(x)",
    ),
    "read twice by the loss": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  seen = model.apply({'params': params, 'batch_stats': stats}, batch, train=False)\n"
        "  return jnp.mean((out - 1.0) ** 2 + seen), updates\n",
    ),
    "by a helper": (
        "def loss_fn(params, stats, batch, key):\n  out, updates = model.apply(\n"
        "      {'params': params, 'batch_stats': stats}, batch, rngs={'dropout': key}, mutable=['batch_stats'])\n",
        "def call(params, stats, batch, key):\n"
        "  return model.apply({'params': params, 'batch_stats': stats}, batch, rngs={'dropout': key}, "
        "mutable=['batch_stats'])\n"
        "def loss_fn(params, stats, batch, key):\n  out, updates = call(params, stats, batch, key)\n",
    ),
    "by the state's function": ("out, updates = model.apply(", "out, updates = state.apply_fn("),
    "statistics mapped": (
        "batch_stats=updates['batch_stats'])\n  return",
        "batch_stats=jax.tree.map(lambda a, b: 0.5 * a + b, state.batch_stats, updates['batch_stats']))\n  return",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_ways_to_say_the_same(kit, name: str) -> None:
    assert KEPT[name][0] in LOOP
    done = kit.migrate(LOOP.replace(*KEPT[name]), kit.NORMED)
    assert done.codes == ["NNX602"], done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4, atol=1e-5)


LEFT = {
    "several collections": ("mutable=['batch_stats']", "mutable=['batch_stats', 'cache']"),
    "all collections": ("mutable=['batch_stats']", "mutable=True"),
    "computed": ("mutable=['batch_stats']", "mutable=list(variables)[1:]"),
    "within a lambda": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  again = lambda p: model.apply({'params': p, 'batch_stats': stats}, batch, mutable=['batch_stats'])[0]\n"
        "  return jnp.mean((out - 1.0) ** 2 + again(params)), updates\n",
    ),
    "under a condition": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  more = out if batch is None else model.apply(\n"
        "      {'params': params, 'batch_stats': stats}, batch, mutable=['batch_stats'])[0]\n"
        "  return jnp.mean((out - 1.0) ** 2 + more), updates\n",
    ),
    "statistics that Linen makes anew": (
        "old = model.apply({'params': state.params, 'batch_stats': state.batch_stats}, x, train=False)",
        "old, _ = model.apply({'params': state.params}, x, mutable=['batch_stats'])",
    ),
    "a leaf": ("losses = [*", "mean = carry[0].batch_stats['BatchNorm_0']['mean']\nlosses = [*mean.tolist(), *"),
    "the second under the name of the first": (
        "{'params': params, 'batch_stats': stats}, batch",
        "{'params': params, 'batch_stats': updated(stats)}, batch",
    ),
    "one key for all": ("rngs={'dropout': key}", "rngs=key"),
    "the key of the parameters": ("rngs={'dropout': key}", "rngs={'params': key}"),
    "taken apart": ("losses = [*", "stats, params = flax.core.pop(variables, 'params')\nlosses = [*"),
    "a part of what a call needs": (
        "  out, updates = model.apply(\n      {'params': params, 'batch_stats': stats}, batch",
        "  given = {'params': params}\n  given = {**given, 'batch_stats': stats}\n"
        "  out, updates = model.apply(\n      given, batch",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_keeps_linens_dictionaries(kit, name: str) -> None:
    assert LEFT[name][0] in LOOP
    program = LOOP.replace(*LEFT[name])
    if name.startswith("the second"):
        program = "def updated(tree):\n  return {k: v for k, v in tree.items()}\n" + program
    done = kit.migrate(program, kit.NORMED)
    assert done.codes == ["NNX603"], done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4, atol=1e-5)


def test_statistics_are_saved_under_linens_names(kit) -> None:
    blob = "blob = flax.serialization.to_bytes(carry[0].batch_stats)\nlosses = [*"
    done = kit.migrate(LOOP.replace("losses = [*", blob), kit.NORMED)
    assert done.codes == ["NNX602"], done.after
    old, new = (flax.serialization.msgpack_restore(side["blob"]) for side in done.both())
    assert old.keys() == new.keys() == {"BatchNorm_0"}
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), old, new)


# Linen differentiates through updated statistics.
DERIVED = {
    "read while it is trained": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  seen = model.apply({'params': params, 'batch_stats': updates['batch_stats']}, batch, train=False)\n"
        "  return jnp.mean((out - 1.0) ** 2 + seen), updates\n",
    ),
    "returned at once": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  def call(p, s):\n    return model.apply({'params': p, 'batch_stats': s}, batch, False, mutable=['batch_stats'])\n"
        "  more, _ = call(params, stats)\n  return jnp.mean((out - 1.0) ** 2 + more), updates\n",
    ),
    "in a loop": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  for _ in range(2):\n    stats = updates['batch_stats']\n    more, updates = model.apply(\n"
        "        {'params': params, 'batch_stats': stats}, batch, mutable=['batch_stats'])\n"
        "  seen = model.apply({'params': params, 'batch_stats': stats}, batch, train=False)\n"
        "  return jnp.mean((out - 1.0) ** 2 + more + seen), updates\n",
    ),
    "a penalty": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  penalty = sum(jnp.sum(v ** 2) for v in jax.tree.leaves(updates))\n"
        "  return jnp.mean((out - 1.0) ** 2) + penalty, updates\n",
    ),
    "by a helper that is called twice": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  def seen(s):\n    return model.apply({'params': params, 'batch_stats': s}, batch, train=False)\n"
        "  a, b = seen(stats), seen(updates['batch_stats'])\n"
        "  return jnp.mean((out - 1.0) ** 2 + a + b), updates\n",
    ),
    "in a state": (
        "  return jnp.mean((out - 1.0) ** 2), updates\n",
        "  now = state.replace(batch_stats=updates['batch_stats'])\n"
        "  seen = model.apply({'params': params, 'batch_stats': now.batch_stats}, batch, train=False)\n"
        "  return jnp.mean((out - 1.0) ** 2 + seen), updates\n",
    ),
}


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_through_updated_statistics_are_said(kit, name: str) -> None:
    assert DERIVED[name][0] in LOOP
    done = kit.migrate(LOOP.replace(*DERIVED[name]), kit.NORMED)
    assert done.codes == ["NNX603", "NNX607"], done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"][:1], before["losses"][:1], rtol=1e-4, atol=1e-5)


# Around it all, and no derivative of it.
MAIN = """
def evaluate(state):
  variables = {'params': state.params, 'batch_stats': state.batch_stats}
  return state.apply_fn(variables, x, train=False, mutable=False)
def main(argv):
  state, total = turn((carry[0], jax.random.key(2)), x)
  return [float(total), *evaluate(state[0]).ravel().tolist(), *jax.tree.leaves(jax.tree.map(float, carry[0].step))]
more = app.run(main)
losses += more[:1]
"""


def test_what_calls_the_whole_program_takes_no_derivatives(kit) -> None:
    program = "import types\napp = types.SimpleNamespace(run=lambda f: f(None))\n" + LOOP + MAIN
    done = kit.migrate(program, kit.NORMED)
    assert "NNX607" not in done.codes
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4, atol=1e-5)


def test_a_derivative_by_another_object(kit) -> None:
    program = LOOP.replace(*DERIVED["read while it is trained"]).replace(
        "gradient = jax.value_and_grad(loss_fn, has_aux=True)", "gradient = scale.value_and_grad(loss_fn, has_aux=True)"
    )
    head = "import types\nscale = types.SimpleNamespace(value_and_grad=jax.value_and_grad)\n"
    assert "NNX607" in kit.migrate(head + program, kit.NORMED).codes


DROPPED = LOOP.replace("Normed(4)", "Normed(4, 0.5)").replace(
    "losses = [*",
    "def drawn(key):\n  return model.apply({'params': state.params, 'batch_stats': state.batch_stats}, x, True,"
    " rngs={'dropout': key}, mutable=['batch_stats'])[0]\n"
    "a, b, c = drawn(jax.random.key(5)), drawn(jax.random.key(5)), drawn(jax.random.key(6))\n"
    "masks = [bool((a == b).all()), bool((a == c).all())]\nlosses = [*",
)


def test_masks_go_by_the_key(kit) -> None:
    done = kit.migrate(DROPPED, kit.NORMED)
    assert done.codes == ["NNX602"] and "linen_parity.keyless(" in done.after
    before, after = done.both()
    assert before["masks"] == after["masks"] == [True, False]
    assert np.isfinite(after["losses"]).all()


def test_a_draw_without_a_key_raises(kit) -> None:
    done = kit.migrate(DROPPED.replace("masks = [", "silent = lambda: model.apply(variables, x)\nmasks = ["), kit.NORMED)
    assert done.codes == ["NNX602"]
    for side in done.both():
        with pytest.raises(Exception, match=r"is immutable|NoneType"):
            side["silent"]()


def test_a_model_of_another_flag(kit) -> None:
    program = LOOP.replace("old = model.apply(", "old = Normed(4, 0.5).apply(")
    done = kit.migrate(program, kit.NORMED)
    assert (
        done.codes == ["NNX602"] and "nnx.graphdef(nnx.eval_shape(lambda: linen_parity.keyless(Normed(4, 0.5" in done.after
    )
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4, atol=1e-5)
