"""A product of the user's choice, or that of lax."""
from typing import Any
import flax.linen as nn
import jax.numpy as jnp
from jax import lax

class Product(nn.Module):
  features: int
  dot_general: Any = None
  @nn.compact
  def __call__(self, inputs):
    kernel = self.param("kernel", nn.initializers.lecun_normal(), (self.features, inputs.shape[-1]))
    if self.dot_general is not None:
      dot_general = self.dot_general
    else:
      dot_general = lax.dot_general
    return dot_general(inputs, kernel.transpose(), (((inputs.ndim - 1,), (0,)), ((), ())))

class Both(nn.Module):
  wide: int = 7
  dot_general: Any = None
  @nn.compact
  def __call__(self, x):
    x = nn.relu(Product(self.wide, dot_general=self.dot_general)(x))
    return nn.Dense(3)(x)

CASES = [("Both", {}, [(2, 5)], {}), ("Both", {"dot_general": lax.dot_general}, [(2, 3, 5)], {})]
