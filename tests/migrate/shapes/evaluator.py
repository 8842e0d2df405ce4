"""A small interpreter of Python expressions over abstract values: what the tests compare with `jax.eval_shape`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from nnx_migrate.migrate.linen.shapes import shapes
from nnx_migrate.migrate.linen.values.dims import Atom, Dim
from nnx_migrate.migrate.linen.values.values import Const, Int, Shape, Slice, Star, Unknown, Value

MODULES = {
    "jnp": "jax.numpy",
    "np": "numpy",
    "lax": "jax.lax",
    "jax": "jax",
    "nn": "flax.linen",
    "math": "math",
    "einops": "einops",
}
BUILTINS = {"int", "len", "min", "max", "sum", "tuple", "list", "range", "round", "abs", "float", "zip", "reversed"}


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    return _eval(ast.parse(text, mode="eval").body, names)


def _dotted(node: ast.expr, names: Mapping[str, Value]) -> str | None:
    if isinstance(node, ast.Name):
        if node.id in names:
            return None
        return MODULES.get(node.id) or (node.id if node.id in BUILTINS else None)
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, names)
        return f"{base}.{node.attr}" if base else None
    return None


def _eval(node: ast.expr, names: Mapping[str, Value]) -> Value:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return Int(Dim.of(node.value))
        return Const(node.value)
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Starred):
        return Star(_eval(node.value, names))
    if isinstance(node, ast.Tuple | ast.List):
        return shapes.build([_eval(e, names) for e in node.elts], "list" if isinstance(node, ast.List) else "tuple")
    if isinstance(node, ast.BinOp):
        return shapes.binary(type(node.op).__name__, _eval(node.left, names), _eval(node.right, names))
    if isinstance(node, ast.UnaryOp):
        return shapes.unary(type(node.op).__name__, _eval(node.operand, names))
    if isinstance(node, ast.Compare):
        return shapes.compare(type(node.ops[0]).__name__, _eval(node.left, names), _eval(node.comparators[0], names))
    if isinstance(node, ast.Slice):
        return Slice(*[None if p is None else _eval(p, names) for p in (node.lower, node.upper, node.step)])
    if isinstance(node, ast.Subscript):
        return shapes.index(_eval(node.value, names), _eval(node.slice, names))
    if isinstance(node, ast.Attribute):
        dotted = _dotted(node, names)
        if dotted:
            return Unknown(dotted)
        return shapes.attribute(_eval(node.value, names), node.attr)
    if isinstance(node, ast.Call):
        args = [_eval(arg, names) for arg in node.args]
        keywords = {k.arg or "": _eval(k.value, names) for k in node.keywords}
        dotted = _dotted(node.func, names)
        if dotted:
            return shapes.call(dotted, args, keywords)
        assert isinstance(node.func, ast.Attribute)
        return shapes.method(_eval(node.func.value, names), node.func.attr, args, keywords)
    raise TypeError(ast.dump(node))


def number_of(dim: Dim, actual: Mapping[str, tuple[int, ...]], locals_: Mapping[str, int]) -> int | None:
    """The size under concrete argument shapes, computed by substitution, not from the printed text."""

    def change(atom: Atom) -> Dim | None:
        if atom.kind == "input":
            return Dim.of(actual[atom.args[0]][atom.args[1]])
        if atom.kind == "rank":
            return Dim.of(len(actual[atom.args[0]]))
        if atom.kind == "local":
            return Dim.of(locals_[atom.args[0]])
        if atom.kind == "lead":
            total = 1
            sizes = actual[atom.args[0]]
            for size in sizes[(atom.args[2] if len(atom.args) > 2 else 0) : len(sizes) - atom.args[1]]:
                total *= size
            return Dim.of(total)
        return None

    return dim.substitute(change).value


def concrete(shape: Shape, actual: Mapping[str, tuple[int, ...]], locals_: Mapping[str, int]) -> list[int | None] | None:
    """All dimensions as numbers (None: not known); None if the number of dimensions is not known."""
    dims: list[Dim | None] = []
    if shape.lead is not None:
        if not shape.lead.known:
            return None
        lead = shape.lead
        own = actual[lead.argument]
        dims += [*lead.head, *[Dim.of(d) for d in own[lead.skipped : len(own) - lead.dropped]]]
    dims += shape.dims
    return [None if d is None else number_of(d, actual, locals_) for d in dims]
