"""Items of lists that `setup` makes in a loop: the constructor gives each the sizes of its own place in the list.

That is right where the call goes through the list as setup made it. An item that is picked by a number sees what it is
given there, which must be what all items see; a size that changes from item to item must be this very loop's.
"""

from __future__ import annotations

import ast
from typing import Any

from .merging import dependencies_of
from .sites import CallRecord, For, Site, Unmigratable
from .values import Array


def check_call(run: Any, site: Site, node: ast.Call, record: CallRecord, env: Any) -> None:
    """Refuse a call of an item whose place in the list does not say the sizes that it is given."""
    if not site.in_setup or not site.loops or run.in_setup:
        return
    runs = {name: text for loop in site.loops for name, text in _what_runs(loop).items()}
    given = [v for v in (*record.args, *record.keywords.values()) if isinstance(v, Array)]
    changing = frozenset().union(*[dependencies_of(v) for v in given]) & set(runs)
    picked = _is_picked(node, env)
    for name in changing:
        if picked or run.list_scopes.get(name, runs[name]) != runs[name]:
            raise Unmigratable("NNX114", "a list whose sizes change is not called in its order", site.node)
    run.list_scopes.update(runs)
    if run.trial:
        return
    widths = tuple(v.shape.dim(-1) for v in given)
    before = run.item_widths.setdefault(site, [])
    for other, other_picked in before:
        differ = any(a is not None and b is not None and a != b for a, b in zip(widths, other))
        if differ and (picked or other_picked):
            raise Unmigratable("NNX114", "items of a list are picked, and are given inputs of several sizes", site.node)
    before.append((widths, picked))


def _is_picked(node: ast.Call, env: Any) -> bool:
    """Is the item taken out of its list, and not reached by going through it?"""
    counters: set[str] = set()
    looped = False
    for parent in env.source.ancestors(node):
        if isinstance(parent, ast.For):
            looped = True
            counters |= _counters(parent.target, parent.iter)
        elif isinstance(parent, ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp):
            looped = True
            for generator in parent.generators:
                counters |= _counters(generator.target, generator.iter)
        elif isinstance(parent, ast.FunctionDef):
            break
    if isinstance(node.func, ast.Subscript):
        return not (isinstance(node.func.slice, ast.Name) and node.func.slice.id in counters)
    return not looped


def _counters(target: ast.expr, iterator: ast.expr) -> set[str]:
    """The names that count a loop's passes from zero: `i` of `range(n)`, of `enumerate(items)`."""
    if not isinstance(iterator, ast.Call) or not isinstance(iterator.func, ast.Name):
        return set()
    if len(iterator.args) != 1 or iterator.keywords:
        return set()
    if iterator.func.id == "range" and isinstance(target, ast.Name):
        return {target.id}
    if iterator.func.id == "enumerate" and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        return {target.elts[0].id}
    return set()


def _what_runs(loop: For) -> dict[str, str]:
    """Each name that a loop binds, with what it runs over."""
    found: dict[str, str] = {}

    def bind(target: ast.expr, iterator: ast.expr) -> None:
        if isinstance(target, ast.Name):
            found[target.id] = ast.unparse(iterator)
            return
        called = iterator.func.id if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) else ""
        items = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if called == "enumerate" and len(items) == 2 and isinstance(iterator, ast.Call) and len(iterator.args) == 1:
            bind(items[1], iterator.args[0])
            items = items[:1]
        elif called == "zip" and isinstance(iterator, ast.Call) and len(iterator.args) == len(items):
            for item, part in zip(items, iterator.args):
                bind(item, part)
            return
        for place, item in enumerate(items):
            for name in ast.walk(item):
                if isinstance(name, ast.Name):
                    found[name.id] = f"{place} of {ast.unparse(iterator)}"

    bind(loop.node.target, loop.node.iter)
    return found


__all__ = ["check_call"]
