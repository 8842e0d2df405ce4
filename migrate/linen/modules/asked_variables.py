"""`self.has_variable(collection, name)`: in `apply` a variable is there that `init` made, which the class's text shows."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import of_kind
from ..project.classes import Method
from ..values.arguments import arguments_of
from ..values.sites import Abs, Unmigratable
from ..values.values import Const, Unknown

# What makes a variable: the collection of its first argument's name, None where an argument before that says it.
_MAKERS = {"param": "params", "param_with_axes": "params", "variable": None, "variable_with_axes": None}
# Around it, what may be passed by; functions within a method may be called or not.
_OPTIONAL = (
    ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Match, ast.BoolOp, ast.ListComp, ast.DictComp, ast.SetComp,
    ast.GeneratorExp, ast.FunctionDef, ast.Lambda,
)  # fmt: skip


def has_variable(run: Any, node: ast.Call, env: Any) -> Abs:
    """True where the class makes the variable on every way; a cache is asked for when the module is called."""
    arguments = arguments_of(run, node, env)
    said = [value.value for _, value in arguments.positional[:2]] + [
        value.value for keyword, _, value in arguments.keywords if keyword in ("col", "name")
    ]
    names = [value.value for value in said if isinstance(value, Const) and isinstance(value.value, str)]
    if len(names) == len(said) == 2:
        collection, name = names
        if collection != "cache" and _always_makes(run, collection, name):
            run.constants[node] = "True"
            return Abs(Const(True), static=True)
        if collection not in ("params", "batch_stats") and not run.in_setup:
            # Such a variable comes to be when the module is called in a certain way: a decode cache.
            run.lazy.add(collection)
            run.constants[node] = f'hasattr(self, "{name}")'
            return Abs(Unknown("whether a variable exists"), False, frozenset({name}))
    raise Unmigratable("NNX146", f"`{ast.unparse(node)}` asks whether a variable was given", node)


def _always_makes(run: Any, collection: str, name: str) -> bool:
    """Does the class make the variable under no condition, so that `apply` is given it with all that `init` made?"""
    return any(
        not _is_left_out(method, call) and _always_runs(run, method, set())
        for model in run.model.mro()
        for method in model.own_methods.values()
        for call in _makers(method, collection, name)
    )


def _always_runs(run: Any, method: Method, seen: set[ast.AST]) -> bool:
    """Does a method run whenever the module is called: `setup`, `__call__`, and what these call under no condition?"""
    seen.add(method.node)
    own = run.model.methods()
    name = method.node.name
    if own.get(name) is method and name in ("setup", "__call__"):
        return True
    for caller in (m for m in own.values() if m.node not in seen):
        for call in of_kind(caller.node, ast.Call):
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != name:
                continue
            said = "self" if own.get(name) is method else "super()"
            if ast.unparse(func.value) == said and not _is_left_out(caller, call) and _always_runs(run, caller, seen):
                return True
    return False


def _makers(method: Method, collection: str, name: str) -> Iterator[ast.Call]:
    for call in of_kind(method.node, ast.Call):
        made_by = getattr(call.func, "attr", getattr(call.func, "id", ""))  # also a function: `param_with_axes`
        if made_by not in _MAKERS:
            continue
        said = [_text(a) for a in call.args[:2]]
        if "variable" not in made_by:
            said.insert(0, "params")
        given = dict(zip(("col", "name"), said)) | {k.arg: _text(k.value) for k in call.keywords if k.arg in ("col", "name")}
        if (given.get("col"), given.get("name")) == (collection, name):
            yield call


def _text(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _is_left_out(method: Method, call: ast.Call) -> bool:
    """Is there a way through the method that does not come by?"""
    if any(isinstance(above, _OPTIONAL) for above in _above(method.source, call, method.node)):
        return True
    return any(node.lineno < call.lineno and _may_end_init(method, node) for node in of_kind(method.node, ast.Return))


def _may_end_init(method: Method, node: ast.Return) -> bool:
    """May `init` end at a `return`? Not under `if decode and self.has_variable("cache", "k")`, which is False there."""
    around = [node, *_above(method.source, node, method.node)]
    if any(isinstance(above, ast.FunctionDef) for above in around):
        return False
    for inner, above in itertools.pairwise(around):
        if isinstance(above, ast.If) and _in_init(method, above.test) is (inner not in above.body):
            return False
    return any(isinstance(above, ast.If) for above in around)


def _in_init(method: Method, test: ast.expr) -> bool | None:
    """What a condition is in `init`, which has no variables yet, and flags by their defaults; None if that is unknown."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _in_init(method, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        whole = isinstance(test.op, ast.Or)  # what decides alone
        parts = [_in_init(method, part) for part in test.values]
        return whole if whole in parts else None if None in parts else not whole
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and ast.unparse(test.func.value) == "self":
        return {"has_variable": False, "is_initializing": True}.get(test.func.attr)
    if isinstance(test, ast.Name):
        default = method.default(test.id)
        stores = [n for n in of_kind(method.node, ast.Name) if n.id == test.id and isinstance(n.ctx, ast.Store)]
        if not stores and isinstance(default, ast.Constant):
            return bool(default.value)
        made = method.source.parents.get(stores[0]) if len(stores) == 1 else None
        if isinstance(made, ast.Assign) and made.targets == stores:
            return _in_init(method, made.value)
    return None


def _above(source: SourceFile, node: ast.AST, end: ast.AST) -> Iterator[ast.AST]:
    above = source.parents.get(node)
    while above is not None and above is not end:
        yield above
        above = source.parents.get(above)


__all__ = ["has_variable"]
