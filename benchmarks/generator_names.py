"""Steps of generated programs whose sizes are names of the file: several in one line, by conditions, changed, imported where
that fails, held by classes, and imported anew by other functions.

As in `generator_modules`: each is a function of the writer, the body and the fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def named(w: Writer, body: Body, fields: Fields) -> None:
    """A class with widths, and a number of layers, that names of the file say."""
    w.mark("names of the file")
    width, wide = w.local("WIDTH"), w.local("WIDE")
    number, other = w.size(), w.size()
    text, said = w.random.choice([
        (f"{width}, {wide} = {number}, {other}\n", width),
        (f"({wide}, _), {width} = ({other}, 1), {number}\n", width),
        (f"{width} = {number - 1}\n{width} += 1\n", width),
        (f"{wide} = {number}\nif {wide} > {other}:\n  {width} = {number}\nelse:\n  {width} = {wide} + 0\n", width),
        (f"try:\n  from nowhere import {width}\nexcept ImportError:\n  {width} = {number}\n", width),
        (f"for {width} in ({other}, {number}):\n  pass\n", width),
        (f"{width} = {number}\ndef {w.local('other')}():\n  from math import tau as {width}\n  return {width}\n", width),
        (f"{wide} = [{other}]\n{wide}.append({number})\n", f"{wide}[-1]"),
        (f"class {wide}:\n  {width}, size = {number}, {other}\n", f"{wide}.{width}"),
        (f"class {wide}:\n  {width} = {other}\n{wide}.{width} = {number}\n", f"{wide}.{width}"),
    ])  # fmt: skip
    name, more = w.fresh("Named"), w.size()
    lines = [f"x = {w.act()}(nn.Dense({said})(x))", f"x = nn.Dense(x.shape[-1] + {more})(x)"]
    if w.random.random() < 0.4:
        lines += [f"for _ in range({said} // 2):", "  x = nn.Dense(x.shape[-1])(x)"]
    call = "".join(f"    {line}\n" for line in lines)
    w.classes.append(f"{text}\n\nclass {name}(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n{call}    return x\n")
    body.add(f"x = {name}()(x)")
    body.shape[-1] = number + more


STEPS: list[Step] = [named]
