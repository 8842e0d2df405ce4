"""Functions that are handed `apply`: what they are handed in the functional form is the model's structure.

loss_fn(params, state.apply_fn, x)  →   loss_fn(params, state.graphdef, x)
def loss_fn(params, apply_fn, x):   →   def loss_fn(params, graphdef, x):
  y = apply_fn({'params': params}, x)     y = nnx.merge(graphdef, params)(x)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.flow.flow_values import Function, Method, Model
from ...trees import subtree

if TYPE_CHECKING:
    from .functional import _Functional

_NAME = "graphdef"


def hand_on(form: _Functional, node: ast.AST) -> bool:
    """`state.apply_fn` as an argument of functions that are followed: whether it is one, its text then the structure."""
    parent = form.parent(node)
    call = form.over_keyword(parent)
    if not isinstance(call, ast.Call) or not isinstance(node, ast.Attribute | ast.Name):
        return False
    partial = form.flow.name(call.func) == "functools.partial"
    function = form.flow.value(call.args[0] if partial and call.args else call.func)
    if not isinstance(function, Function) or not form.goes_on(node):
        return False
    if isinstance(node, ast.Attribute):
        form.replace(node, form.holder(node, node))
    else:
        form.replace(node, name_of(form, node))
    return True


def name_of(form: _Functional, name: ast.Name) -> str:
    """What a parameter that is handed `apply` is called now; it is renamed where that is asked for the first time."""
    symbol = module, scope, said = form.flow.symbol(form.source(name), name)
    if symbol in form.renamed:
        return form.renamed[symbol]
    source = form.source(name)
    found = said
    if isinstance(scope, ast.FunctionDef):
        own = scope.args
        argument = next((a for a in [*own.posonlyargs, *own.args, *own.kwonlyargs] if a.arg == said), None)
        keywords = _keywords(form, scope, said)
        if argument is not None:
            renames = keywords is not None and _may_rename(form, scope, said)
            found = _NAME if renames and form.made_names.reserve(form, (module, scope, _NAME), symbol) else said
            kind = f": {form.context(argument).name('flax.nnx.GraphDef')}" if argument.annotation is not None else ""
            form.replace(argument, f"{found}{kind}")
            for keyword in keywords or () if found != said else ():
                start = form.source(keyword).span(keyword).start
                form.replace_span(keyword, Span(start, start + len(said)), found)
    elif not isinstance(scope, ast.FunctionDef | ast.Lambda) or source.module != module:
        return ""
    form.renamed[symbol] = found
    return found


def _keywords(form: _Functional, scope: ast.FunctionDef, said: str) -> list[ast.keyword] | None:
    """The keywords by which callers name a parameter; None where they may name it in other ways."""
    found: list[ast.keyword] = []
    partials = form.flow.partials.get(scope, {})
    for call in [*form.flow.callers.get(scope, {}), *partials]:
        function = form.flow.value(call.args[0] if call in partials else call.func)
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        named = [keyword for keyword in call.keywords if keyword.arg == said]
        if named and not (isinstance(function, Function) and function.nodes == {scope}):
            return None
        found += named
    return found


def _may_rename(form: _Functional, scope: ast.FunctionDef, said: str) -> bool:
    """Is a parameter named by no text, and is the new name free?"""
    for node in subtree(scope):
        if (isinstance(node, ast.Name) and node.id == _NAME) or (isinstance(node, ast.arg) and node.arg == _NAME):
            return False
        if isinstance(node, ast.Name) and node.id == said and not isinstance(form.flow.value(node), Method | Model):
            return False  # a function within that has such a name of its own, or an assignment
    for source in form.readers(form.source(scope).module):
        texts = (n.value for n in source.by_kind.get(ast.Constant, ()) if isinstance(n, ast.Constant))
        if "argnames" in source.text and said in set(map(str, texts)):
            return False
    return True
