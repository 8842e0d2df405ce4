"""Modules of a dict that a loop over written names looks up."""

import flax.linen as nn
import jax.numpy as jnp


class Joined(nn.Module):
  def setup(self):
    self.enc = {"img": nn.Dense(3), "txt": nn.Dense(5)}
    self.o = nn.Dense(2)
  def __call__(self, a, b):
    x = {"img": a, "txt": b}
    z = jnp.concatenate([self.enc[k](x[k]) for k in ("img", "txt")], -1)
    return self.o(z)


class Gathered(nn.Module):
  def setup(self):
    self.enc = {"img": nn.Dense(3), "txt": nn.Dense(5)}
    self.o = nn.Dense(2)
  def __call__(self, a, b):
    x = {"img": a, "txt": b}
    ys = []
    for k in ["txt", "img"]:
      ys.append(nn.relu(self.enc[k](x[k])))
    return self.o(jnp.concatenate(ys, -1))


class InAnotherOrder(nn.Module):
  def setup(self):
    self.enc = {"img": nn.Dense(3), "txt": nn.Dense(5)}
    self.o = nn.Dense(2)
  def __call__(self, x):
    for k in ("txt", "img"):
      x = self.enc[k](x)
    return self.o(x)


class InCompact(nn.Module):
  @nn.compact
  def __call__(self, x):
    enc = {"img": nn.Dense(3), "txt": nn.Dense(5)}
    for k in ("txt", "img"):
      x = enc[k](x)
    return nn.Dense(2)(x)


class BesideLayers(nn.Module):
  def setup(self):
    self.enc = {"img": nn.Dense(3), "txt": nn.Dense(5)}
  @nn.compact
  def __call__(self, x):
    for k in ("txt", "img"):
      x = nn.Dense(4)(self.enc[k](x))
    return x


class TwoAtOnce(nn.Module):
  def setup(self):
    self.enc = {"a": nn.Dense(5), "b": nn.Dense(6)}
    self.dec = {"a": nn.Dense(3), "b": nn.Dense(2)}
  def __call__(self, x, y):
    outs = {}
    for k, v in (("a", x), ("b", y)):
      outs[k] = self.dec[k](nn.relu(self.enc[k](v)))
    return outs


CASES = [
  ("Joined", {}, [(2, 5), (2, 3)], {}),
  ("Gathered", {}, [(2, 5), (2, 3)], {}),
  ("InAnotherOrder", {}, [(2, 5)], {}),
  ("InCompact", {}, [(2, 5)], {}),
  ("BesideLayers", {}, [(2, 5)], {}),
  ("TwoAtOnce", {}, [(2, 5), (2, 3)], {}),
]
