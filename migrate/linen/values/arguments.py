"""Arguments of calls, and the environments in which functions that are called run."""

from __future__ import annotations

import ast
import dataclasses
import functools
from typing import Any

from ...trees import subtree
from .environment import Env
from .sites import Abs, Function, Localized, SelfModule
from .values import Star, Tup, Value


@dataclasses.dataclass
class Arguments:
    """Evaluated arguments of one call."""

    node: ast.Call
    positional: list[tuple[ast.expr, Abs]]
    keywords: list[tuple[str | None, ast.expr, Abs]]

    @property
    def static(self) -> bool:
        return all(a.static for _, a in self.positional) and all(a.static for _, _, a in self.keywords)

    @property
    def flags(self) -> frozenset[str]:
        found = [a.flags for _, a in self.positional] + [a.flags for _, _, a in self.keywords]
        return frozenset().union(*found)

    def values(self, run: Any) -> tuple[list[Value], dict[str, Value]]:
        """As the shape functions take them."""
        args: list[Value] = []
        for node, found in self.positional:
            value = run.plain(found.value)
            args.append(Star(value) if isinstance(node, ast.Starred) else value)
        return args, {k: run.plain(a.value) for k, _, a in self.keywords if k is not None}

    def count(self) -> int:
        """How many positional arguments there are, an unknown `*args` being one."""
        items = [v.value if isinstance(n, ast.Starred) else None for n, v in self.positional]
        return sum(len(item.items) if isinstance(item, Tup) else 1 for item in items)

    def starred(self) -> bool:
        return any(isinstance(n, ast.Starred) for n, _ in self.positional) or any(k is None for k, _, _ in self.keywords)


def arguments_of(run: Any, node: ast.Call, env: Any) -> Arguments:
    """The arguments of a call, evaluated from left to right."""
    positional = [(a, run.evaluate(a, env)) for a in node.args]
    keywords = [(k.arg, k.value, run.evaluate(k.value, env)) for k in node.keywords]
    return Arguments(node, positional, keywords)


def child_env(env: Any) -> Any:
    """An environment inside another, of the same method: a comprehension, a lambda."""
    return Env({}, env.source, method=env.method, parent=env)


def is_self(node: ast.AST, env: Any) -> bool:
    """Is this the module that is being executed, as `self` or as the argument of a lifted function?"""
    if not isinstance(node, ast.Name):
        return False
    bound = env.get(node.id)
    return isinstance(bound.value, SelfModule) if bound is not None else node.id == "self"


def substituted(env: Any, name: str) -> Localized | None:
    """How the constructor says a parameter of a function that is being followed; None where it cannot."""
    while env is not None:
        if name in env.names:
            if name in env.given and env.names[name] is not env.given[name]:
                return None  # the body has given it another value
            return env.substituted.get(name)  # type: ignore[no-any-return]
        env = env.parent
    return None


def parameters_of(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names of all parameters, `*args` and `**kwargs` last."""
    found = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    return [*found, *[e.arg for e in (node.args.vararg, node.args.kwarg) if e]]


def defaults_of(node: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr]:
    """Parameter → the expression of its default."""
    named = [*node.args.posonlyargs, *node.args.args]
    found = {a.arg: d for a, d in zip(reversed(named), reversed(node.args.defaults))}
    found |= {a.arg: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None}
    return found


def function_env(run: Any, function: Function, names: dict[str, Abs]) -> Any:
    """The environment of a function's body: its arguments, inside the environment of its definition."""
    stored = stored_names(function.node)
    given = {name: value for name, value in names.items() if name in stored}
    return Env(names, function.source, method=function.method, parent=function.env, given=given)


@functools.lru_cache(maxsize=4096)
def stored_names(node: ast.AST) -> frozenset[str]:
    """Names that a function's body assigns, in whatever way."""
    return frozenset(n.id for n in subtree(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
