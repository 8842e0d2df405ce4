"""Steps of generated programs over images `[batch, height, width, channels]`: convolutions, pooling, residual stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def conv(w: Writer, body: Body, fields: Fields) -> None:
    w.mark("Conv")
    size = w.size()
    window = w.pick("(3, 3)", "(1, 1)", "(3, 1)", "kernel_size=(2, 2)")
    choices = ["", ", padding='SAME'", ", use_bias=False"]
    if window == "(3, 3)":
        choices += [", padding=((1, 1), (1, 1))", ", kernel_dilation=2", ", padding=1"]
    if body.shape[-1] % 2 == 0:
        choices += [", feature_group_count=2"]
    options = w.pick(*choices)
    body.add(f"x = {w.act()}(nn.Conv({size}, {window}{options})(x))")
    body.shape[-1] = size


def strided(w: Writer, body: Body, fields: Fields) -> None:
    """Down by two: strides or pooling."""
    w.mark("down-sampling")
    if min(body.shape[1:3]) < 4:
        conv(w, body, fields)
        return
    size = w.size()
    body.add(w.pick(
        f"x = nn.Conv({size}, (3, 3), strides=(2, 2))(x)",
        f"x = nn.Conv({size}, (3, 3), strides=2)(x)",
        f"x = nn.Conv({size}, (1, 1))(nn.max_pool(x, (2, 2), strides=(2, 2)))",
        f"x = nn.Conv({size}, (1, 1))(nn.avg_pool(x, (2, 2), (2, 2), 'VALID'))",
    ))  # fmt: skip
    body.shape[-1] = size
    body.shape[1:3] = [n // 2 for n in body.shape[1:3]]


def transposed(w: Writer, body: Body, fields: Fields) -> None:
    w.mark("ConvTranspose")
    size = w.size()
    body.add(f"x = nn.ConvTranspose({size}, (3, 3){w.pick('', ', strides=(1, 1)', ', transpose_kernel=True')})(x)")
    body.shape[-1] = size


def residual_stage(w: Writer, body: Body, fields: Fields) -> None:
    """Blocks with factories as fields and a projection where shapes part, as residual networks are written."""
    w.mark("residual stage")
    name, size = w.fresh("ResBlock"), w.size()
    down = min(body.shape[1:3]) >= 4 and w.random.random() < 0.5
    question = w.pick("residual.shape[-1] != self.filters or self.strides != (1, 1)", "residual.shape != y.shape")
    w.classes.append(f"""\
class {name}(nn.Module):
  filters: int
  conv: ModuleDef
  norm: ModuleDef
  act: Callable = {w.act()}
  strides: Tuple[int, int] = (1, 1)

  @nn.compact
  def __call__(self, x):
    residual = x
    y = self.conv(self.filters, (3, 3), self.strides)(x)
    y = self.norm()(y)
    y = self.act(y)
    y = self.conv(self.filters, (3, 3))(y)
    y = self.norm({w.pick("", "scale_init=nn.initializers.zeros")})(y)
    if {question}:
      residual = self.conv(self.filters, (1, 1), self.strides, name='conv_proj')(residual)
      residual = self.norm(name='norm_proj')(residual)
    return self.act(residual + y)
""")
    moving = "functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.9)"
    body.add(f"conv = functools.partial(nn.Conv, use_bias={w.pick('False', 'True')})")
    body.add(f"norm = {w.pick(moving, moving, 'functools.partial(nn.GroupNorm, num_groups=2)')}")
    strides = ", strides=(2, 2)" if down else ""
    body.add(f"x = {name}({size}, conv=conv, norm=norm{strides}{w.pick('', ', act=nn.relu')})(x)")
    if w.random.random() < 0.5:
        body.add("for j in range(self.depth):")
        body.add(f"  x = {name}({size}, conv, norm)(x)")
    body.shape[-1] = size
    if down:
        body.shape[1:3] = [(n + 1) // 2 for n in body.shape[1:3]]


def stages(w: Writer, body: Body, fields: Fields) -> None:
    """A loop over a list of sizes with strides that depend on the position."""
    w.mark("stages")
    name = w.fresh("Stages")
    values = [w.size() for _ in range(2)]
    w.classes.append(f"""\
class {name}(nn.Module):
  sizes: Sequence[int]

  @nn.compact
  def __call__(self, x):
    for i, size in enumerate(self.sizes):
      x = nn.Conv(size, (3, 3){w.pick("", ", strides=(1, 1) if i else (2, 2)", ", use_bias=i == 0")})(x)
      x = {w.act()}({w.pick("nn.LayerNorm()(x)", "nn.GroupNorm(num_groups=2)(x)", "x")})
    return x
""")
    halved = "else (2, 2)" in w.classes[-1]
    body.add(f"x = {name}({w.pick('[{}, {}]', '({}, {})').format(*values)})(x)")
    body.shape[-1] = values[-1]
    if halved:
        body.shape[1:3] = [(n + 1) // 2 for n in body.shape[1:3]]


STEPS: list[Step] = [conv, conv, strided, transposed, residual_stage, residual_stage, stages]


def flattened(w: Writer, body: Body) -> None:
    """What images end in: pooled or flattened, then a head."""
    w.mark("flatten")
    body.add(w.pick("x = x.reshape((x.shape[0], -1))", "x = x.reshape(x.shape[0], -1)", "x = jnp.mean(x, axis=(1, 2))",
                    "x = jnp.reshape(x, (len(x), -1))", "x = x.mean((1, 2))"))  # fmt: skip
    body.add(f"x = nn.Dense({w.size()}, name='head')(x)")
