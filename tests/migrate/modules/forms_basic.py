"""Linen modules in the ways people write them; `CASES`: class, arguments, input shapes, keywords."""
from typing import Any, Callable, Sequence
import functools
import jax, jax.numpy as jnp
from flax import linen as nn

class MLP(nn.Module):
  """Doc."""
  features: Sequence[int]  # sizes
  act: Callable = nn.relu
  rate: float = 0.1

  @nn.compact
  def __call__(self, x, train: bool = False):
    for feat in self.features[:-1]:
      x = self.act(nn.Dense(feat)(x))
      x = nn.Dropout(self.rate, deterministic=not train)(x)
    return nn.Dense(self.features[-1])(x)

class CNN(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Conv(features=32, kernel_size=(3, 3))(x)
    x = nn.relu(x)
    x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
    x = nn.Conv(features=64, kernel_size=(3, 3))(x)
    x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
    x = x.reshape((x.shape[0], -1))
    x = nn.Dense(features=256)(x)
    return nn.Dense(features=10)(x)

class Block(nn.Module):
  filters: int
  conv: Any
  norm: Any
  act: Callable
  strides: tuple = (1, 1)
  @nn.compact
  def __call__(self, x):
    residual = x
    y = self.conv(self.filters, (3, 3), self.strides)(x)
    y = self.norm()(y)
    y = self.act(y)
    y = self.conv(self.filters, (3, 3))(y)
    y = self.norm(scale_init=nn.initializers.zeros_init())(y)
    if residual.shape != y.shape:
      residual = self.conv(self.filters, (1, 1), self.strides, name='conv_proj')(residual)
      residual = self.norm(name='norm_proj')(residual)
    return self.act(residual + y)

class ResNet(nn.Module):
  stage_sizes: Sequence[int]
  num_classes: int
  num_filters: int = 8
  @nn.compact
  def __call__(self, x, train: bool = True):
    conv = functools.partial(nn.Conv, use_bias=False)
    norm = functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)
    x = conv(self.num_filters, (7, 7), (2, 2), padding=[(3, 3), (3, 3)], name='conv_init')(x)
    x = norm(name='bn_init')(x)
    x = nn.relu(x)
    x = nn.max_pool(x, (3, 3), strides=(2, 2), padding='SAME')
    for i, block_size in enumerate(self.stage_sizes):
      for j in range(block_size):
        strides = (2, 2) if i > 0 and j == 0 else (1, 1)
        x = Block(self.num_filters * 2 ** i, conv=conv, norm=norm, act=nn.relu, strides=strides)(x)
    x = jnp.mean(x, axis=(1, 2))
    return nn.Dense(self.num_classes)(x)

class Attn(nn.Module):
  dim: int
  heads: int
  def setup(self):
    # projections
    self.qkv = nn.Dense(self.dim * 3, use_bias=False)
    self.proj = nn.Dense(self.dim)
    self.layers = [nn.Dense(self.dim) for _ in range(3)]
    self.scale = self.param('scale', nn.initializers.ones, (self.dim,))
  def __call__(self, x):
    b, t, _ = x.shape
    q, k, v = jnp.split(self.qkv(x), 3, axis=-1)
    q = q.reshape(b, t, self.heads, self.dim // self.heads)
    y = self.proj(v) * self.scale
    for l in self.layers:
      y = l(y)
    return y

class Lin(nn.Module):
  depth: int
  @nn.compact
  def __call__(self, x):
    W1 = self.param('W1', nn.with_partitioning(nn.initializers.xavier_normal(), (None, 'model')), (x.shape[-1], self.depth))
    y = jax.nn.relu(jnp.dot(x, W1))
    W2 = self.param('W2', nn.with_partitioning(nn.initializers.xavier_normal(), ('model', None)), (self.depth, x.shape[-1]))
    return jnp.dot(y, W2), None

class Stack(nn.Module):
  num_layers: int
  depth: int
  use_scan: bool
  @nn.compact
  def __call__(self, x):
    if self.use_scan:
      x, _ = nn.scan(Lin, length=self.num_layers,
                     variable_axes={"params": 0},
                     split_rngs={"params": True},
                     metadata_params={nn.PARTITION_NAME: None}
                     )(self.depth)(x)
    else:
      for i in range(self.num_layers):
        x, _ = Lin(self.depth)(x)
    return x
CASES=[('MLP',dict(features=[4,5,3]),[(2,6)],{}),('CNN',{},[(2,28,28,1)],{}),('ResNet',dict(stage_sizes=[1,2],num_classes=5),[(2,32,32,3)],dict(train=True)),
('Attn',dict(dim=8,heads=2),[(2,3,8)],{}),('Stack',dict(num_layers=3,depth=4,use_scan=True),[(2,6)],{}),('Stack',dict(num_layers=3,depth=4,use_scan=False),[(2,6)],{})]
