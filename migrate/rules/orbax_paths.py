"""Relative checkpoint paths, which Orbax refuses today."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule

RULE = Rule(
    code="NNX906",
    name="orbax-relative-path",
    summary="a literal checkpoint path is made absolute",
    what="Wraps a relative string literal that is given to orbax.checkpoint as a path in `os.path.abspath`.",
    why="Orbax took relative paths once; today saving to one raises 'Checkpoint path should be absolute'.",
    how_sure="by construction: the same folder",
    examples=(
        Example(
            title="a folder for checkpoints",
            before="""\
import orbax.checkpoint as ocp

path = ocp.test_utils.erase_and_create_empty('./ckpt/')
checkpointer = ocp.StandardCheckpointer()


def save(state):
    checkpointer.save('ckpt/one', state)
""",
            after="""\
import os
import orbax.checkpoint as ocp

path = ocp.test_utils.erase_and_create_empty(os.path.abspath('./ckpt/'))
checkpointer = ocp.StandardCheckpointer()


def save(state):
    checkpointer.save(os.path.abspath('ckpt/one'), state)
""",
        ),
    ),
    words=frozenset({"orbax"}),
)
_TAKE_PATHS = frozenset({"orbax.checkpoint.test_utils.erase_and_create_empty", "orbax.checkpoint.CheckpointManager"})
_METHODS = frozenset({"save", "restore"})


@RULE.register(ast.Call)
def relative_path(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    if not node.args or not _takes_path(node, ctx):
        return
    path = node.args[0]
    if isinstance(path, ast.Constant) and isinstance(path.value, str) and _is_relative(path.value):
        ctx.replace(path, f"{ctx.name('os.path.abspath')}(", ctx.span(path), ")", code=RULE.code)


def _takes_path(node: ast.Call, ctx: FileContext) -> bool:
    name = ctx.qualname(node.func)
    if name in _TAKE_PATHS:
        return True
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in _METHODS or not isinstance(func.value, ast.Name):
        return False
    made = ctx.source.names.single_assignments.get(func.value.id)
    maker = ctx.qualname(made.func) if isinstance(made, ast.Call) else None
    return maker is not None and maker.startswith("orbax.checkpoint.") and maker.endswith("Checkpointer")


def _is_relative(path: str) -> bool:
    return bool(path) and not path.startswith(("/", "~")) and "://" not in path and path[1:2] != ":"
