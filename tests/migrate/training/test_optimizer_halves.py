"""`opt_init, opt_update = optax.adam(...)`, and `tx.init` and `tx.update` under names of their own."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

PAIR = "opt_init, opt_update = optax.adam(0.1)"
LOOP = f"""{NET}
PAIR
params = net.init(jax.random.key(0), x)["params"]
opt_state = opt_init(params)


def loss_of(params, x):
    return ((net.apply({{"params": params}}, x) - 1) ** 2).mean()


@jax.jit
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    updates, opt_state = opt_update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for _ in range(4):
    params, opt_state, loss = step(params, opt_state, x)
    print(loss)
MORE
print(loss_of(params, x))
"""
FUNCTION = f"""{NET}

def train(rate):
    params = net.init(jax.random.key(0), x)
    init, update = optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(rate, momentum=0.9))
    opt_state = init(params)

    @jax.jit
    def step(params, opt_state, x):
        loss, grads = jax.value_and_grad(lambda p: ((net.apply(p, x) - 1) ** 2).mean())(params)
        updates, opt_state = update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        return params, opt_state, loss

    for _ in range(3):
        params, opt_state, loss = step(params, opt_state, x)
        print(loss)
    return net.apply(params, x)


print(train(0.1).sum(), train(0.01).sum())
"""
BEST = """best = params
params, opt_state, loss = step(params, opt_state, x)
print(loss_of(best, x))"""
MASKED = """opt_init, opt_update = optax.adamw(
    0.1, weight_decay=0.9, mask=lambda params: {name: name == "Dense_0" for name in params}
)"""


def _loop(pair: str = PAIR, more: str = "") -> str:
    return LOOP.replace("PAIR", pair).replace("MORE", more)


ALIKE = {
    "pair": _loop(),
    "parentheses": _loop("(opt_init, opt_update) = optax.adam(0.1)"),
    "of_a_transformation": _loop("tx = optax.adam(0.1)\nopt_init, opt_update = tx"),
    "attributes": _loop("tx = optax.adam(0.1)\nopt_init, opt_update = tx.init, tx.update"),
    "one_by_one": _loop("tx = optax.adam(0.1)\nopt_init = tx.init\nopt_update = tx.update"),
    "update_alone": _loop("tx = optax.adam(0.1)\nopt_update = tx.update").replace("opt_init(", "tx.init("),
    "in_a_function": FUNCTION,
    "the_name_is_taken": _loop("tx = 3\n" + PAIR, "print(tx)"),
    "of_a_maker": _loop("def make(rate):\n    return optax.adam(rate)\n\n\nopt_init, opt_update = make(0.1)"),
}


@pytest.mark.parametrize("name", ALIKE)
def test_is_one_optimizer(name: str) -> None:
    taken, after = printing_sides.check(f"halves_{name}", ALIKE[name], "nnx")
    assert taken == ["NNX601"] and "optimizer.update(model, grads)" in after
    assert "opt_init(" not in after and "opt_update(" not in after
    assert printing_sides.check(f"halves_{name}_split", ALIKE[name], "functional")[0] == ["NNX602"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("best_kept", _loop(more=BEST), "read after an update"),
        ("jitted", _loop("opt_init, opt_update = optax.adam(0.1)\nopt_update = jax.jit(opt_update)"), "optimizer"),
        ("jitted_apart", _loop("tx = optax.adam(0.1)\nopt_init, opt_update = tx.init, jax.jit(tx.update)"), "no name"),
        ("another_state", _loop(more="print(opt_init(jnp.ones(3))[0].mu)"), "goes elsewhere"),
        ("two_pairs", _loop("_, opt_update = optax.adam(0.1)\nopt_init, _ = optax.adam(0.2)"), "several optimizers"),
        ("wrapped", _loop("a, b = optax.adam(0.1)\nopt_init, opt_update = optax.GradientTransformation(a, b)"), ""),
        (
            "updates_read",
            _loop().replace("    return optax", "    loss += optax.global_norm(updates)\n    return optax"),
            "once",
        ),
        ("masked", _loop(MASKED), ""),
    ],
)
def test_otherwise_it_is_the_same_loop(name: str, text: str, reason: str) -> None:
    taken, _ = printing_sides.check(f"halves_{name}", text, "nnx")
    if reason:
        assert taken != ["NNX601"]
        printing_sides.check_reason(text, reason)
    printing_sides.check(f"halves_{name}_split", text, "functional")


TWO = f"""{NET}
other = Net()
opt_init, opt_update = optax.adam(0.1)
a, b = net.init(jax.random.key(0), x)["params"], other.init(jax.random.key(1), x)["params"]
a_state, b_state = opt_init(a), opt_init(b)


def loss_of(a, b, x):
    return ((net.apply({{"params": a}}, x) + other.apply({{"params": b}}, 2 * x) - 1) ** 2).mean()


@jax.jit
def step(a, b, a_state, b_state, x):
    ga, gb = jax.grad(loss_of, argnums=(0, 1))(a, b, x)
    ua, a_state = opt_update(ga, a_state)
    ub, b_state = opt_update(gb, b_state)
    return optax.apply_updates(a, ua), optax.apply_updates(b, ub), a_state, b_state


for _ in range(3):
    a, b, a_state, b_state = step(a, b, a_state, b_state, x)
    print(loss_of(a, b, x))
"""
HANDED = f"""{NET}

def make_step(opt_update, net):
    @jax.jit
    def step(params, opt_state, x):
        grads = jax.grad(lambda p: ((net.apply(p, x) - 1) ** 2).mean())(params)
        updates, opt_state = opt_update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    return step


class Agent:
    def __init__(self, rate):
        self.net = net
        self.params = self.net.init(jax.random.key(0), x)
        self.opt_init, self.opt_update = optax.adam(rate)
        self.opt_state = self.opt_init(self.params)
        self.step = make_step(self.opt_update, self.net)

    def learn(self, x):
        self.params, self.opt_state = self.step(self.params, self.opt_state, x)
        return ((self.net.apply(self.params, x) - 1) ** 2).mean()


agent = Agent(0.1)
for _ in range(3):
    print(agent.learn(x))
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("text", [TWO, HANDED])
def test_of_two_models_and_of_objects(text: str, jit: str) -> None:
    printing_sides.check(f"halves_more_{jit}", text, jit)
