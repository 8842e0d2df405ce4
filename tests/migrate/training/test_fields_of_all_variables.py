"""Fields of a state that hold all that `init` returns: params under their key, and statistics."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state

ones = nn.initializers.constant(0.3)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Dense(4, kernel_init=ones)(x)
        STATISTICS
        return nn.Dense(2, kernel_init=ones)(jnp.tanh(x))


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
variables = net.init(jax.random.key(0), x)


def halved(tree):
    return jax.tree.map(lambda a: a * 0.5, tree)


"""
STATISTICS = HEAD.replace("STATISTICS", "x = nn.BatchNorm(use_running_average=not train, momentum=0.8)(x)") + (
    """class State(train_state.TrainState):
    batch_stats: dict
    ema: dict


state = State.create(
    apply_fn=net.apply,
    params=variables["params"],
    batch_stats=variables["batch_stats"],
    ema=GIVEN,
    tx=optax.sgd(0.1),
)


@jax.jit
def step(state, x):
    def loss_fn(p):
        out, new = state.apply_fn({"params": p, "batch_stats": state.batch_stats}, x, mutable=["batch_stats"])
        return ((out - 1) ** 2).mean(), new

    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=new["batch_stats"])
    EMA
    return state, loss


for _ in range(4):
    state, loss = step(state, x)
    print(loss, net.apply(state.ema, x, train=False).sum())
    print(net.apply({"params": state.params, "batch_stats": state.batch_stats}, x, train=False).sum())
"""
)
WHOLE = '{"params": state.params, "batch_stats": state.batch_stats}'
MIXED = f"state = state.replace(ema=jax.tree.map(lambda e, p: 0.9 * e + 0.1 * p, state.ema, {WHOLE}))"
AVERAGES = {
    "under_a_name": (
        "variables",
        f"all_of_it = {WHOLE}\n    {MIXED.replace(WHOLE, 'all_of_it')}",
    ),
    "on_the_spot": ("variables", MIXED),
    "by_optax": ("variables", f"state = state.replace(ema=optax.incremental_update({WHOLE}, state.ema, 0.1))"),
    "spelled_out": ('{"params": variables["params"], "batch_stats": variables["batch_stats"]}', MIXED),
    "mapped": ("jax.tree.map(lambda a: a * 0.5, variables)", "pass"),
    "replaced": ("variables", f"state = state.replace(ema={WHOLE})"),
    "replaced_with_what_is_mapped": ("variables", f"state = state.replace(ema=jax.tree.map(jnp.tanh, {WHOLE}))"),
    "out_of_a_function": ("halved(variables)", f"state = state.replace(ema=halved({WHOLE}))"),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", AVERAGES)
def test_keeps_statistics(name: str, jit: str) -> None:
    given, ema = AVERAGES[name]
    text = STATISTICS.replace("GIVEN", given).replace("EMA", ema)
    assert printing_sides.check(f"all_variables_{name}_{jit}", text, jit)[0] == ["NNX603"]


SAVERS = "from flax.serialization import from_bytes, msgpack_restore, to_bytes\n"
PARAMS = SAVERS + HEAD.replace("        STATISTICS\n", "").replace(", train=True", "")
PARAMS += """class State(train_state.TrainState):
    ema: dict


state = State.create(apply_fn=net.apply, params=variables["params"], ema=variables, tx=optax.sgd(0.1))


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((net.apply({"params": p}, x) - 1) ** 2).mean())(state.params)
    state = state.apply_gradients(grads=grads)
    new = {"params": state.params}
    return state.replace(ema=jax.tree.map(lambda e, p: 0.9 * e + 0.1 * p, state.ema, new)), loss


for _ in range(3):
    state, loss = step(state, x)
    print(loss, net.apply(state.ema, x).sum())
    SHOW
"""
LEAF_BY_LEAF = ("nothing", "leaves")
SHOWN = {
    "nothing": "pass",
    "leaves": "print(sum(jnp.abs(p).sum() for p in jax.tree.leaves(state.ema)), optax.global_norm(state.ema))",
    "keys": "print(list(state.ema), len(state.ema))",
    "paths": "print(jax.tree_util.tree_leaves_with_path(state.ema)[0][0])",
    "an_item": 'print(optax.global_norm(state.ema["params"]), list(state.ema["params"]))',
    "printed": "print(jax.tree.map(jnp.shape, state.ema))",
    "in_a_text": 'print(f"{jax.tree.map(jnp.shape, state.ema)}")',
    "saved": "print(sorted(msgpack_restore(to_bytes(state.ema))))",
    "saved_in_a_dictionary": 'print(sorted(msgpack_restore(to_bytes({"ema": state.ema}))["ema"]))',
    "saved_with_its_state": 'print(sorted(msgpack_restore(to_bytes(state))["ema"]))',
    "restored_with_its_state": "state = from_bytes(state, to_bytes(state))",
}


@pytest.mark.parametrize("name", SHOWN)
def test_has_params_under_their_key(name: str) -> None:
    text = PARAMS.replace("SHOW", SHOWN[name])
    for jit in ("nnx", "functional"):
        form, _ = printing_sides.check(f"params_and_their_key_{name}_{jit}", text, jit)
        assert form == (["NNX603"] if name not in LEAF_BY_LEAF else ["NNX601"] if jit == "nnx" else ["NNX602"])


@pytest.mark.parametrize("name", SHOWN)
def test_of_params_alone(name: str) -> None:
    """The same fields, which are given params alone."""
    text = PARAMS.replace("SHOW", SHOWN[name]).replace("ema=variables", 'ema=variables["params"]')
    text = text.replace("state.ema, new)", "state.ema, state.params)")
    text = text.replace("apply(state.ema", 'apply({"params": state.ema}')
    text = text.replace('    new = {"params": state.params}\n', "")
    text = text.replace('["params"]), list(state.ema["params"]))', '["Dense_0"]), list(state.ema["Dense_0"]))')
    for jit in ("nnx", "functional"):
        printing_sides.check(f"a_field_of_params_{name}_{jit}", text, jit)


DISPLAYS = {
    "in_a_text": 'print(f"{state.ema}"[:8])',
    "mapped_in_a_text": 'print(f"{jax.tree.map(jnp.shape, state.ema)}")',
    "by_percent": 'print("%s" % jax.tree.map(jnp.shape, state.ema))',
    "by_percent_in_a_tuple": 'print("%s" % (jax.tree.map(jnp.shape, state.ema),))',
    "a_dictionary": 'kept = {"ema": state.ema}; print(str(jax.tree.map(jnp.shape, kept)), sorted(kept["ema"]))',
    "variables": 'kept = {"params": state.ema}; print(str(jax.tree.map(jnp.shape, kept)))',
    "variables_by_paths": 'kept = {"params": state.ema}; print(sorted(flatten_dict(kept, sep="/")))',
    "variables_saved": 'kept = {"params": state.ema}; print(sorted(msgpack_restore(to_bytes(kept))["params"]))',
    "saved_in_a_tuple": 'print(sorted(msgpack_restore(to_bytes((state.ema, 1)))["0"]))',
    "saved_in_dictionaries": 'print(sorted(msgpack_restore(to_bytes({"a": {"params": state.ema}}))["a"]["params"]))',
    "applied": 'kept = {"params": state.ema}; print(net.apply(kept, x).sum())',
    "one_or_the_other": "print(optax.global_norm(state.ema or state.params))",
    "yielded": "print(sorted(next(state.ema for _ in range(1))))",
}


@pytest.mark.parametrize("name", DISPLAYS)
def test_stands_in_others(name: str) -> None:
    text = PARAMS.replace("SHOW", DISPLAYS[name]).replace("ema=variables", 'ema=variables["params"]')
    text = text.replace("state.ema, new)", "state.ema, state.params)").replace('    new = {"params": state.params}\n', "")
    text = "from flax.traverse_util import flatten_dict\n" + text
    text = text.replace("apply(state.ema", 'apply({"params": state.ema}')
    for jit in ("nnx", "functional"):
        printing_sides.check(f"a_field_{name}_{jit}", text, jit)


MAPPED = "jax.tree.map(jnp.asarray, state.params)"
NEW = [*(name for name in DISPLAYS if "_" in name), "items"]


@pytest.mark.parametrize("name", NEW)
def test_new_trees_stand_in_others(name: str) -> None:
    """The same for what is made of params leaf by leaf."""
    shown = {**DISPLAYS, "items": "print({k: t['bias'] for k, t in state.ema.items()})"}[name].replace("state.ema", MAPPED)
    text = "from flax.traverse_util import flatten_dict\n" + PARAMS.replace("SHOW", shown)
    printing_sides.check(f"a_new_tree_{name}", text, "nnx")
