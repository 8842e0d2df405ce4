"""Dicts and tuples of arrays that modules hand to modules: `self.net({"state": x, "action": a})`."""

import jax.numpy as jnp
from flax import linen as nn


class Joined(nn.Module):
  @nn.compact
  def __call__(self, inputs):
    return nn.Dense(4)(jnp.concatenate([inputs["state"], inputs["action"]], -1))


class Deep(nn.Module):
  @nn.compact
  def __call__(self, batch):
    return Joined()(batch["now"]) + nn.Dense(4)(batch["later"]["state"])


class Both(nn.Module):
  @nn.compact
  def __call__(self, pair):
    a, b = pair
    return nn.Dense(4)(jnp.concatenate([a, b], -1))


class Displayed(nn.Module):
  @nn.compact
  def __call__(self, x, a):
    return Joined()({"state": nn.relu(x), "action": a, "mask": None})


class OfKeywords(nn.Module):
  def setup(self):
    self.net = Joined()

  def __call__(self, x, a):
    inputs = dict(state=x)
    inputs["action"] = a
    return self.net(inputs=inputs)


class Changed(nn.Module):
  @nn.compact
  def __call__(self, x, a):
    inputs = {"state": x, "action": a}
    inputs["state"] = nn.Dense(7)(inputs["state"])
    return Joined()(inputs)


class Nested(nn.Module):
  @nn.compact
  def __call__(self, x, a):
    now = {"state": x, "action": a}
    return Deep()({"now": now, "later": {"state": nn.Dense(2)(x)}})


class EitherDict(nn.Module):
  flag: bool = True

  @nn.compact
  def __call__(self, x, a):
    net = Joined()
    if self.flag:
      return net({"state": x, "action": a})
    return net({"action": nn.Dense(2)(a), "state": x})


class EitherTuple(nn.Module):
  flag: bool = True

  def setup(self):
    self.net = Both()
    self.wide = nn.Dense(6)

  def __call__(self, x, a):
    if self.flag:
      return self.net((x, a)) + self.wide(x).sum()
    return self.net((x, self.wide(x)))


class InALoop(nn.Module):
  n: int = 3

  def setup(self):
    self.nets = [Joined() for _ in range(self.n)]

  def __call__(self, x, a):
    for net in self.nets:
      x = net({"state": x, "action": a})
    return x


class Members(nn.Module):
  n: int = 2

  @nn.compact
  def __call__(self, x, a):
    several = nn.vmap(
        Joined, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, out_axes=0, axis_size=self.n
    )
    return several()({"state": x, "action": a})


class Rematerialized(nn.Module):
  @nn.compact
  def __call__(self, x, a):
    return nn.remat(Joined)()({"state": x, "action": a})


INPUTS = [(2, 4), (2, 3)]
CASES = [
    ("Displayed", {}, INPUTS, {}),
    ("OfKeywords", {}, INPUTS, {}),
    ("Changed", {}, INPUTS, {}),
    ("Nested", {}, INPUTS, {}),
    ("EitherDict", {}, INPUTS, {}),
    ("EitherDict", {"flag": False}, INPUTS, {}),
    ("EitherTuple", {}, INPUTS, {}),
    ("EitherTuple", {"flag": False}, INPUTS, {}),
    ("InALoop", {}, INPUTS, {}),
    ("Members", {}, INPUTS, {}),
    ("Rematerialized", {}, INPUTS, {}),
]
