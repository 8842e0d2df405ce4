"""Lists of `setup` of which the class calls some items only: Linen makes no variables for the others.

self.layers = [nn.Dense(8) for _ in range(self.depth)]
...
for layer in self.layers[:2]:
  x = layer(x)
"""

from __future__ import annotations

import ast
import re
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..project.classes import Method
from ..values.arguments import stored_names
from ..values.jumps import left_early
from ..values.sites import Repeated, Site, Unmigratable
from .chains import Cycle
from .left_out import is_last, left_out
from .list_items import Passes
from .loop_counters import body_of, counter_of


def check(run: Any) -> None:
    """Refuse lists whose every use leaves out items that no other use names, or of which a loop may not reach the last."""
    for site in run.sites:
        if site.in_setup and site.loops and site.target != "flax.linen.Dropout":
            _check_reached(run, site)
        elif site.loops and not site.in_setup and site.calls and site.target != "flax.linen.Dropout":
            _check_picked(run, site)
    for site in run.sites:
        own = site.kind == "class" and not (site.held or site.passed or site.adopted or site.lifted or site.through)
        if own and site in run.picked_from and site.call is None and not site.calls:
            reason = "of a list or dict some items are called, and Linen makes no variables for the others"
            raise Unmigratable("NNX157", reason, site.node)
    setup: Method | None = run.model.method("setup")
    for name, bound in run.attributes.items():
        listed = bound.value
        if setup is None or not isinstance(listed, Repeated) or listed.part:
            continue
        made: list[Site] = [s for s in run.modules_in(listed) if s.in_setup and len(s.loops) == 1 and s.call is not None]
        made = [s for s in made if s.target != "flax.linen.Dropout" and not isinstance(s.renders.get("passes"), Passes)]
        parts = _parts(run, name, setup, made[0]) if made else None
        if parts and ":-1" in parts and isinstance(listed.element, Cycle) and not run.holds_module(listed.element.items[-1]):
            continue  # what that leaves out is a function
        count = listed.count.value if listed.count is not None else None
        if parts and not (_covered(parts) if count is None else _covered_of(parts, count)):
            said = " and ".join(sorted(f"`{name}[{part}]`" for part in parts))
            reason = f"of a list {said} alone is called, and Linen makes no variables for the other items"
            raise Unmigratable("NNX157", reason, made[0].node)


def _check_picked(run: Any, site: Site) -> None:
    """Refuse items of a compact method's own list or dict of which some are called, by their places, and others are not."""
    reason = "of a list or dict some items are called, and Linen makes no variables for the others"
    picked: set[str] = set()
    count: int | None = None
    outer = set(site.source.ancestors(site.node))
    for node, _, env in site.calls:
        func = node.func
        if site.loops[-1].node in env.source.ancestors(node):
            return  # in the pass that makes it
        if isinstance(func, ast.Name):
            names = _unpacked(env.source, func, site)
            if names is None:
                return
            if not _is_conditional(env.source, node, outer):
                picked.add(func.id)
            count = len(names)
            continue
        if not isinstance(func, ast.Subscript) or not isinstance(func.value, ast.Name) or not _is_constant(func.slice):
            return
        held = run.evaluated.get(func.value)
        if held is None or not isinstance(held.value, Repeated) or held.value.part or isinstance(func.slice, ast.Slice):
            return
        if not _is_conditional(env.source, node, outer):
            picked.add(ast.unparse(func.slice))
        count = _count(run, site, held.value)
    numbers = {ast.literal_eval(part) % count for part in picked if count and re.fullmatch(r"-?\d+", part)}
    several = len(numbers) if numbers else len(picked)
    if several < count if count is not None else len(picked) < 2:
        raise Unmigratable("NNX157", reason, site.node)


def _is_conditional(source: SourceFile, call: ast.Call, outer: set[ast.AST]) -> bool:
    """Is a condition around a call that is not around what makes the list?"""
    return any(isinstance(parent, ast.If | ast.IfExp) and parent not in outer for parent in source.ancestors(call))


def _unpacked(source: SourceFile, name: ast.Name, site: Site) -> set[str] | None:
    """The names of `a, b = [nn.Dense(3) for _ in range(2)]`, where one of them is called; None for any other name."""
    for parent in source.ancestors(site.node):
        if isinstance(parent, ast.Tuple | ast.List):
            return None
        if isinstance(parent, ast.Assign):
            target = parent.targets[0]
            items = target.elts if isinstance(target, ast.Tuple | ast.List) else []
            names = {item.id for item in items if isinstance(item, ast.Name)}
            return names if name.id in names else None
        if isinstance(parent, ast.stmt):
            return None
    return None


def _count(run: Any, site: Site, listed: Repeated) -> int | None:
    """How many items a list or dict has that one loop fills."""
    if listed.count is not None and listed.count.value is not None:
        return listed.count.value
    over = site.loops[0].node.iter if len(site.loops) == 1 else None
    if isinstance(over, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in over.elts):
        return len(over.elts)
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "range" and len(over.args) == 1:
        last = over.args[0]
        return last.value if isinstance(last, ast.Constant) and type(last.value) is int else None
    return None


def _check_reached(run: Any, site: Site) -> None:
    """Refuse items that loops of the call alone go through, all of them left early by what fields and the counter say."""
    jumps = [_left_by_fields(run, site, node, env.source) for node, _, env in site.calls]
    if jumps and all(jump is not None for jump in jumps):
        reason = "a loop over a list may be left before its last items, and Linen makes no variables for those"
        raise Unmigratable("NNX157", reason, jumps[0])


def _left_by_fields(run: Any, site: Site, call: ast.AST, source: SourceFile) -> ast.stmt | None:
    """What leaves the loop around a call, by a condition that asks nothing of the method's arguments (those count as flags,
    for whose default all is made), nor whether it is the last pass."""
    loop = next((n for n in source.ancestors(call) if isinstance(n, ast.For | ast.FunctionDef)), None)
    jump = left_early(loop.body) if isinstance(loop, ast.For) else None
    if jump is None or not isinstance(loop, ast.For):
        return None
    bound = {n.id for n in subtree(loop.target) if isinstance(n, ast.Name)} | {"self"}
    for parent in source.ancestors(jump):
        if parent is loop:
            return jump
        if not isinstance(parent, ast.If):
            return None
        names = [n for n in subtree(parent.test) if isinstance(n, ast.Name)]
        if any(n.id not in bound and source.names.is_hidden(n.id, n) for n in names):
            return None
        sides = [parent.test.left, *parent.test.comparators] if isinstance(parent.test, ast.Compare) else []
        if any(is_last(run, site, side) for side in sides):
            return None
    return None


def _parts(run: Any, name: str, setup: Method, site: Site) -> set[str] | None:
    """The indices and slices by which methods name items of a list; None where they use it in any other way."""
    found: set[str] = set()
    for method in run.model.methods().values():
        if method.node is setup.node:
            continue
        nodes = list(subtree(method.node))
        picked = {n.value: n.slice for n in nodes if isinstance(n, ast.Subscript)}
        for node in nodes:
            counts = method.source.parents.get(node)
            asked = isinstance(counts, ast.Call) and ast.unparse(counts.func) == "len"
            if asked or not (isinstance(node, ast.Attribute) and node.attr == name):
                continue
            part = picked.get(node)
            plain = part is not None and _is_constant(part)
            said = ast.unparse(part) if plain and part is not None else _by_number(run, site, method, node, part)
            if not said:
                return None
            found.add(said)
    return found


def _by_number(run: Any, site: Site, method: Method, node: ast.expr, part: ast.expr | None) -> str:
    """The slice that a loop calls item by item, `[:-1]` of `range(len(self.layers) - 1)`; "" where it is not known."""
    if part is not None and not isinstance(part, ast.Slice) and is_last(run, site, part):
        return "-1"
    for parent in method.source.ancestors(node):
        loops = parent.generators if isinstance(parent, ast.ListComp | ast.GeneratorExp) else [parent]
        for loop in loops:
            if not isinstance(loop, ast.For | ast.comprehension):
                continue
            if part is None and isinstance(loop.iter, ast.Call) and node in loop.iter.args:
                return _slice(0, left_out(run, site, loop.iter))
            counter, first, over = _counted(loop)
            if part is not None and any(isinstance(n, ast.Name) and n.id == counter for n in subtree(part)):
                more, left = _more_than(part, counter), left_out(run, site, over)
                changed = isinstance(loop, ast.For) and any(counter in stored_names(s) for s in loop.body)
                return "" if more is None or left is None or changed else _slice(first + more, left - more)
        if parent is method.node:
            break
    return ""


def _slice(first: int, left: int | None) -> str:
    """The items from one on, but for the last `left`; "" where that is not known."""
    if left is None or left < 0 or first < 0:
        return ""
    return f"{first or ''}:{-left or ''}"


def _counted(loop: ast.For | ast.comprehension) -> tuple[str, int, ast.expr]:
    """The name that counts a loop's passes, "" where none does, from which number on, and what it counts.

    `range(1, n)` is given as `range(n)`.
    """
    over = loop.iter
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "reversed" and len(over.args) == 1:
        over = over.args[0]
    if isinstance(over, ast.Call) and ast.unparse(over.func) == "range" and isinstance(loop.target, ast.Name):
        first = over.args[0] if len(over.args) == 2 else None
        if isinstance(first, ast.Constant) and type(first.value) is int:
            return loop.target.id, first.value, ast.Call(over.func, [over.args[1]], [])
    return counter_of(loop.target, over, body_of(loop)), 0, over


def _more_than(part: ast.expr, counter: str) -> int | None:
    """1 of `i + 1`; None for anything else that is said with the counter."""
    if isinstance(part, ast.Name):
        return 0
    if isinstance(part, ast.BinOp) and isinstance(part.left, ast.Name) and isinstance(part.right, ast.Constant):
        if part.left.id == counter and type(part.right.value) is int and isinstance(part.op, ast.Add | ast.Sub):
            return part.right.value if isinstance(part.op, ast.Add) else -part.right.value
    return None


def _is_constant(part: ast.expr) -> bool:
    return all(isinstance(n, ast.Constant | ast.UnaryOp | ast.USub | ast.Slice) for n in subtree(part))


def _covered_of(parts: set[str], count: int) -> bool:
    """Do they come to all of so many items together?"""
    items = list(range(count))
    found: set[int] = set()
    for part in parts:
        bounds = [ast.literal_eval(bound) if bound else None for bound in part.split(":")]
        if len(bounds) > 1:
            found.update(items[slice(*bounds)])
        elif bounds[0] is not None and -count <= bounds[0] < count:
            found.add(items[bounds[0]])
    return len(found) == count


def _covered(parts: set[str]) -> bool:
    """Are there uses that may come to all items together, for some number of items?"""
    starts = {p.rstrip(":") for p in parts if p.endswith(":") and p != ":"}
    ends = {p.lstrip(":") for p in parts if p.startswith(":") and p != ":"}
    if ":" in parts or "::-1" in parts or any(p.count(":") == 2 for p in parts) or starts & ends:
        return True
    numbers = {p for p in parts if ":" not in p}
    if starts and ends:
        return True
    if not starts and not ends:
        return len(numbers) > 1
    return _reaches(ends, numbers, -1, -1) or _reaches(starts, numbers, 0, 1)


def _reaches(bounds: set[str], numbers: set[str], first: int, step: int) -> bool:
    """Are the items named by number that slices leave out at one end: `[-1]` and `[-2]` beside `[:-2]`?"""
    numbered = [ast.literal_eval(bound) for bound in bounds]
    known = [bound for bound in numbered if type(bound) is int and (bound < 0) == (step < 0)]
    if not known:
        return bool(bounds) and str(first) in numbers
    nearest = min(known, key=abs)
    return all(str(place) in numbers for place in range(first, nearest + min(step, 0), step))
