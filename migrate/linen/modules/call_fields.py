"""Flags, arrays and sizes that a class holds in a field, and that a caller knows only when it calls: `Block(flag=flag)(x)`.

Linen's users make the module anew at each call. In NNX it is made once: its call takes them as keywords, and the field is
what holds where a call does not say.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from ...trees import subtree
from ..project.classes import PLAIN_DECORATORS, ClassModel, Field
from ..values.sites import BoundArg, Factory, Site, Unmigratable
from ..values.values import Array, Int, Unknown

_FOLLOWED = frozenset({"scan", "vmap", "remat", "jit"})  # what they lift is called in a function of the method's own
_DROPOUT = "flax.linen.Dropout"  # has no variables
_VALUES = frozenset({"int", "Array", "ndarray", "PRNGKey", "PRNGKeyArray"})  # annotations
_ASK_NO_FIELD = frozenset({"super", "isinstance", "type"})


def note(run: Any, site: Site) -> None:
    """Remember the flags of a class that one of its constructions gives from the call's own."""
    if is_whole(site) and run.analyser.classes.get(site.target) is not None:
        _stays(run, site.target)
    if is_whole(site) or site.scopes or site.in_setup or site.target in run.analyser.constructed:
        return
    if site.alternatives or (site.factory is not None and site.factory.alternatives):
        return  # other kinds may not have it
    model = run.analyser.classes.get(site.target)
    known: set[str] = run.analyser.call_fields.setdefault(site.target, set())
    for name, bound in reversed(site.bound.items()):  # fields without defaults move from the last one on
        unknown = bound.localized is None and bound.given and bound.node is not None and bound.text is None
        if not unknown or model is None or name in known:
            continue
        flag = bool(bound.abs.flags) and not isinstance(bound.abs.value, Factory) and movable(run.analyser, model, name)
        if not flag and not (is_value(run, site, bound, name) and movable(run.analyser, model, name, known)):
            continue
        known.add(name)
        if not flag:
            run.analyser.call_values.setdefault(site.target, set()).add(name)
        run.analyser.revised = True
        run.analyser.again(site.target)


def read_off(run: Any, site: Site, name: str) -> None:
    """A caller reads a field of a module that it has made: `block.decode`. That stays with the constructor."""
    if site.kind != "class" or (site.target, name) in run.analyser.read_off:
        return
    run.analyser.read_off.add((site.target, name))
    if name in run.analyser.call_fields.get(site.target, ()):
        run.analyser.call_fields[site.target].remove(name)
        run.analyser.call_values.get(site.target, set()).discard(name)
        run.analyser.revised = True
        run.analyser.again(site.target)


def keep(analyser: Any, failed: Mapping[str, Unmigratable]) -> bool:
    """Leave the fields of classes that failed to the constructor; were there any that the call took?

    First arrays: without these they may yet take flags. So do those whose callers cannot say them at the call.
    """
    unsaid = [analyser.done.get(name) for name, why in failed.items() if why.code == "NNX172"]
    made = [site.target for run in unsaid for site in getattr(run, "sites", ())]
    valued = {name for name in (*failed, *made) if analyser.call_values.get(name)}
    for name in valued:
        analyser.call_fields[name] -= analyser.call_values.pop(name)
        analyser.without_values.add(name)
    found = [] if valued else [name for name in failed if analyser.call_fields.get(name)]
    for name in found:
        analyser.call_fields[name] = set()
        analyser.constructed.add(name)
    return bool(valued or found)


def is_value(run: Any, site: Site, bound: BoundArg, name: str) -> bool:
    """Is it an array, a size, or None, that a class may be given at its call: nothing that Linen would freeze in a field?"""
    if site.target in run.analyser.without_values:
        return False
    own = run.analyser.call_values.get(run.model.qualname, ())
    handed_on = isinstance(bound.node, ast.Attribute) and _is_self(bound.node.value) and bound.node.attr in own
    if handed_on or isinstance(bound.abs.value, Array):
        return True
    model = run.analyser.classes.get(site.target)
    if model is None:
        return False
    said = _annotated(model, name) if type(bound.abs.value) is Unknown else ""
    return isinstance(bound.abs.value, Int) or said in _VALUES


def _annotated(model: ClassModel, name: str) -> str:
    """`Array` of a field that says `jax.Array`, `Optional[jax.Array]` or `jax.Array | None`; "" where it says nothing."""
    node = next((f.annotation for f in model.own_fields if f.name == name), None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and ast.unparse(node.right) == "None":
        node = node.left
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Optional":
        node = node.slice
    return ast.unparse(node).rpartition(".")[2] if isinstance(node, ast.Name | ast.Attribute) else ""


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
    run.analyser.call_values.pop(target, None)
    if run.analyser.call_fields.pop(target, None):
        run.analyser.revised = True
        run.analyser.again(target)


def movable(analyser: Any, model: ClassModel, name: str, beside: Collection[str] | None = None) -> bool:
    """Is the field a flag that nothing but the class's own `__call__` reads?

    `beside`: the fields that move with it, for one that holds an array.
    """
    field = next((f for f in model.own_fields if f.name == name), None)
    method = model.own_methods.get("__call__")
    if field is None or method is None or len(analyser.classes.lineage(model.qualname)) > 1:
        return False
    if (model.qualname, name) in analyser.read_off or (_is_handed_out(model) and name in analyser.loaded):
        return False
    rate = beside is None and _is_rate(analyser, model, field, method.node)
    flag = rate or (isinstance(field.default, ast.Constant) and isinstance(field.default.value, bool))
    if not (flag if beside is None else field.default is not None) and not _may_have_default(model, field, beside):
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
    if beside is None and not rate and any(n in compared for n in own):
        return False  # `self.train is None` tells apart what a truth test does not
    return bool(own) and reads and name not in called and not asked and not again


def _is_rate(analyser: Any, model: ClassModel, field: Field, method: ast.AST) -> bool:
    """Is it a number that the call gives a Dropout, or a class of the project that may do so?

    Such a Dropout takes its rate at the call: `Head(rate=self.rate if train else 0.0)(x)`.
    """
    number = isinstance(field.default, ast.Constant) and type(field.default.value) in (int, float)
    if not number and not (
        field.default is None and field.annotation is not None and ast.unparse(field.annotation) == "float"
    ):
        return False
    made = [_taker(analyser, model, node) for node in subtree(method) if _is_read(node, field.name)]
    return any(name == _DROPOUT or analyser.classes.get(name) is not None for name in made)


def _is_read(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and _is_self(node.value)


def _taker(analyser: Any, model: ClassModel, node: ast.AST) -> str | None:
    """The class or function that an expression is an argument of."""
    source = model.source
    call = source.parents.get(node)
    call = source.parents.get(call) if isinstance(call, ast.keyword) else call
    found = isinstance(call, ast.Call) and node is not call.func
    return analyser.classes.project.qualname(source, call.func) if found else None  # type: ignore[union-attr, no-any-return]


def _may_have_default(model: ClassModel, field: Field, beside: Collection[str] | None) -> bool:
    """Is it a `train: bool` without a default, or an array, and no such field behind it that stays?"""
    annotation = ast.unparse(field.annotation) if field.annotation is not None else ""
    behind = [f for f in model.own_fields[model.own_fields.index(field) + 1 :] if f.name not in (beside or ())]
    own = field.default is None and field.factory is None and (annotation in ("bool", "float") or beside is not None)
    return own and all(f.default is not None or f.factory is not None or f.kw_only for f in behind)


def _is_handed_out(model: ClassModel) -> bool:
    """Is `self` given to something, as in `nn.scan(body)(self, x)`, which may read fields by another name?"""
    for method in model.own_methods.values():
        for around in (method.source.parents.get(n) for n in method.nodes if _is_self(n)):
            asks = isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in _ASK_NO_FIELD
            if not isinstance(around, ast.Attribute) and not asks:
                return True
    return False


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _calls_again(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__call__" and _is_self(node.value)


__all__ = ["is_value", "is_whole", "keep", "movable", "note", "read_off", "refuse_deciding"]
