"""Models that hold arrays beside their variables, which a split by the types of these leaves over.

`self.mask = nn.make_causal_mask(...)` in setup, and models that are made with one: `Actor(2, scale=jnp.asarray(high))`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...linen.project.index import ClassInfo
from ...plan import ClassPlan
from .rewrite import Rewrite, Unsupported

_ARRAYS = re.compile(r"\b(ndarray|Array|ArrayLike|Tensor)\b")
_MAKERS = re.compile(
    r"(jax\.numpy|jax\.random)\.(?!dtype$)\w+$|jax\.(device_put|device_get|lax\.\w+)$"
    r"|numpy\.(array|asarray|ones|zeros|full|empty|eye|identity|arange|linspace|logspace|stack|concatenate|hstack|vstack|tril"
    r"|triu|diag|load|random\.\w+|\w+_like)$"
)


def check(form: Rewrite) -> None:
    """Unsupported where a module keeps arrays beside its variables, of its own or given to it."""
    if any(plan.arrays for plans in form.component.plans for plan in plans):
        raise Unsupported(form.component.sites[0], "arrays that a module keeps beside its variables")
    given = _given(form)
    if given is not None:
        raise Unsupported(given, "an array that the model is constructed with")


def _given(form: Rewrite) -> ast.expr | None:
    """An argument of a construction that is an array, or is for a field that is said to be one."""
    for site, plans in zip(form.component.sites, form.component.plans, strict=True):
        for plan in plans:
            for name, node in _arguments(site, plan):
                if not isinstance(node, ast.Constant) and (_is_said(form, plan, name) or _is_made(form, node)):
                    return node
    return None


def _arguments(site: ast.Call, plan: ClassPlan) -> Iterator[tuple[str, ast.expr]]:
    yield from zip(plan.fields, site.args)
    for keyword in site.keywords:
        yield keyword.arg or "", keyword.value


def _is_said(form: Rewrite, plan: ClassPlan, name: str) -> bool:
    """Is a field annotated as an array? Of inherited ones any class of that field is asked."""
    classes = form.flow.project.linen_classes
    own = _annotations(classes[plan.qualname], name) if plan.qualname in classes else []
    said = own or [text for info in classes.values() for text in _annotations(info, name)]
    return any(_ARRAYS.search(text) and "Callable" not in text for text in said)


def _annotations(info: ClassInfo, name: str) -> list[str]:
    fields = [s for s in info.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    return [ast.unparse(s.annotation) for s in fields if isinstance(s.target, ast.Name) and s.target.id == name]


def _is_made(form: Rewrite, node: ast.expr) -> bool:
    """Does a call of a library make it, or what the name holds?"""
    if isinstance(node, ast.Name):
        symbol = form.flow.symbol(form.source(node), node)
        stores = [n for n in form.flow.occurrences(symbol) if isinstance(n.ctx, ast.Store)]
        given = [form.parent(store) for store in stores]
        return any(isinstance(s, ast.Assign) and len(s.targets) == 1 and _is_called(form, s.value) for s in given)
    return _is_called(form, node)


def _is_called(form: Rewrite, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _MAKERS.match(form.flow.name(node.func) or "") is not None
