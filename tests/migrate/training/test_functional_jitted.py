"""Jitted `apply` in split state, and models that hold arrays beside their variables."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

BY_HAND = """params = net.init(jax.random.key(0), x)
tx = optax.sgd(0.1, momentum=0.9)
opt_state = tx.init(params)
first = params
JITTED


@jax.jit
def step(params, opt_state):
    loss, grads = jax.value_and_grad(lambda p: ((CALLED(p, x) - 1) ** 2).mean())(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


for _ in range(3):
    params, opt_state, loss = step(params, opt_state)
    print(float(loss), float(CALLED(params, x).sum()), float(CALLED(first, x).sum()))
"""
TWINS = """class Targets(TrainState):
    target_params: dict


def create(net, key):
    return net.init(key, x)["params"]


one, two = jax.random.split(jax.random.key(0))
a = Targets.create(
    apply_fn=net.apply, params=net.init(one, x)["params"], target_params=net.init(one, x)["params"], tx=optax.adam(0.1)
)
b = Targets.create(
    apply_fn=net.apply, params=net.init(two, x)["params"], target_params=net.init(two, x)["params"], tx=optax.adam(0.2)
)
net.apply = jax.jit(net.apply)


@jax.jit
def update(a, b, x):
    aim = 1 - jnp.minimum(net.apply({"params": a.target_params}, x), net.apply({"params": b.target_params}, x))

    def loss_fn(params):
        return ((net.apply({"params": params}, x) - aim) ** 2).mean()

    a_loss, a_grads = jax.value_and_grad(loss_fn)(a.params)
    b_loss, b_grads = jax.value_and_grad(loss_fn)(b.params)
    a, b = a.apply_gradients(grads=a_grads), b.apply_gradients(grads=b_grads)
    a = a.replace(target_params=optax.incremental_update(a.params, a.target_params, 0.3))
    b = b.replace(target_params=optax.incremental_update(b.params, b.target_params, 0.3))
    return a, b, (a_loss, b_loss)


def act(x):
    return net.apply({"params": a.params}, x)


for _ in range(3):
    a, b, losses = update(a, b, x)
    print([float(loss) for loss in losses], float(act(x).sum()), float(net.apply({"params": b.target_params}, x).sum()))
"""
SCALED = (
    NET.replace("net = Net()", "net = Net(SCALE)")
    .replace("import jax\n", "import jax\nimport numpy as np\n", 1)
    .replace("    @nn.compact", "    scale: ANNOTATION\n\n    @nn.compact")
    .replace("ones)(x)))", "ones)(x))) * self.scale")
)


def by_hand(jitted: str, called: str) -> str:
    return NET + BY_HAND.replace("JITTED", jitted).replace("CALLED", called)


def scaled(annotation: str, scale: str) -> str:
    program = SCALED.replace("ANNOTATION", annotation).replace("net = Net(SCALE)", scale)
    return program + BY_HAND.replace("JITTED", "").replace("CALLED", "net.apply")


SPLIT, KEPT = ["NNX602"], ["NNX603"]
# Name → program, form, what stands in the result.
PROGRAMS = {
    "a name": (by_hand("predict = jax.jit(net.apply)", "predict"), SPLIT, "predict = jax.jit(lambda params, *args"),
    "static arguments": (
        by_hand("predict = jax.jit(net.apply, static_argnames=('scale',))", "predict"),
        SPLIT,
        "static_argnames=('scale',)",
    ),
    "the attribute": (by_hand("net.apply = jax.jit(net.apply)", "net.apply"), SPLIT, "net_forward(params, x)"),
    "the attribute, called in what is jitted alone": (
        by_hand("net.apply = jax.jit(net.apply)", "net.apply").partition("for _ in")[0]
        + "for _ in range(3):\n    params, opt_state, loss = step(params, opt_state)\n    print(float(loss))\n",
        None,
        "",
    ),
    "twins with targets": (NET + TWINS, SPLIT, "net_forward(a.params, x)"),
    "handed on": (
        by_hand("predict = jax.jit(net.apply)", "predict") + "print(float(sum(f(params, x).sum() for f in [predict])))\n",
        KEPT,
        "predict = jax.jit(net.apply)",
    ),
    "with other options": (
        by_hand("predict = jax.jit(net.apply, keep_unused=True)", "predict"),
        KEPT,
        "keep_unused=True",
    ),
    "a name given twice": (
        by_hand("predict = net.apply\nif len(x) > 1:\n    predict = jax.jit(net.apply)", "predict"),
        KEPT,
        "predict = net.apply",
    ),
    "another name for the function": (
        by_hand("net_forward = None\nnet.apply = jax.jit(net.apply)", "net.apply"),
        SPLIT,
        "forward(params, x)",
    ),
    "a field that is an array": (scaled("jax.Array", "net = Net(jnp.array([2.0]))"), SPLIT, "unfixed("),
    "an array of numpy in a keyword": (
        scaled("object", "net = Net(scale=np.full((1,), 2.0, np.float32))"),
        SPLIT,
        "unfixed(",
    ),
    "an array under a name": (scaled("object", "scales = jnp.array([2.0])\nnet = Net(scales)"), SPLIT, "unfixed("),
    "a number": (scaled("float", "net = Net(2.0)"), SPLIT, "partial(Net, 2.0)"),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_jitted_apply(name: str, jit: str) -> None:
    text, forms, said = PROGRAMS[name]
    found, after = printing_sides.check("jitted", text, jit)
    assert forms is None or found == forms
    assert said in after
