"""`init` in a function of its own: `init(key, x)` after `@jax.jit def init(*args): return model.init(*args)`.

The one call of such a function is an init of the arguments that it is given; the function goes.
"""

from __future__ import annotations

import ast
import dataclasses

from ...trees import subtree
from .rewrite import Rewrite

JIT = {"jax.jit", "flax.nnx.jit"}


@dataclasses.dataclass(frozen=True)
class Wrapped:
    """A function that only calls `init`, and the one call of it."""

    inner: ast.Call  # model.init(*args, train=False)
    function: ast.FunctionDef | ast.Lambda
    call: ast.Call  # init(key, x)


def find(form: Rewrite, inner: ast.Call) -> Wrapped | None:
    """`init(key, x)` after `@jax.jit def init(*args): return model.init(*args)`: an init of these arguments."""
    function = form.function(inner)
    if not isinstance(function, ast.FunctionDef | ast.Lambda):
        return None
    returned = form.parent(inner)
    body = function.body if isinstance(function, ast.FunctionDef) else []
    alone = body == [returned] and isinstance(returned, ast.Return) if body else returned is function
    calls = list(form.flow.callers.get(function, {}))
    if not alone or len(calls) != 1 or not _hands_on(function, inner):
        return None
    (call,) = calls
    around = form.function(function)
    if around is None or form.function(call) is not around or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if {k.arg for k in call.keywords} & {k.arg for k in inner.keywords}:
        return None
    references = [node for node, _ in form.flow.uses.references(function)]
    if isinstance(function, ast.Lambda):
        references.append(function)
    for node in references:
        outer = form.parent(node)
        if isinstance(node, ast.Lambda) or jitted(form, node):
            if not jitted(form, node):
                return None
            outer = form.parent(outer)
        if outer is not call:
            return None
    decorators = getattr(function, "decorator_list", [])
    if any(form.flow.name(decorator) not in JIT for decorator in decorators):
        return None
    return Wrapped(inner, function, call)


def _hands_on(function: ast.FunctionDef | ast.Lambda, inner: ast.Call) -> bool:
    """Are the arguments those that the function has, in their order?"""
    arguments = function.args
    if arguments.defaults or arguments.kw_defaults or arguments.kwonlyargs or arguments.posonlyargs:
        return False
    names = [argument.arg for argument in arguments.args]
    given = [node.id if isinstance(node, ast.Name) else "" for node in inner.args]
    starred = [node.value.id for node in inner.args if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name)]
    if arguments.vararg is not None:
        if starred != [arguments.vararg.arg] or given[-1:] != [""]:
            return False
        given = given[:-1]
    elif starred:
        return False
    double = [k.value.id for k in inner.keywords if k.arg is None and isinstance(k.value, ast.Name)]
    kept = [k for k in inner.keywords if k.arg is None]
    if double != ([arguments.kwarg.arg] if arguments.kwarg is not None else []) or len(kept) != len(double):
        return False
    inside = {n.id for k in inner.keywords if k.arg is not None for n in subtree(k.value) if isinstance(n, ast.Name)}
    return given == names and not inside & set(names)


def jitted(form: Rewrite, node: ast.AST) -> bool:
    """Is a function given to `jax.jit`, in `jax.jit(initial_params)(key)`?"""
    call = form.parent(node)
    return isinstance(call, ast.Call) and call.args == [node] and form.flow.name(call.func) in JIT


def drop(form: Rewrite, found: Wrapped) -> None:
    """The function goes, and all that it says."""
    if isinstance(found.function, ast.FunctionDef):
        form.delete(found.function)
    form.dropped.update(subtree(found.function))


__all__ = ["JIT", "Wrapped", "drop", "find", "jitted"]
