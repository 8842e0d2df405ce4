"""Branches that leave arrays of different numbers of dimensions: token, pooled and unpooled outputs, tables of positions."""

import flax.linen as nn
import jax.numpy as jnp


def sincos(h, w, width):
  y, x = jnp.mgrid[:h, :w]
  omega = 1.0 / (10_000.0 ** (jnp.arange(width // 4) / (width // 4 - 1)))
  y = jnp.einsum("m,d->md", y.flatten(), omega)
  x = jnp.einsum("m,d->md", x.flatten(), omega)
  return jnp.concatenate([jnp.sin(x), jnp.cos(x), jnp.sin(y), jnp.cos(y)], axis=1)[None, :, :]


class Vit(nn.Module):
  pool_type: str = "gap"
  rep_size: int = 5

  @nn.compact
  def __call__(self, image, train=False):
    x = nn.Conv(8, (2, 2), strides=(2, 2), padding="VALID", name="embedding")(image)
    n, h, w, c = x.shape
    x = jnp.reshape(x, [n, h * w, c])
    grid = (h, w)
    x = x + sincos(*grid, c)
    if self.pool_type == "tok":
      cls = self.param("cls", nn.initializers.zeros, (1, 1, c))
      x = jnp.concatenate([jnp.tile(cls, [n, 1, 1]), x], axis=1)
    n, l, c = x.shape
    x = nn.Dense(c)(x)
    encoded = x
    if self.pool_type == "gap":
      x = jnp.mean(x, axis=1)
    elif self.pool_type == "0":
      x = x[:, 0]
    elif self.pool_type == "tok":
      x = x[:, 0]
      encoded = encoded[:, 1:]
    elif self.pool_type == "none":
      pass
    else:
      raise ValueError(f"Unknown pool type: '{self.pool_type}'")
    x_2d = jnp.reshape(encoded, [n, h, w, -1])
    if self.rep_size:
      hid = nn.Dense(self.rep_size, name="pre_logits")
      x_2d = nn.tanh(hid(x_2d))
      x = nn.tanh(hid(x))
    return x, x_2d


class Plain(nn.Module):
  classifier: str = "token"
  transformer: bool = True
  representation_size: int | None = None

  @nn.compact
  def __call__(self, x, *, train=False):
    n, h, w, c = x.shape
    x = nn.Conv(features=8, kernel_size=(2, 2), strides=(2, 2), padding="VALID", name="embedding")(x)
    if self.transformer:
      n, h, w, c = x.shape
      x = jnp.reshape(x, [n, h * w, c])
      x = nn.Dense(c)(x)
    if self.classifier == "token":
      x = x[:, 0]
    elif self.classifier == "gap":
      x = jnp.mean(x, axis=list(range(1, x.ndim - 1)))
    elif self.classifier in ["unpooled"]:
      pass
    else:
      raise ValueError(f"Invalid classifier={self.classifier}")
    if self.representation_size is not None:
      x = nn.Dense(features=self.representation_size, name="pre_logits")(x)
      x = nn.tanh(x)
    return nn.Dense(3, name="head")(x)


CASES = [
  ("Vit", {}, [(2, 4, 4, 3)], {}),
  ("Vit", {"pool_type": "tok"}, [(2, 4, 4, 3)], {}),
  ("Vit", {"pool_type": "none"}, [(2, 4, 4, 3)], {}),
  ("Vit", {"pool_type": "0", "rep_size": 0}, [(2, 4, 4, 3)], {}),
  ("Plain", {}, [(2, 4, 4, 3)], {}),
  ("Plain", {"classifier": "gap"}, [(2, 4, 4, 3)], {}),
  ("Plain", {"classifier": "unpooled", "representation_size": 7}, [(2, 4, 4, 3)], {}),
  ("Plain", {"classifier": "token", "transformer": False}, [(2, 4, 4, 3)], {}),
]
