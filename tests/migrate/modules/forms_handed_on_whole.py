"""Functions that hand on whatever they are given: `def norm(kind, *args, **kwargs)`."""
import flax.linen as nn

def keyword_norm(kind, **kwargs):
  if kind == "rms":
    return nn.RMSNorm(**kwargs)
  elif kind == "layer":
    return nn.LayerNorm(**kwargs)
  else:
    raise ValueError(kind)

def any_norm(kind, *args, **kwargs):
  if kind == "rms":
    return nn.RMSNorm(*args, **kwargs)
  elif kind == "layer":
    return nn.LayerNorm(*args, **kwargs)
  else:
    raise ValueError(kind)

class Keywords(nn.Module):
  kind: str = "rms"
  scaled: bool = True
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    x = keyword_norm(self.kind, epsilon=1e-6, use_scale=self.scaled)(x)
    return nn.Dense(3)(x)
class NoOthers(nn.Module):
  kind: str = "rms"
  scaled: bool = True
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    x = any_norm(self.kind, epsilon=1e-6, use_scale=self.scaled)(x)
    return nn.Dense(3)(x)
class Both(nn.Module):
  kind: str = "rms"
  scaled: bool = True
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    x = any_norm(self.kind, 1e-6, use_scale=self.scaled)(x)
    return nn.Dense(3)(x)
def chosen(kind, *args, **kwargs):
  return any_norm(kind, *args, **kwargs)
class Twice(nn.Module):
  kind: str = "rms"
  scaled: bool = True
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    x = chosen(self.kind, 1e-6, use_scale=self.scaled)(x)
    return nn.Dense(3)(x)
CASES = [(name, fields, [(2, 5)], {}) for name in ("Keywords", "NoOthers", "Both", "Twice")
         for fields in ({}, {"kind": "layer", "scaled": False})]
