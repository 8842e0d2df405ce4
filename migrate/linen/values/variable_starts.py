"""When and from what variables start: those that start from another variable's value, and caches that calls make.

`self.variable("vq", "average", lambda: embedding.value)`: the constructor reads what it has just made. It makes the other
variable with the value that it starts from, so this is right where nothing has given it another one when Linen makes the
second.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import of_kind
from ..project.classes import ClassModel
from .sites import Site, Variable

_LOOPS = (ast.For, ast.While)


def is_unchanged(run: Any, site: Site, read: ast.Attribute, env: Any) -> bool:
    """Has a variable the value that it starts from where `read`, its `.value`, stands?

    A parameter and what a layer's initializer reads are made later, when the layer is called: then nothing may change it.
    """
    if site.lazy or site not in run.sites or site.loops != tuple(run.loops) or env.method is None:
        return False
    held = ast.unparse(read.value)
    for method in run.model.methods().values():
        nodes = method.nodes
        here = read in nodes
        if not here and (isinstance(read.value, ast.Name) or (run.starting and _is_setup_alone(run, read))):
            continue  # another method's names are others; setup has run before any other method
        ends = [parent.end_lineno for parent in env.source.ancestors(read) if isinstance(parent, _LOOPS)] if here else []
        last = max([read.lineno, *filter(None, ends)])
        before = here and run.starting
        if any(_changes(run, node, held, site) and (not before or getattr(node, "lineno", 0) <= last) for node in nodes):
            return False
    return True


def made_by_calls(model: ClassModel) -> set[str]:
    """The collections whose variables come to be when the module is called in a certain way: a cache of which any method
    asks whether it is there, before or after the code that makes it.
    """
    own = [method for name, method in model.methods().items() if name != "setup"]
    asks = any(_asks_for_cache(node) for method in own for node in of_kind(method.node, ast.Call))
    return {"cache"} if asks else set()


def _asks_for_cache(node: ast.Call) -> bool:
    """`self.has_variable("cache", "key")`"""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "has_variable":
        return False
    return len(node.args) == 2 and isinstance(node.args[0], ast.Constant) and node.args[0].value == "cache"


def _is_setup_alone(run: Any, read: ast.Attribute) -> bool:
    """Does `read` stand in a setup that calls no method of its class?"""
    setup = run.model.method("setup")
    if not run.in_setup or setup is None or read not in setup.nodes:
        return False
    names = run.model.methods().keys() - {"setup"}
    return not any(isinstance(node, ast.Attribute) and node.attr in names for node in setup.nodes)


def _changes(run: Any, node: ast.AST, held: str, site: Site) -> bool:
    """Does a node give a variable a value, or hand it to something that may?"""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == "value":
        changed = run.evaluated[node.value].value if node.value in run.evaluated else None
        return not isinstance(changed, Variable) or changed.site is site or _is_other_way(changed.site, site)
    if isinstance(node, ast.Call):
        given = [*node.args, *[k.value for k in node.keywords]]
        put = isinstance(node.func, ast.Attribute) and node.func.attr == "put_variable"
        return put or any(ast.unparse(argument) == held for argument in given)
    return False


def _is_other_way(a: Site, b: Site) -> bool:
    """Are both one variable, of which a condition of setup says from what it starts?"""
    named = a.name is not None and b.name is not None and a.name.constant == b.name.constant
    return named and a.target == b.target and a.in_setup and b.in_setup


__all__ = ["is_unchanged", "made_by_calls"]
