"""Training code of many shapes: whatever form it takes, its numbers are those that it had under Linen."""

from __future__ import annotations

import numpy as np
import pytest

PATTERNS = {
    "optax by hand with gradient accumulation": """
x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)['params']
tx = optax.MultiSteps(optax.adam(0.1), 2)
opt_state = tx.init(params)
@jax.jit
def step(params, opt_state, x):
  loss, grads = jax.value_and_grad(lambda p: (model.apply({'params':p}, x)**2).mean())(params)
  updates, opt_state = tx.update(grads, opt_state, params)
  return optax.apply_updates(params, updates), opt_state, loss
losses = []
for i in range(4):
  params, opt_state, l = step(params, opt_state, x+i)
  losses.append(float(l))
""",
    "lax.scan over steps": """
x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(.1))
def body(state, x):
  def loss_fn(p): return (state.apply_fn({'params':p}, x)**2).mean()
  l, g = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=g), l
state, losses = jax.lax.scan(body, state, jnp.stack([x, x+1, x+2]))
losses = losses.tolist()
""",
    "frozen dictionaries, paths and multi_transform": """
x = jnp.ones((2, 5))
model = MLP(4)
variables = flax.core.freeze(model.init(jax.random.key(0), x))
params = flax.core.unfreeze(variables)['params']
mask = flax.traverse_util.path_aware_map(lambda p, v: 'frozen' if 'Dense_0' in p else 'train', params)
tx = optax.multi_transform({'train':optax.adam(.1), 'frozen':optax.set_to_zero()}, mask)
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)
@jax.jit
def step(state, x):
  l, g = jax.value_and_grad(lambda p: (model.apply({'params':p}, x)**2).mean())(state.params)
  return state.apply_gradients(grads=g), l
losses = []
for i in range(3):
  state, l = step(state, x+i)
  losses.append(float(l))
flat = flax.traverse_util.flatten_dict(state.params, sep='/')
names = sorted(flat)
losses.append(float(flat['Dense_0/kernel'].sum()))
""",
    "a trainer class": """
x = jnp.ones((2, 5))
class Trainer:
  def __init__(self, features):
    self.model = MLP(features)
    self.tx = optax.sgd(0.1)
  def init(self, key):
    params = self.model.init(key, x)['params']
    self.state = train_state.TrainState.create(apply_fn=self.model.apply, params=params, tx=self.tx)
  @functools.partial(jax.jit, static_argnums=0)
  def step(self, state, x):
    l, g = jax.value_and_grad(lambda p: (self.model.apply({'params':p}, x)**2).mean())(state.params)
    return state.apply_gradients(grads=g), l
  def fit(self):
    out = []
    for i in range(3):
      self.state, l = self.step(self.state, x+i)
      out.append(float(l))
    return out
t = Trainer(4)
t.init(jax.random.key(0))
losses = t.fit()
""",
    "a state of its own with an average": """
x = jnp.ones((2, 5))
@flax.struct.dataclass
class S:
  params: Any
  ema: Any
  step: int
model = MLP(4)
def create(rng):
  p = model.init(rng, x)['params']
  return S(params=p, ema=p, step=0)
@jax.jit
def step(s, x):
  l, g = jax.value_and_grad(lambda p: (model.apply({'params':p}, x)**2).mean())(s.params)
  p = jax.tree.map(lambda a, b:a-0.1*b, s.params, g)
  return s.replace(params=p, ema=jax.tree.map(lambda e, q: .9*e+.1*q, s.ema, p), step=s.step+1), l
s = create(jax.random.key(0))
losses = []
for i in range(3):
  s, l = step(s, x+i)
  losses.append(float(l))
losses.append(float(model.apply({'params':s.ema}, x).sum()))
""",
    "two states of one maker": """
x = jnp.ones((2, 5))
def create(key, n):
  m = MLP(n)
  return train_state.TrainState.create(apply_fn=m.apply, params=m.init(key, x)['params'], tx=optax.sgd(.1))
g_state = create(jax.random.key(0), 4)
d_state = create(jax.random.key(1), 6)
@jax.jit
def step(g_state, d_state, x):
  def loss(p): return (g_state.apply_fn({'params':p}, x)**2).mean()
  l, g = jax.value_and_grad(loss)(g_state.params)
  def dloss(p): return (d_state.apply_fn({'params':p}, x)**2).mean()
  l2, g2 = jax.value_and_grad(dloss)(d_state.params)
  return g_state.apply_gradients(grads=g), d_state.apply_gradients(grads=g2), l+l2
losses = []
for i in range(3):
  g_state, d_state, l = step(g_state, d_state, x+i)
  losses.append(float(l))
""",
    "two models that train together": """
x = jnp.ones((2, 5))
def make_g(key):
  m = MLP(4)
  return train_state.TrainState.create(apply_fn=m.apply, params=m.init(key, x)['params'], tx=optax.sgd(.1))
def make_d(key):
  m = MLP(6)
  return train_state.TrainState.create(apply_fn=m.apply, params=m.init(key, x)['params'], tx=optax.sgd(.1))
g_state = make_g(jax.random.key(0))
d_state = make_d(jax.random.key(1))
@jax.jit
def step(g_state, d_state, x):
  def loss(p): return (g_state.apply_fn({'params':p}, x)**2).mean()
  l, g = jax.value_and_grad(loss)(g_state.params)
  made = g_state.apply_fn({'params': g_state.params}, x) @ jnp.ones((3, 5))
  def dloss(p): return (d_state.apply_fn({'params': p}, made)**2).mean()
  l2, g2 = jax.value_and_grad(dloss)(d_state.params)
  return g_state.apply_gradients(grads=g), d_state.apply_gradients(grads=g2), l+l2
losses = []
for i in range(3):
  g_state, d_state, l = step(g_state, d_state, x+i)
  losses.append(float(l))
""",
    "an old state that is looked at": """
x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(.1))
def step(state, x):
  l, g = jax.value_and_grad(lambda p: (model.apply({'params':p}, x)**2).mean())(state.params)
  return state.apply_gradients(grads=g), l
losses = []
for i in range(3):
  new, l = step(state, x+i)
  losses.append(float(l+model.apply({'params':state.params}, x).sum()))
  state = new
""",
    "lax.cond over states": """
x = jnp.ones((2, 5))
model = MLP(4)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(.1))
@jax.jit
def step(state, x):
  l, g = jax.value_and_grad(lambda p: (model.apply({'params':p}, x)**2).mean())(state.params)
  new = state.apply_gradients(grads=g)
  state = jax.lax.cond(l>0.1, lambda: new, lambda: state)
  return state, l
losses = []
for i in range(3):
  state, l = step(state, x+i)
  losses.append(float(l))
""",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_the_losses_stay(kit, name: str) -> None:
    done = kit.migrate(PATTERNS[name], kit.MLP)
    assert done.before != done.after and done.codes
    before, after = done.both()
    assert len(set(before["losses"])) > 1
    np.testing.assert_allclose(before["losses"], after["losses"], rtol=2e-5)
