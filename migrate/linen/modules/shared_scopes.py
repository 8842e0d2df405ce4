"""`nn.share_scope(self, module)`: what a submodule makes is stored as this module's own.

The submodule stays an attribute in NNX; the module says in `shares_scope` which of them Linen has no level for.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ..values.merging import members
from ..values.sites import Abs, Module, SelfModule, Site, Unmigratable
from ..values.values import Const


@dataclasses.dataclass(frozen=True, eq=False)
class SharedScope:
    """One such statement, and the sites of the modules that it may mean."""

    statement: ast.Expr
    source: SourceFile
    module: ast.expr  # the second argument
    sites: tuple[Site, ...]


def share_scope(run: Any, node: ast.Call, env: Any) -> Abs:
    """Note the call; raises Unmigratable where Linen would store variables in different places from call to call."""

    def refuse(why: str) -> Unmigratable:
        return Unmigratable("NNX131", f"`{ast.unparse(node)}`: {why}", node)

    if len(node.args) != 2 or node.keywords:
        raise refuse("its modules are not written out")
    holder, other = (run.evaluate(argument, env).value for argument in node.args)
    statement = env.source.parents.get(node)
    body = env.method.node.body if env.method is not None else []
    if not isinstance(holder, SelfModule) or run.holder != "self" or run.scopes:
        raise refuse("the first module is not `self`")
    apart = len({getattr(function, "name", "") for function in run.active}) != 1  # the method, or bases' by `super()`
    if not isinstance(statement, ast.Expr) or statement not in body or apart or run.loops or run.path:
        raise refuse("it does not stand in every call of the module")
    modules = members(other)
    if not modules or any(_is_one_of_many(m) for m in modules):
        raise refuse("the second is not one module that this class makes")
    for module in modules:
        if module.site.calls or module.site.held or module.site.passed or module.site.alternatives or module.site.choice:
            raise refuse("the second is called before, or belongs to others too")
    run.shared_scopes.append(SharedScope(statement, env.source, node.args[1], tuple(m.site for m in modules)))
    return Abs(Const(None), static=True)


def _is_one_of_many(module: Module) -> bool:
    site = module.site
    return bool(module.element or site.loops or site.lifted) or site.kind not in ("layer", "class")


__all__ = ["SharedScope", "share_scope"]
