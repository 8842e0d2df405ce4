"""Conditions on constants of a file or class, of which the side that never runs makes modules or variables.

    USE_NORM = False
    ...
        if USE_NORM:
            x = nn.LayerNorm()(x)

Such a constant is there to be changed, by hand or by a class that derives: both sides become code, under the condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...catalog import layers
from ...trees import subtree
from ..modules.self_calls import SELF_CALLS
from ..values.environment import Env
from ..values.sites import Abs, Static
from .module_names import is_maker

if TYPE_CHECKING:
    from .execute import Execution


def left_open(run: Execution, node: ast.If | ast.IfExp, rest: Sequence[ast.stmt], env: Env, test: Abs) -> Abs:
    """The condition as one that has no answer yet, if it is of such constants alone.

    `rest`: the statements behind it, which do not run where the side that does leaves the function.
    """
    certain = run.truth(test.value)
    if certain is None or test.flags or run.apart:
        return test
    names = _constants(run, node.test, env)
    if names is None or (names and names.isdisjoint(_opened(run))):
        return test
    sides = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body, *node.orelse, *rest]
    never = _never(node, certain, rest)
    if not any(_makes(run, side, env) for side in (sides if names else never)) or run.localize(node.test, env) is None:
        return test
    text, deps = run.self_text(node.test, env)
    return Abs(Static(text, deps), True)


def _opened(run: Execution) -> frozenset[str]:
    """The constants that are conditions of modules which are never made. What else they decide is left open, too."""
    known: dict[str, frozenset[str]] = run.analyser.classes.open_constants
    if run.model.qualname not in known:
        found: set[str] = set()
        known[run.model.qualname] = frozenset()
        for method in run.model.methods().values():
            env = Env({}, method.source, method=method)
            for node in (node for node in method.nodes if isinstance(node, ast.If | ast.IfExp)):
                names = _constants(run, node.test, env)
                if names is None or names <= found or names & run.model.bound_names:
                    continue
                certain = run.truth(run.evaluate(node.test, env).value)
                if certain is None:
                    continue
                never = _never(node, certain, _behind(node, method.source.parents[node]))
                if any(_makes(run, side, env) for side in never):
                    found |= names
        known[run.model.qualname] = frozenset(found)
    return known[run.model.qualname]


def _never(node: ast.If | ast.IfExp, certain: bool, rest: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """What does not run where the condition has this answer."""
    if isinstance(node, ast.IfExp):
        yield node.orelse if certain else node.body
        return
    yield from node.orelse if certain else node.body
    runs = node.body if certain else node.orelse
    if runs and isinstance(runs[-1], ast.Return | ast.Raise):
        yield from rest


def _behind(node: ast.AST, parent: ast.AST) -> Sequence[ast.stmt]:
    body = getattr(parent, "body", [])
    return body[body.index(node) + 1 :] if isinstance(body, list) and node in body else ()


def _constants(run: Execution, test: ast.expr, env: Env) -> frozenset[str] | None:
    """The attributes and methods of the class and names of the file that it asks; None where it asks for more."""
    found: set[str] = set()
    for name in (part for part in subtree(test) if isinstance(part, ast.Name)):
        owner = env.source.parents[name]
        if name.id != "self":
            if env.get(name.id) is not None:
                return None
            found.add(name.id)
        elif not isinstance(owner, ast.Attribute) or owner.attr in {**run.attributes, **run.fields}:
            return None
        elif run.model.class_attribute(owner.attr) or run.model.method(owner.attr):
            found.add(f"self.{owner.attr}")
        else:
            return None
    return frozenset(found)


def _makes(run: Execution, side: ast.AST, env: Env) -> bool:
    """Does it make modules or variables, or use those of `setup`?"""
    for node in subtree(side):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            held = run.attributes.get(node.attr)
            if node.attr in SELF_CALLS or node.attr in run.model.methods() or (held and run.holds_module(held.value)):
                return True
        elif isinstance(node, ast.Call):
            name = run.project.qualname(env.source, node.func) or ""
            if layers.lookup(name) is not None or is_maker(run, name):
                return True
    return False


__all__ = ["left_open"]
