"""`predict = jax.jit(model.apply)` and `model.apply = jax.jit(model.apply)` in the functional form.

predict = jax.jit(model.apply)      →   predict = jax.jit(
                                            lambda params, *args, **kwargs: nnx.merge(graphdef, params)(*args, **kwargs)
                                        )
predict({"params": params}, x)      →   predict(params, x)
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Method, Model, Symbol
from ...trees import subtree
from . import functional_arrays
from .jitted_apply import is_wrapped
from .rewrite import JIT, Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_STATIC = {"static_argnames", "static_argnums"}
_MAPPING = {"jax.vmap", "jax.jit"}
_OTHERWISE = "apply that is jitted in another way"


@dataclasses.dataclass
class _Function:
    """A jitted function, and whether calls of it are known: one that stands for `model.apply` may have none."""

    call: ast.Call
    statement: ast.Assign
    name: str
    called: bool = False


class Jitted:
    """The jitted functions of a component's models."""

    def __init__(self, form: _Functional) -> None:
        self._form = form
        self._named: dict[Symbol, _Function] = {}
        self._instead: list[_Function] = []  # of `model.apply`, under a name that is made here
        for call in form.flow.uses.calls(JIT):
            method = form.flow.value(call)
            if isinstance(method, Method) and form.component.holds(method) and method.name == "apply":
                self._add(call)
        for found in (*self._named.values(), *self._instead):  # what is in the statements is seen to
            form.dropped.update(subtree(found.statement))

    def _add(self, call: ast.Call) -> None:
        form, statement = self._form, self._form.parent(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        function = call.args[0] if len(call.args) == 1 else None
        if not isinstance(function, ast.Attribute) or type(function.value) is not ast.Name:
            return  # `jax.jit(model.apply)(params, x)` is seen to by its call, and others are refused there
        if not isinstance(statement, ast.Assign) or len(form.parts) > 1 or form.is_logical(form.context(call)):
            return
        if isinstance(target, ast.Name):
            symbol = form.bound_once(target)
            if symbol is not None and {k.arg for k in call.keywords} <= _STATIC:
                self._named[symbol] = _Function(call, statement, target.id)
        elif isinstance(target, ast.Attribute) and target.attr == "apply" and not call.keywords:
            base = target.value
            if isinstance(base, ast.Name) and base.id == function.value.id and isinstance(form.flow.value(base), Model):
                self._instead.append(_Function(call, statement, self._free(call, base.id)))

    def _free(self, call: ast.Call, base: str) -> str:
        source = self._form.source(call)
        taken = {n.id for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name)}
        taken |= {n.arg for n in source.by_kind.get(ast.arg, ()) if isinstance(n, ast.arg)}
        for name in (f"{base}_forward", "forward", f"jitted_{base}"):
            if name not in taken and self._form.made_names.keep(self._form, call, [name]):
                return name
        raise Unsupported(call, f"the name {base}_forward is taken")

    def write(self) -> None:
        """The functions, once all calls are written."""
        form = self._form
        for found in (*self._named.values(), *self._instead):
            if found in self._instead and not found.called:
                form.delete(found.statement)
                continue
            context = form.context(found.call)
            function = found.call.args[0]
            assert isinstance(function, ast.Attribute)
            merge, holder = context.name("flax.nnx.merge"), form.holder(found.call, function)
            opening, end = functional_arrays.merged(form, context)
            written = f"lambda params, *args, **kwargs: {opening}{merge}({holder}, params){end}(*args, **kwargs)"
            target = found.statement.targets[0]
            if isinstance(target, ast.Attribute):
                form.replace(target, found.name)
            form.replace(function, written)

    def call(self, call: ast.Call, states: list[ast.expr | str]) -> bool:
        """Write a call of one of the functions."""
        form, found = self._form, self._called(call)
        if found is None:
            return False
        if any(k.arg in (None, "rngs", "mutable", "method", "capture_intermediates") for k in call.keywords):
            if found not in self._instead:
                raise Unsupported(call, _OTHERWISE)
            return False
        found.called = True
        if found in self._instead:
            form.replace(call.func, found.name)
        if states[0] is not call.args[0]:
            form.replace(call.args[0], states[0])
        return True

    def is_named(self, node: ast.AST) -> bool:
        """Is it the name of one of the functions?"""
        return isinstance(node, ast.Name) and self._form.flow.symbol(self._form.source(node), node) in self._named

    def _called(self, call: ast.Call) -> _Function | None:
        form, function = self._form, call.func
        if isinstance(function, ast.Name):
            return self._named.get(form.flow.symbol(form.source(function), function))
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return None
        source, base = form.source(call), form.flow.symbol(form.source(call), function.value)
        scopes = [scope for scope in source.ancestors(call) if isinstance(scope, ast.FunctionDef | ast.Lambda)]
        for found in self._instead:
            own = found.call.args[0].value  # type: ignore[attr-defined]
            seen = form.function(found.statement)
            if source is not form.source(own) or form.flow.symbol(source, own) != base:
                continue
            below = call.lineno > found.statement.lineno and (seen is None or seen in scopes)
            if below and not any(is_wrapped(form, scope) for scope in scopes):  # else what is around it is compiled
                return found
        return None


def mapped(form: _Functional, parent: ast.AST, node: ast.AST) -> bool:
    """`jax.vmap(model.apply, in_axes=(None, 0))(params, x)`: is `node` the function that is mapped and called?"""
    if not isinstance(parent, ast.Call) or parent.args[:1] != [node] or form.flow.name(parent.func) not in _MAPPING:
        return False
    call = form.parent(parent)
    return isinstance(call, ast.Call) and call.func is parent and not call.keywords


def write_mapped(form: _Functional, node: ast.Attribute) -> None:
    """`jax.vmap(model.apply)` → `jax.vmap(lambda variables, *inputs: nnx.merge(graphdef, variables)(*inputs))`"""
    context = form.context(node)
    merge = context.name("flax.nnx.merge")
    given = "variables" if len(form.parts) == 1 else "*variables.values()"
    if form.is_logical(context):
        laid_out = context.parity("laid_out")
        given = f"{laid_out}(variables)" if len(form.parts) == 1 else f"*map({laid_out}, variables.values())"
    opening, end = functional_arrays.merged(form, context)
    form.replace(node, f"lambda variables, *inputs: {opening}{merge}({form.holder(node, node)}, {given}){end}(*inputs)")
