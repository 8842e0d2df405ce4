"""Methods of a module that tell too little of it, or leave out modules that Linen then makes no variables for."""

HEAD = """import jax.numpy as jnp
from flax import linen as nn


class Heads(nn.Module):
  def setup(self):
    self.policy = nn.Dense(3)
    self.value = nn.Dense(1)
  def __call__(self, x):
    return self.actor(x), self.critic(x)
  def actor(self, x):
    return self.policy(x)
  def critic(self, x):
    return self.value(x)


class Uncalled(nn.Module):
  def setup(self):
    self.policy = nn.Dense(3)
    self.value = nn.Dense(1)
  def actor(self, x):
    return self.policy(x)
  def critic(self, x):
    return self.value(x)


class Coder(nn.Module):
  def setup(self):
    self.enc = nn.Dense(3)
    self.dec = nn.Dense(6)
  def encode(self, x):
    return self.enc(x)
  def decode(self, z):
    return self.dec(z)
  def __call__(self, x):
    return self.decode(self.encode(x))


class Twice(nn.Module):
  def setup(self):
    self.layer = nn.Dense(4)
  def __call__(self, x, other):
    return self.put(x) + self.put(other)
  def put(self, x):
    return self.layer(x)


class Apart(nn.Module):
  @nn.compact
  def __call__(self, x):
    return self.first(x) + self.second(x)
  @nn.compact
  def first(self, x):
    return nn.Dense(4, name="a")(x)
  @nn.compact
  def second(self, x):
    return nn.Dense(4, name="b")(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(9)(x)
"""
INDENT = 4  # of the bodies below

REFUSED = {
    "one of two methods": ("NNX157", "return Heads().actor(y)"),
    "one of two methods of a class without __call__": ("NNX157", "return Uncalled().critic(y)"),
    "one of two compact methods": ("NNX157", "return Apart().second(y)"),
    "unlike sizes for two methods": ("NNX114", "net = Heads()\nreturn net.actor(x), net.critic(y)"),
    "unlike sizes for two methods of a class without __call__": (
        "NNX114",
        "net = Uncalled()\nreturn net.actor(x), net.critic(y)",
    ),
    "the second half alone": ("NNX157", "return Coder().decode(y)"),
    "an argument that __call__ computes": ("NNX110", "net = Twice()\nreturn net.put(x) * 2"),
}
