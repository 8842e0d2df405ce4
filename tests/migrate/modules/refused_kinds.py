"""Questions for a class that NNX does not have apart from others, or has under another name."""

INDENT = 0
HEAD = """import functools
from typing import Callable

from flax import linen as nn

ONE = nn.Dense
ATTENTIONS = (nn.SelfAttention, nn.Dense)
OTHERS = (nn.MultiHeadDotProductAttention, nn.Dense)


"""

_SIDES = """
class M(nn.Module):
    kind: bool = True

    def setup(self):
        self.att = {made}(2) if self.kind else nn.Dense(4)

    def __call__(self, x):
        if isinstance(self.att, {asked}):
            return self.att(x) * 2
        return self.att(x)
"""
_ASKED = """
class M(nn.Module):
    def setup(self):
        self.m = {made}

    def __call__(self, x):
        return self.m(x) * (2 if {asked} else 3)
"""

REFUSED = {
    "a function, or a module with a parameter": (
        "NNX163",
        """class PReLU(nn.Module):
  @nn.compact
  def __call__(self, x):
    return jnp.where(x > 0, x, x * self.param("a", nn.initializers.ones, ()))


class M(nn.Module):
  activation: object = nn.relu

  @nn.compact
  def __call__(self, x):
    return self.activation(nn.Dense(4)(x))


class Two(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(activation=PReLU())(M(nn.gelu)(x))
""",
    ),
    "a function, or a module that gives another shape": (
        "NNX163",
        """class GLU(nn.Module):
  def __call__(self, x):
    a, b = jnp.split(x, 2, -1)
    return a * b


class M(nn.Module):
  activation: object = nn.relu

  @nn.compact
  def __call__(self, x):
    return self.activation(nn.Dense(4)(x))


class Two(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(activation=GLU())(M(nn.gelu)(x))
""",
    ),
    "one of two modules, an attention layer's base": (
        "NNX133",
        _SIDES.format(made="nn.MultiHeadDotProductAttention", asked="nn.SelfAttention"),
    ),
    "one of two modules, an attention layer's other name": (
        "NNX133",
        _SIDES.format(made="nn.SelfAttention", asked="nn.MultiHeadAttention"),
    ),
    "a name of the file for Linen's class": ("NNX133", _ASKED.format(made="nn.Dense(4)", asked="isinstance(self.m, ONE)")),
    "a tuple of the file with an attention layer": (
        "NNX133",
        _ASKED.format(made="nn.MultiHeadDotProductAttention(2)", asked="isinstance(self.m, ATTENTIONS)"),
    ),
    "a tuple of the file with the layer's own class": (
        "NNX133",
        _ASKED.format(made="nn.MultiHeadDotProductAttention(2)", asked="isinstance(self.m, OTHERS)"),
    ),
    "issubclass": (
        "NNX133",
        _ASKED.format(made="nn.MultiHeadDotProductAttention(2)", asked="issubclass(type(self.m), nn.SelfAttention)"),
    ),
    "the type compared": ("NNX133", _ASKED.format(made="nn.Dense(4)", asked="type(self.m) is nn.Dense")),
    "the type as a key": ("NNX133", _ASKED.format(made="nn.Dense(4)", asked="{nn.Dense: 5, nn.Conv: 0}[type(self.m)]")),
    "an attention layer's class compared": (
        "NNX133",
        """
class M(nn.Module):
    attn: type = nn.SelfAttention

    @nn.compact
    def __call__(self, x):
        return self.attn(2)(x) * (2 if self.attn is nn.SelfAttention else 3)
""",
    ),
    "what stands in for a field is told by the call": (
        "NNX132",
        """
class M(nn.Module):
    norm: Callable = None

    @nn.compact
    def __call__(self, x, train=False):
        norm = self.norm or functools.partial(nn.BatchNorm, use_running_average=not train)
        return norm()(x)
""",
    ),
    "a name that is bound again where the field is None": (
        "NNX132",
        """
class M(nn.Module):
    norm: Callable = None

    @nn.compact
    def __call__(self, x):
        norm = self.norm
        if norm is None:
            norm = nn.LayerNorm
        return norm()(x)
""",
    ),
    "what a field holds or a class, under nn.remat": (
        "NNX138",
        """
class B(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


class M(nn.Module):
    block: Callable = None

    @nn.compact
    def __call__(self, x):
        return nn.remat(self.block or B)()(x)
""",
    ),
    "one of several by a condition, made again under a name": (
        "NNX132",
        """
class M(nn.Module):
    norm: str = "ln"

    @nn.compact
    def __call__(self, x):
        def f(x, name=None):
            return (nn.LayerNorm if self.norm == "ln" else nn.RMSNorm)(name=name)(x)
        return f(f(x), name="last")
""",
    ),
    "one of a table, made again under a name": (
        "NNX132",
        """
class M(nn.Module):
    norm: str = "ln"

    @nn.compact
    def __call__(self, x):
        def f(x, name=None):
            return {"ln": nn.LayerNorm, "rms": nn.RMSNorm}[self.norm](name=name)(x)
        y = f(x)
        return f(y, name="last")
""",
    ),
    "a name that may be None": (
        "NNX139",
        """
class M(nn.Module):
    last: bool = False

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, name="end" if self.last else None)(x)
""",
    ),
    "a name of the method's that may be None": (
        "NNX139",
        """
class M(nn.Module):
    last: bool = False

    @nn.compact
    def __call__(self, x):
        name = None
        if self.last:
            name = "end"
        return nn.Dense(4, name=name)(x)
""",
    ),
    "a name in a loop that may be None": (
        "NNX139",
        """
class M(nn.Module):
    @nn.compact
    def __call__(self, x):
        for i in range(3):
            x = nn.Dense(4, name=None if i < 2 else "end")(x)
        return x
""",
    ),
}
