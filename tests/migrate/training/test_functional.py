"""The functional form: params as a tree of their own, and what must not take it."""

from __future__ import annotations

import flax
import jax
import numpy as np
import pytest

LOOP = """
x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
def turn(carry, batch):
  state, total = carry
  def loss_fn(params):
    return jnp.mean((model.apply(params, batch) - 1.0) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  state = state.apply_gradients(grads=grads)
  return (state, total + loss), loss
carry, losses = jax.lax.scan(turn, (state, 0.0), jnp.stack([x, x + 1, x + 2]))
losses = losses.tolist()
"""
# What is added, or replaced, that goes by what a dictionary of Linen is and an nnx.State is not, or out of sight.
LEFT = {
    "an item of params": ("losses = losses", "kernel = params['params']['Dense_0']['kernel']\nlosses = losses"),
    "paths": ("losses = losses", "jax.tree_util.tree_map_with_path(lambda p, v: str(p), params)\nlosses = losses"),
    "leaves by number": ("losses = losses", "first = jax.tree.leaves(params)[0]\nlosses = losses"),
    "a list in the tree's structure": (
        "losses = losses",
        "keys = jax.tree.unflatten(jax.tree.structure(params), [1, 2, 3, 4])\nlosses = losses",
    ),
    "where leaves are is said": (
        "losses = losses",
        "jax.tree.map(id, params, is_leaf=lambda n: 'kernel' in n)\nlosses = losses",
    ),
    "saved and restored": (
        "losses = losses",
        "kept = carry[0].params\nblob = flax.serialization.to_bytes(kept)\n"
        "model.apply(flax.serialization.from_bytes(kept, blob), x)\nlosses = losses",
    ),
    "kept in a list and put back": (
        "losses = losses",
        "kept = []\nkept.append(carry[0].params)\nlast = carry[0].replace(params=kept[0])\n"
        "losses = losses + model.apply(last.params, x)[0, 0]",
    ),
    "params that something else has made": (
        "losses = losses",
        "def load():\n  return {'params': dict(params['params'])}\nlast = carry[0].replace(params=load())\n"
        "losses = losses + model.apply(last.params, x)[0, 0]",
    ),
    "a state of params that something else has made": (
        "losses = losses",
        "made = flax.serialization.msgpack_restore(flax.serialization.to_bytes(params))\n"
        "last = train_state.TrainState.create(apply_fn=model.apply, params=made, tx=optax.sgd(0.1))\n"
        "losses = losses + model.apply(last.params, x)[0, 0]",
    ),
    "a key of what is not followed": (
        "losses = losses",
        "def pack(c):\n  return {'carry': c}\nstate = list(map(pack, [carry]))[0]['carry'][0]\nlosses = losses",
    ),
    "a dictionary that is changed": ("losses = losses", "d = {'s': carry[0]}\nd['s'] = None\nlosses = losses"),
    "a dictionary that another follows": (
        "losses = losses",
        "d = {'s': carry[0]}\nif len(losses) > 2:\n  d = {'t': carry[0]}\nprint(d['t'])\nlosses = losses",
    ),
    "the items of a dictionary": (
        "losses = losses",
        "d = {'s': carry[0]}\nstate = list(d.values())[0]\nmodel.apply(state.params, x)\nlosses = losses",
    ),
    "a dictionary by keywords": ("losses = losses", "d = dict(s=carry[0])\nd['s'].apply_fn(params, x)\nlosses = losses"),
    "keys taken apart": ("losses = losses", "a, b = {'s': carry[0], 't': carry[0]}\nlosses = losses"),
    "a state of each step": ("total + loss), loss", "total + loss), loss * state.step"),
    "states of each step": ("total + loss), loss\ncarry, losses", "total + loss), (loss, state)\ncarry, (losses, _)"),
    "a list that grows": ("losses = losses", "kept = []\nkept.append(carry[0])\nlosses = losses"),
    "a function that is not seen": (
        "losses = losses",
        "jax.lax.switch(0, list({1: lambda s: s}.values()), carry[0])\nlosses = losses",
    ),
    "a loop's arguments by name": (
        "losses = losses",
        "jax.lax.while_loop(lambda s: s.step < 9, lambda s: s.replace(step=9), init_val=carry[0])\nlosses = losses",
    ),
    "a loop over states": ("losses = losses", "for s in [carry[0]]:\n  s.apply_fn(s.params, x)\nlosses = losses"),
    "the names of the collections": ("losses = losses", "print(list(params))\nlosses = losses"),
    "other params": ("losses = losses", "model.apply({'params': dict(params['params'])}, x)\nlosses = losses"),
    "another key for another shape": ("losses = losses", "model.init(jax.random.key(1), jnp.ones((2, 7)))\nlosses = losses"),
}

FOLLOWED = {
    "a key that somebody asks for": "def pack(c):\n  return {'carry': c}\nstate = pack(carry)['carry'][0]",
    "a loop over a dictionary": "state = jax.lax.fori_loop(0, 2, lambda i, c: c, {'s': carry[0]})['s']",
    "either of two dictionaries": (
        "def pack(c, n):\n  if n:\n    return {'s': c, 'n': n}\n  return {'n': 1, 's': c}\nstate = pack(carry[0], 2)['s']"
    ),
    "a dictionary in a tuple": "state, n = (({'s': carry[0]}, 1)[0]['s'], 2)",
    "a dictionary put into another": "state = {**{'s': carry[0], 'n': 1}, 'n': 2}['s']",
    "a dictionary in another": "state = {'d': {'s': carry[0], 'n': 1}, 'm': 2}['d']['s']",
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_states_in_dictionaries(kit, name: str) -> None:
    read = "losses = losses + model.apply(state.params, x)[0, 0]"
    done = kit.migrate(LOOP.replace("losses = losses", f"{FOLLOWED[name]}\n{read}"), kit.MLP)
    assert done.codes == ["NNX602"], done.after
    before, after = done.both()
    np.testing.assert_allclose(np.asarray(after["losses"]), np.asarray(before["losses"]), rtol=1e-5)


# What reads params under Linen's names is given dictionaries of them.
READ = {
    "bytes": "said = flax.serialization.to_bytes(carry[0].params)",
    "of a state": "said = flax.traverse_util.flatten_dict(carry[0].params)",
    "under a name": "last = carry[0].params\nsaid = flax.traverse_util.flatten_dict(jax.tree.map(jnp.sin, last), sep='/')",
    "of a function that flattens": (
        "said = {}\ndef save(tree, n):\n  flat = flax.traverse_util.flatten_dict(tree)\n"
        "  said.update({k: flat[k] * n for k in flat})\n"
        "save(carry[0].params, 2)"
    ),
}


@pytest.mark.parametrize("name", READ)
def test_params_read_under_linens_names(kit, name: str) -> None:
    done = kit.migrate(LOOP.replace("losses = losses", f"{READ[name]}\nlosses = losses"), kit.MLP)
    assert done.codes == ["NNX602"] and "linen_tree(" in done.after
    before, after = done.both()
    if name == "bytes":
        restored = [flax.serialization.msgpack_restore(side["said"]) for side in (before, after)]
    else:
        restored = [before["said"], after["said"]]
    assert jax.tree.structure(restored[0]) == jax.tree.structure(restored[1])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), *restored)


def test_a_state_in_a_tuple_through_a_scan(kit) -> None:
    done = kit.migrate(LOOP, kit.MLP)
    assert done.codes == ["NNX602"] and not done.created
    assert (
        "graphdef, params = nnx.split(model(in_features=x.shape[-1], rngs=nnx.Rngs(jax.random.key(0))), nnx.Param)"
        in done.after
    )
    assert "nnx.TrainState.create(graphdef, params=params, tx=optax.adam(0.1))" in done.after
    assert "nnx.merge(graphdef, params)(batch)" in done.after
    before, after = done.both()
    assert len(set(before["losses"])) == 3
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


@pytest.mark.parametrize("name", LEFT)
def test_what_needs_linens_dictionaries_keeps_them(kit, name: str) -> None:
    done = kit.migrate(LOOP.replace(*LEFT[name]), kit.MLP)
    if name in ("a state of each step", "paths"):  # an array that is read off the state is none; Linen's paths
        assert done.codes == ["NNX602"]
    else:
        assert done.codes == ["NNX603"], done.after
    before, after = done.both()
    np.testing.assert_allclose(np.asarray(after["losses"]), np.asarray(before["losses"]), rtol=1e-5)


TWO_WIDTHS = """
x = jnp.ones((2, 5))
def train(width):
  model = MLP(width)
  def create(key):
    params = model.init(key, x)
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
  state = create(jax.random.key(0))
  def step(state):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply(p, x) - 1.0) ** 2))(state.params)
    return state.apply_gradients(grads=grads), loss
  said = []
  for _ in range(3):
    state, loss = step(state)
    said.append(float(loss))
  return RETURNED
losses = train(4) + train(8)
"""
# What `train` returns, and the form: each call has a model of its own, whose structure `create` made by its state.
RETURNED = {"said": "NNX601", "[*said, *jax.vmap(model.apply, (None, 0))(state.params, x).ravel().tolist()]": "NNX602"}
LEAVING = TWO_WIDTHS.replace("RETURNED", "model, state.params, said").replace(
    "losses = train(4) + train(8)",
    "model, _, losses = train(4)\nother, params, more = train(4)\nlosses += more + model.apply(params, x).ravel().tolist()",
)


@pytest.mark.parametrize("returned", RETURNED)
def test_a_model_of_each_call_of_a_function(kit, returned: str) -> None:
    done = kit.migrate(TWO_WIDTHS.replace("RETURNED", returned), kit.MLP)
    assert done.codes == [RETURNED[returned]]
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


def test_a_model_that_leaves_the_function_that_made_it(kit) -> None:
    done = kit.migrate(LEAVING, kit.MLP)
    assert done.codes == ["NNX602"]
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


MAPPED = LOOP.replace("losses = losses", "extra = CALL\nlosses = losses")


@pytest.mark.parametrize(
    "call, code",
    [
        ("jax.vmap(model.apply, in_axes=(None, 0))(carry[0].params, x)", "NNX602"),
        ("jax.jit(model.apply)({'params': carry[0].params['params']}, x)", "NNX602"),
        ("jax.jit(model.apply)(carry[0].params, x, mutable=False)", "NNX603"),
        ("jax.jit(model.apply, static_argnames='mutable')(carry[0].params, x, mutable=False)", "NNX603"),
        ("list(map(functools.partial(model.apply, carry[0].params), [x]))[0]", "NNX603"),
    ],
)
def test_apply_in_a_transform(kit, call: str, code: str) -> None:
    done = kit.migrate("import functools\n" + MAPPED.replace("CALL", call), kit.MLP)
    assert done.codes == [code]
    if "static" in call or "mutable" not in call:
        before, after = done.both()
        np.testing.assert_allclose(after["extra"], before["extra"], rtol=1e-5)


def test_two_models_in_one_scope_have_names_of_their_own(kit) -> None:
    program = LOOP.replace("model = MLP(4)", "model = MLP(4)\ncritic = MLP(4)").replace(
        "losses = losses",
        "critic_params = critic.init(jax.random.key(1), x)\nold = critic_params\n"
        "value = float(critic.apply(old, x).mean())\n"
        "critic_params = jax.tree.map(jnp.zeros_like, critic_params)\nlosses = losses",
    )
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX602"]
    assert "critic_graphdef, critic_params = " in done.after and "model_graphdef, params = " in done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"] + [after["value"]], before["losses"] + [before["value"]], rtol=1e-5)


STATES = LOOP.replace("x = jnp.ones", "class State(train_state.TrainState):\n  turns: int\n\nx = jnp.ones").replace(
    "train_state.TrainState.create(", "State.create(turns=0, "
)


@pytest.mark.parametrize(
    "old, new, code",
    [
        ("\nx = jnp", "\nx = jnp", "NNX602"),
        ("\nx = jnp", "  def next(self):\n    return self.replace(turns=self.turns + 1)\n\nx = jnp", "NNX603"),
        ("\nx = jnp", "\nclass More(State):\n  extra: int\n\nx = jnp", "NNX603"),
    ],
)
def test_a_class_of_states(kit, old: str, new: str, code: str) -> None:
    done = kit.migrate(STATES.replace(old, new, 1), kit.MLP)
    assert done.codes == [code]
    assert ("class State(nnx.TrainState):" in done.after) == (code == "NNX602")
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


def test_a_class_of_states_of_which_one_model_keeps_linens(kit) -> None:
    program = STATES + (
        "critic = MLP(4)\nweights = critic.init(jax.random.key(1), x)\n"
        "other = State.create(turns=0, apply_fn=critic.apply, params=weights, tx=optax.sgd(0.1))\n"
        "kernel = weights['params']['Dense_0']['kernel']\nvalue = float(other.apply_fn(other.params, x).mean())\n"
    )
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX603"] and "(train_state.TrainState):" in done.after
    before, after = done.both()
    np.testing.assert_allclose([*after["losses"], after["value"]], [*before["losses"], before["value"]], rtol=1e-5)


CHOOSE = "def choose(n):\n  return MLP(n) if n > 3 else MLP(n + 1)"
OTHER = "def other(made):\n  return made.apply(params, x)"


@pytest.mark.parametrize(
    "functions, call, code",
    [
        ("", "float(MLP(width).apply(params, x).mean())", "NNX602"),
        ("", "float(jax.vmap(MLP(width).apply, (None, 0))(params, x).mean())", "NNX603"),  # sizes of a single example
        (CHOOSE, "float(choose(width).apply(params, x).mean())", "NNX603"),
        (OTHER, "float(other(MLP(width)).mean())", "NNX602"),
        (OTHER, "float(other(MLP(width)).mean() + other(model).mean())", "NNX603"),
        ("", "float(model.apply(params, x, method=model.__call__).mean())", "NNX602"),
        ("", "float(model.apply(params, x, method=[model.__call__][0]).mean())", "NNX603"),
    ],
)
def test_other_constructions_of_the_model(kit, functions: str, call: str, code: str) -> None:
    program = LOOP.replace("\nx = jnp.ones", f"\n{functions}\nwidth = 4\nx = jnp.ones", 1)
    done = kit.migrate(program.replace("losses = losses", f"value = {call}\nlosses = losses"), kit.MLP)
    assert done.codes == [code]
    before, after = done.both()
    np.testing.assert_allclose([*after["losses"], after["value"]], [*before["losses"], before["value"]], rtol=1e-5)

MASKED = """
x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)
def decays(tree):
  return flax.traverse_util.path_aware_map(lambda path, _: path[-1] == 'kernel', tree)
tx = optax.adamw(0.1, weight_decay=0.5, mask=decays)
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)
probe = Normed(3)
variables = probe.init(jax.random.key(1), x, train=False)
losses = []
for _ in range(3):
  loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply(p, x) - 1.0) ** 2))(state.params)
  state = state.apply_gradients(grads=grads)
  losses.append(float(loss))
  losses += probe.apply(variables, model.apply(state.params, x).repeat(2, 1)[:, :5], train=False).ravel().tolist()
"""


def test_masks_of_an_optimizer_concern_the_models_that_it_has(kit) -> None:
    done = kit.migrate(MASKED, kit.MLP, kit.NORMED, options=kit.Options(jit="functional"))
    assert done.codes == ["NNX602"] and done.after.count("by_linen_keys(model_graphdef, tx, whole=True)") == 1, done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)
