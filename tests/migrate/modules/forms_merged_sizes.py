"""`nn.merge_param` of sizes, and `or`: a width that a field gives or an input; `CASES` as in forms_basic."""
from typing import Any, Optional
import flax.linen as nn
import jax, jax.numpy as jnp

class Block(nn.Module):
  mlp_dim: Optional[int] = None
  @nn.compact
  def __call__(self, x):
    d = x.shape[-1]
    y = nn.Dense(self.mlp_dim or 4 * d)(x)
    return nn.Dense(d)(nn.gelu(y))

class MAPHead(nn.Module):
  mlp_dim: Optional[int] = None
  num_heads: int = 2
  num_readouts: int = 1
  @nn.compact
  def __call__(self, x, train=True):
    *batch_dims, l, d = x.shape
    x = x.reshape(-1, l, d)
    batch_size = x.shape[0]
    probe = self.param('probe', nn.initializers.xavier_uniform(), (1, self.num_readouts, d), x.dtype)
    probe = jnp.tile(probe, [batch_size, 1, 1])
    out = nn.MultiHeadDotProductAttention(num_heads=self.num_heads, kernel_init=nn.initializers.xavier_uniform())(probe, x)
    y = nn.LayerNorm()(out)
    out = out + Block(mlp_dim=nn.merge_param('mlp_dim', self.mlp_dim, 4 * d))(y)
    return out.reshape(*batch_dims, self.num_readouts, d)

class Wide(nn.Module):
  width: Optional[int] = None
  other: Optional[int] = None
  @nn.compact
  def __call__(self, x):
    w = nn.merge_param('width', self.width, self.other)
    x = nn.Dense(w)(x)
    return nn.LayerNorm()(x)
CASES=[('Block',{},[(2,3,4)],{}), ('MAPHead',{},[(2,3,4)],{}),('Wide',dict(width=5),[(2,3)],{}),('Wide',dict(other=5),[(2,3)],{})]
