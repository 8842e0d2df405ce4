"""`init` as a function that another calls, in the functional form: the model's structure is a result of it.

abstract = jax.eval_shape(model.init, key, x)
variables = jax.jit(model.init, out_shardings=shardings)(key, x)
                        →   graphdef, abstract = jax.eval_shape(lambda: nnx.split(model(...), nnx.Param))
                            graphdef, variables = jax.jit(lambda: nnx.split(...), out_shardings=(None, shardings))()
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Method, Model, Variables
from ...trees import subtree
from . import functional_calls
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_SHARDINGS = ("out_shardings", "out_axis_resources")
_JITTED = ("jax.jit", "jax.experimental.pjit.pjit")


@dataclasses.dataclass(frozen=True)
class InitFunction:
    """`init`: the method, or the call of it that a lambda is. `given`: the key and the inputs."""

    init: ast.Attribute | ast.Call
    model: ast.expr
    given: list[ast.expr]
    keywords: list[ast.keyword]
    shardings: ast.expr | None


def find(form: _Functional, call: ast.Call) -> InitFunction | None:
    """What `call` says, where it initializes by a function; None where it is anything else."""
    maker = call.func if isinstance(call.func, ast.Call) else call
    name = form.flow.name(maker.func)
    if name not in (("jax.eval_shape",) if maker is call else _JITTED) or not maker.args:
        return None
    function = maker.args[0]
    keywords = {k.arg: k.value for k in maker.keywords}
    inner = function.body if isinstance(function, ast.Lambda) else function
    method = inner.func if isinstance(inner, ast.Call) else inner
    value = form.flow.value(method)
    if not (isinstance(method, ast.Attribute) and isinstance(value, Method) and value.name == "init"):
        return None
    if maker is not call and isinstance(inner, ast.Attribute) and not maker.keywords:
        return None  # `jax.jit(model.init)(key, x)` is as good as `model.init(key, x)`
    if not keywords.keys() <= set(_SHARDINGS) or len(keywords) > 1 or (maker is not call and len(maker.args) > 1):
        raise Unsupported(call, "init that is jitted in another way")
    if isinstance(inner, ast.Call):
        given, named = list(inner.args), list(inner.keywords)
    else:
        given, named = list(call.args[1:] if maker is call else call.args), [] if maker is call else list(call.keywords)
    assert isinstance(inner, ast.Attribute | ast.Call)
    return InitFunction(inner, method.value, given, named, next(iter(keywords.values()), None))


def write(form: _Functional, call: ast.Call, found: InitFunction, made: tuple[str | ast.AST, ...], opening: str) -> None:
    """`opening`: what comes before the name of the variables, the structure's name among it."""
    statement = form.statement(call)
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if value is not call or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        raise Unsupported(call, "variables that are not assigned to one name")
    if len(form.parts) > 1:
        raise Unsupported(call, "statistics of a model that a function initializes")
    form.insert_at(statement.targets[0], opening)
    if found.shardings is not None:
        form.replace(found.shardings, "(None, ", found.shardings, ")")
    if isinstance(found.init, ast.Call):
        form.replace(found.init, *made)
        return
    key = found.given[0]
    named = key.id if isinstance(key, ast.Name) else ""
    form.replace(found.init, f"lambda {named}: " if named else "lambda: ", *made)
    source = form.source(call)
    jitted = isinstance(call.func, ast.Call)
    first = source.span(call.func if jitted else found.init).end
    opening = "(" if jitted else ", " if named else ""
    form.replace_span(call, type(source.span(call))(first, source.span(call).end - 1), f"{opening}{named}")


def made_before(form: _Functional, call: ast.expr, statement: ast.stmt) -> str:
    """A name for variables that are made in a line before their statement, which comes to them first of all and once."""
    end = (call.lineno, call.col_offset)
    inside = set(subtree(call))
    for node in subtree(statement):
        if not isinstance(node, ast.Call | ast.Await | ast.NamedExpr | ast.Yield) or node in inside:
            continue
        if (node.end_lineno or 0, node.end_col_offset or 0) <= end and not _is_pure(form, node):
            raise Unsupported(call, "variables that are not assigned to one name")
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr) or functional_calls.is_within(
        form, call, statement
    ):
        raise Unsupported(call, "variables that are not assigned to one name")
    source, scope = form.source(call), form.function(call)
    if scope is None and form.annotated:
        raise Unsupported(call, "variables with axes that are not assigned to one name")
    block = source.tree if scope is None else scope
    if not isinstance(block, ast.FunctionDef | ast.Module) or any(
        isinstance(parent, ast.ClassDef) for parent in source.ancestors(statement) if scope is None
    ):
        raise Unsupported(call, "variables that are not assigned to one name")
    taken = {n.id for n in subtree(block) if isinstance(n, ast.Name)} | {
        n.arg for n in subtree(block) if isinstance(n, ast.arg)
    }
    taken |= set() if scope is not None else source.names.definitions.keys()
    base = next((n.id for n in inside if isinstance(n, ast.Name) and isinstance(form.flow.value(n), Model)), "")
    for name in ("params", f"{base.removeprefix('self.')}_params"):
        if name not in taken and name not in source.names.imports and form.made_names.keep(form, call, [name]):
            return name
    raise Unsupported(call, "variables that are not assigned to one name")


def _is_pure(form: _Functional, node: ast.AST) -> bool:
    """Is it a call that does nothing but give a value, or one that initializes as well?"""
    if not isinstance(node, ast.Call):
        return False
    name = form.flow.name(node.func) or ""
    if name.startswith(("jax.", "optax.", "numpy.asarray", "numpy.zeros", "numpy.ones")) or form.flow.creates_state(node):
        return True
    return isinstance(form.flow.value(node), Variables)
