import jax, jax.numpy as jnp
from flax import linen as nn

class FourierEmbedding(nn.Module):
    features: int
    scale: int = 16
    def setup(self):
        self.freqs = jax.random.normal(jax.random.PRNGKey(42), (self.features // 2,), dtype=jnp.float32) * self.scale
    def __call__(self, x):
        x = jax.lax.convert_element_type(x, jnp.float32)
        emb = x[:, None] * (2 * jnp.pi * self.freqs)[None, :]
        return jnp.concatenate([jnp.sin(emb), jnp.cos(emb)], axis=-1)

class AdaLN(nn.Module):
    features: int
    @nn.compact
    def __call__(self, c):
        if c.ndim == 2:
            c = jnp.expand_dims(c, axis=1)
        return nn.Dense(6 * self.features, name="ada_proj")(c)

class Net(nn.Module):
    features: int = 8
    def setup(self):
        self.time_embed = nn.Sequential([FourierEmbedding(self.features), nn.Dense(2 * self.features), nn.Dense(self.features)])
        self.text = nn.Dense(self.features)
        self.ada = AdaLN(self.features)
    def __call__(self, x, temb, text=None):
        c = self.time_embed(temb)
        if text is not None:
            c = c + jnp.mean(self.text(text), axis=1)
        return x + self.ada(c).sum(axis=-1, keepdims=True)

class Sinus(nn.Module):
    dim: int
    @nn.compact
    def __call__(self, timesteps):
        half = self.dim // 2
        freqs = jnp.exp(-jnp.log(10000.0) * jnp.arange(half) / half)
        args = timesteps[:, None].astype(jnp.float32) * freqs[None]
        emb = jnp.concatenate([jnp.cos(args), jnp.sin(args)], axis=-1)
        emb = emb.reshape(emb.shape[0], 1, -1)
        return nn.Dense(self.dim)(emb)

class Sinus2(nn.Module):
    dim: int
    @nn.compact
    def __call__(self, t):
        freqs = jnp.exp(jnp.arange(self.dim // 2))
        args = freqs[None, :] * t[:, None]
        b, f = args.shape
        return nn.Dense(self.dim)(args.reshape(b, 1, f))

class Uses(nn.Module):
    @nn.compact
    def __call__(self, x, t):
        e = Sinus(8)(t)
        return nn.Dense(4)(x) + nn.Dense(4)(e) + AdaLN(4)(Sinus2(8)(t)).sum(-1, keepdims=True)

CASES = [("Net", {}, [(2, 5, 8), (2,)], {"text": None}), ("Net", {"features": 6}, [(2, 5, 8), (2,), (2, 7, 4)], {}), ("Sinus", {"dim": 8}, [(3,)], {}), ("Sinus2", {"dim": 8}, [(3,)], {}), ("Uses", {}, [(3, 2, 8), (3,)], {})]
