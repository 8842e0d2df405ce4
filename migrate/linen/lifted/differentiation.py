"""`nn.vjp`, `nn.grad`, `nn.value_and_grad`, `nn.jvp` and `nn.custom_vjp`: derivatives of functions of a module.

The functions are executed on the values that they are called with. What they compute with exists already: a module that
one of them makes would be Linen's in a scope that is cloned for the derivative.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...frozen import frozen
from ..modules.module_calls import invoke
from ..values.arguments import Arguments, arguments_of, function_env, parameters_of
from ..values.sites import Abs, Function, Module, SelfModule, Unmigratable
from ..values.values import Const, Global, Tup, Unknown, Value

_NAMES = ("vjp", "grad", "value_and_grad", "jvp", "custom_vjp")
DERIVATIVES = {f"flax.linen.{prefix}{name}": name for prefix in ("", "transforms.") for name in _NAMES}
# Options that the functions of linen_parity take.
_TAKEN = {
    "vjp": ("has_aux", "vjp_variables"),
    "grad": ("has_aux",),
    "value_and_grad": ("has_aux",),
    "jvp": ("variable_tangents",),
    "custom_vjp": ("forward_fn", "backward_fn", "fn"),
}


@frozen(eq=False)
class Pullback(Value):
    """The function that `nn.vjp` gives back: from cotangents of the result to those of the variables and arguments.

    That of `jax.vjp` has those of the arguments alone (not `variables`).
    """

    primals: tuple[Value, ...]
    variables: bool = True


@frozen(eq=False)
class CustomDerivative(Value):
    """`nn.custom_vjp(fn, forward_fn, backward_fn)`: a function of a module and arguments."""

    function: Value
    forward: Value
    backward: Value


def differentiate(run: Any, name: str, node: ast.Call, env: Any) -> Abs:
    """A transform is called: what it gives, and the note for the writer."""
    arguments = arguments_of(run, node, env)
    if arguments.starred() and name != "vjp":
        raise Unmigratable("NNX130", f"`nn.{name}` is given *args or **kwargs", node)
    options = {str(k): a for k, _, a in arguments.keywords}
    _check_options(name, node, options)
    run.derivatives[node] = (name, env.source)
    if name == "custom_vjp":
        return Abs(_custom(node, arguments, options), True)
    values = [a.value for _, a in arguments.positional]
    function, module, primals = _parts(name, node, arguments, values)
    if name == "jvp" and len(values) + ("variable_tangents" in options) != 5:
        raise Unmigratable("NNX130", "`nn.jvp` is called in a form that cannot be followed", node)
    plain = [run.plain(v) for v in primals]
    result = _result(run, node, function, module, plain)
    aux = _truth(options.get("has_aux"), node)
    out, extra = _with_aux(result) if aux else (result, None)
    inputs = tuple(plain)
    found: Value
    if name == "vjp":
        found = Tup((out, Pullback(inputs), *([extra] if extra is not None else [])))
    elif name == "grad":
        found = Tup((Tup(inputs), extra)) if extra is not None else Tup(inputs)
    elif name == "value_and_grad":
        found = Tup((Tup((out, extra)) if extra is not None else out, Tup(inputs)))
    else:
        found = Tup((out, out))
    return Abs(found, False, arguments.flags)


def _check_options(name: str, node: ast.Call, options: dict[str, Abs]) -> None:
    """NNX130 for options that the functions of linen_parity do not have."""
    unknown = [option for option in options if option not in _TAKEN[name]]
    if unknown:
        raise Unmigratable("NNX130", f"`nn.{name}` has the option {unknown[0]}", node)
    variables = options.get("vjp_variables")
    if variables is not None and not _named_params(variables.value):
        raise Unmigratable("NNX130", "`nn.vjp` asks for derivatives of other variables than the parameters", node)


def _named_params(value: Value) -> bool:
    """`"params"`, or nothing at all?"""
    if isinstance(value, Tup):
        return not value.items or value.items == (Const("params"),)
    return isinstance(value, Const) and value.value in ("params", False, None)


def _truth(found: Abs | None, node: ast.Call) -> bool:
    if found is None:
        return False
    if not isinstance(found.value, Const) or not isinstance(found.value.value, bool):
        raise Unmigratable("NNX130", f"`has_aux` of `{ast.unparse(node.func)}` is not a constant", node)
    return found.value.value


def _custom(node: ast.Call, arguments: Arguments, options: dict[str, Abs]) -> CustomDerivative:
    given = [a.value for _, a in arguments.positional]
    for name in ("fn", "forward_fn", "backward_fn")[len(given) :]:
        if name in options:
            given.append(options[name].value)
    if len(given) != 3:
        raise Unmigratable("NNX130", "`nn.custom_vjp` is called in a form that cannot be followed", node)
    return CustomDerivative(*given)


def _parts(
    name: str, node: ast.Call, arguments: Arguments, values: Sequence[Value]
) -> tuple[Value, Module | SelfModule, list[Value]]:
    """The function, its module and what else it is given."""
    if len(values) < 2 or not isinstance(values[1], SelfModule | Module):
        raise Unmigratable("NNX130", f"`nn.{name}` is not given one module that is known", node)
    rest = list(values[2:])
    if name == "jvp":
        if not rest or not isinstance(rest[0], Tup):
            raise Unmigratable("NNX130", "`nn.jvp` is called in a form that cannot be followed", node)
        rest = list(rest[0].items)
    if any(isinstance(n, ast.Starred) for n, _ in arguments.positional):
        rest = [Unknown("an argument")]
    return values[0], values[1], rest


def _result(run: Any, node: ast.Call, function: Value, module: Module | SelfModule, values: Sequence[Value]) -> Value:
    """What a function gives for a module and arguments. It must make nothing."""
    before = len(run.sites)
    if isinstance(function, Global) and isinstance(module, Module):
        owner, _, method = function.name.rpartition(".")
        if owner != module.site.target or module.site.kind != "class" or method != "__call__":
            raise Unmigratable("NNX130", f"`{ast.unparse(node)}` differentiates what is not followed", node)
        result = invoke(run, Abs(module), values)
    elif isinstance(function, Function):
        names = parameters_of(function.node)
        if not names:
            raise Unmigratable("NNX130", f"`{ast.unparse(node)}` differentiates a function without a module", node)
        bound = {names[0]: Abs(module, isinstance(module, SelfModule))}
        bound |= {n: Abs(v) for n, v in zip(names[1:], values)}
        for name in names:
            bound.setdefault(name, Abs(Unknown(f"argument {name}")))
        holder, run.holder = run.holder, names[0]
        try:
            result = run.run_function(function.node, function_env(run, function, bound)).value
        finally:
            run.holder = holder
    else:
        raise Unmigratable("NNX130", f"`{ast.unparse(node)}` differentiates what is not followed", node)
    if any(site.kind != "rng" for site in run.sites[before:]):
        raise Unmigratable("NNX134", f"modules are made in a function given to `{ast.unparse(node.func)}`", node)
    return result


def _with_aux(result: Value) -> tuple[Value, Value]:
    if isinstance(result, Tup) and len(result.items) == 2:
        return result.items[0], result.items[1]
    return Unknown("a differentiated value"), Unknown("what a differentiated function also gives")


def pull_back(run: Any, pullback: Pullback, node: ast.Call, env: Any) -> Abs:
    """The function that `nn.vjp` or `jax.vjp` gave is called."""
    arguments = arguments_of(run, node, env)
    variables = (Unknown("derivatives of variables"),) if pullback.variables else ()
    return Abs(Tup((*variables, *pullback.primals)), False, arguments.flags)


def call_custom(run: Any, target: CustomDerivative, node: ast.Call, env: Any) -> Abs:
    """A function with a derivative of its own is called on a module and arguments."""
    arguments = arguments_of(run, node, env)
    if arguments.starred() or arguments.keywords:
        raise Unmigratable("NNX130", "a function of `nn.custom_vjp` is called with *args or keywords", node)
    values = [a.value for _, a in arguments.positional]
    if not values or not isinstance(values[0], SelfModule | Module):
        raise Unmigratable("NNX130", "a function of `nn.custom_vjp` is not given one module that is known", node)
    module, rest = values[0], [run.plain(v) for v in values[1:]]
    out = _result(run, node, target.function, module, rest)
    forward = _result(run, node, target.forward, module, rest)
    residuals = forward.items[1] if isinstance(forward, Tup) and len(forward.items) == 2 else Unknown("residuals")
    if not isinstance(target.backward, Function):
        raise Unmigratable("NNX130", "the backward function of `nn.custom_vjp` is not followed", node)
    names = parameters_of(target.backward.node)
    bound = {n: Abs(v) for n, v in zip(names, [residuals, out])}
    before = len(run.sites)
    run.run_function(target.backward.node, function_env(run, target.backward, bound))
    if len(run.sites) > before:
        raise Unmigratable("NNX134", "modules are made in a function given to `nn.custom_vjp`", node)
    return Abs(out, False, arguments.flags)


__all__ = ["DERIVATIVES", "CustomDerivative", "Pullback", "call_custom", "differentiate", "pull_back"]
