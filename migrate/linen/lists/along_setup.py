"""Loops of a compact method over a list that `setup` made, which make more modules in every pass.

    def setup(self):
      self.stacks = [Stack(width * self.factor) for width in self.widths]
    ...
    for i in range(len(self.stacks)):
      x = self.stacks[i](x)
      x = nn.LayerNorm()(x)

The constructor has no such loop: it says the one that made the list again, `for width in self.widths`, so that sizes which
follow from an item mean the same. Where the call counts the passes, so does the constructor.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...trees import subtree
from ..values.arguments import stored_names
from ..values.sites import For, Localized, Module, Repeated
from .loop_names import changes_in, free_reads


@dataclasses.dataclass(frozen=True)
class Again:
    """The loop of setup that is said again: its target, what it runs over, and the call's counter if it is read."""

    made: For
    target: str
    iterator: Localized
    counter: str


def loop_of(run: Any, node: ast.AST, iterator: ast.expr, counter: str, env: Any) -> Again | None:
    """The loop that made the list which a loop of the call goes through; None where that cannot be said again."""
    setup = run.model.method("setup")
    listed = _listed(run, iterator)
    made = listed.loop if listed is not None else None
    if setup is None or not isinstance(node, ast.For) or not isinstance(made, For) or made.source is not setup.source:
        return None
    if any(isinstance(n, ast.Break | ast.Continue | ast.Return) for part in node.body for n in subtree(part)):
        return None
    generator = made.node
    if generator not in setup.nodes or made.conditions or (isinstance(generator, ast.comprehension) and generator.ifs):
        return None
    names = stored_names(generator.target)
    if isinstance(generator, ast.For):
        changed = frozenset().union(*(stored_names(part) for part in generator.body))
        if changed or any(isinstance(n, ast.Break | ast.Continue) for part in generator.body for n in subtree(part)):
            return None
    around = env.source.function_of(node)
    if around is None or names & (free_reads(around, node) | frozenset().union(*(stored_names(p) for p in node.body))):
        return None
    reads = {n.id for n in subtree(generator.iter) if isinstance(n, ast.Name)} - {"self"}
    if any(changes_in(setup.source, name, generator.iter) for name in reads):
        return None
    target = ast.unparse(generator.target)
    span = setup.source.span(generator.iter)
    if names & reads:
        return None
    own = Localized(span, setup.source, (), frozenset())
    if not counter or not _is_read(node, counter, iterator):
        return Again(made, target, own, counter if counter in names else "")
    if names == {counter} and isinstance(generator.target, ast.Name) and _counts(generator.iter):
        return Again(made, target, own, counter)
    if counter in names:
        return None
    bracketed = f"({target})" if isinstance(generator.target, ast.Tuple) else target
    counting = ("enumerate(", *setup.source.enclosed(generator.iter), ")")
    counted = Localized(span, setup.source, ((span, counting),), frozenset())
    return Again(made, f"{counter}, {bracketed}", counted, counter)


def _listed(run: Any, iterator: ast.expr) -> Repeated | None:
    """The list of setup that a loop goes through from its first item to its last: `self.stacks`, counted or by number."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and len(iterator.args) == 1:
        inner = iterator.args[0]
        if iterator.keywords or iterator.func.id not in ("range", "enumerate"):
            return None
        if iterator.func.id == "enumerate":
            return _listed(run, inner)
        length = isinstance(inner, ast.Call) and ast.unparse(inner.func) == "len" and len(inner.args) == 1
        return _listed(run, inner.args[0]) if length and isinstance(inner, ast.Call) else None
    value = run.evaluated[iterator].value if iterator in run.evaluated else None
    if not isinstance(value, Repeated) or not value.in_order or value.part or value.under:
        return None
    sites = list(run.modules_in(value))
    always = value.grown is None or not value.grown[1]
    single = always and isinstance(value.element, Module) and all(s.in_setup and len(s.loops) == 1 for s in sites)
    return value if single and sites else None


def _counts(iterator: ast.expr) -> bool:
    """Does a loop count from zero, one by one?"""
    return isinstance(iterator, ast.Call) and ast.unparse(iterator.func) == "range" and len(iterator.args) == 1


def _is_read(node: ast.For, counter: str, iterator: ast.expr) -> bool:
    """Is a counter read for more than to pick the item of the list?"""
    held = ast.unparse(iterator.args[0]) if isinstance(iterator, ast.Call) else ""
    held = held.removeprefix("len(").removesuffix(")")
    for part in node.body:
        picked = {n.slice for n in subtree(part) if isinstance(n, ast.Subscript) and ast.unparse(n.value) == held}
        for name in subtree(part):
            if isinstance(name, ast.Name) and name.id == counter and name not in picked:
                return True
    return False


__all__ = ["Again", "loop_of"]
