"""Fields that stand in for an argument of the call, and fields that nothing reads.

`if rate is None: rate = self.rate` says for any value what `merge_param` says for flags. Linen's users make such a module
anew at every call, `Drop(rate)(x)`; in NNX it is made once, and the call is given what the constructor was.
"""

from __future__ import annotations

import ast
from typing import Any

from ...linen.modules.merged_fields import reads_of
from ...linen.project.classes import ClassModel
from ...linen.values.sites import Site
from ...trees import subtree


def fallbacks(function: ast.FunctionDef, name: str) -> list[ast.Attribute]:
    """Where a method reads `self.<name>` only because its argument of that name is None."""
    return [read for statement in function.body if (read := _fallback(statement, name)) is not None]


def falls_back(model: ClassModel, method: Any, name: str) -> bool:
    """Is the field read for this alone, and the argument for nothing before?"""
    default = _default(method.node, name)
    if not (isinstance(default, ast.Constant) and default.value is None):
        return False
    reads = fallbacks(method.node, name)
    if len(reads) != 1 or _names_field(model, name) - set(reads):
        return False
    statement = next(s for s in method.node.body if _fallback(s, name) is not None)
    for earlier in method.node.body[: method.node.body.index(statement)]:
        if any(isinstance(n, ast.Name) and n.id == name for n in subtree(earlier)):
            return False
    return True


def hands_on(method: Any, name: str) -> bool:
    """Does a method do nothing with an argument but give it to the method that it overrides, under the same name?"""
    default = _default(method.node, name)
    reads = [n for n in method.nodes if isinstance(n, ast.Name) and n.id == name]
    given = [
        k.value
        for n in method.nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "__call__"
        if isinstance(n.func.value, ast.Call) and isinstance(n.func.value.func, ast.Name) and n.func.value.func.id == "super"
        for k in n.keywords
        if k.arg == name
    ]
    return isinstance(default, ast.Constant) and default.value is None and bool(reads) and reads == given


def unread(analyser: Any, maker: ClassModel, site: Site) -> set[str]:
    """Arguments of a construction that the constructor cannot say, and need not: nothing reads these fields."""
    made_here = site.factory is not None and not site.factory.field and not site.alternatives and not site.passed
    model = analyser.classes.get(site.target)
    if model is None or not made_here:
        return set()
    defaults = {f.name for f in model.fields() if f.default is not None}
    return _unasked(analyser, maker, site) & defaults


def nothing(analyser: Any, maker: ClassModel, site: Site) -> set[str]:
    """Those that have no default, and become None: of all the classes that are made there."""
    found = [_unasked(analyser, maker, kind) for kind in (site, *site.alternatives)]
    return set.intersection(*found) if not site.passed and not site.held else set()


def _unasked(analyser: Any, maker: ClassModel, site: Site) -> set[str]:
    model = analyser.classes.get(site.target)
    if model is None or "**" in site.renders:
        return set()
    found = set()
    for name, bound in site.bound.items():
        late = bound.given and bound.localized is None and bound.text is None
        plain = isinstance(bound.node, ast.Name) or (isinstance(bound.node, ast.Attribute) and _is_self(bound.node, name))
        if not late or not plain or (site.target, name) in analyser.read_off:
            continue
        if not _names_field(model, name) and not _read_by_maker(maker, name):
            found.add(name)
    return found


def _fallback(statement: ast.stmt, name: str) -> ast.Attribute | None:
    """The `self.rate` of `if rate is None: rate = self.rate` and of `rate = self.rate if rate is None else rate`."""
    if isinstance(statement, ast.If):
        test, inner = statement.test, statement.body
        if statement.orelse or len(inner) != 1 or not isinstance(inner[0], ast.Assign) or _none_test(test, name) is not True:
            return None
        assign, then, orelse = inner[0], inner[0].value, None
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.IfExp):
        assign, choice = statement, statement.value
        is_none = _none_test(choice.test, name)
        if is_none is None:
            return None
        then, orelse = (choice.body, choice.orelse) if is_none else (choice.orelse, choice.body)
        if not (isinstance(orelse, ast.Name) and orelse.id == name):
            return None
    else:
        return None
    if len(assign.targets) != 1 or not isinstance(assign.targets[0], ast.Name) or assign.targets[0].id != name:
        return None
    return then if isinstance(then, ast.Attribute) and _is_self(then, name) else None


def _none_test(test: ast.expr, name: str) -> bool | None:
    """True for `name is None`, False for `name is not None`."""
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name):
        return None
    right = test.comparators[0]
    if len(test.ops) != 1 or not (isinstance(right, ast.Constant) and right.value is None):
        return None
    return True if isinstance(test.ops[0], ast.Is) else False if isinstance(test.ops[0], ast.IsNot) else None


def _is_self(node: ast.Attribute, name: str) -> bool:
    return node.attr == name and isinstance(node.value, ast.Name) and node.value.id == "self"


def _names_field(model: ClassModel, name: str) -> set[ast.AST]:
    """Where the class and its bases read a field, by its name or as a string; or hand on all of their fields."""
    nodes = [n for owner in model.mro() for n in owner.nodes]
    found = reads_of(model, name)
    found |= {n for n in nodes if isinstance(n, ast.Constant) and n.value == name}
    whole = ("clone", "copy", "__dict__", "__dataclass_fields__")
    found |= {n for n in nodes if isinstance(n, ast.Attribute) and n.attr in whole and _is_self(n, n.attr)}
    handed = {a for n in nodes if isinstance(n, ast.Call) for a in n.args if isinstance(a, ast.Name) and a.id == "self"}
    return found | handed


def _read_by_maker(maker: ClassModel, name: str) -> bool:
    """Does the class that makes the module read an attribute of this name off something other than itself?"""
    nodes = [n for owner in maker.mro() for n in owner.nodes]
    if any(isinstance(n, ast.Attribute) and n.attr == name and not _is_self(n, name) for n in nodes):
        return True
    return any(isinstance(n, ast.Constant) and n.value == name for n in nodes)


def _default(function: ast.FunctionDef, name: str) -> ast.expr | None:
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    from_end = dict(zip([a.arg for a in reversed(places)], reversed(arguments.defaults)))
    by_keyword = {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)}
    return from_end.get(name) or by_keyword.get(name)


__all__ = ["fallbacks", "falls_back", "hands_on", "nothing", "unread"]
