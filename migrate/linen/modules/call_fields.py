"""Flags that a class holds in a field, and that a caller knows only when it calls: `Block(decode=decode)(x)`.

Linen's users make the module anew at each call. In NNX it is made once: its call takes the flag as a keyword, and the
field is what holds where a call does not say.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..project.classes import PLAIN_DECORATORS, ClassModel, Field
from ..values.sites import Factory, Site, Unmigratable

_FOLLOWED = frozenset({"scan", "vmap", "remat", "jit"})  # what they lift is called in a function of the method's own
_DROPOUT = "flax.linen.Dropout"  # has no variables


def note(run: Any, site: Site) -> None:
    """Remember the flags of a class that one of its constructions gives from the call's own."""
    if is_whole(site) and run.analyser.classes.get(site.target) is not None:
        _stays(run, site.target)
    if is_whole(site) or site.scopes or site.in_setup or site.target in run.analyser.constructed:
        return
    if site.factory is not None and (site.factory.field or site.factory.alternatives):
        return  # other kinds may not have it
    model = run.analyser.classes.get(site.target)
    for name, bound in site.bound.items():
        unknown = bound.localized is None and bound.given and bound.node is not None and bound.text is None
        if not unknown or not bound.abs.flags or isinstance(bound.abs.value, Factory) or model is None:
            continue
        known: set[str] = run.analyser.call_fields.setdefault(site.target, set())
        if name not in known and movable(run.analyser, model, name):
            known.add(name)
            run.analyser.revised = True
            run.analyser.again(site.target)


def refuse_deciding(run: Any) -> None:
    """A flag of the call that decides what there is: the constructor would make everything, Linen what the flag asks for."""
    for site in run.sites if run.call_fields else ():
        if site.kind not in ("layer", "class", "param") or site.target == _DROPOUT:
            continue  # caches are made at the call
        for node, _ in site.conditions:
            test = run.evaluated.get(getattr(node, "test", None))
            deciding = run.call_fields & test.flags if test is not None else None
            if deciding:
                reason = f"`{min(deciding)}` decides which modules there are, and is known only when the module is called"
                raise Unmigratable("NNX113", reason, site.node)


def is_whole(site: Site) -> bool:
    """Does a transform that linen_parity carries out whole make the call?"""
    return any(lifted.kind not in _FOLLOWED for lifted in site.lifted)


def _stays(run: Any, target: str) -> None:
    """Such a transform hands on what Linen's did: the flags of the class stay with its constructor."""
    run.analyser.constructed.add(target)
    if run.analyser.call_fields.pop(target, None):
        run.analyser.revised = True
        run.analyser.again(target)


def movable(analyser: Any, model: ClassModel, name: str) -> bool:
    """Is the field a flag that nothing but the class's own `__call__` reads?"""
    field = next((f for f in model.own_fields if f.name == name), None)
    method = model.own_methods.get("__call__")
    if field is None or method is None or len(analyser.classes.lineage(model.qualname)) > 1:
        return False
    given = isinstance(field.default, ast.Constant) and isinstance(field.default.value, bool)
    if not given and not _may_have_default(model, field):
        return False
    arguments = method.node.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs or not set(method.decorators) <= PLAIN_DECORATORS:
        return False
    inside = set(subtree(method.node))
    called = {n.id for n in inside if isinstance(n, ast.Name)} | {n.arg for n in inside if isinstance(n, ast.arg)}
    own = [n for n in model.nodes if isinstance(n, ast.Attribute) and n.attr == name and _is_self(n.value)]
    asked = any(isinstance(n, ast.Constant) and n.value == name for n in model.nodes)  # getattr(self, "decode")
    again = any(isinstance(n, ast.Call) and (_is_self(n.func) or _calls_again(n.func)) for n in model.nodes)
    reads = all(n in inside and isinstance(n.ctx, ast.Load) for n in own)
    compared = [n for node in inside if isinstance(node, ast.Compare) for n in (node.left, *node.comparators)]
    if any(n in compared for n in own):
        return False  # `self.train is None` tells apart what a truth test does not
    return bool(own) and reads and name not in called and not asked and not again


def _may_have_default(model: ClassModel, field: Field) -> bool:
    """Is it a `train: bool` without a default, and no such field behind it?"""
    annotation = ast.unparse(field.annotation) if field.annotation is not None else ""
    behind = model.own_fields[model.own_fields.index(field) + 1 :]
    own = field.default is None and field.factory is None and annotation == "bool"
    return own and all(f.default is not None or f.factory is not None or f.kw_only for f in behind)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _calls_again(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__call__" and _is_self(node.value)


__all__ = ["is_whole", "movable", "note", "refuse_deciding"]
