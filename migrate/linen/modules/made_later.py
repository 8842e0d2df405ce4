"""Parameters and variables that are made when the class was called once, on shapes: see `later_sizes`."""

from __future__ import annotations

import ast
import itertools
from typing import Any

from ..values import shown_by_shapes
from ..values.sites import Site

LATER = "later"  # it is made so
TYPED = "typed"  # and what it starts from follows the dtypes of the call, or what its arguments hold beside arrays
SEVERAL = "several"  # it may be more than one array: no mark, but the site's own
NAMED = "named"  # and so does its name, or the function that makes it is called where this is not followed


def is_one(run: Any, site: Site, node: ast.Call, env: Any) -> bool:
    """May a variable be made when the class was called once, on shapes: do shapes alone say what it starts from?"""
    if run.model.qualname not in run.analyser.later:
        return False
    plain = not site.in_setup and not site.loops and not site.scopes and site.holder == "self"
    names = 2 if site.kind == "variable" else 1
    named = site.name is not None and site.name.constant is not None and len(node.args) > names
    if _starred(node):
        return False
    if plain and named and env.method is not None and env.parent is None:
        init, *rest = node.args[names:]
        behind = 1 if site.kind == "param" else 0  # the key
        handed: dict[int | str, ast.expr] = dict(enumerate(rest, start=behind))
        handed |= {str(k.arg): k.value for k in node.keywords}
        for marks in ((), (TYPED,)):
            if shown_by_shapes.first_value_shown(run, env.method, init, handed, typed=bool(marks)):
                return _mark(site, *marks)
    return _is_named(run, site, node, env)


def is_one_of_family(run: Any, site: Site, node: ast.Call, env: Any) -> bool:
    """Is it made so since a class that shares the method has it so? See `shared_readings`."""
    return (node, LATER) in run.analyser.shared_readings and is_one(run, site, node, env)


def made_before(site: Site) -> bool:
    """Does the constructor's own text make it, with the loops around it?"""
    return site.kind != "rng" and NAMED not in site.renders


def is_named_so(run: Any, site: Site, node: ast.Call, env: Any) -> bool:
    """Is what a parameter starts from known, and its name only when the class is called?"""
    unknown = site.name is not None and site.name.constant is None and site.name.localized is None
    asked = next((a for a in [node.args[0:1], [k.value for k in node.keywords if k.arg == "name"]] if a), [None])[0]
    around = env.source.ancestors(node) if isinstance(asked, ast.Name) else ()
    handed = itertools.takewhile(lambda a: not isinstance(env.source.parents.get(a), ast.ClassDef), around)
    unknown |= any(isinstance(a, ast.FunctionDef) and _takes(a, asked) for a in handed)  # `def get(name, shape):`
    return unknown and run.model.qualname in run.analyser.later and not _starred(node) and _is_named(run, site, node, env)


def _is_named(run: Any, site: Site, node: ast.Call, env: Any) -> bool:
    """May a parameter be made by the call on shapes under a name that only this knows?"""
    if site.kind != "param" or site.in_setup or site.scopes or site.holder != "self" or site.name is None:
        return False
    method = method_of(run, env.source, node)
    given = [*node.args, *[k.value for k in node.keywords]]
    if method is None or len(node.args) < 2 or any(k.arg in ("axes", "unbox") for k in node.keywords):
        return False
    if not all(shown_by_shapes.shown(run, method, a, typed=True) for a in given):
        return False
    return _mark(site, TYPED, NAMED)


def method_of(run: Any, source: Any, node: ast.AST) -> Any:
    """The class's method in which a call stands, also in a function within it."""
    if source is not run.model.source:
        return None
    around = set(source.ancestors(node))
    return next((m for m in run.model.own_methods.values() if m.node in around and m.source is source), None)


def _takes(function: ast.FunctionDef, name: ast.expr | None) -> bool:
    given = function.args
    return isinstance(name, ast.Name) and name.id in {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def _starred(node: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg in (None, "module") for k in node.keywords)


def _mark(site: Site, *more: str) -> bool:
    for said in [k for k in site.renders if k in ("dtype", "axes") or k.startswith("kw:")]:
        del site.renders[said]
    for mark in (LATER, *more):
        site.renders[mark] = True
    return True


__all__ = [
    "LATER", "NAMED", "SEVERAL", "TYPED", "is_named_so", "is_one", "is_one_of_family", "made_before",
    "method_of",
]  # fmt: skip
