"""Modules without any variables that code outside of the class makes for it: `self.rotary = self.config.rotary(size)`.

The position encodings of language models are often such: a function of the project, or a method of the configuration, makes
one of several. In Linen each becomes a submodule that holds nothing. The constructor calls the same code, and what that
makes is called where the module was.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from ...frozen import frozen
from ..modules.alternatives import filled_in
from ..modules.module_calls import module_output
from ..project.classes import Classes
from ..shapes.rotations import rotated
from ..values.arguments import Arguments
from ..values.merging import members
from ..values.sites import Abs, CallRecord, Site, Static, Unmigratable
from ..values.values import Value


@frozen
class ModuleOutside(Static):
    """One of several modules without variables; to the constructor it is a text like any other."""

    made: tuple[Site, ...] = dataclasses.field(default=(), compare=False)


def holds_nothing(run: Any, sites: Sequence[Site]) -> bool:
    """Are these modules without variables, streams and parts, that ask nothing of Linen?"""
    return bool(sites) and all(_is_empty(run, site) for site in sites)


def _is_empty(run: Any, site: Site) -> bool:
    if site.kind != "class" or site.lifted or site.scopes or site.alternatives or site.name is not None:
        return False
    model = run.analyser.classes.get(site.target)
    try:
        inside = run.analyser.execution(site.target)
    except Unmigratable:
        return False
    asks = inside.sites or inside.sows or inside.constants or inside.controls or inside.variable_reads or inside.lifted_calls
    return not asks and model is not None and model.method("__call__") is not None and model.method("setup") is None


def outside(run: Any, result: Value, text: Static) -> ModuleOutside | None:
    """The value of a call that made the modules `result`, which the constructor says as `text`; None for another."""
    sites = tuple(module.site for module in members(result))
    return ModuleOutside(text.text, text.deps, made=sites) if holds_nothing(run, sites) else None


def made_for_setup(run: Any, node: ast.Call, env: Any, result: Value, before: int) -> Abs | None:
    """What a call in setup gives that made such modules since there were `before` sites, which are forgotten; else None."""
    if not holds_nothing(run, run.sites[before:]):
        return None
    said: Abs = run._static_text(node, True, frozenset(), env)
    module = outside(run, result, said.value) if isinstance(said.value, Static) else None
    if module is None or run.localize(node, env) is None:
        return None
    run.analyser.without_variables.setdefault(run.model.qualname, {}).update((site.target, node) for site in module.made)
    del run.sites[before:]
    return Abs(module, True)


def work_unbound(classes: Classes, qualname: str) -> bool:
    """May the modules of such a class be called where no module of Linen's contains them? Compact methods may not."""
    model = classes.get(qualname)
    return model is not None and not any(method.compact for kind in model.mro() for method in kind.own_methods.values())


def call_outside(run: Any, value: Value, arguments: Arguments) -> Abs | None:
    """The result of calling such a module; None for anything else."""
    if not isinstance(value, ModuleOutside) or arguments.starred():
        return None
    args, keywords = arguments.values(run)
    record = CallRecord(tuple(args), keywords)
    results = [Abs(module_output(run, site, "__call__", record)) for site in value.made]
    merged: Value = run.merge_values(filled_in(results, args)).value
    kept = rotated(value.made[0].target, [*args, *keywords.values()], merged)
    return Abs(kept, False, arguments.flags)


__all__ = ["ModuleOutside", "call_outside", "holds_nothing", "made_for_setup", "outside", "work_unbound"]
