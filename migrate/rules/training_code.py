"""NNX6xx: what the training writer did with models, variables, states and loops."""

from __future__ import annotations

from ..rule import Example, Rule

_SAME_LOSSES = """\
def check(before, after):
    import numpy as np
    assert len(set(before['losses'])) == 3
    np.testing.assert_allclose(before['losses'], after['losses'], rtol=1e-5)
"""
RULES = (
    Rule(
        "NNX601",
        "training-loop-to-optimizer",
        "A Linen model, its TrainState and its steps become a module, nnx.Optimizer and nnx.jit.",
        what="`model.init`, `TrainState.create`, `apply`, `value_and_grad` and `apply_gradients` become the "
        "construction of the module, `nnx.Optimizer(model, tx, wrt=nnx.Param)`, a plain call, `nnx.value_and_grad` and "
        "`optimizer.update(model, grads)`. Functions that took a state take the model and the optimizer.",
        why="In NNX the model holds its own variables, and the optimizer updates them in place.",
        how_sure="Done only where every use of the model, its variables and its state in the project is understood.",
        examples=(
            Example(
                title="a training step",
                before="""\
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=nn.initializers.ones)(x)


def create(key, x):
    model = Model()
    params = model.init(key, x)['params']
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


x, y = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 3))
state = create(jax.random.key(0), x)
losses = []
for _ in range(3):
    state, loss = train_step(state, x, y)
    losses.append(float(loss))
""",
                after="""\
import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Model(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, kernel_init=nnx.initializers.ones, rngs=rngs)

    def __call__(self, x):
        return self.Dense_0(x)


def create(key, x):
    model = Model(in_features=x.shape[-1], rngs=nnx.Rngs(key))
    return model, nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


x, y = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 3))
model, optimizer = create(jax.random.key(0), x)
losses = []
for _ in range(3):
    loss = train_step(model, optimizer, x, y)
    losses.append(float(loss))
""",
                run=_SAME_LOSSES,
            ),
        ),
    ),
    Rule(
        "NNX602",
        "training-loop-to-split-state",
        "A functional program over a TrainState works on nnx.split, nnx.merge and nnx.TrainState.",
        what="The model becomes a constructor, `init` a construction and a split, `apply` a merge and a call, and "
        "the state an `nnx.TrainState`, which carries the graphdef in place of `apply_fn`. So do programs "
        "that read old states, keep them, or carry them through `jax.lax.scan` beside other things.",
        why="Specs, shardings and `out_shardings` are trees like the state: it has to stay a tree. What is updated in place "
        "has no old state to look at.",
        how_sure="Done only where every use of the model, its variables and its state in the project is understood.",
        examples=(
            Example(
                title="a state under its own shardings",
                before="""\
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state
from jax.sharding import Mesh


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, 'model')))(x)


def create(key, x):
    model = Model()
    params = model.init(key, x)['params']
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))


def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


mesh = Mesh(np.array(jax.devices()[:2]).reshape(2, 1), ('data', 'model'))
x, y = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 3))
with jax.set_mesh(mesh):
    specs = nn.get_partition_spec(jax.eval_shape(create, jax.random.key(0), x))
    state = jax.jit(create, out_shardings=specs)(jax.random.key(0), x)
    step = jax.jit(train_step, in_shardings=(specs, None, None), out_shardings=(specs, None))
    losses = []
    for _ in range(3):
        state, loss = step(state, x, y)
        losses.append(float(loss))
""",
                after="""\
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import Mesh
import linen_parity


class Model(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs):
        self.Dense_0 = nnx.Linear(
            in_features,
            3,
            kernel_init=linen_parity.with_partitioning(nnx.initializers.ones, (None, 'model')),
            rngs=rngs,
        )

    def __call__(self, x):
        return self.Dense_0(x)


def create(key, x):
    model = Model
    with nnx.use_eager_sharding(False):
        graphdef, params = nnx.split(model(in_features=x.shape[-1], rngs=nnx.Rngs(key)), nnx.Param)
    return nnx.TrainState.create(graphdef, params=params, tx=optax.sgd(0.1))


def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((nnx.merge(state.graphdef, params)(x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


mesh = Mesh(np.array(jax.devices()[:2]).reshape(2, 1), ('data', 'model'))
x, y = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 3))
with jax.set_mesh(mesh):
    specs = nnx.as_pure(nnx.get_partition_spec(jax.eval_shape(create, jax.random.key(0), x)))
    state = jax.jit(create, out_shardings=specs)(jax.random.key(0), x)
    step = jax.jit(train_step, in_shardings=(specs, None, None), out_shardings=(specs, None))
    losses = []
    for _ in range(3):
        state, loss = step(state, x, y)
        losses.append(float(loss))
""",
                run=_SAME_LOSSES,
            ),
        ),
    ),
    Rule(
        "NNX603",
        "training-loop-over-functional",
        "A loop that is left as it is works on a Functional, pure init and apply of the NNX class.",
        what="`Model(...)` becomes `Functional(Model, ..., sizes=...)` where it is constructed. `Functional` is "
        "generated into linen_parity.py: `init`, `init_with_output`, `apply`, `bind` and `clone` with Linen's "
        "arguments, over dictionaries with Linen's keys. Where a class goes to a container or a function that may "
        "construct it unseen, a `FunctionalClass` of the same file stands for it: what it makes is a `Functional`, and "
        "the module itself with `rngs`.",
        why="Code that hands variables around, replicates, freezes, flattens or serializes them keeps its meaning.",
        how_sure="By construction; outputs, gradients, updates and captured intermediates are compared with Linen's "
        "in the tests. Random values of dropout differ, as Linen and NNX derive keys differently.",
        examples=(
            Example(
                title="params as a dictionary",
                before="""\
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=nn.initializers.ones)(x)


model = Model()
x, y = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 3))
params = model.init(jax.random.key(0), x)['params']
start = params = {**params, 'Dense_0': {**params['Dense_0'], 'bias': y[0]}}
tx = optax.sgd(0.1)
opt_state = tx.init(params)
losses = []
for _ in range(3):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply({'params': p}, x) - y) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    losses.append(float(loss))
moved = jnp.abs(params['Dense_0']['kernel'] - start['Dense_0']['kernel']).max()
""",
                after="""\
import jax
import jax.numpy as jnp
import optax
from flax import nnx
import linen_parity


class Model(nnx.Module):
    def __init__(self, *, in_features: int, rngs: nnx.Rngs):
        self.Dense_0 = nnx.Linear(in_features, 3, kernel_init=nnx.initializers.ones, rngs=rngs)

    def __call__(self, x):
        return self.Dense_0(x)


model = linen_parity.Functional(Model, sizes=lambda x, *_, **__: {'in_features': x.shape[-1]})
x, y = jnp.arange(8.0).reshape(2, 4), jnp.ones((2, 3))
params = model.init(jax.random.key(0), x)['params']
start = params = {**params, 'Dense_0': {**params['Dense_0'], 'bias': y[0]}}
tx = optax.sgd(0.1)
opt_state = tx.init(params)
losses = []
for _ in range(3):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply({'params': p}, x) - y) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    losses.append(float(loss))
moved = jnp.abs(params['Dense_0']['kernel'] - start['Dense_0']['kernel']).max()
""",
                run=_SAME_LOSSES,
            ),
        ),
    ),
    Rule(
        "NNX604",
        "module-class-goes-where-no-call-is-seen",
        "A migrated class is handed to something that may construct it with Linen's arguments.",
        what="Leaves the code and marks it: a class under a decorator that puts it where nothing tells what is taken "
        "out, a class that is compared by `is` or whose sizes its inputs do not tell, where it goes to a container or an "
        "unknown function (others have a `FunctionalClass` stand for them there, NNX603), one that is taken with getattr "
        "(of a module that `importlib` imports, too); and a Linen layer that a method of a plain object gives to a "
        "migrated class (`return nn.Fp8DotGeneralOp`), or that a function makes when it is called "
        "(`activation=lambda x: nn.relu(nn.LayerNorm()(x))`).",
        why="The NNX class needs its input sizes and rngs, and the call that must give them cannot be found. A Linen layer "
        "fails where an NNX module calls it.",
        how_sure="diagnostic only",
    ),
    Rule(
        "NNX605",
        "linen-layer-as-a-model",
        "A layer of flax.linen is used as a whole model outside of module classes.",
        what="Leaves it a Linen layer, which runs as before, and marks it.",
        why="It has no class of its own that could become an NNX module.",
        how_sure="diagnostic only",
        examples=(
            Example(
                title="a dense layer",
                before="""\
import jax
import jax.numpy as jnp
from flax import linen as nn

model = nn.Dense(features=5)
params = model.init(jax.random.PRNGKey(0), jnp.ones((2, 10)))
""",
                after=None,
            ),
        ),
    ),
    Rule(
        "NNX607",
        "derivative-through-updated-statistics",
        "A loss may go on with batch statistics that it has updated itself.",
        what="Leaves the code and marks it: a second call of apply in a loss with the statistics that the first returned, "
        "or a loss that is computed from them.",
        why="Linen takes the derivative through the new averages, nnx.BatchNorm stops it there: losses are equal, gradients "
        "are not.",
        how_sure="diagnostic only; the training loops of the tests show the difference",
    ),
    Rule(
        "NNX609",
        "function-of-a-linen-state-that-nothing-calls",
        "A function takes a state, a model or params of Linen, and nothing of the project says its name.",
        what="Leaves the function and marks it, where the states of its program became something else. One that applies a "
        "model of the program to params that it is given takes what the program has in their place now, which is said.",
        why="Which model its argument stands for is told by its calls alone. Whoever calls it with what the migrated "
        "functions beside it take has an AttributeError.",
        how_sure="diagnostic only",
    ),
    Rule(
        "NNX608",
        "pmap-stays",
        "A training loop under jax.pmap keeps it, over split state or a Functional.",
        what="Leaves jax.pmap, replicate, unreplicate and shard, and says what each device has of its own. The step as "
        "jax.shard_map over the split state, by hand: `jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(P(), P('batch'), "
        "P('batch')), out_specs=(P(), P('batch'), P()), check_vma=False))` for `step(state, stats, batch)` that returns "
        "`(state, stats, loss)`. Params and optimizer are P(), since pmean makes their gradients alike; statistics and keys "
        "of each device have an axis of devices in front, P('batch'), which the step takes off (`v[0]`) and puts back "
        "(`v[None]`); what pmean gives is P(). Then replicate, unreplicate and shard go. With check_vma, which is "
        "shard_map's default, the derivative by params that are P() is summed over the devices by itself, so that pmean "
        "leaves a gradient that is too large: no error, other losses. On several hosts the mesh is that of all devices "
        "(jax.make_mesh((jax.device_count(),), ('batch',), axis_types=(AxisType.Auto,))), and what a host has of its own, "
        "batches and keys, comes in as jax.make_array_from_process_local_data(NamedSharding(mesh, P('batch')), x).",
        why="One module under a global jit has one set of statistics, of the whole batch, and one random stream: other "
        "losses than with statistics and keys of each device. jax.pmap is jax.jit of jax.shard_map since jax 0.8, and it "
        "takes what each host holds, where jax.shard_map takes arrays of all hosts: a program's text does not say on how "
        "many hosts it runs, so that only a person can take jax.pmap away.",
        how_sure="The migrated loop, and the form by hand, give the original's losses and statistics on eight devices.",
    ),
)
