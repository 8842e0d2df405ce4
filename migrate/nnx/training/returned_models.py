"""Models that functions return beside what they have initialized: their structures, in the functional form.

def create_model(key):                      def create_model(key):
  model = Net(16)                             model = functools.partial(Net, 16)
  params = model.init(key, x)                 graphdef, params = nnx.split(model(...), nnx.Param)
  return model, params                        return graphdef, params
model, params = create_model(key)    →      graphdef, params = create_model(key)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Symbol
from ...linen.flow.flow_versions import bare
from ...linen.flow.self_names import SelfName
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_REASON = "a model that a function returns"


def is_result(form: _Functional, symbol: Symbol) -> bool:
    """Is a name assigned from the result of functions of the project?"""
    return _assigned(form, symbol) is not None


def convert(form: _Functional, symbol: Symbol) -> tuple[list[ast.expr], list[Symbol]]:
    """The expressions that the functions return for a name, and the other names that get their results."""
    assigned = _assigned(form, symbol)
    assert assigned is not None
    call, path = assigned
    function = form.flow.value(call.func)
    assert isinstance(function, Function)
    given: list[ast.expr] = []
    others: list[Symbol] = []
    for node in function.nodes:
        if not isinstance(node, ast.FunctionDef) or node in form.flow.partials:
            raise Unsupported(call, _REASON)
        form.returned.add((node, path))
        source = form.source(node)
        returns = [r for r in source.by_kind.get(ast.Return, ()) if r in form.flow.source_of and form.function(r) is node]
        for statement in returns:
            expression = _at(getattr(statement, "value", None), path)
            if expression is None:
                raise Unsupported(statement, _REASON)
            given.append(expression)
        for other in form.flow.callers.get(node, {}):
            others += _received(form, other, path)
    return given, others


def returns(form: _Functional, node: ast.expr) -> bool:
    """Is it what a function returns as a structure now?"""
    path: tuple[int, ...] = ()
    parent = form.parent(node)
    if isinstance(parent, ast.Tuple):
        path, parent = (parent.elts.index(node),), form.parent(parent)
    return isinstance(parent, ast.Return) and (form.function(node), path) in form.returned


def name_of(form: _Functional, symbol: Symbol) -> str:
    """What a name is called now; where it is assigned it is renamed, if that can be done."""
    module, scope, said = symbol[0], symbol[1], bare(symbol)
    if symbol in form.renamed:
        return form.renamed[symbol]
    source = form.flow.project.files[module]
    taken = {n.id for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name)}
    taken |= {n.arg for n in source.by_kind.get(ast.arg, ()) if isinstance(n, ast.arg)}
    taken |= set(map(bare, form.renamed)) | set(form.renamed.values())
    alone = not any(other != symbol and not form.is_parameter(other) for other in form.structures)
    wanted = [*(["graphdef"] if alone else []), f"{said}_graphdef"]
    uses = [n for n in form.flow.source_of if isinstance(n, ast.Name) and n.id == said]
    outside = any(form.source(n) is not source and form.flow.symbol(form.source(n), n) == symbol for n in uses)
    outside = outside or (scope is None and len(list(form.readers(module))) > 1)
    free = (name for name in wanted if name not in taken)
    reserved = (name for name in free if form.made_names.reserve(form, (module, scope, name), symbol))
    name = said if outside else next(reserved, said)
    form.renamed[symbol] = name
    for node in (use for use in uses if form.source(use) is source) if name != said else ():
        if not isinstance(node.ctx, ast.Load) and form.flow.symbol(source, node) == symbol:
            form.replace(node, name)
    return name


def _assigned(form: _Functional, symbol: Symbol) -> tuple[ast.Call, tuple[int, ...]] | None:
    source = form.flow.project.files[symbol[0]]
    for node in source.by_kind.get(ast.Name, ()):
        if not isinstance(node, ast.Name) or isinstance(node, SelfName) or not isinstance(node.ctx, ast.Store):
            continue
        if node.id != bare(symbol) or node not in form.flow.source_of or form.flow.symbol(source, node) != symbol:
            continue
        target = form.parent(node)
        path: tuple[int, ...] = ()
        if isinstance(target, ast.Tuple):
            plain = not any(isinstance(e, ast.Starred) for e in target.elts)
            path, target = ((target.elts.index(node),) if plain else ()), form.parent(target)
        call = target.value if isinstance(target, ast.Assign) and len(target.targets) == 1 else None
        if not isinstance(call, ast.Call) or (not path and node is not target.targets[0]):  # type: ignore[attr-defined]
            return None
        function = form.flow.value(call.func)
        return (call, path) if isinstance(function, Function) and not function.transform else None
    return None


def _at(node: ast.expr | None, path: tuple[int, ...]) -> ast.expr | None:
    """An item of a tuple that is spelled out."""
    for index in path:
        plain = isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts)
        node = node.elts[index] if plain and index < len(node.elts) else None  # type: ignore[union-attr]
    return node


def _received(form: _Functional, call: ast.Call, path: tuple[int, ...]) -> list[Symbol]:
    """The name that gets a result of one call, where it is read."""
    parent = form.parent(call)
    target = _at(parent.targets[0], path) if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if not isinstance(target, ast.Name) or isinstance(target, SelfName):
        raise Unsupported(call, _REASON)
    symbol = form.bound_once(target)
    if symbol is None:
        raise Unsupported(call, _REASON)
    return [symbol]
