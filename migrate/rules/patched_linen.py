"""Programs that put something in the place of what flax.linen has, or come between its modules and their methods: reported.

Native modules look for nothing in flax.linen, and tell no interceptor of their calls.
"""

from __future__ import annotations

import ast

from ..context import FileContext
from ..diagnostics import Severity
from ..plan import Outcome
from ..rule import Example, Rule
from ..trees import subtree
from .linen_functions import stays_linen

RULE = Rule(
    code="NNX209",
    name="patched-linen",
    summary="something of flax.linen is replaced or intercepted while the program runs, which does not reach native modules",
    what=(
        "`nn.Dense = Sparse`, `nn.Dense.__call__ = f`, `setattr(nn, name, f)`, `monkeypatch.setattr(nn, 'relu', f)`, "
        "`mock.patch('flax.linen.relu')`, `mock.patch.object(nn.Dense, '__call__')` are marked, by whatever name they "
        "are imported, and so are `mock.patch('models.nn.relu')` of a file that imports it, `nn.__dict__['relu'] = f` "
        "and `sys.modules['flax.linen'] = fake`. What to do: hand the "
        "modules what they shall use (a field, or an argument), or replace the same of flax.nnx; layers have other "
        "names, constructors and methods there. `getattr(nn, name)` beside such a `setattr` is left as it is. So is "
        "`nn.intercept_methods(f)` marked, outside of classes that stay Linen: do what `f` does in the modules, or around "
        "the call of the model; `--ignore NNX100` keeps all classes Linen."
    ),
    why=(
        "Linen code looks a layer or function up in flax.linen whenever it runs, so that such a patch reaches all modules, "
        "and asks its interceptors at every call of a method. Native modules take layers from flax.nnx or from the "
        "generated `linen_parity`, and have no interceptors: both would do nothing, silently."
    ),
    how_sure="diagnostic only",
    examples=(
        Example(
            title="an activation replaced for a while",
            before="""\
import flax.linen as nn


def sparse(f):
    setattr(nn, 'relu', f)
""",
            after=None,
        ),
    ),
    words=frozenset({"linen"}),
)

_SETTING = frozenset({"setattr", "delattr", "setitem", "delitem", "spy"})  # of Python, pytest and pytest-mock
_PATCHING = frozenset({"patch", "object", "multiple", "dict"})
_MOCK = ("unittest.mock.patch", "mock.patch")


def sets_linen(node: ast.AST, ctx: FileContext) -> bool:
    """Is it a call that replaces an attribute of flax.linen, or of something in it?"""
    if not isinstance(node, ast.Call):
        return False
    function, bound = _called(node.func, ctx)
    if not _patches(function, ctx):
        return False
    named = (k.value for k in node.keywords if k.arg in ("target", "in_dict", "attribute", "name"))
    given = [*[*bound, *node.args][:2], *named]
    if not given:
        return False
    if _of_linen(_meant(given[0], ctx)):
        return True
    name = given[1] if len(given) > 1 else None
    if isinstance(name, ast.Constant) and isinstance(name.value, str):  # `models.nn`; `sys.modules["flax.linen"]`
        holder = _meant(given[0], ctx)
        said = name.value if holder == "sys.modules" else f"{holder}.{name.value}" if holder else None
        return said is not None and _of_linen(ctx.plan.canonical(said))
    keys = name.keys if isinstance(name, ast.Dict) and _meant(given[0], ctx) == "sys.modules" else ()
    return any(isinstance(key, ast.Constant) and _of_linen(str(key.value)) for key in keys)


def _called(function: ast.expr, ctx: FileContext) -> tuple[ast.expr, list[ast.expr]]:
    """What is called, and what it is given already: by `partial(mock.patch.object, nn)`, or a local name for it."""
    if isinstance(function, ast.Name):
        scope = ctx.source.names.binding_scope(function.id, function)
        assigned = [n for n in subtree(scope) if isinstance(n, ast.Assign)] if scope is not None else []
        values = [n.value for n in assigned if any(isinstance(t, ast.Name) and t.id == function.id for t in n.targets)]
        if len(values) == 1 and isinstance(values[0], ast.Attribute | ast.Call):
            function = values[0]
    if isinstance(function, ast.Call) and function.args and ctx.qualname(function.func) == "functools.partial":
        return function.args[0], function.args[1:]
    return function, []


def _meant(node: ast.expr, ctx: FileContext) -> str | None:
    """`nn`, `nn.__dict__`, `vars(nn)`, `"flax.linen"`, `"models.nn"` of a file that imports it so, `f"flax.linen.{name}"`"""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]  # type: ignore[assignment]
    elif isinstance(node, ast.BinOp):
        return _meant(node.left, ctx)
    if isinstance(node, ast.Constant):
        return ctx.plan.canonical(node.value.rstrip(".")) if isinstance(node.value, str) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and node.args:
        return ctx.qualname(node.args[0])
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return ctx.qualname(node.value)
    name = ctx.qualname(node)
    assigned = ctx.source.names.single_assignments.get(node.id) if isinstance(node, ast.Name) else None
    return _meant(assigned, ctx) if isinstance(assigned, ast.Constant | ast.JoinedStr | ast.BinOp) else name


def _patches(function: ast.expr, ctx: FileContext) -> bool:
    """Is it setattr, `mock.patch` or one of its functions, by the name that it has here or the one that it means?"""
    meant = ctx.qualname(function) or ""
    if any(meant == mock or meant.startswith(f"{mock}.") for mock in _MOCK):
        return True
    if isinstance(function, ast.Name):
        return function.id in _SETTING or function.id == "patch"
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in _SETTING or function.attr in ("patch", "__setattr__", "__delattr__"):
        return True
    inner = function.value
    named = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
    return function.attr in _PATCHING and (named == "patch" or (ctx.qualname(inner) or "") in _MOCK)


def _of_linen(name: str | None) -> bool:
    return name is not None and (name == "flax.linen" or name.startswith("flax.linen."))


@RULE.register(ast.Call, words=_SETTING | {"patch", "__setattr__", "__delattr__"})
def replaced_by_call(node: ast.AST, ctx: FileContext) -> None:
    if sets_linen(node, ctx):
        _report(node, ctx)


@RULE.register(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete)
def replaced(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete)
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
    parts = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])]
    if any(_is_part(target, ctx) for target in parts):
        _report(node, ctx)


def _is_part(target: ast.expr, ctx: FileContext) -> bool:
    """`nn.relu`, `nn.__dict__["relu"]`, `sys.modules["flax.linen"]`"""
    if isinstance(target, ast.Attribute):
        return _of_linen(ctx.qualname(target.value))
    if not isinstance(target, ast.Subscript):
        return False
    held = _meant(target.value, ctx)
    if held == "sys.modules":
        return isinstance(target.slice, ast.Constant) and _of_linen(str(target.slice.value))
    return _of_linen(held) and not isinstance(target.value, ast.Name)


@RULE.register(ast.Call, ends=frozenset({"intercept_methods"}))
def intercepted(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Call)
    native = any(plan.outcome is Outcome.NATIVE for plan in ctx.plan.classes.values())
    if native and ctx.qualname(node.func) == "flax.linen.intercept_methods" and not stays_linen(node, ctx):
        help = "Do what the function does in the modules, or around the call of the model."
        ctx.report(
            node, RULE.code, "native modules tell no interceptor of their calls", severity=Severity.WARNING, help=help
        )


def _report(node: ast.AST, ctx: FileContext) -> None:
    ctx.report(
        node,
        RULE.code,
        "this replaces something of flax.linen, and native modules take it from flax.nnx or linen_parity",
        severity=Severity.WARNING,
        help="Hand the modules what they shall use, or replace the same of flax.nnx; layers differ there.",
    )


__all__ = ["RULE", "sets_linen"]
