"""Names that hold None until something better is known: `best_params = None`, before the loop that finds them.

None is no other kind of value: a name that is given trees, states or models elsewhere is taken for one of those. Whoever
asks whether it is None yet, or takes it for true or false, is seen to by the writers.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...source import SourceFile
from .flow_values import NOTHING, Items, Nothing, Updated, Value, is_sequence
from .self_names import SelfName

if TYPE_CHECKING:
    from .flow import Flow


def is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def given(source: SourceFile, target: ast.AST, said: ast.AST | None, value: Value) -> Value:
    """The value that an assignment gives its target: nothing yet for None, where other assignments give the name more."""
    if isinstance(target, ast.Tuple) and isinstance(said, ast.Tuple) and isinstance(value, Items):
        if len(target.elts) == len(said.elts) == len(value.items):
            items = (given(source, *each) for each in zip(target.elts, said.elts, value.items, strict=True))
            return dataclasses.replace(value, items=tuple(items))
    return NOTHING if is_none(said) and _has_more(source, target) else value


def assigns_none(source: SourceFile, store: ast.AST) -> bool:
    """Is a name or attribute given None where it stands?"""
    path: list[int] = []
    child, parent = store, source.parents.get(store)
    while isinstance(parent, ast.Tuple):
        path.insert(0, parent.elts.index(child))  # type: ignore[arg-type]
        child, parent = parent, source.parents.get(parent)
    targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    said = parent.value if isinstance(parent, ast.Assign | ast.AnnAssign) and child in targets else None
    for index in path:
        said = said.elts[index] if isinstance(said, ast.Tuple) and index < len(said.elts) else None
    return is_none(said)


def pair(flow: Flow, node: ast.IfExp) -> ast.Name | None:
    """`outs` of `outs if train else (outs, None)`: what a call of apply gives, with its updates or with None for them."""
    for whole, made in ((node.body, node.orelse), (node.orelse, node.body)):
        if isinstance(whole, ast.Name) and isinstance(made, ast.Tuple) and len(made.elts) == 2 and is_none(made.elts[1]):
            first = made.elts[0]
            held = flow.value(whole)
            updated = isinstance(held, Nothing) or (is_sequence(held, 2) and isinstance(held.items[1], Updated))  # type: ignore[attr-defined]
            if updated and isinstance(first, ast.Name) and first.id == whole.id:
                return whole
    return None


def _has_more(source: SourceFile, target: ast.AST) -> bool:
    name = _of_self(target)
    if name:
        owner = _owner(source, target)
        stores = [*source.by_kind.get(ast.Attribute, ()), *source.by_kind.get(ast.Name, ())]
        same = [node for node in stores if _of_self(node) == name and _owner(source, node) is owner]
        return owner is not None and any(isinstance(n.ctx, ast.Store) and not assigns_none(source, n) for n in same)  # type: ignore[attr-defined]
    if isinstance(target, ast.Name):
        scope = source.names.bound_by(target)
        binders = [b for b in source.names.binders(target.id) if source.names.bound_by(b) is scope]
        return any(not (isinstance(binder, ast.Name) and assigns_none(source, binder)) for binder in binders)
    return False


def _of_self(node: ast.AST) -> str:
    """`state` of `self.state`, as an attribute or as a name (see `self_names`)."""
    if isinstance(node, SelfName):
        return node.id.removeprefix("self.")
    plain = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if plain and isinstance(node, ast.Attribute) else ""


def _owner(source: SourceFile, node: ast.AST) -> ast.AST | None:
    return next((parent for parent in source.ancestors(node) if isinstance(parent, ast.ClassDef)), None)
