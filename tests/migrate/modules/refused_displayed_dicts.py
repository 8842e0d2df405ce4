"""Dicts of arrays for another module whose entries are not known where it is called."""

HEAD = """import jax.numpy as jnp
from flax import linen as nn


class Joined(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(jnp.concatenate([x["state"], x["action"]], -1))


class M(nn.Module):
  flag: bool = True
  n: int = 2
  @nn.compact
  def __call__(self, x, a):
"""
INDENT = 4  # of the bodies below

LOOP = """y = {"state": x, "action": a}
for i in range(self.n):
  x = Joined()(y)
  y = {"state": x, "action": a}
return x
"""
REFUSED = {
    "a dict that a loop makes anew": ("NNX110", LOOP),
    "another name of a dict that is changed": (
        "NNX110",
        'y = {"state": x, "action": a}\nz = y\nz["state"] = nn.Dense(6)(x)\nreturn Joined()(y)\n',
    ),
    "a dict that is updated": (
        "NNX110",
        'y = {"state": x, "action": a}\ny.update(state=nn.Dense(6)(x))\nreturn Joined()(y)\n',
    ),
    "an entry under a computed key": (
        "NNX110",
        'key = "state" if self.flag else "action"\nreturn Joined()({"state": x, "action": a, key: nn.Dense(6)(x)})\n',
    ),
    "dicts with unlike keys": (
        "NNX110",
        """net = Joined()
if self.flag:
  return net({"state": x, "action": a})
return net({"state": x, "action": a, "more": x})
""",
    ),
}
