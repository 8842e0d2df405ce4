"""`self.has_variable(collection, name)`: in `apply` a variable is there that `init` made, which the class's text shows."""

from __future__ import annotations

import ast
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
_OPTIONAL = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Match, ast.BoolOp, ast.ListComp, ast.DictComp)


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
        not _is_left_out(run, method, call)
        for model in run.model.mro()
        for method in model.own_methods.values()
        for call in _makers(method, collection, name)
    )


def _makers(method: Method, collection: str, name: str) -> Iterator[ast.Call]:
    for call in of_kind(method.node, ast.Call):
        made_by = call.func.attr if isinstance(call.func, ast.Attribute) else ""
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


def _is_left_out(run: Any, method: Method, call: ast.Call) -> bool:
    """Is there a way through the method that does not come by?"""
    for above in _above(method.source, call, method.node):
        if isinstance(above, _OPTIONAL):
            return True
    return any(
        ended.lineno < call.lineno and any(_asks_fields(run, above) for above in _above(method.source, ended, method.node))
        for ended in of_kind(method.node, ast.Return)
    )


def _above(source: SourceFile, node: ast.AST, end: ast.AST) -> Iterator[ast.AST]:
    above = source.parents.get(node)
    while above is not None and above is not end:
        yield above
        above = source.parents.get(above)


def _asks_fields(run: Any, node: ast.AST) -> bool:
    """`if not self.track: return x`: a model of such fields has no variable that is made later."""
    if not isinstance(node, ast.If):
        return False
    read = {ast.unparse(n).removeprefix("self.") for n in ast.walk(node.test) if isinstance(n, ast.Attribute)}
    return bool(read & set(run.fields))


__all__ = ["has_variable"]
