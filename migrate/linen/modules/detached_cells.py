"""Recurrent cells that are made only to ask for their initial carry: `nn.GRUCell(n).initialize_carry(key, shape)`.

Such a cell never has parameters. Its carry is zeros, of the cell's features; NNX's cells could not be made there, as they
need the sizes of inputs and random streams. Linen gives the cell a number all the same where a compact method makes it.
"""

from __future__ import annotations

import ast
from typing import Any

from ...frozen import frozen
from ...source import SourceFile
from ...trees import subtree
from ..project.classes import ClassModel
from ..values.arguments import arguments_of
from ..values.environment import Env
from ..values.sites import Abs, Block, CallRecord, Factory, Skipped, Static, Unmigratable
from ..values.values import Array, Int, Shape, ShapeOf, Tup, Unknown, Value

# How many arrays the carry has.
_CELLS = {
    "flax.linen.GRUCell": 1,
    "flax.linen.SimpleCell": 1,
    "flax.linen.MGUCell": 1,
    "flax.linen.LSTMCell": 2,
    "flax.linen.OptimizedLSTMCell": 2,
}
_METHOD = "initialize_carry"


@frozen(eq=False)
class DetachedCell(Value):
    """Such a cell. `statement` is the assignment that holds it, if one does."""

    node: ast.Call
    arrays: int
    width: Value
    features: ast.expr
    dtype: ast.expr | None
    statement: ast.Assign | None


@frozen(eq=False)
class InitialCarry:
    """A call that asks such a cell for its carry, and the expression of the shape that it is given.

    `cell` is None where a class was asked, as before flax 0.7.2: `shape` is that of the batch then.
    """

    source: SourceFile
    cell: DetachedCell | None
    shape: ast.expr
    features: ast.expr
    arrays: int


def _asks(source: SourceFile, node: ast.AST) -> ast.Call | None:
    """The call of `initialize_carry` on what an expression gives."""
    outer = source.parents.get(node)
    call = source.parents.get(outer) if isinstance(outer, ast.Attribute) and outer.attr == _METHOD else None
    return call if isinstance(call, ast.Call) and call.func is outer else None


def _holder(source: SourceFile, node: ast.Call) -> ast.Assign | None:
    """The assignment of a name that is used for nothing but to ask for a carry."""
    statement = source.parents.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.value is not node:
        return None
    (target,) = statement.targets
    if not isinstance(target, ast.Name) or source.shares_line(statement):
        return None
    scope = source.names.scope_of(target)
    uses = [n for n in subtree(scope) if isinstance(n, ast.Name) and n.id == target.id] if scope is not None else []
    asked = all(n is target or (isinstance(n.ctx, ast.Load) and _asks(source, n) is not None) for n in uses)
    return statement if len(uses) > 1 and asked else None


def made(run: Any, factory: Factory, node: ast.Call, env: Any) -> Abs | None:
    """The cell, if a construction is such a one; None for any other."""
    arrays = _CELLS.get(factory.target)
    plain = not (factory.args or factory.positional or factory.lifted or factory.alternatives or factory.variant)
    if arrays is None or not plain or run.in_setup:
        return None
    statement = _holder(env.source, node)
    if statement is None and _asks(env.source, node) is None:
        return None
    given = {k.arg: k.value for k in node.keywords}
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        given.setdefault("features", node.args[0])
    parent = given.pop("parent", None)
    detached = parent is not None and isinstance(parent, ast.Constant) and parent.value is None
    if len(node.args) > 1 or not set(given) <= {"features", "param_dtype"} or "features" not in given:
        return None
    if (parent is not None and not detached) or not all(_is_settled(env.source, value) for value in given.values()):
        return None
    arguments_of(run, node, env)
    if not detached:
        group = run.compact_calls + 1 if run.in_compact else 0
        run.block.steps.append(Skipped(factory.target.rpartition(".")[2], group, bool(run.loops)))
    width = run.evaluate(given["features"], env).value
    width = Int(run.dim_of(width)) if isinstance(width, Static) else width
    return Abs(DetachedCell(node, arrays, width, given["features"], given.get("param_dtype"), statement))


def is_detached(source: SourceFile, node: ast.Call, target: str, counted: bool = True) -> bool:
    """Is a construction such a cell, apart from whatever module is running (`parent=None`)?

    `counted=False`: no module is.
    """
    apart = not counted or any(
        k.arg == "parent" and isinstance(k.value, ast.Constant) and k.value.value is None for k in node.keywords
    )
    return apart and target in _CELLS and (_asks(source, node) is not None or _holder(source, node) is not None)


def _is_settled(source: SourceFile, node: ast.expr) -> bool:
    """Does an expression mean the same wherever it stands in its function?"""
    for part in subtree(node):
        if isinstance(part, ast.Call | ast.NamedExpr | ast.Lambda):
            return False
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            scope = source.names.binding_scope(part.id, part)
            binders = [b for b in source.names.binders(part.id) if source.names.bound_by(b) is scope]
            if scope is not None and len(binders) > 1:
                return False
    return True


def _unpacked(source: SourceFile, arguments: list[ast.expr]) -> list[ast.expr]:
    """Arguments, with those of `*args` where `args = (key, shape)` stands in the same function."""
    if len(arguments) != 1 or not isinstance(arguments[0], ast.Starred) or not isinstance(arguments[0].value, ast.Name):
        return arguments
    name = arguments[0].value
    scope = source.names.binding_scope(name.id, name)
    binders = [b for b in source.names.binders(name.id) if source.names.bound_by(b) is scope]
    statement = source.statement_of(binders[0]) if len(binders) == 1 else None
    if isinstance(statement, ast.Assign) and statement.targets == binders and isinstance(statement.value, ast.Tuple):
        if (
            scope is source.names.scope_of(name)
            and statement.lineno < name.lineno
            and all(_is_settled(source, item) for item in statement.value.elts)
        ):
            return statement.value.elts
    return arguments


def carry(run: Any, node: ast.Call, env: Any) -> Abs | None:
    """What such a cell's `initialize_carry` gives; None for any other call."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != _METHOD:
        return None
    of_class = run.project.qualname(env.source, func.value)
    if of_class in _CELLS and not (isinstance(func.value, ast.Name) and env.get(func.value.id) is not None):
        return _of_class(run, node, _CELLS[of_class], env)
    if isinstance(func.value, ast.Name):
        held = env.get(func.value.id)
    elif isinstance(func.value, ast.Call):
        factory = run.evaluate(func.value.func, env).value
        held = made(run, factory, func.value, env) if isinstance(factory, Factory) else None
    else:
        held = None
    if held is None or not isinstance(held.value, DetachedCell):
        return None
    positional = _unpacked(env.source, node.args)
    given = dict(zip(("rng", "input_shape"), positional)) | {str(k.arg): k.value for k in node.keywords}
    if set(given) != {"rng", "input_shape"} or len(given) != len(positional) + len(node.keywords):
        raise Unmigratable("NNX134", f"`{ast.unparse(node)}` is not given a key and a shape", node)
    if any(isinstance(n, ast.Attribute) and n.attr == "make_rng" for n in subtree(given["rng"])):
        raise Unmigratable("NNX134", f"`{ast.unparse(node)}` draws a key for zeros", node)
    arguments_of(run, node, env)
    run.initial_carries[node] = InitialCarry(
        env.source, held.value, given["input_shape"], held.value.features, held.value.arrays
    )
    shape = run.plain(run.evaluated[given["input_shape"]].value)
    width = held.value.width.dim if isinstance(held.value.width, Int) else None
    result: Value = Array(Shape.unknown())
    if isinstance(shape, Tup) and shape.items:
        result = Array(Shape((*[i.dim if isinstance(i, Int) else None for i in shape.items[:-1]], width)))
    elif isinstance(shape, ShapeOf):
        result = Array(shape.shape.replace_last(1, width))
    return Abs(Tup((result, result)) if held.value.arrays == 2 else result)


def _of_class(run: Any, node: ast.Call, arrays: int, env: Any) -> Abs | None:
    """`nn.GRUCell.initialize_carry(key, batch_dims, size)`, as before flax 0.7.2; None where the carry is drawn."""
    if len(node.args) != 3 or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    _, batch, size = node.args
    if not _is_settled(env.source, size):
        return None
    arguments_of(run, node, env)
    run.initial_carries[node] = InitialCarry(env.source, None, batch, size, arrays)
    dims, width = run.plain(run.evaluated[batch].value), run.plain(run.evaluated[size].value)
    last = width.dim if isinstance(width, Int) else run.dim_of(width) if isinstance(width, Static) else None
    state: Value = Array(Shape.unknown().replace_last(1, last))
    if isinstance(dims, Tup):
        state = Array(Shape((*[i.dim if isinstance(i, Int) else None for i in dims.items], last)))
    return Abs(Tup((state, state)) if arrays == 2 else state)


def of_static(run: Any, model: ClassModel, name: str, record: CallRecord) -> Value:
    """What a static method of a module's class gives, where it asks such a cell for its carry: the class itself says it."""
    unknown = Unknown(f"what {model.name}.{name} returns")
    method = model.method(name)
    names = [p.arg for p in method.positional] if method is not None else []
    asks = method is not None and any(isinstance(n, ast.Attribute) and n.attr == _METHOD for n in method.nodes)
    if method is None or not asks or "staticmethod" not in method.decorators or len(record.args) > len(names):
        return unknown
    given: dict[str, Value] = {p: Unknown(f"argument {p}") for p in names}
    given |= {**dict(zip(names, record.args)), **record.keywords}
    block, mark, carries = run.block, len(run.sites), run.initial_carries
    run.block, run.initial_carries = Block(), dict(carries)
    try:
        arguments = {p: Abs(value) for p, value in given.items()}
        found = run.run_function(method.node, Env(arguments, method.source, method=method)).value
    except Unmigratable:
        return unknown
    finally:
        run.block, run.initial_carries = block, carries
        del run.sites[mark:]
    return found if isinstance(found, Array | Tup) else unknown


__all__ = ["DetachedCell", "InitialCarry", "carry", "is_detached", "made", "of_static"]
