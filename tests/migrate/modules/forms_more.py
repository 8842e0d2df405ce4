"""More ways to write a Linen module; `CASES` as in forms_basic."""
from typing import Any, Callable, Optional, Sequence, Tuple
import functools
import jax, jax.numpy as jnp
from jax import lax
from flax import linen as nn

class Setup1(nn.Module):
  features: Sequence[int]
  def setup(self):
    self.layers = [nn.Dense(f) for f in self.features]
    self.drop = nn.Dropout(0.5)
  def __call__(self, x, train=False):
    for i, l in enumerate(self.layers):
      x = l(x)
      if i != len(self.layers) - 1:
        x = nn.relu(x)
    return self.drop(x, deterministic=not train)

class Named(nn.Module):
  n: int
  dim: int
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.LayerNorm(name=f'ln_{i}')(x)
      h = nn.Dense(self.dim * 2, name=f'up_{i}')(x)
      x = x + nn.Dense(x.shape[-1], name=f'down_{i}')(nn.gelu(h))
    return nn.Dense(1, name='head')(x)

class Weird(nn.Module):
  n: int
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(4 + i, name=f'layer{i}')(x)
    return x

class CondIn(nn.Module):
  norm: bool
  dims: Tuple[int, ...] = (8, 4)
  @nn.compact
  def __call__(self, x):
    for d in self.dims:
      x = nn.Dense(d)(x)
      if self.norm:
        x = nn.LayerNorm()(x)
      x = jnp.tanh(x)
    return x

class EarlyReturn(nn.Module):
  head: Optional[int] = None
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(8)(x)
    if self.head is None:
      return x
    return nn.Dense(self.head)(x)

class VAE(nn.Module):
  latents: int = 3
  def setup(self):
    self.encoder = Enc(self.latents)
    self.decoder = Dec()
  def __call__(self, x, z_rng=None):
    mean, logvar = self.encoder(x)
    return self.decoder(mean), mean, logvar
  def generate(self, z):
    return nn.sigmoid(self.decoder(z))

class Enc(nn.Module):
  latents: int
  @nn.compact
  def __call__(self, x):
    x = nn.relu(nn.Dense(20, name='fc1')(x))
    mean_x = nn.Dense(self.latents, name='fc2_mean')(x)
    logvar_x = nn.Dense(self.latents, name='fc2_logvar')(x)
    return mean_x, logvar_x

class Dec(nn.Module):
  @nn.compact
  def __call__(self, z):
    z = nn.relu(nn.Dense(20, name='fc1')(z))
    return nn.Dense(7, name='fc2')(z)

class Attn(nn.Module):
  heads: int
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x, mask=None, *, deterministic=True):
    y = nn.LayerNorm(dtype=self.dtype)(x)
    y = nn.MultiHeadDotProductAttention(num_heads=self.heads, dtype=self.dtype, dropout_rate=0.1, deterministic=deterministic)(y, y, mask=mask)
    x = x + nn.Dropout(0.1)(y, deterministic=deterministic)
    y = nn.LayerNorm()(x)
    y = MlpBlock(mlp_dim=16)(y, deterministic=deterministic)
    return x + y

class MlpBlock(nn.Module):
  mlp_dim: int
  out_dim: Optional[int] = None
  @nn.compact
  def __call__(self, inputs, *, deterministic):
    actual_out_dim = inputs.shape[-1] if self.out_dim is None else self.out_dim
    x = nn.Dense(features=self.mlp_dim)(inputs)
    x = nn.gelu(x)
    x = nn.Dropout(rate=0.1)(x, deterministic=deterministic)
    return nn.Dense(features=actual_out_dim)(x)

class ViT(nn.Module):
  patch: int = 4
  hidden: int = 8
  @nn.compact
  def __call__(self, x, *, train=False):
    n, h, w, c = x.shape
    x = nn.Conv(self.hidden, (self.patch, self.patch), strides=(self.patch, self.patch), padding='VALID', name='embedding')(x)
    n, h, w, c = x.shape
    x = jnp.reshape(x, [n, h * w, c])
    cls = self.param('cls', nn.initializers.zeros, (1, 1, c))
    cls = jnp.tile(cls, [n, 1, 1])
    x = jnp.concatenate([cls, x], axis=1)
    pe = self.param('pos_embedding', nn.initializers.normal(stddev=0.02), (1, x.shape[1], x.shape[2]))
    x = x + pe
    for lyr in range(2):
      x = Attn(heads=2, name=f'encoderblock_{lyr}')(x, deterministic=not train)
    x = nn.LayerNorm(name='encoder_norm')(x)
    return nn.Dense(5, name='head', kernel_init=nn.initializers.zeros)(x[:, 0])

class BN(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool):
    x = nn.Dense(6)(x)
    x = nn.BatchNorm(use_running_average=not train)(x)
    mean = self.variable('stats', 'count', lambda: jnp.zeros((), jnp.int32))
    if train:
      mean.value = mean.value + 1
    return x

class Lstm(nn.Module):
  hidden: int
  @nn.compact
  def __call__(self, x):
    return nn.RNN(nn.OptimizedLSTMCell(self.hidden))(x)

class Vm(nn.Module):
  n: int = 2
  @nn.compact
  def __call__(self, x):
    C = nn.vmap(Dec, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, out_axes=0, axis_size=self.n)
    return C()(x)

class Rm(nn.Module):
  @nn.compact
  def __call__(self, x, deterministic=True):
    block = nn.remat(Mlp2, static_argnums=(2,))
    for _ in range(2):
      x = block(8)(x, deterministic)
    return x

class Lam(nn.Module):
  act: str = 'relu'
  @nn.compact
  def __call__(self, x):
    dense = functools.partial(nn.Dense, use_bias=False, kernel_init=nn.initializers.normal(0.1))
    q = dense(features=8, name='q')(x)
    k = dense(features=8, name='k')(x)
    act = getattr(nn, self.act)
    return act(q) * k

class Mixed(nn.Module):
  feats: Sequence[int] = (4, 5)
  def setup(self):
    self.embed = nn.Embed(10, 6)
  @nn.compact
  def __call__(self, t):
    x = self.embed(t)
    for f in self.feats:
      x = nn.Dense(f)(x)
    return x

class TwoPath(nn.Module):
  big: bool = False
  @nn.compact
  def __call__(self, x):
    if self.big:
      x = nn.Dense(16)(x)
      x = nn.Dense(12)(x)
    else:
      x = nn.Dense(3)(x)
    return nn.LayerNorm()(x)

class DynName(nn.Module):
  big: bool = False
  @nn.compact
  def __call__(self, x):
    if self.big:
      x = nn.Dense(16)(x)
    return nn.Dense(5)(x)

CASES=[('Setup1',dict(features=[4,5,3]),[(2,6)],{}),('Named',dict(n=2,dim=4),[(2,6)],{}),('Weird',dict(n=3),[(2,6)],{}),
('CondIn',dict(norm=True),[(2,6)],{}),('CondIn',dict(norm=False),[(2,6)],{}),('EarlyReturn',dict(head=3),[(2,6)],{}),('EarlyReturn',dict(),[(2,6)],{}),
('VAE',{},[(2,7)],{}),('Attn',dict(heads=2),[(2,3,8)],{}),('ViT',{},[(2,8,8,3)],{}),('BN',{},[(2,4)],dict(train=False)),('Lstm',dict(hidden=5),[(2,3,4)],{}),
('Vm',{},[(2,4)],{}),('Rm',{},[(2,4)],{}),('Lam',{},[(2,4)],{}),('Mixed',{},[[[1,2,3]]],{}),('TwoPath',dict(big=True),[(2,4)],{}),('TwoPath',dict(big=False),[(2,4)],{}),('DynName',dict(big=True),[(2,4)],{}),('DynName',dict(big=False),[(2,4)],{})]
class Mlp2(nn.Module):
  d: int
  @nn.compact
  def __call__(self, x, det):
    x = nn.Dropout(0.1)(nn.Dense(self.d)(x), deterministic=det)
    return nn.Dense(x.shape[-1])(x)
class Seq(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(3)])(x)
class Seq2(nn.Module):
  def setup(self):
    self.net = nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(3)])
  def __call__(self, x):
    return self.net(x)
class WN(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.WeightNorm(nn.Dense(4))(x)
CASES += [('Seq',{},[(2,4)],{}),('Seq2',{},[(2,4)],{}),('WN',{},[(2,4)],{})]
class NamedAndNormed(nn.Module):
  spectral: bool = True
  def setup(self):
    self.first = nn.Dense(4)
    self.normed = nn.WeightNorm(self.first)
  @nn.compact
  def __call__(self, x, train: bool = True):
    dense = nn.Dense(3)
    x = nn.WeightNorm(dense, name='outer')(self.normed(x)[..., :4]) + dense(self.first(x))
    last = nn.Dense(2)
    if self.spectral:
      last = nn.SpectralNorm(last)
      return last(x, update_stats=train)
    return last(x)
CASES += [('NamedAndNormed',{},[(2,4)],{}),('NamedAndNormed',{'spectral': False},[(2,4)],{})]
