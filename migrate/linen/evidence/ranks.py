"""What is known of the ranks of module arguments before anything is executed, and from where.

The code itself says some (`assert x.ndim == 3`, `chex.assert_rank(x, 3)`, `x: Float[Array, "b t d"]`), examples of use
and traces say others. Sources that disagree say nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ...trees import of_kind, subtree
from ..project.classes import Classes, ClassModel, Method
from ..project.index import Project
from ..values.values import Array
from .examples import find_examples
from .trace import trace_project

Ranks = dict[str, dict[str, int]]


def certain_ranks(classes: Classes) -> Ranks:
    """Class → argument → rank as the classes' own code states it."""
    return _kept(classes, {model.qualname: stated_ranks(model) for model in classes})


def seen_ranks(project: Project, classes: Classes, targets: Sequence[str] = ()) -> Ranks:
    """Class → argument → rank in examples and traces: how the project uses a class, not all that it can take.

    `targets`: the MODULE:CALLABLEs of --trace. Raises trace.TraceError.
    """
    seen = [find_examples(project, classes).ranks()]
    if targets:
        seen.append(trace_project(targets, project).ranks(project))
    return _kept(classes, _agreeing(seen))


def _kept(classes: Classes, ranks: Ranks) -> Ranks:
    out = {m.qualname: _without_strangers(m, ranks.get(m.qualname, {})) for m in classes}
    return {qualname: table for qualname, table in out.items() if table}


def _without_strangers(model: ClassModel, ranks: dict[str, int]) -> dict[str, int]:
    """`ranks` without arguments that another public method has too, which may take something else by that name.

    A method that is handed the argument under its own name (`def __call__(self, x): self.encode(x)`) is no stranger.
    """
    entries = [m for name, m in model.methods().items() if name == "__call__" or not name.startswith("_")]
    kept = dict(ranks)
    for argument in ranks:
        having = [m for m in entries if any(p.arg == argument for p in m.parameters)]
        handed = {
            called.func.attr
            for m in having
            for called in m.nodes
            if isinstance(called, ast.Call)
            and isinstance(called.func, ast.Attribute)
            and isinstance(called.func.value, ast.Name)
            and called.func.value.id == "self"
            and any(isinstance(a, ast.Name) and a.id == argument for a in called.args)
        }
        if len([m for m in having if m.name not in handed]) > 1:
            del kept[argument]
    return kept


def _agreeing(tables: Sequence[Ranks]) -> Ranks:
    out: Ranks = {}
    for qualname in dict.fromkeys(name for table in tables for name in table):
        arguments: dict[str, set[int]] = {}
        for table in tables:
            for name, rank in table.get(qualname, {}).items():
                arguments.setdefault(name, set()).add(rank)
        agreed = {name: next(iter(ranks)) for name, ranks in arguments.items() if len(ranks) == 1}
        if agreed:
            out[qualname] = agreed
    return out


def stated_ranks(model: ClassModel) -> dict[str, int]:
    """Argument → rank as the class's own methods state it; arguments that they state differently are left out."""
    found: dict[str, set[int]] = {}
    for method in model.methods().values():
        for name, rank in _stated(method):
            found.setdefault(name, set()).add(rank)
    return {name: next(iter(ranks)) for name, ranks in found.items() if len(ranks) == 1}


def _stated(method: Method) -> Iterator[tuple[str, int]]:
    parameters = {p.arg for p in method.parameters}
    for parameter in method.parameters:
        rank = _annotated_rank(parameter.annotation)
        if rank is not None:
            yield parameter.arg, rank
    body = method.node.body
    checks = [n for n, s in enumerate(body) if isinstance(s, ast.Assert) or _called_alone(s) is not None]
    for statement in body[: checks[-1] + 1 if checks else 0]:  # only what always runs, until a parameter has another value
        call = _called_alone(statement)
        if isinstance(statement, ast.Assert):
            for name, rank in _asserted(statement.test):
                if name in parameters:
                    yield name, rank
        elif call is not None:
            for name, rank in _checked(method, call):
                if name in parameters:
                    yield name, rank
        for node in subtree(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                parameters.discard(node.id)


def _called_alone(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement is."""
    return statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None


def index_arguments(model: ClassModel) -> frozenset[str]:
    """Arguments that pick rows of other arrays (`nodes[senders]`), or an item of every row (`x[jnp.arange(n), last - 1]`),
    or say which rows belong together (`segment_sum`)."""
    found: set[str] = set()
    for method in model.methods().values():
        picked: list[ast.AST] = []
        for subscript in of_kind(method.node, ast.Subscript):
            if isinstance(subscript.value, ast.Name):
                picked += [subscript.slice, *_beside_counting(model, method, subscript.slice)]
        for node in of_kind(method.node, ast.Call):
            name = model.project.qualname(method.source, node.func) or ""
            given = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "segment_ids")]
            picked += given[:1] if name.startswith("jax.ops.segment_") else []
        found |= {p.id for p in picked if isinstance(p, ast.Name)} & {p.arg for p in method.parameters}
    return frozenset(found)


def _beside_counting(model: ClassModel, method: Method, index: ast.expr) -> Iterator[ast.expr]:
    """The names in an index that stand beside `jnp.arange(n)`."""
    if not isinstance(index, ast.Tuple):
        return
    for item in index.elts:
        name = model.project.qualname(method.source, item.func) if isinstance(item, ast.Call) else None
        if name in ("jax.numpy.arange", "numpy.arange"):
            for other in index.elts:
                plain = other.left if isinstance(other, ast.BinOp) and isinstance(other.right, ast.Constant) else other
                if isinstance(plain, ast.Name):
                    yield plain


def joins_vectors(model: ClassModel) -> bool:
    """Does a class join vectors, or batches of them, side by side? `hstack` of more dimensions joins the second, as does
    `concatenate([h, messages], 1)`, where nothing is said of a third (`cls[:, None]`, `x.mean(1)`, axis 2, attention).
    """
    calls = [(m, c) for m in model.methods().values() for c in of_kind(m.node, ast.Call)]
    if any(model.project.qualname(m.source, c.func) in _BESIDE for m, c in calls):
        return True
    joined = [(c, _axis(c, 1)) for m, c in calls if model.project.qualname(m.source, c.func) == "jax.numpy.concatenate"]
    beside = [item for call, axis in joined if axis == "1" for item in _items(call.args[0] if call.args else None)]
    called = [(_last(c.func), c) for _, c in calls]
    of_sequences = any(w in _OF_SEQUENCES or "ttention" in w or (w == "mean" and _axis(c, 0) == "1") for w, c in called)
    return bool(beside) and {a for _, a in joined} <= {"1", "-1"} and not of_sequences and all(map(_is_name, beside))


def _axis(call: ast.Call, position: int) -> str:
    given = [*call.args[position : position + 1], *(k.value for k in call.keywords if k.arg == "axis")]
    return ast.unparse(given[0]) if given else ""


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _items(node: ast.expr | None) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node] if node is not None else []


_OF_SEQUENCES = frozenset(("param", "tile", "repeat", "broadcast_to", "expand_dims", "Conv", "swapaxes", "transpose"))
_BESIDE = frozenset(f"{library}.{name}" for library in ("jax.numpy", "numpy") for name in ("hstack", "column_stack"))


def _asserted(test: ast.expr) -> Iterator[tuple[str, int]]:
    """`x.ndim == 3`, `len(x.shape) == 3`, and conjunctions of them."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _asserted(value)
    found = asked_rank(test)
    if found is not None:
        yield found


def asked_rank(test: ast.expr) -> tuple[str, int] | None:
    """(array, rank) where `x.ndim == 3`, `len(x.shape) == 3` or `jnp.isscalar(x)` asks for one; several ways to ask for the
    same rank (`jnp.isscalar(t) or t.ndim == 0`) are one."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        asked = {asked_rank(value) for value in test.values}
        return asked.pop() if len(asked) == 1 else None
    if isinstance(test, ast.Call) and _called(test) == "isscalar" and isinstance(test.args[0], ast.Name):
        return test.args[0].id, 0
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    for left, right in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        if not isinstance(right, ast.Constant) or type(right.value) is not int:
            continue
        array: ast.expr | None = None
        if isinstance(left, ast.Attribute) and left.attr == "ndim":
            array = left.value
        elif isinstance(left, ast.Call) and _called(left) == "len":
            inner = left.args[0]
            array = inner.value if isinstance(inner, ast.Attribute) and inner.attr == "shape" else None
        elif isinstance(left, ast.Call) and _called(left) == "ndim":
            array = left.args[0]
        if isinstance(array, ast.Name):
            return array.id, right.value
    return None


def _called(call: ast.Call) -> str:
    """The function that is called with one argument, without its module."""
    return ast.unparse(call.func).rpartition(".")[2] if len(call.args) == 1 and not call.keywords else ""


def _checked(method: Method, call: ast.Call) -> Iterator[tuple[str, int]]:
    """`chex.assert_rank(x, 3)` and `chex.assert_rank([x, y], 3)`."""
    name = method.owner.project.qualname(method.source, call.func)
    if name != "chex.assert_rank" or len(call.args) != 2:
        return
    arrays, rank = call.args
    if isinstance(rank, ast.Constant) and type(rank.value) is int:
        for array in arrays.elts if isinstance(arrays, ast.Tuple | ast.List) else [arrays]:
            if isinstance(array, ast.Name):
                yield array.id, rank.value


def _annotated_rank(annotation: ast.expr | None) -> int | None:
    """The rank that jaxtyping spells: `Float[Array, "batch time dim"]`."""
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
        return None
    parts = annotation.slice.elts
    if len(parts) != 2 or not isinstance(parts[1], ast.Constant) or not isinstance(parts[1].value, str):
        return None
    head = ast.unparse(annotation.value).rpartition(".")[2]
    if head not in _JAXTYPING or ast.unparse(parts[0]).rpartition(".")[2] not in ("Array", "ArrayLike", "ndarray"):
        return None
    axes = parts[1].value.split()
    return None if any("..." in axis or axis.startswith("*") for axis in axes) else len(axes)


_JAXTYPING = frozenset(
    {"Shaped", "Num", "Inexact", "Float", "Float16", "Float32", "Float64", "BFloat16", "Complex", "Integer", "Int"}
    | {f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)}
    | {"UInt", "Real", "Bool", "Key"}
)


def called_ranks(analyser: Any, model: ClassModel) -> dict[str, int]:
    """Argument → rank of what the project's other classes call a class with, where all of them that are known agree."""
    method = model.method("__call__")
    names = [p.arg for p in method.positional] if method is not None else []
    found: dict[str, set[int]] = {}
    for run in analyser.done.values():
        for site in getattr(run, "sites", ()):
            if (
                site.target != model.qualname
                or site.call is None
                or site.lifted
                or site.renders.get("method", "__call__") != "__call__"
            ):
                continue
            for name, value in [*zip(names, site.call.args), *site.call.keywords.items()]:
                if isinstance(value, Array) and value.shape.rank is not None:
                    found.setdefault(name, set()).add(value.shape.rank)
    return {name: next(iter(ranks)) for name, ranks in found.items() if len(ranks) == 1}
