"""`model.bind(variables)`, whose methods and parts are called: a model of NNX is bound already.

    bound = model.bind({'params': state.params})    →   bound = nnx.clone(model)                        the NNX idiom
                                                    →   bound = nnx.merge(state.graphdef, state.params)   split state
    z = bound.encode(x)                             →   z = bound.encode(x)

The variables are those of the moment, as in Linen, and nothing that is called changes them: Linen would have raised.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Bound, Function, Method
from . import loops
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native

# What Linen's modules have beside their parts and methods.
_OF_LINEN = {
    *("variables", "unbind", "bind", "clone", "copy", "apply", "init", "init_with_output", "lazy_init", "tabulate"),
    *("scope", "path", "name", "parent", "param", "variable", "get_variable", "has_variable", "put_variable", "has_rng"),
    *("make_rng", "sow", "perturb", "is_mutable_collection", "is_initializing", "module_paths", "setup", "children"),
}


def check(form: Rewrite) -> None:
    """Unsupported where a bound model is used otherwise than by calls of it, its methods and its parts."""
    for node, value in form.flow.uses.tracked(form.component.sites):
        if not isinstance(value, Bound):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            _check_store(form, node)
        elif isinstance(node, ast.Call):
            _check_call(form, node)
        elif isinstance(node, ast.Name) and isinstance(form.parent(node), ast.Return):
            continue
        elif not isinstance(node, ast.Name | ast.Attribute) or not _is_called(form, node):
            raise Unsupported(node, "the method bind")


def _check_store(form: Rewrite, name: ast.Name) -> None:
    """Does the name hold this one bound model?"""
    statement = form.statement(name)
    plain = isinstance(statement, ast.Assign) and statement.targets == [name]
    symbol = form.flow.symbol(form.source(name), name)
    stores = [n for n in form.flow.occurrences(symbol) if not isinstance(n.ctx, ast.Load)]
    if not plain or len(stores) != 1 or not isinstance(statement.value, ast.Call):  # type: ignore[attr-defined]
        raise Unsupported(name, "the method bind")


def _check_call(form: Rewrite, call: ast.Call) -> None:
    plans = [plan for plans in form.component.plans for plan in plans]
    parent = form.parent(call)
    named = isinstance(parent, ast.Assign | ast.Return) and parent.value is call
    if not (_binds(form, call) or isinstance(form.flow.value(call.func), Function)) or not (named or _is_called(form, call)):
        raise Unsupported(call, "the method bind")
    if not _binds(form, call):
        return  # of a function that returns a bound model
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        raise Unsupported(call, "a model that is bound to more than variables")
    if any(plan.sown or plan.late or plan.updated or plan.modes for plan in plans):
        raise Unsupported(call, "a bound model that sows, or makes variables when it is called")


def _binds(form: Rewrite, node: ast.AST) -> bool:
    method = form.flow.value(node.func) if isinstance(node, ast.Call) else None
    return isinstance(method, Method) and method.name == "bind"


def _is_called(form: Rewrite, node: ast.AST) -> bool:
    """`bound(x)`, `bound.encode(x)`, `bound.encoder(x)`"""
    parent = form.parent(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        return True
    if not isinstance(parent, ast.Attribute) or isinstance(node, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
        return False
    call = form.parent(parent)
    plans = [plan for plans in form.component.plans for plan in plans]
    own = parent.attr.startswith("_") or any(parent.attr in (*plan.renamed_attributes, *plan.fields) for plan in plans)
    return isinstance(call, ast.Call) and call.func is parent and not own and parent.attr not in _OF_LINEN


def write(form: _Native, call: ast.Call) -> None:
    """The model itself where it is called at once; else a copy, which no update changes."""
    if not _binds(form, call):
        return
    name = loops.module_of(form, call.args[0])
    if isinstance(form.parent(call), ast.Assign | ast.Return):
        name = f"{form.context(call).name('flax.nnx.clone')}({name})"
    form.replace(call, name)
