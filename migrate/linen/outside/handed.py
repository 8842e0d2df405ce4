"""Modules that code outside of modules hands to a class, and that are not followed: `GCActor(4, encoders.get("actor"))`.

Such a class need not know what it is given, where it does no more than call it: its constructor is given the arguments of
the first call and finds, by that call on shapes, what each module is called with: see `handed` of the parity module.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

from ...trees import of_kind, said, subtree
from ..modules.default_modules import makes_nothing
from ..project.classes import ClassModel, Field

NAME = "call_example"  # what the constructor calls the arguments of the first call
_DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# What has a class make or call its parts otherwise than its text says.
_LIFTED = frozenset(
    f"flax.linen.{name}"
    for name in (
        *("scan", "vmap", "remat", "checkpoint", "jit", "remat_scan", "map_variables", "transforms", "vjp", "jvp", "grad"),
        *("value_and_grad", "while_loop", "cond", "switch", "custom_vjp", "share_scope", "fold_rngs", "add_metadata_axis"),
    )
)
_NO_MODULES = frozenset({"Callable", "Type", "type"})
# What asks for the place of a module, for its variables, or whether they are being made.
_OF_LINEN = frozenset(
    {"is_initializing", "is_mutable_collection", "has_variable", "get_variable", "put_variable", "variables", "scope",
     "perturb", "clone", "bind", "unbind", "init", "apply", "path", "name", "parent", "children", "copy"}
)  # fmt: skip


def fields(analyser: Any, root: ClassModel) -> frozenset[str]:
    """The fields of a class, and of all that derive from it, that hold such modules: none where one of them does more with
    one than call it. `root`: a class that derives from no other.
    """
    family = [root, *analyser.classes.derived(root)]
    if not any(_is_asked_for(analyser, one) for one in family):
        return frozenset()
    if len(family) > 1 and any(one.source.names.scope_of(one.node) is not None for one in family):
        return frozenset()  # by which name a constructor could ask whether it is that of a derived class
    found = [_of_class(analyser, one) for one in family]
    return found[0] if all(one and one == found[0] for one in found) else frozenset()


def _is_asked_for(analyser: Any, model: ClassModel) -> bool:
    """Is a class handed modules that are not followed, or does it have a module by default that a template is not for?"""
    given = analyser.given_outside
    by_field = given.templates.get(model.qualname, {})
    templates = [template for of_field in by_field.values() for template in of_field]
    alone = all(given.takers.get(t, frozenset()) <= {model.qualname} for t in templates)
    held = [f for f in model.fields() if _is_made(analyser, model, f)]
    simple = all(len(by_field.get(f.name, ())) == 1 and makes_nothing(analyser, f) for f in held)  # a template will do
    return (alone and bool(held) and not simple) or model.qualname in given.refused


def _of_class(analyser: Any, model: ClassModel) -> frozenset[str]:
    """The fields of one class of a family that it could be handed."""
    given = analyser.given_outside
    if model.qualname in given.unnamed | analyser.never_later | analyser.outside_chains.keys():
        return frozenset()
    if model.source.marked(model.source.line_span(model.node).start, "NNX1"):
        return frozenset()  # an earlier run has left it, and what constructs it gives it no example
    names = given.fields.get(model.qualname, frozenset())
    declared = [f for f in model.fields() if f.name in names or _is_module(analyser, f)]
    found = frozenset(f.name for f in declared)
    taken = any(f.name == NAME for f in model.fields())
    if taken or not found or not names <= found or any(not f.init or f.kw_only for f in declared):
        return frozenset()
    if len(model.mro()) > 1 and not _adds_to_base(model, found):
        return frozenset()
    if any(not (_is_none(f) or _is_made(analyser, model, f)) for f in declared) or not _only_called(analyser, model, found):
        return frozenset()
    return found


def _adds_to_base(model: ClassModel, names: frozenset[str]) -> bool:
    """Does a derived class leave to its one base what it is handed, and what is made of that?"""
    if len(model.bases) != 1 or len(model.node.bases) != 1 or {"setup", "__post_init__"} & model.own_methods.keys():
        return False
    return not names & {f.name for f in model.own_fields}


def _is_none(field: Field) -> bool:
    """Has a field no default, or None?"""
    default = field.default
    return field.factory is None and (default is None or (isinstance(default, ast.Constant) and default.value is None))


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


def _only_called(analyser: Any, model: ClassModel, names: Collection[str]) -> bool:
    """Are these fields called in `__call__` alone, and else only compared with None?"""
    called, reached = set[str](), _reached(model)
    flags: dict[str, set[str]] = {}
    for owner in model.mro():
        for node in subtree(owner.node):
            if isinstance(node, ast.Name | ast.Attribute):
                if analyser.classes.project.qualname(owner.source, node) in _LIFTED:
                    return False
            if not isinstance(node, ast.Attribute) or not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                continue
            if node.attr in _OF_LINEN and node.attr not in {f.name for f in model.fields()}:
                return False
            if node.attr not in names:
                continue
            found = _calls(owner, node)
            if found is None:
                return False
            for call in found:
                around = next((p for p in owner.source.ancestors(call) if isinstance(p, _DEFERRED)), None)
                if not isinstance(around, ast.FunctionDef) or around not in owner.node.body:
                    return False
                if around in reached:
                    flags.setdefault(node.attr, set()).add(_flags(call) if call.func is node else "")
                    called.add(node.attr)
        strings = {n.value for n in of_kind(owner.node, ast.Constant) if isinstance(n, ast.Constant)}
        asked = any(n.id in ("getattr", "setattr", "vars") for n in of_kind(owner.node, ast.Name) if isinstance(n, ast.Name))
        if asked and strings:
            return False
    if any(len(unlike) > 1 for unlike in flags.values()):
        return False  # statistics that one call updates may be read by the next, see `updated_statistics`
    return called == set(names) and model.method("__call__") is not None


def _calls(model: ClassModel, node: ast.expr) -> list[ast.Call] | None:
    """The calls of what an expression holds, a module or several of them; None where more is done with these."""
    source = model.source
    parent = source.parents[node]
    if isinstance(parent, ast.Compare) and ((parent.left is node and _with_none(parent)) or _is_in(parent, node)):
        return []
    if isinstance(parent, ast.Call) and parent.func is node:
        around = source.parents[parent]
        return None if isinstance(around, ast.Call) and around.func is parent else [parent]  # of a factory
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
        return []
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        return _calls(model, parent)
    if isinstance(parent, ast.Attribute) and parent.attr in ("keys", "values"):
        call = source.parents[parent]
        if not isinstance(call, ast.Call) or call.args or call.keywords:
            return None
        return _calls(model, call) if parent.attr == "values" else []
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node and isinstance(parent.target, ast.Name):
        within = source.parents[parent] if isinstance(parent, ast.comprehension) else parent
        return _calls_of_name(model, parent.target, within)
    return None


def _calls_of_name(model: ClassModel, target: ast.Name, within: ast.AST) -> list[ast.Call] | None:
    """The calls of what a loop names."""
    function = next(p for p in model.source.ancestors(target) if isinstance(p, ast.FunctionDef))
    inside = set(subtree(within))
    found: list[ast.Call] = []
    for name in of_kind(function, ast.Name):
        if not isinstance(name, ast.Name) or name.id != target.id or name is target:
            continue
        calls = _calls(model, name) if name in inside and isinstance(name.ctx, ast.Load) else None
        if calls is None:
            return None
        found += calls
    return found


def _is_in(parent: ast.Compare, node: ast.expr) -> bool:
    """`"goal" in self.encoders`"""
    return parent.comparators == [node] and isinstance(parent.ops[0], ast.In | ast.NotIn)


def _flags(call: ast.Call) -> str:
    """What a call says of its flags: constants, and what keywords are given."""
    said = [ast.unparse(a) for a in call.args if isinstance(a, ast.Constant)]
    return ", ".join([*said, *sorted(ast.unparse(k) for k in call.keywords)])


def _reached(model: ClassModel) -> set[ast.FunctionDef]:
    """`__call__`, and the methods that it calls, those of bases by `super()`."""
    stack, found = [model.method("__call__")], set[ast.FunctionDef]()
    while stack:
        method = stack.pop()
        if method is None or method.node in found:
            continue
        found.add(method.node)
        above = model.mro()[model.mro().index(method.owner) + 1 :]
        for node in method.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                stack.append(model.method(node.attr))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and said(node.value.func) == "super":
                stack += [owner.own_methods[node.attr] for owner in above if node.attr in owner.own_methods][:1]
    return found


def _with_none(node: ast.Compare) -> bool:
    nothing = node.comparators[0]
    return len(node.ops) == 1 and isinstance(nothing, ast.Constant) and nothing.value is None


__all__ = ["NAME", "fields"]
