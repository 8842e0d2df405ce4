"""Modules that a loop makes whose passes only the call knows: `[nn.Dense(4)(x) for x in xs]`.

The call on shapes makes one for each pass. Linen counts them as it comes by them, and so does the migrated call.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from ...trees import subtree
from ..project.classes import ClassModel, Method
from ..values.sites import Block, Make, Site, Unmigratable, steps_of
from .made_later import made_before

IN_TURN = "in turn"  # the call takes the module that is next in its list: the number of its maker there


_CODES = frozenset({"NNX110", "NNX113", "NNX114", "NNX123"})
_THROUGH = frozenset({"enumerate", "zip", "reversed", "sorted", "list", "tuple", "len", "iter"})
_PARTS = frozenset({"items", "values", "keys"})
_ARRAY = re.compile(r"\b(\w*Array|ndarray|Tensor)$")


def may_count(model: ClassModel, failure: Unmigratable | None) -> bool:
    """Has a class failed for sizes or loops, and has it one over something else than fields, whose passes the call knows?"""
    if failure is None or failure.code not in _CODES:
        return False
    for method in model.methods().values() if "__call__" in model.methods() else ():
        for node in method.nodes:
            if isinstance(node, ast.For | ast.comprehension):
                names = _names(node.iter) - {"self", *vars(builtins)}
                if names - model.source.names.definitions.keys() - model.source.names.imports.keys():
                    return True
    return False


def is_gone_through(run: Any, method: Method, parameter: ast.arg) -> bool:
    """Is an argument of such a class taken for several arrays, and not for one?"""
    return run.model.qualname in run.analyser.by_passes and goes_through(method, parameter)


def goes_through(method: Method, parameter: ast.arg) -> bool:
    """Does a method count what an argument holds, or go through it, that is not said to be one array?"""
    if parameter.annotation is not None and _ARRAY.search(ast.unparse(parameter.annotation)):
        return False
    for node in method.nodes:
        if isinstance(node, ast.Name) and node.id == parameter.arg and isinstance(node.ctx, ast.Load):
            above = method.source.parents.get(node)
            if isinstance(above, ast.For | ast.comprehension) and above.iter is node:
                return True
            if isinstance(above, ast.Attribute) and above.attr in _PARTS:
                return True
            if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in _THROUGH:
                return True
    return False


def _names(node: ast.AST | None) -> set[str]:
    return {n.id for n in subtree(node) if isinstance(n, ast.Name)} if node is not None else set()


def _given(site: Site) -> set[str]:
    """What the calls of the functions that make a module say, but for its name."""
    calls = [passage.call for passage in site.through]
    given = [a for call in calls for a in call.args]
    given += [keyword.value for call in calls for keyword in call.keywords if keyword.arg != "name"]
    return {name for argument in given for name in _names(argument)}


def note(
    run: Any, node: ast.For | ast.comprehension, iterator: ast.expr, sites: Sequence[Site], blocks: tuple[Block, Block]
) -> None:
    """Leave what a loop makes to the call on shapes. Raises Unmigratable. `blocks`: of the loop, and around it."""
    failure = Unmigratable("NNX123", f"submodules are made in a loop over `{ast.unparse(iterator)}`", node)
    if run.model.qualname not in run.analyser.by_passes or run.in_setup or run.loops:
        raise failure
    source = run.model.source
    within = source.parents.get(node) if isinstance(node, ast.comprehension) else node
    assigned = {n.id for n in subtree(within or node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    block, outer = blocks
    found = [site for site in sites if made_before(site)]
    for site in found:
        once = site.name is not None and site.name.constant is not None
        if site.kind not in ("layer", "class") or once or _given(site) & assigned:
            raise failure
        site.renders[IN_TURN], site.loops = 0, ()
        for name, bound in site.bound.items():
            if bound.localized is not None and _names(bound.node) & assigned:  # each pass may give it another
                site.bound[name] = dataclasses.replace(bound, localized=None)
    outer.steps += [step for step in steps_of(block) if isinstance(step, Make) and step.site in found]
