"""Lifted functions: functions and methods of a module under `nn.scan`, `nn.vmap`, `nn.remat`; `nn.cond` and others.

The function is executed once on what one step or member sees. What it makes belongs to the module that it is given as
its first argument, stacked along an axis where the transform maps the variables.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..values.arguments import arguments_of, defaults_of, function_env, parameters_of
from ..values.dims import Dim
from ..values.environment import Env
from ..values.mapped_axes import drop_axes, in_axes_of, insert_axes, mapped_size, scan_carry, traced
from ..values.merging import Either
from ..values.sites import (
    Abs,
    Function,
    Lifted,
    LiftedCall,
    LiftedFunction,
    Module,
    PartialLift,
    SelfModule,
    Static,
    Table,
    Unmigratable,
)
from ..values.values import Const, Int, NeedsRank, Tup, Unknown, Value

LIFTED = {
    f"flax.linen.{prefix}{name}": kind
    for prefix in ("", "transforms.")
    for name, kind in {
        "remat": "remat",
        "checkpoint": "remat",
        "scan": "scan",
        "vmap": "vmap",
        "jit": "jit",
        "remat_scan": "remat_scan",
        "map_variables": "map_variables",
    }.items()
} | {
    "flax.linen.partitioning.remat": "remat",
    "flax.linen.partitioning.scan_with_axes": "scan",
    "flax.linen.partitioning.vmap_with_axes": "vmap",
}
_NAMES = (
    "add_metadata_axis", "cond", "switch", "while_loop", "grad", "value_and_grad",
    "vjp", "jvp", "custom_vjp", "fold_rngs",
)  # fmt: skip
OTHER_LIFTED = frozenset(f"flax.linen.{prefix}{name}" for prefix in ("", "transforms.") for name in _NAMES)
CONTROL = {f"flax.linen.{prefix}{name}": name for prefix in ("", "transforms.") for name in ("cond", "switch", "while_loop")}
LIFTED_PARAMETERS = {
    "remat": ["variables", "rngs", "concrete", "prevent_cse", "static_argnums", "policy", "methods"],
    "scan": [
        "variable_axes", "variable_broadcast", "variable_carry", "split_rngs", "in_axes", "out_axes", "length",
        "reverse", "unroll",
    ],
    "vmap": ["variable_axes", "split_rngs", "in_axes", "out_axes", "axis_size", "axis_name"],
    "jit": ["variables", "rngs", "static_argnums", "static_argnames", "donate_argnums"],
    "remat_scan": ["lengths", "policy", "variable_broadcast", "variable_carry", "variable_axes", "split_rngs"],
    "map_variables": [
        "mapped_collections", "trans_in_fn", "trans_out_fn", "init", "mutable", "rngs", "variables", "methods",
    ],
}  # fmt: skip
NOT_ALONE = "a lifted function stacks the variables of a module that is not made for it alone"
WHOLE = ("remat_scan", "map_variables")  # transforms that a function of linen_parity carries out whole
_ALLOWED = {
    "remat": {"variables", "rngs", "concrete", "prevent_cse", "static_argnums", "policy", "methods"},
    "scan": {*LIFTED_PARAMETERS["scan"], "metadata_params", "methods", "axis_name", "axes_collections",
             "_split_transpose", "check_constancy_invariants"},
    "vmap": {*LIFTED_PARAMETERS["vmap"], "metadata_params", "methods", "spmd_axis_name", "partitioning_axis_names"},
    "jit": {"variables", "rngs", "static_argnums", "static_argnames", "donate_argnums", "methods"},
    "remat_scan": {*LIFTED_PARAMETERS["remat_scan"]} - {"variable_carry"},
    "map_variables": {*LIFTED_PARAMETERS["map_variables"]} - {"rngs", "variables"},
}  # fmt: skip


def options_of(
    kind: str,
    node: ast.Call,
    positional: Sequence[tuple[ast.expr, Abs]],
    keywords: Sequence[tuple[str | None, ast.expr, Abs]],
) -> tuple[dict[str, ast.expr], dict[str, Abs]]:
    """The options of a transform, by name."""
    names = LIFTED_PARAMETERS[kind]
    options: dict[str, ast.expr] = {}
    known: dict[str, Abs] = {}
    for position, (arg, value) in enumerate(positional):
        if position >= len(names) or isinstance(arg, ast.Starred):
            raise Unmigratable("NNX130", f"the options of `{ast.unparse(node.func)}` cannot be followed", node)
        options[names[position]], known[names[position]] = arg, value
    for key, arg, value in keywords:
        if key is None:
            if isinstance(value.value, Table) and not value.value.items:
                continue  # a followed function's **kwargs, where its caller gives none
            raise Unmigratable("NNX137", f"`{ast.unparse(node.func)}` is given **kwargs", node)
        if key not in ("target", "module", "fn"):
            options[key], known[key] = arg, value
    unknown = sorted(set(options) - _ALLOWED[kind])
    if unknown:
        raise Unmigratable("NNX130", f"nn.{kind} has the option {unknown[0]}", node)
    for name, value in known.items():
        if isinstance(value.value, Table) and value.value.maybe:
            raise Unmigratable("NNX168", f"what `{name}` of nn.{kind} holds depends on a condition", node)
    return options, known


def partial_lift(run: Any, name: str, node: ast.Call, env: Any) -> PartialLift:
    """`functools.partial(nn.scan, ...)`."""
    arguments = arguments_of(run, node, env)
    if len(arguments.positional) > 1:
        raise Unmigratable("NNX130", "a lifted transform is given its target by functools.partial", node)
    options, known = options_of(LIFTED[name], node, [], arguments.keywords)
    return PartialLift(name, LIFTED[name], options, known)


def label_of(name: str, known: Mapping[str, Abs]) -> str:
    """What `flax.linen.partitioning` puts before the name of a class that it lifts; "" for what others do.

    It renames axes by a transform of its own around the scan or vmap, where it has axes to name.
    """
    if name == "flax.linen.partitioning.remat":
        return "Core_remat_static"
    if not name.startswith("flax.linen.partitioning."):
        return ""
    axes = known.get("variable_axes")
    mapped = axes is None or not isinstance(axes.value, Table) or "params" in axes.value.items
    names = known.get("partitioning_axis_names")
    if LIFTED[name] == "vmap":
        return "Map_variablesVmap" if mapped and names is not None and getattr(names.value, "items", True) else ""
    return "Map_variablesScan" if mapped else ""


def decorator_lift(run: Any, node: ast.expr, source: Any) -> Lifted | None:
    """What a decorator lifts with: `@nn.remat`, `@partial(nn.scan, ...)`; None for any other decorator."""
    known: Lifted | None = run.decorators.get(node)
    if known is not None:
        return known
    called = node if isinstance(node, ast.Call) else None
    qualname = run.project.qualname(source, called.func if called is not None else node) or ""
    options: Mapping[str, ast.expr] = {}
    values: Mapping[str, Abs] = {}
    if called is not None and qualname == "functools.partial" and called.args:
        qualname = run.project.qualname(source, called.args[0]) or ""
        if qualname in LIFTED:
            found = partial_lift(run, qualname, called, Env({}, source))
            options, values = found.options, found.abs
    elif called is not None and qualname in LIFTED:
        raise Unmigratable("NNX130", f"`{ast.unparse(node)}` lifts without a target", node)
    if qualname in OTHER_LIFTED:
        raise Unmigratable("NNX130", f"`{ast.unparse(node)}` lifts a function of the module", node)
    if qualname not in LIFTED:
        return None
    lifted = Lifted(LIFTED[qualname], called or node, options, values, name=qualname)  # type: ignore[arg-type]
    run.decorators[node] = lifted
    return lifted


def transforms_of(lifted: Sequence[Lifted], method: str) -> tuple[Lifted, ...]:
    """The transforms around a class that one of its methods goes through: without `methods`, only `__call__` does."""
    return tuple(one for one in lifted if method in _methods(one))


def _methods(lifted: Lifted) -> Collection[str]:
    found = lifted.abs.get("methods")
    if found is None or (isinstance(found.value, Const) and found.value.value is None):
        return ("__call__",)
    names = [i.value if isinstance(i, Const) else None for i in found.value.items] if isinstance(found.value, Tup) else []
    if not names or not all(isinstance(n, str) for n in names):
        raise Unmigratable("NNX130", f"`methods` of nn.{lifted.kind} is no list of names", lifted.node)
    return [str(n) for n in names]


Axis = int | Dim  # a number, or a field that holds one


def variable_axis(lifted: Lifted, used: Collection[str] | None = None, apart: bool = False) -> tuple[str, Axis]:
    """What a scan or vmap does with the variables: `stacked` along an axis, `shared` by all, or `carried` along.

    Collections that are not among those `used`, where these are known, do not matter. `apart`: they may be stacked along
    other axes than the parameters, see `axes_apart`, and the axis may be a field's.
    """
    axes = axes_by_collection(lifted)
    carry = lifted.abs.get("variable_carry")
    carried = carry is not None and not (isinstance(carry.value, Const) and carry.value.value in (None, False))
    found = {k: v for k, v in axes.items() if k not in ("intermediates", "params_axes")}
    if used is not None:
        found = {k: v for k, v in found.items() if k in ("params", "True") or k in used}
    everything = found.pop("True", None) if "True" in found else None
    if everything is not None:
        found.setdefault("params", everything)
    if "params" not in found:
        if {v for v in found.values() if v is not None}:
            raise Unmigratable("NNX168", "some collections are mapped and the parameters are not", lifted.node)
        return ("carried" if carried else "shared"), 0
    numbers = set(found.values())
    if numbers == {None}:
        return ("carried" if carried else "shared"), 0
    if carried:
        raise Unmigratable("NNX168", "a scan carries some variables and maps others (variable_carry)", lifted.node)
    axis = found["params"]
    broadcast = any(_is_broadcast(lifted, c) for c in set(used or ()) - set(axes))
    if axis is None or None in numbers or broadcast or (len(numbers) > 1 and not apart):
        raise Unmigratable("NNX168", "collections are mapped along different axes", lifted.node)
    if isinstance(axis, Dim) and not apart:
        raise Unmigratable("NNX168", "variable_axes of a lifted transform is not a literal", lifted.node)
    return "stacked", axis


def _is_broadcast(lifted: Lifted, collection: str) -> bool:
    """Do all steps share the variables of a collection, while others are stacked?"""
    given = lifted.abs.get("variable_broadcast")
    if given is None or (isinstance(given.value, Const) and given.value.value in (None, False)):
        return False
    names = given.value.items if isinstance(given.value, Tup) else (given.value,)
    if not all(isinstance(name, Const) and isinstance(name.value, str) for name in names):
        return collection not in ("params", "intermediates", "params_axes")
    return Const(collection) in names


def axes_apart(lifted: Lifted, used: Collection[str]) -> dict[str, Axis]:
    """Of the collections `used`, those that are stacked along another axis than the parameters."""
    axes = axes_by_collection(lifted)
    everything = axes.get("True")
    params = axes.get("params", everything)
    found = {name: axes.get(name, everything) for name in used if name not in ("params", "params_axes")}
    return {name: axis for name, axis in found.items() if axis is not None and axis != params}


def axes_by_collection(lifted: Lifted) -> Mapping[str, Axis | None]:
    """`variable_axes` of a scan or vmap."""
    axes = _collections(lifted.abs.get("variable_axes"))
    if axes is None:
        raise Unmigratable("NNX168", "variable_axes of a lifted transform is not a literal", lifted.node)
    return axes


def _collections(found: Abs | None) -> Mapping[str, Axis | None] | None:
    """`{'params': 0, 'batch_stats': self.axis}` as axes by collection; None where one is neither a number nor a field."""
    if found is None:
        return {}
    value = found.value
    if not isinstance(value, Table):
        return None
    out: dict[str, Axis | None] = {}
    for key, axis in value.items.items():
        if isinstance(axis, Int) and axis.dim.value is not None:
            out[str(key)] = axis.dim.value
        elif isinstance(axis, Const) and axis.value is None:
            out[str(key)] = None
        elif isinstance(axis, Int) and (atom := axis.dim.single_atom()) is not None and atom.kind == "field":
            out[str(key)] = axis.dim
        elif isinstance(axis, Static) and not axis.deps and re.fullmatch(r"self(\.\w+)+", axis.text):
            out[str(key)] = Dim.opaque(axis.text)
        else:
            return None
    return out


def inward(run: Any, lifted: Sequence[Lifted], args: Sequence[Value]) -> list[Value]:
    """What one step or member sees of the arguments, through all transforms from the outermost in."""
    seen = list(args)
    for one in lifted:
        if one.kind not in ("scan", "vmap"):
            continue
        head: list[Value] = []
        if one.kind == "scan":
            if not seen:
                raise Unmigratable("NNX141", "a scanned module is called without a carry", one.node)
            head = [traced(seen.pop(0))]
        axes = in_axes_of(one, len(seen))
        if one not in run.counts:
            run.counts[one] = mapped_size(seen, axes)
        seen = [*head, *(drop_axes(v, a) for v, a in zip(seen, axes))]
    return seen


def outward(run: Any, lifted: Sequence[Lifted], result: Value, args: Sequence[Value]) -> Value:
    """The result of a lifted call from what one step or member gives."""
    carries: list[Value] = []
    seen = list(args)
    for one in lifted:
        if one.kind == "scan" and seen:
            carries.append(seen[0])
            seen = [seen[0], *(drop_axes(v, a) for v, a in zip(seen[1:], in_axes_of(one, len(seen) - 1)))]
        elif one.kind == "vmap":
            seen = [drop_axes(v, a) for v, a in zip(seen, in_axes_of(one, len(seen)))]
    for one in reversed(lifted):
        if one.kind not in ("scan", "vmap"):
            continue
        out = one.abs.get("out_axes")
        axes = out.value if out is not None else Int(Dim.of(0))
        count = count_of(run, one)
        if one.kind == "vmap":
            result = insert_axes(result, axes, count)
        elif isinstance(result, Tup) and len(result.items) == 2:
            # The carry keeps its shape along the scan, so what came in also goes out.
            carry = scan_carry(carries.pop(), result.items[0])
            result = Tup((carry, insert_axes(result.items[1], axes, count)))
        else:
            carries.pop()
            result = Unknown("the result of a scan")
    return result


def count_of(run: Any, lifted: Lifted) -> Dim | None:
    """The number of steps or members: as written, else from the size of what is mapped over."""
    found = lifted.abs.get("length" if lifted.kind == "scan" else "axis_size")
    if found is not None and not (isinstance(found.value, Const) and found.value.value is None):
        value = run.plain(found.value)
        return value.dim if isinstance(value, Int) else None
    known = run.counts.get(lifted)
    return known if isinstance(known, Dim) else None


def call_lifted(run: Any, target: LiftedFunction, node: ast.Call, env: Any) -> Abs:
    """A lifted function is called: `nn.scan(body, ...)(self, carry, xs)`."""
    arguments = arguments_of(run, node, env)
    mapped = [l for l in target.lifted if l.kind in ("scan", "vmap")]
    if any(isinstance(n, ast.Starred) for n, _ in arguments.positional) or any(k is None for k, _, _ in arguments.keywords):
        raise Unmigratable("NNX130", "a lifted function is called with *args", node)
    if mapped and arguments.keywords:
        raise Unmigratable("NNX141", "a scanned or vmapped function is called with keywords, which Linen ignores", node)
    if not arguments.positional:
        raise Unmigratable("NNX130", "a lifted function is called without a module", node)
    (_, first), rest = arguments.positional[0], arguments.positional[1:]
    if not isinstance(first.value, SelfModule | Module) and not _of_one_field(first.value, target):
        raise Unmigratable("NNX130", "a lifted function is called on something that is not one module", node)
    module = first.value
    outer = [run.plain(a.value) for _, a in rest]
    names = parameters_of(target.function.node)
    inner = inward(run, target.lifted, outer)
    bound: dict[str, Abs] = {names[0]: Abs(module, isinstance(module, SelfModule))} if names else {}
    nodes: dict[str, ast.expr] = {}
    for name, value, (arg, was) in zip(names[1:], inner, rest):
        bound[name] = Abs(value, was.static and not mapped, was.flags)
        nodes[name] = arg
    for key, arg, given in arguments.keywords:
        assert key is not None
        bound[key], nodes[key] = given, arg
    before = len(run.sites)
    if isinstance(module, Module):
        _under(run, module, mapped, node)
    result = _execute(run, target, bound, nodes, module, env)
    whole = next((l for l in target.lifted if l.kind in WHOLE), None)
    if whole is not None and any(site.kind != "rng" for site in run.sites[before:]):
        raise Unmigratable("NNX134", f"modules are made in a function given to `nn.{whole.kind}`", node)
    run.lifted_calls.append(LiftedCall(target, node, module, len(rest), env.source, tuple(outer)))
    return Abs(outward(run, target.lifted, result.value, outer), False, arguments.flags | result.flags)


def _under(run: Any, module: Module, mapped: Sequence[Lifted], node: ast.Call) -> None:
    """A module that a function under `mapped` is given is made under these, as what the function makes itself is.

    A transform that maps no variables leaves it as it is (`variable_axis`).
    """
    site, scopes = module.site, (*run.scopes, *mapped)
    if [l.node for l in scopes] == [l.node for l in site.scopes]:
        return
    stacking = any(variable_axis(l)[0] == "stacked" for l in mapped)
    if not stacking:
        return
    if site.held or site.calls or site.scopes != scopes[: len(site.scopes)]:
        raise Unmigratable("NNX130", NOT_ALONE, node)
    site.scopes = scopes


def _of_one_field(module: Value, target: LiftedFunction) -> bool:
    """Is it a field's module, of whichever class the project gives it: `scan(self.cell, carry, xs)`?"""
    if not isinstance(module, Either) or any(l.kind in WHOLE for l in target.lifted):
        return False
    fields = {member.site.held for member in module.modules}
    return len(fields) == 1 and "" not in fields


def _execute(
    run: Any, target: LiftedFunction, bound: dict[str, Abs], nodes: Mapping[str, ast.expr], module: Value, env: Any
) -> Abs:
    function = target.function
    for name, default in defaults_of(function.node).items():
        bound.setdefault(name, run.constant(default, function.source))
    names = parameters_of(function.node)
    for name in names:
        bound.setdefault(name, Abs(Unknown(f"argument {name}")))
    inner = function_env(run, Function(function.node, function.env, function.source, function.method), bound)
    for name, arg in nodes.items():
        if bound[name].static:
            said = run.localize(arg, env)
            if said is not None:
                inner.substituted[name] = said
    if function.method is not None:
        run.inlined.add(function.method)
    before, scopes, holder = len(run.sites), run.scopes, run.holder
    run.scopes = (*scopes, *[l for l in target.lifted if l.kind in ("scan", "vmap")])
    run.holder = names[0] if names else "self"
    try:
        result: Abs = run.run_function(function.node, inner)
    finally:
        run.scopes, run.holder = scopes, holder
    made = [s for s in run.sites[before:] if s.kind != "rng" or run.scopes]
    if made and (not isinstance(module, SelfModule) or run.in_setup):
        raise Unmigratable("NNX134", "a lifted function makes modules in another module than its own", made[0].node)
    return result


def run_method(
    run: Any, method: Any, lifted: tuple[Lifted, ...], arguments: Sequence[tuple[str, Abs]], env: Any, function: Function
) -> Abs:
    """The body of a method that its decorators lift, on its arguments from outside; what it gives to the outside."""
    outer = [run.plain(a.value) for _, a in arguments]
    mapped = any(l.kind in ("scan", "vmap") for l in lifted)
    own = method.node.args
    head = [*own.posonlyargs, *own.args][0].arg
    bound = {head: Abs(SelfModule("self"), True)}
    for (name, was), value in zip(arguments, inward(run, lifted, outer)):
        bound[name] = Abs(value, was.static and not mapped, was.flags)
    target = LiftedFunction(function, lifted)
    result = _execute(run, target, bound, {}, SelfModule("self"), env)
    run.lifted_calls.append(LiftedCall(target, method.node, SelfModule("self"), len(outer), method.source, tuple(outer)))
    return Abs(outward(run, lifted, result.value, outer), False, result.flags)


def lift_method(run: Any, method: Any) -> tuple[Lifted, ...]:
    """The transforms that decorate a method, outermost first."""
    found = []
    for decorator in method.node.decorator_list:
        lifted = decorator_lift(run, decorator, method.source)
        if lifted is not None:
            found.append(lifted)
    if any(l.kind in ("scan", "vmap") for l in found):
        spec = method.node.args
        if spec.defaults or spec.vararg or spec.kwarg or spec.kwonlyargs:
            raise Unmigratable("NNX141", f"the lifted method {method.name} has optional arguments", method.node)
    return tuple(found)


def control(run: Any, name: str, node: ast.Call, env: Any) -> Abs:
    """`nn.cond`, `nn.switch` and `nn.while_loop`: functions of the module that are run or not."""
    arguments = arguments_of(run, node, env)
    label = f"nn.{name}"
    if arguments.starred():
        raise Unmigratable("NNX130", f"`{label}` is given *args or **kwargs", node)
    args = [a for _, a in arguments.positional]
    named = {str(k): a for k, _, a in arguments.keywords}
    for parameter in _CONTROL_PARAMETERS[name][len(args) :]:
        if parameter in named:
            args.append(named.pop(parameter))
    _check_options(name, node, named)
    functions: list[Value] = []
    if name == "cond" and len(args) >= 4:
        functions, module, operands = [args[1].value, args[2].value], args[3].value, args[4:]
    elif name == "switch" and len(args) >= 3 and isinstance(args[1].value, Tup):
        functions, module, operands = list(args[1].value.items), args[2].value, args[3:]
    elif name == "while_loop" and len(args) == 4:
        functions, module, operands = [args[0].value, args[1].value], args[2].value, args[3:]
    else:
        raise Unmigratable("NNX130", f"`{label}` is used in a form that cannot be followed", node)
    if not isinstance(module, SelfModule | Module) or not all(isinstance(f, Function) for f in functions):
        raise Unmigratable("NNX130", f"`{label}` is used in a form that cannot be followed", node)
    values = [run.plain(a.value) for a in operands]
    results: list[Abs] = []
    before = len(run.sites)
    for function in functions:
        assert isinstance(function, Function)
        names = parameters_of(function.node)
        bound = {names[0]: Abs(module, isinstance(module, SelfModule))} | {n: Abs(v) for n, v in zip(names[1:], values)}
        results.append(_execute(run, LiftedFunction(function, ()), bound, {}, module, env))
    if any(s.kind != "rng" for s in run.sites[before:]):
        raise Unmigratable("NNX134", f"modules are made in a function given to `{label}`", node)
    run.controls[node] = (name, module, named)
    if name == "while_loop":
        return Abs(values[0], False, arguments.flags)
    merged: Abs = run.merge_values(results)
    return Abs(merged.value, False, arguments.flags)


_CONTROL_PARAMETERS = {
    "cond": ("pred", "true_fun", "false_fun", "mdl"),
    "switch": ("index", "branches", "mdl"),
    "while_loop": ("cond_fn", "body_fn", "mdl", "init"),
}


def _check_options(name: str, node: ast.Call, options: Mapping[str, Abs]) -> None:
    """NNX130 for options that say something else than what NNX does anyway."""
    for option, given in options.items():
        everything = option in ("variables", "rngs", "broadcast_variables") and given.value == Const(True)
        if not everything and (name != "while_loop" or option not in ("carry_variables", "split_rngs")):
            raise Unmigratable("NNX130", f"`nn.{name}` has the option {option}", node)
    carried = options.get("carry_variables")
    if carried is not None and any(c in ("params", True) for c in _names_in(carried.value)):
        raise Unmigratable("NNX130", "`nn.while_loop` carries parameters, which it may change", node)


def _names_in(value: Value) -> list[object]:
    """The collections that a filter names; `True` where that is not known."""
    items = value.items if isinstance(value, Tup) else (value,)
    return [i.value if isinstance(i, Const) else True for i in items]


def members_needed(run: Any, lifted: Lifted) -> Dim:
    """The number of steps or members; raises Unmigratable where it is not known."""
    name = "length" if lifted.kind == "scan" else "axis_size"
    found = count_of(run, lifted)
    if found is not None:
        return found
    if name in lifted.options:
        raise Unmigratable("NNX169", f"`{name}` of nn.{lifted.kind} is not known to the constructor", lifted.node)
    reason = f"nn.{lifted.kind} has no `{name}`, and how many modules it stacks is not known from what it is given"
    size = run.counts.get(lifted)
    error = Unmigratable("NNX110" if isinstance(size, NeedsRank) else "NNX169", reason, lifted.node)
    if isinstance(size, NeedsRank):
        error.wanted_ranks = tuple(a for a in size.arguments if a in run.arguments and a not in run.ranks)
    raise error


__all__ = ["CONTROL", "LIFTED", "OTHER_LIFTED", "call_lifted", "control", "decorator_lift", "transforms_of", "variable_axis"]
