"""Random Linen modules, as text, with inputs to run them on: fuel for comparing both sides.

`program(seed)` is deterministic. A program is a few classes in one of the ways people write modules: compact or setup;
layers inline, named, in loops, conditions, dicts and lists; partial factories, helper functions, sharing, inheritance;
scan, remat and vmap. The generator follows the shapes while it writes, so every program runs in Linen. More steps are in
`generator_modules` (how modules are made), `generator_python` (plain Python around layers), `generator_lists` (lists of
modules and arrays), `generator_sizes` (sizes and first values that are worked out), `generator_conditions` (of fields,
sizes and flags together), `generator_names` (of the file, that say sizes), `generator_bases` (classes that derive),
`generator_lifted` (transforms, recurrence) and `generator_images`.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import generator_bases
import generator_conditions
import generator_images
import generator_lifted
import generator_lists
import generator_modules
import generator_names
import generator_python
import generator_sizes

HEADER = """\
import functools
from typing import Any, Callable, ClassVar, NamedTuple, Optional, Sequence, Tuple, Type

import flax
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

ModuleDef = Any
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """Text of a module, the class to make, its constructor's source arguments, the inputs' shapes (`i:` tokens)."""

    seed: int
    text: str
    name: str
    arguments: str
    inputs: tuple[str, ...]
    features: tuple[str, ...]  # which ways of writing it uses


@dataclasses.dataclass
class Body:
    """Statements of a method being written, with the static shape of `x` as it stands."""

    shape: list[int]
    lines: list[str] = dataclasses.field(default_factory=list)
    indent: str = "    "
    named: int = 0

    def add(self, line: str) -> None:
        self.lines.append(self.indent + line)


#: Writes statements that read and write `x`, given the values of the class's fields.
Step = Callable[["Writer", Body, dict[str, int]], None]


class Writer:
    """The classes and functions of a program being written.

    Args:
        only: the name of the one step of the other rooms to use, to try it alone.
    """

    def __init__(self, seed: int, only: str = "") -> None:
        self.random = random.Random(seed)
        self.classes: list[str] = []
        self.functions: list[str] = []
        self.used: list[str] = []
        self.count = 0
        self.only = only

    # small choices ---------------------------------------------------------------------------------------------
    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def size(self) -> int:
        return self.random.choice((4, 6, 8))

    def act(self) -> str:
        return self.pick("nn.relu", "nn.gelu", "nn.tanh", "jax.nn.silu", "nn.swish", "jnp.sin")

    def dense(self, features: str, name: str = "") -> str:
        options = [features]
        if self.random.random() < 0.25:
            options.append("use_bias=False")
        if self.random.random() < 0.25:
            options.append(f"kernel_init={self.pick('nn.initializers.normal(0.5)', 'nn.initializers.xavier_uniform()')}")
        if name:
            options.append(f"name={name}")
        return f"nn.Dense({', '.join(options)})"

    def fresh(self, stem: str) -> str:
        """A class name that no other has."""
        self.count += 1
        return f"{stem}{self.count}"

    def local(self, stem: str) -> str:
        """A local name, or a module's, that no other has."""
        self.count += 1
        return f"{stem}_{self.count}"

    def mark(self, what: str) -> None:
        if what not in self.used:
            self.used.append(what)

    # steps of a compact body: each reads and writes x ------------------------------------------------------------
    def step(self, body: Body, fields: dict[str, int]) -> None:
        """Write one step: of this room, or of those beside it."""
        others: list[Step] = [*generator_modules.STEPS, *generator_lifted.STEPS, *generator_lists.STEPS]
        others += [*generator_python.STEPS, *generator_sizes.STEPS, *generator_conditions.STEPS, *generator_names.STEPS]
        others += generator_bases.STEPS
        others += generator_lifted.SEQUENCE_STEPS if len(body.shape) == 3 else []
        images = generator_images.STEPS if len(body.shape) == 4 else []
        if self.only:
            named = [s for s in (*others, *images) if s.__name__ == self.only]
            (named[0] if named else type(self).s_dense)(self, body, fields)
            return
        if images and self.random.random() < 0.6:
            self.random.choice(images)(self, body, fields)
            return
        if self.random.random() < 0.6:
            self.random.choice(others)(self, body, fields)
            return
        steps: list[Callable[[Body, dict[str, int]], None]] = [
            self.s_dense, self.s_dense, self.s_norm, self.s_residual, self.s_if, self.s_loop, self.s_param,
            self.s_partial, self.s_helper, self.s_lambda, self.s_shared, self.s_concat, self.s_sequential,
            self.s_dropout,
            self.s_block, self.s_blocks, self.s_list, self.s_dict, self.s_method, self.s_einsum, self.s_shape_if,
        ]  # fmt: skip
        if len(body.shape) == 3:
            steps += [
                self.s_attention,
                self.s_scan,
                self.s_scan,
                self.s_vmap,
                self.s_remat,
                self.s_transpose,
                self.s_split,
            ]
        else:
            steps += [self.s_scan, self.s_remat, self.s_split, self.s_vmap]
        self.random.choice(steps)(body, fields)

    def width(self, fields: dict[str, int]) -> tuple[str, int]:
        """An expression for a size and its value: a field, a literal, or arithmetic over a field."""
        field = self.random.choice(list(fields)) if fields else ""
        form = self.random.randrange(4) if field else 0
        if form == 0:
            value = self.size()
            return str(value), value
        if form == 3:
            return f"2 * self.{field}", 2 * fields[field]
        return f"self.{field}", fields[field]

    def s_dense(self, body: Body, fields: dict[str, int]) -> None:
        text, value = self.width(fields)
        name = ""
        if self.random.random() < 0.4:
            self.mark("name")
            name = f"'proj_{body.named}'"
            body.named += 1
        body.add(f"x = {self.dense(text, name)}(x)")
        if self.random.random() < 0.6:
            body.add(f"x = {self.act()}(x)")
        body.shape[-1] = value

    def s_norm(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("norm")
        layer = self.pick(
            "nn.LayerNorm()", "nn.LayerNorm(epsilon=1e-5, use_bias=False)", "nn.RMSNorm()",
            "nn.GroupNorm(num_groups=2)",
            "nn.BatchNorm(use_running_average=True)", "nn.BatchNorm(use_running_average=not train, momentum=0.9)",
        )  # fmt: skip
        body.add(f"x = {layer}(x)")

    def s_dropout(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("dropout")
        if self.random.random() < 0.5:
            body.add("x = nn.Dropout(0.3)(x, deterministic=not train)")
        else:
            body.add("x = nn.Dropout(rate=0.2, deterministic=not train)(x)")

    def s_residual(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("residual")
        text, _ = self.width(fields)
        body.add(f"y = {self.act()}({self.dense(text)}(x))")
        body.add(f"x = x + {self.dense('x.shape[-1]')}(y)")

    def s_if(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("if")
        form = self.random.randrange(3)
        if form == 0:
            body.add("if self.flag:")
            body.add(f"  x = {self.dense('x.shape[-1]')}(x)")
            body.add("else:")
            body.add(f"  x = {self.act()}(x)")
        elif form == 1:
            body.add("if not self.flag:")
            body.add(f"  x = {self.dense('x.shape[-1]')}(x)")
        else:
            body.add(f"x = {self.dense('x.shape[-1]')}(x) if self.flag else x")

    def s_shape_if(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("shape-if")
        text, value = self.width(fields)
        body.add("residual = x")
        body.add(f"x = {self.dense(text)}(x)")
        body.add("if residual.shape[-1] != x.shape[-1]:")
        body.add("  residual = nn.Dense(x.shape[-1])(residual)")
        body.add("x = x + residual")
        body.shape[-1] = value

    def s_loop(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("loop")
        text, value = self.width(fields)
        form = self.random.randrange(4)
        if form == 0:
            body.add("for i in range(self.depth):")
            body.add(f"  x = {self.act()}({self.dense(text)}(x))")
        elif form == 1:
            stem = f"layer{body.named}"
            body.named += 1
            name = f"f'{stem}_" + "{i}'"
            body.add("for i in range(self.depth):")
            body.add(f"  x = {self.dense(text, name)}(x)")
            body.add("  if i < self.depth - 1:")
            body.add(f"    x = {self.act()}(x)")
        elif form == 2:
            body.add("for i in range(self.depth):")
            body.add("  if i % 2 == 0:")
            body.add(f"    x = {self.dense('x.shape[-1]')}(x)")
            body.add("  else:")
            body.add("    x = nn.LayerNorm()(x)")
            return
        else:
            first, second = self.size(), self.size()
            body.add(f"for size in ({first}, {second}):")
            body.add(f"  x = {self.act()}(nn.Dense(size)(x))")
            body.shape[-1] = second
            return
        body.shape[-1] = value

    def s_param(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("param")
        name = f"w{body.named}"
        body.named += 1
        form = self.random.randrange(3)
        if form == 0:
            body.add(f"x = x * self.param('{name}', nn.initializers.ones, (x.shape[-1],))")
        elif form == 1:
            text, value = self.width(fields)
            body.add(f"{name} = self.param('{name}', nn.initializers.lecun_normal(), (x.shape[-1], {text}))")
            body.add(f"x = jnp.dot(x, {name})")
            body.shape[-1] = value
        else:
            body.add(f"x = x + self.param('{name}', nn.initializers.zeros, x.shape[-1:])")

    def s_partial(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("partial")
        text, value = self.width(fields)
        name = f"make{body.named}"
        body.named += 1
        body.add(f"{name} = functools.partial(nn.Dense, use_bias=False)")
        body.add(f"x = {name}({text})(x)")
        if self.random.random() < 0.5:
            body.add(f"x = {name}(x.shape[-1], name='{name}_again')(x)")
        body.shape[-1] = value

    def s_helper(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("helper function")
        text, value = self.width(fields)
        name = f"head{len(self.functions)}"
        self.functions.append(f"def {name}(x, size):\n  return {self.act()}(nn.Dense(size)(x))\n")
        body.add(f"x = {name}(x, {text})")
        body.shape[-1] = value

    def s_lambda(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("lambda")
        text, value = self.width(fields)
        name = f"apply{body.named}"
        body.named += 1
        if self.random.random() < 0.5:
            body.add(f"{name} = lambda y, size: {self.act()}(nn.Dense(size)(y))")
        else:
            body.add(f"def {name}(y, size):")
            body.add(f"  return {self.act()}(nn.Dense(size)(y))")
        body.add(f"x = {name}(x, {text})")
        body.shape[-1] = value

    def s_shared(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("shared")
        name = f"shared{body.named}"
        body.named += 1
        body.add(f"{name} = nn.Dense(x.shape[-1])")
        body.add(f"x = {name}({self.act()}({name}(x)))")

    def s_concat(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("concatenate")
        text, value = self.width(fields)
        body.add(f"x = jnp.concatenate([x, nn.Dense({text})(x)], axis=-1)")
        body.shape[-1] += value

    def s_split(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("split")
        text, value = self.width(fields)
        body.add(f"a, b = jnp.split(nn.Dense(2 * {text})(x), 2, axis=-1)")
        body.add("x = nn.Dense(a.shape[-1])(a * nn.sigmoid(b))")
        body.shape[-1] = value

    def s_sequential(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("Sequential")
        text, value = self.width(fields)
        body.add(f"x = nn.Sequential([nn.Dense({text}), {self.act()}, nn.Dense({text})])(x)")
        body.shape[-1] = value

    def s_einsum(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("DenseGeneral")
        heads, size = self.pick("2", "3"), self.size()
        body.add(f"h = nn.DenseGeneral(({heads}, {size}))(x)")
        body.add("x = nn.DenseGeneral(x.shape[-1], axis=(-2, -1))(h)")

    def s_transpose(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("transpose")
        size = body.shape[1]
        body.add("y = jnp.swapaxes(x, 1, 2)")
        body.add(f"y = nn.gelu(nn.Dense({self.size()})(y))")
        body.add(f"y = nn.Dense({size})(y)")
        body.add("x = x + jnp.swapaxes(y, 1, 2)")

    def s_attention(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("attention")
        body.add(f"x = nn.Dense({self.pick('4', '8')}, name='attend{body.named}')(x)")
        body.shape[-1] = int(body.lines[-1].split("nn.Dense(")[1][0])
        body.named += 1
        if self.random.random() < 0.5:
            body.add("x = x + nn.MultiHeadDotProductAttention(num_heads=2)(x, x)")
        else:
            body.add("x = x + nn.SelfAttention(num_heads=2, qkv_features=8, deterministic=True)(x)")

    # classes -------------------------------------------------------------------------------------------------
    def block(self, rank: int, *, same: bool = True, pair: bool = False) -> str:
        """A small class of one field `width` that keeps its input's size; `pair` returns (x, None) as scan wants."""
        name = f"Block{self.count}"
        self.count += 1
        lines = [f"class {name}(nn.Module):", "  width: int", ""]
        result = "x, None" if pair else "x"
        style = self.random.randrange(3)
        if style == 0:
            lines += ["  @nn.compact", "  def __call__(self, x):", f"    y = {self.act()}(nn.Dense(self.width)(x))",
                      "    x = x + nn.Dense(x.shape[-1])(y)", f"    return {result}"]  # fmt: skip
        elif style == 1:
            lines += ["  @nn.compact", "  def __call__(self, x):", "    d = x.shape[-1]",
                      "    w = self.param('w', nn.initializers.normal(0.3), (d, self.width))",
                      f"    y = {self.act()}(x @ w)",
                      "    x = nn.LayerNorm()(x + nn.Dense(d, use_bias=False, name='out')(y))",
                      f"    return {result}"]  # fmt: skip
        else:
            lines += ["  def setup(self):", "    self.up = nn.Dense(self.width)", "    self.norm = nn.LayerNorm()",
                      "  def __call__(self, x):", f"    y = {self.act()}(self.up(x))",
                      "    x = self.norm(x) * y.mean(axis=-1, keepdims=True)", f"    return {result}"]  # fmt: skip
        self.classes.append("\n".join(lines) + "\n")
        return name

    def s_block(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("submodule")
        name = self.block(len(body.shape))
        body.add(f"x = {name}({self.pick('self.width', '6', 'width=self.width')})(x)")

    def s_blocks(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("submodules in a loop")
        name = self.block(len(body.shape))
        more = self.pick("", "", f", name=f'{name.lower()}s_{{i}}'")
        body.add("for i in range(self.depth):")
        body.add(f"  x = {name}(self.width{more})(x)")

    def s_list(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("local list")
        name = f"layers{body.named}"
        body.named += 1
        body.add(f"{name} = [nn.Dense(size) for size in ({self.size()}, {self.size()})]")
        body.add(f"for layer in {name}:")
        body.add(f"  x = {self.act()}(layer(x))")
        body.shape[-1] = int(body.lines[-3].rstrip(")]").split(", ")[-1])

    def s_dict(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("local dict")
        text, value = self.width(fields)
        body.add(f"parts = {{'a': nn.Dense({text}), 'b': nn.Dense({text})}}")
        body.add("x = parts['a'](x) + parts['b'](x)")
        body.shape[-1] = value

    def s_method(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("method")
        body.add("x = self.project(x)")

    def s_scan(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("scan")
        name = self.block(len(body.shape), pair=True)
        inner = name
        if self.random.random() < 0.4:
            self.mark("remat in scan")
            inner = f"nn.remat({name})"
        given = f", name='stack{body.named}'" if self.random.random() < 0.5 else ""
        body.named += 1
        body.add(f"x, _ = nn.scan({inner}, variable_axes={{'params': 0}}, split_rngs={{'params': True}},")
        body.add(f"               length=self.depth)(self.width{given})(x)")

    def s_remat(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("remat")
        name = self.block(len(body.shape))
        body.add(f"x = {self.pick('nn.remat', 'nn.checkpoint')}({name})(self.width)(x)")

    def s_vmap(self, body: Body, fields: dict[str, int]) -> None:
        self.mark("vmap")
        name = self.block(len(body.shape))
        body.add(f"x = nn.vmap({name}, in_axes=None, out_axes=0, variable_axes={{'params': 0}},")
        body.add("            split_rngs={'params': True}, axis_size=2)(self.width)(x).sum(0)")

    # whole programs ------------------------------------------------------------------------------------------
    def compact(self, rank: int) -> tuple[str, str, tuple[str, ...]]:
        fields = {"width": self.size(), "hidden": self.size()}
        shape = ([2, 6, 6] if rank == 4 else [2, 5][: rank - 1]) + [self.size()]
        body = Body(list(shape))
        for _ in range(self.random.randint(2, 5)):
            self.step(body, fields)
        if rank == 4 and self.random.random() < 0.8:
            generator_images.flattened(self, body)
        if rank == 3 and self.random.random() < 0.4:
            body.add("x = x.mean(axis=1)")
        body.add("return x")
        base = "nn.Module"
        depth = self.random.randint(1, 3)
        flag = self.random.random() < 0.5
        lines = []
        own = [
            "  width: int",
            f"  hidden: int = {fields['hidden']}",
            f"  depth: int = {depth}",
            f"  flag: bool = {flag}",
        ]
        method = []
        if "method" in self.used:
            method = [
                "",
                "  def project(self, x):",
                f"    return {self.act()}(nn.Dense(self.hidden, name='projected')(x))",
            ]
            calls = sum("self.project(x)" in line for line in body.lines)
            if calls > 1 or any("self.project(x)" in line for line in body.lines[:-1]):
                # Several calls would clash by name, and later statements count on the size: automatic name, same size.
                method[2] = f"    return {self.act()}(nn.Dense(x.shape[-1])(x))"
        if self.random.random() < 0.25:
            self.mark("inheritance")
            lines += ["class Base(nn.Module):", *own, *method, "", ""]
            own, method, base = [], [], "Base"
        lines += [f"class Model({base}):", *own, *([""] if own else []), "  @nn.compact"]
        lines += ["  def __call__(self, x, train: bool = False):", *body.lines, *method]
        return "\n".join(lines) + "\n", f"width={fields['width']}", (",".join(map(str, shape)),)

    def setup(self, rank: int) -> tuple[str, str, tuple[str, ...]]:
        self.mark("setup")
        shape = [2, 5][: rank - 1] + [self.size()]
        prepare, call = [], []
        sizes = [self.size(), self.size()]
        parts = self.random.sample(("dense", "list", "dict", "param", "norm", "block", "field", "sequential"), 4)
        fields = ["  width: int", f"  depth: int = {self.random.randint(1, 3)}"]
        arguments = f"width={sizes[0]}"
        for part in parts:
            self.mark(f"setup {part}")
            if part == "dense":
                prepare.append(f"    self.dense = {self.dense('self.width')}")
                call.append(f"    x = {self.act()}(self.dense(x))")
            elif part == "list":
                prepare.append("    self.layers = [nn.Dense(self.width) for _ in range(self.depth)]")
                call += ["    for layer in self.layers:", f"      x = {self.act()}(layer(x))"]
            elif part == "dict":
                prepare.append(f"    self.heads = {{'a': nn.Dense(self.width), 'b': nn.Dense({sizes[0]})}}")
                call.append("    x = self.heads['a'](x) * self.heads['b'](x)")
            elif part == "param":
                prepare.append("    self.scale = self.param('scale', nn.initializers.ones, (self.width,))")
                call.append("    x = self.into(x) * self.scale")
                prepare.append("    self.into = nn.Dense(self.width)")
            elif part == "norm":
                prepare.append(f"    self.norm = {self.pick('nn.LayerNorm()', 'nn.BatchNorm(use_running_average=True)')}")
                call.append("    x = self.norm(x)")
            elif part == "block":
                name = self.block(rank)
                prepare.append(f"    self.block = {name}(self.width)")
                call.append("    x = self.block(x)")
            elif part == "field":
                fields.append(f"  act: Callable = {self.act()}")
                call.append("    x = self.act(x)")
            else:
                prepare.append(f"    self.seq = nn.Sequential([nn.Dense({sizes[1]}), {self.act()}])")
                call.append("    x = self.seq(x)")
        lines = ["class Model(nn.Module):", *fields, "", "  def setup(self):", *(prepare or ["    pass"]), ""]
        lines += ["  def __call__(self, x, train: bool = False):", *call, "    return x"]
        return "\n".join(lines) + "\n", arguments, (",".join(map(str, shape)),)


def program(seed: int, only: str = "") -> Program:
    """The program of a seed; `only` names the step that it tries, see `Writer`."""
    writer = Writer(seed, only)
    rank = writer.random.choice((2, 2, 3, 3, 4))
    if only in {s.__name__ for s in generator_images.STEPS}:
        rank = 4
    elif only in {s.__name__ for s in generator_lifted.SEQUENCE_STEPS}:
        rank = 3
    write = writer.setup if rank < 4 and not only and writer.random.random() < 0.2 else writer.compact
    model, arguments, inputs = write(rank)
    text = "\n\n".join([HEADER, *writer.functions, *writer.classes, model])
    return Program(seed, text, "Model", arguments, inputs, tuple(writer.used))
