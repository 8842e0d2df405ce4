"""What is said of a tree that the flow of values lost sight of: where that was, not only where the tree ended up."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

BY_HAND = f"""{NET}
tx = optax.adam(0.1)
RULES = {{"adam": tx.update}}
params = net.init(jax.random.key(0), x)["params"]
opt_state = tx.init(params)


def changed(params, opt_state, grads):
    updates, opt_state = RULES["adam"](grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@jax.jit
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(lambda p: ((net.apply({{"params": p}}, x) - 1) ** 2).mean())(params)
    params, opt_state = changed(params, opt_state, grads)
    return params, opt_state, loss


for _ in range(3):
    params, opt_state, loss = step(params, opt_state, x)
    print(loss)
"""
AVERAGED = f"""{NET}
tx = optax.sgd(0.1)
params = net.init(jax.random.key(0), x)["params"]
opt_state = tx.init(params)
seen = []
for _ in range(3):
    grads = jax.grad(lambda p: ((net.apply({{"params": p}}, x) - 1) ** 2).mean())(params)
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    seen.append(params)
mean = jax.tree.map(lambda *each: sum(each) / 3, *seen)
print(((net.apply({{"params": mean}}, x) - 1) ** 2).mean())
"""
HANDED = f"""{NET}
params = net.init(jax.random.key(0), x)["params"]
PICK = {{"same": lambda tree: tree}}


def evaluate(params, x):
    return net.apply({{"params": params}}, x).sum()


print(evaluate(PICK["same"](params), x), evaluate(params, x))
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BY_HAND, r"`RULES\['adam'\]\(grads, opt_state, params\)` is not known \(line \d+\)"),
        (AVERAGED, r"variables from elsewhere \(line \d+\), as `\*seen` is not known \(line \d+\)"),
        (HANDED, r"`PICK\['same'\]\(params\)` is not known"),
    ],
)
def test_the_first_cause_is_said(text: str, reason: str) -> None:
    for jit in ("nnx", "functional"):
        taken, _ = printing_sides.check(f"origins_{jit}", text, jit)
        assert "NNX601" not in taken
    printing_sides.check_reason(text, reason)
