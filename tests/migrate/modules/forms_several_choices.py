"""Several factories of one setup, each chosen by ifs of its own lines; `CASES` as in forms_basic."""

import flax.linen as nn


class Mlp(nn.Module):
  f: int

  def setup(self):
    self.d = nn.Dense(self.f)

  def __call__(self, x, train=False):
    return self.d(x)


class Attention(nn.Module):
  f: int

  def setup(self):
    self.d = nn.Dense(self.f)

  def __call__(self, x, train=False):
    return nn.tanh(self.d(x))


class TwoChosen(nn.Module):
  f: int = 4
  remat: bool = False

  def setup(self):
    mlp_block = Mlp
    attn_block = Attention

    if self.remat:
      mlp_block = nn.remat(mlp_block, static_argnums=(2,))
      attn_block = nn.remat(attn_block, static_argnums=(2,))
    self.even = bool(self.f % 2)
    self.attn = attn_block(self.f)
    self.mlp = mlp_block(self.f)

  def __call__(self, x):
    return self.mlp(self.attn(x, False), False)


class ThreeChosen(nn.Module):
  f: int = 4
  remat: bool = False

  def setup(self):
    c = Mlp
    a = Attention
    b = Mlp
    self.k = 2
    if self.remat:
      a = nn.remat(a, static_argnums=(2,))
      c = nn.remat(c, static_argnums=(2,))
      b = nn.remat(b, static_argnums=(2,))
    self.x = a(self.f)
    self.y = b(self.f)
    self.z = c(self.f)

  def __call__(self, x):
    return self.z(self.y(self.x(x, False), False), False) * self.k


CASES = [(name, {'remat': remat}, [(2, 3)], {}) for name in ('TwoChosen', 'ThreeChosen') for remat in (False, True)]
