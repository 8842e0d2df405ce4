"""`self.put_variable(collection, name, value)`: an entry of a cache that is made, or changed, where the module is called."""

from __future__ import annotations

import ast
from typing import Any

from ..values.sites import Abs, Site, Unmigratable
from ..values.values import Array, Const, Shape

PUT = "put"  # in a site's renders: the expression that is put there


def put_variable(run: Any, node: ast.Call, env: Any) -> Abs:
    """Note a site that makes its variable when it is called; only a cache may come to be so."""
    given = dict(zip(("col", "name", "value"), node.args))
    given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
    plain = len(given) == len(node.args) + len(node.keywords) == 3 and set(given) == {"col", "name", "value"}
    if not plain or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise Unmigratable("NNX147", f"`{ast.unparse(node)}` is used", node)
    names = [run.evaluate(given[key], env).value for key in ("col", "name")]
    value = run.evaluate(given["value"], env).value
    texts = [v.value for v in names if isinstance(v, Const) and isinstance(v.value, str)]
    if len(texts) < 2:
        raise Unmigratable("NNX147", f"`{ast.unparse(node)}` puts a variable under a computed name", node)
    collection, name = texts
    known = [s for s in run.sites if s.kind == "variable" and s.target == collection and PUT not in s.renders]
    if collection != "cache" and not any(s.name is not None and s.name.constant == name for s in known):
        raise Unmigratable("NNX147", f"`{ast.unparse(node)}` makes a variable that is no cache", node)
    if not name.isidentifier() or run.in_setup or run.loops or run.scopes or run.holder != "self":
        raise Unmigratable("NNX147", f"`{ast.unparse(node)}` stands in setup, a loop or a lifted function", node)
    from .construction import name_spec

    site = Site("variable", node, env.source, collection, method=run.entry, holder=run.holder, lazy=True)
    site.name = name_spec(run, given["name"], Abs(Const(name), True), env)
    site.renders[PUT] = given["value"]
    site.shape = value if isinstance(value, Array) else Array(Shape.unknown())
    site.origin = len(run.sites)
    run.sites.append(site)
    return Abs(Const(None))


__all__ = ["PUT", "put_variable"]
