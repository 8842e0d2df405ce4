"""Steps of generated programs that concern how modules are made: passed, shared, by factories, from base classes.

Each step is a function of the writer, the body being written and the values of the fields: it appends the classes that it
needs, and statements that read and write `x`, and keeps the shape of `x` up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def passed(w: Writer, body: Body, fields: Fields) -> None:
    """A module given to another: made in the argument, before, by two takers, or one of a list."""
    w.mark("passed module")
    name, size = w.fresh("Taker"), w.size()
    annotation = w.pick("nn.Module", "Any", "Callable", "nn.Dense")
    w.classes.append(f"""\
class {name}(nn.Module):
  inner: {annotation}
  scale: float = 1.0

  @nn.compact
  def __call__(self, x):
    y = self.inner(x)
    return {w.act()}({w.pick("nn.LayerNorm()(y)", "nn.Dense(y.shape[-1])(y)", "y")}) * self.scale
""")
    local = w.local("inner")
    form = w.random.randrange(4)
    if form == 0:
        body.add(f"x = {name}({w.pick('', 'inner=')}nn.Dense({size}), scale=0.5)(x)")
    elif form == 1:
        given = w.pick("", f", name='{local}'")
        body.add(f"{local} = nn.Dense({size}{given})")
        body.add(f"x = {name}({local})(x)")
    elif form == 2:
        w.mark("shared between takers")
        body.add(f"{local} = nn.Dense(x.shape[-1])")
        body.add(f"x = {name}({local})(x)")
        body.add(f"x = {name}({local}, scale=2.0)(x)")
        return
    else:
        w.mark("shared in a loop")
        body.add(f"{local} = nn.Dense(x.shape[-1])")
        body.add("for i in range(self.depth):")
        body.add(f"  x = {name}({local}{w.pick('', ', name=f' + repr(local + '_{i}'))})(x)")
        return
    body.shape[-1] = size


def passed_list(w: Writer, body: Body, fields: Fields) -> None:
    w.mark("list of modules passed")
    name = w.fresh("Chain")
    w.classes.append(
        f"""\
class {name}(nn.Module):
  layers: Sequence[nn.Module]

  {w.pick("@nn.compact", "@nn.nowrap") if w.random.random() < 0.3 else "@nn.compact"}
  def __call__(self, x):
    for {w.pick("layer in self.layers", "_, layer in enumerate(self.layers)")}:
      x = {w.act()}(layer(x))
    return x
""".replace("  @nn.nowrap\n", "")
    )
    sizes = [w.size(), w.size()]
    form = w.random.randrange(3)
    if form == 0:
        body.add(f"x = {name}([nn.Dense({sizes[0]}), nn.Dense({sizes[1]})])(x)")
    elif form == 1:
        body.add(f"x = {name}(tuple(nn.Dense(size) for size in ({sizes[0]}, {sizes[1]})))(x)")
    else:
        local = w.local("parts")
        body.add(f"{local} = [nn.Dense({sizes[0]}), nn.LayerNorm()]")
        body.add(f"{local}.append(nn.Dense({sizes[1]}, use_bias=False))")
        body.add(f"x = {name}(layers={local})(x)")
    body.shape[-1] = sizes[1]


def factory(w: Writer, body: Body, fields: Fields) -> None:
    """A field that makes layers: a class, a partial, a default, given or left."""
    w.mark("factory field")
    name, size = w.fresh("Made"), w.size()
    norms = (
        "nn.LayerNorm",
        "nn.RMSNorm",
        "functools.partial(nn.LayerNorm, epsilon=1e-3)",
        "functools.partial(nn.GroupNorm, num_groups=2)",
        "functools.partial(nn.LayerNorm, use_scale=False)",
    )
    denses = ("nn.Dense", "functools.partial(nn.Dense, use_bias=False)", "functools.partial(nn.DenseGeneral, axis=-1)")
    use = w.pick("y = self.norm()(y)", "y = self.norm(name='norm')(y)", "for _ in range(2):\n      y = self.norm()(y)",
                 "norm = functools.partial(self.norm, dtype=jnp.float32)\n    y = norm()(norm(name='own')(y))")  # fmt: skip
    w.classes.append(f"""\
class {name}(nn.Module):
  features: int
  norm: {w.pick("Any", "Callable", "Callable[..., nn.Module]", "ModuleDef")} = {w.pick(*norms)}
  dense: {w.pick("Any", "ModuleDef", "Type[nn.Module]")} = {w.pick(*denses)}

  @nn.compact
  def __call__(self, x):
    y = self.dense(self.features)(x)
    {use}
    return {w.act()}(y)
""")
    given = w.pick("", f", norm={w.pick(*norms)}", f", dense={w.pick(*denses)}", ", norm=norm, dense=dense")
    if "norm=norm" in given:
        moving = "functools.partial(nn.BatchNorm, use_running_average=not train)"
        body.add(f"norm = {w.pick(*norms, moving)}")
        body.add(f"dense = {w.pick(*denses)}")
    body.add(f"x = {name}({size}{given})(x)")
    if w.random.random() < 0.4:
        body.add(f"x = {name}(features=x.shape[-1], norm={w.pick(*norms)})(x)")
    body.shape[-1] = size


def chosen(w: Writer, body: Body, fields: Fields) -> None:
    """A class or a factory picked by a condition."""
    w.mark("chosen factory")
    size, local = w.size(), w.local("layer")
    one, other = "functools.partial(nn.Dense, use_bias=False)", "nn.Dense"
    form = w.random.randrange(3)
    if form == 0:
        body.add(f"{local} = {one} if self.flag else {other}")
    elif form == 1:
        body.add("if self.flag:")
        body.add(f"  {local} = {one}")
        body.add("else:")
        body.add(f"  {local} = {other}")
    else:
        table = w.local("table")
        body.add(f"{table} = {{'plain': {other}, 'bare': {one}}}")
        body.add(f"{local} = {table}['{w.pick('plain', 'bare')}']")
    body.add(f"x = {w.act()}({local}({size}{w.pick('', f', name={local!r}')})(x))")
    if w.random.random() < 0.5:
        body.add(f"x = {local}(x.shape[-1])(x)")
    body.shape[-1] = size


def class_field(w: Writer, body: Body, fields: Fields) -> None:
    """Classes of the project as fields, with and without a default."""
    w.mark("class as field")
    one, other, name = w.block(len(body.shape)), w.block(len(body.shape)), w.fresh("Stack")
    default = w.pick("", f" = {one}")
    make = w.pick("self.block_cls(self.width)", "self.block_cls(width=self.width, name='inner')", "block(self.width)")
    before = "    block = self.block_cls\n" if make.startswith("block") else ""
    w.classes.append(f"""\
class {name}(nn.Module):
  width: int
  block_cls: {w.pick("Any", "Type[nn.Module]", "Callable")}{default}
  repeats: int = {w.pick("1", "2")}

  @nn.compact
  def __call__(self, x):
{before}    for _ in range(self.repeats):
      x = {make if "name=" not in make else "self.block_cls(self.width)"}(x)
    return x
""")
    given = w.pick(f", {other}", f", block_cls={one}", f", block_cls={other}, repeats=2")
    if default and w.random.random() < 0.5:
        given = ""
    body.add(f"x = {name}(self.{w.pick(*fields)}{given})(x)")


def layer_subclass(w: Writer, body: Body, fields: Fields) -> None:
    """Layers with other defaults, or with fields fixed, as a class of their own."""
    w.mark("subclass of a layer")
    form = w.random.randrange(4)
    name, size = w.fresh("Own"), w.size()
    if form == 0:
        w.classes.append(f"class {name}(nn.Dense):\n  use_bias: bool = False\n")
        given = f", name={w.local('own')!r}"
        body.add(f"x = {name}({size}{w.pick('', ', use_bias=True', given)})(x)")
        body.shape[-1] = size
    elif form == 1:
        w.classes.append(f"class {name}(nn.LayerNorm):\n  epsilon: float = 1e-3\n  use_bias: bool = False\n")
        body.add(f"x = {name}({w.pick('', 'use_bias=True')})(x)")
    elif form == 2:
        init = "kernel_init: Callable = nn.initializers.normal(0.2)"
        w.classes.append(f"class {name}(nn.Dense):\n  features: int = {size}\n  {init}\n")
        body.add(f"x = {w.act()}({name}()(x))")
        body.shape[-1] = size
    else:
        w.classes.append(f"class {name}(nn.Dense):\n  '''As it is.'''\n")
        body.add(f"for i in range(self.depth):\n{body.indent}  x = {name}({size})(x)")
        body.shape[-1] = size


def derived(w: Writer, body: Body, fields: Fields) -> None:
    """Base classes with setup and hooks; derived ones with fields, defaults and parts of their own."""
    w.mark("derived class")
    base, name, other = w.fresh("Base"), w.fresh("Derived"), w.fresh("Derived")
    size = w.size()
    style = w.random.randrange(3)
    if style == 0:
        w.classes.append(f"""\
class {base}(nn.Module):
  features: int
  bias: bool = True

  def setup(self):
    self.first = nn.Dense(self.features, use_bias=self.bias)

  def hook(self, x):
    return {w.act()}(x)

  def __call__(self, x):
    return self.hook(self.first(x))


class {name}({base}):
  bias: bool = False
  extra: int = {w.size()}

  def setup(self):
    super().setup()
    self.second = nn.Dense(self.extra)
    self.third = nn.Dense(self.features)

  def hook(self, x):
    return self.third({w.act()}(self.second(super().hook(x))))


class {other}({base}):
  features: int = {size}
""")
    elif style == 1:
        w.classes.append(f"""\
class {base}(nn.Module):
  features: int = {size}

  def body(self, x):
    raise NotImplementedError

  @nn.compact
  def __call__(self, x):
    x = self.body(nn.Dense(self.features)(x))
    return {w.act()}(x)


class {name}({base}):
  extra: float = 0.5

  def body(self, x):
    return nn.LayerNorm()(x) * self.extra


class {other}({base}):
  def body(self, x):
    return nn.Dense(x.shape[-1])({w.act()}(x))
""")
    else:
        w.classes.append(f"""\
class Mixin{base}:
  def activate(self, x):
    return {w.act()}(x) * self.gain


class {base}(nn.Module):
  features: int
  gain: float = 1.5


class {name}(Mixin{base}, {base}):
  @nn.compact
  def __call__(self, x):
    return self.activate(nn.Dense(self.features)(x))


class {other}({name}):
  features: int = {size}

  @nn.compact
  def __call__(self, x):
    return self.activate(nn.Dense(self.features)(x)) - nn.Dense(self.features)(x)
""")
    body.add(f"x = {name}({'' if style == 1 else 'features='}{size})(x)")
    if w.random.random() < 0.7:
        body.add(f"x = {other}()(x)")
    body.shape[-1] = size


def sizes(w: Writer, body: Body, fields: Fields) -> None:
    """Lists of sizes: as fields, with enumerate, zip and slices, in setup and in the call."""
    w.mark("list of sizes")
    name = w.fresh("Mlp")
    values = [w.size() for _ in range(w.random.randint(2, 3))]
    text = f"({', '.join(map(str, values))})"
    act = w.act()
    style = w.random.randrange(6)
    annotation = w.pick("Sequence[int]", "tuple", "Tuple[int, ...]")
    head = f"class {name}(nn.Module):\n  sizes: {annotation}{w.pick('', ' = ' + text)}\n\n"
    compact = "  @nn.compact\n  def __call__(self, x):\n"
    bodies = [
        compact + f"    for size in self.sizes:\n      x = {act}(nn.Dense(size)(x))\n    return x\n",
        compact + f"    for i, size in enumerate(self.sizes):\n      x = nn.Dense(size, name=f'layer_{{i}}')(x)\n"
        f"      if i + 1 < len(self.sizes):\n        x = {act}(x)\n    return x\n",
        compact + f"    for size in self.sizes[:-1]:\n      x = {act}(nn.Dense(size)(x))\n"
        "    return nn.Dense(self.sizes[-1])(x)\n",
        "  def setup(self):\n    self.layers = [nn.Dense(size) for size in self.sizes]\n\n  def __call__(self, x):\n"
        "    for i, layer in enumerate(self.layers):\n      x = layer(x)\n"
        f"      if i != len(self.layers) - 1:\n        x = {act}(x)\n    return x\n",
        compact + "    for size, bias in zip(self.sizes, (True, False, True)):\n      x = nn.Dense(size, use_bias=bias)(x)\n"
        f"      x = {act}(nn.LayerNorm()(x))\n    return x\n",
        "  def setup(self):\n    layers = []\n    for size in self.sizes:\n      layers.append(nn.Dense(size))\n"
        f"      layers.append({act})\n    self.net = nn.Sequential(layers)\n\n"
        "  def __call__(self, x):\n    return self.net(x)\n",
    ]  # fmt: skip
    w.classes.append(head + bodies[style])
    body.add(f"x = {name}({w.pick('', 'sizes=')}{text})(x)")
    body.shape[-1] = values[-1]


def computed_shape(w: Writer, body: Body, fields: Fields) -> None:
    """Parameters whose shapes are computed from the input, from fields, or both."""
    w.mark("computed parameter shape")
    name, act = w.fresh("Shaped"), w.act()
    size = w.size()
    style = w.random.randrange(5)
    init = w.pick("nn.initializers.normal(0.3)", "nn.initializers.uniform(0.5)", "nn.initializers.ones")
    lines = [
        [f"w = self.param('w', {init}, (x.shape[-1] // 2, self.features))", f"return {act}(x[..., : x.shape[-1] // 2] @ w)"],
        ["d = int(np.prod(x.shape[1:]))", f"w = self.param('w', {init}, (d,))",
         "x = x * w.reshape(x.shape[1:])", "return nn.Dense(self.features)(x)"],
        ["shape = x.shape[1:]", f"w = self.param('w', {init}, shape)", "return nn.Dense(self.features)(x + w)"],
        ["heads, each = 2, x.shape[-1]", f"w = self.param('w', {init}, (heads, each, self.features // heads))",
         "y = jnp.einsum('...d,hdf->...hf', x, w)", f"return {act}(y.reshape(y.shape[:-2] + (-1,)))"],
        ["*_, d = x.shape", f"w = self.param('w', {init}, [d, self.features])",
         "b = self.param('b', lambda rng, shape: jnp.full(shape, 0.25), (self.features,))",
         f"return {act}(jnp.dot(x, w) + b)"],
    ][style]  # fmt: skip
    text = "\n".join("    " + line for line in lines)
    w.classes.append(f"class {name}(nn.Module):\n  features: int\n\n  @nn.compact\n  def __call__(self, x):\n{text}\n")
    body.add(f"x = {name}({size})(x)")
    body.shape[-1] = size


def results(w: Writer, body: Body, fields: Fields) -> None:
    """Submodules with several results: tuples, dicts, records."""
    w.mark("several results")
    name, size, act = w.fresh("Several"), w.size(), w.act()
    style = w.random.randrange(4)
    made = ["y, z", "{'y': y, 'z': z}", f"Pair{name}(y=y, z=z)", f"Pair{name}(y, z)"][style]
    if style >= 2:
        how = ("@flax.struct.dataclass\nclass Pair{0}:\n  y: Any\n  z: Any = None\n" if style == 2 else
               "class Pair{0}(NamedTuple):\n  y: Any\n  z: Any = None\n")  # fmt: skip
        w.functions.append(how.format(name))
    w.classes.append(f"""\
class {name}(nn.Module):
  features: int

  @nn.compact
  def __call__(self, x):
    y = {act}(nn.Dense(self.features)(x))
    z = nn.Dense(2 * self.features)(x)
    return {made}
""")
    body.add(f"out = {name}({size})(x)")
    if style == 0:
        body.add(w.pick("y, z = out", "y = out[0]\n    z = out[1]"))
    elif style == 1:
        body.add("y, z = out['y'], out['z']")
    else:
        body.add("y, z = out.y, out.z")
    body.add(f"x = nn.Dense({size})(jnp.concatenate([y, z], axis=-1))")
    body.shape[-1] = size


def optional(w: Writer, body: Body, fields: Fields) -> None:
    """Inputs that may be left out."""
    w.mark("optional input")
    name, size = w.fresh("Perhaps"), w.size()
    style = w.random.randrange(3)
    use = [
        "    if context is not None:\n      x = x + nn.Dense(self.features)(context)",
        "    x = x + (nn.Dense(self.features)(context) if context is not None else 0.0)",
        "    if context is None:\n      context = x\n    x = x * nn.sigmoid(nn.Dense(self.features)(context))",
    ][style]
    w.classes.append(f"""\
class {name}(nn.Module):
  features: int

  @nn.compact
  def __call__(self, x, context: Optional[jnp.ndarray] = None, scale=None):
    x = nn.Dense(self.features)(x)
{use}
    return x if scale is None else x * scale
""")
    body.add(f"x = {name}({size})(x{w.pick('', ', x', ', context=x', ', context=None, scale=2.0', ', x, 0.5')})")
    body.shape[-1] = size


def tied(w: Writer, body: Body, fields: Fields) -> None:
    """An embedding that is also the head."""
    w.mark("tied head")
    name, size = w.fresh("Tied"), w.size()
    style = w.random.randrange(3)
    if style == 0:
        parts = f"""\
  @nn.compact
  def __call__(self, x):
    embed = nn.Embed(9, self.features{w.pick("", ", name='embed'", ", embedding_init=nn.initializers.normal(0.3)")})
    y = embed(jnp.argmax(x, axis=-1))
    y = nn.relu(nn.Dense(self.features)(y))
    return embed.attend(y)
"""
    else:
        head = "self.embed.attend(y)" if style == 1 else "y @ self.embed.embedding.T"
        parts = f"""\
  def setup(self):
    self.embed = nn.Embed(num_embeddings=9, features=self.features)
    self.mix = nn.Dense(self.features)

  def __call__(self, x):
    y = self.mix(self.embed(jnp.argmax(x, axis=-1)))
    return {head}
"""
    w.classes.append(f"class {name}(nn.Module):\n  features: int\n\n{parts}")
    body.add(f"x = {name}({size})(x)")
    body.shape[-1] = 9


def mapping(w: Writer, body: Body, fields: Fields) -> None:
    """Arguments in a dict."""
    w.mark("**mapping")
    size, local = w.size(), w.local("options")
    style = w.random.randrange(4)
    if style == 0:
        body.add(f"{local} = dict(use_bias=False, kernel_init=nn.initializers.normal(0.3))")
        body.add(f"x = nn.Dense({size}, **{local})(x)")
    elif style == 1:
        body.add(f"{local} = {{'features': {size}, 'use_bias': {w.pick('True', 'False')}}}")
        body.add(f"x = {w.act()}(nn.Dense(**{local})(x))")
    elif style == 2:
        name = w.block(len(body.shape))
        body.add(f"{local} = {{'width': {size}}}")
        body.add(f"x = {name}(**{local})(x)")
        body.add(f"x = nn.Dense({size})(x)")
    else:
        name = w.fresh("Optioned")
        w.classes.append(f"""\
class {name}(nn.Module):
  features: int
  options: Any = {w.pick("None", "flax.core.FrozenDict()")}

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features, **(self.options or {{}}))(x)
""")
        body.add(f"x = {name}({size}{w.pick('', ', options=dict(use_bias=False)')})(x)")
    body.shape[-1] = size


def names(w: Writer, body: Body, fields: Fields) -> None:
    """Names that are computed."""
    w.mark("computed name")
    size, stem = w.size(), w.local("part")
    forms = (f"f'{stem}_{{i}}'", f"'{stem}_' + str(i)", f"'{stem}_%d' % i", f"'{stem}_{{}}'.format(i)", f"f'{stem}{{i}}_x'",
             f"f'{stem}{{i + 1}}'", f"str(i) + '{stem}'")  # fmt: skip
    body.add(f"for i in range({w.pick('2', 'self.depth')}):")
    body.add(f"  x = nn.Dense({size}, name={w.pick(*forms)})(x)")
    if w.random.random() < 0.5:
        body.add(f"  x = nn.LayerNorm(name=f'{stem}_norm_{{i}}')(x)")
    body.shape[-1] = size


def dtypes(w: Writer, body: Body, fields: Fields) -> None:
    """Computation and parameters in other dtypes; x is float32 again afterwards."""
    w.mark("dtypes")
    name, size = w.fresh("Half"), w.size()
    dtype = w.pick("jnp.bfloat16", "jnp.float16", "jnp.float32", "None")
    param = w.pick("jnp.float32", "jnp.bfloat16", "jnp.float16")
    middle = w.pick("x = nn.LayerNorm(dtype=self.dtype)(x)", "x = nn.LayerNorm(param_dtype=self.param_dtype)(x)",
                    "x = nn.RMSNorm(dtype=self.dtype, param_dtype=self.param_dtype)(x)",
                    "x = x * self.param('g', nn.initializers.ones, (x.shape[-1],), self.param_dtype)",
                    "x = x + self.param('g', nn.initializers.normal(0.1), (x.shape[-1],), jnp.float32).astype(x.dtype)",
                    "x = nn.DenseGeneral(x.shape[-1], dtype=self.dtype)(x)",
                    "x = nn.GroupNorm(num_groups=2, dtype=self.dtype)(x)")  # fmt: skip
    w.classes.append(f"""\
class {name}(nn.Module):
  features: int
  dtype: Any = {dtype}
  param_dtype: {w.pick("Any", "jnp.dtype")} = {param}

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(self.features, dtype=self.dtype, param_dtype=self.param_dtype)(x)
    {middle}
    return {w.act()}(x)
""")
    given = w.pick("", f", dtype={w.pick('jnp.bfloat16', 'jnp.float32', 'None')}")
    body.add(f"x = {name}({size}{given})(x).astype(jnp.float32)")
    body.shape[-1] = size


def methods(w: Writer, body: Body, fields: Fields) -> None:
    """Submodules called by methods of their own."""
    w.mark("methods of a submodule")
    name, size, local = w.fresh("Coder"), w.size(), w.local("coder")
    w.classes.append(f"""\
class {name}(nn.Module):
  features: int
  out: int

  def setup(self):
    self.enc = nn.Dense(self.features)
    self.dec = nn.Dense(self.out)

  def encode(self, x):
    return {w.act()}(self.enc(x))

  def decode(self, z):
    return self.dec(z)

  def __call__(self, x):
    return self.decode(self.encode(x))
""")
    body.add(f"{local} = {name}({size}, out={w.pick('x.shape[-1]', '5')})")
    if w.random.random() < 0.5 and "x.shape" in body.lines[-1]:
        body.add(f"x = x + {local}(x)")
    else:
        body.add(f"x = {local}.decode({w.act()}({local}.encode(x)))")
        if "out=5" in body.lines[-2]:
            body.shape[-1] = 5


def running(w: Writer, body: Body, fields: Fields) -> None:
    """A collection of one's own, updated while training."""
    w.mark("own collection")
    name = w.fresh("Running")
    start = w.pick("lambda: jnp.zeros((x.shape[-1],))", "jnp.zeros, (x.shape[-1],)", "lambda s: jnp.ones(s), x.shape[-1:]")
    w.classes.append(f"""\
class {name}(nn.Module):
  decay: float = 0.9

  @nn.compact
  def __call__(self, x, train: bool = False):
    mean = self.variable({w.pick("'batch_stats'", "'averages'")}, 'mean', {start})
    if train{w.pick("", " and not self.is_initializing()")}:
      batch = x.mean(axis=tuple(range(x.ndim - 1)))
      mean.value = self.decay * mean.value + (1 - self.decay) * batch
    return nn.Dense(x.shape[-1])(x - mean.value)
""")
    body.add(f"x = {name}({w.pick('', 'decay=0.5')})(x, {w.pick('train', 'train=train')})")


STEPS: list[Step] = [
    passed, passed_list, factory, factory, chosen, class_field, layer_subclass, derived, sizes, sizes, computed_shape,
    results, optional, tied, mapping, names, dtypes, methods, running,
]  # fmt: skip
