"""Lambdas with a name of their module that make layers; `CASES` as in forms_basic."""

import functools

import flax.linen as nn

LAYERS = {'plain': nn.Dense, 'without': functools.partial(nn.Dense, use_bias=False)}
thin = lambda n: nn.Dense(n, use_bias=False)  # noqa: E731
any_dense = lambda *args, **kwargs: nn.Dense(*args, **kwargs)  # noqa: E731
by_kind = lambda kind, n=3: LAYERS[kind](n)  # noqa: E731
named = lambda n: nn.Dense(  # noqa: E731
    n,
    name='out',
)


class Thin(nn.Module):
  @nn.compact
  def __call__(self, x):
    return thin(4)(thin(5)(x))


class Given(nn.Module):
  @nn.compact
  def __call__(self, x):
    return any_dense(4, use_bias=False)(x)


class ByKind(nn.Module):
  @nn.compact
  def __call__(self, x):
    return by_kind('without')(by_kind('plain', n=5)(x))


class InSetup(nn.Module):
  def setup(self):
    self.first = thin(4)

  def __call__(self, x):
    return self.first(x)


class Named(nn.Module):
  @nn.compact
  def __call__(self, x):
    return named(4)(x)


CASES = [
  ('Thin', {}, [(2, 6)], {}),
  ('Given', {}, [(2, 6)], {}),
  ('ByKind', {}, [(2, 6)], {}),
  ('InSetup', {}, [(2, 6)], {}),
  ('Named', {}, [(2, 6)], {}),
]
