"""Decorators, mixins, bases and defaults that change what a class is, where it stays Linen: with their codes."""

REFUSED = {
    "a layer that its subclass calls in a function of its own": (
        "NNX160",
        """class M(nn.Dense):
  scale: float = 2.0
  @nn.compact
  def __call__(self, x):
    def call(x):
      return super(M, self).__call__(x)
    return call(x) * self.scale
""",
    ),
    "a layer's subclass that defines what the layer reads": (
        "NNX136",
        """class M(nn.Conv):
  scale: float = 2.0
  @property
  def shared_weights(self):
    return False
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.scale
""",
    ),
    "a layer's field that is an attribute of its subclass": (
        "NNX136",
        """class M(nn.Dense):
  scale: float = 2.0
  use_bias = False
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.scale
""",
    ),
    "a layer that its subclass asks for its parameters, too": (
        "NNX136",
        """class M(nn.Dense):
  scale: float = 2.0
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.scale
  def param(self, name, *args):
    return super().param(name, *args)
""",
    ),
    "a layer with a table that its subclass looks up under a condition": (
        "NNX136",
        """class M(nn.Embed):
  scale: float = 2.0
  def __call__(self, t):
    if self.scale:
      return super().__call__(t) * self.scale
    return jnp.zeros((*t.shape, self.features))
""",
    ),
    "a layer with a table that its subclass does not look up first": (
        "NNX136",
        """class M(nn.Embed):
  scale: float = 2.0
  def __call__(self, t):
    if not self.scale:
      return jnp.zeros((*t.shape, self.features))
    return super().__call__(t) * self.scale
""",
    ),
    "a layer with a table that other code reads": (
        "NNX140",
        """class Scaled(nn.Embed):
  scale: float = 2.0
  def __call__(self, t):
    return super().__call__(t) * self.scale
class M(nn.Module):
  def setup(self):
    self.tokens = Scaled(8, 4)
  def __call__(self, t):
    return self.tokens(t) @ self.tokens.embedding.T
""",
    ),
    "a layer's subclass that other code takes for the layer": (
        "NNX136",
        """def is_dense(module):
  return isinstance(module, nn.Dense)
class M(nn.Dense):
  scale: float = 2.0
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.scale
""",
    ),
    "a layer's subclass that is given a field of the layer's by its place": (
        "NNX140",
        """class Scaled(nn.Dense):
  scale: float = 2.0
  @nn.compact
  def __call__(self, x):
    return super().__call__(x) * self.scale
class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    init = nn.initializers.zeros
    return Scaled(4, True, None, jnp.float32, None, init, init, None)(x)
""",
    ),
    "a layer's subclass that gives the layer other features": (
        "NNX136",
        """class Halved(nn.LayerNorm):
  def __call__(self, x):
    return super().__call__(x[..., :2])
class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Halved()(x)
""",
    ),
    "methods that are intercepted": (
        "NNX130",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    with nn.intercept_methods(lambda f, args, kwargs, context: f(*args, **kwargs) * 2):
      return nn.Dense(4)(x)
""",
    ),
    "a decorator that replaces the constructor": (
        "NNX171",
        """def counted(cls):
  made = cls.__init__
  def init(self, *args, **kwargs):
    self.given = dict(kwargs)
    made(self, *args, **kwargs)
  cls.__init__ = init
  return cls


@counted
class M(nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "a decorator that asks for fields": (
        "NNX171",
        """import dataclasses


def described(label):
  def add(cls):
    cls.described = [field.name for field in dataclasses.fields(cls)]
    return cls
  return add


@described('m')
class M(nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "a decorator by a name of the project's own that makes a dataclass": (
        "NNX171",
        """import functools
import flax

slotted = functools.partial(flax.struct.dataclass, frozen=False, slots=True)
by_keyword = functools.partial(slotted, kw_only=True)


@by_keyword
class M(nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "a base that has slots": (
        "NNX171",
        """import functools
import dataclasses

slotted = functools.partial(dataclasses.dataclass, slots=True)


@slotted
class Options:
  scale: float = 2.0


class M(Options, nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "a base with the names of its slots": (
        "NNX171",
        """class Named:
  __slots__ = ("label",)


class M(Named, nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "a decorator that keeps the arguments as a configuration": (
        "NNX171",
        """from diffusers.configuration_utils import flax_register_to_config


@flax_register_to_config
class M(nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)
""",
    ),
    "decorated with a function that maps the class": (
        "NNX130",
        """def over_time(**axes):
  def inner(cls):
    return nn.vmap(cls, variable_axes={'params': None}, split_rngs={'params': False}, **axes)
  return inner

@over_time(in_axes=1, out_axes=1)
class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)
""",
    ),
    "decorated with a transform under a name": (
        "NNX130",
        """rematted = functools.partial(nn.remat, prevent_cse=False)

@rematted
class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)
""",
    ),
    "a class that would be wrapped, and is asked for": (
        "NNX150",
        """class Odd(nn.Module):
    @nn.compact
    def __call__(self, x, scale):
        return nn.Dense(4)(x) * scale * len(self._state.children)


class M(nn.Module):
    def setup(self):
        self.blocks = [Odd(), nn.Dense(3)]

    def __call__(self, x):
        for b in self.blocks:
            x = b(x, 2.0) if isinstance(b, Odd) else b(x)
        return x
""",
    ),
    "a mixin that makes layers for its classes": (
        "NNX135",
        """class Feed:
    def feed(self, x, width):
        return nn.Dense(x.shape[-1])(nn.Dense(width)(x))


class M(Feed, nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x) + self.feed(x, 6)
""",
    ),
    "a setup, and parameters, out of mixins of mixins": (
        "NNX135",
        """class Scaled:
    def scaled(self, x):
        return x * self.get_variable("params", "scale")


class Held(Scaled):
    def setup(self):
        self.dense = nn.Dense(4)


class M(Held, nn.Module):
    def __call__(self, x):
        return self.scaled(self.dense(x))
""",
    ),
    "a helper of a base whose layers have other numbers in the class that calls it": (
        "NNX170",
        """class Base(nn.Module):
  def _out(self, x):
    return nn.Dense(4)(x)


class M(Base):
  @nn.compact
  def __call__(self, x):
    return self._out(nn.Dense(3)(x))
""",
    ),
    "a helper of a base that makes layers in a loop for derived classes": (
        "NNX157",
        """class M(nn.Module):
  def _out(self, x):
    for i in range(2):
      x = nn.Dense(4, name=f'out_{i}')(x)
    return x


class Derived(M):
  @nn.compact
  def __call__(self, x):
    return self._out(x)
""",
    ),
    "a helper of a base with a field that one derived class has not": (
        "NNX134",
        """class M(nn.Module):
  def _out(self, x):
    return x * self.param('w', nn.initializers.ones, (self.width,))


class One(M):
  width: int
  @nn.compact
  def __call__(self, x):
    return self._out(x)


class Two(M):
  @nn.compact
  def __call__(self, x):
    return self._out(x)
""",
    ),
    "a field with a module as its default": (
        "NNX127",
        """class Inner(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class M(nn.Module):
  inner: nn.Module = Inner(3)
  @nn.compact
  def __call__(self, x):
    return self.inner(x)
""",
    ),
    "a field with a class of modules as its factory": (
        "NNX127",
        """import dataclasses


class M(nn.Module):
  norm: nn.Module = dataclasses.field(default_factory=nn.LayerNorm)
  @nn.compact
  def __call__(self, x):
    return self.norm(x)
""",
    ),
    "a field with a function that makes a module as its factory": (
        "NNX127",
        """import dataclasses


class M(nn.Module):
  dense: nn.Module = dataclasses.field(default_factory=lambda: nn.Dense(4))
  @nn.compact
  def __call__(self, x):
    return self.dense(x)
""",
    ),
}
