"""Calls that make, configure or run modules; everything else goes to the shape functions."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..catalog import layers
from . import shapes
from .dims import Atom, Dim
from .sites import (
    Abs,
    BoundArg,
    CallRecord,
    DimPart,
    Factory,
    Function,
    InitPart,
    Lifted,
    Localized,
    Make,
    Module,
    ModuleField,
    NameSpec,
    Repeated,
    Site,
    SitePart,
    Static,
    Table,
    Unmigratable,
    Variable,
)
from .values import Array, Const, Global, Int, Lead, NeedsRank, Shape, ShapeOf, Star, Tup, Unknown, Value

ARRAY_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "T", "at", "mT", "real", "imag", "value", "aval"})
_BUILTINS = frozenset({"int", "min", "max", "len", "tuple", "list", "abs", "round", "sum", "bool", "str", "range"})
LIFTED = {
    "flax.linen.remat": "remat",
    "flax.linen.checkpoint": "remat",
    "flax.linen.scan": "scan",
    "flax.linen.vmap": "vmap",
    "flax.linen.jit": "jit",
    "flax.linen.partitioning.remat": "remat",
    "flax.linen.partitioning.scan_with_axes": "scan",
    "flax.linen.partitioning.vmap_with_axes": "vmap",
}
_OTHER_LIFTED = frozenset(
    f"flax.linen.{name}"
    for name in (
        "map_variables", "add_metadata_axis", "remat_scan", "cond", "switch", "while_loop", "grad", "value_and_grad",
        "vjp", "jvp", "custom_vjp", "fold_rngs", "transforms.map_variables",
    )
)  # fmt: skip
_TRANSPARENT = frozenset(
    {"jax.jit", "jax.checkpoint", "jax.remat", "jax.named_call", "jax.named_scope", "jax.profiler.annotate_function"}
)
_SCOPE_ATTRIBUTES = frozenset({"scope", "variables", "path", "parent"})


# names -----------------------------------------------------------------------------------------------------------
def global_value(run: Any, qualname: str, node: ast.expr, env: Any) -> Abs | None:
    """What a global name means: a layer or class as a factory, a function, a constant."""
    text = ast.unparse(node)
    if run.analyser.classes.get(qualname) is not None or (
        qualname.startswith("flax.linen.") and layers.lookup(qualname) is not None
    ):
        return Abs(Factory(qualname, text, node=node, source=env.source), static=True)
    if qualname in run.analyser.classes.project.linen_classes:
        return Abs(Factory(qualname, text, node=node, source=env.source), static=True)
    found = run.project.definition(qualname)
    if found is None:
        return Abs(Global(qualname), static=True)
    source, statement = found
    if isinstance(statement, ast.FunctionDef):
        from .execute import Env

        return Abs(Function(statement, Env({}, source), source), static=True)
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(value, ast.expr) and _is_simple(value):
        constant = run.constant(value, source)
        if isinstance(constant.value, Int | Const | Factory | Tup):
            return Abs(constant.value, static=True)
    return None


def _is_simple(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.BinOp | ast.UnaryOp | ast.Call | ast.Attribute)


def child_env(env: Any) -> Any:
    from .execute import Env

    return Env({}, env.source, method=env.method, parent=env)


def substituted(env: Any, name: str) -> Localized | None:
    while env is not None:
        if name in env.names:
            return env.substituted.get(name)  # type: ignore[no-any-return]
        env = env.parent
    return None


# loops -----------------------------------------------------------------------------------------------------------
def elements(run: Any, node: ast.expr, iterated: Abs, env: Any) -> Abs:
    """The element that a loop over `node` binds, as a shape of names: filled in by `name_elements`."""
    value = _element(run, node, iterated.value, env)
    return Abs(value, iterated.static, iterated.flags)


def _element(run: Any, node: ast.expr, value: Value, env: Any) -> Value:
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) and env.get(node.func.id) is None else ""
        args = [a for a in node.args if not isinstance(a, ast.Starred)]
        inner = [run.evaluated[a].value if a in run.evaluated else Unknown("") for a in args]
        if called == "range":
            return Static("\0int")
        if called == "enumerate" and args:
            return Tup((Static("\0int"), _element(run, args[0], inner[0], env)))
        if called == "zip":
            return Tup(tuple(_element(run, a, v, env) for a, v in zip(args, inner)))
        if called in ("reversed", "list", "tuple", "sorted", "iter") and args:
            return _element(run, args[0], inner[0], env)
    if isinstance(value, Repeated):
        return value.element
    if isinstance(value, Static | Global):
        return Static("\0")
    if isinstance(value, Tup):
        if value.items and all(isinstance(i, Int | Static) for i in value.items):
            return Static("\0int")
        if value.items and all(isinstance(i, Tup) for i in value.items):
            first = value.items[0]
            assert isinstance(first, Tup)
            if all(isinstance(i, Tup) and len(i.items) == len(first.items) for i in value.items):
                return Tup(tuple(Static("\0") for _ in first.items))
        if value.items and all(i == value.items[0] for i in value.items):
            return value.items[0]
        return Static("\0")
    if isinstance(value, Array):
        if value.shape.lead is not None and not value.shape.dims and value.shape.lead.known:
            return Array(Shape.unknown())
        if value.shape.lead is None and value.shape.dims:
            return Array(Shape(value.shape.dims[1:]))
        return Array(Shape.unknown())
    return Unknown("element")


def name_elements(run: Any, target: ast.expr, element: Abs, inner: Any) -> None:
    """Bind a loop target: integers and opaque elements become the local names themselves."""
    value = element.value
    if isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, Tup) and len(value.items) == len(target.elts):
            for one, item in zip(target.elts, value.items):
                name_elements(run, one, Abs(item, element.static, element.flags), inner)
            return
        if isinstance(value, Static):
            for one in target.elts:
                name_elements(run, one, element, inner)
            return
    if isinstance(target, ast.Name) and isinstance(value, Static) and value.text.startswith("\0"):
        name = target.id
        if not element.static:
            run.bind(target, Abs(Unknown("loop variable"), False, element.flags), inner)
        elif value.text == "\0int":
            run.bind(target, Abs(Int(Dim.local(name)), True, element.flags), inner)
        else:
            run.bind(target, Abs(Static(name, frozenset({name})), True, element.flags), inner)
        return
    if isinstance(value, Static) and value.text.startswith("\0"):
        element = Abs(Unknown("loop variable"), False, element.flags)
    run.bind(target, element, inner)


def unrolled(run: Any, node: ast.expr, iterated: Abs, env: Any) -> list[Abs] | None:
    """The elements one by one, where a loop runs over a known handful of modules."""

    def items(expression: ast.expr, value: Value) -> list[Value] | None:
        if isinstance(value, Tup):
            return list(value.items)
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
            parts = [items(a, run.evaluated[a].value) for a in expression.args if a in run.evaluated]
            if expression.func.id == "enumerate" and parts and parts[0] is not None:
                return [Tup((Int(Dim.of(i)), v)) for i, v in enumerate(parts[0])]
            if expression.func.id == "zip" and parts and any(p is not None for p in parts):
                count = min(len(p) for p in parts if p is not None)
                columns = [p if p is not None else [Unknown("element")] * count for p in parts]
                return [Tup(tuple(c[i] for c in columns)) for i in range(count)]
            if expression.func.id == "reversed" and parts and parts[0] is not None:
                return parts[0][::-1]
            if expression.func.id in ("list", "tuple") and parts:
                return parts[0]
        if isinstance(value, Table) and isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
            return None
        return None

    found = items(node, iterated.value)
    if found is None or not any(_has_module(run, v) for v in found):
        return None
    return [Abs(v, False, iterated.flags) for v in found]


def _has_module(run: Any, value: Value) -> bool:
    if isinstance(value, Tup):
        return any(_has_module(run, i) for i in value.items)
    return isinstance(value, Module | ModuleField) or bool(run.holds_module(value))


def was_unrolled(run: Any, node: Any, env: Any) -> bool:
    generator = node.generators[0]
    iterated = run.evaluated.get(generator.iter)
    return iterated is not None and unrolled(run, generator.iter, iterated, env) is not None


def unpack_shape(run: Any, value: Value, count: int) -> list[Value] | None:
    found = shapes.unpack(value, count)
    return list(found) if found is not None else None


# how the constructor says it -------------------------------------------------------------------------------------
def is_library_call(run: Any, node: ast.AST, env: Any) -> bool:
    """A call of a library function that draws nothing: it can be repeated wherever its arguments can be said."""
    if not isinstance(node, ast.Call) or run._rooted_local(node.func, env):
        return False
    qualname = run.project.qualname(env.source, node.func) or ""
    if qualname.startswith(("jax.random.", "flax.linen.")) and not qualname.startswith("flax.linen.initializers."):
        return False
    return qualname.startswith(("jax.", "numpy.", "math.", "flax.", "functools.", "optax."))


def is_plain_call(run: Any, node: ast.Call, env: Any) -> bool:
    """A call of a builtin or math function: can be repeated wherever its arguments can be said."""
    if isinstance(node.func, ast.Name) and env.get(node.func.id) is None and node.func.id in _BUILTINS:
        return True
    if is_library_call(run, node, env):
        return True
    # A function of the project that makes no module and is given nothing but what the constructor can say.
    value = run.evaluated[node.func].value if node.func in run.evaluated else None
    return isinstance(value, Function) and value.method is None and value.env is not None and value.env.method is None


def localize_call(
    run: Any,
    node: ast.Call,
    env: Any,
    bound: frozenset[str],
    replaced: list[tuple[Any, tuple[InitPart, ...]]],
    needs: set[str],
) -> bool | None:
    """Calls with a meaning of their own in the constructor; None for all others."""
    found = run.evaluated.get(node)
    if found is None:
        return None
    if isinstance(found.value, Module) and found.value.site.node is node:
        replaced.append((env.source.span(node), (SitePart(found.value.site),)))
        return True
    if isinstance(found.value, Factory) and found.value.node is node:
        skip = set(found.value.calltime)
        children: list[ast.AST] = [*node.args, *[k.value for k in node.keywords if k.arg not in skip]]
        return all(run._localize(child, env, bound, replaced, needs) for child in children)
    return None


def shape_condition(run: Any, node: ast.Compare) -> tuple[InitPart, ...] | None:
    """`a.shape != b.shape` as a condition on the sizes that may differ."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return None
    sides = [run.evaluated[node.left].value, run.evaluated[node.comparators[0]].value]
    found: list[Shape] = []
    for side in sides:
        if isinstance(side, ShapeOf):
            found.append(side.shape)
        elif isinstance(side, Tup) and all(isinstance(i, Int) for i in side.items):
            found.append(Shape(tuple(i.dim for i in side.items if isinstance(i, Int))))
        else:
            return None
    count = max(len(s.dims) for s in found)
    a, b = found[0].expand(count), found[1].expand(count)
    if len(a.dims) != len(b.dims) or a.lead != b.lead:
        return None
    pairs = [(x, y) for x, y in zip(a.dims, b.dims) if x != y or x is None]
    if not pairs or any(x is None or y is None for x, y in pairs):
        return None
    equal = isinstance(node.ops[0], ast.Eq)
    parts: list[InitPart] = ["(" if len(pairs) > 1 else ""]
    seen: set[tuple[Any, ...]] = set()
    for x, y in pairs:
        assert x is not None and y is not None
        said = difference(x, y)
        if said in seen:
            continue
        if seen:
            parts.append(" and " if equal else " or ")
        seen.add(said)
        left, right = said
        parts += [DimPart(left), " == " if equal else " != ", DimPart(right)]
    parts.append(")" if len(pairs) > 1 else "")
    return tuple(parts)


def difference(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Two sizes that differ exactly when `a` and `b` do; ceil(h / s) differs from h exactly when s is not 1."""
    for x, y in ((a, b), (b, a)):
        atom = x.single_atom()
        if atom is not None and atom.kind in ("ceildiv", "floordiv") and atom.args[0] == y:
            return atom.args[1], Dim.of(1)
        # ceil(h / s) is also written (h - 1) // s + 1 and (h + s - 1) // s
        whole = (x - 1).single_atom()
        if whole is not None and whole.kind == "floordiv" and whole.args[0] == y - 1:
            return whole.args[1], Dim.of(1)
        if atom is not None and atom.kind == "floordiv" and atom.args[0] == y + atom.args[1] - 1:
            return atom.args[1], Dim.of(1)
    return a, b


def presence_condition(run: Any, node: ast.expr, env: Any) -> str:
    """`x is not None` for an optional array argument: whether the constructor was given its size."""
    if (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.left, ast.Name)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
    ):
        bound = env.get(node.left.id)
        if bound is not None and isinstance(bound.value, Array):
            lead = bound.value.shape.lead
            if lead is not None and lead.known and not bound.value.shape.dims:
                return f"\0{'absent' if isinstance(node.ops[0], ast.Is) else 'present'}:{lead.argument}"
    return ""


# calls -----------------------------------------------------------------------------------------------------------
@dataclasses.dataclass
class Arguments:
    """Evaluated arguments of one call."""

    node: ast.Call
    positional: list[tuple[ast.expr, Abs]]
    keywords: list[tuple[str | None, ast.expr, Abs]]

    @property
    def static(self) -> bool:
        return all(a.static for _, a in self.positional) and all(a.static for _, _, a in self.keywords)

    @property
    def flags(self) -> frozenset[str]:
        found = [a.flags for _, a in self.positional] + [a.flags for _, _, a in self.keywords]
        return frozenset().union(*found)

    def values(self, run: Any) -> tuple[list[Value], dict[str, Value]]:
        """As the shape functions take them."""
        args: list[Value] = []
        for node, found in self.positional:
            value = run.plain(found.value)
            args.append(Star(value) if isinstance(node, ast.Starred) else value)
        return args, {k: run.plain(a.value) for k, _, a in self.keywords if k is not None}

    def starred(self) -> bool:
        return any(isinstance(n, ast.Starred) for n, _ in self.positional) or any(
            k is None for k, _, _ in self.keywords
        )


def arguments_of(run: Any, node: ast.Call, env: Any) -> Arguments:
    positional = [(a, run.evaluate(a, env)) for a in node.args]
    keywords = [(k.arg, k.value, run.evaluate(k.value, env)) for k in node.keywords]
    return Arguments(node, positional, keywords)


def call(run: Any, node: ast.Call, env: Any) -> Abs:
    """The value of a call; makes sites, follows functions, asks the shape functions."""
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        special = _SELF.get(func.attr)
        if special is not None and run.model.method(func.attr) is None:
            return special(run, node, env)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Call) and _is_super(func.value):
        return _super_call(run, node, func.attr, env)
    if _is_super(node):
        return Abs(Unknown("super"))
    if isinstance(func, ast.Attribute):
        made = _method_of_value(run, node, func, env)
        if made is not None:
            return made
    qualname = None
    if not (isinstance(func, ast.Attribute | ast.Name) and run._rooted_local(func, env)):
        qualname = run.project.qualname(env.source, func)
    if qualname == "functools.partial":
        return _partial(run, node, env)
    if qualname in LIFTED:
        return _lifted(run, LIFTED[qualname], node, env)
    if qualname in _OTHER_LIFTED:
        raise Unmigratable("NNX130", f"`{ast.unparse(func)}` is used in a module", node)
    if qualname == "flax.linen.partitioning.param_with_axes":
        return _self_param(run, node, env)
    if qualname == "flax.linen.share_scope":
        raise Unmigratable("NNX131", "`nn.share_scope` is used", node)
    if qualname == "flax.linen.Sequential":
        pass
    target = run.evaluate(func, env)
    value = target.value
    if isinstance(value, Factory):
        return construct(run, value, node, env)
    if isinstance(value, Module | ModuleField):
        return call_module(run, value, "__call__", node, env)
    if isinstance(value, Either):
        results = [call_module(run, m, "__call__", node, env) for m in value.modules]
        merged: Abs = run.merge_values(results)
        return merged
    if isinstance(value, Repeated | Tup) and run.holds_module(value):
        raise Unmigratable("NNX132", f"`{ast.unparse(func)}` is called, and may be one of several modules", node)
    if isinstance(value, Function):
        return follow(run, value, node, env)
    if _from_field_call(value):
        raise Unmigratable("NNX138", f"what `{ast.unparse(func)}` makes is not known, and it is called", node)
    arguments = arguments_of(run, node, env)
    if isinstance(value, Global) or qualname is not None:
        return library(run, qualname or value.name, arguments, env)  # type: ignore[union-attr]
    if isinstance(func, ast.Name) and env.get(func.id) is None:
        return _builtin(run, func.id, arguments, env)
    if isinstance(value, Static) and target.static and arguments.static:
        found: Abs = run._static_text(node, True, arguments.flags, env)
        return found
    _run_functions(run, arguments)
    if isinstance(value, Static):
        # An activation or another function held in a field: its result is an array of unknown shape, except that a
        # function of one array in a field that names an activation keeps its argument's shape.
        keeps = value.text.rpartition(".")[2].lower()
        arrays = [a.value for _, a in arguments.positional if isinstance(a.value, Array)]
        if len(arrays) == 1 and (
            any(word in keeps for word in ("act", "nonlin")) or _elementwise_default(run, value.text, arrays[0])
        ):
            return Abs(arrays[0], False, arguments.flags)
    return Abs(Unknown(f"the result of `{ast.unparse(func)}`"), False, arguments.flags | target.flags)


def _from_field_call(value: Value) -> bool:
    """Is this what calling a field gave? That it is called in turn says that the field makes modules."""
    if isinstance(value, Static):
        return re.match(r"self\.\w+\(", value.text) is not None
    return isinstance(value, Unknown) and value.why.startswith("the result of `self.")


def _elementwise_default(run: Any, text: str, argument: Value) -> bool:
    """Does a field hold, by default, a function that keeps its argument's shape (`nn.relu`)?"""
    field = run.fields.get(text.removeprefix("self."))
    if field is None or field.default is None:
        return False
    default = run.constant(field.default, field.source).value
    return isinstance(default, Global) and shapes.call(default.name, [argument], {}) == argument


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _builtin(run: Any, name: str, arguments: Arguments, env: Any) -> Abs:
    node = arguments.node
    if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[0], ast.Name) and node.args[0].id == "self":
        raise Unmigratable("NNX133", "`getattr(self, ...)` looks up a submodule or field by a computed name", node)
    if name == "setattr":
        raise Unmigratable("NNX133", "`setattr(self, ...)` makes attributes under computed names", node)
    if name == "isinstance" and len(arguments.positional) == 2:
        known = arguments.positional[0][1].value
        if isinstance(known, Int) and ast.unparse(node.args[1]) == "int" and known.dim.value is not None:
            return Abs(Const(True), True)
    args, keywords = arguments.values(run)
    if name in ("list", "tuple") and len(arguments.positional) == 1:
        inner = arguments.positional[0][1].value
        if isinstance(inner, Repeated | Tup):
            return Abs(dataclasses.replace(inner, kind=name), arguments.static, arguments.flags)
    if arguments.starred():
        found: Value = Unknown(name)
    else:
        found = shapes.call(f"builtins.{name}" if name not in _BUILTINS else name, args, keywords)
    if isinstance(found, Unknown) and arguments.static:
        return run._static_text(node, True, arguments.flags, env)  # type: ignore[no-any-return]
    return Abs(found, arguments.static, arguments.flags)


def library(run: Any, qualname: str, arguments: Arguments, env: Any) -> Abs:
    """A function of jax, numpy, flax or another package."""
    node = arguments.node
    higher = _HIGHER.get(qualname)
    if higher is not None:
        return higher(run, arguments, env)
    if qualname.startswith(("flax.linen.", "jax.", "optax.")) and _makes_function(qualname):
        first = arguments.positional[0][1] if arguments.positional else None
        if first is not None and isinstance(first.value, Function):
            if qualname in _TRANSPARENT:
                return first
            if _uses_modules(first.value):
                return Abs(_Opaque(first.value), False)
    if qualname == "flax.linen.merge_param" and len(arguments.positional) == 3:
        flags = arguments.flags
        return Abs(Unknown("merge_param"), False, flags)
    _run_functions(run, arguments)
    args, keywords = arguments.values(run)
    if qualname in _POOLS and args:
        window = keywords.get("window_shape", args[1] if len(args) > 1 else Unknown(""))
        _assume_rank(run, layers.Arg((), window), args[0])
    found = shapes.call(qualname, args, keywords)
    if isinstance(found, Unknown) and qualname in ("jax.numpy.reshape", "jax.lax.reshape") and len(args) > 1:
        found = _reshaped_width(args[1:2], found)
    if isinstance(found, Unknown) and arguments.static and not qualname.startswith("jax.random."):
        return run._static_text(node, True, arguments.flags, env)  # type: ignore[no-any-return]
    static = arguments.static and not qualname.startswith("jax.random.")
    return Abs(found, static, arguments.flags)


def _makes_function(qualname: str) -> bool:
    return qualname in _TRANSPARENT or qualname in (
        "jax.vmap", "jax.grad", "jax.value_and_grad", "jax.vjp", "jax.jvp", "jax.linearize", "jax.jacfwd", "jax.jacrev",
    )  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False)
class _Opaque(Value):
    """A transformed function (vmap, grad): executed for its modules, its result unknown."""

    function: Function


def _uses_modules(function: Function) -> bool:
    return any(isinstance(n, ast.Call) for n in ast.walk(function.node))


def _run_functions(run: Any, arguments: Arguments) -> None:
    """Functions handed to unknown code: what they make must be known, so making modules in them is refused."""
    for _, found in [*arguments.positional, *[(n, a) for _, n, a in arguments.keywords]]:
        if isinstance(found.value, Function) and found.value.method is None and found.value.env is not None:
            before = len(run.sites)
            parameters = _parameters(found.value.node)
            env = _function_env(run, found.value, {p: Abs(Unknown("argument")) for p in parameters})
            try:
                run.run_function(found.value.node, env)
            except Unmigratable:
                raise
            if len(run.sites) > before:
                raise Unmigratable(
                    "NNX134",
                    f"modules are made in a function given to `{ast.unparse(arguments.node.func)}`",
                    arguments.node,
                )


def _parameters(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    found = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    return [*found, *[e.arg for e in (node.args.vararg, node.args.kwarg) if e]]


def _function_env(run: Any, function: Function, names: dict[str, Abs]) -> Any:
    from .execute import Env

    return Env(names, function.source, method=function.method, parent=function.env)


def follow(run: Any, function: Function, node: ast.Call, env: Any) -> Abs:
    """Execute a local function, a method or a project function where it is called."""
    arguments = arguments_of(run, node, env)
    if not _worth_following(run, function, arguments):
        return Abs(Unknown(f"the result of `{ast.unparse(node.func)}`"), arguments.static, arguments.flags)
    target = function.node
    spec = target.args
    names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    if function.method is not None and "staticmethod" not in function.method.decorators:
        names = names[1:]
    bound: dict[str, Abs] = {}
    nodes: dict[str, ast.expr] = {}
    for position, (arg, value) in enumerate(arguments.positional):
        if isinstance(arg, ast.Starred):
            break
        if position < len(names):
            bound[names[position]], nodes[names[position]] = value, arg
    for key, arg, value in arguments.keywords:
        if key is not None:
            bound[key], nodes[key] = value, arg
    for name, default in _defaults(target).items():
        if name not in bound:
            bound[name] = run.constant(default, function.source)
    for name in _parameters(target):
        bound.setdefault(name, Abs(Unknown(f"argument {name}")))
    inner = _function_env(run, function, bound)
    for name, arg in nodes.items():
        if bound[name].static or isinstance(bound[name].value, Int | Module):
            said = run.localize(arg, env)
            if said is not None:
                inner.substituted[name] = said
    if function.method is not None:
        run.inlined.add(function.method)
    before = len(run.sites)
    result: Abs = run.run_function(target, inner)
    if len(run.sites) > before and function.method is None and function.env is not None and function.env.method is None:
        raise Unmigratable("NNX135", f"`{ast.unparse(node.func)}` makes submodules in its caller's scope", node)
    static = arguments.static and result.static and len(run.sites) == before
    if isinstance(result.value, Static | Int | Const) and static and function.env is not None:
        # A pure helper of static arguments can be called in the constructor too; its own names mean nothing there.
        return (
            run._static_text(node, True, arguments.flags, env) if not isinstance(result.value, Int | Const) else result
        )  # type: ignore[no-any-return]
    return Abs(result.value, False, result.flags)


def _worth_following(run: Any, function: Function, arguments: Arguments) -> bool:
    return bool(run.depth < 20)


def _defaults(node: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr]:
    named = [*node.args.posonlyargs, *node.args.args]
    found = {a.arg: d for a, d in zip(reversed(named), reversed(node.args.defaults))}
    found |= {a.arg: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None}
    return found


def decorated_function(run: Any, node: ast.FunctionDef, env: Any) -> Value:
    """A nested `def`; decorators that keep the signature are looked through."""
    function = Function(node, env, env.source)
    for decorator in node.decorator_list:
        head = decorator.func if isinstance(decorator, ast.Call) else decorator
        qualname = run.project.qualname(env.source, head) or ""
        if qualname == "functools.partial" and isinstance(decorator, ast.Call) and decorator.args:
            qualname = run.project.qualname(env.source, decorator.args[0]) or ""
        if qualname in LIFTED or qualname in _OTHER_LIFTED:
            raise Unmigratable("NNX130", f"`{ast.unparse(head)}` lifts a function of the module", node)
        if qualname not in _TRANSPARENT and not qualname.startswith("jax."):
            return Unknown(f"decorated by {ast.unparse(head)}")
        if qualname not in _TRANSPARENT:
            return _Opaque(function)
    return function


def _super_call(run: Any, node: ast.Call, name: str, env: Any) -> Abs:
    method = run.model.method(name, after=env.method.owner if env.method is not None else None)
    if method is None:
        if name in ("setup", "__post_init__"):
            return Abs(Const(None), static=True)
        raise Unmigratable("NNX136", f"`super().{name}` leads outside the project", node)
    run.super_calls.append((node, method))
    return follow(run, Function(method.node, None, method.source, method), node, env)


# values with methods ---------------------------------------------------------------------------------------------
def _method_of_value(run: Any, node: ast.Call, func: ast.Attribute, env: Any) -> Abs | None:
    """`x.reshape(...)`, `layers.append(...)`, `embed.attend(...)`; None if the base is not such a value."""
    if not run._rooted_local(func, env) and run.project.qualname(env.source, func) is not None:
        return None
    if isinstance(func.value, ast.Name) and func.value.id == "self" and env.get("self") is None:
        return None
    base = run.evaluate(func.value, env)
    value = base.value
    if isinstance(value, Module | ModuleField):
        return call_module(run, value, func.attr, node, env)
    if isinstance(value, Factory | Function | Static | Global):
        return None
    if func.attr in ("append", "extend", "insert") and isinstance(value, Tup | Repeated):
        return _append(run, node, func, base, env)
    if isinstance(value, Table) and func.attr in ("items", "values", "keys", "get"):
        arguments_of(run, node, env)
        if func.attr == "items":
            pairs = tuple(Tup((Const(k), v)) for k, v in value.items.items())
            return Abs(Tup(pairs, "list"), base.static, base.flags)
        if func.attr == "values":
            return Abs(Tup(tuple(value.items.values()), "list"), base.static, base.flags)
        return Abs(Unknown("dict"), base.static, base.flags)
    if isinstance(value, Unknown | Const | Variable):
        arguments = arguments_of(run, node, env)
        _run_functions(run, arguments)
        return Abs(Unknown(f"`{ast.unparse(func)}(...)`"), False, base.flags | arguments.flags)
    arguments = arguments_of(run, node, env)
    args, keywords = arguments.values(run)
    found = shapes.method(value, func.attr, args, keywords)
    if func.attr == "reshape" and isinstance(found, Unknown):
        found = _reshaped_width(args, found)
    return Abs(found, False, base.flags | arguments.flags)


def _reshaped_width(args: Sequence[Value], found: Value) -> Value:
    """Of a reshape to sizes that are not all known, the last one may be."""
    last = args[-1] if args else None
    if isinstance(last, Tup) and last.items:
        last = last.items[-1]
    if isinstance(last, ShapeOf):
        dim = last.shape.dim(-1)
        last = Int(dim) if dim is not None else None
    if isinstance(last, Int) and last.dim.value != -1:
        needs = found.arguments if isinstance(found, NeedsRank) else ()
        return Array(Shape((last.dim,), Lead.unknown(*needs)))
    return found


def _append(run: Any, node: ast.Call, func: ast.Attribute, base: Abs, env: Any) -> Abs:
    arguments = arguments_of(run, node, env)
    if not arguments.positional:
        return Abs(Const(None))
    added = arguments.positional[-1][1]
    value = base.value
    if func.attr == "extend":
        new: Value = run.extended(value, added.value, node) if run.holds_module(added.value) else Unknown("list")
    elif run.loops or isinstance(value, Repeated):
        new = Repeated(added.value, run.loops[-1] if run.loops else None)
        if isinstance(value, Tup) and value.items and run.holds_module(added.value):
            kinds = {s.target for s in run.modules_in(value)} | {s.target for s in run.modules_in(added.value)}
            if len(kinds) > 1 or any(True for _ in run.modules_in(value)):
                new = Unknown("a list that grows in a loop")
    elif isinstance(value, Tup) and func.attr == "append":
        new = Tup((*value.items, added.value), value.kind)
    else:
        new = Unknown("list")
    replaced = Abs(new, False, base.flags | added.flags)
    if isinstance(func.value, ast.Name):
        scope = env
        while scope is not None and func.value.id not in scope.names:
            scope = scope.parent
        if scope is not None:
            scope.names[func.value.id] = replaced
            if run.holds_module(added.value) and not run.in_setup:
                scope.local.discard(func.value.id)
    elif isinstance(func.value, ast.Attribute) and isinstance(func.value.value, ast.Name):
        run.attributes[func.value.attr] = replaced
        for site in run.modules_in(added.value):
            site.container = func.value.attr
    return Abs(Const(None))


def either(run: Any, a: Value, b: Value, node: ast.AST) -> Value:
    """One of two modules, by a condition of the constructor."""
    if isinstance(a, Const) and a.value is None:
        return b
    if isinstance(b, Const) and b.value is None:
        return a
    if isinstance(a, Module) and isinstance(b, Module) and a.site.target == b.site.target:
        return Either((a, b))
    if isinstance(a, Module) and isinstance(b, Module):
        return Either((a, b))
    return Unknown("one of several things")


@dataclasses.dataclass(frozen=True, eq=False)
class Either(Value):
    """One of several modules; a call reaches them all."""

    modules: tuple[Module, ...]


def members(value: Value) -> tuple[Module, ...]:
    """The modules that a value may be."""
    return value.modules if isinstance(value, Either) else (value,) if isinstance(value, Module) else ()


# construction ----------------------------------------------------------------------------------------------------
def _bound(run: Any, node: ast.expr, found: Abs, env: Any) -> BoundArg:
    return BoundArg(node, found, run.localize(node, env))


def construct(run: Any, factory: Factory, node: ast.Call, env: Any) -> Abs:
    """A module is made here."""
    arguments = arguments_of(run, node, env)
    if not factory.target:
        raise Unmigratable("NNX138", f"what `{ast.unparse(node.func)}` makes is not known", node)
    unpacked = [(n, a) for k, n, a in arguments.keywords if k is None]
    project_class = run.analyser.classes.get(factory.target)
    if any(isinstance(n, ast.Starred) for n, _ in arguments.positional) or (
        unpacked and (project_class is None or len(unpacked) > 1 or not isinstance(unpacked[0][1].value, Static))
    ):
        raise Unmigratable("NNX137", f"`{ast.unparse(node.func)}` is given *args or **kwargs", node)
    keywords = {k: (n, a) for k, n, a in arguments.keywords if k is not None}
    name = keywords.pop("name", None)
    parent = keywords.pop("parent", None)
    if parent is not None and not (isinstance(parent[1].value, Const) and parent[1].value.value is None):
        raise Unmigratable("NNX139", "a submodule is made with `parent=`", node)
    bound: dict[str, BoundArg] = {
        k: dataclasses.replace(a, given=False) for k, a in factory.args.items() if k not in keywords
    }
    order = parameter_names(run, factory.target)
    positional = [*factory.positional, *[_bound(run, n, a, env) for n, a in arguments.positional]]
    if len(positional) > len(order):
        raise Unmigratable("NNX140", f"`{ast.unparse(node)}` has more arguments than fields", node)
    for parameter, argument in zip(order, positional):
        bound[parameter] = argument
    for key, (value_node, value) in keywords.items():
        bound[key] = _bound(run, value_node, value, env)
    if unpacked:
        mapping = unpacked[0][1].value
        assert isinstance(mapping, Static)
        for field in project_class.fields():
            if field.name not in bound:
                text = f"{mapping.text}[{field.name!r}]"
                if field.default is not None or field.factory is not None:
                    text = ""  # given or not: nothing is known of it
                said = Abs(Static(text, mapping.deps), True) if text else Abs(Unknown(field.name))
                bound[field.name] = BoundArg(None, said, None, given=False)
    is_layer = layers.lookup(factory.target) is not None and run.analyser.classes.get(factory.target) is None
    site = Site(
        "layer" if is_layer else "class",
        node,
        env.source,
        factory.target,
        bound,
        factory=factory,
        lifted=factory.lifted,
        loops=tuple(run.loops),
        in_setup=run.in_setup,
        method=run.entry,
        calltime=dict(factory.calltime),
    )
    if name is not None:
        site.name = _name_spec(run, name[0], name[1], env)
    site.origin = len(run.sites)
    site.renders["func"] = run.localize(node.func, env)
    if unpacked:
        site.renders["**"] = run.localize(unpacked[0][0], env)
    for child in [a.abs.value for a in bound.values()]:
        if run.holds_module(child) and not isinstance(child, Repeated) and site.kind == "class":
            raise Unmigratable("NNX127", "a module is passed to another module's constructor", node)
    run.sites.append(site)
    if not run.in_setup:
        run.block.steps.append(Make(site))
    if site.kind == "class":
        run.analyser.passes(run, site)
    return Abs(Module(site, bool(run.loops)), False)


def _name_spec(run: Any, node: ast.expr, found: Abs, env: Any) -> NameSpec | None:
    if isinstance(found.value, Const):
        return None if found.value.value is None else NameSpec(str(found.value.value))
    return NameSpec(None, node, run.localize(node, env))


def parameter_names(run: Any, target: str) -> list[str]:
    """Constructor parameters of a layer or project class, in Linen's order."""
    model = run.analyser.classes.get(target)
    if model is not None:
        return [f.name for f in model.fields() if not f.kw_only]
    layer = layers.lookup(target)
    assert layer is not None
    return [p.name for p in layer.parameters]


def _partial(run: Any, node: ast.Call, env: Any) -> Abs:
    """functools.partial of a layer, class or other factory; of anything else just a value."""
    arguments = arguments_of(run, node, env)
    first = arguments.positional[0][1] if arguments.positional else None
    if first is None or not isinstance(first.value, Factory):
        if first is not None and isinstance(first.value, Global) and first.value.name in LIFTED:
            raise Unmigratable("NNX130", "a lifted transform is configured with functools.partial", node)
        return run._static_text(node, arguments.static, arguments.flags, env)  # type: ignore[no-any-return]
    base = first.value
    layer = layers.lookup(base.target)
    movable: Mapping[str, str] = layer.call_time_fields if layer is not None else {}
    calltime = dict(base.calltime)
    bound = dict(base.args)
    flags: frozenset[str] = frozenset()
    for key, value_node, value in arguments.keywords:
        if key is None:
            raise Unmigratable("NNX137", "`functools.partial` of a module is given **kwargs", node)
        said = run.localize(value_node, env) if not value.flags else None
        if said is None and key in movable:
            calltime[key] = (value_node, env.source, value)
            continue
        if said is None:
            flags |= value.flags
        bound[key] = BoundArg(value_node, value, said, given=False)
    positional = (*base.positional, *[_bound(run, n, a, env) for n, a in arguments.positional[1:]])
    static = all(b.localized is not None for b in bound.values() if b.node is not None) and not flags
    found = Factory(
        base.target,
        ast.unparse(node),
        bound,
        positional,
        calltime,
        base.lifted,
        node,
        env.source,
    )
    return Abs(found, static, flags)


def _lifted(run: Any, kind: str, node: ast.Call, env: Any) -> Abs:
    arguments = arguments_of(run, node, env)
    first = next((a for _, a in arguments.positional), None) or next(
        (a for k, _, a in arguments.keywords if k in ("target", "module", "variable_types")), None
    )
    if first is None:
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` has no target", node)
    if isinstance(first.value, Function):
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` lifts a function", node)
    if not isinstance(first.value, Factory):
        raise Unmigratable("NNX138", f"what `{ast.unparse(node.func)}` lifts is not known", node)
    names = _LIFTED_PARAMETERS[kind]
    options: dict[str, ast.expr] = {}
    known: dict[str, Abs] = {}
    for position, (arg, value) in enumerate(arguments.positional[1:]):
        options[names[position]], known[names[position]] = arg, value
    for key, arg, value in arguments.keywords:
        if key is None:
            raise Unmigratable("NNX137", f"`{ast.unparse(node.func)}` is given **kwargs", node)
        if key not in ("target", "module"):
            options[key], known[key] = arg, value
    base = first.value
    lifted = Lifted(kind, node, options, known)
    found = dataclasses.replace(
        base, lifted=(lifted, *base.lifted), text=ast.unparse(node), node=node, source=env.source
    )
    return Abs(found, first.static)


_LIFTED_PARAMETERS = {
    "remat": ["variables", "rngs", "concrete", "prevent_cse", "static_argnums", "policy", "methods"],
    "scan": [
        "variable_axes", "variable_broadcast", "variable_carry", "split_rngs", "in_axes", "out_axes", "length",
        "reverse", "unroll",
    ],
    "vmap": ["variable_axes", "split_rngs", "in_axes", "out_axes", "axis_size", "axis_name"],
    "jit": ["variables", "rngs", "static_argnums", "static_argnames", "donate_argnums"],
}  # fmt: skip


# calling modules -------------------------------------------------------------------------------------------------
def module_attribute(run: Any, node: ast.Attribute, base: Abs, env: Any) -> Abs:
    """An attribute of a submodule: a field of its class, or something of its own."""
    value = base.value
    if isinstance(value, Module) and node.attr in value.site.bound:
        found = value.site.bound[node.attr].abs
        return Abs(found.value, False, base.flags)
    return Abs(Unknown(f"`{ast.unparse(node)}`"), False, base.flags)


def call_module(run: Any, module: Value, method: str, node: ast.Call, env: Any) -> Abs:
    """A submodule is called."""
    arguments = arguments_of(run, node, env)
    if isinstance(module, ModuleField):
        return Abs(Unknown(f"the result of `{ast.unparse(node.func)}`"), False, arguments.flags)
    assert isinstance(module, Module)
    site = module.site
    if arguments.starred():
        known: CallRecord | None = None
    else:
        args, keywords = arguments.values(run)
        known = CallRecord(tuple(args), keywords)
    site.calls.append((node, method, env))
    if known is not None and any(l.kind in ("scan", "vmap") for l in site.lifted):
        return _call_lifted(run, site, method, known, arguments)
    if site.call is None and known is not None:
        site.call = known
        site.renders["method"] = method
    if known is None:
        return Abs(Unknown(f"the result of `{ast.unparse(node.func)}`"), False, arguments.flags)
    return Abs(_output(run, site, method, known), False, arguments.flags)


def _output(run: Any, site: Site, method: str, record: CallRecord) -> Value:
    if site.kind == "layer":
        layer = layers.lookup(site.target)
        assert layer is not None
        args = {k: layer_arg(run, site.target, k, a) for k, a in site.bound.items()}
        made = layers.Call(record.args, record.keywords)
        if site.target in _CONVOLUTIONS:
            _assume_rank(run, args.get("kernel_size"), record.args[0] if record.args else None)
        if method != "__call__":
            return layer.method_output(method, args, made)
        result = layer.output(args, made, _inner_results(run, site, layer, args, made))
        if isinstance(result, Unknown):
            return _known_width(site.target, args, record, result)
        return result
    return run.analyser.output(run, site, method, record)  # type: ignore[no-any-return]


_CONVOLUTIONS = frozenset({"flax.linen.Conv", "flax.linen.ConvTranspose", "flax.linen.ConvLocal"})
_POOLS = frozenset({"flax.linen.avg_pool", "flax.linen.max_pool", "flax.linen.min_pool"})


def _assume_rank(run: Any, window: layers.Arg | None, value: Value | None) -> None:
    """What a convolution or pool over n spatial dimensions is given has one batch and one channel dimension more.

    Linen takes any number of batch dimensions; one is what the rest of the module (a flattening reshape) builds on.
    """
    sizes = layers.sizes_of(window)
    if sizes is None or not isinstance(value, Array) or value.shape.lead is None:
        return
    implied = value.shape.implied_rank(len(sizes) + 2)
    if implied is not None:
        run.assumed_ranks.setdefault(*implied)


# Constructor parameters that are one integer, whatever their annotation says; the rest may be a tuple or None.
_SIZE_PARAMETERS = frozenset({"num_embeddings", "num_heads", "num_groups", "feature_group_count"})


_WIDTH_IS_FEATURES = _CONVOLUTIONS | {"flax.linen.Dense", "flax.linen.Embed"}
_KEEP_SHAPE = frozenset(
    f"flax.linen.{name}" for name in ("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm", "InstanceNorm", "Dropout", "PReLU")
)


def _known_width(target: str, args: Mapping[str, layers.Arg], record: CallRecord, result: Unknown) -> Value:
    """Of a result whose shape is not known, its last dimension may be."""
    if target in _WIDTH_IS_FEATURES:
        features = layers.size_of(args.get("features"))
        if features is not None:
            needs = result.arguments if isinstance(result, NeedsRank) else ()
            return Array(Shape((features,), Lead.unknown(*needs)))
    if target in _KEEP_SHAPE and record.args and isinstance(record.args[0], Array):
        return record.args[0]
    return result


def _inner_results(
    run: Any, site: Site, layer: layers.Layer, args: Mapping[str, layers.Arg], made: layers.Call
) -> dict[str, Value]:
    """What the modules that a layer holds give when the layer calls them: the cell of an RNN, the parts of a Sequential."""
    results: dict[str, Value] = {}
    for field, inner in layer.inner_calls(args, made).items():
        bound = site.bound.get(field)
        value = bound.abs.value if bound is not None else None
        members = list(value.items) if isinstance(value, Tup) else [value] if value is not None else []
        record = CallRecord(inner.args, dict(inner.keywords))
        result: Value = Unknown(f"the result of `{field}`")
        for member in members:
            if isinstance(member, Module):
                if member.site.call is None:
                    member.site.call = record
                result = _output(run, member.site, "__call__", record)
            elif isinstance(member, Function):
                result = _invoke(run, Abs(member), record.args)
            elif isinstance(member, Global):
                result = shapes.call(member.name, list(record.args), {})
            else:
                result = Unknown(f"the result of `{field}`")
            record = CallRecord((result,), {})
        results[field] = result
    return results


_MANY_FEATURES = frozenset({"flax.linen.DenseGeneral"})


def layer_arg(run: Any, owner: str, name: str, argument: BoundArg, resolve: Any = None) -> layers.Arg:
    """A bound argument as the layer catalog takes it."""
    value = argument.abs.value
    if isinstance(value, Static):
        single = name in _SIZE_PARAMETERS or (name == "features" and owner not in _MANY_FEATURES)
        if single:
            value = Int(run.dim_of(value))
        elif owner in _CONVOLUTIONS and name in ("kernel_size", "strides"):
            # Two spatial dimensions, as images have; with another number the constructor fails where it matters.
            value = Tup(tuple(Int(Dim.opaque(f"{value.text}[{i}]", value.deps)) for i in range(2)))
        else:
            value = Unknown(value.text)
    elif isinstance(value, Tup):
        value = run.plain(value)
    elif isinstance(value, Module):
        inner = layers.lookup(value.site.target)
        if inner is not None:
            args = {k: layer_arg(run, value.site.target, k, a, resolve) for k, a in value.site.bound.items()}
            value = layers.Instance(inner, args)
    parts: tuple[Any, ...] = (argument.text,) if argument.text is not None else ()
    if resolve is not None:
        parts = resolve(argument)
    return layers.Arg(parts, value)


def _call_lifted(run: Any, site: Site, method: str, record: CallRecord, arguments: Arguments) -> Abs:
    """The call of a scanned or vmapped module: the inner call sees arguments without the mapped axis."""
    lifted = next(l for l in site.lifted if l.kind in ("scan", "vmap"))
    in_axes = _axes(run, lifted.abs.get("in_axes"), len(record.args) - (lifted.kind == "scan"))
    inner: list[Value] = []
    rest = list(record.args)
    if lifted.kind == "scan":
        if not rest:
            raise Unmigratable("NNX141", "a scanned module is called without a carry", arguments.node)
        inner.append(rest.pop(0))
    if in_axes is None:
        raise Unmigratable("NNX141", "in_axes of a lifted transform is not a constant", lifted.node)
    for value, axis in zip(rest, in_axes):
        inner.append(value if axis is None else _drop_axis(value, axis))
    record = CallRecord(tuple(inner), dict(record.keywords))
    if site.call is None:
        site.call = record
        site.renders["method"] = method
    result = _output(run, site, method, record)
    if lifted.kind == "scan":
        if isinstance(result, Tup) and len(result.items) == 2:
            carry, ys = result.items
            # The carry keeps its shape along the scan, so what came in also goes out.
            return Abs(Tup((_carry(inner[0], carry), _stacked(ys))), False, arguments.flags)
        return Abs(Unknown("the result of a scan"), False, arguments.flags)
    out = lifted.abs.get("out_axes")
    axis_value = out.value if out is not None else Int(Dim.of(0))
    size = lifted.abs.get("axis_size")
    count = run.plain(size.value) if size is not None else Unknown("")
    if isinstance(axis_value, Int) and axis_value.dim.value is not None:
        axis, dim = axis_value.dim.value, count.dim if isinstance(count, Int) else None
        return Abs(_insert_axis(result, axis, dim), False, arguments.flags)
    return Abs(Unknown("the result of a vmap"), False, arguments.flags)


def _carry(before: Value, after: Value) -> Value:
    if isinstance(before, Array) and isinstance(after, Array):
        return before
    if isinstance(before, Tup) and isinstance(after, Tup) and len(before.items) == len(after.items):
        return Tup(tuple(_carry(x, y) for x, y in zip(before.items, after.items)), after.kind)
    return after


def _stacked(value: Value) -> Value:
    return _insert_axis(value, 0, None)


def _insert_axis(value: Value, axis: int, dim: Dim | None) -> Value:
    if isinstance(value, Tup):
        return Tup(tuple(_insert_axis(i, axis, dim) for i in value.items), value.kind)
    if isinstance(value, Array):
        if axis < 0:
            shape = value.shape.expand(-axis - 1)
            at = len(shape.dims) + axis + 1
            return Array(Shape((*shape.dims[:at], dim, *shape.dims[at:]), shape.lead))
        if value.shape.lead is None:
            return Array(Shape((*value.shape.dims[:axis], dim, *value.shape.dims[axis:])))
        return Array(Shape(value.shape.dims, Lead.unknown()))
    return value


def _drop_axis(value: Value, axis: int) -> Value:
    if isinstance(value, Tup):
        return Tup(tuple(_drop_axis(i, axis) for i in value.items), value.kind)
    if not isinstance(value, Array):
        return value
    shape = value.shape
    if axis < 0:
        shape = shape.expand(-axis)
        return Array(Shape((*shape.dims[:axis], *(shape.dims[axis + 1 :] if axis != -1 else ())), shape.lead))
    if shape.lead is None:
        return Array(Shape((*shape.dims[:axis], *shape.dims[axis + 1 :])))
    # A leading axis of unknown rank: the last dimension stays what it is as long as the rank exceeds the axis.
    return Array(Shape(shape.expand(1).dims[-1:], Lead.unknown(*shape.needs())))


def _axes(run: Any, found: Abs | None, count: int) -> list[int | None] | None:
    """Per-argument axes; None for an argument that is broadcast."""
    if found is None:
        return [0] * count
    value = found.value

    def one(item: Value) -> int | str | None:
        if isinstance(item, Int) and item.dim.value is not None:
            return item.dim.value
        if isinstance(item, Const) and item.value is None:
            return None
        if isinstance(item, Global) and item.name == "flax.linen.broadcast":
            return None
        return "?"

    if isinstance(value, Tup):
        axes = [one(i) for i in value.items]
    else:
        axes = [one(value)] * count
    if any(a == "?" for a in axes):
        return None
    return [a for a in axes if not isinstance(a, str)]


# self.param and its family ---------------------------------------------------------------------------------------
def _literal_name(run: Any, node: ast.Call, position: int, keyword: str, env: Any) -> tuple[ast.expr, Abs]:
    argument = node.args[position] if len(node.args) > position else None
    if argument is None:
        argument = next((k.value for k in node.keywords if k.arg == keyword), None)
    if argument is None:
        raise Unmigratable("NNX142", f"`{ast.unparse(node)}` has no name", node)
    return argument, run.evaluate(argument, env)


def _self_param(run: Any, node: ast.Call, env: Any) -> Abs:
    name_node, name = _literal_name(run, node, 0, "name", env)
    arguments = arguments_of(run, node, env)
    rest = [(n, a) for n, a in arguments.positional[1:]]
    keywords = {k: (n, a) for k, n, a in arguments.keywords if k not in ("name", "unbox", "module")}
    site = Site("param", node, env.source, "params", loops=tuple(run.loops), in_setup=run.in_setup, method=run.entry)
    site.name = _name_spec(run, name_node, name, env)
    init = rest[0] if rest else keywords.pop("init_fn", None)
    if init is None or any(isinstance(n, ast.Starred) for n, _ in rest):
        raise Unmigratable("NNX142", f"`{ast.unparse(node)}` has no plain initializer", node)
    localized: list[Localized] = []
    for argument_node, _ in [init, *rest[1:]]:
        said = run.localize(argument_node, env)
        if said is None:
            raise Unmigratable(
                "NNX111",
                f"the parameter `{_shown(name)}` needs `{ast.unparse(argument_node)}`, known only when it is called",
                argument_node,
            )
        localized.append(said)
    for key, (argument_node, value) in keywords.items():
        said = run.localize(argument_node, env)
        if said is None or key is None:
            raise Unmigratable("NNX111", f"the parameter `{_shown(name)}` needs `{key}` when it is called", node)
        if key != "axes":
            site.renders[f"kw:{key}"] = said
        elif not (isinstance(value.value, Const) and value.value.value is None):
            site.renders["axes"] = said  # param_with_axes: the logical names of its dimensions
    site.init_localized = tuple(localized)
    shape_value = rest[1][1].value if len(rest) > 1 else (keywords["shape"][1].value if "shape" in keywords else None)
    site.shape = _array_of(run, shape_value, init[1].value)
    site.origin = len(run.sites)
    run.sites.append(site)
    if not run.in_setup:
        run.block.steps.append(Make(site))
    return Abs(site.shape if not run.in_setup else _Param(site, site.shape), False)


@dataclasses.dataclass(frozen=True, eq=False)
class _Param(Array):
    """A parameter made in setup, seen through its attribute."""

    site: Site | None = None

    def __init__(self, site: Site, shape: Value) -> None:
        object.__setattr__(self, "shape", shape.shape if isinstance(shape, Array) else Shape.unknown())
        object.__setattr__(self, "site", site)


def _array_of(run: Any, shape: Value | None, init: Value) -> Value:
    if shape is not None:
        shape = run.plain(shape)
        if isinstance(shape, Tup):
            dims = [i.dim if isinstance(i, Int) else None for i in shape.items]
            return Array(Shape(tuple(dims)))
        if isinstance(shape, ShapeOf):
            return Array(shape.shape)
        if isinstance(shape, Int):
            return Array(Shape((shape.dim,)))
        return Array(Shape.unknown())
    return Array(Shape.unknown())


def _shown(name: Abs) -> str:
    return str(name.value.value) if isinstance(name.value, Const) else "?"


def _self_variable(run: Any, node: ast.Call, env: Any) -> Abs:
    _, collection = _literal_name(run, node, 0, "col", env)
    name_node, name = _literal_name(run, node, 1, "name", env)
    if not isinstance(collection.value, Const):
        raise Unmigratable("NNX143", "the collection of a variable is not a constant", node)
    arguments = arguments_of(run, node, env)
    site = Site(
        "variable", node, env.source, str(collection.value.value), loops=tuple(run.loops),
        in_setup=run.in_setup, method=run.entry,
    )  # fmt: skip
    site.name = _name_spec(run, name_node, name, env)
    rest = arguments.positional[2:]
    site.lazy = isinstance(name.value, Const) and (site.target, str(name.value.value)) in run.lazy
    localized: list[Localized] = []
    for argument_node, _ in rest:
        said = run.localize(argument_node, env) if not site.lazy else None
        if said is None and (site.lazy or site.target == "cache"):
            site.lazy = True
            localized = []
            break
        if said is None:
            raise Unmigratable(
                "NNX112",
                f"the variable `{_shown(name)}` starts from `{ast.unparse(argument_node)}`, known only when it is called",
                argument_node,
            )
        localized.append(said)
    site.init_localized = tuple(localized)
    if rest and isinstance(rest[0][1].value, Function):
        made = follow_init(run, rest[0][1].value, [a for _, a in rest[1:]])
        site.shape = made
    elif len(rest) > 1:
        args = [run.plain(a.value) for _, a in rest[1:]]
        init = rest[0][1].value
        site.shape = shapes.call(init.name, args, {}) if isinstance(init, Global) else Unknown("variable")
    else:
        site.shape = Unknown("variable")
    if site.lazy and (run.in_setup or site.loops or site.name is None or site.name.constant is None):
        raise Unmigratable("NNX112", f"the variable `{_shown(name)}` is made when called, in a loop or in setup", node)
    site.origin = len(run.sites)
    run.sites.append(site)
    if not run.in_setup and not site.lazy:
        run.block.steps.append(Make(site))
    return Abs(Variable(site), False)


def follow_init(run: Any, function: Function, args: list[Abs]) -> Value:
    names = _parameters(function.node)
    env = _function_env(run, function, dict(zip(names, args)))
    value: Value = run.run_function(function.node, env).value
    return value


def _self_make_rng(run: Any, node: ast.Call, env: Any) -> Abs:
    stream = "params"
    if node.args or node.keywords:
        _, name = _literal_name(run, node, 0, "name", env)
        if not isinstance(name.value, Const):
            raise Unmigratable("NNX144", "the rng stream is not a constant", node)
        stream = str(name.value.value)
    site = Site("rng", node, env.source, stream, in_setup=run.in_setup, method=run.entry)
    site.origin = len(run.sites)
    run.sites.append(site)
    run.used_streams.add(stream)
    return Abs(Array(Shape.unknown()), False)


def _self_sow(run: Any, node: ast.Call, env: Any) -> Abs:
    arguments_of(run, node, env)
    run.analyser.note_sow(run, node, env)
    return Abs(Unknown("sow"), False)


def _self_perturb(run: Any, node: ast.Call, env: Any) -> Abs:
    raise Unmigratable("NNX145", "`self.perturb` is used", node)


def _initializing(answer: bool) -> Callable[[Any, ast.Call, Any], Abs]:
    def answered(run: Any, node: ast.Call, env: Any) -> Abs:
        arguments_of(run, node, env)
        run.constants[node] = str(answer)
        return Abs(Const(answer), static=True)

    return answered


def _unsupported(what: str, code: str) -> Callable[[Any, ast.Call, Any], Abs]:
    def refuse(run: Any, node: ast.Call, env: Any) -> Abs:
        raise Unmigratable(code, f"`self.{what}` is used", node)

    return refuse


def _has_variable(run: Any, node: ast.Call, env: Any) -> Abs:
    arguments = arguments_of(run, node, env)
    collection = arguments.positional[0][1].value if arguments.positional else None
    if isinstance(collection, Const) and collection.value in ("params", "batch_stats"):
        run.constants[node] = "True"
        return Abs(Const(True), static=True)
    name = arguments.positional[1][1].value if len(arguments.positional) > 1 else None
    if isinstance(collection, Const) and isinstance(name, Const) and not run.in_setup:
        # Such a variable comes to be when the module is called in a certain way: a decode cache.
        run.lazy.add((str(collection.value), str(name.value)))
        run.constants[node] = f'hasattr(self, "{name.value}")'
        return Abs(Unknown("whether a variable exists"), False, frozenset({str(name.value)}))
    raise Unmigratable("NNX146", f"`{ast.unparse(node)}` asks whether a variable was given", node)


def _is_mutable(run: Any, node: ast.Call, env: Any) -> Abs:
    arguments = arguments_of(run, node, env)
    collection = arguments.positional[0][1].value if arguments.positional else None
    if isinstance(collection, Const) and collection.value == "params":
        run.constants[node] = "False"
        return Abs(Const(False), static=True)
    if isinstance(collection, Const) and collection.value == "batch_stats" and not run.in_setup:
        # Linen's callers chose by `mutable=`; NNX's choose by train() and eval(), which set this attribute.
        if "use_running_average" not in run.fields:
            run.constants[node] = "(not self.use_running_average)"
            run.mode_flag = True
            return Abs(Unknown("whether batch_stats are mutable"), False, frozenset({"use_running_average"}))
    raise Unmigratable("NNX146", f"`{ast.unparse(node)}` asks which collections are mutable", node)


_SELF: Mapping[str, Callable[[Any, ast.Call, Any], Abs]] = {
    "param": _self_param,
    "variable": _self_variable,
    "make_rng": _self_make_rng,
    "sow": _self_sow,
    "perturb": _self_perturb,
    "is_initializing": _initializing(False),
    "has_variable": _has_variable,
    "is_mutable_collection": _is_mutable,
    "get_variable": _unsupported("get_variable", "NNX147"),
    "put_variable": _unsupported("put_variable", "NNX147"),
    "has_rng": _unsupported("has_rng", "NNX148"),
    "bind": _unsupported("bind", "NNX149"),
    "unbind": _unsupported("unbind", "NNX149"),
    "clone": _unsupported("clone", "NNX149"),
    "copy": _unsupported("copy", "NNX149"),
    "init": _unsupported("init", "NNX149"),
    "apply": _unsupported("apply", "NNX149"),
    "lazy_init": _unsupported("lazy_init", "NNX149"),
}


# functions that run functions --------------------------------------------------------------------------------------
def _higher_checkpoint(run: Any, arguments: Arguments, env: Any) -> Abs:
    return arguments.positional[0][1] if arguments.positional else Abs(Unknown("checkpoint"))


def _invoke(run: Any, function: Abs, values: Sequence[Value]) -> Value:
    """The result of a function value on abstract arguments."""
    found = function.value
    if isinstance(found, _Opaque):
        found = found.function
    if isinstance(found, Module):
        record = CallRecord(tuple(values), {})
        if found.site.call is None:
            found.site.call = record
        return _output(run, found.site, "__call__", record)
    if not isinstance(found, Function):
        return Unknown("a function that is not known")
    before = len(run.sites)
    names = _parameters(found.node)
    bound = {n: Abs(v) for n, v in zip(names, values)}
    for name in names:
        bound.setdefault(name, Abs(Unknown("argument")))
    result: Abs = run.run_function(found.node, _function_env(run, found, bound))
    if len(run.sites) > before:
        raise Unmigratable("NNX134", "modules are made in a function given to a transform", found.node)
    return result.value


def _higher_scan(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    keywords = {k: a for k, _, a in arguments.keywords}
    function = values[0] if values else keywords.get("f")
    init = values[1] if len(values) > 1 else keywords.get("init")
    xs = values[2] if len(values) > 2 else keywords.get("xs")
    if function is None or init is None:
        return Abs(Unknown("scan"))
    element = _drop_axis(xs.value, 0) if xs is not None else Const(None)
    result = _invoke(run, function, [init.value, element])
    if isinstance(result, Tup) and len(result.items) == 2:
        return Abs(Tup((_carry(init.value, result.items[0]), _stacked(result.items[1]))), False, arguments.flags)
    return Abs(Unknown("scan"), False, arguments.flags)


def _higher_cond(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) < 3:
        return Abs(Unknown("cond"), False, arguments.flags)
    operands = [a.value for a in values[3:]]
    results = [Abs(_invoke(run, f, operands)) for f in values[1:3]]
    merged: Abs = run.merge_values(results)
    return Abs(merged.value, False, arguments.flags)


def _higher_fori(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) < 4:
        return Abs(Unknown("fori_loop"), False, arguments.flags)
    _invoke(run, values[2], [Unknown("i"), values[3].value])
    return Abs(values[3].value, False, arguments.flags)


def _higher_while(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) < 3:
        return Abs(Unknown("while_loop"), False, arguments.flags)
    _invoke(run, values[0], [values[2].value])
    _invoke(run, values[1], [values[2].value])
    return Abs(values[2].value, False, arguments.flags)


def _higher_map(run: Any, arguments: Arguments, env: Any) -> Abs:
    values = [a for _, a in arguments.positional]
    if len(values) >= 2:
        return Abs(_stacked(_invoke(run, values[0], [_drop_axis(values[1].value, 0)])), False, arguments.flags)
    return Abs(Unknown("map"), False, arguments.flags)


_HIGHER: Mapping[str, Callable[[Any, Arguments, Any], Abs]] = {
    "jax.checkpoint": _higher_checkpoint,
    "jax.remat": _higher_checkpoint,
    "jax.jit": _higher_checkpoint,
    "jax.lax.scan": _higher_scan,
    "jax.lax.cond": _higher_cond,
    "jax.lax.fori_loop": _higher_fori,
    "jax.lax.while_loop": _higher_while,
    "jax.lax.map": _higher_map,
}


# summaries of project classes --------------------------------------------------------------------------------------
class Substitution:
    """Sizes of a called class in terms of the caller: fields by the site's arguments, inputs by the call's."""

    def __init__(self, run: Any, site: Site, defaults: Mapping[str, Abs], inputs: Mapping[str, Value]) -> None:
        self.run = run
        self.site = site
        self.defaults = defaults
        self.inputs = inputs

    def __call__(self, dim: Dim) -> Dim | None:
        failed = False

        def change(atom: Atom) -> Dim | None:
            nonlocal failed
            replaced = self._atom(atom)
            if replaced is None:
                failed = True
                return Dim.of(0)
            return replaced

        found = dim.substitute(change)
        return None if failed else found

    def lead(self, lead: Lead) -> Shape:
        if not lead.known:
            return Shape.unknown()
        value = self._input(lead.argument)
        if not isinstance(value, Array) or lead.head or lead.skipped:
            return Shape.unknown()
        shape = value.shape.expand(lead.dropped)
        if len(shape.dims) < lead.dropped:
            return Shape.unknown()
        return Shape(shape.dims[: len(shape.dims) - lead.dropped], shape.lead)

    def _input(self, argument: str) -> Value:
        if argument in self.inputs:
            return self.inputs[argument]
        name, _, rest = argument.partition("[")
        value = self.inputs.get(name)
        if value is not None and rest.rstrip("]").isdigit() and isinstance(value, Tup):
            position = int(rest.rstrip("]"))
            if position < len(value.items):
                return value.items[position]
        if isinstance(value, Array) and value.shape.lead is not None and not value.shape.dims:
            return Array(Shape.argument(f"{value.shape.lead.argument}{argument[len(name) :]}"))
        return Unknown(argument)

    def _field(self, name: str) -> Value | None:
        if name in self.site.bound:
            bound: BoundArg = self.site.bound[name]
            return bound.abs.value
        found = self.defaults.get(name)
        return found.value if found is not None else None

    def _atom(self, atom: Atom) -> Dim | None:
        if atom.kind == "field":
            value = self._field(atom.args[0])
            if isinstance(value, Int):
                return value.dim
            if isinstance(value, Static):
                found: Dim = self.run.dim_of(value)
                return found
            return None
        if atom.kind == "input":
            value = self._input(atom.args[0])
            return value.shape.dim(atom.args[1]) if isinstance(value, Array) else None
        if atom.kind == "rank":
            value = self._input(atom.args[0])
            return value.shape.ndim() if isinstance(value, Array) else None
        if atom.kind == "lead":
            value = self._input(atom.args[0])
            if not isinstance(value, Array):
                return None
            shape = value.shape.expand(atom.args[1])
            return Shape(shape.dims[: len(shape.dims) - atom.args[1]], shape.lead).size()
        if atom.kind == "local":
            return None
        if atom.kind in ("opaque", "cond"):
            return self._opaque(atom)
        return Dim((((atom,), 1),))

    def _opaque(self, atom: Atom) -> Dim | None:
        if atom.deps:
            return None
        text = self.text(str(atom.args[0]))
        if text is None:
            return None
        said, deps = text
        if atom.kind == "cond":
            return Dim.cond(said, atom.args[1], atom.args[2], deps)
        return _dim_from_text(said, deps)

    def text(self, text: str) -> tuple[str, frozenset[str]] | None:
        """Source in terms of the class's fields → in terms of the caller."""
        outer = self
        deps: set[str] = set()
        failed = False

        class Fields(ast.NodeTransformer):
            def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
                nonlocal failed
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    value = outer._field(node.attr)
                    said = outer.run.text_of_value(value) if value is not None else None
                    if said is None:
                        failed = True
                        return node
                    if isinstance(value, Static):
                        deps.update(value.deps)
                    elif isinstance(value, Int):
                        deps.update(value.dim.dependencies())
                    parsed: ast.AST = ast.parse(said, mode="eval").body
                    return parsed
                self.generic_visit(node)
                return node

        tree = ast.parse(text, mode="eval").body
        changed = Fields().visit(tree)
        return None if failed else (ast.unparse(changed), frozenset(deps))


def _dim_from_text(text: str, deps: frozenset[str]) -> Dim:
    try:
        number = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return Dim.opaque(text, deps)
    return Dim.of(number) if isinstance(number, int) else Dim.opaque(text, deps)
