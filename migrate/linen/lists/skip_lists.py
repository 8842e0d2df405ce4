"""Skips of a U-Net whose blocks `setup` makes: what one list's loop puts away, the loop over the mirrored list takes out.

    self.downs = [Down(f) for f in self.widths]
    self.ups = [Up(f) for f in reversed(self.widths)]
    ...
    for down in self.downs:
      x, skip = down(x)
      skips.append(skip)
    for up in self.ups:
      x = up(x, skips.pop())

The last block is given what the first one put away: each item of `ups` sees the width that belongs to its own `f`. That
holds where every pass of the first loop puts away one array, every pass of the second takes one, from the end, and
nothing else touches the list. Taken from the beginning (`zip(self.laterals, maps)`), both lists are made in one order.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from ...trees import subtree
from ..values.arguments import stored_names
from ..values.dims import Atom, Dim
from ..values.sites import Block, For, Module, Repeated, SizeStep
from ..values.values import Tup
from .list_items import as_many, made_along, what_runs

_ALWAYS = (ast.stmt, ast.Call, ast.Tuple, ast.List, ast.keyword, ast.Starred, ast.Subscript, ast.BinOp, ast.Attribute)
_LEAVES = (ast.Break, ast.Continue, ast.Return)


@dataclasses.dataclass(frozen=True)
class Filled:
    """A list of arrays with one item for each item of a list of setup, which was made over `over`."""

    over: str
    name: str  # what setup calls an item of it
    width: Dim  # of the array, said in this name
    filling: ast.For


def note(run: Any, node: ast.AST, block: Block, before: Any) -> None:
    """The lists that a loop over a list of setup has filled, in this `block`; `before`: what held before the loop."""
    if not isinstance(node, ast.For) or run.trial or run.running_loops or run.path or node.orelse:
        return
    passes = [found for made in _made_along(run, node) for found in [_pass_name(made)] if found is not None]
    if any(isinstance(n, _LEAVES) for part in node.body for n in subtree(part)):
        return
    steps = [step for step in block.steps if isinstance(step, SizeStep)]
    for step in steps:
        alone = [s.variable for s in steps].count(step.variable) == 1
        was = [b.value for b in before.names.values() if isinstance(b.value, Tup) and b.value.variable == step.variable]
        (width,) = step.dims if step.kind == "append" and len(step.dims) == 1 else (None,)
        if alone and was and not any(value.items for value in was) and width is not None:
            for over, name in passes:
                if width.dependencies() <= {name}:
                    run.filled_lists[step.variable] = Filled(over, name, width, node)


def width_at(
    run: Any, variable: str, name: str, node: ast.AST, last: bool, env: Any, entered: ast.For | None = None
) -> Dim | None:
    """The width of what a pass takes out of such a list, called `name`, by `node`; None where that is not known.

    `last`: from its end. `entered`: the loop that is about to be entered.
    """
    filled: Filled | None = run.filled_lists.get(variable)
    around = [*run.running_loops, *([entered] if entered is not None else [])]
    loop = around[0] if len(around) == 1 else None
    if filled is None or not isinstance(loop, ast.For) or loop.orelse or run.path or not _every_pass(loop, node, env):
        return None
    if not _touched_twice(env, name, filled.filling, loop):
        return None
    for made in _made_along(run, loop):
        own = _pass_name(made)
        if own is not None and (_mirrored(own[0], filled.over) if last else own[0] == filled.over):
            said = filled.width.substitute(_renamed(filled.name, own[1])) if own[1] != filled.name else filled.width
            if said.dependencies() <= {own[1]}:
                run.list_scopes.update(what_runs(made))  # it is said in the words of this list from here on
                return said
    return None


def _renamed(old: str, new: str) -> Callable[[Atom], Dim | None]:
    def change(atom: Atom) -> Dim | None:
        return Dim.local(new) if atom.kind in ("local", "opaque") and atom.args == (old,) else None

    return change


def item_at(run: Any, variable: str, name: str, node: ast.Subscript, env: Any) -> Dim | None:
    """The width of `skips[-i - 1]`, `skips[i]` in a pass that is counted by `i`."""
    loop = run.running_loops[-1] if run.running_loops else None
    if not isinstance(loop, ast.For):
        return None
    counter = run.counter(loop.target, loop.iter, env)
    if not counter or any(counter in stored_names(part) for part in loop.body):
        return None
    place = ast.unparse(node.slice)
    if place in (f"-{counter} - 1", f"-1 - {counter}", f"-({counter} + 1)", f"-(1 + {counter})", f"~{counter}"):
        return width_at(run, variable, name, node, True, env)
    return width_at(run, variable, name, node, False, env) if place == counter else None


def taken_by(run: Any, place: ast.expr, env: Any) -> tuple[str, Dim] | None:
    """(list, width) of the column `reversed(skips)` of a loop over `zip(self.ups, reversed(skips))`."""
    loop = next((p for p in env.source.ancestors(place) if isinstance(p, ast.stmt)), None)
    for name in [n for n in subtree(place) if isinstance(n, ast.Name) and env.get(n.id) is not None]:
        variable = getattr(env.get(name.id).value, "variable", "")
        last = _is_turned(place, name.id)
        if variable in run.filled_lists and last is not None and isinstance(loop, ast.For):
            width = width_at(run, variable, name.id, loop.iter, last, env, loop)
            return (variable, width) if width is not None else None
    return None


def _is_turned(node: ast.expr, name: str) -> bool | None:
    """Is it all of a list from its end (`reversed(skips)`, `skips[::-1]`), or from its beginning? None: neither."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple"):
        return _is_turned(node.args[0], name) if len(node.args) == 1 and not node.keywords else None
    said = ast.unparse(node)
    return said != name if said in (name, f"reversed({name})", f"{name}[::-1]") else None


def _made_along(run: Any, loop: ast.For) -> list[For]:
    """The loops of setup that made the lists along which a loop runs, one module in every pass."""
    found = [(items, made_along(run, loop, items)) for items in _parts(loop.iter)]
    for part in loop.body:
        for node in subtree(part):  # `self.downs[i]` in a loop over `range(len(self.widths))`
            if isinstance(node, ast.Subscript) and node.value in run.evaluated and isinstance(loop.target, ast.Name):
                held = run.evaluated[node.value].value
                plain = isinstance(held, Repeated) and held.in_order and not held.part and isinstance(held.loop, For)
                if plain and ast.unparse(node.slice) == loop.target.id and as_many(held.loop.node.iter, loop.iter):
                    found.append((node.value, held.loop))
    return list(dict.fromkeys(made for items, made in found if made is not None and _is_plain(run, made, items)))


def _is_plain(run: Any, made: For, items: ast.expr) -> bool:
    """Does a loop of setup make one module in every pass, for a list of its own?"""
    setup = run.model.method("setup")
    if made.conditions or setup is None or made.source.function_of(made.node) is not setup.node:
        return False
    values = [run.evaluated[n].value for n in subtree(items) if n in run.evaluated]
    lists = [v for v in values if isinstance(v, Repeated) and v.loop is made]
    if not lists or not all(isinstance(v.element, Module) and not v.under and len(v.element.site.loops) == 1 for v in lists):
        return False
    if isinstance(made.node, ast.comprehension):
        around = made.source.parents.get(made.node)
        return isinstance(around, ast.ListComp) and len(around.generators) == 1 and not made.node.ifs
    branching = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.With, *_LEAVES)
    return not any(isinstance(n, branching) for part in made.node.body for n in subtree(part))


def _parts(iterator: ast.expr) -> list[ast.expr]:
    """What a loop runs over, side by side."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and not iterator.keywords:
        if iterator.func.id == "zip" or (iterator.func.id == "enumerate" and len(iterator.args) == 1):
            return [part for argument in iterator.args for part in _parts(argument)]
    return [iterator]


def _pass_name(made: For) -> tuple[str, str] | None:
    """(what it runs over, the name of an item) of a loop of setup over a field, or a part of one."""
    target, over = made.node.target, made.node.iter
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "enumerate" and isinstance(target, ast.Tuple):
        if len(over.args) != 1 or over.keywords or len(target.elts) != 2:
            return None
        target, over = target.elts[1], over.args[0]
    rebound = isinstance(made.node, ast.For) and any(
        isinstance(target, ast.Name) and target.id in stored_names(part) for part in made.node.body
    )
    return (ast.unparse(over), target.id) if isinstance(target, ast.Name) and not rebound and _of_field(over) else None


def _of_field(node: ast.expr) -> bool:
    """A field, a part of one, or one of these turned round."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        return node.func.id in ("reversed", "list", "tuple", "range", "len") and _of_field(node.args[0])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        bounds = [part for part in (node.slice.lower, node.slice.upper, node.slice.step) if part is not None]
        plain = all(isinstance(n, ast.Constant | ast.UnaryOp | ast.USub) for b in bounds for n in subtree(b))
        return plain and _of_field(node.value)
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _mirrored(one: str, other: str) -> bool:
    """Does one go through the other from its end?"""

    def turned(text: str) -> set[str]:
        return {f"reversed({text})", f"{text}[::-1]", f"list(reversed({text}))", f"tuple(reversed({text}))"}

    return one in turned(other) or other in turned(one)


def _every_pass(loop: ast.For, node: ast.AST, env: Any) -> bool:
    """Does every pass of a loop come to `node`, once?"""
    if any(isinstance(n, _LEAVES) for part in loop.body for n in subtree(part)):
        return False
    if node is loop.iter:
        return True
    below = node
    for parent in env.source.ancestors(node):
        if parent is loop:
            return below in loop.body
        if not isinstance(parent, _ALWAYS):
            return False
        if isinstance(parent, ast.For | ast.While | ast.If | ast.Try | ast.With | ast.FunctionDef):
            return False
        below = parent
    return False


def _touched_twice(env: Any, name: str, filling: ast.For, taking: ast.For) -> bool:
    """Is a list bound once, filled by one loop, and taken from at one place of the other, and no more?"""
    function = env.source.function_of(taking)
    if function is None:
        return False
    named = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name]
    loads = [n for n in named if isinstance(n.ctx, ast.Load)]
    inside = [sum(n in set(subtree(loop)) for n in loads) for loop in (filling, taking)]
    top = filling in function.body and taking in function.body
    return top and inside == [1, 1] and len(loads) == 2 and len(named) == 3


__all__ = ["Filled", "item_at", "note", "taken_by", "width_at"]
