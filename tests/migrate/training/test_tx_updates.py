"""`state.tx.update(...)`, `optax.apply_updates` and `state.replace(...)`: what `apply_gradients` does, spelled out."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

STATE = f"""{NET}import functools

import flax


def loss_of(state, params, x):
    return ((state.apply_fn({{"params": params}}, x) - 1) ** 2).mean()


params = net.init(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=TX)


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: loss_of(state, p, x))(state.params)
STEP

for _ in range(4):
    state, loss = step(state, x)
    print(loss, state.step)
"""
UPDATE = "updates, opt_state = state.tx.update(grads, state.opt_state, state.params)"
APPLY = "params = optax.apply_updates(state.params, updates)"
REPLACE = "state = state.replace(step=state.step + 1, params=params, opt_state=opt_state)"
RETURN = "return state, loss"
ADAM = "optax.adam(0.1)"
MASKED = """optax.adamw(
    0.1,
    weight_decay=0.3,
    mask=lambda params: flax.traverse_util.path_aware_map(lambda path, _: path[-1] == "kernel", params),
)"""


def _check(stem: str, lines: list[str], jit: str, tx: str = ADAM) -> tuple[list[str], str]:
    body = "\n".join(f"    {line}" for line in lines)
    return printing_sides.check(f"tx_updates_{stem}_{jit}", STATE.replace("TX", tx).replace("STEP", body), jit)


ALIKE = {
    "spelled_out": [UPDATE, APPLY, REPLACE, RETURN],
    "by_keyword": [UPDATE.replace("state.params)", "params=state.params)"), APPLY, REPLACE, RETURN],
    "without_params": [UPDATE.replace(", state.params)", ")"), APPLY, REPLACE, RETURN],
    "in_the_return": [
        UPDATE,
        "params = optax.apply_updates(state.params, updates)",
        "return state.replace(step=state.step + 1, params=params, opt_state=opt_state), loss",
    ],
    "within_replace": [
        UPDATE,
        "state = state.replace(",
        "    step=state.step + 1, params=optax.apply_updates(state.params, updates), opt_state=opt_state",
        ")",
        RETURN,
    ],
    "old_params_before": [UPDATE, "loss += optax.global_norm(state.params)", APPLY, REPLACE, RETURN],
    "under_a_condition": ["if x.ndim == 2:", f"    {UPDATE}", f"    {APPLY}", f"    {REPLACE}", RETURN],
    "a_new_name": [
        UPDATE,
        APPLY,
        REPLACE.replace("state =", "new =", 1),
        "loss += loss_of(new, new.params, x)",
        "return new, loss",
    ],
}


@pytest.mark.parametrize("name", ALIKE)
def test_is_an_update_of_the_optimizer(name: str) -> None:
    taken, after = _check(name, ALIKE[name], "nnx")
    assert taken == ["NNX601"] and "optimizer.update(model, grads)" in after and "tx.update" not in after
    assert _check(name, ALIKE[name], "functional")[0] == ["NNX602"]


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_an_optimizer_that_goes_by_names(jit: str) -> None:
    assert _check("by_names", ALIKE["spelled_out"], jit, MASKED)[0] == [{"nnx": "NNX601", "functional": "NNX602"}[jit]]


@pytest.mark.parametrize(
    ("name", "lines", "reason"),
    [
        ("updates_read", [UPDATE, APPLY, REPLACE, "loss += optax.global_norm(updates)", RETURN], "otherwise than once"),
        ("params_read", [UPDATE, APPLY, "loss += optax.global_norm(params)", REPLACE, RETURN], "otherwise than once"),
        ("slots_read", [UPDATE, APPLY, REPLACE, "loss += opt_state[0].count", RETURN], "otherwise than once"),
        ("scaled", [UPDATE, "updates = jax.tree.map(lambda u: u / 2, updates)", APPLY, REPLACE, RETURN], "than once"),
        ("uncounted", [UPDATE, APPLY, REPLACE.replace("step=state.step + 1, ", ""), RETURN], "or the next step"),
        ("counted_twice", [UPDATE, APPLY, REPLACE.replace("+ 1", "+ 2"), RETURN], "or the next step"),
        ("left", [UPDATE, "if x.ndim > 5:", "    return state, loss", APPLY, REPLACE, RETURN], "not applied at once"),
        (
            "renamed",
            [UPDATE, "grads = jax.tree.map(jnp.abs, grads)", APPLY, REPLACE, "loss += optax.global_norm(grads)", RETURN],
            "not applied at once",
        ),
        (
            "old_state_read",
            [
                UPDATE,
                APPLY,
                REPLACE.replace("state =", "new =", 1),
                "loss += loss_of(state, state.params, x)",
                "return new, loss",
            ],
            "read after an update",
        ),
        (
            "in_two_rows",
            [
                UPDATE,
                APPLY,
                "state = state.replace(step=state.step + 1)",
                REPLACE.replace("step=state.step + 1, ", ""),
                RETURN,
            ],
            "not applied at once|or the next step",
        ),
    ],
)
def test_what_is_more_than_an_update_stays_on_split_state(name: str, lines: list[str], reason: str) -> None:
    body = "\n".join(f"    {line}" for line in lines)
    text = STATE.replace("TX", ADAM).replace("STEP", body)
    taken, _ = printing_sides.check(f"tx_updates_{name}", text, "nnx")
    assert taken == ["NNX602"]
    printing_sides.check_reason(text, reason)
