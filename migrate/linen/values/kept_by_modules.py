"""What the setup of a submodule has computed, and a setup around it reads off it: `self.stats.shape`."""

from __future__ import annotations

import ast
from typing import Any

from .sites import Module, Site, Static, Unmigratable
from .values import Unknown

READ = "read"  # something is read off it that is neither a field nor a method


def is_kept(run: Any, node: ast.AST, env: Any) -> bool:
    """Is it such a value, of which nothing is known?

    The submodule, which must be native, has it when it is made, so that the constructor reads it as setup did. Linen has
    made a tuple of a list there, to which another could be added, and which is equal to others.
    """
    if isinstance(env.source.parents.get(node), ast.BinOp | ast.Compare):
        return False
    base = run.evaluated.get(node.value) if isinstance(node, ast.Attribute) and run.in_setup else None
    if base is None or not isinstance(node, ast.Attribute) or not isinstance(base.value, Module) or base.value.element:
        return False
    site = base.value.site
    apart = site.lifted or site.held or site.loops or site.choice or site.alternatives or site.adopted or site.scopes
    if apart or site.kind != "class" or run.analyser.classes.get(site.target) is None or node.attr in site.bound:
        return False
    try:
        kept = run.analyser.execution(site.target).attributes.get(node.attr)
    except Unmigratable:
        return False
    return kept is not None and type(kept.value) in (Static, Unknown)


def mark(run: Any, site: Site, name: str) -> None:
    """Note that something of a submodule is read that what wraps a Linen module has not: all but fields and methods."""
    model = run.analyser.classes.get(site.target) if site.kind == "class" else None
    if model is None or any(field.name == name for field in model.fields()):
        return
    method = model.method(name)
    if method is None or any("property" in said for said in method.decorators):
        site.renders[READ] = name


__all__ = ["READ", "is_kept", "mark"]
