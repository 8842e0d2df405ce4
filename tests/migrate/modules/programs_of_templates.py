"""Programs that hand modules to constructors: HEAD, then one of RUN and FOUND, which run on both sides, or of REFUSED."""

from __future__ import annotations

HEAD = """from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

x = jnp.sin(jnp.arange(12.0)).reshape(2, 6)


def ramp(key, shape, dtype=jnp.float32):
  size = 1
  for n in shape:
    size *= n
  return 0.3 * jnp.sin(1.0 + jnp.arange(size, dtype=dtype)).reshape(shape)


class Encoder(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.width, kernel_init=ramp)(x))


class Gate(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(7, kernel_init=ramp)(x)
    return nn.Dense(8, kernel_init=ramp)(self.inner(x))


class Deep(nn.Module):
  head: nn.Module
  tail: Any = None
  def setup(self):
    self.pre = nn.Dense(4, kernel_init=ramp)
  def __call__(self, x):
    x = self.head(self.pre(x))
    if self.tail is not None:
      x = self.tail(x)
    return x


"""
RUN = {
    "one": """def run():
  model = Deep(Encoder(6))
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "two, of which one is handed one": """def run():
  model = Deep(head=Encoder(6), tail=Gate(inner=Encoder(2)))
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "one of two models": """def run():
  head = Encoder(3)
  model = Deep(head)
  def start(model):
    return model.init(jax.random.key(0), x)
  other = Deep(head).init(jax.random.key(1), x)
  params = start(model)
  return (params, other), model.apply(params, x)
""",
    "in place of a default that makes nothing": """class Scaled(nn.Module):
  by: float = 2.0
  def __call__(self, x):
    return x * self.by


class Shifted(nn.Module):
  def __call__(self, x):
    return x + 1


class Actor(nn.Module):
  head: nn.Module
  first: nn.Module = Scaled(3.0)
  last: nn.Module = Scaled(2.0)
  @nn.compact
  def __call__(self, x, options=None):
    return self.last(self.head(self.first(x, **(options or {}))))


def run():
  model = Actor(Encoder(6))
  params = model.init(jax.random.key(0), x)
  other = Actor(Encoder(2), last=Scaled(0.5))
  others = other.init(jax.random.key(1), x)
  third = Actor(Encoder(2), Shifted())
  thirds = third.init(jax.random.key(1), x)
  return (params, others, thirds), (model.apply(params, x), other.apply(others, x), third.apply(thirds, x))
""",
    "under names of the script": """inner = Encoder(width=2)
gate = Gate(inner)
if x.ndim == 2:
  head = Encoder(3)
  model = Deep(head, tail=gate)
params = model.init(jax.random.key(0), x)
output = model.apply(params, x)


def other(gate, head):
  inner = gate + head
  return inner


def run():
  return params, output
""",
    "layers": """def run():
  head = nn.Dense(5, kernel_init=ramp)
  model = Deep(head, tail=nn.LayerNorm(epsilon=1e-3))
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "layers whose sizes others follow": """class Sized(nn.Module):
  head: nn.Module
  drop: nn.Module
  norm: nn.Module | None = None
  @nn.compact
  def __call__(self, x, train=False):
    x = self.drop(self.head(x), deterministic=not train)
    if self.norm is not None:
      x = self.norm(x, use_running_average=True)
    return nn.Dense(2 * x.shape[-1], kernel_init=ramp)(x)


head = nn.Dense(features=5, use_bias=False, kernel_init=ramp)
small = nn.Dense(3, kernel_init=ramp)
first = Sized(head, nn.Dropout(0.5), nn.BatchNorm(momentum=0.9))
second = Sized(small, drop=nn.Dropout(rate=0.1, broadcast_dims=(0,)))


def run():
  params = first.init(jax.random.key(0), x), second.init(jax.random.key(1), x)
  return params[1], (first.apply(params[0], x), second.apply(params[1], x))
""",
    "layers of two kinds": """def run():
  first, second = Deep(nn.Dense(3, kernel_init=ramp)), Deep(nn.LayerNorm())
  params = first.init(jax.random.key(0), x), second.init(jax.random.key(1), x)
  return params[0], (first.apply(params[0], x), second.apply(params[1], x))
""",
    "layers in half precision": """def run():
  model = Deep(nn.Dense(5, kernel_init=ramp, dtype=jnp.bfloat16), nn.RMSNorm(dtype=jnp.bfloat16))
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "under names": """def run():
  inner = Encoder(width=2)
  gate = Gate(inner)
  head = Encoder(3)
  model = Deep(head, gate)
  other = Deep(head)
  params, others = model.init(jax.random.key(0), x), other.init(jax.random.key(1), x)
  return (params, others), (model.apply(params, x), other.apply(others, x))
""",
    "a name that is given anew": """def run():
  model = Encoder(6)
  model = Gate(inner=model)
  model = Deep(model)
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "one of two, or none": """def make(wide, tail=None):
  if wide:
    head = Encoder(6)
  else:
    head = Encoder(2)
  if tail is None and wide:
    tail = Encoder(9)
  return Deep(head, tail)


def run():
  models = make(True), make(False), make(False, Encoder(1)), make(wide=True, tail=Encoder(4) if x.ndim == 3 else None)
  params = [model.init(jax.random.key(0), x) for model in models]
  return params, [model.apply(p, x) for model, p in zip(models, params)]
""",
    "by functions": """def make(width):
  if width > 2:
    return Encoder(width)


def run():
  def narrow(width=3):
    return Encoder(width)
  first = narrow()
  models = Deep(first, tail=make(4)), Deep(narrow(5), make(1))
  params = [model.init(jax.random.key(0), x) for model in models]
  return params, [model.apply(p, x) for model, p in zip(models, params)]
""",
    "layers by a function": """def norm(kind):
  return nn.LayerNorm() if kind == "layer" else nn.RMSNorm(epsilon=1e-3)


def run():
  models = Deep(norm("layer")), Deep(norm("rms"))
  params = [model.init(jax.random.key(0), x) for model in models]
  return params, [model.apply(p, x) for model, p in zip(models, params)]
""",
    "to functions": """def wrapped(encoder, gate):
  if gate:
    return Gate(encoder)
  else:
    return Deep(head=encoder)


def build(encoder, *, tail=None):
  return Deep(encoder, tail)


def run():
  models = [build(Encoder(3)), build(tail=Encoder(2), encoder=Encoder(4))]
  models += [wrapped(Encoder(5), True), wrapped(Encoder(6), False)]
  params = [model.init(jax.random.key(0), x) for model in models]
  return params, [model.apply(p, x) for model, p in zip(models, params)]
""",
    "to class methods": """class Agent:
  def __init__(self, model):
    self.model = model

  @classmethod
  def create(cls, encoder, tail=None):
    encoder = Gate(encoder)
    return cls(Deep(encoder, tail))


def run():
  model = Agent.create(Encoder(3)).model
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "to constructors of other objects": """class Agent:
  def __init__(self, encoder=None, tail=None):
    if encoder is None:
      encoder = Encoder(5)
    self.model = Deep(encoder, tail)


def run():
  models = [Agent().model, Agent(Encoder(3)).model, Agent(tail=Encoder(2)).model, Agent(None, Encoder(2)).model]
  params = [model.init(jax.random.key(0), x) for model in models]
  return params, [model.apply(p, x) for model, p in zip(models, params)]
""",
    "in each step of a loop": """def run():
  params, outputs = [], []
  for i in range(2):
    head = Encoder(7 + i)
    model = Deep(head)
    params.append(model.init(jax.random.key(0), x))
    outputs.append(model.apply(params[-1], x))
  return params, outputs
""",
    "a layer with a factory of functions": """def run():
  model = Deep(nn.Dense(3, kernel_init=ramp, dot_general_cls=lambda: jax.lax.dot_general))
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
}
# What stays Linen gets Linen copies of what it is given, wherever that was made.
FOUND = {
    "one that two modules share, by calls of a function": """def make(encoder):
  return Deep(encoder)


def run():
  encoder = Encoder(4)
  model = Deep(make(encoder), make(encoder))
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "one of a dict": """def run():
  parts = {"head": Encoder(4)}
  parts["tail"] = Encoder(3)
  model = Deep(**parts)
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "an attribute": """class Agent:
  def __init__(self, width):
    self.encoder = Encoder(width)
    self.model = Deep(self.encoder)


def run():
  model = Agent(4).model
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
    "one of a list that a loop goes through": """def run():
  heads = [Encoder(3), Encoder(4)]
  models = [Deep(head) for head in heads]
  params = [model.init(jax.random.key(0), x) for model in models]
  return params, [model.apply(p, x) for model, p in zip(models, params)]
""",
    "by a function of the function": """def run():
  def make(width):
    return Encoder(width)
  heads = [make(3)]
  heads.append(make(4))
  model = Deep(*heads)
  params = model.init(jax.random.key(0), x)
  return params, model.apply(params, x)
""",
}
REFUSED = {
    "one that a function makes which makes models, too": """def wrapped(encoder):
  return Deep(head=encoder)


def run():
  return Deep(wrapped(Encoder(3))), wrapped(Encoder(4))
""",
    "a field without a default that may be none": """def make(width):
  if width > 2:
    return Encoder(width)


def run():
  return Deep(make(3)), Deep(make(1))
""",
    "a layer with a name": "def run():\n  return Deep(nn.Dense(3, name='mine'))\n",
    "a layer with a function that NNX's has not": "def run():\n"
    "  return Deep(nn.Conv(3, (1,), conv_general_dilated_cls=lambda: jax.lax.conv_general_dilated))\n",
    "a layer and a class": "def run():\n  return Deep(nn.Dense(3)), Deep(Encoder(3))\n",
    "a layer that is used by itself, too": "head = nn.Dense(3)\nmodel = Deep(head)\ny = head.init(jax.random.key(0), x)\n",
    "a layer that two share": "def run():\n  norm = nn.LayerNorm()\n  return Deep(Deep(norm), norm)\n",
    "a layer of layers": "def run():\n  return Deep(nn.RNN(nn.GRUCell(3)))\n",
    "an embedding": "def run():\n  return Deep(nn.Embed(3, 4))\n",
    "a list of them": "def run():\n  return Deep([Encoder(3), Encoder(4)])\n",
    "what a function returns that is handed on": """def make():
  return Encoder(3)


def run():
  head = make()
  return Deep(Encoder(3)), Deep(head), list(map(lambda f: f(), [make]))
""",
    "what a generator gives": "def make():\n  yield Encoder(3)\n\n\ndef run():\n  return Deep(Encoder(2)), Deep(make())\n",
    "what a function keeps and gives": """head = Encoder(3)


def make():
  return head


def run():
  return Deep(Deep(make()), make())
""",
    "one that a function hands to two": """def make(head):
  tail = Deep(head)
  return Deep(Deep(head), tail)


def run():
  return make(Encoder(3))
""",
    "one that two calls of a function are given": """def make(head):
  return Deep(head)


def run():
  head = Encoder(3)
  return Deep(make(head), make(head))
""",
    "one that the calls of a loop are given": """def make(head):
  return Deep(head)


def run():
  head = Encoder(3)
  models = []
  for _ in range(2):
    models.append(make(head))
  return Deep(*models)
""",
    "one that a loop keeps for its next step": """def run():
  models = []
  for i in range(2):
    if i == 0:
      head = Encoder(3)
    models.append(Deep(head))
  return models
""",
    "one that a function has as its default": "def make(head=Encoder(3)):\n  return Deep(head)\n\n\n"
    "def run():\n  return Deep(make(), make())\n",
    "a parameter that another call gives something else": """def make(head):
  return Deep(head)


def run(other):
  return make(Encoder(3)), make(other)
""",
    "a parameter of a function that a mapping calls": "def make(head):\n  return Deep(head)\n\n\n"
    "def run(**kw):\n  return make(Encoder(3)), make(**kw)\n",
    "a parameter that is used by itself, too": """def make(head):
  print(head)
  return Deep(head)


def run():
  return make(Encoder(3))
""",
    "a parameter of a method of some object": """class Agent:
  @classmethod
  def create(cls, head):
    return Deep(head)


def run(agent):
  return Deep(Encoder(3)), Agent.create(Encoder(2)), agent.create(Encoder(3))
""",
    "a parameter of a method that another class inherits": """class Agent:
  @classmethod
  def create(cls, head):
    return Deep(head)


class Other(Agent):
  pass


def run():
  return Agent.create(Encoder(2)), Other.create(Encoder(3))
""",
    "an attribute": """class Agent:
  def __init__(self):
    self.head = Encoder(3)
    self.model = Deep(self.head)
""",
    "by a mapping that has it": "def run():\n  parts = dict(head=Encoder(3))\n  return Deep(**parts)\n",
    "a parameter of a constructor that another class inherits": """class Agent:
  def __init__(self, head):
    self.model = Deep(head)


class Other(Agent):
  pass


def run():
  return Agent(Encoder(2)), Other(Encoder(3))
""",
    "a parameter of a constructor that the class calls": """class Agent:
  def __init__(self, head):
    self.model = Deep(head)

  @classmethod
  def create(cls, width):
    return cls(Encoder(width))


def run():
  return Agent(Encoder(2)), Agent.create(3)
""",
    "a parameter that is None, but under a condition": """def make(flag, head=None):
  if flag:
    if head is None:
      head = Encoder(2)
  return Deep(head)


def run():
  return make(True), make(False, Encoder(2))
""",
    "an item of a dict": "def run():\n  parts = {}\n  parts['head'] = Encoder(3)\n  return Deep(parts['head'])\n",
    "one that a class is given, too, which takes a mapping": """def run(**kw):
  head = Encoder(3)
  model, other = Deep(head), Gate(inner=head)
  return model.init(jax.random.key(0), x), other.init(jax.random.key(0), x), Gate(**kw)
""",
    "one that a class is given, too, which stays Linen": """class Odd(nn.Module):
  inner: nn.Module
  @nn.compact
  def __call__(self, x):
    return self.perturb("x", self.inner(x))


def run():
  head = Encoder(3)
  model, other = Deep(head), Odd(head)
  return model.init(jax.random.key(0), x), other.init(jax.random.key(0), x)
""",
    "a name that a function in the function asks for": """def run():
  head = Encoder(3)
  model = Deep(head)
  def other():
    return Gate(head)
  return model, other()
""",
    "by a partial, too": "import functools\n\n\ndef run():\n  return Deep(Encoder(3)), functools.partial(Deep, head=x)\n",
    "by a mapping, too": "def run(**kw):\n  return Deep(Encoder(3)), Deep(**kw)\n",
    "one that is used by itself, too": """def run():
  head = Encoder(3)
  y = head.init(jax.random.key(0), x)
  return Deep(head), y
""",
    "one handed over twice": "def run():\n  head = Encoder(3)\n  return Deep(head, head)\n",
    "one that two parts of a module share": """def run():
  inner = Encoder(3)
  tail = Deep(inner)
  return Deep(Deep(inner), tail)
""",
    "one that several modules of a list share": """def run():
  inner = Encoder(3)
  return [Deep(inner) for _ in range(2)]
""",
    "one that two modules of a dict share": """def run():
  inner = Encoder(3)
  first, second = Deep(head=inner), Deep(head=inner)
  return {"first": first, "second": second}
""",
    "one that two modules share, of which one is handed on": """def run():
  inner = Encoder(3)
  one = Deep(inner)
  two = Deep(inner)
  return Deep(one), two
""",
    "one with a name": "def run():\n  return Deep(Encoder(3, name='mine'))\n",
    "of a name of the script that is asked for": "head = Encoder(3)\nmodel = Deep(head)\nprint(head)\n",
    "of a name that is asked for by a string": "head = Encoder(3)\nmodel = Deep(head)\n__all__ = ['head', 'model']\n",
    "of a name of the script that a function hands over": "head = Encoder(3)\n\n\ndef make():\n  return Deep(head)\n",
    "of a name of the script that a loop hands over": "head = Encoder(3)\nmodels = [Deep(head) for _ in range(2)]\n",
    "of a name of the script that is handed over twice": "head = Encoder(3)\nmodels = Deep(head), Deep(head)\n",
    "of a name that a loop gives": "for head in (Encoder(3), Encoder(4)):\n  model = Deep(head)\n",
    "of a name that is taken apart": "head, tail = Encoder(3), Encoder(4)\nmodel = Deep(head, tail)\n",
    "of a name that a function changes": "head = Encoder(3)\n\n\n"
    "def change():\n  global head\n  head = 3\n\n\nmodel = Deep(head)\n",
    "by modules, too": "class Whole(nn.Module):\n  def setup(self):\n    self.e = Encoder(3)\n    self.d = Deep(self.e)\n"
    "  def __call__(self, x):\n    return self.d(self.e(x))\n\n\ndef run():\n  return Deep(Encoder(4))\n",
    "to a class that others inherit from": "class Deeper(Deep):\n  pass\n\n\ndef run():\n  return Deep(Encoder(4))\n",
}


# Those that stay Linen, where the others are made when they are first called.
STAYS = {
    "one that the calls of a loop are given",
    "by a mapping that has it",
}
