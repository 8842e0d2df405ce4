"""The transformation behind `tx.init(params)` and `tx.update(grads, opt_state)`, which may have names of their own.

    opt_init, opt_update = optax.adam(1e-3)             →    tx = optax.adam(1e-3)
    opt_state = opt_init(params)                        →    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)

An `nnx.Optimizer` is given the whole, so that the pair becomes one name where nobody but the loop calls the two.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Half, Symbol, Transformation
from ...linen.flow.flow_versions import bare
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


@dataclasses.dataclass(frozen=True)
class Whole:
    """One transformation; equal where it is the same."""

    symbol: Symbol  # its name; that of its `init` where it has none
    pair: ast.Assign | None = None  # opt_init, opt_update = optax.adam(1e-3)


def of(form: _Native, function: ast.expr, call: ast.Call) -> Whole:
    """The transformation of `tx.init`, `tx.update`, `opt_init` or `opt_update`. Unsupported where it has no one name."""
    if isinstance(function, ast.Attribute) and not isinstance(form.flow.value(function), Half):
        return _named(form, function.value, call)
    if isinstance(function, ast.Attribute) and isinstance(form.flow.value(function.value), Transformation):
        return _named(form, function.value, call)
    if not isinstance(function, ast.Name):
        raise Unsupported(call, "an optimizer that has no name")
    half = form.flow.value(function)
    store = _only_store(form, form.flow.symbol(form.source(function), function), call)
    target = form.parent(store)
    statement = form.parent(target) if isinstance(target, ast.Tuple) else target
    if not (isinstance(half, Half) and isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        raise Unsupported(call, "an optimizer that has no name")
    said: ast.expr = statement.value
    if isinstance(target, ast.Tuple) and isinstance(said, ast.Tuple):
        said = said.elts[target.elts.index(store)]
    elif isinstance(target, ast.Tuple):
        return _pair(form, statement, target, call)
    if not (isinstance(said, ast.Attribute) and said.attr == half.method):
        raise Unsupported(call, "an optimizer that has no name")
    return _named(form, said.value, call)


def _named(form: _Native, node: ast.expr, call: ast.Call) -> Whole:
    if not isinstance(node, ast.Name):
        raise Unsupported(call, "an optimizer that has no name")
    symbol = form.flow.symbol(form.source(node), node)
    _only_store(form, symbol, call)
    return Whole(symbol)


def _only_store(form: _Native, symbol: Symbol, call: ast.Call) -> ast.Name:
    stores = [node for node in form.flow.occurrences(symbol) if isinstance(node.ctx, ast.Store)]
    if len(stores) != 1:
        raise Unsupported(call, "one of several optimizers")
    return stores[0]


def _pair(form: _Native, statement: ast.Assign, target: ast.Tuple, call: ast.Call) -> Whole:
    if not all(isinstance(name, ast.Name) for name in target.elts):
        raise Unsupported(call, "an optimizer that has no name")
    names = [name for name in target.elts if isinstance(name, ast.Name)]
    symbols = [form.flow.symbol(form.source(name), name) for name in names]
    for symbol in symbols:
        _only_store(form, symbol, call)
    return Whole(symbols[0], statement)


def name(form: _Native, whole: Whole, creation: ast.Call, updates: list[ast.Call]) -> str:
    """What the transformation is called where the optimizer is made; a pair gets a name.

    Unsupported where a pair is used otherwise than by the loop, and where the name is not known there.
    """
    if whole.pair is None:
        said = bare(whole.symbol)
        known = whole.symbol[0] == form.source(creation).module
        scopes = [scope for scope in form.source(creation).ancestors(creation) if isinstance(scope, ast.FunctionDef)]
        if not known or not (whole.symbol[1] is None or whole.symbol[1] in scopes):
            raise Unsupported(creation, "an optimizer under a name that is not known where its state is made")
        form.visible(creation, whole.symbol, said)
        return said
    target = whole.pair.targets[0]
    assert isinstance(target, ast.Tuple)
    called = {call.func for call in (creation, *updates)}
    for element in target.elts:
        assert isinstance(element, ast.Name)
        symbol = form.flow.symbol(form.source(element), element)
        for other in form.flow.occurrences(symbol):
            if other is not element and other not in called:
                raise Unsupported(other, "half of an optimizer that goes elsewhere")
        if _exported(form, symbol):
            raise Unsupported(element, "half of an optimizer that other files have")
    given = form.free(form.source(whole.pair), whole.symbol[1], ["tx", "gradient_transformation"])
    form.visible(creation, whole.symbol, given)
    return given


def _exported(form: _Native, symbol: Symbol) -> bool:
    """Does another file read a name of this one?"""
    module, scope, said = symbol
    if scope is not None:
        return False
    return any(
        isinstance(node, ast.Name | ast.Attribute) and form.flow.name(node) == f"{module}.{said}"
        for node, source in form.program_nodes()
        if source.module != module
    ) or any(f"{module}.{said}" in source.names.imports.values() for source in form.flow.project.files.values())


def write(form: _Native, whole: Whole, given: str) -> None:
    """`tx = optax.adam(1e-3)`"""
    if whole.pair is not None:
        form.replace(whole.pair.targets[0], given)
