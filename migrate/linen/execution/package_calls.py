"""Calls of builtins and of library functions, by what they do to shapes."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from ...catalog import layers
from ...catalog.tree_functions import TREE_MAPS
from ..lifted import mapped_modules
from ..lifted.differentiation import Pullback
from ..lifted.higher_order import (
    DERIVATIVES,
    HIGHER_ORDER,
    LINEARIZED,
    TRANSPARENT,
    makes_function,
    run_functions,
    uses_modules,
)
from ..lists import grown_widths
from ..lists.size_lists import SizeList, put_together, summed
from ..modules import normalize_calls
from ..modules.module_calls import Derived, Transformed, assume_rank, invoke
from ..shapes import products, shapes
from ..shapes.pooled_whole import pooled_whole
from ..shapes.reshaped import is_loose, joined_rest, like, reshaped_width
from ..values import rounding
from ..values.arguments import Arguments, is_self
from ..values.bundles import Bundle
from ..values.dims import Dim
from ..values.localize import BUILTINS
from ..values.mapped_axes import is_axis
from ..values.presence import Known
from ..values.scalars import beside_text, gives_count, whole_arguments
from ..values.sites import Abs, Factory, Function, Module, Repeated, SelfModule, Static, Unmigratable
from ..values.unpacking import dict_call
from ..values.values import Array, Const, Global, Int, Shape, SomeNumber, Tup, Unknown, Value
from .mapped_items import over_items, over_tree
from .type_tests import attribute_test, check_asked, check_kind_named, instance_test, refuse_shared, side_test

_CONSTRAINTS = frozenset({"with_sharding_constraint", "with_logical_constraint"})
_POOLS = frozenset({"flax.linen.avg_pool", "flax.linen.max_pool", "flax.linen.min_pool"})


def builtin_call(run: Any, name: str, arguments: Arguments, env: Any) -> Abs:
    """A builtin: int, len, tuple, ...; computed attributes of self are refused."""
    node = arguments.node
    own = bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == "self" and is_self(node.args[0], env)
    if name == "getattr" and len(node.args) >= 2 and own:
        return _own_value(run, node, arguments)
    if name == "hasattr" and len(node.args) == 2 and own:
        made = has_attribute(run, node)
        if made is not None:
            return made
    if name in ("hasattr", "getattr") and len(arguments.positional) >= 2:
        check_asked(run, arguments.positional[0][1].value, node)
    if name == "type" and len(arguments.positional) == 1:
        check_kind_named(arguments.positional[0][1].value, node, env)
    if name == "hasattr" and len(arguments.positional) == 2:
        there = attribute_test(arguments.positional[0][1].value, node.args[1])
        if there is not None:
            return Abs(Const(there), False, arguments.flags)
    if name == "setattr" and not run.apart:
        of = ast.unparse(node.args[0]) if node.args else "..."
        raise Unmigratable("NNX133", f"`setattr({of}, ...)` makes attributes under computed names", node)
    if name == "issubclass" and len(node.args) == 2:
        refuse_shared(run, node.args[1], env)
    if name == "isinstance" and len(arguments.positional) == 2:
        known = instance_test(run, arguments.positional[0][1].value, node.args[1], env)
        if known is not None:
            return Abs(Const(known), True)
        either = side_test(run, arguments.positional[0][1].value, node.args[1], env)
        if either is not None:
            return Abs(either, True)
    if name == "dict":
        made = dict_call(run, arguments, env)
        if made is not None:
            return made
    if name in rounding.ROUNDING:
        found_size = rounding.rounded(run, name, arguments, env)
        if found_size is not None:
            return found_size
    if name == "map":
        each = _converted(node, [a.value for _, a in arguments.positional], env)
        if each is not None:
            return Abs(each, arguments.static, arguments.flags)
        applied = over_items(run, arguments)
        if applied is not None:
            return applied
    if name in ("map", "filter"):
        run_functions(run, arguments)
    args, keywords = arguments.values(run)
    if name in ("list", "tuple") and len(arguments.positional) == 1:
        inner = arguments.positional[0][1].value
        if isinstance(inner, Bundle) and name == "tuple":
            return Abs(inner, False, arguments.flags)
        if isinstance(inner, Tup):
            return Abs(Tup(inner.items, name), arguments.static, arguments.flags)
        if isinstance(inner, Repeated):
            return Abs(dataclasses.replace(inner, kind=name), arguments.static, arguments.flags)
    if name == "reversed" and len(arguments.positional) == 1:
        inner = arguments.positional[0][1].value
        if isinstance(inner, Repeated) and all(site.name is None for site in run.modules_in(inner)):
            return Abs(inner.reversed(), arguments.static, arguments.flags)
    if name == "sum" and len(args) == 1 and not keywords and isinstance(args[0], SizeList):
        return Abs(summed(run, args[0]), False, arguments.flags)
    if _is_kept_iterator(name, node, env):
        return Abs(Unknown("an item of an iterator"), False, arguments.flags)
    if arguments.starred():
        found: Value = Unknown(name)
    else:
        found = shapes.call(f"builtins.{name}" if name not in BUILTINS else name, args, keywords)
    if isinstance(found, Unknown) and arguments.static:
        return run._static_text(node, True, arguments.flags, env)  # type: ignore[no-any-return]
    return Abs(found, arguments.static, arguments.flags)


def _is_kept_iterator(name: str, node: ast.Call, env: Any) -> bool:
    """`it = iter(sizes)`, `next(it)`: what is left of one depends on every line that takes an item."""
    if name == "iter":
        taker = env.source.parents.get(node)
        return not (isinstance(taker, ast.Call) and isinstance(taker.func, ast.Name) and taker.func.id == "next")
    return name == "next" and not (node.args and isinstance(node.args[0], ast.Call | ast.GeneratorExp))


def _converted(node: ast.Call, values: Sequence[Value], env: Any) -> Tup | None:
    """`map(tuple, padding)` over a tuple of known length: each item as the builtin gives it."""
    function = node.args[0] if node.args else None
    if not isinstance(function, ast.Name) or env.get(function.id) is not None or len(values) != 2:
        return None
    if function.id not in ("tuple", "list", "int") or not isinstance(values[1], Tup):
        return None
    items = tuple(shapes.call(function.id, [item], {}) for item in values[1].items)
    return None if any(isinstance(item, Unknown) for item in items) else Tup(items)


# What the modules of Linen or of NNX have of their own.
OF_MODULES = frozenset({
    "apply", "bind", "clone", "copy", "get_variable", "has_rng", "has_variable", "init", "init_with_output", "name",
    "is_initializing", "is_mutable_collection", "lazy_init", "make_rng", "module_paths", "param", "parent", "path",
    "perturb", "put_variable", "reset_names", "scope", "setup", "sow", "tabulate", "unbind", "variable", "variables",
    "train", "eval", "iter_children", "iter_modules", "set_attributes", "call", "rngs",
})  # fmt: skip


def _never_there(run: Any, name: str) -> Abs | None:
    """False, for an attribute that neither the class nor a base of it ever has.

    A class that inherits and has it is followed by itself; where the two then differ, one stays Linen.
    """
    if name.startswith("__") or name in OF_MODULES or name in run.fields:
        return None
    for model in run.model.mro():
        if set(model.foreign_bases) - {"flax.linen.Module", "flax.linen.RNNCellBase"}:
            return None  # what else it inherits may have it
        for node in model.nodes:
            defined = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
            stored = isinstance(node, ast.Attribute | ast.Name) and not isinstance(node.ctx, ast.Load)
            if defined or (stored and name == getattr(node, "attr", getattr(node, "id", ""))):
                return None
    return Abs(Const(False), True)


def _own_value(run: Any, node: ast.Call, arguments: Arguments) -> Abs:
    """`getattr(self, "text_only", False)` of a field, or of what only derived classes have."""
    asked = node.args[1]
    if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
        if asked.value in run.fields and asked.value not in run.attributes:
            found: Abs = run.field_value(asked.value)
            if not run.holds_module(found.value) and not isinstance(found.value, Factory | Function):
                return found
        elif len(arguments.positional) == 3 and _never_there(run, asked.value) is not None:
            return arguments.positional[2][1]
    raise Unmigratable("NNX133", "`getattr(self, ...)` looks up a submodule or field by a computed name", node)


def has_attribute(run: Any, node: ast.Call) -> Abs | None:
    """`hasattr(self, "project")`, of what setup makes under a condition: that condition; None for anything else."""
    asked = node.args[1]
    if not (isinstance(asked, ast.Constant) and isinstance(asked.value, str)) or run.in_setup:
        return None
    path = run.attribute_paths.get(asked.value)
    if path is None:
        return _never_there(run, asked.value)
    if not path:
        return Abs(Const(True), static=True)
    return Abs(Known(ast.unparse(node), path[0], True), False) if len(path) == 1 and not path[0].deps else None


def library_call(run: Any, qualname: str, arguments: Arguments, env: Any) -> Abs:
    """A function of jax, numpy, flax or another package."""
    node = arguments.node
    if qualname == normalize_calls.NAME:
        return normalize_calls.normalize(run, node, arguments, env)
    if qualname.startswith("flax.linen.") and qualname.rpartition(".")[2].startswith("_"):
        given = [a.value for _, a in arguments.positional] + [a.value for _, _, a in arguments.keywords]
        if any(isinstance(value, SelfModule) for value in given):
            raise Unmigratable("NNX135", f"`{ast.unparse(node.func)}` of Linen makes parameters for its caller", node)
    higher = HIGHER_ORDER.get(qualname)
    if higher is not None:
        return higher(run, arguments, env)
    applied = over_tree(run, arguments) if qualname in TREE_MAPS else None
    if applied is not None:
        return applied
    if qualname.startswith(("flax.linen.", "jax.", "optax.")) and makes_function(qualname):
        first = arguments.positional[0][1] if arguments.positional else None
        if first is not None and qualname not in TRANSPARENT:
            mapped_modules.check(run, first.value, node)
        if first is not None and qualname == "jax.vmap" and isinstance(first.value, Function | Module | Transformed):
            return Abs(Transformed(first.value, _vmapped_axes(arguments)), False)
        if first is not None and isinstance(first.value, Function | Module | Transformed):
            if qualname in TRANSPARENT:
                return first
            followed = not isinstance(first.value, Function) or uses_modules(first.value)
            if qualname in LINEARIZED and followed:
                return Abs(_linearized(run, qualname, first, arguments), False, arguments.flags)
            derived = _derived(qualname, arguments)
            if derived is not None or followed:
                return Abs(Transformed(first.value, derived=derived, whole=qualname in DERIVATIVES), False)
        if first is not None and qualname == "jax.vmap" and isinstance(first.value, Global) and not run.in_setup:
            axes = _vmapped_axes(arguments)
            if axes is not None and shapes.known_call(first.value.name):
                return Abs(Transformed(first.value, axes), first.static)
    if qualname == "flax.linen.merge_param" and len(arguments.positional) == 3:
        return _merge_param(run, arguments, env)
    if qualname == "flax.linen._canonicalize_tuple" and len(arguments.positional) == 1:
        return _canonicalize_tuple(run, arguments, env)
    if qualname in _AXES and len(arguments.positional) == 2 and not arguments.keywords:
        axis = _one_axis(run, arguments)
        if axis is not None:
            return axis
    if qualname.replace("numpy.", "math.") in rounding.ROUNDING:
        found_size = rounding.rounded(run, qualname.replace("numpy.", "math."), arguments, env)
        if found_size is not None:
            return found_size
    if _said_elsewhere(run, qualname) in _INPUT_AXES:
        return _input_axis(arguments, env)
    run_functions(run, arguments)
    args, keywords = whole_arguments(run, qualname, arguments)
    if qualname in _POOLS and args:
        window = keywords.get("window_shape", args[1] if len(args) > 1 else Unknown(""))
        assume_rank(run, layers.Arg((), window), args[0])
    if args and isinstance(args[0], SizeList):
        one = grown_widths.joined(run, qualname, args[0], args[1:], keywords)
        one = one or put_together(run, qualname, args[0], args[1:], keywords)
        if one is not None:
            return Abs(one, False, arguments.flags)
    if args and qualname.startswith(("jax.numpy.", "numpy.", "jax.lax.")) and qualname.rpartition(".")[2] in _OF_ARRAYS:
        args[0] = _certain(arguments.positional[0][1].value, args[0])
    found = beside_text(run, qualname, arguments, shapes.call(qualname, args, keywords))
    if isinstance(found, SomeNumber) and not qualname.startswith("math."):
        found = Unknown(found.why)  # `np.arange(i)` of a loop's number is none
    if qualname in _POOLS and isinstance(found, Array):
        found = pooled_whole(node, found)
    if qualname in products.PRODUCTS and len(args) >= 2:
        found = products.with_width(args[0], args[1], found)
    if isinstance(found, Unknown) and qualname in ("jax.numpy.reshape", "jax.lax.reshape") and len(args) > 1:
        found = reshaped_width(args[1:2], found)
    if qualname in ("jax.numpy.reshape", "jax.lax.reshape") and len(node.args) == 2 and isinstance(args[0], Array):
        if is_loose(found):
            found = joined_rest(args[0], like(run, args[0], node.args[0], env), node.args[1:]) or found
    if isinstance(found, Unknown) and qualname.rpartition(".")[2] in _CONSTRAINTS and args and isinstance(args[0], Array):
        found = args[0]  # whoever's it is: the name says that it only places the array
    if isinstance(found, Unknown) and qualname in _NEW_ARRAYS:
        found = Array(Shape.unknown())  # no number, whatever its shape is
    counted = isinstance(found, Array) and arguments.static and gives_count(run, qualname, args)
    if counted or (isinstance(found, Unknown) and arguments.static and not qualname.startswith("jax.random.")):
        return run._static_text(node, True, arguments.flags, env)  # type: ignore[no-any-return]
    static = arguments.static and not qualname.startswith("jax.random.")
    return Abs(found, static, arguments.flags)


def _certain(value: Value, plain: Value) -> Value:
    """An argument as the shape functions take it, where they would take what is not known for a number."""
    if isinstance(value, Tup) and isinstance(plain, Tup):
        return Tup(tuple(_certain(v, p) for v, p in zip(value.items, plain.items)), plain.kind)
    if isinstance(value, Static) and isinstance(plain, Int):
        return Unknown(f"the shape of `{value.text}`")
    return plain


def _merge_param(run: Any, arguments: Arguments, env: Any) -> Abs:
    """Linen's helper: the one of two values that is not None, here a size where the field does not give it."""
    (_, first), (_, second) = arguments.positional[1:]
    given, otherwise = run.plain(first.value), run.plain(second.value)
    if first.static and isinstance(first.value, Static | Int) and isinstance(otherwise, Int) and isinstance(given, Int):
        text, deps = run.self_text(arguments.node.args[1], env)
        return Abs(Int(Dim.cond(f"{text} is None", otherwise.dim, given.dim, deps)), False, arguments.flags)
    return Abs(Unknown("merge_param"), False, arguments.flags)


# What arranges the items of arrays: of a value that nothing is known of, it may be an array.
_OF_ARRAYS = frozenset(
    (
        *("reshape", "ravel", "stack", "concatenate", "hstack", "vstack", "dstack", "column_stack", "transpose", "swapaxes"),
        *("moveaxis", "squeeze", "expand_dims", "tile", "repeat", "split", "array_split", "broadcast_to", "flip", "roll"),
    )
)
_NEW_ARRAYS = frozenset(f"{module}.{n}" for module in ("jax.numpy", "numpy") for n in ("zeros", "ones", "empty", "full"))
_INPUT_AXES = frozenset({"flax.core.lift.In", "flax.linen.partitioning.ScanIn", "flax.linen.transforms.In"})


def _said_elsewhere(run: Any, qualname: str) -> str:
    """`common.ScanIn`, where that file has `ScanIn = partitioning.ScanIn`."""
    found = run.project.definition(qualname)
    value = found[1].value if found is not None and isinstance(found[1], ast.Assign) else None
    return (run.project.qualname(found[0], value) if isinstance(value, ast.Attribute | ast.Name) else None) or qualname


def _input_axis(arguments: Arguments, env: Any) -> Abs:
    """`axis if initializing else ScanIn(axis)`: stacked along the axis. That the step's own variables are not written back,
    where the module is not being initialized, is so for parameters anyway.

    By itself `ScanIn(axis)` would make no parameters at all.
    """
    node = arguments.node
    choice = env.source.parents.get(node)
    if isinstance(choice, ast.IfExp) and choice.orelse is node and len(node.args) == 1 and not node.keywords:
        if ast.dump(choice.body) == ast.dump(node.args[0]):
            return arguments.positional[0][1]
    return Abs(Unknown(f"`{ast.unparse(node)}`, an axis that is only read"), False, arguments.flags)


_AXES = frozenset({"flax.linen._canonicalize_axes", "flax.linen.normalization._canonicalize_axes"})


def _one_axis(run: Any, arguments: Arguments) -> Abs | None:
    """Linen's helper: axes counted from the front, in the order of a set, so that only one alone is known."""
    (_, rank), (_, axes) = arguments.positional
    axis = axes.value.items[0] if isinstance(axes.value, Tup) and len(axes.value.items) == 1 else axes.value
    if not isinstance(rank.value, Int) or not isinstance(axis, Int) or axis.dim.value is None:
        return None
    counted = rank.value.dim + axis.dim if axis.dim.value < 0 else axis.dim
    return Abs(Tup((Int(counted),)), False, arguments.flags)


def _canonicalize_tuple(run: Any, arguments: Arguments, env: Any) -> Abs:
    """Linen's helper: an iterable as a tuple, anything else in one."""
    found = arguments.positional[0][1]
    several = instance_test(run, found.value, ast.Name("Iterable", ast.Load()), env)
    if several is None:
        return run._static_text(arguments.node, arguments.static, arguments.flags, env)  # type: ignore[no-any-return]
    items = found.value.items if isinstance(found.value, Tup) else (found.value,)
    if several and not isinstance(found.value, Tup):
        return Abs(found.value, found.static, found.flags)
    return Abs(Tup(items), found.static, found.flags)


def _derived(qualname: str, arguments: Arguments) -> Derived | None:
    """By what `jax.grad(f, argnums=1)` and `jax.value_and_grad` derive; None where that is not known."""
    if qualname not in ("jax.grad", "jax.value_and_grad") or arguments.starred():
        return None
    options = {k: a.value for k, _, a in arguments.keywords}
    for name, (_, found) in zip(("argnums", "has_aux"), arguments.positional[1:]):
        options[name] = found.value
    argnums, aux = options.pop("argnums", Const(0)), options.pop("has_aux", Const(False))
    several = [_number(item) for item in argnums.items] if isinstance(argnums, Tup) else None
    places = tuple(n for n in several if n is not None) if several is not None else _number(argnums)
    known = places is not None and (several is None or None not in several)
    if options or not known or not isinstance(aux, Const) or not isinstance(aux.value, bool):
        return None
    assert places is not None
    return Derived(places, qualname == "jax.value_and_grad", aux.value)


def _number(value: Value) -> int | None:
    found = value.value if isinstance(value, Const) else value.dim.value if isinstance(value, Int) else None
    return found if type(found) is int else None


def _linearized(run: Any, qualname: str, function: Abs, arguments: Arguments) -> Value:
    """`jax.vjp(f, *primals)`, `jax.jvp(f, primals, tangents)`: what the function gives, and what goes with it."""
    given = [run.plain(found.value) for _, found in arguments.positional[1:]]
    if qualname == "jax.jvp":
        primals = given[0] if given else None
        given = list(primals.items) if isinstance(primals, Tup) else [Unknown("what is derived by")]
    if arguments.starred():
        given = [Unknown("what is derived by")] * len(given)
    result = invoke(run, function, given)
    if arguments.keywords:  # `has_aux=True`
        return Unknown(f"what `{qualname}` gives")
    if qualname == "jax.vjp":
        return Tup((result, Pullback(tuple(given), variables=False)))
    return Tup((result, result if qualname == "jax.jvp" else Unknown("a function of tangents")))


def _vmapped_axes(arguments: Arguments) -> tuple[Value, Value] | None:
    """`in_axes` and `out_axes` of a jax.vmap; None where they, or what else it is given, cannot be followed."""
    known: dict[str, Value] = {"in_axes": Int(Dim.of(0)), "out_axes": Int(Dim.of(0))}
    for name, (_, found) in zip(("fun", "in_axes", "out_axes"), arguments.positional):
        known[name] = found.value
    for key, _, found in arguments.keywords:
        if key is None:
            return None
        known[key] = found.value
    if not is_axis(known["in_axes"]) or not is_axis(known["out_axes"]):
        return None
    return known["in_axes"], known["out_axes"]
