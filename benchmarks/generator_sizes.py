"""Steps of generated programs whose sizes and first values have to be worked out: lists that grow in loops and are joined,
layers or functions by the number of a pass, products, mapped functions, numbers of fields that jax computes with.

As in `generator_modules`: each is a function of the writer, the body and the fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def joined(w: Writer, body: Body, fields: Fields) -> None:
    """A list that loops over modules of setup fill, joined for a layer of setup."""
    w.mark("list that grows, joined")
    name, outs = w.fresh("Joined"), "outs"
    many = w.random.random() < 0.5
    field = "widths: Sequence[int] = (4, 6, 2)" if many else "count: int = 3"
    made = "nn.Dense(f) for f in self.widths" if many else f"nn.Dense({w.size()}) for _ in range(self.count)"
    start = w.pick("[]", "[x]", "[x, jnp.abs(x)]")
    loop = w.pick("for head in self.heads", "for i, head in enumerate(self.heads)")
    added = w.pick("head(x)", f"{w.act()}(head(x))", "head(x) * 2.0")
    if not many and w.random.random() < 0.3:
        loop, added = "for i in range(self.count)", added.replace("head", "self.heads[i]")
    lines = [f"{outs} = {start}", f"{loop}:"]
    way = w.random.randrange(4)
    if way == 0:
        lines += [f"  y = {added}", f"  {outs}.append(y)", f"  {outs}.append(jnp.sin(y))"]
    elif way == 1:
        numbered = loop.startswith("for i") and w.random.random() < 0.2
        lines += ["  if i < 2:", f"    {outs}.append({added})"] if numbered else [f"  {outs}.append({added})"]
    else:
        lines += [f"  {outs}.append({added})"]
    if way == 2:
        lines += [f"{outs}.append(x)"]
    if way == 3 and w.random.random() < 0.1:
        lines += [f"{outs} = {outs}[1:]"]
    out = w.size()
    lines += [f"return self.last(jnp.concatenate({outs}, axis=-1))"]
    w.classes.append(
        f"class {name}(nn.Module):\n  {field}\n\n  def setup(self):\n    self.heads = [{made}]\n"
        f"    self.last = nn.Dense({out})\n\n  def __call__(self, x):\n" + "".join(f"    {line}\n" for line in lines)
    )
    body.add(f"x = {name}()(x)")
    body.shape[-1] = out


def in_turn(w: Writer, body: Body, fields: Fields) -> None:
    """Layers and functions, or two kinds of layers, in turn."""
    w.mark("layers in turn")
    size, count = w.size(), w.pick("2", "3", "2 * self.depth", "2 * self.depth - 1")
    test = w.pick("i % 2 == 0", "i % 2", "i > 0", "self.flag", "i != 1")
    sides = [f"nn.Dense({size})", w.pick(w.act(), "nn.LayerNorm()")]
    if w.random.random() < 0.3:
        sides.reverse()
    made = f"[{sides[0]} if {test} else {sides[1]} for i in range({count})]"
    if w.random.random() < 0.5:
        made += f" + [nn.Dense({size})]"
    if w.random.random() < 0.7:
        body.add(f"x = nn.Sequential({made})(x)")
    else:
        local = w.local("layers")
        body.add(f"{local} = {made}")
        body.add(f"for layer in {local}:")
        body.add("  x = layer(x)")
    body.add(f"x = nn.Dense({size})(x)")
    body.shape[-1] = size


def product(w: Writer, body: Body, fields: Fields) -> None:
    """What is multiplied with a matrix from the left, in a class that does not know ranks."""
    w.mark("product from the left")
    name, size = w.fresh("Graph"), w.size()
    by = w.pick("adjacency @ {}", "jnp.matmul(adjacency, {})")
    w.classes.append(
        f"class {name}(nn.Module):\n  features: int\n\n  @nn.compact\n  def __call__(self, x, adjacency):\n"
        f"    x = {by.format('nn.Dense(self.features)(x)')}\n    return {w.act()}(x)\n"
    )
    local = w.local("adjacency")
    rows = body.shape[-2] if len(body.shape) > 1 else 1
    body.add(f"{local} = jnp.ones(({rows}, {rows})) / {rows}")
    body.add(f"for size in (4, {size}):")
    body.add(f"  x = {name}(size)(x, {local})")
    body.shape[-1] = size


def mapped(w: Writer, body: Body, fields: Fields) -> None:
    """A function of jax under jax.vmap."""
    w.mark("mapped function of jax")
    local = w.local("table")
    width = body.shape[-1]
    if w.random.random() < 0.5:
        body.add(f"{local} = self.param('{local}', nn.initializers.normal(0.1), (x.shape[-1], 3))")
        body.add(f"x = jax.vmap(jnp.polyval, in_axes=(0, -1), out_axes=-1)({local}, x)")
    else:
        body.add(f"{local} = self.param('{local}', nn.initializers.ones, (x.shape[-1],))")
        body.add(f"x = jax.vmap({w.pick('jnp.multiply', 'jnp.add')}, in_axes=(0, None))(x, {local})")
    body.add(f"x = nn.Dense({width})(x)")


def first_value(w: Writer, body: Body, fields: Fields) -> None:
    """A parameter that starts at a number which jax computes of fields and constants."""
    w.mark("computed first value")
    local, low = w.local("start"), w.pick("0.2", "0.7", "self.depth / 10")
    body.add(f"{local}_low = jnp.clip({low}, 0.1, 0.9)")
    body.add(f"{local}_part = jnp.where({local}_low > {w.pick('0.5', '0.0')}, {local}_low / 2, {w.pick('0.3', '1.0')})")
    body.add(f"{local} = self.param('{local}', nn.initializers.constant(jax.scipy.special.logit({local}_part)), ())")
    body.add(f"x = x * jax.nn.sigmoid({local})")


STEPS: list[Step] = [joined, joined, in_turn, product, mapped, first_value]
