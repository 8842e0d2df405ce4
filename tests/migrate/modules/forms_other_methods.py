"""Modules of which others call the methods that their own `__call__` calls: `self.actor_critic.actor(z)`."""

import jax.numpy as jnp
from flax import linen as nn


class ActorCritic(nn.Module):
  hidden: int = 5

  def setup(self):
    self.policy = nn.Dense(self.hidden)
    self.value = nn.Dense(1)

  def __call__(self, x):
    return self.actor(x), self.critic(x)

  def actor(self, x):
    return nn.tanh(self.policy(x))

  def critic(self, x):
    return self.value(x)


class OfBoth(nn.Module):
  """The critic takes more than the actor."""

  def setup(self):
    self.policy = nn.Dense(3)
    self.value = nn.Dense(1)

  def __call__(self, x, action):
    return self.actor(x), self.critic(x, action)

  def actor(self, x):
    return self.policy(x)

  def critic(self, x, action):
    return self._joined(x, action)

  def _joined(self, x, action):
    return self.value(jnp.concatenate([x, action], -1))


class Coder(nn.Module):
  latent: int = 3
  out: int = 6

  def setup(self):
    self.enc = nn.Dense(self.latent)
    self.dec = nn.Dense(self.out)

  def encode(self, x):
    return nn.tanh(self.enc(x))

  def decode(self, z):
    return self.dec(z)

  def __call__(self, x):
    return self.decode(self.encode(x))


class OtherNames(nn.Module):
  """The method has other names for the arguments, in another order."""

  def setup(self):
    self.a = nn.Dense(4)
    self.b = nn.Dense(5)

  def __call__(self, state, action):
    return self.score(action, state)

  def score(self, state, other, scale=1.0):
    return self.a(state).sum() + scale * self.b(other).sum()


class Uncalled(nn.Module):
  """No `__call__` at all."""

  def setup(self):
    self.policy = nn.Dense(3)
    self.value = nn.Dense(1)

  def actor(self, x):
    return self.policy(x)

  def critic(self, x):
    return self.value(x)


class Compact(nn.Module):
  hidden: int = 5

  @nn.compact
  def __call__(self, x, train=False):
    return self.body(x, train)

  @nn.compact
  def body(self, x, train=False):
    return nn.Dropout(0.1, deterministic=not train)(nn.Dense(self.hidden)(x))


class Encoded(nn.Module):
  def setup(self):
    self.encoder = nn.Dense(7)
    self.heads = ActorCritic()

  def __call__(self, x):
    z = self.encoder(x)
    return self.heads.actor(z), self.heads.critic(z)


class InMethods(nn.Module):
  def setup(self):
    self.encoder = nn.Dense(7)
    self.heads = ActorCritic(4)

  def __call__(self, x):
    return self.actor(x), self.critic(x)

  def actor(self, x):
    return self.heads.actor(self.encoder(x))

  def critic(self, x):
    return self.heads.critic(self.encoder(x))


class Within(nn.Module):
  """One more level, by methods only."""

  def setup(self):
    self.stem = nn.Dense(6)
    self.net = InMethods()

  def __call__(self, x):
    x = self.stem(x)
    return self.net.critic(x), self.net.actor(x)


class ActionOfActor(nn.Module):
  def setup(self):
    self.encoder = nn.Dense(7)
    self.heads = OfBoth()

  def __call__(self, x):
    z = self.encoder(x)
    return self.heads.critic(z, self.heads.actor(z))


class CodedApart(nn.Module):
  def setup(self):
    self.coder = Coder()
    self.middle = nn.Dense(3)
    self.head = nn.Dense(2)

  def __call__(self, x):
    z = self.coder.encode(x)
    return self.head(z), self.coder.decode(self.middle(z))


class ScoredByName(nn.Module):
  def setup(self):
    self.net = OtherNames()
    self.wide = nn.Dense(8)

  def __call__(self, x):
    return self.net.score(other=x, state=self.wide(x), scale=2.0)


class WithoutCall(nn.Module):
  def setup(self):
    self.net = Uncalled()

  def __call__(self, x):
    return self.net.actor(x), self.net.critic(x)


class CompactBody(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Compact().body(nn.Dense(3)(x))


class Several(nn.Module):
  n: int = 2

  def setup(self):
    self.encoder = nn.Dense(5)
    self.nets = [ActorCritic() for _ in range(self.n)]

  def __call__(self, x):
    x = self.encoder(x)
    values = []
    for net in self.nets:
      values.append(net.critic(x))
      x = net.actor(x)
    return x, values


CASES = [
    ("Encoded", {}, [(2, 4)], {}),
    ("InMethods", {}, [(2, 4)], {}),
    ("Within", {}, [(2, 4)], {}),
    ("ActionOfActor", {}, [(2, 4)], {}),
    ("CodedApart", {}, [(2, 4)], {}),
    ("ScoredByName", {}, [(2, 4)], {}),
    ("WithoutCall", {}, [(2, 4)], {}),
    ("CompactBody", {}, [(2, 4)], {}),
    ("Several", {}, [(2, 4)], {}),
]
