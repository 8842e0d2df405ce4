"""`predict = jax.jit(model.apply)` and `model.apply = jax.jit(model.apply)`: a jitted function that is given the module.

predict = jax.jit(model.apply)      →   predict = nnx.jit(lambda module, *args: module(*args))
predict({"params": params}, x)      →   predict(model, x)
"""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import WRAPPERS, Function, Method, Model, Symbol
from ...trees import subtree
from . import traces
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native

_JIT = {"jax.jit", "flax.nnx.jit"}


class Jitted:
    """The names for jitted calls of a component's model."""

    def __init__(self, form: _Native) -> None:
        self._form = form
        self.statements: dict[ast.Assign, str] = {}
        self._names: set[Symbol] = set()
        self._attribute: tuple[ast.Assign, str] | None = None
        self.called = False  # the function that the name of `_attribute` holds
        for call in form.flow.uses.calls(_JIT):
            method = form.flow.value(call)
            statement = form.parent(call)
            if not (isinstance(method, Method) and form.component.holds(method) and method.name == "apply"):
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
            if not isinstance(statement, ast.Assign) or len(call.args) != 1 or call.keywords:
                raise Unsupported(call, "apply that is jitted in another way")
            if isinstance(target, ast.Name):
                symbol = form.flow.symbol(form.source(target), target)
                self.statements[statement] = target.id
                self._names.add(symbol)
            elif isinstance(target, ast.Attribute) and target.attr == "apply" and self._attribute is None:
                if not isinstance(form.flow.value(target.value), Model):
                    raise Unsupported(call, "apply that is jitted in another way")
                own = [f"{target.value.id}_forward"] if isinstance(target.value, ast.Name) else []
                name = form.free(form.source(call), form.function(call), ["forward", *own, "apply_model", "jitted_apply"])
                self._attribute = statement, name
                self.statements[statement] = name
            else:
                raise Unsupported(call, "apply that is jitted in another way")
        for symbol in self._names:
            stores = [
                node
                for node, _ in form.uses
                if isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and form.flow.symbol(form.source(node), node) == symbol
            ]
            if len(stores) != 1:
                raise Unsupported(stores[0], f"{symbol[2]} also holds other things")

    def names_given(self) -> list[Symbol]:
        """The name that this writer gives, in its scope."""
        if self._attribute is None:
            return []
        statement, name = self._attribute
        return [(self._form.source(statement).module, self._form.function(statement), name)]

    def drop(self) -> None:
        """What is in the statements is seen to."""
        for statement in self.statements:
            self._form.dropped.update(subtree(statement))

    def write(self) -> None:
        """The functions, once all calls are written: one that stands for `model.apply`, which nothing calls, is none."""
        form = self._form
        for statement, name in self.statements.items():
            if self._attribute is not None and statement is self._attribute[0] and not self.called:
                with contextlib.suppress(Unsupported):
                    form.delete(statement)
                    continue
            jit = form.context(statement).name("flax.nnx.jit")
            form.replace(statement, f"{name} = {jit}(lambda module, *args, **kwargs: module(*args, **kwargs))")

    def name(self, call: ast.Call) -> str:
        """The function for a call of apply, "" where the module itself is called."""
        form, function = self._form, call.func
        if isinstance(function, ast.Name) and form.flow.symbol(form.source(function), function) in self._names:
            return "" if traces.is_traced(form, call) else function.id  # what is around it is compiled
        if self._attribute is None or not isinstance(function, ast.Attribute) or function.attr != "apply":
            return ""
        statement, name = self._attribute
        source = form.source(call)
        if source is not form.source(statement) or call.lineno < statement.lineno:
            return ""
        scopes = [scope for scope in source.ancestors(call) if isinstance(scope, ast.FunctionDef | ast.Lambda)]
        seen = form.function(statement)
        if seen is not None and seen not in scopes:
            return ""
        if any(is_wrapped(form, scope) for scope in scopes) or any(name in source.names.bound_in(scope) for scope in scopes):
            return ""
        return name


def is_wrapped(form: Rewrite, function: ast.FunctionDef | ast.Lambda) -> bool:
    """Is a function decorated, or given to something like jit? What it calls is compiled with it."""
    if isinstance(function, ast.FunctionDef) and function.decorator_list:
        return True
    for node in form.flow.uses.calls(WRAPPERS):
        given = form.flow.value(node.args[0]) if node.args else None
        if isinstance(given, Function) and function in given.nodes:
            return True
    return False
