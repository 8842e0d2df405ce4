"""Which calls and conditions the generated constructor can say, in terms of what it knows."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...trees import subtree
from . import drawn_names, given_shapes, kept_by_modules, started
from .arguments import is_self
from .dims import Dim
from .sites import (
    DimPart,
    Factory,
    Function,
    InitPart,
    Localized,
    LocalizedPart,
    Module,
    ModuleField,
    Repeated,
    ShapePart,
    SitePart,
    Static,
    Table,
    Variable,
)
from .values import Array, Const, Int, Shape, ShapeOf, Tup, Unknown, Value

BUILTINS = frozenset({"int", "min", "max", "len", "tuple", "list", "abs", "round", "sum", "bool", "str", "range"})

_PLAIN = BUILTINS | {"enumerate", "zip", "sorted", "reversed", "set", "float", "any", "all", "divmod", "pow", "isinstance"}
# Linen's own helpers for axes, which NNX has too.
_AXES_HELPERS = frozenset({"_canonicalize_tuple", "_normalize_axes", "_canonicalize_axes"})


def bracketed(node: ast.AST, parts: tuple[InitPart, ...], env: Any) -> tuple[InitPart, ...]:
    """What takes the place of an expression, bracketed where the operator around it would bind it otherwise."""
    parent = env.source.parents.get(node)
    if isinstance(node, ast.GeneratorExp):  # its span takes in the brackets of a call that it is alone in
        return ("(", *parts, ")")
    if len(parts) != 1 or not _binds(parent, node) or _has_brackets(node, env):
        return parts
    part = parts[0]
    if isinstance(part, DimPart | ShapePart):
        return (dataclasses.replace(part, factor=True),)
    if isinstance(part, LocalizedPart):
        return parts if _stands_alone(part.localized) else ("(", part, ")")
    if isinstance(part, str) and part.startswith("-"):
        return (f"({part})",)
    return parts


def _has_brackets(node: ast.AST, env: Any) -> bool:
    """Does it stand in brackets of its own, which stay around what takes its place?"""
    span = env.source.span(node)
    around = env.source.text[max(span.start - 1, 0) : span.start] + env.source.text[span.end : span.end + 1]
    return bool(around == "()" and not isinstance(env.source.parents.get(node), ast.Call))


def of_comprehensions(parts: tuple[InitPart, ...], bound: frozenset[str], env: Any) -> tuple[InitPart, ...] | None:
    """Sizes inside of a comprehension, which may say its names; None where such a name means something outside of it too."""
    said = tuple(dataclasses.replace(p, inside=p.dim.dependencies() & bound) if isinstance(p, DimPart) else p for p in parts)
    inside = {name for p in said if isinstance(p, DimPart) for name in p.inside}
    return None if any(env.get(name) is not None for name in inside) else said


def of_f_strings(parts: tuple[InitPart, ...], node: ast.AST, env: Any) -> tuple[InitPart, ...] | None:
    """Arguments that stand inside of a string, `f"{name}_conv"` of `name = f"r{k}"`: before Python 3.12 they cannot have
    its quotes. None where they would.
    """
    outer = next((p for p in env.source.ancestors(node) if isinstance(p, ast.JoinedStr | ast.stmt)), None)
    if not isinstance(outer, ast.JoinedStr) or not any(isinstance(part, LocalizedPart) for part in parts):
        return parts
    span = env.source.span(outer)
    quote = next(c for c in env.source.text[span.start : span.end] if c in "\"'")
    said: list[InitPart] = []
    for part in parts:
        if isinstance(part, LocalizedPart):
            one = part.localized
            text = one.source.text[one.span.start : one.span.end]
            if not set(text) & {quote, "\\", "\n"}:
                said.append(part)
                continue
            if one.replaced:
                return None
            try:
                tree = ast.parse(text.strip(), mode="eval")
            except SyntaxError:
                return None
            text = ast.unparse(tree)
            if quote == "'" and '"' not in text:
                text = text.replace("'", '"')  # a string that has one within stands in double quotes already
            globals_of_its_file = {n.id for n in subtree(tree) if isinstance(n, ast.Name)} - one.needs
            if quote in text or "\\" in text or globals_of_its_file:
                return None
            said.append(text)
        else:
            said.append(part)
    return tuple(said)


def _binds(parent: ast.AST | None, node: ast.AST) -> bool:
    """Does what is around an expression take part of it, if its own operators bind less?"""
    if isinstance(parent, ast.Attribute | ast.Subscript | ast.Starred):
        return parent.value is node
    if isinstance(parent, ast.Call):
        return parent.func is node
    if isinstance(parent, ast.comprehension):
        return parent.target is not node
    return parent is None or isinstance(
        parent, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Await | ast.Lambda
    )


def _stands_alone(localized: Localized) -> bool:
    """Is an expression a name, a constant, a call or the like, also with what is put into it?"""
    text = localized.source.text[localized.span.start : localized.span.end]
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return False  # it has lines of its own
    if isinstance(body, ast.Call | ast.Attribute | ast.Subscript | ast.Tuple | ast.List | ast.Dict) and text[0] != "(":
        whole = [part for span, parts in localized.replaced if span == localized.span for part in parts]
        atom = whole[0].dim.single_atom() if len(whole) == 1 and isinstance(whole[0], DimPart) else None
        return (not whole or (atom is not None and atom.kind == "field")) and not isinstance(body, ast.Tuple)
    if isinstance(body, ast.Name | ast.Constant):
        inner = [part for _, parts in localized.replaced for part in parts]
        if not inner:
            return not text.startswith("-")
        return len(inner) == 1 and isinstance(inner[0], LocalizedPart) and _stands_alone(inner[0].localized)
    return False


def is_library_call(run: Any, node: ast.AST, env: Any) -> bool:
    """A call of a library function: it can be repeated wherever its arguments can be said, a key among them."""
    if not isinstance(node, ast.Call) or run._rooted_local(node.func, env):
        return False
    qualname = run.project.qualname(env.source, node.func) or ""
    if qualname.startswith("flax.linen.") and not qualname.startswith("flax.linen.initializers."):
        return qualname.rpartition(".")[2] in _AXES_HELPERS
    return qualname.startswith(("jax.", "numpy.", "math.", "flax.", "functools.", "optax."))


_PARTS = (
    ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.BinOp, ast.JoinedStr, ast.Subscript, ast.ListComp, ast.GeneratorExp,
    ast.Tuple, ast.List,
)  # fmt: skip


_PARTS_OF_ARRAYS = frozenset({"real", "imag", "T", "mT"})


def is_said_by_parts(run: Any, node: ast.AST, value: Value, env: Any) -> bool:
    """May the constructor say the expression in its own words, if it can say every part? Its names then decide."""
    if isinstance(node, ast.Call):
        return is_plain_call(run, node, env)
    if isinstance(value, Array):
        part = isinstance(node, ast.Attribute) and node.attr in _PARTS_OF_ARRAYS
        return part or isinstance(node, ast.BinOp | ast.UnaryOp | ast.Subscript | ast.IfExp)
    return not isinstance(value, Unknown) or isinstance(node, _PARTS) or _is_of_setup(run, node, env)


def _is_of_setup(run: Any, node: ast.AST, env: Any) -> bool:
    return _is_of_plain_object(run, node, env) or kept_by_modules.is_kept(run, node, env)


def _is_of_plain_object(run: Any, node: ast.AST, env: Any) -> bool:
    """Is it read off an object that setup has made, of which nothing is known: `self.config = get_config(self.kind)`?

    Setup's statements stand in the constructor, so that it says there what it said in Linen.
    """
    root = node
    while isinstance(root, ast.Attribute | ast.Subscript) and not is_self(root.value, env):
        root = root.value
    if not run.in_setup or root is node:
        return False
    if isinstance(root, ast.Attribute):
        held = run.attributes.get(root.attr) if root.attr not in run.fields else None
    else:
        held = env.get(root.id) if isinstance(root, ast.Name) else None
    return held is not None and isinstance(held.value, Unknown)


def is_plain_call(run: Any, node: ast.Call, env: Any) -> bool:
    """A call of a builtin or math function: can be repeated wherever its arguments can be said."""
    if isinstance(node.func, ast.Name) and env.get(node.func.id) is None and node.func.id in _PLAIN:
        return True
    if is_library_call(run, node, env):
        return True
    if isinstance(node.func, ast.Attribute) and node.func.value in run.evaluated:
        base = run.evaluated[node.func.value].value  # a method of what is computed: `jnp.sqrt(n).astype(t)`
        if isinstance(base, Array | Int | Tup | ShapeOf | Const):
            return True
    # A function of the project that makes no module and is given nothing but what the constructor can say.
    value = run.evaluated[node.func].value if node.func in run.evaluated else None
    if isinstance(value, Static):  # one that fields pick, out of a table or by being it: `STARTS[self.start](x.shape[-1])`
        return not run.in_setup and started.is_start(node, env)
    return isinstance(value, Function) and value.method is None and value.env is not None and value.env.method is None


def is_called(run: Any, node: ast.AST, env: Any) -> bool:
    """Is this the `jnp.sqrt(n).astype` of a call that can be repeated?"""
    call = env.source.parents.get(node)
    method = isinstance(node, ast.Attribute) and isinstance(call, ast.Call) and call.func is node
    return method and is_plain_call(run, call, env)


def works_on(node: ast.AST, bound: frozenset[str]) -> bool:
    """Does the expression read a parameter or variable of the function or comprehension that it stands in?"""
    return bool(bound) and any(isinstance(n, ast.Name) and n.id in bound for n in subtree(node))


def is_free_call(run: Any, node: ast.Call) -> bool:
    """A call on a function's own values: of anything but modules and what modules do themselves."""
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        return func.attr in run.fields
    found = run.evaluated.get(func)
    value = found.value if found is not None else None
    return not isinstance(value, Module | ModuleField | Variable | Repeated | Table | Factory) and not (
        isinstance(value, Function) and value.method is not None
    )


def localize_call(
    run: Any,
    node: ast.Call,
    env: Any,
    bound: frozenset[str],
    replaced: list[tuple[Any, tuple[InitPart, ...]]],
    needs: set[str],
) -> bool | None:
    """Calls with a meaning of their own in the constructor; None for all others."""
    if node in run.first_draws:
        replaced.append((env.source.span(node), (f"rngs.{run.first_draws[node]}()",)))
        return True
    stream = drawn_names.is_draw(run, node)
    if stream:
        replaced.append((env.source.span(node), (f"rngs.{stream}()",)))
        return True
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
    shaped = given_shapes.of_call(run, node, env) if isinstance(found.value, Function) and not bound else {}
    for argument, parts in shaped.items():
        needs.update(d for p in parts if isinstance(p, DimPart) for d in p.dim.dependencies())
        replaced.append((env.source.span(argument), parts))
    if shaped:
        others = [child for child in (*node.args, *[k.value for k in node.keywords]) if child not in shaped]
        return all(run._localize(child, env, bound, replaced, needs) for child in (node.func, *others))
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
    if all(s.of_argument(run.ranks) for s in found):
        said_op = " == " if isinstance(node.ops[0], ast.Eq) else " != "
        return (ShapePart(found[0]), said_op, ShapePart(found[1]))
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
