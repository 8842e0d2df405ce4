"""Functions that make parameters for the module whose `setup` calls them: `self.pos = positions(self, 16, "pos")`.

    def positions(module, kind, length, name):
        if kind == "learn":
            return module.param(name, nn.initializers.normal(), (1, length))
        return sincos(length)

In Linen `setup` runs with every call. The constructor makes the parameters, under the conditions of the function, and what
the function gives is asked of it anew by every call (see `nnx.setup_values`), where it finds them on the module.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...names import is_attribute_name
from ...trees import subtree
from ..values.late_makes import needed_by
from ..values.sites import Block, Function, Make, Passage, Site, Unmigratable
from ..values.values import Array, Value
from .self_calls import SetupParam


def makes_parameters(made: Sequence[Site]) -> bool:
    """Are these, which a function made for setup, parameters only?"""
    return all(site.kind == "param" for site in made)


def parameters_made(run: Any, made: Sequence[Site], function: Function, node: ast.Call, env: Any, mark: int) -> None:
    """Note what the constructor makes for the call `node` of setup; `mark`: the steps of its skeleton before the call."""
    target, source = function.node, env.source
    assert isinstance(target, ast.FunctionDef)
    statement = source.statement_of(node)
    setup = run.model.own_methods.get("setup")
    around = [a for a in source.ancestors(statement) if isinstance(a, ast.stmt)] if setup is not None else []
    place = around.index(setup.node) if setup is not None and setup.node in around else None
    if place is None or run.loops or not all(isinstance(a, ast.If) for a in around[:place]):
        raise refused(node, "makes parameters in loops of `setup`, or for a class that inherits it")
    plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is node
    if not plain or not _is_own(statement.targets[0]):  # type: ignore[attr-defined]
        raise refused(node, "makes parameters for `setup`, and no attribute of the module holds what it gives")
    stored = {n.id for n in subtree(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for site in made:
        inner = [p.function for p in site.through]
        if site.loops or "dtype" in site.renders or "axes" in site.renders or target in inner:
            raise refused(node, "makes parameters in loops, with axes or with a dtype of the call for `setup`")
        if site.name is None or site.name.constant is None or not is_attribute_name(site.name.constant):
            raise refused(node, "makes parameters under computed names for `setup`")
        if any(calltime for _, calltime in site.conditions) or needed_by([Make(site)]) & stored:
            raise refused(node, "computes what it makes for `setup`")
    steps = run.block.steps[mark:]
    if needed_by(steps) & stored:
        raise refused(node, "makes parameters for `setup` under conditions that it computes")
    for site in made:
        site.in_setup = False  # it is said before the statement, not where it stands
        site.through = (Passage(node, source, target, function.source, ""), *site.through)
    run.setup_helpers[node] = Block(list(steps))


def given(result: Value) -> Value:
    """What such a function gives: an array that is not one of the module's own parameters."""
    return Array(result.shape) if isinstance(result, SetupParam) else result


def _is_own(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"


def refused(node: ast.Call, why: str) -> Unmigratable:
    """Why a function cannot be called by the constructor's class."""
    return Unmigratable("NNX135", f"`{ast.unparse(node.func)}` {why}", node)


__all__ = ["given", "makes_parameters", "parameters_made", "refused"]
