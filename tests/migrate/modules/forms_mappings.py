"""Constructor arguments out of dicts, `nn.Dense(4, **inits)`; `CASES` as in forms_basic."""
from typing import Optional
import flax.linen as nn
import jax, jax.numpy as jnp

class Mlp(nn.Module):
  mlp_dim: Optional[int] = None
  bias: bool = True
  @nn.compact
  def __call__(self, x):
    inits = dict(kernel_init=nn.initializers.xavier_uniform(), bias_init=nn.initializers.normal(stddev=1e-6))
    d = x.shape[-1]
    x = nn.Dense(self.mlp_dim or 4 * d, **inits)(x)
    x = nn.gelu(x)
    more = {**inits, 'use_bias': self.bias}
    x = nn.Dense(6, **more)(x)
    kw = {'kernel_init': nn.initializers.zeros} if self.bias else {}
    x = x + nn.Dense(6, name='head', **kw)(x)
    ln = dict(dtype=jnp.bfloat16, epsilon=1e-3)
    x = nn.LayerNorm(**ln)(x)
    return nn.Dense(d, **inits, use_bias=False)(x)

class Flags(nn.Module):
  rate: float = 0.0
  @nn.compact
  def __call__(self, x):
    off = dict(deterministic=True)
    x = nn.Dropout(self.rate, **off)(nn.Dense(4)(x))
    return nn.BatchNorm(**dict(use_running_average=True, dtype=jnp.bfloat16))(x)

class Inner(nn.Module):
  features: int
  scale: float = 1.0
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features)(x) * self.scale

class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    args = dict(features=5, scale=2.0)
    for i in range(2):
      x = Inner(**args)(x)
    return Inner(features=3, **dict(scale=0.5))(x)

CASES=[('Mlp', {}, [(2,3)], {}), ('Mlp', dict(mlp_dim=5, bias=False), [(2,3)], {}), ('Outer', {}, [(2,3)], {}),
('Flags', dict(rate=0.5), [(2,3)], {})]
