"""Functions that give a factory or None, which goes to fields: `Mlp(norm=get_norm(self.kind))`."""

import functools
from typing import Any, Callable, Optional

import flax.linen as nn


def get_norm(kind):
  if kind is None or kind == 'none':
    return None
  elif kind == 'layer':
    return functools.partial(nn.LayerNorm, use_scale=False, use_bias=False)
  elif kind == 'group':
    return functools.partial(nn.GroupNorm, num_groups=1, use_scale=False, use_bias=False)
  else:
    raise ValueError(f'Unknown norm type {kind}')

class Mlp(nn.Module):
  depth: int
  width: int
  norm: Optional[Callable[[], Callable]] = None
  @nn.compact
  def __call__(self, x):
    for i in range(self.depth):
      x = nn.Dense(self.width, name=f'hidden_{i}')(x)
      if self.norm is not None:
        x = self.norm()(x)
      x = nn.relu(x)
    return x

class Mid(nn.Module):
  norm: Optional[Any] = None
  @nn.compact
  def __call__(self, x):
    a = Mlp(2, 4, norm=self.norm)
    b = Mlp(1, 3)
    return a(x) + b(x).sum()

class Top(nn.Module):
  kind: Optional[str] = None
  def setup(self):
    norm = get_norm(self.kind)
    self.mids = {'a': Mid(norm=norm), 'b': Mid(norm=norm)}
  def __call__(self, x):
    return self.mids['a'](x) + self.mids['b'](x)

class TopC(nn.Module):
  kind: Optional[str] = None
  @nn.compact
  def __call__(self, x):
    norm = get_norm(self.kind)
    return Mid(norm=norm)(x)

def short(kind):
  return nn.LayerNorm if kind == 'layer' else None

def early(kind):
  if kind == 'layer':
    return nn.LayerNorm
  return None

class Plain(nn.Module):
  """Of one kind: its name is that of its class."""
  width: int
  norm: Optional[Callable[[], Callable]] = None
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      x = nn.Dense(self.width, name=f'hidden_{i}')(x)
      if self.norm is not None:
        x = self.norm()(x)
    return x

class Short(nn.Module):
  kind: Optional[str] = None
  @nn.compact
  def __call__(self, x):
    return Plain(4, norm=short(self.kind))(x)

class Early(nn.Module):
  kind: Optional[str] = None
  @nn.compact
  def __call__(self, x):
    norm = early(self.kind)
    return Plain(4, norm=norm)(x)

class Both(nn.Module):
  """The function is asked twice, and its answer is also called."""
  kind: str = 'layer'
  @nn.compact
  def __call__(self, x):
    norm = get_norm(self.kind)
    x = Mid(norm=norm)(x)
    return Mid(norm=get_norm(self.kind))(x)

CASES = [
  *[(name, {"kind": kind}, [(2, 3)], {}) for name in ("Top", "TopC", "Both") for kind in (None, "none", "layer", "group")],
  *[(name, {"kind": kind}, [(2, 3)], {}) for name in ("Short", "Early") for kind in (None, "layer")],
]
