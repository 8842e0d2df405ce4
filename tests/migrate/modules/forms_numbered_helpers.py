"""Modules that a helper function makes at several calls, under conditions that change their numbers."""
import flax.linen as nn

def norm(kind, *args, **kwargs):
  if kind == "rms":
    return nn.RMSNorm(*args, **kwargs)
  elif kind == "layer":
    return nn.LayerNorm(*args, **kwargs)
  else:
    raise ValueError(kind)

def shifted(**kwargs):
  return nn.LayerNorm(**kwargs)

class Positions(nn.Module):
  kind: str = "rms"
  before: bool = True
  after: bool = True
  @nn.compact
  def __call__(self, x):
    if self.before:
      x = norm(self.kind, epsilon=1e-6, use_scale=self.after)(x)
    x = nn.Dense(8)(x)
    if self.after:
      x = norm(self.kind)(x)
    x = nn.Dense(6)(x)
    x = norm(self.kind, 1e-3)(x)
    return nn.Dense(3)(x)

class Always(nn.Module):
  twice: bool = True
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(5)(x)
    if self.twice:
      x = shifted(epsilon=1e-4)(x)
    return shifted(use_bias=False)(nn.Dense(4)(x))

CASES = [("Positions", {"kind": kind, "before": before, "after": after}, [(2, 5)], {})
         for kind in ("rms", "layer") for before in (True, False) for after in (True, False)]
CASES += [("Always", {"twice": twice}, [(2, 5)], {}) for twice in (True, False)]


class TwoKinds(nn.Module):
  kind: str = "rms"
  other: str = "rms"
  first: bool = True
  @nn.compact
  def __call__(self, x):
    if self.first:
      x = norm(self.kind)(x)
    return norm(self.other)(x)


class InLoop(nn.Module):
  kind: str = "rms"
  first: bool = True
  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      if self.first:
        x = norm(self.kind)(x)
    return norm(self.kind)(x)


CASES += [("TwoKinds", {"kind": kind, "other": other, "first": first}, [(2, 5)], {})
          for kind in ("rms", "layer") for other in ("rms", "layer") for first in (True, False)]
CASES += [("InLoop", {"kind": kind, "first": first}, [(2, 5)], {}) for kind in ("rms", "layer") for first in (True, False)]
