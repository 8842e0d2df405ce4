"""Submodules of `setup` that nothing calls or names: Linen makes no variables for them, so that NNX makes none of them."""

from __future__ import annotations

import ast
from typing import Any

from ..trees import subtree
from .sites import Site


def take_back(run: Any) -> None:
    """Forget such submodules; `run.uncalled` has the statements that made them."""
    for site in list(run.sites):
        statement = _statement(run, site)
        if statement is not None and not _is_named(run, site.container):
            run.sites.remove(site)
            del run.attributes[site.container]
            run.uncalled.append(statement)


def _statement(run: Any, site: Site) -> ast.stmt | None:
    """`self.unused = nn.Dense(3)`, where that is all that makes it and it was not called."""
    setup = run.model.own_methods.get("setup")
    called = site.call is not None or site.calls
    plain = not (site.loops or site.through or site.choice or site.lifted or site.held or site.passed or site.adopted)
    if site.kind not in ("layer", "class") or not (site.in_setup and site.container and plain) or called or setup is None:
        return None
    statement = site.source.parents.get(site.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement not in setup.nodes:
        return None
    inside = set(subtree(site.node))
    if any(other is not site and other.node in inside for other in run.sites):
        return None
    target = statement.targets[0]
    stored = [n for n in setup.nodes if isinstance(n, ast.Attribute) and n.attr == site.container]
    return statement if stored == [target] and ast.unparse(target) == f"self.{site.container}" else None


def _is_named(run: Any, attribute: str) -> bool:
    """Does anything say the name but its assignment: the class and its relatives, or any file of something else than self?

    By a string, too; computed names (`getattr(self, name)`) are refused elsewhere.
    """
    related = run.analyser.classes.lineage(run.model.qualname)
    for model in related:
        for method in model.own_methods.values():
            for node in method.nodes:
                if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load):
                    return True
    for source in run.project.files.values():
        if attribute not in source.words:
            continue
        for node in source.by_kind.get(ast.Attribute, ()):
            if node.attr == attribute and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                return True
        for node in source.by_kind.get(ast.Constant, ()):
            if isinstance(node.value, str) and attribute in node.value.split("."):
                return True
    return False


__all__ = ["take_back"]
