"""Conditions of fields, sizes and flags of the call together, and inputs whose rank a field decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def with_flag(w: Writer, body: Body, fields: Fields) -> None:
    """What a field or a size decides beside a flag that holds: the field alone says whether there are modules."""
    w.mark("field and flag")
    name, limit = w.fresh("Flagged"), w.size()
    sizes = (f"self.limit > {limit}", f"x.shape[-1] > {limit}", f"self.use and self.limit < {limit}")
    known = w.pick("self.use", "not self.use", *sizes)
    call = w.pick("not train", "more", "more and not train")
    both = w.pick(f"{known} and {call}", f"{call} and {known}")
    scaled = "x * self.param('scale', nn.initializers.ones, ())"
    made = w.pick("nn.LayerNorm()(x)", "nn.Dense(x.shape[-1], name='extra')(x)", scaled)
    other = w.pick("", "    else:\n      x = jnp.tanh(x)\n")
    loop = w.random.random() < 0.4
    use = f"    if {both}:\n      x = {made}\n{other}"
    if loop:
        made = w.pick("nn.LayerNorm()(x)", "nn.Dense(x.shape[-1])(x)")
        known = w.pick("self.use", "i > 0", "i < self.limit")
        use = f"    for i in range({w.pick('2', '3')}):\n      if {known} and {call}:\n        x = {made}\n"
        use += f"      x = {w.act()}(x)\n"
    w.classes.append(f"""\
class {name}(nn.Module):
  use: bool = {w.pick("True", "False")}
  limit: int = {w.size()}

  @nn.compact
  def __call__(self, x, train: bool = False, more: bool = True):
{use}    return {w.pick("x", "nn.RMSNorm()(x)")}
""")
    body.add(f"x = {name}({w.pick('', 'use=True', 'use=False', 'limit=5')})(x{w.pick('', ', train', ', train=train')})")


def either_rank(w: Writer, body: Body, fields: Fields) -> None:
    """A field says how many dimensions there are; where it does not hold, any number will do."""
    w.mark("rank by field")
    name, size = w.fresh("Either"), w.size()
    whole = w.pick("x.reshape(x.shape[0], -1)", "x.reshape((len(x), -1))", "jnp.reshape(x, (x.shape[0], -1))")
    unpacked = "b, h, w, c = x.shape\n      x = x.reshape(b, h * w * c)"
    images = w.pick(unpacked, "x = nn.Conv(4, (3, 3))(x).mean(axis=(1, 2))")
    w.classes.append(f"""\
class {name}(nn.Module):
  images: bool = False

  @nn.compact
  def __call__(self, x):
    if self.images:
      {images}
    else:
      x = {whole}
    return nn.Dense({size})(x)
""")
    rest = " + ".join(["x", *(f"{name}()(x)" for _ in range(w.random.randrange(1, 3)))])
    if len(body.shape) == 2 and body.shape[-1] == size:
        body.add(f"x = {rest}")
    else:
        sides = ", ".join(["-1", *["1"] * (len(body.shape) - 2), str(size)])
        body.add(f"x = nn.Dense({size})(x) + {name}()(x).reshape({sides})")
        body.shape[-1] = size


def made_first(w: Writer, body: Body, fields: Fields) -> None:
    """Modules that are always made, in a loop or not, and called under a condition: others have no variables."""
    w.mark("made first")
    name, local = w.fresh("First"), w.pick("m", "norm", "layer")
    made = w.pick("nn.LayerNorm()", "nn.Dense(x.shape[-1])", "nn.Dense(x.shape[-1], use_bias=False)")
    loop = w.random.random() < 0.7
    of_loop = ("i > 0", "i < self.count - 1", "i % 2 == 0", "i != 1 or self.use", "i == 0 and self.use", "i > 0 and more")
    of_fields = ("self.use", "not self.use", "self.count > 2", "wide", "x.shape[-1] > 5", "more")
    test = w.pick(*of_fields, *(of_loop if loop else ()))
    again = w.pick("self.use", "self.count > 1")
    call = w.pick(
        f"if {test}:\n  x = {local}(x)\n",
        f"x = {local}(x) if {test} else x\n",
        f"if {test}:\n  x = {local}(x)\nelse:\n  x = {local}(2 * x)\n",
        f"if {test}:\n  x = {local}(x)\nif {again}:\n  x = x + {local}(x)\n",
        f"if {again}:\n  x = x + 1\nelif {test}:\n  x = {local}(x)\n",
        *([f"if not ({test}):\n  continue\nx = {local}(x)\n"] if loop else []),
    )
    lines = f"wide = self.count > 1\n{w.pick('', 'x = nn.Dense(x.shape[-1])(x)' + chr(10))}{local} = {made}\n{call}"
    unit = "      " if loop else "    "
    text = "".join(f"{unit}{line}\n" for line in lines.splitlines())
    if loop:
        text = f"    for i in range({w.pick('3', 'self.count')}):\n{text}      x = {w.act()}(x)\n"
    w.classes.append(f"""\
class {name}(nn.Module):
  use: bool = {w.pick("True", "False")}
  count: int = {w.pick("2", "3")}

  @nn.compact
  def __call__(self, x, more: bool = True):
{text}    return nn.Dense(5)(x)
""")
    body.add(f"x = {name}({w.pick('', 'use=True', 'use=False', 'count=1')})(x)")
    body.shape[-1] = 5


def picked(w: Writer, body: Body, fields: Fields) -> None:
    """Items of a compact method's own list or dict, by their places."""
    w.mark("items by place")
    local, size = w.local("items"), w.size()
    if w.random.random() < 0.5:
        places = w.pick("012", "01", "20", "1")
        body.add(f"{local} = [nn.Dense({size}) for _ in range({w.pick('3', '2 + 1')})]")
        body.add("x = " + " + ".join(f"{local}[{place}](x)" for place in places))
    else:
        keys = w.pick("ab", "a", "ba")
        body.add(f"{local} = {{key: nn.Dense({size}) for key in ('a', 'b')}}")
        body.add("x = " + " * ".join(f"{local}['{key}'](x)" for key in keys))
    body.shape[-1] = size


STEPS: list[Step] = [with_flag, with_flag, either_rank, made_first, made_first, picked]
