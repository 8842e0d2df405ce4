"""Methods that take or return what a form changes, and attributes that hold it: every use of one must be seen."""

from __future__ import annotations

import ast

from ...linen.flow.flow_values import Deltas, Function, Instance, Items, OptState, Value
from . import reached_by_name
from .rewrite import Rewrite, Unsupported

_MARKING = ("abc.", "typing.", "flax.struct.", "enum.", "unittest.", "absl.testing.")


def check(form: Rewrite) -> None:
    """Unsupported where others derive from the class of such a method, or where its name is said of something unknown."""
    reached_by_name.check(form)
    found = _methods(form)
    if not found:
        return
    facts = form.flow.class_facts
    for method, owner in found.items():
        if owner in facts.derived:
            raise Unsupported(method, "a method of a class that others derive from")
    for node in form.flow.uses.attributes({method.name for method in found}):
        if not _known(form, node) or _asked_by_a_base(form, node, found):
            raise Unsupported(node, f"a method {node.attr} of something that is not followed")
    returning = {function for function, _ in form.flow.uses.returning(form.component.sites)}
    for method, owner in found.items():
        if method in returning and not form.flow.uses.references(method) and _has_other_bases(form, owner):
            raise Unsupported(method, "a method that a class of another package may call")


def check_attributes(form: Rewrite) -> None:
    """Unsupported where others than the methods of the class may see what an attribute of `self` holds."""
    held = {(owner, name.removeprefix("self.")) for (_, owner, name), _ in form.flow.uses.symbols(form.component.sites)}
    owners = {owner for owner, _ in held if isinstance(owner, ast.ClassDef)}
    if any(owner in form.flow.class_facts.derived for owner in owners):
        raise Unsupported(form.component.sites[0], "values in attributes of a class that others derive from")
    words = {name for owner, name in held if owner in owners}
    for node, source in form.program_nodes() if words else ():
        if isinstance(node, ast.Attribute) and node.attr in words and not _known(form, node):
            raise Unsupported(node, "values in attributes that are read from outside")
        call = source.parents.get(node)
        if isinstance(node, ast.Constant) and node.value in words and isinstance(call, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id in ("getattr", "setattr", "hasattr", "delattr"):
                raise Unsupported(node, "values in attributes that are read by name")


def _methods(form: Rewrite) -> dict[ast.FunctionDef, ast.ClassDef]:
    """The methods that take or return values of the component, with their classes."""
    sites = form.component.sites
    holding = [function for function, _ in form.flow.uses.returning(sites)]
    holding += [scope for (_, scope, _), _ in form.flow.uses.symbols(sites) if scope is not None]
    found = {}
    for function in holding:
        owner = form.parent(function) if isinstance(function, ast.FunctionDef) else None
        if isinstance(function, ast.FunctionDef) and isinstance(owner, ast.ClassDef) and function.name != "__init__":
            found[function] = owner
    return found


def _asked_by_a_base(form: Rewrite, node: ast.Attribute, methods: dict[ast.FunctionDef, ast.ClassDef]) -> bool:
    """`self.make(key)` in a class from which the one with the method derives?"""
    if isinstance(form.flow.value(node), Function) or not isinstance(node.value, ast.Name):
        return False
    here = [parent for parent in form.source(node).ancestors(node) if isinstance(parent, ast.ClassDef)]
    owners = [owner for method, owner in methods.items() if method.name == node.attr]
    return any(base in here for owner in owners for _, base in form.flow.class_facts.lineage(owner))


def _has_other_bases(form: Rewrite, owner: ast.ClassDef) -> bool:
    """Does a class, or one that it derives from, derive from one of another package, which does more than mark it?"""
    project, source = form.flow.project, form.source(owner)
    for base in owner.bases:
        name = project.qualname(source, base) or ""
        found = project.definition(name)
        if found is not None and isinstance(found[1], ast.ClassDef):
            if _has_other_bases(form, found[1]):
                return True
        elif not name.startswith(_MARKING) and name not in ("object", ""):
            return True
    return False


def _known(form: Rewrite, node: ast.Attribute) -> bool:
    """Is it a function that the flow knows, or an attribute of something that is no object of an unknown class?"""
    flow = form.flow
    value, base = flow.value(node), flow.value(node.value)
    if isinstance(value, Function) or of_library(form, flow.name(node) or ""):
        return True
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return any(isinstance(parent, ast.ClassDef) for parent in form.source(node).ancestors(node))
    if type(base) is not Value:
        return not isinstance(base, Instance) and not _is_class(form, node.value)
    call = form.parent(node)
    made = flow.value(call) if isinstance(call, ast.Call) and call.func is node else None
    return isinstance(made, OptState) or (isinstance(made, Items) and isinstance(made.items[0], Deltas))


def _is_class(form: Rewrite, node: ast.expr) -> bool:
    """Is it the name of a class of the project, whose attributes are read by it (`Config.model`)?"""
    found = form.flow.project.definition(form.flow.project.qualname(form.source(node), node) or "")
    return found is not None and isinstance(found[1], ast.ClassDef)


def of_library(form: Rewrite, name: str) -> bool:
    """Is it a dotted name, and of no module of the project?"""
    parts = name.split(".")
    return bool(name) and not any(".".join(parts[:end]) in form.flow.project.files for end in range(1, len(parts)))
