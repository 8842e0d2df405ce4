"""flax.optim, which flax dropped for optax in 0.6."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Example, Rule

RULE = Rule(
    code="NNX606",
    name="flax-optim",
    summary="flax.optim is gone since flax 0.6: the optax optimizer of the same update is named",
    what="Leaves the code as it is, marks it and says which optax optimizer computes the same update.",
    why="flax.optim kept the parameters inside of the optimizer (`optimizer.target`), optax does not: every use "
    "changes, and weight decay and epsilon differ in places.",
    how_sure="diagnostic only",
    examples=(
        Example(
            title="Adam",
            before="""\
from flax import optim

optimizer_def = optim.Adam(learning_rate=1e-3, weight_decay=1e-4)
""",
            after=None,
        ),
        Example(
            title="momentum",
            before="""\
import flax

optimizer = flax.optim.Momentum(learning_rate=0.1, beta=0.9).create({})
""",
            after=None,
        ),
    ),
    words=frozenset({"optim"}),
)
# What computes the same update, with the differences of their defaults.
_OPTAX = {
    "Adam": "optax.adam(learning_rate, b1=beta1, b2=beta2, eps=eps), or optax.adamw where weight_decay is not 0",
    "GradientDescent": "optax.sgd(learning_rate)",
    "Momentum": "optax.sgd(learning_rate, momentum=beta, nesterov=nesterov), after optax.add_decayed_weights",
    "RMSProp": "optax.rmsprop(learning_rate, decay=beta2, eps=eps, centered=centered)",
    "Adagrad": "optax.adagrad(learning_rate, eps=eps), with its initial_accumulator_value=0",
    "Adadelta": "optax.adadelta(learning_rate, rho, eps, weight_decay)",
    "Adafactor": "optax.adafactor(learning_rate)",
    "LAMB": "optax.lamb(learning_rate, b1=beta1, b2=beta2, eps=eps, weight_decay=weight_decay)",
    "LARS": "optax.lars(learning_rate, weight_decay, trust_coefficient, eps, momentum=beta)",
    "RAdam": "optax.radam(learning_rate, b1=beta1, b2=beta2, eps=eps)",
    "AdaBelief": "optax.adabelief(learning_rate, b1=beta1, b2=beta2, eps=eps)",
    "MultiOptimizer": "optax.multi_transform(transforms, labels)",
    "ModelParamTraversal": "optax.masked(tx, mask), the mask being a tree of booleans by path",
    "DynamicScale": "flax.training.dynamic_scale.DynamicScale, which stayed",
    "OptimizerDef": "optax.GradientTransformation",
    "Optimizer": "nnx.Optimizer(model, tx, wrt=nnx.Param)",
}


@RULE.register(ast.Attribute, ast.Name)
def flax_optim(node: ast.AST, ctx: FileContext) -> None:
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        return
    parent = ctx.source.parents.get(node)
    if isinstance(parent, ast.Attribute) and (ctx.qualname(parent) or "").startswith("flax.optim"):
        return  # the longer name is reported
    name = ctx.qualname(node) or ""
    if not name.startswith("flax.optim."):
        return
    what = name.removeprefix("flax.optim.").split(".")
    known = next((part for part in what if part in _OPTAX), None)
    instead = _OPTAX[known] if known else "the optimizer of optax with the same update"
    ctx.report(
        node,
        RULE.code,
        f"flax.optim is gone: {known or what[0]} is {instead}",
        severity=Severity.WARNING,
        help="The parameters live in the model: optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param), and "
        "optimizer.update(model, grads) in place of optimizer.apply_gradient(grads).",
    )
