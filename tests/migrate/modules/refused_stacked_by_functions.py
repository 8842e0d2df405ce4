"""Modules of which a function under scan or vmap would stack the variables, and that are made or used elsewhere, too."""

HEAD = "import jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"

_VMAP = "nn.vmap(lambda m, y: m(y), variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0)"
_SHARED = "nn.vmap(lambda m, y: m(y), variable_axes={'params': None}, split_rngs={'params': False}, in_axes=0)"

REFUSED = {
    "a field's module": (
        "NNX130",
        f"""class M(nn.Module):
  inner: nn.Module
  def __call__(self, x):
    return {_VMAP}(self.inner, x)


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Dense(4))(x)
""",
    ),
    "items of a comprehension": (
        "NNX130",
        f"""class M(nn.Module):
  def setup(self):
    self.nets = [nn.Dense(4) for _ in range(2)]
  def __call__(self, x):
    for net in self.nets:
      x = {_VMAP}(net, x)
    return x
""",
    ),
    "stacked only where a field says so": (
        "NNX130",
        f"""class M(nn.Module):
  many: bool = True
  @nn.compact
  def __call__(self, x):
    net = nn.Dense(4)
    if self.many:
      return {_VMAP}(net, x)
    return net(x)
""",
    ),
    "called alone first": (
        "NNX130",
        f"""class M(nn.Module):
  many: bool = True
  def setup(self):
    self.net = nn.Dense(4)
  def __call__(self, x):
    if not self.many:
      return self.net(x)
    return {_VMAP}(self.net, x)
""",
    ),
    "stacked here and shared there": (
        "NNX130",
        f"""class M(nn.Module):
  many: bool = True
  def setup(self):
    self.net = nn.Dense(4)
  def __call__(self, x):
    if self.many:
      return {_VMAP}(self.net, x)
    return {_SHARED}(self.net, x)
""",
    ),
    "under one transform and under another": (
        "NNX130",
        f"""class M(nn.Module):
  def setup(self):
    self.net = nn.Dense(4)
  def __call__(self, x):
    x = {_VMAP}(self.net, x)
    last = nn.scan(lambda m, c, y: (c, m(y)), variable_axes={{'params': 0}}, split_rngs={{'params': True}})
    return last(self.net, jnp.zeros(()), x)[1]
""",
    ),
    "what setup made, of a function that is given self": (
        "NNX130",
        """class M(nn.Module):
  def setup(self):
    self.net = nn.Dense(4)
  def __call__(self, x):
    body = nn.vmap(lambda m, y: m.net(y), variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0)
    return body(self, x)
""",
    ),
}
