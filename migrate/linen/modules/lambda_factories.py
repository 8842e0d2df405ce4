"""Fields that hold a lambda which makes a layer: `norm: Callable = lambda: nn.LayerNorm(epsilon=1e-6)`.

One that takes nothing is a partial of what it makes, and is written as one: an NNX layer is made with sizes and random
streams, which only its caller knows.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...catalog import layers
from ...trees import subtree
from ..values.arguments import Arguments
from ..values.sites import Abs, Factory


def factory_of(run: Any, node: ast.Lambda, env: Any) -> Abs | None:
    """The partial that a lambda is, where it stands for a field's value; None for any other."""
    return as_partial(run, node, env) if _is_of_field(run, node, env) else None


def as_partial(run: Any, node: ast.Lambda, env: Any) -> Abs | None:
    """The partial that a lambda is, which takes nothing and makes a layer; None for any other."""
    call = node.body
    if ast.unparse(node.args) or not isinstance(call, ast.Call):
        return None
    given = [*call.args, *[k.value for k in call.keywords]]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg in (None, "name", "parent") for k in call.keywords):
        return None
    names = [n.id for value in given for n in subtree(value) if isinstance(n, ast.Name) and n.id != "self"]
    if any(env.get(name) is not None for name in names):
        return None  # asked for when it is called: it may mean something else by then
    if not all(_makes_nothing(run, n, env) for value in given for n in subtree(value) if isinstance(n, ast.Call)):
        return None
    from .construction import partial_of

    base = run.evaluate(call.func, env)
    factory = base.value
    if not isinstance(factory, Factory) or factory.field or factory.alternatives or factory.lifted or factory.variant:
        return None
    if layers.lookup(factory.target) is None and run.analyser.classes.get(factory.target) is None:
        return None
    positional = [(call.func, base), *[(a, run.evaluate(a, env)) for a in call.args]]
    arguments = Arguments(call, positional, [(k.arg, k.value, run.evaluate(k.value, env)) for k in call.keywords])
    found, static, flags = partial_of(run, factory, call, arguments, env)
    return Abs(dataclasses.replace(found, node=node), static, flags)


def _makes_nothing(run: Any, call: ast.Call, env: Any) -> bool:
    """Is it a call of a library's function, such as one that gives an initializer?"""
    name = run.project.qualname(env.source, call.func) or ""
    return name.startswith(("jax.", "numpy.", "flax.linen.initializers.", "functools."))


def _is_of_field(run: Any, node: ast.Lambda, env: Any) -> bool:
    """Is it the default of a module's field, or what a module is given?"""
    parent = env.source.parents.get(node)
    if isinstance(parent, ast.AnnAssign):
        home = env.source.parents.get(parent)
        return isinstance(home, ast.ClassDef) and any(home is info.node for info in run.project.linen_classes.values())
    call = env.source.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    called = call.func
    if run.project.qualname(env.source, called) == "functools.partial" and call.args and call.args[0] is not node:
        called = call.args[0]
    return run.analyser.classes.get(run.project.qualname(env.source, called)) is not None


__all__ = ["as_partial", "factory_of"]
