"""Is a module called whenever its class is, with defaults: may the class find the module's sizes so?"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...linen.execution.graph_networks import BY_NETWORKS
from ...linen.modules import by_sizes
from ...linen.modules.module_calls import OPEN
from ...linen.values.presence import Presence
from ...linen.values.sites import BoundArg, Module, Site
from ...linen.values.values import Array
from ...source import SourceFile
from ...trees import subtree
from . import called_functions

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution

_Shown = Callable[[ast.expr], bool] | None
_SEQUENTIAL = "flax.linen.Sequential"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def why_not_by_default(
    run: Execution, node: ast.expr, source: SourceFile, shown: _Shown = None, calls: Sequence[ast.expr] = ()
) -> str:
    """Why a call of the class with its defaults may not reach a call in it; "" where it does.

    What shapes decide is decided for all calls: with other shapes there are other variables, in Linen too.
    `shown`: what else says that a test has the same answer in all calls. `calls`: all calls of what is called, of which the
    other side of a condition may have one, too.
    """

    def known(part: ast.expr) -> bool:
        return by_sizes.is_shown(run, part, source) or (shown is not None and shown(part))

    around = [node, *source.ancestors(node)]
    own = {method.node for method in [*run.model.methods().values(), *(m for _, m in run.super_calls)]}
    method = next((a for a in around if a in own), None)
    if method is None or method not in _reached(run):
        return "its call is not followed"

    def why_not(node: ast.expr, block: Sequence[ast.AST] = ()) -> str:
        """The same, or once the first of some statements is reached, one of which holds the call."""
        for child, parent in itertools.pairwise([node, *source.ancestors(node)]):
            if child in block:
                before = block[: block.index(child)]
                return "the call may return before" if any(_may_leave(run, b, known) for b in before) else ""
            if child is method:
                break
            test = parent.test if isinstance(parent, ast.If | ast.IfExp | ast.While) else None
            if test is not None and child is not test and not _is_static(run, test, known):
                # What arrays hold a call on shapes cannot answer.
                other = _other_side(source, parent, child) if not _asks_arrays(run, test) else []
                inside = [call for call in calls if not {call, *source.ancestors(call)}.isdisjoint(other)]
                if all(why_not(call, other) for call in inside):
                    return f"it is called only if `{ast.unparse(test)}`"
            if isinstance(parent, ast.Try | ast.BoolOp | ast.Match):
                return "it is called in a `try` or the like"
            function = child if isinstance(child, ast.FunctionDef | ast.Lambda) else None
            if function is not None and not called_functions.is_called(run, source, function, method):
                return f"`{getattr(child, 'name', 'lambda')}`, which calls it, may be called later"
            sides = [getattr(parent, "body", None), getattr(parent, "orelse", None)]
            own = [part[: part.index(child)] for part in sides if isinstance(part, list) and child in part]
            if any(_may_leave(run, statement, known) for statement in itertools.chain(*own)):
                return "the call may return before"
        return ""

    return why_not(node)


def _asks_arrays(run: Execution, test: ast.expr) -> bool:
    """Is a condition one of what arrays hold, and not of their shapes?"""
    shapes = {n.value for n in subtree(test) if isinstance(n, ast.Attribute) and n.attr in ("shape", "ndim", "size")}
    counted = {n.args[0] for n in subtree(test) if isinstance(n, ast.Call) and ast.unparse(n.func) == "len" and n.args}
    asked = [n for n in subtree(test) if n in run.evaluated and n not in shapes | counted]
    return any(isinstance(run.evaluated[n].value, Array) for n in asked)


def _other_side(source: SourceFile, condition: ast.AST, side: ast.AST) -> list[ast.AST]:
    """The statements, or the expression, on the other side of a condition than the one that holds `side`.

    Of a side that returns the other one is what stands behind the condition.
    """
    if not isinstance(condition, ast.If | ast.IfExp):
        return []
    if isinstance(condition, ast.If) and side in condition.body and not condition.orelse:
        above = source.parents.get(condition)
        blocks = [getattr(above, name, None) for name in ("body", "orelse")]
        block = next((b for b in blocks if isinstance(b, list) and condition in b), [])
        return block[block.index(condition) + 1 :] if block and isinstance(condition.body[-1], ast.Return) else []
    sides = [part if isinstance(part, list) else [part] for part in (condition.body, condition.orelse)]
    return [node for part in sides if side not in part for node in part]


_OF_DICTS = frozenset({"items", "keys", "values"})  # what a dictionary of modules is gone through by


def is_read(run: Execution, site: Site) -> bool:
    """Are its variables or its attributes read, which a module that is not there yet has none of?"""
    if any(read.site is site for read in run.variable_reads.values()) or any(a.site is site for a in run.applied.values()):
        return True
    called = {node.func for node, _, _ in site.calls}
    for method in run.model.methods().values():
        for node in method.nodes:
            if not isinstance(node, ast.Attribute) or node in called:
                continue
            held_here = run.evaluated.get(node.value)
            if held_here is not None and isinstance(held_here.value, Module) and held_here.value.site is site:
                return True  # `dense.features`
            if site.container and not (node.attr in _OF_DICTS and _is_self(getattr(node.value, "value", node))):
                held = node.value.value if isinstance(node.value, ast.Subscript) else node.value
                if isinstance(held, ast.Attribute) and held.attr == site.container and _is_self(held.value):
                    return True
    return False


def maps_at_once(run: Execution, site: Site) -> bool:
    """Is a module that is given to `jax.vmap` as it is called there, in a method: `jax.vmap(self.net)(x)`?"""
    for node in site.renders.get("mapped", ()):
        outer, around = site.source.parents.get(node), set(site.source.ancestors(node))
        at_once = isinstance(outer, ast.Call) and outer.func is node and site.source is run.model.source
        own = any(method.node in around for method in run.model.methods().values())
        if not at_once or not own or run.project.qualname(site.source, node.func) != "jax.vmap":
            return False
    return True


def asks_more(run: Execution, site: Site) -> bool:
    """Does a call of the class ask a module for another method of its own, or before it has called it?

    What other methods of the class ask of it (`self.net.encode(x)`) they ask when it is there.
    """
    others = [(node, env.source) for node, method, env in site.calls if method != "__call__"]
    apart = {method.node for method in run.model.methods().values()} - _reached(run)
    called = not site.calls or len(others) < len(site.calls)
    return not called or any(apart.isdisjoint(source.ancestors(node)) for node, source in others)


def is_part(site: Site) -> bool:
    """Is it made for another module of the same item of a list, which is no Sequential: an RNN's cell?"""
    return site.within is not None and site.within.target != _SEQUENTIAL


def caller(run: Execution, site: Site) -> Site | None:
    """What the class calls to call a module: itself, or what it is handed to, an nn.Sequential or a class that calls it.

    None where it is handed to several, or is not certain to be called with what holds it.
    """
    held = [s for s in run.sites if s is not site and any(_is_in(run, site, bound) for bound in s.bound.values())]
    if not held:
        return None if site.passed or site.adopted else site
    if len(held) > 1 or site.calls or held[0].lifted or held[0].scopes or held[0].held or held[0].alternatives:
        return None
    if held[0].target != _SEQUENTIAL and not _calls_it(run, held[0], site):
        return None
    return caller(run, held[0])


def _calls_it(run: Execution, holder: Site, site: Site) -> bool:
    """Does a class only call the module that one of its fields is handed, whenever it is called itself?"""
    names = [name for name, bound in holder.bound.items() if _is_in(run, site, bound)]
    model = run.analyser.classes.get(holder.target)
    if model is None or len(names) != 1 or holder.target in run.analyser.later | run.analyser.given_outside.handed.keys():
        return False
    if not isinstance(holder.bound[names[0]].abs.value, Module) or len(run.analyser.classes.lineage(model.qualname)) > 1:
        return False
    inner = run.analyser.execution(holder.target)
    uses = [n for n in model.nodes if isinstance(n, ast.Attribute) and n.attr == names[0] and _is_self(n.value)]
    calls = [parent for n in uses if isinstance(parent := model.source.parents.get(n), ast.Call) and parent.func is n]
    if len(calls) < len(uses) or not calls or any(isinstance(n, ast.Constant) and n.value == names[0] for n in model.nodes):
        return False
    return not why_not_by_default(inner, calls[0], model.source)


def _is_in(run: Execution, site: Site, bound: BoundArg) -> bool:
    return any(site is held for held in run.modules_in(bound.abs.value))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def in_method(run: Execution, site: Site) -> tuple[ast.Call, SourceFile, str]:
    """Where a method of the class calls a module, itself or by helper functions, and why these may not reach the call.

    A helper (`apply_norm(x, nn.LayerNorm())`) reaches it by what its arguments decide, where the constructor knows that.
    """
    if not site.calls and BY_NETWORKS not in site.renders:
        return site.renders["mapped"][0], site.source, ""
    calls = [(node, env) for node, method, env in site.calls if method == "__call__"]
    node, env = [*calls, *site.renders.get(BY_NETWORKS, ())][0]
    own = {method.node for method in [*run.model.methods().values(), *(m for _, m in run.super_calls)]}
    while True:
        around = list(itertools.takewhile(lambda a: a not in own, env.source.ancestors(node)))
        helper = next((a for a in around if isinstance(a, _FUNCTIONS)), None)
        if len(around) < len(list(env.source.ancestors(node))) or helper is None:
            return node, env.source, ""
        if env.caller is None or env.call is None or env.conditions < site.renders[OPEN]:
            return node, env.source, "its call is not followed"
        if isinstance(helper, ast.AsyncFunctionDef | ast.ClassDef) or _is_uncertain(node, helper, env.source):
            return node, env.source, "its call is not followed"
        node, env = env.call, env.caller


def _is_uncertain(node: ast.expr, helper: ast.AST, source: SourceFile) -> bool:
    """May a function not come to a call in it, but for its `if` statements, which were followed?"""
    for child, parent in itertools.pairwise([node, *source.ancestors(node)]):
        if isinstance(parent, ast.Try | ast.BoolOp | ast.Match | ast.IfExp | ast.While | ast.For | ast.comprehension):
            return True
        body = getattr(parent, "body", None)
        before = body[: body.index(child)] if isinstance(body, list) and child in body else []
        leaving = [s for s in before if not isinstance(s, ast.If | ast.FunctionDef)]
        if any(isinstance(n, ast.Return | ast.Yield | ast.YieldFrom) for s in leaving for n in subtree(s)):
            return True
        if parent is helper:
            return False
    return True


def why_not_in_functions(run: Execution, node: ast.Call, source: SourceFile, shown: _Shown = None) -> str:
    """As `why_not_by_default`, of the calls of the functions in a method around a call."""
    own = {method.node for method in run.model.methods().values()}
    around = list(itertools.takewhile(lambda a: a not in own, source.ancestors(node)))
    for function in [a for a in around if isinstance(a, _FUNCTIONS)]:
        above = source.parents.get(function)
        if isinstance(function, ast.Lambda) and isinstance(above, ast.Call):
            continue
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return "it is in a function that is not followed"
        method = next((a for a in source.ancestors(function) if a in own), None)
        uses = [n for n in subtree(method) if isinstance(n, ast.Name) and n.id == function.name] if method else []
        outside = [use for use in uses if isinstance(use.ctx, ast.Load) and function not in source.ancestors(use)]
        if not outside or any(why_not_by_default(run, use, source, shown) for use in outside):
            return f"it may not be reached: `{function.name}` is not always called"
    return ""


def optional_asked(run: Execution, node: ast.Call, source: SourceFile) -> set[str]:
    """The optional arguments of the class's call whose being there decides whether a call in it is reached."""
    tests = [a.test for a in source.ancestors(node) if isinstance(a, ast.If | ast.IfExp)]
    values = [run.evaluated[part].value for test in tests for part in _parts(test) if part in run.evaluated]
    return {value.argument for value in values if isinstance(value, Presence)}


def _is_static(run: Execution, test: ast.expr, known: Callable[[ast.expr], bool]) -> bool:
    """Does a call with the defaults and the optional arrays that the constructor is told of go the way that all go?"""
    return all(_is_settled(run, part) or known(part) for part in _parts(test))


def _is_settled(run: Execution, test: ast.expr) -> bool:
    found = run.evaluated.get(test)
    if found is not None and (isinstance(found.value, Presence) or (found.static and not found.flags)):
        return True
    return all(node.id == "self" for node in subtree(test) if isinstance(node, ast.Name)) and not any(
        isinstance(node, ast.Call | ast.Subscript) for node in subtree(test)
    )


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """`a`, `b` and `c` of `a and (b or not c)`."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand)
    else:
        yield test


def _may_leave(run: Execution, statement: ast.AST, known: Callable[[ast.expr], bool]) -> bool:
    """Does a statement return, or leave a loop, by what the constructor does not know?"""
    if isinstance(statement, _FUNCTIONS):
        return False
    leaving = [n for n in subtree(statement) if isinstance(n, ast.Return | ast.Break | ast.Continue)]
    tests = [n.test for n in subtree(statement) if isinstance(n, ast.If | ast.While)]
    return bool(leaving) and not all(_is_static(run, test, known) for test in tests)


def _reached(run: Execution) -> set[ast.AST]:
    """The methods that a call of the class runs, as far as their names say it."""
    methods = run.model.methods()
    found: set[ast.AST] = set()
    todo = [methods["__call__"]] if "__call__" in methods else []
    while todo:
        method = todo.pop()
        if method.node in found:
            continue
        found.add(method.node)
        todo += [methods[n.attr] for n in method.nodes if isinstance(n, ast.Attribute) and n.attr in methods]
        todo += [base for call, base in run.super_calls if call in method.nodes]
    return found


__all__ = [
    "asks_more",
    "caller",
    "in_method",
    "is_part",
    "is_read",
    "optional_asked",
    "why_not_by_default",
    "why_not_in_functions",
]
