"""What the layer catalog cannot carry over, and what it assumes."""

from __future__ import annotations

import ast

from ..catalog.layers import lookup, params
from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule
from ..trees import subtree
from .linen_functions import stays_linen
from .patched_linen import sets_linen

PARTIAL = Rule(
    code="NNX202",
    name="partial-of-two-kinds",
    summary="one functools.partial would become two different NNX classes",
    what=(
        "A `functools.partial(nn.LayerNorm, ...)` is one object, but what its calls add (several feature axes, say) "
        "would make it an NNX class here and a class of `linen_parity` there. The class that holds it is bridged."
    ),
    why="The catalog chooses the NNX class by the arguments, and a partial fixes the class before all are known.",
    how_sure="diagnostic only",
)

UNSUPPORTED = Rule(
    code="NNX203",
    name="layer-without-counterpart",
    summary="this layer, or this configuration of it, has no form in NNX",
    what=(
        "Fp8 operations, attention with einsum classes of its own, nn.Einsum with a computed equation, nn.RNN that "
        "lifts further collections or repeats random numbers over time. The class that holds the layer stays Linen; "
        "native classes that contain it wrap it, where its inputs are known (NNX150)."
    ),
    why="flax.nnx has no such layer or option, and an approximation would change results silently.",
    how_sure="diagnostic only",
)

TABULATE = Rule(
    code="NNX204",
    name="linen-tabulate",
    summary="nn.tabulate(model, rngs)(x) becomes nnx.tabulate(model, x)",
    what=(
        "`nn.tabulate` takes an unbound module and keys and gives a function of the inputs; `nnx.tabulate` takes the "
        "model, which holds its parameters, and the inputs. `rngs` and `mutable` go; depth and the table options stay; "
        "`show_repeated` has no counterpart."
    ),
    why="NNX modules are initialised when they are constructed.",
    how_sure="by construction; the table's layout is NNX's",
    examples=(
        Example(
            title="table of a model",
            before="""\
import flax.linen as nn
import jax
import jax.numpy as jnp


def show(model):
    print(nn.tabulate(model, jax.random.key(0), depth=2, compute_flops=True)(jnp.ones((1, 8)), train=False))
""",
            after="""\
from flax import nnx
import jax.numpy as jnp


def show(model):
    print(nnx.tabulate(model, jnp.ones((1, 8)), train=False, depth=2, compute_flops=True))
""",
        ),
    ),
    words=frozenset({"linen"}),
)

GETATTR = Rule(
    code="NNX205",
    name="computed-linen-name",
    summary="getattr(nn, name) becomes getattr(nnx, name), which knows the same functions but other layers",
    what=(
        "Activation functions and pooling have the same names in flax.nnx, so a name from a config keeps its meaning. "
        "Two do not: `normalize` (now `standardize`), and layers, whose constructors need sizes and rngs."
    ),
    why="What the name will be is known only when the program runs; an unknown one raises AttributeError.",
    how_sure="assumed: the name is that of a function",
    examples=(
        Example(
            title="activation by name",
            before="""\
import flax.linen as nn


def activation(name):
    return getattr(nn, name)
""",
            after="""\
from flax import nnx


def activation(name):
    return getattr(nnx, name)
""",
            run="""\
def check(before, after):
    assert before['activation']('gelu') is after['activation']('gelu')
""",
        ),
    ),
    words=frozenset({"linen"}),
)

CARRY = Rule(
    code="NNX206",
    name="random-carry",
    summary="a cell with a random initial carry draws a new one at every call",
    what=(
        "Linen's nn.RNN draws the initial carry from `init_key`, and from the same fixed key where none is given, so "
        "with a random `carry_init` every call starts from the same carry. nnx.RNN draws from its stream `carry`, "
        "which advances. Pass `initial_carry` for the old behaviour. With the default, zeros, nothing changes."
    ),
    why="NNX modules hold streams of random numbers, which advance with every draw.",
    how_sure="diagnostic only",
)

CACHE = Rule(
    code="NNX207",
    name="decoding-cache",
    summary="a decoding model makes its cache at the first call, which must have the full length",
    what=(
        "Linen made the cache in `model.init(key, inputs_of_full_length)`. An NNX model is constructed without inputs, "
        "so `linen_parity.MultiHeadAttention` makes the cache at its first call with `decode=True`: call the model "
        "once with inputs of full length, as `init` was, then token by token. The first call attends to all positions "
        "and leaves the cache empty, as Linen's does. So do classes that keep a cache of their own, and those that make "
        "another variable only where `has_variable` says that it is not there, or from what the call alone knows."
    ),
    why="The cache's shape (batch, length, heads, depth) follows from inputs.",
    how_sure="bitwise, caches included; diagnostic for the call that must come first",
)

WIDTH = Rule(
    code="NNX208",
    name="width-of-a-carry",
    summary="a cell whose carry's width the code does not show is made as wide as its features",
    what=(
        "The layers of Linen's cells are as wide as the carry that they are given; `features` is for `initialize_carry`. "
        "Where the code shows the carry's width, NNX's cell is made with it. Where the carry is an argument to which a "
        "module gives another width, the constructor asks for that (`carry_features`). Where no code shows the width, it "
        "is taken to be `features`. Another one does not fit the weights: loading fails, or the first call."
    ),
    why="NNX's cells are made before they are given a carry.",
    how_sure="the same numbers where the width is shown; diagnostic where it is assumed",
)

RULES = (PARTIAL, UNSUPPORTED, TABULATE, GETATTR, CARRY, CACHE, WIDTH)

_TABULATE_LINEN = params(
    "module, rngs, depth=None, show_repeated=False, mutable=DenyList('intermediates'), console_kwargs=None,"
    "table_kwargs={}, column_kwargs={}, compute_flops=False, compute_vjp_flops=False"
)
_TABULATE_KEPT = ("depth", "console_kwargs", "table_kwargs", "column_kwargs", "compute_flops", "compute_vjp_flops")


@TABULATE.register(ast.Call)
def tabulate(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if not isinstance(node.func, ast.Call) or ctx.qualname(node.func.func) != "flax.linen.tabulate":
        return
    made = node.func
    unpacked = [a for a in [*made.args, *node.args] if isinstance(a, ast.Starred)]
    if unpacked or any(k.arg is None for k in made.keywords) or stays_linen(node, ctx):
        ctx.report(
            node,
            TABULATE.code,
            "this call of nn.tabulate unpacks its arguments; nnx.tabulate takes (model, *inputs)",
            severity=Severity.WARNING,
        )
        return
    places = [p.name for p in _TABULATE_LINEN]
    given: dict[str, ast.expr] = dict(zip(places, made.args))
    given.update({k.arg: k.value for k in made.keywords if k.arg})
    if "module" not in given:
        return
    parts: list[str | ast.AST] = [ctx.name("flax.nnx.tabulate"), "(", given["module"]]
    for arg in node.args:
        parts += [", ", arg]
    for keyword in node.keywords:
        parts += [f", {keyword.arg}=" if keyword.arg else ", **", keyword.value]
    for name in _TABULATE_KEPT:
        if name in given:
            parts += [f", {name}=", given[name]]
    ctx.replace(node, *parts, ")", code=TABULATE.code)


@GETATTR.register(ast.Call, ends=frozenset({"getattr", "hasattr"}))
def computed_name(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    is_getattr = isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr") and len(node.args) >= 2
    if not is_getattr or ctx.qualname(node.args[0]) != "flax.linen" or stays_linen(node, ctx):
        return
    around = [n for n in ctx.source.ancestors(node) if isinstance(n, ast.FunctionDef)]
    if around and any(sets_linen(inner, ctx) for inner in subtree(around[-1])):
        return  # it keeps what is there, to put it back
    name = node.args[1]
    if isinstance(name, ast.Constant) and isinstance(name.value, str) and lookup(f"flax.linen.{name.value}"):
        return  # a layer by a constant name is for the module writer
    ctx.replace(node.args[0], ctx.name("flax.nnx"), code=GETATTR.code)
    ctx.report(
        node,
        GETATTR.code,
        f"{ctx.text(node)} is taken to mean a function: layers have other names and arguments in flax.nnx",
        help="Functions keep their names, `normalize` apart (now `standardize`).",
    )
