"""Derivatives taken inside of a module: `nn.vjp`, `nn.grad`, `nn.jvp`, `nn.custom_vjp`; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Scalar(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(1)(nn.tanh(nn.Dense(self.width)(x))).sum()


class GradOfInputs(nn.Module):
  @nn.compact
  def __call__(self, x):
    energy = Scalar()
    (dx,) = nn.grad(lambda mdl, x: mdl(x), energy, x)
    return nn.Dense(3)(dx)


class ValueAndGrad(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  def __call__(self, x, y):
    def loss(mdl, x, y):
      h = mdl.d(x)
      return jnp.sum(h * y), h
    (value, h), (dx, dy) = nn.value_and_grad(loss, self, x, y, has_aux=True)
    return value, h, dx, dy


class GradWithAux(nn.Module):
  @nn.compact
  def __call__(self, x):
    d = nn.Dense(4)
    def loss(mdl, x):
      h = mdl(x)
      return jnp.mean(h ** 2), h
    (dx,), h = nn.grad(loss, d, x, has_aux=True)
    return dx, h


class VjpOfParameters(nn.Module):
  @nn.compact
  def __call__(self, x):
    inner = Scalar(width=3)
    value, back = nn.vjp(lambda mdl, x: mdl(x), inner, x)
    grads, dx = back(jnp.ones(value.shape))
    return value, jax.tree.map(lambda g: 2 * g, grads), dx


class VjpOfInputs(nn.Module):
  def setup(self):
    self.layers = [nn.Dense(4), nn.Dense(2)]
  def features(self, x):
    for layer in self.layers:
      x = nn.tanh(layer(x))
    return x
  def __call__(self, x):
    y, back = nn.vjp(lambda mdl, v: mdl.features(v), self, x, vjp_variables=False)
    return y, back(jnp.ones_like(y))


class VjpOfList(nn.Module):
  def setup(self):
    self.layers = [nn.Dense(4), nn.Dense(2)]
  def __call__(self, x):
    def run(mdl, v):
      for layer in mdl.layers:
        v = nn.tanh(layer(v))
      return v, v.sum()
    y, back, total = nn.vjp(run, self, x, has_aux=True)
    grads, dx = back(y)
    return grads, dx, total


class VjpWithStatistics(nn.Module):
  @nn.compact
  def __call__(self, x):
    norm = nn.BatchNorm(use_running_average=False)
    y, back = nn.vjp(lambda mdl, x: mdl(x), norm, x)
    return y, back(y)


class Sower(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    self.sow('intermediates', 'h', x)
    return x.sum()


class VjpOfSower(nn.Module):
  @nn.compact
  def __call__(self, x):
    y, back = nn.vjp(lambda m, x: m(x), Sower(), x)
    return y, back(y)


class VjpOfItsCall(nn.Module):
  @nn.compact
  def __call__(self, x):
    value, back = nn.vjp(Scalar.__call__, Scalar(), x)
    return back(jnp.ones_like(value))


class Jvp(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.jvp(lambda mdl, v: mdl(v), nn.Dense(3), (x,), (jnp.ones_like(x),), {})


class JvpOfParameters(nn.Module):
  def setup(self):
    self.d = nn.Dense(3, use_bias=False)
  def __call__(self, x, w):
    tangents = {} if self.is_initializing() else {'params': {'d': {'kernel': w}}}
    return nn.jvp(lambda mdl, v: mdl.d(v) ** 2, self, (x,), (jnp.ones_like(x),), variable_tangents=tangents)


class SignGradient(nn.Module):
  @nn.compact
  def __call__(self, x):
    def f(mdl, x):
      return mdl(x)
    def fwd(mdl, x):
      return nn.vjp(f, mdl, x)
    def bwd(vjp_fn, y_t):
      params_t, *inputs_t = vjp_fn(y_t)
      params_t = jax.tree_util.tree_map(jnp.sign, params_t)
      return (params_t, *inputs_t)
    sign_grad = nn.custom_vjp(f, forward_fn=fwd, backward_fn=bwd)
    return nn.Dense(2)(sign_grad(nn.Dense(4), x))


class FeedbackAlignment(nn.Module):
  features: int = 3

  @nn.compact
  def __call__(self, x):
    w = self.param('w', nn.initializers.lecun_normal(), (x.shape[-1], self.features))
    b = self.param('b', nn.initializers.lecun_normal(), (x.shape[-1], self.features))

    def f(module, x, w, b):
      return x @ w

    def fwd(module, x, w, b):
      return f(module, x, w, b), (x, b)

    def bwd(residuals, delta):
      x, b = residuals
      return ({'params': {'w': x.T @ delta, 'b': jnp.zeros_like(b)}}, delta @ b.T, jnp.zeros_like(b), jnp.zeros_like(b))

    return nn.custom_vjp(fn=f, forward_fn=fwd, backward_fn=bwd)(self, x, w, b)


class GradientWithStatistics(nn.Module):
  def setup(self):
    self.norm = nn.BatchNorm(use_running_average=False)
    self.out = nn.Dense(2)

  def __call__(self, x):
    def f(mdl, x):
      return mdl.out(mdl.norm(x))
    def fwd(mdl, x):
      y, back = nn.vjp(f, mdl, x)
      return y, (back, x)
    def bwd(residuals, y_t):
      back, x = residuals
      params_t, x_t = back(y_t)
      return (jax.tree.map(lambda g: 2 * g, params_t), x_t + x)
    return nn.custom_vjp(f, fwd, bwd)(self, x)


CASES = [
  ("GradOfInputs", {}, [(2, 5)], {}),
  ("ValueAndGrad", {}, [(2, 5), (2, 4)], {}),
  ("GradWithAux", {}, [(2, 5)], {}),
  ("VjpOfParameters", {}, [(2, 5)], {}),
  ("VjpOfInputs", {}, [(2, 5)], {}),
  ("VjpOfList", {}, [(2, 5)], {}),
  ("VjpWithStatistics", {}, [(4, 5)], {}),
  ("VjpOfSower", {}, [(2, 5)], {}),
  ("VjpOfItsCall", {}, [(2, 5)], {}),
  ("Jvp", {}, [(2, 5)], {}),
  ("JvpOfParameters", {}, [(2, 5), (5, 3)], {}),
  ("SignGradient", {}, [(2, 5)], {}),
  ("FeedbackAlignment", {}, [(2, 5)], {}),
  ("GradientWithStatistics", {}, [(4, 5)], {}),
]
