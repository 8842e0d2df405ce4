"""nnx.Optimizer of early NNX, which held the model."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator

from ..context import FileContext
from ..edits import Part, Span
from ..nnx.program.arguments import argument_span
from ..nnx.program.early import Types
from ..rule import Example, Rule
from ..source import SourceFile
from ..trees import subtree

RULE = Rule(
    code="NNX902",
    name="nnx-optimizer",
    summary="nnx.Optimizer takes wrt=, and its update takes the model",
    what="`nnx.Optimizer(model, tx)` → with `wrt=nnx.Param`; `optimizer.update(grads)` → `update(model, grads)`, the"
    " model being what the gradients were taken of. Where an update does not show its model, the constructor becomes"
    " `nnx.ModelAndOptimizer`, which still holds it.",
    why="Since flax 0.11 the optimizer does not hold the model and `wrt` must be given; nnx.Param was its default.",
    how_sure="by construction",
    examples=(
        Example(
            title="a training step",
            before="""\
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(grads)
    return loss


first = train_step(model, optimizer, jnp.ones((4, 2)), jnp.zeros((4, 1)))
second = train_step(model, optimizer, jnp.ones((4, 2)), jnp.zeros((4, 1)))
""",
            after="""\
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


first = train_step(model, optimizer, jnp.ones((4, 2)), jnp.zeros((4, 1)))
second = train_step(model, optimizer, jnp.ones((4, 2)), jnp.zeros((4, 1)))
""",
            run="def check(before, after):\n    assert after['second'] < after['first']\n",
        ),
        Example(
            title="an update that does not show its model",
            before="""\
import jax
import jax.numpy as jnp
import optax
from flax import nnx


def apply(opt: nnx.Optimizer, grads):
    opt.update(grads)


opt = nnx.Optimizer(nnx.Linear(2, 1, rngs=nnx.Rngs(0)), optax.sgd(0.1))
apply(opt, jax.tree.map(jnp.ones_like, nnx.state(opt.model, nnx.Param)))
""",
            after="""\
import jax
import jax.numpy as jnp
import optax
from flax import nnx


def apply(opt: nnx.ModelAndOptimizer, grads):
    opt.update(grads)


opt = nnx.ModelAndOptimizer(nnx.Linear(2, 1, rngs=nnx.Rngs(0)), optax.sgd(0.1), wrt=nnx.Param)
apply(opt, jax.tree.map(jnp.ones_like, nnx.state(opt.model, nnx.Param)))
""",
            run="def check(before, after):\n    assert after['opt'].step.get_value() == 1\n",
        ),
    ),
)
_GRADS = frozenset({"flax.nnx.grad", "flax.nnx.value_and_grad"})
_modern: weakref.WeakKeyDictionary[object, bool] = weakref.WeakKeyDictionary()


@RULE.register(ast.Call, ends=frozenset({"Optimizer"}))
def constructor(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if ctx.qualname(node.func) != "flax.nnx.Optimizer" or any(isinstance(a, ast.Starred) for a in node.args):
        return
    named = [k.arg for k in node.keywords]
    if None in named or len(node.args) + len({"model", "tx"} & set(named)) != 2:
        return
    given = any(k.arg == "wrt" for k in node.keywords)
    if not shows_models(ctx):
        ctx.replace(node.func, ctx.name("flax.nnx.ModelAndOptimizer"), code=RULE.code)
        ctx.report(
            node,
            RULE.code,
            "an update or a use of optimizer.model does not show the model: nnx.ModelAndOptimizer holds it",
            help="Pass the model to update(model, grads) and use nnx.Optimizer.",
        )
    if not given:
        last = [*node.args, *[k.value for k in node.keywords]][-1]
        ctx.insert(argument_span(ctx, node, last).end, f", wrt={ctx.name('flax.nnx.Param')}", code=RULE.code)


@RULE.register(ast.Attribute, ast.Name, ends=frozenset({"Optimizer"}))
def annotation(node: ast.AST, ctx: FileContext) -> None:
    """A parameter that is annotated as an Optimizer is what the constructor has become."""
    assert isinstance(node, ast.Attribute | ast.Name)
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.arg) and ctx.qualname(node) == "flax.nnx.Optimizer" and not shows_models(ctx):
        ctx.replace(node, ctx.name("flax.nnx.ModelAndOptimizer"), code=RULE.code)


@RULE.register(ast.Call, ends=frozenset({"update"}))
def update(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if not _is_update(node, ctx):
        return
    model = model_of(node, ctx) if shows_models(ctx) else None
    said = f"{ctx.text(model)}, " if model is not None else ""
    named = next((k for k in node.keywords if k.arg == "grads"), None)
    if named is not None:  # gradients are positional today
        if node.keywords[0] is named:
            ctx.replace(Span(ctx.span(named).start, argument_span(ctx, node, named.value).start), said, code=RULE.code)
        else:
            ctx.replace(
                node, ctx.span(node.func), "(", said, ctx.span(named.value), *_behind(node, named, ctx), ")", code=RULE.code
            )
    elif said:
        ctx.insert(argument_span(ctx, node, node.args[0]).start, said, code=RULE.code)


def _behind(node: ast.Call, named: ast.keyword, ctx: FileContext) -> list[Part]:
    """The other keywords of a call, each with a comma before it."""
    return [part for other in node.keywords if other is not named for part in (", ", ctx.span(other))]


def gradients_of(node: ast.Call) -> ast.expr | None:
    """What `update(grads)` and `update(grads=grads)` are given; None where more or else is given by position."""
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        return node.args[0]
    named = next((k.value for k in node.keywords if k.arg == "grads"), None)
    return named if not node.args and all(k.arg for k in node.keywords) else None


def _is_update(node: ast.Call, ctx: FileContext) -> bool:
    """`optimizer.update(grads)`: gradients alone by position or name, on something known to be an nnx.Optimizer."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "update" or gradients_of(node) is None:
        return False
    kind = Types.of(ctx).kind(func.value)
    known = kind.what == "optimizer" if kind is not None else _takes_gradients(node, ctx)
    return known and not _holds_model(func.value, ctx)


def _takes_gradients(node: ast.Call, ctx: FileContext) -> bool:
    """Is something unknown updated by what nnx.grad gave? An optimizer is, where no class here has an update of its own."""
    if "nnx" not in ctx.source.words or model_of(node, ctx) is None:
        return False
    functions = (f for source in _sources(ctx) for f in source.by_kind.get(ast.FunctionDef, ()))
    return not any(isinstance(f, ast.FunctionDef) and f.name == "update" for f in functions)


def _holds_model(node: ast.expr, ctx: FileContext) -> bool:
    """Is it a ModelAndOptimizer? Its update takes gradients alone, today too."""
    return any("ModelAndOptimizer" in source.text for source in _sources(ctx)) and isinstance(node, ast.expr)


def model_of(node: ast.Call, ctx: FileContext) -> ast.expr | None:
    """What the gradients of an update were taken of: the first argument of the grad call that they come from."""
    grads = gradients_of(node)
    if isinstance(grads, ast.Call):
        return _grad_argument(grads, ctx, node)
    if not isinstance(grads, ast.Name):
        return None
    scope = next(
        (p for p in ctx.source.ancestors(node) if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)),
        None,
    )
    for stmt in subtree(scope) if scope is not None else ():
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call):
            if any(grads.id in _last_names(target) for target in stmt.targets):
                found = _grad_argument(stmt.value, ctx, node)
                if found is not None:
                    return found
    return None


def _last_names(target: ast.expr) -> list[str]:
    """`grads` and `(..., grads)`."""
    if isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[-1]
    return [target.id] if isinstance(target, ast.Name) else []


def _grad_argument(call: ast.Call, ctx: FileContext, update: ast.Call) -> ast.expr | None:
    made: ast.expr | None = call.func
    if isinstance(made, ast.Name):
        made = next(_values(made, ctx), None)
    if not isinstance(made, ast.Call) or ctx.qualname(made.func) not in _GRADS or not call.args:
        return None
    argnums = next((k.value for k in made.keywords if k.arg == "argnums"), None)
    if isinstance(argnums, ast.Call) and ctx.qualname(argnums.func) == "flax.nnx.DiffState" and argnums.args:
        argnums = argnums.args[0]
    if argnums is not None and not (isinstance(argnums, ast.Constant) and argnums.value == 0):
        return None
    model = call.args[0]
    return model if isinstance(model, ast.Name | ast.Attribute) else None


def _values(name: ast.Name, ctx: FileContext) -> Iterator[ast.expr]:
    for parent in ctx.source.ancestors(name):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            for stmt in subtree(parent):
                if isinstance(stmt, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in stmt.targets):
                    yield stmt.value


def _sources(ctx: FileContext) -> list[SourceFile]:
    return list(ctx.project.files.values()) if ctx.project is not None else [ctx.source]


def shows_models(ctx: FileContext) -> bool:
    """Can every update of the project be given its model, and does nothing read `optimizer.model`?"""
    key: object = ctx.project if ctx.project is not None else ctx
    if key not in _modern:
        _modern[key] = all(_file_shows(ctx, source) for source in _sources(ctx))
    return _modern[key]


def _file_shows(ctx: FileContext, source: SourceFile) -> bool:
    if "nnx" not in source.text:
        return True
    other = ctx if source is ctx.source else FileContext(source, ctx.plan, ctx.options, ctx.project)
    types = Types.of(other)
    for node in subtree(source.tree):
        if isinstance(node, ast.Call) and _is_update(node, other) and model_of(node, other) is None:
            return False
        if isinstance(node, ast.Attribute) and node.attr == "model":
            kind = types.kind(node.value)
            if kind is not None and kind.what == "optimizer":
                return False
    return True
