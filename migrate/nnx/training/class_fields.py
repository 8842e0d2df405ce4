"""Fields of a model that are read outside of it, in the functional form, where its name holds the class and its arguments.

    actor = Actor(action_scale=jnp.ones(2))         →   actor = functools.partial(Actor, action_scale=jnp.ones(2))
    noise = noise * actor.action_scale              →   noise = noise * actor.keywords['action_scale']

Only what Linen keeps as it is given: it makes tuples of lists, and frozen dictionaries of dictionaries.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .functional import _Functional

_KEPT = ("jax.numpy.", "numpy.", "builtins.float", "builtins.int")


def write(form: _Functional, node: ast.AST) -> bool:
    """Is it such a read? It is written as one of the argument."""
    base = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else None
    parent = form.parent(node)
    if not isinstance(base, ast.Name) or (isinstance(parent, ast.Call) and parent.func is node):
        return False
    symbol = form.bound_once(base)
    stores = [n for n in form.flow.occurrences(symbol) if isinstance(n.ctx, ast.Store)] if symbol is not None else []
    statement = form.parent(stores[0]) if len(stores) == 1 else None
    site = statement.value if isinstance(statement, ast.Assign) and statement.targets == stores else None
    if site not in form.component.sites or symbol in form.structures or form.source(node) is not form.source(site):
        return False
    assert isinstance(node, ast.Attribute) and isinstance(site, ast.Call)
    ((plan,),) = [plans for other, plans in zip(form.component.sites, form.component.plans, strict=True) if other is site]
    given = next((keyword.value for keyword in site.keywords if keyword.arg == node.attr), None)
    if given is None or node.attr not in plan.fields or not _is_kept(form, given):
        return False
    form.replace(node, f"{base.id}.keywords[{node.attr!r}]")
    return True


def _is_kept(form: _Functional, given: ast.expr) -> bool:
    """Is an argument a number, a text or an array?"""
    if isinstance(given, ast.Constant):
        return True
    if not isinstance(given, ast.Call):
        return False
    own = given.func.id if isinstance(given.func, ast.Name) else ""
    name = form.flow.name(given.func) or (f"builtins.{own}" if own and not form.source(given).names.binders(own) else "")
    return name.startswith(_KEPT)
