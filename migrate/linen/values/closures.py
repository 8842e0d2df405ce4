"""What the text of an initializer reads of the call around it: `lambda key: jnp.ones(x.shape[-1], x.dtype)`.

Linen calls an initializer where it stands, so that its text stands in the constructor with the sizes of the call. The
dtype of an array of the call is an argument of the constructor, checked where the parameter is used; see `DtypePart`.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ...source import SourceFile
from ...trees import subtree
from . import called_in_pass, mutation
from .arguments import substituted
from .default_dtypes import with_argument
from .sites import Abs, DtypePart, InitPart, Localized, LocalizedPart
from .values import Array, DtypeOf, Int, Real, Unknown

if TYPE_CHECKING:
    from ..project.index import Project

_OF_ARRAYS = frozenset({"shape", "ndim", "size", "dtype"})
_LIBRARIES = ("jax.numpy.", "numpy.", "jax.random.", "jax.nn.initializers.", "flax.linen.initializers.")
_AS_THEY_ARE = frozenset(
    {"asarray", "array", "reshape", "transpose", "copy", "ravel", "flatten", "squeeze", "tile", "repeat"}
)


@dataclasses.dataclass
class AskedDtype:
    """The dtype of an array that an initializer's text says, as the constructor has it: an argument of its own."""

    argument: str
    said: list[ast.expr] = dataclasses.field(default_factory=list)

    def part(self, node: ast.expr, value: DtypeOf) -> InitPart:
        self.said.append(node)
        whole = with_argument(value, self.argument)
        return DtypePart(self.argument) if whole is None else LocalizedPart(whole)


def evaluated(run: Any, node: ast.AST, bound: frozenset[str], env: Any) -> Abs | None:
    """What the text of a function, which was not followed, reads of the sizes or the dtype of an array around it."""
    read = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(read, ast.Attribute) or read.attr not in _OF_ARRAYS or not isinstance(read.value, ast.Name):
        return None
    held = env.get(read.value.id) if read.value.id not in bound else None
    if held is None or not (isinstance(held.value, Array) or (type(held.value) is Unknown and read.attr == "dtype")):
        return None
    if isinstance(node, ast.Subscript) and any(isinstance(n, ast.Name) for n in subtree(node.slice)):
        return None
    around = list(env.source.ancestors(node))
    function = next((a for a in around if isinstance(a, ast.FunctionDef | ast.Lambda)), None)
    if env.method is None or function is env.method.node or env.method.node not in around:
        return None  # it stands in the method itself, and was followed with it
    if not isinstance(function, ast.FunctionDef | ast.Lambda):
        return None
    if changes(run, function, env):
        return None  # it is read when the function is called
    found: Abs = run.evaluate(node, env)
    return found


def changes(run: Any, function: ast.Lambda | ast.FunctionDef, env: Any) -> bool:
    """Does what a function reads of its surroundings change before it is called?"""
    if is_called_here(run.project, env.source, function):
        return False
    if (env.method is None or env.caller is not None) and _is_of_pass(run, function, env):
        return True
    if env.method is None:
        return False
    names = {name for name in free_names(function) if env.get(name) is not None}
    last = None
    if run.model.qualname not in run.analyser.later:  # what is made later is made when the loops are over
        last = called_in_pass.last_use(run.project, env.source, env.method.node, function)
    return changed_after(env.source, env.method.node, function, names, last) is not None


def _is_of_pass(run: Any, function: ast.Lambda | ast.FunctionDef, env: Any) -> bool:
    """Does a function that another one makes read what that was given in one pass of a loop, and may be called behind it?

    def make(scale):                        for i in range(3):
        return Block(lambda y: scale * y)       x = make(i + 1)(x)
    """
    if not run.running_loops or called_in_pass.starts_by_name(run.project, env.source, function):
        return False
    held = [name for name in free_names(function) if env.get(name) is not None]
    said = [substituted(env, name) for name in held]
    return any(bool(one.needs) if one is not None else env.is_local(name) for one, name in zip(said, held))


def free_names(function: ast.Lambda | ast.FunctionDef) -> set[str]:
    """What a function says a name of and does not bind itself."""
    nodes = subtree(function)
    own = {n.arg for n in nodes if isinstance(n, ast.arg)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {n.id for n in nodes if isinstance(n, ast.Name)} - own


def changed_after(
    source: SourceFile, method: ast.FunctionDef, place: ast.AST, names: Collection[str], until: ast.AST | None = None
) -> str | None:
    """One of the names that a method gives another value behind a place, or of which it changes the object.

    `until`: another place, of the same pass of the loops around both; what is changed behind that does not count.
    """
    around = list(source.ancestors(place))
    loops = {a for a in around if isinstance(a, ast.For | ast.While)}
    inside = set(subtree(place))
    position = (getattr(place, "lineno", 0), getattr(place, "col_offset", 0))
    for node in subtree(method):
        found: Collection[str] = ()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found = {node.id} & set(names)
        elif isinstance(node, ast.stmt):
            found = mutation.changed_names(node) & set(names)
        if not found or node in inside:
            continue
        if until is not None:
            if position < (node.lineno, node.col_offset) < (until.end_lineno, until.end_col_offset):  # type: ignore[attr-defined]
                return min(found)
            continue
        if (node.lineno, node.col_offset) > position or not loops.isdisjoint(source.ancestors(node)):  # type: ignore[attr-defined]
            return min(found)
    return None


def is_called_here(project: Project, source: SourceFile, function: ast.AST) -> bool:
    """Is a function called where it stands, and only there: what a variable starts from, or a layer that is called?

    `self.param("w", lambda key: f(x.shape))`, `nn.Dense(4, kernel_init=lambda *args: f(*args, x.shape))(x)`
    """
    if not isinstance(function, ast.Lambda):
        return False
    return called_in_pass.is_given_to_call(project, source, function)


def initializer(run: Any, node: ast.expr, argument: str, env: Any) -> tuple[Localized, ast.expr] | None:
    """The text of an initializer that makes what it makes with the dtype of an array of the call, and this dtype.

    None where it says none, or several, or where what it makes may have another.
    """
    asked = AskedDtype(argument)
    run.asked_dtype = asked
    try:
        said = run.localize(node, env) if isinstance(node, ast.Lambda) else None
    finally:
        run.asked_dtype = None
    if said is None or len({ast.dump(dtype) for dtype in asked.said}) != 1:
        return None
    assert isinstance(node, ast.Lambda)
    return (said, asked.said[0]) if _has(run, node.body, set(asked.said), env) else None


def _has(run: Any, node: ast.expr, dtypes: set[ast.expr], env: Any) -> bool:
    """Has what an expression gives one of these dtypes?"""
    if isinstance(node, ast.Subscript):
        return _has(run, node.value, dtypes, env)
    if isinstance(node, ast.UnaryOp):
        return _has(run, node.operand, dtypes, env)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return any(_has(run, side, dtypes, env) for side in sides) and all(
            _has(run, side, dtypes, env) or _is_number(run, side, env) for side in sides
        )
    if not isinstance(node, ast.Call):
        return False
    func, given = node.func, [*node.args, *[k.value for k in node.keywords]]
    method = isinstance(func, ast.Attribute) and func.attr == "astype"
    known = run.project.qualname(env.source, func.func if isinstance(func, ast.Call) else func) or ""
    library = known.startswith(_LIBRARIES)
    field = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    if not dtypes.isdisjoint(given):
        return method or library or (field and isinstance(func, ast.Attribute) and func.attr in run.fields)
    if library and known.rpartition(".")[2] in _AS_THEY_ARE and node.args:
        return not any(k.arg == "dtype" for k in node.keywords) and _has(run, node.args[0], dtypes, env)
    shaped = isinstance(func, ast.Attribute) and func.attr in _AS_THEY_ARE and not library
    return shaped and isinstance(func, ast.Attribute) and _has(run, func.value, dtypes, env)


def _is_number(run: Any, node: ast.expr, env: Any) -> bool:
    """Is it a Python number, which takes the dtype of the array beside it?"""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.BinOp):
        return _is_number(run, node.left, env) and _is_number(run, node.right, env)
    if isinstance(node, ast.UnaryOp):
        return _is_number(run, node.operand, env)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        field = run.fields.get(node.attr)
        return field is not None and field.annotation is not None and ast.unparse(field.annotation) in ("int", "float")
    if isinstance(node, ast.Name):
        held = env.get(node.id)
        return held is not None and isinstance(held.value, Int | Real)
    return (run.project.qualname(env.source, node) or "").startswith("math.") and isinstance(node, ast.Attribute)


__all__ = ["AskedDtype", "changed_after", "changes", "evaluated", "free_names", "initializer", "is_called_here"]
