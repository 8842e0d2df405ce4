"""Classes that are a Linen layer with something changed; `CASES` as in forms_basic."""
from functools import partial
from typing import Any, Callable
import flax.linen as nn
import jax, jax.numpy as jnp

def standardize(w, axis, eps):
  w = w - jnp.mean(w, axis=axis)
  return w / (jnp.std(w, axis=axis) + eps)

class StdConv(nn.Conv):
  """Weights are standardized."""

  def param(self, name, *a, **kw):
    param = super().param(name, *a, **kw)
    if name == "kernel":
      param = standardize(param, axis=[0, 1, 2], eps=1e-5)
    return param

class AbsDense(nn.Dense):
  use_bias: bool = False
  kernel_init: Callable = nn.initializers.ones
  def param(self, name: str, init_fn: Callable, *init_args) -> Any:
    return jnp.abs(super().param(name, init_fn, *init_args)) * (2 if name == 'kernel' else 3)

class Plain(nn.LayerNorm):
  epsilon: float = 1e-2

class Same(nn.Dense):
  pass

class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    conv = partial(StdConv, use_bias=False)
    x = StdConv(4, (3, 3), (2, 2), name='root')(x)
    x = conv(5, (1, 1))(x)
    x = StdConv(features=6, kernel_size=(3, 3), dtype=jnp.bfloat16)(x)
    x = Plain()(x)
    x = AbsDense(4)(x)
    x = AbsDense(4, use_bias=True)(x)
    return Same(3)(x)

CASES=[('Net',{},[(2,8,8,3)],{})]
