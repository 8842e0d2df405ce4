"""Numbers of the call that may be None, of which no size is asked; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn

RATE = 0.0


class Drop(nn.Module):
    rate: float
    deterministic: bool | None = None

    @nn.compact
    def __call__(self, x, deterministic=None, rate=None):
        deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
        if rate is None:
            rate = self.rate
        if rate == 0.0 or deterministic:
            return x
        kept = jax.random.bernoulli(self.make_rng("dropout"), p=1.0 - rate, shape=x.shape)
        return jnp.where(kept, x / (1.0 - rate), 0)


class ByConstant(nn.Module):
    """Its default is a constant of the file."""

    widths: tuple[int, ...] = (4, 3)

    @nn.compact
    def __call__(self, x, train, rate=RATE):
        for i, width in enumerate(self.widths):
            x = nn.Dense(width)(x)
            if rate is not None and i == 0:
                x = Drop(rate, deterministic=not train)(x, rate=rate)
        return nn.Dense(2)(x)


class ByName(nn.Module):
    @nn.compact
    def __call__(self, x, train, dropout_rate=None):
        x = nn.Dense(4)(x)
        if dropout_rate is not None:
            x = Drop(dropout_rate, deterministic=not train)(x, rate=dropout_rate)
        return nn.Dense(2)(x)


CASES = [
    ("ByConstant", {}, [(2, 5)], dict(train=False)),
    ("ByConstant", {}, [(2, 5)], dict(train=False, rate=None)),
    ("ByName", {}, [(2, 5)], dict(train=False)),
    ("ByName", {}, [(2, 5)], dict(train=False, dropout_rate=0.3)),
]
