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


STEPS: list[Step] = [with_flag, with_flag, either_rank]
