"""Helper functions outside of classes that make layers or parameters for the module that calls them.

    def conv_block(x, features):                    def conv_block(x, features, *, conv):
      x = nn.Conv(features, (3, 3))(x)      →         x = conv(x)
      return nn.relu(x)                               return nn.relu(x)

In Linen such a layer belongs to the module whose compact method is running. In NNX that module's constructor makes it, and
hands it to the function at each call: `conv_block(x, 8, conv=self.Conv_0)`. A parameter is made with the module at hand
(`self.param(name, ...)`), so the function finds it there: `getattr(self, name)[...]`.

What a function is handed is named after its own text only, so that all callers agree.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from ...catalog import layers
from ...source import SourceFile
from ...trees import subtree
from ..modules import given_makers, setup_helpers
from ..modules.made_later import NAMED
from ..values.late_makes import needed_by
from ..values.sites import Abs, Function, Make, Module, Passage, SelfModule, Site, Unmigratable
from ..values.values import Value


@dataclasses.dataclass(frozen=True)
class Slot:
    """A keyword-only parameter of a helper function, for what it used to make."""

    position: tuple[int, int]  # where in the function it is made, which orders the parameters
    required: bool  # is it made by every call?


@dataclasses.dataclass(frozen=True)
class Started:
    """What was known before a helper function was followed."""

    sites: int
    asked: int
    steps: int


def started(run: Any, function: Function, bound: Mapping[str, Abs]) -> Started | None:
    """Note where a function that is about to be followed begins; None for methods and functions inside of methods."""
    env = function.env
    if function.method is not None or env is None or env.in_method():
        return None
    modules = {name for name, value in bound.items() if isinstance(value.value, SelfModule)}
    for node in subtree(function.node) if modules else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            run.analyser.read_attributes.add(node.attr)  # the function reads fields of the module
    return Started(len(run.sites), _asked(run), len(run.block.steps))


def _asked(run: Any) -> int:
    """How often the module was asked what only Linen knows."""
    return len(run.constants) + len(run.sows) + len(run.controls)


def finished(
    run: Any, before: Started, function: Function, node: ast.Call, nodes: Mapping[str, ast.expr], env: Any, result: Value
) -> None:
    """Record the call `node` for everything that the function made; raises Unmigratable where it cannot be handed in."""
    made: list[Site] = [s for s in run.sites[before.sites :] if NAMED not in s.renders]  # a call on shapes makes those
    if _asked(run) > before.asked:
        raise _refused(node, "asks Linen about the module that calls it")
    if not made:
        return
    target = function.node
    if isinstance(target, ast.Lambda) or target.decorator_list:
        raise _refused(node, "makes submodules in its caller's scope, and is a lambda or decorated")
    if target in given_makers.find(run.project).functions:
        raise _refused(node, "makes submodules in its caller's scope, and is given to a module as a field, too")
    if run.in_setup and setup_helpers.makes_parameters(made):
        setup_helpers.parameters_made(run, made, function, node, env, before.steps)
        return
    if run.in_setup:
        _made_for_setup(run, made, function, node, env, result)
        return
    found: list[tuple[Site, str, bool]] = []
    for site in made:
        found.append((site, *_slot_of(run, site, function.source, target, node)))
    for site, name, required in found:
        if "dtype" in site.renders:
            run.analyser.checked[site.node] = site.renders["dtype"][1]
        if not site.through:
            _flags_in_own_words(site, target)
        inner = site.through[0] if site.through else None
        if site.name is not None and site.kind in ("layer", "class"):
            site.name = dataclasses.replace(site.name, node=_renamed(site, nodes, target, node))
        site.through = (Passage(node, env.source, target, function.source, name), *site.through)
        if not name:
            continue
        where = inner.call if inner is not None else site.node
        slots: dict[str, Slot] = run.analyser.slots.setdefault(target, {})
        position = (where.lineno, where.col_offset)
        slots[name] = Slot(min(position, slots[name].position) if name in slots else position, required)
        if inner is not None:
            run.analyser.handed_on.setdefault(inner.call, {})[inner.slot] = name


def _made_for_setup(run: Any, made: list[Site], function: Function, node: ast.Call, env: Any, result: Value) -> None:
    """`self.head = make_head(8)`, of a function that returns one new module: the constructor makes that in its stead."""
    site, target = made[0], function.node
    assert isinstance(target, ast.FunctionDef)
    place = site.through[0].call if site.through else site.node
    alone = len(made) == 1 and isinstance(result, Module) and result.site is site and site.kind in ("layer", "class")
    inside = target in function.source.ancestors(place) and _only_makes(function.source, target, place)
    odd = site.lifted or site.scopes or site.alternatives or site.choice or site.name is not None or site.passed
    if not (alone and inside) or odd or len(site.loops) > len(run.loops) or _own_conditions(site, target):
        raise _refused(node, "makes submodules for `setup`")
    within = {id(n) for n in subtree(node)}
    if any(id(other.anchor()[1]) in within for other in run.sites if other is not site):
        raise _refused(node, "makes submodules for `setup`, of others that are made in its arguments")
    functions = [target, *[passage.function for passage in site.through]]
    stored = {n.id for f in functions for n in subtree(f) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if needed_by([Make(site)]) & stored:
        raise _refused(node, "computes what it makes for `setup`")
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    if layer is not None and any(name in site.bound for name in layer.call_time_fields):
        raise _refused(node, "makes a layer for `setup` that NNX gives its flags at the call")
    site.through = (Passage(node, env.source, target, function.source, ""), *site.through)


def _only_makes(source: SourceFile, function: ast.FunctionDef, place: ast.Call) -> bool:
    """Does the function do nothing but make what it makes at `place` and return it?"""
    made = source.statement_of(place)
    says = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    returned = bool(says) and isinstance(says[-1], ast.Return)
    return returned and all(s is made for s in says[:-1]) and isinstance(source.parents.get(place), ast.Assign | ast.Return)


def _flags_in_own_words(site: Site, function: ast.FunctionDef) -> None:
    """What NNX takes at the call and depends on the function's arguments is given there, also where it is known: other
    callers say it differently."""
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    own = {a.arg for a in subtree(function) if isinstance(a, ast.arg)}
    own |= {n.id for n in subtree(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for name in layer.call_time_fields if layer is not None else ():
        bound = site.bound.get(name)
        if bound is not None and bound.node is not None:
            if any(isinstance(n, ast.Name) and n.id in own for n in subtree(bound.node)):
                site.bound[name] = dataclasses.replace(bound, localized=None)


def _refused(node: ast.Call, why: str) -> Unmigratable:
    return Unmigratable("NNX135", f"`{ast.unparse(node.func)}` {why}", node)


def _slot_of(run: Any, site: Site, source: SourceFile, function: ast.FunctionDef, node: ast.Call) -> tuple[str, bool]:
    """How the function is handed what was made at `site`, and whether every call of it makes it."""
    if site.kind == "rng":
        return "", False
    if site.kind == "variable" or site.lazy:
        raise _refused(node, "makes a variable for its caller")
    if site.lifted or site.scopes or site.alternatives or site.choice:
        raise _refused(node, "makes submodules by a lifted transform or of several kinds for its caller")
    if site.target == "flax.linen.Sequential":  # the constructor makes its layers, and the call has them one by one
        raise _refused(node, "makes a Sequential for its caller")
    if len(site.loops) > len(run.loops):
        raise _refused(node, "makes submodules in a loop for its caller")
    inner = site.through[0] if site.through else None
    place = inner.call if inner is not None else site.node
    if inner is not None and not _means(run, source, place.func, inner.function):
        raise _refused(node, f"makes submodules by a function that it is given, `{ast.unparse(place.func)}`")
    if function not in source.ancestors(place) or any(p.function is function for p in site.through):
        raise _refused(node, "makes submodules where it is not clear who calls it")
    if run.loops and _own_conditions(site, function):
        raise _refused(node, "is called in a loop and makes submodules under conditions")
    if site.kind == "param":
        return "", False
    certain = inner is None or run.analyser.slots[inner.function][inner.slot].required
    other = _in_other_branch(source, function, place)
    always = _always(source, function, place if other is None else other.branch)
    return _slot_name(site, source, function), certain and always


def _means(run: Any, source: SourceFile, said: ast.expr, function: ast.FunctionDef) -> bool:
    """Is a function what an expression means, whoever calls the code around it: is it defined or imported there?"""
    scope = source.names.binding_scope(said.id, said) if isinstance(said, ast.Name) else None
    if isinstance(said, ast.Name) and scope is not None:
        return [n for n in source.names.binders(said.id) if source.names.bound_by(n) is scope] == [function]
    found = run.project.definition(run.project.qualname(source, said) or "")
    return found is not None and found[1] is function


def _own_conditions(site: Site, function: ast.FunctionDef) -> list[Any]:
    """The conditions of a site that stand in a helper function's text."""
    inside = {id(n) for n in subtree(function)}
    return [c for c in site.conditions if id(c[0]) in inside]


_UNCONDITIONAL = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Call, ast.BinOp, ast.UnaryOp, ast.Attribute,
    ast.Subscript, ast.Tuple, ast.List, ast.keyword, ast.With,
)  # fmt: skip


def _always(source: SourceFile, function: ast.FunctionDef, place: ast.Call | ast.If) -> bool:
    """Does every call of the function come by `place`?"""
    for outer in source.ancestors(place):
        if outer is function:
            break
        if not isinstance(outer, _UNCONDITIONAL):
            return False
    returns = [n for n in subtree(function) if isinstance(n, ast.Return | ast.Raise)]
    return all(r.lineno >= place.lineno for r in returns)


@dataclasses.dataclass(frozen=True)
class _Pair:
    """Two calls of one thing, of which each call of the function makes one: Linen gives both the same name."""

    branch: ast.If
    later: ast.Call


def _in_other_branch(source: SourceFile, function: ast.FunctionDef, place: ast.Call) -> _Pair | None:
    """`place` and the same call on the other side of an `if`, where each side has one, which it always comes by."""
    for branch in subtree(function):
        if not isinstance(branch, ast.If):
            continue
        sides = (branch.body, branch.orelse or _behind(source, branch))
        found = [[c for s in side for c in _calls_of(s, ast.unparse(place.func))] for side in sides]
        if [len(calls) for calls in found] != [1, 1] or place not in (found[0][0], found[1][0]):
            continue
        pair = (found[0][0], found[1][0])
        if any(k.arg in ("name", None) for call in pair for k in call.keywords):
            return None
        if all(_reached_in(source, side, call) for side, call in zip(sides, pair, strict=True)):
            return _Pair(branch, pair[1])
    return None


def _behind(source: SourceFile, branch: ast.If) -> list[ast.stmt]:
    """What follows an `if` that returns, which is its other side."""
    holder = source.parents[branch]
    if not isinstance(branch.body[-1], ast.Return) or not isinstance(holder, ast.FunctionDef):
        return []
    return holder.body[holder.body.index(branch) + 1 :]


def _reached_in(source: SourceFile, statements: list[ast.stmt], call: ast.Call) -> bool:
    """Does whoever runs these statements come by the call?"""
    for statement in statements:
        if call in subtree(statement):
            outer = list(source.ancestors(call))
            return all(isinstance(node, _UNCONDITIONAL) for node in outer[: outer.index(statement) + 1])
        if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
            return False
    return False


def _calls_of(node: ast.AST, said: str) -> list[ast.Call]:
    calls = [n for n in subtree(node) if isinstance(n, ast.Call) and ast.unparse(n.func) == said]
    return sorted(calls, key=lambda n: (n.lineno, n.col_offset))


def _slot_name(site: Site, source: SourceFile, function: ast.FunctionDef) -> str:
    """The keyword: the layer's name in lower case, counted; behind the name of a function on the way."""
    inner = site.through[0] if site.through else None
    place = inner.call if inner is not None else site.node
    said = ast.unparse(place.func)
    last = _words(said.rpartition(".")[2])
    others = {call: _in_other_branch(source, function, call) for call in _calls_of(function, said)}
    calls = [call for call, other in others.items() if other is None or other.later is call]
    other = others[place]
    number = calls.index(place if other is None else other.later) + 1
    name = last if number == 1 else f"{last}_{number}"
    if inner is not None:
        name = f"{name}_{inner.slot}"
    taken = {n.id for n in subtree(function) if isinstance(n, ast.Name)}
    taken |= {a.arg for a in subtree(function) if isinstance(a, ast.arg)}
    if name in taken or name in _KEYWORDS:
        name = f"{name}_layer"
    while name in taken:
        name += "_"
    return name


_KEYWORDS = frozenset({"lambda", "global", "class"})


def _words(name: str) -> str:
    """`BatchNorm` → `batch_norm`, `LSTMCell` → `lstm_cell`."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", re.sub(r"\W", "_", name)).lower().strip("_")
    return text if text.isidentifier() else f"layer_{text}"


def _renamed(site: Site, nodes: Mapping[str, ast.expr], function: ast.FunctionDef, node: ast.Call) -> ast.expr | None:
    """The `name=` of a site as the caller of the function says it."""
    assert site.name is not None
    said = site.name.node
    if isinstance(said, ast.Name) and said.id in nodes:
        return nodes[said.id]
    if site.name.constant is None:
        raise _refused(node, "makes submodules under names of its own making")
    return None


__all__ = ["Slot", "Started", "finished", "started"]
