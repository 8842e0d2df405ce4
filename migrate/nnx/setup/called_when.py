"""Modules that a compact method always makes, and calls under a condition: Linen makes variables for what is called.

norm = nn.LayerNorm()           self.LayerNorm_0 = nnx.LayerNorm(8, rngs=rngs) if normalize else None
if self.normalize:
  x = norm(x)

for i in range(3):              for i in range(3):
  norm = nn.LayerNorm()           self.LayerNorm.append(nnx.LayerNorm(8, rngs=rngs) if i < 2 else None)
  if i < 2:
    x = norm(x)
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.values.arguments import stored_names
from ...linen.values.presence import GIVEN, Step
from ...linen.values.sites import Site, Unmigratable
from ...linen.values.values import Int
from ...trees import subtree
from ..text.text_parts import bare, whole
from . import setup_conditions

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_SIZELESS = "flax.linen.Dropout"
_MOST = 6  # conditions of which all ways together are looked at
_LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)
Way = tuple[Step, ...]


def called_when(text: ClassText, site: Site) -> Parts:
    """The condition under which a compact method calls a module that it always makes; () where there is none."""
    place, target = text.names.places[site], _name_given(site)
    if site.in_setup or site.kind not in ("layer", "class") or target is None or site.through or site.target == _SIZELESS:
        return ()
    function = site.source.function_of(site.node)
    called = {node.func for other in text.run.sites for node, _, _ in other.calls}  # the name may be another's, too
    called |= {shared.module for shared in text.run.shared_scopes}
    if function is None or not _is_only_called(site, function, {target.id}, called):
        return ()
    if place.kind == "attribute" and not site.loops:
        asked_of, sizes = setup_conditions.asked_of_calls(text, site), setup_conditions.sizes_asked(text, site)
        if sizes:
            return setup_conditions.together(text, site, asked_of, sizes)
    ways = _ways(text, site)
    common = [step for step in ways[0] if all(step in way for way in ways)] if ways else []
    rest = [tuple(step for step in way if step not in common) for way in ways]
    if not all(rest) or _leaves_none(rest):
        rest = []
    _check_sizes(text, site)
    for step in dict.fromkeys([*common, *itertools.chain(*rest)]):
        _check(text, site, function, step)
    said = [_said(text, site, step) for step in common]
    if rest:
        either = _joined(" or ", [_joined(" and ", [_said(text, site, step) for step in way]) for way in rest])
        said.append(("(", *either, ")") if said else either)
    return _joined(" and ", said)


def _ways(text: ClassText, site: Site) -> list[Way]:
    """The conditions on the way to each call, without those under which it is made and those of a loop of its own."""
    paths: tuple[Way, ...] = site.renders.get("paths", ())
    already = site.renders.get("made_under", ())
    chosen = {(ast.unparse(test), holds) for test, holds in site.choice}  # the factory is picked under them
    inner = {name for call, _, _ in site.calls for name in _passes_around(site, call)}
    beside = [_beside_flags(text, site, call) for call, _, _ in site.calls]
    if len(beside) != len(paths):  # a call may be followed more than once
        beside = [tuple(step for step in beside[0] if all(step in way for way in beside))] * len(paths) if beside else []
    found = []
    for path, more in zip(paths, beside):
        way = [s for s in dict.fromkeys([*path, *more]) if s not in already and (s.text, s.holds) not in chosen]
        # A loop around the call alone reaches it in some pass; what no field says is as with the defaults.
        way = [s for s in way if not (s.deps and s.deps <= inner) and GIVEN not in s.deps]
        way = [s for s in way if s.deps or setup_conditions.asks_fields(text, s)]
        found.append(tuple(way))
    return list(dict.fromkeys(found))


def _beside_flags(text: ClassText, site: Site, call: ast.Call) -> Way:
    """What fields and counters of loops decide beside flags of the call: `i > 0` of `if i > 0 and train:`."""
    bound = {n.id for loop in site.loops for n in subtree(loop.node.target) if isinstance(n, ast.Name)}
    steps: list[Step] = []
    for test, holds in _ways_around(site, call):
        parts = list(_parts(test, holds))
        known = [_is_known(text, part, bound) for part, _ in parts]
        for (part, side), is_known in zip(parts, known):
            if is_known and not all(known):  # what is known as a whole has been asked as a whole
                names = {n.id for n in subtree(part) if isinstance(n, ast.Name)} & bound
                steps.append(Step(ast.unparse(part), frozenset(names), side))
    return tuple(steps)


def _parts(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What holds, or does not, where a condition does: of `not (a or b)` neither."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for part in test.values:
            yield from _parts(part, holds)
    else:
        yield test, holds


def _is_known(text: ClassText, part: ast.expr, bound: set[str]) -> bool:
    """Is a condition one of fields, constants and counters of loops?"""
    for node in subtree(part):
        if isinstance(node, ast.Name) and node.id not in bound | {"self", "len"}:
            return False
        if isinstance(node, ast.Attribute) and not (ast.unparse(node.value) == "self" and node.attr in text.run.fields):
            return False
        if isinstance(node, ast.Call) and ast.unparse(node.func) != "len":
            return False
    return True


def _passes_around(site: Site, call: ast.Call) -> Iterator[str]:
    """What loops bind that are around a call, and not around what makes the module."""
    outer = set(site.source.ancestors(site.node))
    for parent in site.source.ancestors(call):
        if parent not in outer and isinstance(parent, _LOOPS):
            yield from (n.id for n in subtree(parent) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _leaves_none(ways: list[Way]) -> bool:
    """Is the module called on all ways together, `if` and `else`?"""
    tests = sorted({step.text for way in ways for step in way})
    if len(tests) > _MOST:
        return False
    for holds in itertools.product((True, False), repeat=len(tests)):
        now = dict(zip(tests, holds))
        if not any(all(now[step.text] is step.holds for step in way) for way in ways):
            return False
    return True


def _check_sizes(text: ClassText, site: Site) -> None:
    """Refuse a module that is called only for some sizes, of which the constructor cannot ask where it makes the module."""
    around = [list(_ways_around(site, call)) for call, _, _ in site.calls]
    asked = [next((way for way in found if _asks_sizes(text, way[0])), None) for found in around]
    ways = {way for way in asked if way is not None}
    by_fields = [any(_is_known(text, part, set()) for way in found for part, _ in _parts(*way)) for found in around]
    always = any(way is None and not known for way, known in zip(asked, by_fields))
    if not ways or always or any((test, not holds) in ways for test, holds in ways):
        return
    first = min((test for test, _ in ways), key=lambda test: test.lineno)
    reason = f"it is made before `{ast.unparse(first)}` is asked, and called by that"
    raise Unmigratable("NNX157", f"{reason}: Linen makes variables for what is called", site.node)


def _ways_around(site: Site, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions on the way to a call that are not on the way to what makes the module, and whether they hold there."""
    outer = {site.node, *site.source.ancestors(site.node)}
    for child, parent in itertools.pairwise([call, *site.source.ancestors(call)]):
        yield from _left_before(child, parent, outer)
        asks = isinstance(parent, ast.If | ast.IfExp) and child is not parent.test
        if isinstance(parent, ast.If | ast.IfExp) and asks and (parent not in outer or parent.test in outer):
            yield parent.test, child is parent.body or (isinstance(parent, ast.If) and child in parent.body)
        if parent in outer:
            return


def _left_before(child: ast.AST, parent: ast.AST, outer: set[ast.AST]) -> Iterator[tuple[ast.expr, bool]]:
    """`if not self.normed: continue` between the statement that makes a module, or its block, and one that calls it."""
    for name in ("body", "orelse"):
        block = getattr(parent, name, None)
        if not isinstance(block, list) or child not in block:
            continue
        before = block[: block.index(child)]
        made = max((n for n, statement in enumerate(before) if statement in outer), default=-1)
        for statement in before[made + 1 :]:
            if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], _LEAVES):
                yield statement.test, False


def _asks_sizes(text: ClassText, test: ast.expr) -> bool:
    """Is a condition one of sizes, `x.shape[-1] != width`? Numbers of fields and counters of loops are none."""
    for node in subtree(test):
        held = text.run.evaluated.get(node) if isinstance(node, ast.Name) else None
        number = held is not None and isinstance(held.value, Int) and not held.static
        if number or (isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size")):
            return True
    return False


def _check(text: ClassText, site: Site, function: ast.FunctionDef, step: Step) -> None:
    """Refuse a condition that asks what is not there yet where the module is made."""
    bound = {n.id for loop in site.loops for n in subtree(loop.node.target) if isinstance(n, ast.Name)}
    for name in step.deps - bound:
        another = name in text.run.fields and not _is_the_field(site, function, name)
        if another or not _is_set_before(site, function, name):
            reason = f"it is made before `{step.text}` is known, and called only if that is {str(step.holds).lower()}"
            raise Unmigratable("NNX157", f"{reason}: Linen makes variables for what is called", site.node)
    for name in step.deps & bound:
        if any(name in stored_names(s) for loop in site.loops if isinstance(loop.node, ast.For) for s in loop.node.body):
            reason = f"it is called only if `{step.text}`, and the loop changes `{name}`"
            raise Unmigratable("NNX157", f"{reason}: Linen makes variables for what is called", site.node)


def _is_the_field(site: Site, function: ast.FunctionDef, name: str) -> bool:
    """Is a variable that is called as a field is that field, `args = self.args`, as the constructor's argument is?"""
    stores = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    statements = [site.source.parents.get(n) for n in stores]
    return all(isinstance(s, ast.Assign) and ast.unparse(s.value) == f"self.{name}" for s in statements)


def _is_set_before(site: Site, function: ast.FunctionDef, name: str) -> bool:
    """Is a variable given all its values before the module is made?"""
    stores = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    outer = [p for p in site.source.ancestors(site.node) if isinstance(p, ast.For | ast.While)]
    before = all(n.lineno < site.node.lineno for n in stores)
    again = any(isinstance(p, ast.AugAssign) for n in stores for p in [site.source.parents.get(n)])
    return bool(stores) and before and not (again and outer)


def _said(text: ClassText, site: Site, step: Step) -> Parts:
    if not step.deps:
        return (setup_conditions.step_text(text, step, site),)
    text.needs |= step.deps
    if step.test is None:
        said: Parts = (text.own_text(step.text),)
    else:
        said = whole(text.said(step.test), text.source.text)
    return ("(", *said, ")") if step.holds else ("not (", *bare(said), ")")


def _joined(word: str, said: list[Parts]) -> Parts:
    if len(said) == 1:
        return said[0] if said[0][:1] != ("(",) or said[0][-1:] != (")",) else said[0][1:-1]
    return tuple(part for n, parts in enumerate(said) for part in ((word,) * bool(n) + parts))


def _name_given(site: Site) -> ast.Name | None:
    """`norm` of `norm = nn.LayerNorm()`, and of `norm, proj = nn.LayerNorm(), nn.Dense(4)`.

    Likewise of what a condition gives the name, and `norms` of the items of `norms = [nn.LayerNorm(), nn.RMSNorm()]`.
    """
    made: ast.AST = site.node
    statement = site.source.parents.get(made)
    place = None
    while isinstance(statement, ast.IfExp) and statement.test is not made:
        made, statement = statement, site.source.parents.get(statement)
    if isinstance(statement, ast.List | ast.Dict):
        made, statement = statement, site.source.parents.get(statement)
    if isinstance(statement, ast.AnnAssign | ast.NamedExpr):
        return statement.target if isinstance(statement.target, ast.Name) else None
    if isinstance(statement, ast.Tuple) and made in statement.elts:
        place, made = statement.elts.index(made), statement
        statement = site.source.parents.get(made)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.value is not made:
        return None
    target: ast.expr = statement.targets[0]
    if place is not None:
        if not isinstance(target, ast.Tuple) or any(isinstance(e, ast.Starred) for e in target.elts):
            return None
        target = target.elts[place]
    return target if isinstance(target, ast.Name) else None


def _is_only_called(site: Site, function: ast.AST, names: set[str], calls: set[ast.expr]) -> bool:
    """Do a function's lines call what has one of the names, or give it another name (`d = a if self.flag else b`) alone?"""
    more = set(names)
    for node in subtree(function):
        if not isinstance(node, ast.Name) or node.id not in names or isinstance(node.ctx, ast.Store):
            continue
        held = site.source.parents.get(node)
        if node in calls or held in calls:
            continue
        if isinstance(held, ast.For) and held.iter is node and isinstance(held.target, ast.Name):
            more.add(held.target.id)  # the items, which the loop calls
            continue
        part: ast.AST = node
        while isinstance(held, ast.IfExp) and part is not held.test:
            part, held = held, site.source.parents.get(held)
        target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
        if not isinstance(target, ast.Name):
            return False  # it is read for something else
        more.add(target.id)
    return more == names or _is_only_called(site, function, more, calls)


__all__ = ["called_when"]
