"""Linen's sharding functions, outside and inside of modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..catalog.shardings import MOVES, OF_TREES, PLAIN, Move
from ..context import FileContext
from ..diagnostics import Severity
from ..edits import Span
from ..linen.project.axis_rules import find_rules
from ..nnx.program.sharding import (
    boxes_beside_variables,
    boxes_remain,
    carries_own_boxes,
    is_alias,
    partitioning_call,
    stays_linen,
)
from ..rule import Example, Rule


def _said(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in names)


FUNCTIONS = Rule(
    code="NNX401",
    name="linen-sharding-function",
    summary="logical constraints, rules and spec trees go on with Linen's resolution",
    what="Rewrites with_logical_constraint, logical_to_mesh*, get_partition_spec, get_sharding and the rule contexts to"
    " flax.nnx where it means the same, else to a helper of the generated `linen_parity` module.",
    why="NNX looks logical names up in a dict: the last duplicate wins, a mesh axis may be taken twice and unknown"
    " names stay. Linen reads the rules in order, gives each mesh axis once and leaves unknown names unsharded. A"
    " constraint of Linen's does nothing without rules or a mesh; jax.lax.with_sharding_constraint raises there.",
    how_sure="bitwise: the helpers are compared with Linen over a table of rule sets",
    examples=(
        Example(
            title="constraints under rules",
            before="""\
import jax
import flax.linen as nn
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
rules = (('batch', 'data'), ('hidden', 'model'), ('length', 'data'))


@jax.jit
def f(x):
    return nn.with_logical_constraint(x, ('batch', 'length', 'hidden'))


with mesh, nn.logical_axis_rules(rules):
    y = f(np.ones((4, 4, 8)))
free = f.__wrapped__(np.ones((4, 4, 8)))
spec = nn.logical_to_mesh_axes(('length', 'batch', 'other'), rules)
""",
            after="""\
import jax
from flax import nnx
import numpy as np
from jax.sharding import Mesh
import linen_parity

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
rules = (('batch', 'data'), ('hidden', 'model'), ('length', 'data'))


@jax.jit
def f(x):
    return linen_parity.with_logical_constraint(x, ('batch', 'length', 'hidden'))


with jax.set_mesh(mesh), nnx.logical_axis_rules(rules):
    y = f(np.ones((4, 4, 8)))
free = f.__wrapped__(np.ones((4, 4, 8)))
spec = linen_parity.logical_to_mesh_axes(('length', 'batch', 'other'), rules)
""",
            run="""\
def check(before, after):
    P = after['jax'].sharding.PartitionSpec
    assert after['y'].sharding.spec == P('data', None, 'model'), after['y'].sharding
    assert after['spec'] == before['spec'] == P(None, 'data', None)
    assert isinstance(after['free'], after['np'].ndarray)
""",
        ),
    ),
    words=_said(MOVES),
)
INITIALIZERS = Rule(
    code="NNX402",
    name="linen-partitioned-initializer",
    summary="a partitioned initializer shards its variable where a mesh is in force",
    what="Rewrites nn.with_partitioning and nn.with_logical_partitioning. Logical names are resolved to mesh axes where"
    " the project states one literal set of rules and nothing reads the logical names, else they are kept and resolved"
    " when the variable is made.",
    why="nnx.with_partitioning shards a variable when it is made and raises where no mesh is in force; Linen only boxed"
    " the names. It also resolves logical names unlike Linen. Rules that are passed around need none of this where they"
    " are an object that maps names when it is called, as in the last example, and names become mesh axes at once:"
    " `nnx.with_partitioning(init, rules('embed', 'mlp'))`. Linen's rules in such an object are the first mesh axis that"
    " each name has; an array that would get one mesh axis twice is an error then, where Linen leaves the second one out.",
    how_sure="bitwise for the specs: compared with Linen's on several meshes",
    examples=(
        Example(
            title="rules that are known",
            before="""\
import flax.linen as nn

RULES = (('embed', None), ('mlp', 'model'), ('heads', 'model'))
init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ('heads', 'mlp'))
plain = nn.with_partitioning(nn.initializers.zeros, (None, 'model'))
""",
            after="""\
from flax import nnx
import linen_parity

RULES = (('embed', None), ('mlp', 'model'), ('heads', 'model'))
init = linen_parity.with_partitioning(nnx.initializers.lecun_normal(), (None, 'model'))
plain = linen_parity.with_partitioning(nnx.initializers.zeros, (None, 'model'))
""",
            run="""\
def check(before, after):
    import jax
    value = after['init'](jax.random.key(0), (4, 8))
    nnx = after['nnx']
    assert nnx.Param(value).out_sharding == (None, 'model')
    boxed = before['init'](jax.random.key(0), (4, 8))
    import flax.linen as nn
    assert nn.logical_to_mesh_axes(boxed.names, before['RULES']) == jax.P(None, 'model')
    assert (boxed.value == nnx.Param(value)[...]).all()
""",
        ),
        Example(
            title="rules that are not",
            before="""\
import flax.linen as nn


def make(config, rngs, shape):
    init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ('embed', 'mlp'), rules=config.rules)
    return init(rngs, shape)
""",
            after="""\
from flax import nnx
import linen_parity


def make(config, rngs, shape):
    init = linen_parity.with_logical_partitioning(
        nnx.initializers.lecun_normal(), ('embed', 'mlp'), rules=config.rules
    )
    return init(rngs, shape)
""",
            run="""\
def check(before, after):
    import jax, types
    config = types.SimpleNamespace(rules=(('mlp', 'model'),))
    value = after['nnx'].Param(after['make'](config, jax.random.key(0), (2, 4)))
    assert value.out_sharding == ('embed', 'mlp') and value.get_metadata('sharding_rules') == config.rules
""",
        ),
        Example(
            title="rules that map names when they are called",
            before="""\
import dataclasses
import flax.linen as nn


@dataclasses.dataclass(frozen=True)
class MeshRules:
    embed: str | None = None
    mlp: str | None = None

    def __call__(self, *names):
        return tuple(getattr(self, name) if name else None for name in names)


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 8
    rules: MeshRules = MeshRules(mlp='model')


class MLP(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        rules, init = self.config.rules, nn.initializers.ones
        x = nn.Dense(self.config.width, kernel_init=nn.with_partitioning(init, rules('embed', 'mlp')))(x)
        return nn.Dense(4, kernel_init=nn.with_partitioning(init, rules('mlp', 'embed')))(x)
""",
            after="""\
import dataclasses
from flax import nnx
import linen_parity


@dataclasses.dataclass(frozen=True)
class MeshRules:
    embed: str | None = None
    mlp: str | None = None

    def __call__(self, *names):
        return tuple(getattr(self, name) if name else None for name in names)


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 8
    rules: MeshRules = MeshRules(mlp='model')


class MLP(nnx.Module):
    def __init__(self, config: Config, *, in_features: int, rngs: nnx.Rngs):
        rules, init = config.rules, nnx.initializers.ones
        self.Dense_0 = nnx.Linear(
            in_features,
            config.width,
            kernel_init=linen_parity.with_partitioning(init, rules('embed', 'mlp')),
            rngs=rngs,
        )
        self.Dense_1 = nnx.Linear(
            config.width,
            4,
            kernel_init=linen_parity.with_partitioning(init, rules('mlp', 'embed')),
            rngs=rngs,
        )

    def __call__(self, x):
        x = self.Dense_0(x)
        return self.Dense_1(x)
""",
            run="""\
def check(before, after):
    import jax
    import jax.numpy as jnp
    x = jnp.ones((2, 4))
    boxed = before['MLP'](before['Config']()).init(jax.random.key(0), x)['params']
    with after['nnx'].use_eager_sharding(False):
        model = after['MLP'](after['Config'](), in_features=4, rngs=after['nnx'].Rngs(0))
    assert boxed['Dense_0']['kernel'].names == model.Dense_0.kernel.out_sharding == (None, 'model')
    assert boxed['Dense_1']['kernel'].names == model.Dense_1.kernel.out_sharding == ('model', None)
""",
        ),
    ),
    words=frozenset({"with_partitioning", "with_logical_partitioning"}),
)
RULES = (FUNCTIONS, INITIALIZERS)
_PARTITIONED = ("flax.linen.with_partitioning", "flax.linen.with_logical_partitioning")
_WAY_OUT = (
    "NNX's own way: rules in an object that maps names when it is called, with_partitioning(init, rules('embed', 'mlp')); "
    "`nnx-migrate explain NNX402` has an example."
)


@FUNCTIONS.register(ast.Name, ast.Attribute, ends=_said(MOVES))
def function(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    name = ctx.qualname(node) or ""
    move = MOVES.get(name)
    if move is None or stays_linen(ctx, node) or (name in OF_TREES and boxes_remain(ctx)):
        return
    if is_alias(ctx, node):
        _rename_keywords(node, move, ctx)
        return
    parent = ctx.source.parents.get(node)
    logical = ctx.project is not None and ctx.project.uses_logical_names
    if name in PLAIN and isinstance(parent, ast.Call) and parent.func is node:
        # Linen's specs stand bare where its boxes stood, those of NNX within variables.
        if not logical and not boxes_beside_variables(ctx) and not carries_own_boxes(ctx):
            rest = Span(ctx.span(node).end, ctx.span(parent).end)
            ctx.replace(parent, f"{ctx.name('flax.nnx.as_pure')}({ctx.name(PLAIN[name])}", rest, ")", code=FUNCTIONS.code)
            return
    target = move.target
    text = ctx.parity(target.partition(".")[2]) if target.startswith("linen_parity.") else ctx.name(target)
    if not ctx.replace(node, text, code=FUNCTIONS.code):
        return
    _rename_keywords(node, move, ctx)


def _rename_keywords(node: ast.AST, move: Move, ctx: FileContext) -> None:
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        for keyword in parent.keywords:
            new = move.keywords.get(keyword.arg or "")
            if new:
                start = ctx.source.offset(keyword.lineno, keyword.col_offset)
                ctx.replace(Span(start, start + len(keyword.arg or "")), new, code=FUNCTIONS.code)


@INITIALIZERS.register(ast.Name, ast.Attribute, ends=frozenset({"with_partitioning", "with_logical_partitioning"}))
def handed_on(node: ast.AST, ctx: FileContext) -> None:
    """The function itself as a value: `partition = nn.with_partitioning if config.sharded else lambda init, names: init`."""
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load) or is_alias(ctx, node):
        return
    name = ctx.qualname(node) or ""
    parent = ctx.source.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    if name not in _PARTITIONED or called or isinstance(parent, ast.Attribute):
        return
    if not stays_linen(ctx, node) and not boxes_remain(ctx):
        ctx.replace(node, ctx.parity(name.rpartition(".")[2]), code=INITIALIZERS.code)


@INITIALIZERS.register(ast.Call, ends=frozenset({"with_partitioning", "with_logical_partitioning"}))
def initializer(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func) or ""
    if name not in _PARTITIONED:
        return
    if stays_linen(ctx, node) or boxes_remain(ctx):
        return
    parts = partitioning_call(ctx, node)
    if parts is None:
        ctx.report(
            node,
            INITIALIZERS.code,
            "the arguments of the partitioned initializer are not visible here",
            severity=Severity.WARNING,
            help="Call linen_parity.with_partitioning(init, names) or with_logical_partitioning(init, names).",
        )
        return
    ctx.replace(node, *parts, code=INITIALIZERS.code)
    if name.endswith("with_logical_partitioning") and ctx.project is not None:
        reason = find_rules(ctx.project).reason
        if reason:
            ctx.report(
                node,
                INITIALIZERS.code,
                f"logical names are resolved when the variable is made, under the rules: {reason}",
                help=_WAY_OUT,
            )
