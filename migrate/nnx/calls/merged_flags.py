"""Flags that a class takes by a field or at the call: `merge_param("deterministic", self.deterministic, deterministic)`,
or those that migration lets the call take (`linen/modules/call_fields.py`).

Linen's users make such a module anew at every call, and give the flag to its constructor. In NNX it is made once, so what
is known only at the call is given there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.execution.needed_sizes import refuse_of_one_call
from ...linen.modules import merged_fields
from ...linen.modules.call_fields import is_whole
from ...linen.values.sites import BoundArg, Site, Unmigratable
from ..fields.fallbacks import fallbacks, falls_back, hands_on

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def moved(text: ClassText, site: Site) -> list[str]:
    """The constructor arguments of a project class that its call takes as well, and that are known only then."""
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    if model is None or method is None or is_whole(site) or site.held or site.in_setup:
        return []
    defaults = {f.name: f.default for f in model.fields()}
    found = []
    for name, bound in site.bound.items():
        if bound.node is None or bound.text is not None or not bound.given:
            continue
        taken = name in text.analyser.call_fields.get(site.target, ()) and not site.alternatives  # others may not take it
        if bound.localized is not None and not (taken and _is_of_one_call(text, site, name, bound)):
            continue
        if taken:
            found.append(name)
            continue
        default = defaults.get(name)
        if isinstance(default, ast.Constant) and default.value is None and name in {p.arg for p in method.parameters}:
            owners = [m.own_methods["__call__"] for m in model.mro() if "__call__" in m.own_methods]
            asked = next((m for m in owners if not hands_on(m, name)), method)  # `super().__call__(x, train=train)` there
            merged = merged_fields.reads(text.run.project, asked, name)
            if (merged and merged_fields.reads_of(model, name) <= merged) or falls_back(model, asked, name):
                found.append(name)
    if not found:
        return []
    for node, called, env in site.calls:
        given = {k.arg for k in node.keywords} - {name for name in found if _twice(text, site, node, name)}
        order = [p.arg for p in method.positional][: len(node.args)]
        starred = None in given or any(isinstance(a, ast.Starred) for a in node.args)
        if called != "__call__" or env.source is not site.source or starred or given & set(found) or set(order) & set(found):
            raise Unmigratable("NNX172", f"`{found[0]}` of a module is given to its constructor and to its call", node)
    return found


def _is_of_one_call(text: ClassText, site: Site, name: str, bound: BoundArg) -> bool:
    """Is it a size that may be another at the next call: `Split(frames=x.shape[1])(x)`?"""
    try:
        refuse_of_one_call(text.run, site, name, bound)
    except Unmigratable:
        return True
    return False


def _twice(text: ClassText, site: Site, node: ast.Call, name: str) -> bool:
    """Is one value given to the constructor and to the call: `Block(train=train)(x, train=train)`?

    `merge_param` refuses that, so a program that runs never asks it: the flag is not needed, and the call may keep it,
    if nothing else reads the field.
    """
    model, held = text.analyser.classes.get(site.target), site.bound[name].node
    said = next((k.value for k in node.keywords if k.arg == name), None)
    if model is None or not (isinstance(held, ast.Name) and isinstance(said, ast.Name) and held.id == said.id):
        return False
    if held not in site.source.parents or site.source.statement_of(held) is not site.source.statement_of(node):
        return False
    for owner in model.mro():
        merged: set[ast.AST] = merged_fields.reads(text.run.project, owner, name)
        merged |= {n for m in owner.own_methods.values() for n in fallbacks(m.node, name)}
        if any(isinstance(n, ast.Attribute) and n.attr == name and n not in merged for n in owner.nodes):
            return False
    return True


__all__ = ["moved"]
