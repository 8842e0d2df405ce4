"""Classes that stay Linen because what is created, or under which name, cannot be told for certain: with their codes."""

REFUSED = {
    "the name of a layer, asked for at the call": (
        "NNX164",
        """class M(nn.Module):
  def setup(self):
    self.layers = [nn.Dense(3) for _ in range(2)]

  def __call__(self, x):
    out = {}
    for layer in self.layers:
      x = layer(x)
      out[layer.name] = x
    return out
""",
    ),
    "modules of Linen copies that an earlier run made, out of sight": (
        "NNX150",
        """from pkg import blocks_linen


class M(nn.Module):
  def setup(self):
    self.blocks = [blocks_linen.Block(width=4) for _ in range(2)]

  def __call__(self, x):
    for block in self.blocks:
      x = block.forward(x)
    return x
""",
    ),
    "a list of what another package makes, which is called": (
        "NNX138",
        """from otherlib import Block


class M(nn.Module):
  def setup(self):
    self.blocks = tuple(Block(4) for _ in range(3))
  def __call__(self, x):
    for block in self.blocks:
      x = block(x)
    return x
""",
    ),
    "functions chosen by a flag of the call": (
        "NNX135",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    if train:
      part = lambda y: nn.Dense(7)(y)
    else:
      part = lambda y: y[..., :2]
    return nn.Dense(3)(part(x))
""",
    ),
    "functions chosen by a local of the call": (
        "NNX135",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    wide = x.ndim > 2
    if wide:
      part = lambda y: nn.Dense(7)(y)
    else:
      part = lambda y: y[..., :2]
    wide = True
    return nn.Dense(3)(part(x))
""",
    ),
    "a dict of what another package makes": (
        "NNX138",
        """import otherlib


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    blocks = {k: otherlib.Block(4) for k in ('a', 'b')}
    return blocks['a'](x)
""",
    ),
    "layers for the items of a dict, which an array has not": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    if hasattr(x, 'keys'):
      x = jnp.concatenate([nn.Dense(3, name=k)(v) for k, v in sorted(x.items())], -1)
    return nn.Dense(4)(x)
""",
    ),
    "a local name for a field's factory or what a method makes of it": (
        "NNX138",
        """class Normed:
  def spectral_norm(self, layer, train=False):
    return functools.partial(layer, use_bias=train)


class M(Normed, nn.Module):
  dense: Any = nn.Dense
  @nn.compact
  def __call__(self, x):
    if hasattr(self, 'spectral_norm'):
      dense = self.spectral_norm(self.dense, train=False)
    else:
      dense = self.dense
    return dense(3, name='hidden')(x)
""",
    ),
    "modules in a list that code outside of modules gives to what does more than call them in turn": (
        "NNX127",
        """class M(nn.Module):
  layers: Any
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = layer.features * layer(x)
    return x


def build(n):
  layers = [nn.Dense(n)]
  layers.append(nn.Dense(2))
  return M(layers)
""",
    ),
    "a list of modules that nothing gives": (
        "NNX138",
        """from collections.abc import Sequence


class M(nn.Module):
  layers: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for layer in self.layers:
      x = jax.vmap(layer)(x)
    return x
""",
    ),
    "a list of a class of the project that nothing gives": (
        "NNX138",
        """from collections.abc import Sequence


class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


class M(nn.Module):
  parts: Sequence[Part]
  @nn.compact
  def __call__(self, x):
    return [part.half(y) for part, y in zip(self.parts, jnp.split(x, len(self.parts), axis=-1))]
""",
    ),
    "a dictionary of a class under quotes that nothing gives": (
        "NNX138",
        """class M(nn.Module):
  parts: dict[str, "Part"]
  @nn.compact
  def __call__(self, x):
    return {name: part(x) for name, part in sorted(self.parts.items())}


class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)
""",
    ),
    "a class that derives from a layer of another package": (
        "NNX138",
        """from elsewhere import blocks


class Block(blocks.Block):
  wide: bool = False

  @nn.compact
  def __call__(self, x):
    return super().__call__(x, wide=self.wide)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(Block(wide=True, name="first")(x))
""",
    ),
    "a class that derives from one that derives from a layer of another package": (
        "NNX138",
        """from elsewhere import blocks


class Block(blocks.Block):
  pass


class Wide(Block):
  wide: bool = True


class M(nn.Module):
  def setup(self):
    self.block = Wide()
    self.last = nn.Dense(3)

  def __call__(self, x):
    return self.last(self.block(x))
""",
    ),
    "what a function of another package makes": (
        "NNX138",
        """from elsewhere import block


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return block(8)(x)
""",
    ),
    "a layer of another package, made in setup": (
        "NNX138",
        """import elsewhere


class M(nn.Module):
  kind: str = 'a'
  def setup(self):
    self.block = elsewhere.REGISTRY[self.kind](8)
  def __call__(self, x):
    return self.block(x)
""",
    ),
    "a class of a module imported by name": (
        "NNX138",
        """import importlib


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    model = importlib.import_module('models.vit').Model(8, name='img')
    return model(x)
""",
    ),
    "a layer class looked up by name": (
        "NNX138",
        """class M(nn.Module):
  kind: str = 'Dense'
  @nn.compact
  def __call__(self, x):
    return getattr(nn, self.kind)(8)(x)
""",
    ),
    "a factory field that nobody fills": (
        "NNX138",
        """class M(nn.Module):
  conv: Any
  @nn.compact
  def __call__(self, x):
    return self.conv(4, (3, 3))(x)
""",
    ),
    "a submodule made in a while loop": (
        "NNX122",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    while x.shape[-1] > 2:
      x = nn.Dense(x.shape[-1] // 2)(x)
    return x
""",
    ),
    "a loop with modules that is left by break": (
        "NNX122",
        """class M(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(4)(x)
      if i == 1:
        break
    return x
""",
    ),
    "a loop with modules that is left by return": (
        "NNX122",
        """class M(nn.Module):
  n: int = 3
  @nn.compact
  def __call__(self, x):
    for i in range(self.n):
      x = nn.Dense(4)(x)
      if i == 1:
        return x
    return nn.Dense(7)(x)
""",
    ),
    "a generator that makes its modules when it is asked": (
        "NNX123",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    layers = (nn.Dense(4) for _ in range(3))
    for layer in layers:
      x = layer(x)
    return x
""",
    ),
    "a function's choice under a name of its caller's": (
        "NNX113",
        """def dense(scale):
  if scale:
    dtype = jnp.float16
  else:
    dtype = jnp.bfloat16
  return nn.Dense(4, param_dtype=dtype)


class M(nn.Module):
  scale: Any = None
  @nn.compact
  def __call__(self, x):
    dtype = jnp.float32
    return dense(self.scale)(nn.Dense(4, dtype=dtype)(x))
""",
    ),
    "items of a compact method's list, picked with inputs of two sizes": (
        "NNX114",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(4 + i, name=f'h{i}') for i in range(3)]
    y = layers[1](x)
    return layers[0](y) + layers[-1](y)[..., :4]
""",
    ),
    "one of two modules of setup under a name, the other under another": (
        "NNX155",
        """class M(nn.Module):
  kind: str = 'ln'
  def setup(self):
    self.b = nn.LayerNorm(name='other') if self.kind.startswith('l') else nn.RMSNorm()
  def __call__(self, x):
    return self.b(x)
""",
    ),
    "a kind of attention that NNX has no class for": (
        "NNX133",
        """class M(nn.Module):
    def setup(self):
        self.blocks = [nn.Dense(4), nn.MultiHeadDotProductAttention(2), nn.SelfAttention(2), nn.Dense(4)]

    def __call__(self, x, train=False):
        for b in self.blocks:
            if isinstance(b, nn.SelfAttention):
                x = b(x) * 3
            elif isinstance(b, nn.MultiHeadDotProductAttention):
                x = b(x, x) * 2
            else:
                x = b(x)
        return x
""",
    ),
    "a weight transform of a layer that a loop makes": (
        "NNX203",
        """class M(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            x = nn.WeightNorm(nn.Dense(4))(x)
        return x
""",
    ),
    "one call of a layer, or of a wrapper around it": (
        "NNX203",
        """class M(nn.Module):
    normed: bool = True

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4)
        if self.normed:
            layer = nn.WeightNorm(layer)
        return layer(x)
""",
    ),
    "a function that calls itself, and makes a layer each time": (
        "NNX135",
        """class M(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        def tree(y, k):
            if k == 0:
                return nn.Dense(4)(y)
            return tree(y, k - 1) + nn.Dense(4)(y)

        return tree(x, self.depth)
""",
    ),
    "a layer that is a function's default, which its calls share": (
        "NNX135",
        """class M(nn.Module):
    @nn.compact
    def __call__(self, x):
        def head(y, layer=nn.Dense(4)):
            return layer(y)

        return head(nn.Dense(4)(x)) + head(x)
""",
    ),
    "a layer behind an `and` of the call, counted with others": (
        "NNX157",
        """class M(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        y = train and nn.Dense(4)(x)
        return nn.Dense(4)(x), y
""",
    ),
    "a name out of a field that is None by default": (
        "NNX139",
        """class M(nn.Module):
    title: str | None = None

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, name=self.title)(x)
""",
    ),
    "a method of a class that is no module, before the module that has it": (
        "NNX160",
        """class Wide:
  def width(self):
    return 8


class Base(nn.Module):
  def width(self):
    return 4
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width())(x)


class M(Wide, Base):
  pass
""",
    ),
    "a parameter that is read in its box": (
        "NNX142",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    boxed = self.param("w", nn.with_partitioning(nn.initializers.ones, (None,)), (3,), unbox=False)
    return x + boxed.unbox()
""",
    ),
    "a variable that is read in its box": (
        "NNX142",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    boxed = self.variable("stats", "w", nn.with_partitioning(jnp.ones, (None,)), (3,), unbox=False)
    return x + boxed.value.unbox()
""",
    ),
    "a variable whose initializer is given a mapping": (
        "NNX142",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    options = {"dtype": jnp.bfloat16}
    return x + self.variable("stats", "w", jnp.ones, (3,), **options).value
""",
    ),
    "what stands behind a return that a field and an optional array decide together": (
        "NNX122",
        """class M(nn.Module):
  kind: str = "a"

  @nn.compact
  def __call__(self, x, y=None):
    if self.kind == "b":
      if y is not None:
        return nn.Dense(2)(y)
    return nn.Dense(7)(x)
""",
    ),
    "what stands behind a return that a size decides which has changed since": (
        "NNX122",
        """class M(nn.Module):
  kind: str = "a"
  width: int = 2

  @nn.compact
  def __call__(self, x):
    n = self.width
    if self.kind == "a":
      x = x + 1
    elif n == 2:
      return x
    else:
      n = n - 1
    return nn.Dense(n)(x)
""",
    ),
}
