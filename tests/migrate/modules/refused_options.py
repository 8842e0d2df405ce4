"""Options that partials, mappings and tables give to layers and transforms, where classes stay Linen: with their codes."""

REFUSED = {
    "a partial of a norm with options that nobody shows": (
        "NNX137",
        """class M(nn.Module):
  options: Any = None
  @nn.compact
  def __call__(self, x):
    return functools.partial(nn.LayerNorm, use_bias=False)(**self.options)(x)
""",
    ),
    "partials out of a comprehension": (
        "NNX132",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    makes = [functools.partial(nn.Dense, 3, name=f'dense_{i}') for i in range(2)]
    for make in makes:
      x = make()(x)
    return x
""",
    ),
    "partials out of a comprehension of a dict": (
        "NNX132",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    makes = {name: functools.partial(nn.Dense, 3) for name in ('a', 'b')}
    return makes['a']()(x)
""",
    ),
    "a partial with a name of the call": (
        "NNX155",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, label='a'):
    return functools.partial(nn.Dense, 3, name=label)()(x)
""",
    ),
    "options of which Linen keeps a copy, while setup changes the dict": (
        "NNX137",
        """class M(nn.Module):
  def setup(self):
    options = {'use_bias': False}
    self.options = options
    options['strides'] = 2
    self.conv = nn.Conv(4, (3, 3), **self.options)
  def __call__(self, x):
    return self.conv(x)
""",
    ),
    "a layer whose axes may be among the options": (
        "NNX137",
        """class M(nn.Module):
  options: Any = None
  @nn.compact
  def __call__(self, x):
    return nn.DenseGeneral(4, **self.options)(x)
""",
    ),
    "options that are set where a flag of the call says so": (
        "NNX137",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, fast=False):
    options = {}
    if fast:
      options['use_bias'] = False
    return nn.LayerNorm(**options)(x)
""",
    ),
    "options that are set by another name": (
        "NNX137",
        """class M(nn.Module):
  fast: bool = False
  @nn.compact
  def __call__(self, x):
    options = {}
    same = options
    if self.fast:
      same['use_bias'] = False
    return nn.LayerNorm(**options)(x)
""",
    ),
    "options of a transform under a condition": (
        "NNX168",
        """class M(nn.Module):
  stats: bool = False
  def setup(self):
    axes = {'params': 0}
    if self.stats:
      axes['batch_stats'] = 0
    self.d = nn.vmap(nn.Dense, variable_axes=axes, split_rngs={'params': True}, in_axes=None, axis_size=2)(4)
  def __call__(self, x):
    return self.d(x)
""",
    ),
}
