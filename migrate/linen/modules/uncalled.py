"""Submodules of `setup` that nothing calls or names: Linen makes no variables for them, so that NNX makes none of them."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..project.classes import ClassModel
from ..values.sites import Site


def take_back(run: Any) -> None:
    """Forget such submodules; `run.uncalled` has the statements that made them, in the class's setup or an inherited one."""
    for site in list(run.sites):
        found = _statement(run, site)
        if found is not None and not _is_named(run, found[0], site.container):
            run.sites.remove(site)
            del run.attributes[site.container]
            run.uncalled.append(found[1])


def _statement(run: Any, site: Site) -> tuple[ClassModel, ast.stmt] | None:
    """`self.unused = nn.Dense(3)`, where that is all that makes it and it was not called, and the class that says so."""
    plain = not (site.loops or site.through or site.choice or site.lifted or site.held or site.passed or site.adopted)
    called = site.call is not None or site.calls
    if site.kind not in ("layer", "class") or not (site.in_setup and site.container and plain) or called:
        return None
    statement = site.source.parents.get(site.node)
    setups = [(model, model.own_methods["setup"]) for model in run.model.mro() if "setup" in model.own_methods]
    owner = next((model for model, setup in setups if statement in setup.nodes), None)
    if owner is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    inside = set(subtree(site.node))
    if any(other is not site and other.node in inside for other in run.sites):
        return None
    target = statement.targets[0]
    stored = [n for _, s in setups for n in s.nodes if isinstance(n, ast.Attribute) and n.attr == site.container]
    said = stored == [target] and ast.unparse(target) == f"self.{site.container}"
    return (owner, statement) if said else None


def _is_named(run: Any, owner: ClassModel, attribute: str) -> bool:
    """Does anything say the name but its assignment: the class and its relatives, or any file of something else than self?

    By a string, too; computed names (`getattr(self, name)`) are refused elsewhere. The answer is that of the class that
    makes it, so that it is the same for all that inherit its setup.
    """
    for model in run.analyser.classes.lineage(owner.qualname):
        for method in model.own_methods.values():
            for node in method.nodes:
                if isinstance(node, ast.Attribute) and node.attr == attribute:
                    if isinstance(node.ctx, ast.Load) or model is not owner:
                        return True  # read, or made anew by a class that derives from it
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
