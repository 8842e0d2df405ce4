"""Modules that code outside of modules hands to a class, and that are not followed: `GCActor(4, encoders.get("actor"))`.

Such a class need not know what it is given, where it does no more than call it: its constructor is given the arguments of
the first call and finds, by that call on shapes, what each module is called with: see `handed` of the parity module.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import of_kind, subtree
from ..modules.default_modules import makes_nothing
from ..project.classes import ClassModel, Field
from .handed_uses import More, Uses

NAME = "call_example"  # what the constructor calls the arguments of the first call
_SEVERAL = frozenset({"Sequence", "List", "list", "Tuple", "tuple", "Dict", "dict", "Mapping", "Iterable"})
_NO_MODULES = frozenset({"Callable", "Type", "type"})


def fields(analyser: Any, root: ClassModel) -> dict[str, frozenset[str]]:
    """The fields of a class, and of those that derive from it, that hold such modules: none where one of them does more with
    one than what can be followed. `root`: a class that derives from no other.
    """
    family = sorted([root, *analyser.classes.derived(root)], key=lambda one: len(one.mro()))
    asked = [one for one in family if _is_asked_for(analyser, one)]
    concerned = [one for one in family if any(one in other.mro() or other in one.mro() for other in asked)]
    concerned = [one for one in concerned if _declared(analyser, one)]
    if len(family) > 1 and any(one.source.names.scope_of(one.node) is not None for one in concerned):
        return {}  # by which name a constructor could ask whether it is that of a derived class
    found: dict[str, frozenset[str]] = {}
    for one in concerned:
        uses = _of_class(analyser, one)
        if uses is None or any(base in concerned and not _agree(found, base, one, uses) for base in one.mro()[1:]):
            return {}
        found[one.qualname] = frozenset(f.name for f in _declared(analyser, one))
        analyser.read_attributes |= uses.read
    return found


def _is_asked_for(analyser: Any, model: ClassModel) -> bool:
    """Is a class handed modules that are not followed, or does it have a module by default that a template is not for?"""
    given = analyser.given_outside
    by_field = given.templates.get(model.qualname, {})
    templates = [template for of_field in by_field.values() for template in of_field]
    alone = all(given.takers.get(t, frozenset()) <= {model.qualname} for t in templates)
    held = [f for f in model.fields() if _is_made(analyser, model, f)]
    simple = all(len(by_field.get(f.name, ())) == 1 and makes_nothing(analyser, f) for f in held)  # a template will do
    family = bool(templates) and (bool(model.bases) or any(analyser.classes.derived(model)))  # see `templates.check`
    made = (alone and ((bool(held) and not simple) or family)) or model.qualname in given.refused
    elsewhere = _is_given_nothing(analyser, model) or _is_given_unknown(analyser, model)
    return made or (elsewhere and not _is_named_in_modules(analyser.classes.project, model))


def _is_given_unknown(analyser: Any, model: ClassModel) -> bool:
    """Is a class given for a module, as its annotation says, what nothing here tells? `Head(registry.make(name))`"""
    names = analyser.given_outside.unknown.get(model.qualname, frozenset())
    return any(f.name in names and _is_module(analyser, f) for f in model.fields())


def _is_given_nothing(analyser: Any, model: ClassModel) -> bool:
    """Has a class a list or dict of modules that nothing here gives it? What uses it may be elsewhere."""
    given = analyser.given_outside.fields.get(model.qualname, frozenset())
    noted = [f.annotation for f in model.fields() if f.name not in given and f.annotation is not None]
    noted = [a for a in noted if any(isinstance(n, ast.Subscript) and _last(n.value) in _SEVERAL for n in subtree(a))]
    return not given and any(_is_module(analyser, f) for f in model.fields() if f.annotation in noted)


def _is_named_in_modules(project: Any, model: ClassModel) -> bool:
    """Is a class named in other modules, or in itself, otherwise than as a type?"""
    for source in project.files.values():
        if model.name not in source.words:
            continue
        aliases = [local for local, dotted in source.names.imports.items() if dotted.endswith(f".{model.name}")]
        for node in source.saying(model.name, *aliases):
            if node not in project.inside_modules or project.qualname(source, node) != model.qualname:
                continue
            around = [node, *source.ancestors(node)]
            if not any(isinstance(p, ast.arg | ast.AnnAssign) for p in around) and not any(
                isinstance(p, ast.FunctionDef) and p.returns in around for p in around
            ):
                return True
    return False


def _agree(found: dict[str, frozenset[str]], base: ClassModel, model: ClassModel, uses: Uses) -> bool:
    """Are the modules of a base those that a class derived from it calls, too, and said there alone?"""
    inherited = {f.name for f in base.fields()} & uses.names
    return found.get(base.qualname, frozenset()) == inherited and not inherited & {f.name for f in model.own_fields}


def _declared(analyser: Any, model: ClassModel) -> list[Field]:
    """The fields that are given modules, or are said to hold some."""
    names = analyser.given_outside.fields.get(model.qualname, frozenset())
    return [f for f in model.fields() if f.name in names or _is_module(analyser, f)]


def _of_class(analyser: Any, model: ClassModel) -> Uses | None:
    """What one class of a family does with what it could be handed; None where it cannot be."""
    given = analyser.given_outside
    if model.qualname in given.unnamed | analyser.never_later | analyser.outside_chains.keys():
        return None
    if model.source.marked(model.source.line_span(model.node).start, "NNX1"):
        return None  # an earlier run has left it, and what constructs it gives it no example
    declared = _declared(analyser, model)
    names = frozenset(f.name for f in declared)
    taken = any(f.name == NAME for f in model.fields())
    if taken or any(not f.init or f.kw_only for f in declared):
        return None
    if len(model.mro()) > 1 and not _adds_to_base(model):
        return None
    if any(not (_is_none(f) or _is_made(analyser, model, f)) for f in declared) or model.method("__call__") is None:
        return None
    try:
        uses = Uses(analyser, model, names)
    except More:
        return None
    return uses if uses.called and uses.called == uses.asked else None


def _adds_to_base(model: ClassModel) -> bool:
    """Does a derived class leave to its one base what that makes?"""
    return len(model.bases) == len(model.node.bases) == 1 and not {"setup", "__post_init__"} & model.own_methods.keys()


def _is_none(field: Field) -> bool:
    """Has a field no default, or None, or no modules?"""
    default = field.default
    nothing = isinstance(default, ast.Tuple | ast.List) and not default.elts
    nothing = nothing or (isinstance(default, ast.Constant) and default.value is None)
    return field.factory is None and (default is None or nothing)


def _is_made(analyser: Any, model: ClassModel, field: Field) -> bool:
    """Is a field a module of the project's unless it is given another, which all that are not given one share?"""
    made = field.default
    if not isinstance(made, ast.Call) or made.args or made.keywords:
        return False
    asked = [n for n in of_kind(model.node, ast.Attribute) if isinstance(n, ast.Attribute) and n.attr == field.name]
    compared = any(isinstance(model.source.parents[n], ast.Compare) for n in asked)
    project = analyser.classes.project
    return not compared and project.qualname(field.source, made.func) in project.linen_classes


def _is_module(analyser: Any, field: Field) -> bool:
    """`nn.Module`, `Encoder`, one of them or None, and lists and dicts of them."""
    project = analyser.classes.project
    for side in subtree(field.annotation) if field.annotation is not None else ():
        if isinstance(side, ast.Subscript) and _last(side.value) in _NO_MODULES:
            return False
        if isinstance(side, ast.Constant) and isinstance(side.value, str):
            if f"{field.source.module}.{side.value}" in project.linen_classes:
                return True
        name = project.qualname(field.source, side) if isinstance(side, ast.Name | ast.Attribute) else None
        if name == "flax.linen.Module" or name in project.linen_classes:
            return True
    return False


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


__all__ = ["NAME", "fields"]
