"""NNX701: checkpoint functions of flax.training in migrated programs."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule

RULE = Rule(
    code="NNX701",
    name="flax-checkpoints",
    summary="flax.training.checkpoints stays: it saves and restores the state under the keys that it had",
    what="Leaves `save_checkpoint` and `restore_checkpoint`, with the loop around them in its functional form.",
    why="The state keeps the tree and the keys that it had under Linen, so the program restores its old and its "
    "new checkpoints alike. Flax keeps these functions for old programs; new ones use orbax.checkpoint.",
    how_sure="by construction: the tree is the same",
    examples=(
        Example(
            title="saving",
            before="""\
from flax.training import checkpoints


def save(state, step):
    checkpoints.save_checkpoint('/tmp/run', state, step)
""",
            after=None,
        ),
    ),
    words=frozenset({"checkpoints"}),
)


@RULE.register(ast.Call)
def flax_checkpoints(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    name = ctx.qualname(node.func) or ""
    if name.startswith("flax.training.checkpoints."):
        ctx.report(
            node,
            RULE.code,
            f"{name.rpartition('.')[2]} is kept: the state has the keys that it had, and old checkpoints restore",
            help="To load an old checkpoint into a model and nnx.Optimizer, use nnx_migrate.compat.restore; to save "
            "them with Orbax, ocp.StandardCheckpointer().save(path, nnx.state((model, optimizer))).",
        )
