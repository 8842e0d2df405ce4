"""Names that a loop gives strings: keys of a dictionary of arrays, of which each may have another width.

    for key in self.image_keys:        # image_keys: Sequence[str]
      features.append(self.encoders[key](observations[key]))
"""

from __future__ import annotations

import ast
import re
from typing import Any

from ...trees import same_tree
from ..lists.loop_names import loops_binding

_DICTS = re.compile(r"(?i)(dict|mapping)$")
_SAME_ITEMS = frozenset({"sorted", "list", "tuple", "reversed", "set", "iter"})


def is_key(run: Any, held: ast.expr, node: ast.expr, env: Any) -> bool:
    """Is `held[node]` certainly a part of a dictionary: of an f-string, of what a loop over strings gives, or over the keys
    of a dictionary, or over that itself?"""
    if isinstance(node, ast.JoinedStr):
        return True
    if not isinstance(node, ast.Name):
        return False
    loop = next(loops_binding(env.source, node, node.id), None)
    return loop is not None and _gives_strings(run, held, loop.target, loop.iter, node.id, env)


def _gives_strings(run: Any, held: ast.expr, target: ast.expr, over: ast.expr, name: str, env: Any) -> bool:
    """Does a loop give the name strings?"""
    called = over.func if isinstance(over, ast.Call) else None
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if isinstance(over, ast.Call) and isinstance(called, ast.Name) and env.get(called.id) is None:
        if called.id in _SAME_ITEMS and over.args:
            return _gives_strings(run, held, target, over.args[0], name, env)
        if called.id == "enumerate" and over.args and len(parts) == 2:
            return _gives_strings(run, held, parts[1], over.args[0], name, env)
        if called.id == "zip" and len(parts) == len(over.args):
            return any(_gives_strings(run, held, part, each, name, env) for part, each in zip(parts, over.args))
        return False
    if isinstance(called, ast.Attribute) and called.attr in ("items", "keys"):
        target = parts[0] if called.attr == "items" and len(parts) == 2 else target
        over = called.value
    if not (isinstance(target, ast.Name) and target.id == name):
        return False
    if same_tree(over, held):
        return True
    if isinstance(over, ast.Attribute) and isinstance(over.value, ast.Name) and over.value.id == "self":
        field = run.fields.get(over.attr)
        said = field is not None and field.annotation is not None and items_said(field.annotation) == "str"
        return said or (field is not None and _are_strings(field.default))
    return _are_strings(over)


def items_said(annotation: ast.expr) -> str:
    """What an annotation says of what a loop goes through: `str` of `Sequence[str]`, and of `dict[str, int]`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return ""
    if not isinstance(annotation, ast.Subscript):
        return ""
    if ast.unparse(annotation.value).rpartition(".")[2] == "Optional":
        return items_said(annotation.slice)
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if _DICTS.search(ast.unparse(annotation.value)):
        return ast.unparse(parts[0])
    kinds = {ast.unparse(part) for part in parts} - {"..."}
    return kinds.pop() if len(kinds) == 1 else ""


def _are_strings(node: ast.expr | None) -> bool:
    keys = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return bool(keys) and all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys)


__all__ = ["is_key", "items_said"]
