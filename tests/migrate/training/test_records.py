"""States and params in NamedTuples and dataclasses of the project, and functions that states of several models share."""

from __future__ import annotations

import numpy as np
import pytest

LOOP = """
from typing import NamedTuple

class Learner(NamedTuple):
  net: train_state.TrainState
  target: Any
  turns: int = 0

x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)
net = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))

@jax.jit
def turn(learner, batch):
  def loss_fn(params):
    wanted = model.apply(learner.target, batch)
    return jnp.mean((learner.net.apply_fn(params, batch) - 0.9 * wanted) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(learner.net.params)
  learner = learner._replace(net=learner.net.apply_gradients(grads=grads), turns=learner.turns + 1)
  return learner, loss

learner = Learner(net, target=params)
losses = []
for i in range(4):
  learner, loss = turn(learner, x + i)
  losses.append(float(loss))
"""
STRUCT = (
    LOOP.replace("from typing import NamedTuple", "from flax import struct")
    .replace("class Learner(NamedTuple)", "@struct.dataclass\nclass Learner")
    .replace("_replace", "replace")
)
MORE = "losses += [float(v) for v in jnp.ravel(VALUE)]\n"


def both(done) -> None:
    before, after = done.both()
    assert len(set(before["losses"])) > 3
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    "old, new",
    [
        ("MORE", "model.apply(learner.target, x)"),
        ("MORE", "learner[0].apply_fn(learner[0].params, x)"),
        ("MORE", "learner[-2] and model.apply(learner[-2], x)"),
        ("learner = Learner(net, target=params)", "learner = Learner(turns=0, target=params, net=net)"),
        ("learner = Learner(net, target=params)", "learner = first = Learner(net, params, 0)"),
        ("  losses.append", "  net, target, turns = learner\n  learner = Learner(net, target, turns)\n  losses.append"),
        ("class Learner", "class Other(NamedTuple):\n  net: Any\n\nclass Learner"),
        ("return learner, loss", "return Learner(*[learner.net], target=learner.target), loss"),
    ],
)
def test_a_record_of_states(kit, old: str, new: str) -> None:
    program = LOOP + MORE.replace("VALUE", new) if old == "MORE" else LOOP.replace(old, new, 1)
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX603" if "*" in new or " and " in new else "NNX602"], done.after
    both(done)


@pytest.mark.parametrize(
    "old, new",
    [
        ("turns: int", '"""What is learned."""\n  turns: int'),
        ("turns: int = 0", "turns: int = struct.field(default=0)"),
        ("@struct.dataclass\nclass Learner:", "class Learner(struct.PyTreeNode):"),
    ],
)
def test_a_struct_of_states(kit, old: str, new: str) -> None:
    done = kit.migrate(STRUCT.replace(old, new, 1), kit.MLP)
    assert done.codes == ["NNX602"], done.after
    both(done)


@pytest.mark.parametrize(
    "old, new",
    [
        ("  turns: int", "  def soft(self):\n    return self.net.params\n  turns: int"),
        ("  turns: int", "  @property\n  def q(self):\n    return self.net.params['params']\n  turns: int"),
        ("target: Any", "target: Any = struct.field(pytree_node=True)"),
        ("x = jnp.ones", "class More(Learner):\n  pass\n\nx = jnp.ones"),
        ("MORE", "learner.__getattribute__('net').step"),
        ("MORE", "getattr(learner, 'net').params['params']['Dense_0']['bias']"),
        ("MORE", "vars(learner)['target']['params']['Dense_0']['bias']"),
        ("MORE", "(lambda *given: given[0])(learner).target['params']['Dense_0']['bias']"),
        ("MORE", "jax.flatten_util.ravel_pytree(learner)[0]"),
        ("learner = Learner(net", "learner = dict(made=Learner)['made'](net"),
    ],
)
def test_what_is_not_followed_keeps_linens_dictionaries(kit, old: str, new: str) -> None:
    program = STRUCT + MORE.replace("VALUE", new) if old == "MORE" else STRUCT.replace(old, new, 1)
    done = kit.migrate("import jax.flatten_util\n" + program, kit.MLP)
    assert done.codes == ["NNX603"], done.after
    both(done)


@pytest.mark.parametrize("record", ["jax.tree.map(lambda v: v + 0, learner)", "[learner][0]", "learner"])
def test_items_that_are_looked_at_are_linens(kit, record: str) -> None:
    program = STRUCT + MORE.replace("VALUE", f"{record}.target['params']['Dense_0']['bias']")
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX602"], done.after
    both(done)


@pytest.mark.parametrize(
    "new",
    [
        "dict(learner._asdict())['target']['params']['Dense_0']['bias']",
        "[v for v in learner][1]['params']['Dense_0']['bias']",
        "learner[1:][0]['params']['Dense_0']['bias']",
        "list(learner)[1]['params']['Dense_0']['bias']",
        "(learner + (1,))[1]['params']['Dense_0']['bias']",
        "learner[losses.count(-1.0) + 1]['params']['Dense_0']['bias']",
    ],
)
def test_what_is_not_followed_in_a_tuple(kit, new: str) -> None:
    done = kit.migrate(LOOP + MORE.replace("VALUE", new), kit.MLP)
    assert done.codes == ["NNX603"], done.after
    both(done)


def test_a_record_that_is_changed_in_place(kit) -> None:
    program = STRUCT.replace("@struct.dataclass", "@struct.dataclass(frozen=False)").replace(
        "  losses.append", "  learner.target = learner.net.params\n  losses.append"
    )
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX603"]
    both(done)


def test_a_field_that_holds_no_tree_at_first(kit) -> None:
    done = kit.migrate(
        LOOP.replace("target: Any", "target: Any = None")
        .replace("Learner(net, target=params)", "Learner(net)")
        .replace("for i", "learner = learner._replace(target=params)\nfor i"),
        kit.MLP,
    )
    assert done.codes == ["NNX603"]
    both(done)


@pytest.mark.parametrize(
    "returned, received",
    [
        ("Learner(state, None)", "state, _, _ = step(state, x)"),
        ("Learner(state, None)", "state = step(state, x).net"),
        ("Learner(net=state, target=None)", "state = step(state, x)[0]"),
    ],
)
def test_the_idiom_has_no_states_in_records(kit, returned: str, received: str) -> None:
    program = LOOP[: LOOP.index("@jax.jit")].replace("net =", "state =") + (
        "@jax.jit\ndef step(state, x):\n"
        "  grads = jax.grad(lambda p: jnp.mean(state.apply_fn(p, x) ** 2))(state.params)\n"
        f"  state = state.apply_gradients(grads=grads)\n  return {returned}\n"
        f"losses = []\nfor i in range(4):\n  {received}\n"
        "  losses.append(float(state.apply_fn(state.params, x).sum()))\n"
    )
    done = kit.migrate(program, kit.MLP)
    assert done.codes in (["NNX602"], ["NNX603"])
    both(done)


TWO = """
x = jnp.ones((2, 5))
actor, critic = MLP(4), Normed(6)
actor_params = actor.init(jax.random.key(0), x)
critic_params = critic.init(jax.random.key(1), x)

def gradient_step(state, loss_fn):
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss

one = train_state.TrainState.create(apply_fn=actor.apply, params=actor_params, tx=optax.adam(0.1))
two = train_state.TrainState.create(apply_fn=critic.apply, params=critic_params, tx=optax.sgd(0.1))
losses = []
for i in range(4):
  two, second = gradient_step(two, lambda p: jnp.mean((critic.apply(p, x) - one.apply_fn(one.params, x + i)) ** 2))
  one, first = gradient_step(one, lambda p: jnp.mean((actor.apply(p, x + i) - 0.5 * two.apply_fn(two.params, x)) ** 2))
  losses += [float(first), float(second)]
"""
PLAIN = (
    "Other",
    """
class Other(nn.Module):
  features: int
  @nn.compact
  def __call__(self, x, scale=1.0):
    return scale * nn.Dense(3, kernel_init=ramp)(nn.Dense(self.features, kernel_init=ramp)(x))
  def last(self, x):
    return self(x)
""",
    """
class Other(nnx.Module):
  def __init__(self, features: int, *, inputs: int, rngs: nnx.Rngs):
    self.Dense_0 = nnx.Linear(inputs, features, kernel_init=ramp, rngs=rngs)
    self.Dense_1 = nnx.Linear(features, 3, kernel_init=ramp, rngs=rngs)
  def __call__(self, x, scale=1.0):
    return scale * self.Dense_1(self.Dense_0(x))
  def last(self, x):
    return self(x)
""",
)


A_THIRD = """more = MLP(7)
third = train_state.TrainState.create(apply_fn=more.apply, params=more.init(jax.random.key(2), x), tx=optax.sgd(0.1))
third, _ = gradient_step(third, lambda p: jnp.mean(more.apply(p, x)))
"""


def two(kit, program: str):
    other = type(kit.MLP)(*PLAIN, sizes={"inputs": "x.shape[-1]"}, call_arguments=("x", "scale"))
    return kit.migrate(program.replace("Normed(", "Other("), kit.MLP, other)


@pytest.mark.parametrize(
    "old, new, code",
    [
        ("losses = []", "losses = []", "NNX602"),
        ("two.apply_fn(two.params, x)", "two.apply_fn(two.params, x, scale=2.0)", "NNX602"),
        ("actor, critic = MLP(4), Normed(6)", "actor = MLP(4)\ncritic = Normed(features=6)", "NNX602"),
        ("two.apply_fn(two.params, x)", "two.apply_fn(two.params, x, method='last')", "NNX603"),
        ("losses = []", "losses = []\neither = actor if losses else critic\neither.init(jax.random.key(2), x)", "NNX603"),
        ("losses = []", "losses = []\n(critic if not losses else actor).apply(critic_params, x)", "NNX603"),
        ("losses = []", f"losses = []\n{A_THIRD}", "NNX603"),
    ],
)
def test_a_function_for_states_of_two_models(kit, old: str, new: str, code: str) -> None:
    done = two(kit, TWO.replace(old, new, 1))
    assert done.codes == [code], done.after
    both(done)


def test_models_of_unlike_state_in_one_function(kit) -> None:
    program = TWO.replace("critic.apply(p, x)", "critic.apply(p, x, False)").replace(
        "two.apply_fn(two.params, x)", "two.apply_fn(two.params, x, False)"
    )
    done = kit.migrate(program, kit.MLP, kit.NORMED)
    assert done.codes == ["NNX603"]
