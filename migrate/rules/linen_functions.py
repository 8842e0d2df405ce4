"""flax.linen's functions, initializers and types by their NNX names."""

from __future__ import annotations

import ast

from ..catalog.functions import MODULES, class_name, function
from ..context import FileContext
from ..plan import Outcome, Plan
from ..rule import Example, Rule

RULE = Rule(
    code="NNX201",
    name="linen-function",
    summary="nn.relu, nn.initializers, pooling, masks and types get their nnx names",
    what=(
        "Rewrites uses of flax.linen's activation functions, initializers, pooling, attention masks, dtype helpers and "
        "types to the same objects in flax.nnx. `nn.dot_product_attention`, `nn.merge_param` and `promote_dtype`, "
        "which NNX lacks or computes otherwise, come from the generated `linen_parity`. In annotations and in "
        "isinstance, layer classes too."
    ),
    why=(
        "Migrated code should not import flax.linen. NNX's dot_product_attention takes another kernel where there is "
        "no dropout and ignores `precision`, so its results differ in the last bits."
    ),
    how_sure="by construction: the very same function objects; attention and dtype helpers bitwise",
    examples=(
        Example(
            title="activations and pooling",
            before="""\
import flax.linen as nn


def features(x):
    x = nn.gelu(x, approximate=False)
    return nn.max_pool(nn.relu(x), (2, 2), strides=(2, 2))
""",
            after="""\
from flax import nnx


def features(x):
    x = nnx.gelu(x, approximate=False)
    return nnx.max_pool(nnx.relu(x), (2, 2), strides=(2, 2))
""",
            run="""\
def check(before, after):
    import jax.numpy as jnp
    x = jnp.linspace(-2, 2, 32).reshape(1, 4, 4, 2)
    assert (before['features'](x) == after['features'](x)).all()
""",
        ),
        Example(
            title="initializers under several names",
            before="""\
from flax import linen as nn
from flax.linen import initializers
from flax.linen.initializers import zeros_init

default = nn.initializers.lecun_normal()
small = initializers.normal(stddev=0.02)
zeros = zeros_init()
ones = nn.ones_init()
act = {"relu": nn.relu, "swish": nn.activation.swish, "norm": nn.normalize}
init = nn.initializers
small_too = init.normal(stddev=0.02)
""",
            after="""\
from flax import nnx

default = nnx.initializers.lecun_normal()
small = nnx.initializers.normal(stddev=0.02)
zeros = nnx.initializers.zeros_init()
ones = nnx.initializers.ones_init()
act = {"relu": nnx.relu, "swish": nnx.swish, "norm": nnx.standardize}
init = nnx.initializers
small_too = init.normal(stddev=0.02)
""",
            run="""\
def check(before, after):
    import jax
    key = jax.random.key(0)
    for name in ('default', 'small', 'zeros', 'ones', 'small_too'):
        assert (before[name](key, (3, 2)) == after[name](key, (3, 2))).all()
    assert before['act'] == after['act']
""",
        ),
        Example(
            title="types",
            before="""\
import flax.linen as nn
from flax.linen.linear import Dtype


def count(module: nn.Module, layers: list[nn.Dense], dtype: Dtype = None) -> int:
    return len(layers)
""",
            after="""\
import flax
from flax import nnx


def count(module: nnx.Module, layers: list[nnx.Linear], dtype: flax.typing.Dtype = None) -> int:
    return len(layers)
""",
        ),
        Example(
            title="attention as Linen computes it",
            before="""\
import flax.linen as nn


def attend(q, k, v):
    mask = nn.make_causal_mask(q[..., 0, 0])
    return nn.dot_product_attention(q, k, v, mask=mask)
""",
            after="""\
from flax import nnx
import linen_parity


def attend(q, k, v):
    mask = nnx.make_causal_mask(q[..., 0, 0])
    return linen_parity.dot_product_attention(q, k, v, mask=mask)
""",
        ),
    ),
    words=frozenset({"linen"}),
)


@RULE.register(ast.Module)
def visit(node: ast.AST, ctx: FileContext) -> None:
    roots = linen_roots(ctx)
    if not roots:
        return
    for found in ctx.source.by_kind.get(ast.Name, ()):
        assert isinstance(found, ast.Name)
        if found.id in roots and isinstance(found.ctx, ast.Load):
            # The innermost name and every attribute around it: `nn`, `nn.initializers`, `nn.initializers.normal`.
            chain: ast.AST | None = found
            while isinstance(chain, ast.Name | ast.Attribute):
                if not ctx.suppressions.covers(chain, RULE.code):
                    rewrite(chain, ctx)
                parent = ctx.source.parents.get(chain)
                chain = parent if isinstance(parent, ast.Attribute) else None


_reexports: tuple[Plan, frozenset[str]] | None = None


def linen_roots(ctx: FileContext) -> frozenset[str]:
    """Imported names that may lead to flax.linen, perhaps by a module of the project that re-exports it.

    An alias (`act = nn.relu`) is rewritten where it is made, and its uses stay.
    """
    global _reexports
    if _reexports is None or _reexports[0] is not ctx.plan:
        leading: set[str] = set()  # modules that re-export something of flax, and the packages that they are in
        for holder in {key.rpartition(".")[0] for key, to in ctx.plan.aliases.items() if to.startswith("flax")}:
            while holder and holder not in leading:
                leading.add(holder)
                holder = holder.rpartition(".")[0]
        _reexports = (ctx.plan, frozenset(leading))
    modules = _reexports[1]
    names = ctx.source.names
    found = set()
    for local, target in names.imports.items():
        meant = ctx.plan.canonical(target)
        if meant.startswith("flax") or meant in modules:
            found.add(local)
    return frozenset(found - names.single_assignments.keys())


def rewrite(node: ast.AST, ctx: FileContext) -> None:
    name = ctx.qualname(node)
    if name is None or not name.startswith("flax.linen."):
        return
    parent = ctx.source.parents.get(node)
    target = function(name)
    if target is None and name in MODULES and not isinstance(parent, ast.Attribute):
        target = MODULES[name]
    mention = target is None and is_class_mention(node, ctx)
    if mention:
        target = class_name(name)
    if target is None or stays_linen(node, ctx):
        return
    text = ctx.parity(target.partition(".")[2]) if target.startswith("linen_parity.") else ctx.name(target)
    if mention and ctx.source.is_class_asked(node) and _may_meet_linen_modules(node, ctx):
        # Modules of both kinds may be asked: those of a class that stays Linen, too.
        if isinstance(parent, ast.BinOp) and text in (ctx.text(parent.left), ctx.text(parent.right)):
            return  # an earlier run has said both
        if isinstance(parent, ast.Call | ast.Tuple | ast.BinOp | ast.IfExp):
            text = f"{ctx.text(node)} | {text}"
    ctx.replace(node, text, code=RULE.code)


def _may_meet_linen_modules(node: ast.AST, ctx: FileContext) -> bool:
    """Does a class of the project stay Linen, whose layers code outside of the native classes is given (by filters)?"""
    classes = (parent for parent in ctx.source.ancestors(node) if isinstance(parent, ast.ClassDef))
    if any(ctx.classes.get(parent.lineno) is not None for parent in classes):
        return False  # the layers of a native class are native
    return any(plan.outcome is not Outcome.NATIVE for plan in ctx.plan.reported())


def is_class_mention(node: ast.AST, ctx: FileContext) -> bool:
    """Does the name stand in an annotation, or as the second argument of isinstance or issubclass?"""
    inner = node
    for parent in ctx.source.ancestors(node):
        if isinstance(parent, ast.arg | ast.AnnAssign):
            return inner is parent.annotation
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            return inner is parent.returns
        if inner is parent.__dict__.get("annotation"):  # of an attribute of setup: see `annotated_attributes`
            return True
        if isinstance(parent, ast.Call | ast.stmt | ast.Lambda):
            break
        inner = parent
    return ctx.source.is_class_asked(node)


def stays_linen(node: ast.AST, ctx: FileContext) -> bool:
    """Does the node stand in a class that stays a Linen module?"""
    for parent in ctx.source.ancestors(node):
        if not isinstance(parent, ast.ClassDef):
            continue
        plan = ctx.classes.get(parent.lineno)
        if plan is not None:
            return plan.outcome is not Outcome.NATIVE
        if ctx.project is not None and parent in ctx.project.linen_names:
            return True
    return False
