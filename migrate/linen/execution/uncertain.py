"""Statements of which it is not known whether, or how often, they run: `try`, `match`, `while`.

The constructor has none of them. What they change, by assignment or in place, is known nowhere after them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...trees import subtree
from ..lists import size_lists
from ..modules import factory_matches
from ..values import mutation
from ..values.environment import Env, Returned
from ..values.sites import Abs, Block, Unmigratable, Variable
from ..values.values import Array, Unknown


def run_try(run: Any, node: ast.Try, env: Env, returned: Returned) -> bool:
    """A `try` statement; True where every path has returned."""
    if all(isinstance(handler.body[-1], ast.Raise) for handler in node.handlers):
        done: bool = run.run_block([*node.body, *node.orelse], env, returned)
    else:
        paths: list[Sequence[ast.stmt]] = [[*node.body, *node.orelse], *[handler.body for handler in node.handlers]]
        bound = {handler.name for handler in node.handlers if handler.name}
        done = run_paths(run, paths, bound, env, returned, ("NNX120", "submodules are made in a try statement", node))
    finished: bool = run.run_block(node.finalbody, env, returned)
    return finished or done


def run_match(run: Any, node: ast.Match, env: Env, returned: Returned) -> bool:
    """A `match` statement, whose patterns bind names, too; True where every path has returned."""
    factories = factory_matches.returned(run, node, env)
    if factories is not None:
        returned.values.append(factories)
        return True
    run.evaluate(node.subject, env)
    bound = {n.name for n in subtree(node) if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name}
    bound |= {n.rest for n in subtree(node) if isinstance(n, ast.MatchMapping) and n.rest}
    reason = ("NNX120", "submodules are made in a match statement", node)
    run_paths(run, [case.body for case in node.cases], bound, env, returned, reason)
    return False


def run_while(run: Any, node: ast.While, env: Env, returned: Returned) -> None:
    run.evaluate(node.test, env)
    forget(run, node.body, set(), env)
    run.repeating += 1
    reason = ("NNX122", "submodules are made in a while loop", node)
    run_paths(run, [node.body], set(), env, returned, reason)
    run.repeating -= 1


def run_paths(
    run: Any,
    paths: Sequence[Sequence[ast.stmt]],
    bound: set[str],
    env: Env,
    returned: Returned,
    refusal: tuple[str, str, ast.stmt],
) -> bool:
    """Execute each of `paths` for what it reads and returns, and forget what any of them changes; `bound`: names that the
    statement itself binds. True where all of them return.
    """
    before, attributes = len(run.sites), dict(run.attributes)
    outer, run.block = run.block, Block()
    done = True
    for statements in paths:
        inner = env.copy()
        for name in bound:
            inner.names[name] = Abs(Unknown(name))
            inner.local.discard(name)
        done = run.run_block(statements, inner, returned) and done
    size_lists.broken(run, size_lists.changed_in(run.block.steps))
    run.block = outer
    if len(run.sites) > before:
        raise Unmigratable(*refusal)
    for statements in paths:
        forget(run, statements, bound, env)
    for name, value in run.attributes.items():
        if attributes.get(name) is not value:
            run.attributes[name] = Abs(Unknown(f"self.{name}"), False, value.flags)
    return done


def forget(run: Any, statements: Sequence[ast.stmt], bound: set[str], env: Env) -> None:
    """Nothing is known any more of names that are assigned, and of objects that are changed in place."""
    assigned = set(bound)
    changed: set[str] = set()
    for statement in statements:
        for child in subtree(statement):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store | ast.Del):
                assigned.add(child.id)
            elif isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                assigned.add(child.name)
            elif isinstance(child, ast.alias):
                assigned.add((child.asname or child.name).partition(".")[0])
            if isinstance(child, ast.stmt):
                changed |= mutation.changed_names(child)
    for name in assigned:
        env.names[name] = Abs(Unknown(name))
        env.local.discard(name)
    for name in changed - assigned:
        scope = mutation.scope_of(name, env)
        held = scope.names.get(name)
        if held is None:
            continue
        size_lists.broken(run, {size_lists.variable_of(held.value)} - {""})
        scope.local.discard(name)
        kept = isinstance(held.value, Array | Variable) or run.holds_module(held.value)
        scope.names[name] = Abs(held.value if kept else Unknown(name), False, held.flags)


__all__ = ["forget", "run_match", "run_paths", "run_try", "run_while"]
