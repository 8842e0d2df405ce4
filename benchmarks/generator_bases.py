"""Steps of generated programs whose classes derive from each other: what one says of widths, depths, flags and parts, others
say otherwise, by attributes of the body, properties, methods, fields and parts of `setup`.

As in `generator_modules`: each is a function of the writer, the body and the fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def bases(w: Writer, body: Body, fields: Fields) -> None:
    """A class, and one or two that derive from it and change some of what it says; all of them are called."""
    w.mark("classes that derive")
    base, out = w.fresh("Said"), w.size()
    calls = {name: w.random.random() < 0.2 for name in ("width", "depth", "flag")}  # said by a method of no arguments
    values = {"width": w.size(), "depth": w.random.choice((1, 2)), "flag": w.random.random() < 0.5}
    setup = w.random.random() < 0.4
    w.classes.append(_class(w, base, "nn.Module", values, calls, _parts(w, calls, out, setup)))
    names = [base]
    for _ in range(w.random.choice((1, 1, 2))):
        name = w.fresh("Derived")
        changed = {key: _other(w, key, value) for key, value in values.items() if w.random.random() < 0.6}
        w.classes.append(_class(w, name, w.pick(*names), changed, calls, _more(w, setup), derived=True))
        names.append(name)
    for name in w.random.sample(names, k=len(names)):
        body.add(f"x = {name}()(x)")
    body.shape[-1] = out


def _other(w: Writer, key: str, value: int | bool) -> int | bool:
    return not value if key == "flag" else value + w.random.choice((1, 2))


def _class(
    w: Writer, name: str, base: str, values: dict[str, int | bool], calls: dict[str, bool], rest: str, derived: bool = False
) -> str:
    """The text of a class that says these values, each in one of the ways there are for it.

    A property of a derived class cannot take the place of a field.
    """
    fields, others = [], []
    for key, value in values.items():
        if calls[key]:
            kind = "@staticmethod\n  " if w.random.random() < 0.3 else ""
            others.append(f"  {kind}def {key}({'' if kind else 'self'}):\n    return {value}\n")
        elif (form := w.random.randrange(5)) == 0:
            fields.append(f"  {key}: {type(value).__name__} = {value}\n")
        elif form == 1 and not derived:
            others.append(f"  @property\n  def {key}(self):\n    return {value}\n")
        elif form == 2:
            others.append(f"  {key}: ClassVar[{type(value).__name__}] = {value}\n")
        else:
            others.append(f"  {key} = {value}\n")
    text = "".join(fields) + "\n".join(others) + rest
    return f"class {name}({base}):\n{text or '  pass' + chr(10)}\n"


def _parts(w: Writer, calls: dict[str, bool], out: int, setup: bool) -> str:
    """The methods of the first class."""
    width, depth, flag = (f"self.{key}()" if calls[key] else f"self.{key}" for key in ("width", "depth", "flag"))
    test = w.pick(flag, f"not {flag}", f"{flag} and {depth} > 1", f"{width} > 5")
    hook = f"\n  def hook(self, x):\n    return {w.act()}(x)\n"
    if setup:
        return f"""{hook}
  def setup(self):
    self.layers = [nn.Dense({width}) for _ in range({depth})]
    if {test}:
      self.norm = nn.LayerNorm()
    self.head = nn.Dense({out})

  def __call__(self, x):
    for layer in self.layers:
      x = self.hook(layer(x))
    if {test}:
      x = self.norm(x)
    return self.head(x)
"""
    inner = w.pick(
        f"if {test}:\n      x = nn.LayerNorm()(x)",
        f"x = nn.LayerNorm()(x) if {test} else nn.RMSNorm()(x)",
        f"if {test}:\n      x = x * self.param('scale', nn.initializers.ones, ({width},))",
        f"if {test}:\n      x = nn.Dense({width} + 1)(x)\n    else:\n      x = nn.Dense({width}, use_bias=False)(x)",
    )
    return f"""{hook}
  @nn.compact
  def __call__(self, x):
    for i in range({depth}):
      x = self.hook(nn.Dense({width}, name=f'layer_{{i}}')(x))
    {inner}
    return nn.Dense({out}, name='head')(x)
"""


def _more(w: Writer, setup: bool) -> str:
    """Methods that a derived class has in the place of others."""
    form = w.random.randrange(4)
    if form == 0:
        return f"\n  def hook(self, x):\n    return {w.act()}(x) + 1\n"
    if form == 1 and setup:
        more = w.local("more")
        return f"""
  def setup(self):
    super().setup()
    self.{more} = nn.Dense({w.size()})

  def hook(self, x):
    return super().hook(x) * 2

  def __call__(self, x):
    return super().__call__(self.{more}(x))
"""
    return ""


STEPS: list[Step] = [bases]
