"""Variables that Linen's `init` has already updated: it runs the call, where a constructor of NNX does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...trees import of_kind, said, subtree
from ..project.classes import Method
from ..values.sites import Variable

_CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.While, ast.Match, ast.Lambda, ast.comprehension)
_ASKING = frozenset({"is_initializing", "has_variable"})


def updated_at_init(run: Any) -> list[tuple[str, ast.AST]]:
    """What `__call__`, or a method that it calls, updates under no condition: the variable's name, and the update."""
    found: dict[str, ast.AST] = {}
    for method, node, held, name in _updates(run, run.model.own_methods):  # a base class says its own
        leaving = [leave.lineno for kind in (ast.Return, ast.Raise) for leave in of_kind(method.node, kind)]
        early = any(line < node.lineno for line in leaving)
        outer = _around(method, node)
        asked = [parent for parent in outer if _is_there(run, parent, held)]
        held_back = (p for p in outer if p not in asked and isinstance(p, (*_CONDITIONS, ast.FunctionDef)))
        if not early and not any(held_back):
            found.setdefault(name or ast.unparse(node.value), node)
    return list(found.items())


def may_be_updated_at_init(run: Any) -> frozenset[str]:
    """Names of variables, or patterns of names, that a call updates, unless it asks before whether it is that of `init`.

    `if train:` lets the update happen in `init(key, x, train=True)`, which only the running program can tell.
    """
    found: set[str] = set()
    for method, node, held, name in _updates(run, run.model.methods()):
        guards = [parent for parent in _around(method, node) if not _is_there(run, parent, held)]
        asked = any(_asks(guard, method) for guard in [*guards, *_left_before(method, node)])
        if not asked and not _is_asked_for(run, method):
            found.add(name or _pattern(held.site.name.node if held.site.name is not None else None))
    for method, call, name in _put(run):
        asked = any(_asks(guard, method) for guard in [*_around(method, call), *_left_before(method, call)])
        if not asked and not _is_asked_for(run, method):
            found.add(name)
    return frozenset(found)


def _is_asked_for(run: Any, method: Method, seen: frozenset[str] = frozenset()) -> bool:
    """Is a method that updates called behind such a question, by any of its callers?"""
    for name, caller in run.model.methods().items():
        for call in of_kind(caller.node, ast.Call):
            function = call.func
            if not (isinstance(function, ast.Attribute) and function.attr == method.name and name not in seen):
                continue
            if any(_asks(guard, caller) for guard in [*_around(caller, call), *_left_before(caller, call)]):
                return True
            if name != method.name and _is_asked_for(run, caller, seen | {method.name}):
                return True
    return False


def _put(run: Any) -> Iterator[tuple[Method, ast.Call, str]]:
    """`self.put_variable("cache", "index", i + 1)`: the method, the call, the variable's name."""
    for called, method in run.model.methods().items():
        for node in of_kind(method.node, ast.Call) if called != "setup" else ():
            name = node.args[1] if len(node.args) > 1 and said(node.func) == "self.put_variable" else None
            if name is not None:
                yield method, node, str(name.value) if isinstance(name, ast.Constant) else _pattern(name)


def _pattern(name: ast.expr | None) -> str:
    """`v*` for `f"v{i}"`."""
    if not isinstance(name, ast.JoinedStr):
        return "*"
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in name.values)


def _updates(run: Any, methods: Mapping[str, Method]) -> Iterator[tuple[Method, ast.Attribute, Variable, str]]:
    """`count.value += 1` in the call and what it calls: the method, the attribute, the variable, its name if it is known."""
    call = run.model.method("__call__")
    named = {node.attr for node in of_kind(call.node, ast.Attribute)} if call is not None else set()
    for called, method in methods.items() if call is not None else ():
        if called == "setup" or (called != "__call__" and called not in named):
            continue
        for node in of_kind(method.node, ast.Attribute):
            if node.attr != "value" or not isinstance(node.ctx, ast.Store):
                continue
            held = run.evaluated[node.value].value if node.value in run.evaluated else None
            if isinstance(held, Variable) and held.site.kind == "variable" and held.site.name is not None:
                yield method, node, held, str(held.site.name.constant or "")


def _around(method: Method, node: ast.AST) -> list[ast.AST]:
    """What an update stands in, within its method."""
    found = []
    for parent in method.source.ancestors(node):
        if parent is method.node:
            break
        found.append(parent)
    return found


def _left_before(method: Method, node: ast.AST) -> Iterator[ast.AST]:
    """Conditions above an update that leave its method."""
    for condition in of_kind(method.node, ast.If):
        leaves = any(isinstance(inner, ast.Return | ast.Raise) for inner in subtree(condition))
        if leaves and condition.end_lineno is not None and condition.end_lineno < getattr(node, "lineno", 0):
            yield condition


def _asks(node: ast.AST, method: Method) -> bool:
    """Is it a condition on whether the call is that of `init`, be it by a name?"""
    said = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else []
    nodes = [n for part in said for n in subtree(part)]
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    for statement in of_kind(method.node, ast.Assign):
        if any(isinstance(target, ast.Name) and target.id in names for target in statement.targets):
            nodes += subtree(statement.value)
    return any(_asks_of_init(n) for n in nodes)


def _asks_of_init(node: ast.AST) -> bool:
    """`self.is_initializing()`, `self.is_mutable_collection("params")`, or a name for it (`initializing`)."""
    if isinstance(node, ast.Name):
        return "initializ" in node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "is_mutable_collection":
        return any(isinstance(arg, ast.Constant) and arg.value == "params" for arg in node.args)
    return isinstance(node, ast.Attribute) and node.attr in _ASKING


def _is_there(run: Any, node: ast.AST, held: Variable) -> bool:
    """`if self.has_variable("ema", "mean")` of a variable that is made before: in `init`, too, it is there."""
    test = node.test if isinstance(node, ast.If) else None
    if not isinstance(test, ast.Call) or run.constants.get(test) != "True":
        return False
    return ast.unparse(test.func) == "self.has_variable" and (held.site.in_setup or held.site.node.lineno < test.lineno)


__all__ = ["may_be_updated_at_init", "updated_at_init"]
