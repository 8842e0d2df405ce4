"""Models that hold arrays beside their variables, which a split by the types of these leaves over.

`self.mask = nn.make_causal_mask(...)` in setup, and models that are made with one: `Actor(2, scale=jnp.asarray(high))`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...linen.flow.flow_values import NOTHING, Bound, Function, Items, Method, Model, State, Symbol, Value
from ...linen.project.index import ClassInfo
from ...plan import ClassPlan
from ...trees import of_kind
from .rewrite import Rewrite, Unsupported

_ARRAYS = re.compile(r"\b(ndarray|Array|ArrayLike|Tensor)\b")
_MAKERS = re.compile(
    r"(jax\.numpy|jax\.random)\.(?!dtype$)\w+$|jax\.(device_put|device_get|lax\.\w+)$"
    r"|numpy\.(array|asarray|ones|zeros|full|empty|eye|identity|arange|linspace|logspace|stack|concatenate|hstack|vstack|tril"
    r"|triu|diag|load|mean|std|random\.\w+|\w+_like)$"
)
# What arrays are asked for; a number has none of these methods.
_METHODS = {"mean", "std", "var", "min", "max", "sum", "astype", "reshape", "transpose", "squeeze", "ravel", "flatten"}
_ANYTHING = re.compile(r"\b(Any|object|[Dd]ict|FrozenDict|Mapping|PyTree|Tree)\b")  # what may be said of arrays, too
# Attributes and items that may be arrays, whatever has them.
_NAMED = {"mean", "std", "var", "scale", "loc", "low", "high", "min", "max", "shift", "bias"}
_NO, _MAYBE, _YES = 0, 1, 2


def holds_arrays(form: Rewrite) -> bool:
    """Does a module keep arrays beside its variables, or may it be given one?"""
    return keeps_arrays(form) or any(
        _is_given(form, plan, name, node)
        for site, plans in zip(form.component.sites, form.component.plans, strict=True)
        for plan in plans
        for name, node in _arguments(site, plan)
    )


def keeps_arrays(form: Rewrite) -> bool:
    """Are there arrays that a module computes for itself when it is made?"""
    return any(plan.arrays for plans in form.component.plans for plan in plans)


def check(form: Rewrite, init: ast.Call) -> None:
    """Unsupported where what a module computes for itself is traced, and the module outlives that trace."""
    if keeps_arrays(form) and outlive_their_trace(form, init):
        raise Unsupported(init, "arrays that a module keeps beside its variables, made under a transform")


def outlive_their_trace(form: Rewrite, init: ast.Call) -> bool:
    """May the function around a call of init, or one that comes to it, be given to a transform, and return the model?"""
    handed = {function for _, function in form.flow.uses.handed_functions}
    todo, seen = [form.function(init)], set[ast.AST]()
    while todo:
        function = todo.pop()
        if function is None or function in seen:
            continue
        seen.add(function)
        if function in handed and _has_model(form, form.flow.returns.get(function, NOTHING)):
            return True
        todo += [form.function(function), *map(form.function, form.flow.callers.get(function, {}))]
    return False


def _has_model(form: Rewrite, value: Value) -> bool:
    if isinstance(value, Items):
        return any(_has_model(form, item) for item in value.items)
    return isinstance(value, State | Model | Method | Bound) and form.component.holds(value)


def _is_given(form: Rewrite, plan: ClassPlan, name: str, node: ast.expr) -> bool:
    """Is an argument of a construction an array, or is it for a field that is said to be one?"""
    if isinstance(node, ast.Constant):
        return False
    said = _annotations_of(form, plan, name)
    if any(_ARRAYS.search(text) and "Callable" not in text for text in said):
        return True
    found = _array(form, node, set())
    return found == _YES or (found == _MAYBE and (not said or any(map(_ANYTHING.search, said))))


def _arguments(site: ast.Call, plan: ClassPlan) -> Iterator[tuple[str, ast.expr]]:
    yield from zip(plan.fields, site.args)
    for keyword in site.keywords:
        yield keyword.arg or "", keyword.value


def _annotations_of(form: Rewrite, plan: ClassPlan, name: str) -> list[str]:
    """How a field is annotated. Of inherited ones any class of that field is asked."""
    classes = form.flow.project.linen_classes
    own = _annotations(classes[plan.qualname], name) if plan.qualname in classes else []
    return own or [text for info in classes.values() for text in _annotations(info, name)]


def _annotations(info: ClassInfo, name: str) -> list[str]:
    fields = [s for s in info.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    return [ast.unparse(s.annotation) for s in fields if isinstance(s.target, ast.Name) and s.target.id == name]


def _array(form: Rewrite, node: ast.expr | None, seen: set[ast.AST]) -> int:
    """Is it an array, or a container of some? What was asked of before has counted already."""
    if node is None or node in seen:
        return _NO
    seen.add(node)
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = list(node.elts)
    elif isinstance(node, ast.Dict):
        parts = list(node.values)
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.BoolOp):
        parts = list(node.values)
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.Starred | ast.NamedExpr):
        parts = [node.value]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Call):
        return _result(form, node, seen)
    elif isinstance(node, ast.Name):
        return _named(form, node, seen)
    elif isinstance(node, ast.Attribute):
        return _MAYBE if node.attr in _NAMED else _NO
    elif isinstance(node, ast.Subscript):
        named = isinstance(node.slice, ast.Constant) and node.slice.value in _NAMED
        return max(_array(form, node.value, seen), _MAYBE if named else _NO)
    return max((_array(form, part, seen) for part in parts), default=_NO)


def _result(form: Rewrite, call: ast.Call, seen: set[ast.AST]) -> int:
    name = form.flow.name(call.func) or ""
    if _MAKERS.match(name):
        return _YES
    held = form.flow.value(call.func)
    if isinstance(held, Function) and not held.transform:
        returned = [each for function in held.nodes for each in _returned(function)]
        return max((_array(form, each, seen) for each in returned), default=_NO)
    return _YES if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS and not name else _NO


def _returned(function: ast.AST) -> list[ast.expr | None]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [node.value for node in of_kind(function, ast.Return)] if isinstance(function, ast.FunctionDef) else []


def _named(form: Rewrite, name: ast.Name, seen: set[ast.AST]) -> int:
    source = form.source(name)
    symbol: Symbol = form.flow.symbol(source, name)
    stores = [n for n in form.flow.occurrences(symbol) if isinstance(n.ctx, ast.Store)]
    found = [_stored(form, store, seen) for store in stores]
    scope = symbol[1]
    arguments = scope.args if isinstance(scope, ast.FunctionDef | ast.Lambda) else None
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]] if arguments is not None else []
    everything = [*names, *(a.arg for a in arguments.kwonlyargs)] if arguments is not None else []
    if name.id in everything and scope is not None:
        callers = form.flow.callers.get(scope, {})
        found += [_given(form, call, name.id, names, seen) for call in callers] if callers else [_MAYBE]
    return max(found, default=_NO)


def _stored(form: Rewrite, store: ast.Name, seen: set[ast.AST]) -> int:
    statement = form.parent(store)
    while isinstance(statement, ast.Tuple | ast.List | ast.Starred):
        statement = form.parent(statement)
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        return _array(form, statement.value, seen)
    return _NO


def _given(form: Rewrite, call: ast.Call, name: str, names: list[str], seen: set[ast.AST]) -> int:
    for keyword in call.keywords:
        if keyword.arg == name:
            return _array(form, keyword.value, seen)
    position = names.index(name) - (names[0] in ("self", "cls")) if name in names else len(call.args)
    given = call.args[position] if position < len(call.args) else None
    return _array(form, given, seen)


__all__ = ["check", "holds_arrays", "keeps_arrays", "outlive_their_trace"]
