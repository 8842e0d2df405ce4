"""Functions that make modules of which it is not known, or not everywhere the same, which one is called or what is bound."""

BOTH = """import collections


def plain(x, n=4):
  return nn.Dense(n)(x)


def normed(x, n=4):
  return nn.LayerNorm()(nn.Dense(n)(x))


TABLE = {'plain': plain, 'normed': normed}


LIST = [plain, normed]
Pair = collections.namedtuple('Pair', ['first', 'second'])
PAIR = Pair(plain, second=normed)


class Blocks:
  kind = 'plain'
  make = staticmethod(plain)
  layer = nn.Dense

  @classmethod
  def head(cls, n):
    return nn.Dense(n)

  @classmethod
  def hidden(cls, n):
    return cls.__head(n)

  @classmethod
  def __head(cls, n):
    return nn.Dense(n)

  @property
  def norm(self):
    return nn.LayerNorm()


@functools.lru_cache
class Odd:
  @classmethod
  def head(cls, n):
    return nn.Dense(n)


"""
M = "class M(nn.Module):\n  kind: Any = 'plain'\n  flag: bool = True\n"
COMPACT = "  @nn.compact\n  def __call__(self, x):\n"


def _compact(*lines: str) -> str:
    return BOTH + M + COMPACT + "".join(f"    {line}\n" for line in lines)


REFUSED = {
    "a condition that is another where it is called": (
        "NNX135",
        _compact("wide = self.flag", "f = plain if wide else normed", "wide = not wide", "return f(x)"),
    ),
    "a name that holds another function then": (
        "NNX135",
        _compact("f = plain if self.flag else normed", "x = f(x)", "f = normed", "return f(x)"),
    ),
    "a table that is changed": ("NNX138", _compact("return TABLE[self.kind](x)") + "\nTABLE['x'] = normed\n"),
    "a table of the method that is changed": (
        "NNX135",
        _compact("fs = {'a': plain, 'b': normed}", "fs['b'] = plain", "return fs[self.kind](x)"),
    ),
    "a table of the method with what was another function then": (
        "NNX135",
        _compact("f = plain", "fs = {'a': f, 'b': normed}", "f = normed", "return fs[self.kind](f(x))"),
    ),
    "a function that has another meaning where it is called": (
        "NNX138",
        _compact("normed = self.flag", "return TABLE[self.kind](x * normed)"),
    ),
    "keys that are no strings": ("NNX135", _compact("return {1: plain, True: normed}[self.kind](x)")),
    "a function handed to another that calls it": (
        "NNX135",
        "def call(f, x):\n  return f(x)\n\n\n" + _compact("return call(plain if self.flag else normed, x)"),
    ),
    "one of two in setup's attribute": (
        "NNX135",
        BOTH + M + "  def setup(self):\n    self.f = plain if self.flag else normed\n" + COMPACT + "    return self.f(x)\n",
    ),
    "a partial of what changes": (
        "NNX135",
        _compact("n = 3", "f = functools.partial(normed, n=n)", "n = 5", "return f(f(x), n=n)"),
    ),
    "a partial of what a call gives": (
        "NNX135",
        _compact("f = functools.partial(normed, n=int(x.sum()))", "return f(x)"),
    ),
    "a partial with options": (
        "NNX135",
        _compact("options = {'n': 3}", "f = functools.partial(normed, **options)", "return f(x)"),
    ),
    "a class method of an object": (
        "NNX135",
        _compact("blocks = Blocks()", "return blocks.head(4)(x)"),
    ),
    "a class method with a private name": ("NNX135", _compact("return Blocks.hidden(4)(x)")),
    "a property that makes a layer": ("NNX135", _compact("blocks = Blocks()", "return blocks.norm(x)")),
    "a class method of a class that is decorated": ("NNX135", _compact("return Odd.head(4)(x)")),
    "a class method that is given away": ("NNX135", _compact("return [m(4) for m in map(Blocks.head, [1])][0](x)")),
    "a match statement of a function that takes its subject apart": (
        "NNX120",
        "def build(kind):\n  match kind:\n    case (n, m):\n      return nn.Dense(n * m)\n    case n:\n"
        "      return nn.Dense(n)\n\n\n" + _compact("return build(self.kind)(x)"),
    ),
    "a function under a decorator of the project's own that is given a lambda": (
        "NNX135",
        "def often(f):\n  return lambda *a: f(*a) + f(*a)\n\n\n@often\ndef call(f, x):\n  return f(x)\n\n\n"
        + _compact("return call(lambda y: nn.Dense(4)(y), x)"),
    ),
    "a function in an attribute of a class": ("NNX138", _compact("return Blocks.make(x)")),
    "a layer in an attribute of a class that changes": (
        "NNX134",
        _compact("return Blocks.layer(4)(x)") + "\n\nBlocks.layer = nn.Embed\n",
    ),
    "functions that an object holds": ("NNX138", _compact("return PAIR.first(x)")),
    "functions of a list, in turn": ("NNX138", _compact("for f in LIST:", "  x = f(x)", "return x")),
    "functions that a maker gives, in a list": (
        "NNX135",
        "def layer(n):\n  def apply(x):\n    return nn.Dense(n)(x)\n  return apply\n\n\n"
        + _compact("for f in [layer(4), layer(3)]:", "  x = f(x)", "return x"),
    ),
    "a table that a function looks up in, whose keys are no strings": (
        "NNX138",
        "def look(k):\n  return NUMBERED[k]\n\n\n"
        + BOTH
        + "NUMBERED = {1: plain, 2: normed}\n\n\n"
        + M
        + COMPACT
        + "    return look(self.kind)(x)\n",
    ),
}
