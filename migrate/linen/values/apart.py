"""Functions that are followed for what they give, and of which the constructor computes nothing."""

from __future__ import annotations

import ast
from typing import Any

from .merging import dependencies_of
from .sites import Abs, Block, Local, Track, steps_of
from .values import Unknown


def run_apart(run: Any, node: ast.FunctionDef | ast.Lambda, env: Any) -> Abs:
    """What a function's body gives, where nothing of what it computes is computed in the constructor.

    Names of its own would be taken there for the caller's names. A result that only they say is not known.
    """
    outer, run.block = run.block, Block()
    try:
        result: Abs = run.run_function(node, env)
        steps = list(steps_of(run.block))
    finally:
        run.block = outer
    own = {name for step in steps if isinstance(step, Local) for name in step.names}
    own |= {step.name for step in steps if isinstance(step, Track)}
    if dependencies_of(result.value) & own:
        called = node.name if isinstance(node, ast.FunctionDef) else "a lambda"
        return Abs(Unknown(f"what {called} returns"), False, result.flags)
    return result
