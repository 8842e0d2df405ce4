"""Modules that a traced function finds outside of itself: in the NNX idiom nothing of them may change there.

That holds for calls of jitted functions, too, as `nnx.jit` writes back what it was given when it returns, and for models
which call their layers under transforms of NNX (`nnx.scan`, `nnx.remat`, `nnx.RNN`): these take variables of one trace.

def body(total, key):                               TraceContextError: the streams of the model
    out = state.apply_fn(variables, x,              are of the trace around the scan
                         rngs={"dropout": key})
    return total + out, None
jax.lax.scan(body, 0.0, keys)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from ...linen.flow.flow_values import Function, Method, Symbol, Tracked
from ...trees import subtree
from . import loaded
from .rewrite import JIT, Unsupported

if TYPE_CHECKING:
    from .native import _Native

_TRACING = ("jax.", "flax.", "chex.", "optax.")
_EAGER = ("jax.tree", "jax.numpy.", "jax.debug.", "jax.pure_callback", "jax.experimental.io_callback")
_PLAIN = {"property", "staticmethod", "classmethod", "functools.cached_property", "functools.wraps", "functools.lru_cache"}
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


def check(form: _Native, updates: list[ast.expr]) -> None:
    """Unsupported where a model that a traced function closes over draws, is updated, jitted or gives gradients in it."""
    for name in _changed(form, updates):
        home = form.flow.symbol(form.source(name), name)[1]
        for scope in form.source(name).ancestors(name):
            if scope is home:
                break
            if isinstance(scope, _FUNCTIONS) and _traced(form, scope, home, set()):
                raise Unsupported(name, "a model that a traced function closes over, and changes or derives by")


def _changed(form: _Native, updates: list[ast.expr]) -> Iterator[ast.Name]:
    """The names of what a module will hold, where it changes or is derived: also those that callers have for it."""
    todo = [name for given in _changing(form, updates) for name in _names(form, given)]
    seen: set[ast.AST] = set()
    followed: set[Symbol] = set()
    while todo:
        name = todo.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield name
        symbol = form.flow.symbol(form.source(name), name)
        if symbol in followed or not isinstance(symbol[1], _FUNCTIONS):
            continue
        followed.add(symbol)
        for call in form.flow.callers.get(symbol[1], {}):
            for given in [*call.args, *[k.value for k in call.keywords]]:
                todo += _names(form, given)


def _changing(form: _Native, updates: list[ast.expr]) -> Iterator[ast.AST]:
    """Expressions of variables and states that are called with keys or `mutable`, derived, jitted, or updated."""
    for node, value in form.uses:
        call = form.over_keyword(form.parent(node))
        if not isinstance(call, ast.Call):
            continue
        if isinstance(value, Method) and value.name == "apply" and call.func is node and call.args:
            inside = form.plan.sown or form.plan.transforms
            if inside or any(map(_says_more, call.keywords)) or form.jitted.name(call):
                yield _params(call.args[0])
        taken = form.flow.value(call.func)
        if isinstance(taken, Function) and call.func is not node:
            if (taken.transform and call.args[:1] == [node]) or any(_jitted(form, function) for function in taken.nodes):
                yield node
    for call in updates:
        changed = loaded.name_of(form, call)
        if changed is not None:
            yield changed
        if not isinstance(call, ast.Call):
            continue
        yield from [*call.args, *[k.value for k in call.keywords]]
        if isinstance(call.func, ast.Attribute):
            yield call.func.value


def _jitted(form: _Native, function: ast.AST) -> bool:
    """Is a function compiled, where it is defined or under another name?"""
    for decorator in getattr(function, "decorator_list", ()):
        said = decorator.args[:1] if _is_partial(decorator, form) else [getattr(decorator, "func", decorator)]
        if any(form.flow.name(each) in JIT for each in said):
            return True
    places = [node for node, _ in form.flow.uses.references(function)]
    return any(_given_to_jit(form, place) for place in [*places, function])


def _is_partial(node: ast.AST, form: _Native) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and form.flow.name(node.func) == "functools.partial"


def _given_to_jit(form: _Native, place: ast.AST) -> bool:
    """`jax.jit(f)`, `jax.jit(functools.partial(f, n))`"""
    outer = form.parent(place)
    call = form.parent(outer) if _is_partial(outer, form) else outer
    return isinstance(call, ast.Call) and form.flow.name(call.func) in JIT and place in subtree(call)


def _params(variables: ast.expr) -> ast.expr:
    """`params` in `{"params": params, "batch_stats": state.batch_stats}`, which says the module that is called."""
    if isinstance(variables, ast.Dict):
        for key, value in zip(variables.keys, variables.values):
            if isinstance(key, ast.Constant) and key.value == "params":
                return value
    return variables


def _says_more(keyword: ast.keyword) -> bool:
    plain = isinstance(keyword.value, ast.Constant) and not keyword.value.value
    return keyword.arg in ("rngs", "mutable") and not plain


def _names(form: _Native, given: ast.AST) -> Iterator[ast.Name]:
    for node in subtree(given):
        if isinstance(node, ast.Name):
            value = form.flow.value(node)
            if isinstance(value, Tracked) and not isinstance(value, Method) and form.component.holds(value):
                yield node


def is_traced(form: _Native, node: ast.AST) -> bool:
    """Does a node stand in a function that jax traces?"""
    scopes = [scope for scope in form.source(node).ancestors(node) if isinstance(scope, _FUNCTIONS)]
    return any(_traced(form, scope, None, set()) for scope in scopes)


def _traced(form: _Native, function: ast.AST, home: ast.AST | None, seen: set[ast.AST]) -> bool:
    """Is a function compiled or mapped, given to such a function of jax, or called by one that is?"""
    if function in seen:
        return False
    seen.add(function)
    for decorator in getattr(function, "decorator_list", ()):
        said = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (form.flow.name(said) or getattr(said, "id", "")) not in _PLAIN:
            return True
    places = [node for node, _ in form.flow.uses.references(function)]
    if any(_given_to_jax(form, place) for place in [*places, *[function] * isinstance(function, ast.Lambda)]):
        return True
    for call in form.flow.callers.get(function, {}):
        for scope in form.source(call).ancestors(call):
            if scope is home:
                break
            if isinstance(scope, _FUNCTIONS) and _traced(form, scope, home, seen):
                return True
    return False


def _given_to_jax(form: _Native, place: ast.AST) -> bool:
    """`jax.lax.scan(body, ...)`, `jax.vmap(functools.partial(body, x))`"""
    node = place
    while True:
        parent = form.parent(node)
        call = form.parent(parent) if isinstance(parent, ast.keyword | ast.List | ast.Tuple) else parent
        if not isinstance(call, ast.Call) or call.func is node:
            return False
        name = form.flow.name(call.func) or ""
        if name.startswith(_TRACING) and not name.startswith(_EAGER):
            return True
        node = call
