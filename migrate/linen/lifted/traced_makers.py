"""Modules made in a method, or a function of one, that JAX maps or derives: `jax.vmap(lambda t: nn.Dense(4)(t))(x)`.

JAX calls such a function once, where what it made of it is called, so that its modules are those of the method, as of a
function that the method calls itself. They can do no more than compute: one trace stands for all members.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ...catalog import layers
from ...trees import subtree
from ..modules import compact_calls, own_methods
from ..modules.given_functions import PartialFunction
from ..modules.made_by_text import makes_modules
from ..values.arguments import function_env
from ..values.sites import Abs, Factory, Function, Site, Unmigratable

TRACED = "in a traced function"  # of a site: it is made, and called, in one


def is_one(run: Any, function: Function) -> bool:
    """Is it a method of the class, or a function within one, that may make modules as its text says?"""
    if function.method is not None:
        own = not function.method.decorators and function.method.name != "__call__"
    else:
        own = function.env is not None and function.env.in_method()
    return own and not run.in_setup and _may_make(run, function, set())


def _may_make(run: Any, function: Function, seen: set[ast.AST]) -> bool:
    seen.add(function.node)
    if makes_modules(run.project, function.source, function.node, set()):
        return True
    for call in (n for n in subtree(function.node) if isinstance(n, ast.Call)):
        if isinstance(call.func, ast.Call):
            return True  # `dense(8)(x)`
        held = function.env.get(call.func.id) if isinstance(call.func, ast.Name) and function.env is not None else None
        value = held.value if held is not None else None
        while isinstance(value, PartialFunction):
            value = value.function
        if isinstance(value, Factory):
            return True
        if isinstance(value, Function) and value.node not in seen and value.env is not None and _may_make(run, value, seen):
            return True
    return False


def followed(run: Any, function: Function, bound: Mapping[str, Abs], node: ast.Call, env: Any) -> Abs:
    """What it gives where the call `node` of the transform's result runs it; its modules are the method's."""
    before = len(run.sites)
    inner = function_env(run, function, dict(bound))
    inner.caller, inner.call, inner.conditions = env, node, run.open_conditions
    first = dict(bound)
    with compact_calls.counted_anew(run, function.method):
        result: Abs = run.run_function(function.node, inner)
    if function.method is not None:
        run.inlined.add(function.method)
        own_methods.note(run, function.method, first, [*first], result.value)
    made: Sequence[Site] = run.sites[before:]
    for site in (kind for one in made for kind in (one, *one.alternatives)):
        if site.lifted or site.scopes or site.kind not in ("layer", "class", "param") or not _computes(site):
            what = "modules that do more than compute are made in a function given to a transform"
            raise Unmigratable("NNX134", what, function.node)
        site.renders[TRACED] = True
    return result


def _computes(site: Site) -> bool:
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    return site.kind != "layer" or (layer is not None and not layer.wrapper and not layer.collections - {"params"})


__all__ = ["TRACED", "followed", "is_one"]
