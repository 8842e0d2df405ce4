"""Steps of generated programs with lifted transforms of classes, functions and methods, and with recurrent cells.

As in `generator_modules`: each is a function of the writer, the body and the fields. Bodies hold dropout and running
statistics, so that what a transform does with random streams and collections is compared too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def _layers(w: Writer, features: str) -> str:
    """An expression over `x`, keeping its size: a layer, perhaps with dropout or a norm with statistics."""
    return w.pick(
        f"nn.tanh(nn.Dense({features})(x)) + x",
        f"nn.Dropout(0.3, deterministic=not train)(nn.Dense({features})(x))",
        f"nn.BatchNorm(use_running_average=not train)(nn.Dense({features})(x))",
        f"nn.LayerNorm()(x + nn.Dense({features}, name='inner')(x))",
        f"nn.Dropout(0.2)(nn.relu(nn.Dense({features})(x)), deterministic=not train) + x",
    )


def _axes(expression: str, stacked: bool, lift: str) -> str:
    """The collections and streams that `nn.scan` or `nn.vmap` of a body with this expression takes."""
    at = "0" if stacked else "None"
    axes = {"params": at}
    rngs = {"params": str(stacked)}
    if "BatchNorm" in expression:
        axes["batch_stats"] = at
    if "Dropout" in expression:
        rngs["dropout"] = "True"
    if lift == "scan" and not stacked:
        return f"variable_broadcast='params', split_rngs={_dict(rngs)}"
    return f"variable_axes={_dict(axes)}, split_rngs={_dict(rngs)}"


def _dict(items: dict[str, str]) -> str:
    return "{" + ", ".join(f"'{k}': {v}" for k, v in items.items()) + "}"


def scan_class(w: Writer, body: Body, fields: Fields) -> None:
    """`nn.scan` of a class whose body takes flags, draws, and keeps statistics."""
    w.mark("scan of a class with a flag")
    name, expression = w.fresh("Layer"), _layers(w, "x.shape[-1]")
    ys = w.pick("None", "x.mean()")
    flagged = w.random.random() < 0.6
    arguments, field, read = "self, x, train", "\n", ""
    if not flagged:
        arguments, field, read = w.pick("self, x, _", "self, x"), "  train: bool = False\n\n", "    train = self.train\n"
    w.classes.append(f"""\
class {name}(nn.Module):
{field}  @nn.compact
  def __call__({arguments}):
{read}    return {expression}, {ys}
""")
    inner = w.pick(name, f"nn.remat({name}, prevent_cse=False{', static_argnums=(2,)' if flagged else ''})")
    axes = ", in_axes=nn.broadcast" if flagged else ""
    extra = w.pick("", ", metadata_params={nn.PARTITION_NAME: 'layers'}", ", unroll=2")
    given = w.pick("", f"name='{w.local('layers')}'")
    call = {"self, x, train": "x, train", "self, x, _": "x, None", "self, x": "x"}[arguments]
    length = w.pick("self.depth", "2")
    body.add(f"stack = nn.scan({inner}, {_axes(expression, True, 'scan')}, length={length}{axes}{extra})")
    body.add(f"x, {w.pick('_', 'ys')} = stack({given})({call})")


def scan_function(w: Writer, body: Body, fields: Fields) -> None:
    w.mark("scan of a function")
    local, expression = w.local("step"), _layers(w, "x.shape[-1]")
    form = w.random.randrange(3)
    if form == 0:
        # The whole scope of `self` is scanned, so that the function has a class of its own.
        name = w.fresh("Scanned")
        w.classes.append(f"""\
class {name}(nn.Module):
  depth: int

  @nn.compact
  def __call__(self, x, train: bool = False):
    def step(mdl, x, {w.pick("_", "ignored")}):
      return {expression}, None

    x, _ = nn.scan(step, {_axes(expression, True, "scan")}, length=self.depth)(self, x, None)
    return x
""")
        body.add(f"x = {name}({w.pick('self.depth', '2')})(x, train)")
    elif form == 1:
        size, over = w.size(), len(body.shape) == 3
        body.add(f"def {local}(mdl, c, x):")
        body.add("  c = nn.tanh(nn.Dense(c.shape[-1])(jnp.concatenate([c, x], -1)))")
        body.add("  return c, c")
        axes = ", in_axes=1, out_axes=1" if over else ""
        start = ", ".join(["x.shape[0]"] * over + [f"*x.shape[1:-1], {size}" if not over else str(size)])
        body.add(f"c, ys = nn.scan({local}, variable_broadcast='params', split_rngs={{'params': False}}{axes})(")
        body.add(f"    self, jnp.zeros(({start},)), x)")
        body.add(f"x = {w.pick('ys', 'ys * c.mean()')}")
        body.shape[-1] = size
    else:
        body.add(f"{local} = nn.Dense(x.shape[-1])")
        body.add("x, _ = nn.scan(lambda m, c, _: (nn.tanh(m(c)), None), variable_broadcast='params',")
        body.add(f"               split_rngs={{'params': False}}, length=self.depth)({local}, x, None)")


def vmapped(w: Writer, body: Body, fields: Fields) -> None:
    """Ensembles and batched layers, with own or shared weights."""
    w.mark("vmap of several kinds")
    expression, local = _layers(w, "x.shape[-1]"), w.local("member")
    stacked = w.random.random() < 0.6 or "BatchNorm" in expression
    form = w.random.randrange(3)
    axes = _axes(expression, stacked, "vmap")
    if form == 0:
        name = w.fresh("Member")
        w.classes.append(f"""\
class {name}(nn.Module):
  train: bool = False

  @nn.compact
  def __call__(self, x):
    train = self.train
    return {expression}
""")
        sized = ", in_axes=None, axis_size=2" if stacked else ", in_axes=0"
        body.add(f"{local} = nn.vmap({name}, {axes}{sized})({w.pick('', f'name={local!r}')})")
        body.add(f"x = {local}(x){'.mean(0)' if stacked else ''}")
    elif form == 1:
        name = w.fresh("Mapped")
        sized = ", in_axes=None, out_axes=-1, axis_size=3" if stacked else ", in_axes=0"
        w.classes.append(f"""\
class {name}(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    def member(mdl, x):
      return {expression}

    return nn.vmap(member, {axes}{sized})(self, x)
""")
        body.add(f"x = {name}()(x, {w.pick('train', 'train=train')}){'.sum(-1)' if stacked else ''}")
    else:
        size = w.size()
        at = w.pick("0", "1", "-1") if len(body.shape) == 3 else "0"
        out = at if at != "-1" else "0"
        if body.shape[int(out)] == 0:
            return
        params = w.pick("0", "None", "-1")
        sizes = w.pick("", f", axis_size=x.shape[{out}]")
        body.add(f"x = nn.vmap(nn.Dense, variable_axes={{'params': {params}}}, split_rngs={{'params': {params != 'None'}}},")
        body.add(f"            in_axes={out}, out_axes={out}{sizes})({size})(x)")
        body.shape[-1] = size


def rematted(w: Writer, body: Body, fields: Fields) -> None:
    """Checkpoints of functions, methods and classes with flags."""
    w.mark("remat of several kinds")
    expression, local = _layers(w, "x.shape[-1]"), w.local("again")
    form = w.random.randrange(4)
    if form == 0:
        body.add(f"def {local}(mdl, x):")
        body.add(f"  return {expression}")
        body.add(f"x = nn.remat({local})(self, x)")
    elif form == 1:
        name = w.fresh("Again")
        w.classes.append(f"""\
class {name}(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool):
    return {expression}
""")
        policy = w.pick("", ", policy=jax.checkpoint_policies.dots_saveable", ", prevent_cse=False")
        body.add(f"x = nn.{w.pick('remat', 'checkpoint')}({name}, static_argnums=(2,){policy})()(x, train)")
    elif form == 2:
        name = w.fresh("Inside")
        w.classes.append(f"""\
class {name}(nn.Module):
  train: bool = False

  @nn.remat
  @nn.compact
  def __call__(self, x):
    train = self.train
    return {expression}
""")
        body.add(f"x = {name}({w.pick('', 'False')})(x)")
    else:
        name = w.block(len(body.shape))
        body.add(f"{local} = nn.remat({name}) if self.flag else {name}")
        body.add("for i in range(self.depth):")
        body.add(f"  x = {local}(6{w.pick('', ', name=f' + repr(local + '_{i}'))})(x)")


def branched(w: Writer, body: Body, fields: Fields) -> None:
    """`nn.cond` and `nn.switch` on data."""
    w.mark("cond, switch")
    name, size = w.fresh("Routed"), w.size()
    form = w.random.choice((0, 0, 1, 2, 2, 3, 3))
    drop = "nn.Dropout(0.5, deterministic=not train)({})" if w.random.random() < 0.3 else "{}"
    if form == 0:
        text = f"""\
  def setup(self):
    self.a = nn.Dense(self.features)
    self.b = nn.Dense(self.features)

  def __call__(self, x, train=False):
    if self.is_initializing():
      self.a(x)
      self.b(x)
    return nn.cond(x.sum() > 0, lambda m, x: m.a(x), lambda m, x: {w.act()}(m.b(x)), self, x)
"""
    elif form == 1:
        text = f"""\
  @nn.compact
  def __call__(self, x, train=False):
    def first(mdl, x):
      return {drop.format("nn.Dense(self.features, name='shared')(x)")}

    def second(mdl, x):
      return {w.act()}(nn.Dense(self.features, name='shared')(x))

    return nn.cond(x.mean() > 0.1, first, second, self, x)
"""
    elif form == 2:
        text = f"""\
  def setup(self):
    self.heads = [nn.Dense(self.features) for _ in range(3)]

  def __call__(self, x, train=False):
    branches = [lambda m, x: m.heads[0](x), lambda m, x: m.heads[1](x), lambda m, x: m.heads[2]({w.act()}(x))]
    if self.is_mutable_collection('params'):
      for branch in branches:
        _ = branch(self, x)
    return nn.switch(jnp.argmax(x.reshape(-1)) % 3, branches, self, x)
"""
    else:
        text = f"""\
  @nn.compact
  def __call__(self, x, train=False):
    x = nn.Dense(self.features)(x)
    dense = nn.Dense(self.features)
    dense(x)

    def keep_going(mdl, carry):
      return carry[0] < 3

    def go(mdl, carry):
      return carry[0] + 1, {w.act()}(mdl(carry[1]))

    return nn.while_loop(keep_going, go, dense, (0, x))[1]
"""
    w.classes.append(f"class {name}(nn.Module):\n  features: int\n\n{text}")
    body.add(f"x = {name}({size})(x, {w.pick('train', 'train=train')})")
    body.shape[-1] = size


def recurrent(w: Writer, body: Body, fields: Fields) -> None:
    """`nn.RNN`, cells of Linen's and of one's own, both directions, and cells in `nn.scan`."""
    w.mark("recurrent")
    size = w.size()
    cells = ["nn.GRUCell({})", "nn.LSTMCell({})", "nn.OptimizedLSTMCell({})", "nn.SimpleCell({})", "nn.MGUCell({})",
             "nn.GRUCell(features={}, gate_fn=nn.hard_sigmoid)"]  # fmt: skip
    if w.random.random() < 0.3:
        own = w.fresh("Cell")
        w.classes.append(f"""\
class {own}(nn.RNNCellBase):
  features: int

  @nn.compact
  def __call__(self, carry, x):
    h = {w.act()}(nn.Dense(self.features, name='i')(x) + nn.Dense(self.features, use_bias=False, name='h')(carry))
    return h, h

  @nn.nowrap
  def initialize_carry(self, rng, input_shape):
    return jnp.zeros((*input_shape[:-1], self.features))

  @property
  def num_feature_axes(self):
    return 1
""")
        cells = [own + "({})"]
    cell = w.pick(*cells).format(size)
    form = w.random.randrange(5)
    if form == 0:
        body.add(f"x = nn.RNN({cell}{w.pick('', ', reverse=True, keep_order=True', ', reverse=True')})(x)")
    elif form == 1:
        w.mark("Bidirectional")
        body.add(f"x = nn.Bidirectional(nn.RNN({cell}), nn.RNN({cell}))(x)")
        body.shape[-1] = 2 * size
        return
    elif form == 2:
        body.add(f"carry, x = nn.RNN({cell}, return_carry=True)(x)")
        body.add("x = x * jax.tree.leaves(carry)[0].mean()")
    elif form == 3:
        local = w.local("cell")
        body.add(f"{local} = {cell}")
        body.add(f"carry = {local}.initialize_carry(jax.random.key(0), x[:, 0].shape)")
        body.add("run = nn.scan(lambda m, c, y: m(c, y), variable_broadcast='params', split_rngs={'params': False},")
        body.add("              in_axes=1, out_axes=1)")
        body.add(f"carry, x = run({local}, carry, x)")
    else:
        local = w.local("cell")
        body.add(f"{local} = {cell}")
        body.add(f"carry = {local}.initialize_carry(jax.random.key(0), x[:, 0].shape)")
        body.add("outs = []")
        body.add(f"for t in range({body.shape[1]}):")
        body.add(f"  carry, y = {local}(carry, x[:, t])")
        body.add("  outs.append(y)")
        body.add("x = jnp.stack(outs, axis=1)")
    body.shape[-1] = size


STEPS: list[Step] = [scan_class, scan_class, scan_function, vmapped, rematted, branched]
#: For inputs of a batch of sequences.
SEQUENCE_STEPS: list[Step] = [recurrent, recurrent]
