"""Steps of generated programs with lists of modules: made by comprehensions and loops of setup and of compact methods,
handed to wrappers and to other modules, joined, paired, and called in loops; and with lists of arrays.

As in `generator_modules`: each is a function of the writer, the body and the fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator import Body, Step, Writer

Fields = dict[str, int]


def _item(w: Writer, width: str) -> str:
    """An expression for a module of this width that may stand in a list."""
    return w.pick(
        f"nn.Dense({width})",
        f"nn.Dense({width}, use_bias=False)",
        f"nn.Sequential([nn.Dense({width}), {w.act()}])",
        f"nn.Sequential([nn.LayerNorm(), nn.Dense(2 * {width}), {w.act()}, nn.Dense({width})])",
    )


def _widths(w: Writer) -> tuple[str, str, str, str]:
    """(the field, its loop, the width in it, the width of the last item) of a list."""
    if w.random.random() < 0.5:
        widths = w.pick("(4, 6)", "(8, 4, 6)", "(5,)")
        last = widths.strip("(),").split(",")[-1]
        return f"widths: Sequence[int] = {widths}", f"{w.pick('width', 'f')} in self.widths", "", last
    count, width = w.pick("1", "2", "3"), w.pick("4", "6")
    return f"count: int = {count}", f"{w.pick('_', 'i')} in range(self.count)", width, width


def listed(w: Writer, body: Body, fields: Fields) -> None:
    """A class whose setup makes a list, in one of the ways people do, and calls it item by item."""
    w.mark("list of setup")
    name = w.fresh("Listed")
    field, loop, width, last = _widths(w)
    width = width or loop.split()[0]
    item = _item(w, width)
    way = w.random.randrange(6)
    call = "    for layer in self.layers:\n      x = layer(x)\n    return x\n"
    helper = ""
    if way == 0:
        made = f"    self.layers = [{item} for {loop}]\n"
    elif way == 1:
        made = f"    layers = []\n    for {loop}:\n      layers.append({item})\n    self.layers = layers\n"
    elif way == 2:
        made = f"    self.layers = nn.Sequential([{item} for {loop}])\n"
        call = "    return self.layers(x)\n"
    elif way == 3:
        made = "    self.layers = self.make()\n"
        helper = f"  def make(self):\n    return [{item} for {loop}]\n\n"
    elif way == 4:
        made = f"    self.layers = [{item} for {loop}] + [nn.Dense(5)]\n"
        last = "5"
    else:
        made = f"    layers = []\n    for {loop}:\n      layers.append(({item}, nn.LayerNorm()))\n    self.layers = layers\n"
        call = "    for layer, norm in self.layers:\n      x = norm(layer(x))\n    return x\n"
    w.classes.append(
        f"class {name}(nn.Module):\n  {field}\n\n  def setup(self):\n{made}\n{helper}  def __call__(self, x):\n{call}"
    )
    body.add(f"x = {name}()(x)")
    body.shape[-1] = int(last)


def paired(w: Writer, body: Body, fields: Fields) -> None:
    """Two lists of setup that one loop goes through, of which the second has no name for the pass."""
    w.mark("two lists of setup")
    name = w.fresh("Paired")
    widths = w.pick("(4, 6)", "(8, 4, 6)")
    norm = w.pick("nn.LayerNorm()", "nn.BatchNorm(use_running_average=True)")
    over = w.pick("self.widths", "range(len(self.widths))")
    loop = w.pick("for layer, norm in zip(self.layers, self.norms)", "for i, layer in enumerate(self.layers)")
    called = "norm" if "zip" in loop else "self.norms[i]"
    step = f"      x = {w.act()}({called}(layer(x)))\n"
    if "zip" not in loop and w.random.random() < 0.5:
        step = f"      x = layer(x)\n      if i {w.pick('<', '!=')} len(self.layers) - 1:\n        x = {called}(x)\n"
    w.classes.append(
        f"class {name}(nn.Module):\n  widths: Sequence[int] = {widths}\n\n  def setup(self):\n"
        f"    self.layers = [nn.Dense(f) for f in self.widths]\n    self.norms = [{norm} for _ in {over}]\n\n"
        f"  def __call__(self, x):\n    {loop}:\n{step}    return x\n"
    )
    body.add(f"x = {name}()(x)")
    body.shape[-1] = 6


def chained(w: Writer, body: Body, fields: Fields) -> None:
    """A list that a compact method fills, and nn.Sequential."""
    w.mark("list of a compact method in nn.Sequential")
    sizes = w.pick("(4, 6)", "(6, 8, 4)")
    way = w.random.randrange(4)
    local = w.local("layers")
    if way == 0:
        body.add(f"x = nn.Sequential([nn.Dense(s) for s in {sizes}])(x)")
    elif way == 1:
        body.add(f"{local} = []")
        body.add(f"for s in {sizes}:")
        body.add(f"  {local} += [nn.Dense(s), {w.act()}]")
        body.add(f"x = nn.Sequential({local})(x)")
    elif way == 2:
        body.add(f"{local} = []")
        body.add(f"for s in {sizes}:")
        body.add(f"  {local}.append(nn.Dense(s))")
        body.add(f"  {local}.append({w.act()})")
        body.add(f"{local}.append(nn.Dense(5))")
        body.add(f"x = nn.Sequential({local})(x)")
    else:
        body.add(f"x = nn.Sequential([nn.Sequential([nn.Dense(s), {w.act()}]) for s in {sizes}] + [nn.Dense(5)])(x)")
    body.shape[-1] = 5 if way > 1 else int(sizes.strip("(),").split(",")[-1])


def gathered(w: Writer, body: Body, fields: Fields) -> None:
    """Arrays of a loop that are added, stacked or joined."""
    w.mark("arrays of a loop")
    local, count, size = w.local("found"), w.pick("2", "3", "self.depth"), w.size()
    way = w.random.randrange(5)
    if way == 0:
        body.add(f"{local} = 0")
        body.add(f"for i in range({count}):")
        body.add(f"  {local} {w.pick('+= ', f'= {local} + ')}nn.Dense({size})(x)")
        body.add(f"x = nn.LayerNorm()({local})")
    elif way == 1:
        body.add(f"{local} = []")
        body.add(f"for i in range({count}):")
        body.add(f"  {local}.append({w.act()}(nn.Dense({size})(x)))")
        body.add(f"x = nn.LayerNorm()(sum({local}){w.pick('', f' / len({local})')})")
    elif way == 2:
        body.add(f"{local} = [nn.Dense({size})(x) for _ in range({count})]")
        body.add(f"x = nn.LayerNorm()(jnp.stack({local}, axis=-1).{w.pick('mean', 'max', 'sum')}(-1))")
    elif way == 3:
        body.add(f"{local} = jnp.concatenate([nn.Dense({size})(x) for _ in range({count})], axis=-1)")
        body.add(f"x = nn.Dense({size})({local})")
    else:
        body.add(f"{local} = []")
        body.add(f"for i in range({count}):")
        body.add(f"  {local}.append(nn.Dense({size})(x))")
        body.add(f"x = nn.LayerNorm()(jnp.stack({local}).mean(0))")
    body.shape[-1] = size


def handed(w: Writer, body: Body, fields: Fields) -> None:
    """Modules made in a loop and handed to others there."""
    w.mark("modules handed on in a loop")
    residual, normed = w.fresh("Residual"), w.fresh("Normed")
    w.classes.append(
        f"class {residual}(nn.Module):\n  inner: nn.Module\n\n  @nn.compact\n  def __call__(self, x):\n"
        f"    return x + self.inner(x)\n"
    )
    w.classes.append(
        f"class {normed}(nn.Module):\n  inner: nn.Module\n\n  @nn.compact\n  def __call__(self, x):\n"
        f"    return self.inner(nn.LayerNorm()(x))\n"
    )
    inner = w.pick("nn.Dense(x.shape[-1])", f"{normed}(nn.Dense(x.shape[-1]))")
    body.add(f"for i in range({w.pick('2', 'self.depth')}):")
    body.add(f"  x = {residual}({inner}{w.pick('', ', name=f' + repr(w.local('handed') + '_{i}'))})(x)")


def flagged(w: Writer, body: Body, fields: Fields) -> None:
    """A flag in a field without a default, given by the call, perhaps in a partial."""
    w.mark("flag without a default")
    name = w.fresh("Flagged")
    w.classes.append(
        f"class {name}(nn.Module):\n  features: int\n  train: bool\n\n  @nn.compact\n  def __call__(self, x):\n"
        f"    x = nn.BatchNorm(use_running_average=not self.train)(nn.Dense(self.features)(x))\n    return {w.act()}(x)\n"
    )
    size = w.size()
    if w.random.random() < 0.5:
        body.add(f"x = {name}({size}, train)(x)")
    else:
        local = w.local("block")
        body.add(f"{local} = functools.partial({name}, train=train)")
        body.add(f"x = {local}({size})({local}(features=4)(x))")
    body.shape[-1] = size


STEPS: list[Step] = [listed, listed, paired, chained, gathered, handed, flagged]
