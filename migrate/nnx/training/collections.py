"""Which collections beside params a program may have in the NNX idiom."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Collection, Function, State
from ...plan import ClassPlan
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native

_KEPT = frozenset({"params", "batch_stats"})


def check(form: Rewrite, plan: ClassPlan) -> None:
    """Unsupported where a program may see a collection that the module would keep to itself.

    Every attention layer may have a cache. Linen makes one only where a call says that `cache` is mutable, so a program
    that never says the word has none. Sown values are dropped by calls that do not ask for them.
    """
    site = form.component.sites[0]
    others = plan.collections - _KEPT
    if others - {"cache"} or (others and _says(form, "cache")):
        raise Unsupported(site, "collections beside params and batch_stats")
    if plan.sown - {"intermediates"}:
        raise Unsupported(site, f"values sown into {', '.join(sorted(plan.sown - {'intermediates'}))}")
    if plan.modes:
        raise Unsupported(site, "a model that asks which collections are mutable")
    if plan.updated:
        raise Unsupported(site, "statistics that the call of init may update")


def whole(form: Rewrite) -> bool:
    """Do states have all that `init` returned as their params, `{'params': ...}`?"""
    return any(isinstance(value, State) and value.whole for _, value in form.tracked())


def check_whole(form: Rewrite) -> None:
    """Unsupported where such a state would train, or have a name for, more than the params that the optimizer has."""
    if form.plan.collections - {"params"} or form.plan.sown:
        raise Unsupported(form.component.sites[0], "a state that trains all collections")


def check_names(form: _Native) -> None:
    """Unsupported where a tree may be one of several fields of a state, or stands in a tuple that unpacks another."""
    several = next((node for node, value in form.uses if isinstance(value, Collection) and len(value.names) > 1), None)
    if several is not None:
        raise Unsupported(several, "params that may be those of a state or a field of it")
    for node, value in form.flow.uses.items:
        function = form.flow.value(node.func) if isinstance(node, ast.Call) else None
        if isinstance(function, Function) and function.several and form.within(value):
            raise Unsupported(node, "gradients by several arguments")
    for module in sorted({form.source(node).module for node, _ in form.uses}):
        source = form.flow.project.files[module]
        for starred in source.by_kind.get(ast.Starred, ()):
            holder = source.parents[starred]
            read = isinstance(holder, ast.Tuple | ast.List) and isinstance(holder.ctx, ast.Load)
            if read and holder in form.flow.source_of and form.within(form.flow.value(holder)):
                raise Unsupported(holder, "a tuple with a state that another one is unpacked into")


def _says(form: Rewrite, name: str) -> bool:
    return name in form.flow.uses.strings
