"""Which classes compute anew, for every call, what `setup` computes from parameters: see `setup_values`.

A class that inherits its `setup` inherits the method that computes, too, where that computes the same for it. What other
classes read of a module (`self.net.record`) is a property as well.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Set
from typing import Any

from ...linen.project.classes import ClassModel, Method
from ...linen.values.merging import members
from ...linen.values.sites import Unmigratable
from ...trees import subtree
from . import setup_params
from .setup_values import Computed, Reader, is_self_attribute

_CODE = "NNX180"
_KNOWN: weakref.WeakKeyDictionary[Any, Computed | None] = weakref.WeakKeyDictionary()  # of executions that are over


def of_class(run: Any, model: ClassModel) -> tuple[dict[str, str], Computed | None]:
    """(Attributes that hold a parameter of another name and that name, what a method computes), of a class.

    Raises Unmigratable where setup does with parameters what cannot be said.
    """
    refusal = _refusal(run, model)
    setup = model.method("setup")
    if refusal is None and setup is not None and setup.owner is not model:
        refusal = _refusal(run.analyser.execution(setup.owner.qualname), setup.owner)
    found = _plan(run, model, refusal) if refusal is not None else None
    for base in model.mro()[1:]:
        _check_base(run, model, base, found)
    return setup_params.check(run, model, found.nodes() if found is not None else frozenset()), found


def computed_by(run: Any) -> Computed | None:
    """What a class computes for every call, as `of_class` says it; None where that is nothing or cannot be said."""
    if run not in _KNOWN:
        _KNOWN[run] = None  # of a class that contains itself
        try:
            _KNOWN[run] = of_class(run, run.model)[1]
        except Unmigratable:
            pass
    return _KNOWN[run]


def _refusal(run: Any, model: ClassModel) -> Unmigratable | None:
    try:
        setup_params.check(run, model)
    except Unmigratable as refusal:
        return refusal
    return None


def _plan(run: Any, model: ClassModel, refusal: Unmigratable) -> Computed:
    """What the method of a class must compute. Raises `refusal`, or why it cannot be done."""
    setup = model.method("setup")
    if setup is None or _calls_setup(run):
        raise refusal
    found = Reader(run, model, setup, refusal).read()
    if not found.moved and not found.both:
        raise refusal
    if setup.owner is not model:
        of_owner = _plan(run.analyser.execution(setup.owner.qualname), setup.owner, refusal)
        if not found.is_like(of_owner) or found.attributes & {*run.fields, *model.methods(), *model.class_attributes}:
            raise refusal
    found.properties = {
        a for a in found.attributes if setup_params.read_of_modules(run, a) or _is_read_of(run, setup.owner, a)
    }
    for attribute in found.attributes:
        hidden = attribute in found.properties and attribute in found.held.values()
        if hidden or setup_params.asked_for(run, attribute) or any(_of_mixins(run, m, attribute) for m in model.mro()):
            raise Unmigratable(_CODE, f"{refusal.reason}, and another class reads `.{attribute}`", refusal.node)
    for method in model.own_methods.values():
        reads = _reads(method, found.attributes) if method is not setup else []
        if any(not isinstance(n.ctx, ast.Load) for n in reads) or (reads and method.compact):
            raise refusal
    return found


def _is_read_of(run: Any, model: ClassModel, attribute: str) -> bool:
    """Does a class read an attribute of a module of this class that it has under a local name (`layer.record`), or a file
    that binds modules something of that name?"""
    if any(attribute in file.words and ".bind(" in file.text for file in run.project.files.values()):
        return True
    family = {model.qualname, *(derived.qualname for derived in run.analyser.classes.derived(model))}
    for other in run.analyser.classes:
        if attribute not in other.source.words:
            continue
        reads = [
            n for m in other.own_methods.values() for n in m.nodes if isinstance(n, ast.Attribute) and n.attr == attribute
        ]
        try:
            evaluated = run.analyser.execution(other.qualname).evaluated if reads else {}
        except Unmigratable:
            continue  # it stays Linen
        given = [evaluated[n.value].value for n in reads if n.value in evaluated]
        if any(module.site.target in family for value in given for module in members(value)):
            return True
    return False


def _of_mixins(run: Any, model: ClassModel, attribute: str) -> bool:
    """Does a base that is no module, whose text stays what it is, ask for an attribute?"""
    found = (run.project.definition(name) for name in model.foreign_bases)
    return any(attribute in {n.attr for n in subtree(f[1]) if isinstance(n, ast.Attribute)} for f in found if f is not None)


def _calls_setup(run: Any) -> bool:
    """Does a class call the `setup` of a base in its own?"""
    return any(method.name == "setup" for _, method in run.super_calls)


def _check_base(run: Any, model: ClassModel, base: ClassModel, found: Computed | None) -> None:
    """Raises Unmigratable where methods of a base ask for what is computed there, or here, alone."""
    of_base = computed_by(run.analyser.execution(base.qualname)) if base.method("setup") is not None else None
    there = of_base.attributes if of_base is not None else set[str]()
    here = found.attributes if found is not None else set[str]()
    if not there and not here:
        return
    both = there & here if of_base is not None and found is not None and of_base.method == found.method else set[str]()
    for method in base.own_methods.values():
        for node in _reads(method, there | here) if method.name != "setup" else ():
            if node.attr not in both:
                reason = f"`self.{node.attr}` is computed from parameters in one `setup` of the family and not in another"
                raise Unmigratable(_CODE, reason, model.node)
    hidden = (of_base.properties if of_base is not None else set()) & {*run.fields, *run.attributes} - here
    if hidden or (there and _calls_setup(run)):
        raise Unmigratable(
            _CODE, f"the `setup` of {base.name} computes with parameters, and that of this class is another", model.node
        )


def _reads(method: Method, attributes: Set[str]) -> list[ast.Attribute]:
    return [n for n in method.nodes if is_self_attribute(n) and isinstance(n, ast.Attribute) and n.attr in attributes]


__all__ = ["computed_by", "of_class"]
