"""Arrays of the fields alone that `*=` and `-=` change, as frequencies: they stay arrays of that many numbers."""

import flax.linen as nn
import jax.numpy as jnp

class Waves(nn.Module):
    dims: int = 8
    shift: float = 0.5
    @nn.compact
    def __call__(self, x):
        assert x.ndim == 1
        freqs = jnp.linspace(0, jnp.log(100.0), self.dims // 2)
        freqs *= jnp.log(2.0)
        freqs -= self.shift
        x = jnp.pi * jnp.exp(freqs)[None, :] * x[:, None]
        x = jnp.concatenate([jnp.sin(x), jnp.cos(x)], axis=-1)
        return nn.Dense(3)(x)

class Scaled(nn.Module):
    dims: int = 6
    kind: str = "linear"
    @nn.compact
    def __call__(self, x):
        bands = jnp.arange(self.dims)
        if self.kind == "linear":
            bands += 1
            y = x[:, None] * bands
        else:
            bands **= 2
            y = x[:, None] * bands[None, :]
        return nn.Dense(2)(y)

CASES = [
    ("Waves", {}, [(2,)], {}), ("Scaled", {}, [(2,)], {}), ("Scaled", {"kind": "square", "dims": 3}, [(2,)], {}),
]
