"""The functional form: sharded states as trees, on eight devices, with Linen's specs and numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

LINEN = """
class Layer(nn.Module):
  features: int
  @nn.compact
  def __call__(self, x):
    w = self.param('W', nn.with_partitioning(ramp, (None, 'model')), (x.shape[-1], self.features))
    v = self.param('V', nn.with_partitioning(ramp, ('model', None)), (self.features, x.shape[-1]))
    return jnp.tanh(x @ w) @ v

class Net(nn.Module):
  features: int
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      x = Layer(self.features)(x)
    return x
"""
NNX = """
class Layer(nnx.Module):
  def __init__(self, features, *, in_features, rngs):
    self.W = nnx.Param(ramp(rngs.params(), (in_features, features)), out_sharding=(None, 'model'))
    self.V = nnx.Param(ramp(rngs.params(), (features, in_features)), out_sharding=('model', None))
  def __call__(self, x):
    return jnp.tanh(x @ self.W[...]) @ self.V[...]

class Net(nnx.Module):
  def __init__(self, features, *, in_features, rngs):
    self.Layer_0 = Layer(features, in_features=in_features, rngs=rngs)
    self.Layer_1 = Layer(features, in_features=in_features, rngs=rngs)
  def __call__(self, x):
    return self.Layer_1(self.Layer_0(x))
"""
PROGRAM = """
from jax.sharding import Mesh, PartitionSpec
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
x_spec = PartitionSpec('data', None)
x = jnp.sin(jnp.arange(128.0)).reshape(8, 16)
k = jax.random.PRNGKey(0)
optimizer = optax.adam(learning_rate=0.001)
model = Net(32)

def init_fn(k, x, model, optimizer):
  variables = model.init(k, x) # Initialize the model.
  state = train_state.TrainState.create( # Create a `TrainState`.
    apply_fn=model.apply,
    params=variables['params'],
    tx=optimizer)
  return state

abstract = jax.eval_shape(functools.partial(init_fn, model=model, optimizer=optimizer), k, x)
state_spec = nn.get_partition_spec(abstract)
with jax.set_mesh(mesh):
  jit_init = jax.jit(init_fn, static_argnums=(2, 3), in_shardings=(PartitionSpec(None), x_spec),
                     out_shardings=state_spec)
  state = jit_init(k, x, model, optimizer)
shapes = jax.tree.map(jnp.shape, state)
sharding = state.params['Layer_0']['W'].value.sharding
mu = state.opt_state[0].mu['Layer_1']['V'].value.sharding
diff = jax.tree.map(lambda a, b: a - b, state.params['Layer_0'], state.params['Layer_0'])
array = diff['W'].unbox()

def train_step(state, x):
  # A fake loss function.
  def loss_fn(params):
    y = model.apply({'params': params}, x)
    return (y ** 2).sum()
  grads = jax.grad(loss_fn)(state.params)
  state = state.apply_gradients(grads=grads)
  return state

with jax.set_mesh(mesh):
  step = jax.jit(train_step, in_shardings=(state_spec, x_spec), out_shardings=state_spec)
  new = step(state, x)
  for _ in range(3):
    new = step(new, x)

@functools.partial(jax.jit, in_shardings=(state_spec, x_spec), out_shardings=x_spec)
def apply(state, x):
  return state.apply_fn({'params': state.params}, x)

with jax.set_mesh(mesh):
  y = apply(new, x)
"""
REPORT = """
import json
def leaves(tree):
  return [str(leaf) for leaf in jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, PartitionSpec))
          if isinstance(leaf, PartitionSpec)]
print(json.dumps({'specs': sorted(leaves(state_spec)),
                  'equal': state_spec.params['Layer_0'] == state_spec.params['Layer_1'],
                  'sharding': str(sharding.spec), 'mu': str(mu.spec), 'array': array.shape, 'y': y.tolist(),
                  'step': int(new.step), 'ysharding': str(y.sharding.spec),
                  'all': sorted(str(a.sharding.spec) for a in jax.tree.leaves(new))}))
"""


def run(text: str, folder: Path) -> dict:
    script = folder / "script.py"
    script.write_text(text)
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, env=env, timeout=200
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def migrated(kit, program: str = PROGRAM):
    net = kit.Model("Net", LINEN, "")
    net.linen, net.nnx = "class Net" + LINEN.split("class Net")[1], "class Net" + NNX.split("class Net")[1]
    layer = kit.Model("Layer", LINEN.split("class Net")[0], NNX.split("class Net")[0])
    return kit.migrate(program, layer, net)


def test_a_state_under_jit_with_shardings(kit, tmp_path) -> None:
    done = migrated(kit)
    assert done.codes == ["NNX602"]
    assert not done.created
    text = done.after
    assert "functools.partial(Net, 32)" in text
    assert "graphdef, params = nnx.split(model(in_features=x.shape[-1], rngs=nnx.Rngs(k)), nnx.Param)" in text
    assert "nnx.merge(state.graphdef, params)(x)" in text
    assert "nnx.merge(state.graphdef, state.params)(x)" in text
    assert "train_state." not in text and "nn.get" not in text
    before, after = run(done.before + REPORT, tmp_path), run(done.after + REPORT, tmp_path)
    assert before == after
    assert before["sharding"] == before["mu"].replace("'model', None", "None, 'model'") != before["mu"]
    assert before["specs"].count(before["sharding"]) == 6  # W of two layers, in params, mu and nu
    assert before["step"] == 4
