"""Lists of layers that one nn.Sequential takes, and one that is called where it is made, said in place.

    layers = [nn.Dense(8), nn.relu]
    net = nn.Sequential(layers)                return nn.Sequential([nn.Dense(8), nn.relu])(x)
    return net(x)

Only what stands one behind the other is joined, so that modules are made, and numbered, in the same order.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import beside, removals
from ..source import SourceFile
from ..trees import subtree

_SEQUENTIAL = "flax.linen.Sequential"
_LATER = ast.Lambda | ast.comprehension | ast.FunctionDef | ast.IfExp | ast.BoolOp | ast.For | ast.While


def with_sequentials_in_place(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such name of a class less; None where there is none."""
    for made, following in _pairs(model):
        read = _only_use(project, source, made, following)
        if read is None:
            continue
        edits = EditSet(source.text)
        edits.replace(source.span(read), source.text_of(made.value))
        for span in removals(source, [made]):
            edits.replace(span)
        return edits.render()
    return None


def _pairs(model: ast.ClassDef) -> Iterator[tuple[ast.Assign, ast.stmt]]:
    """An assignment and the statement behind it."""
    for node in subtree(model):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            for made, following in itertools.pairwise(block) if isinstance(block, list) else ():
                if isinstance(made, ast.Assign):
                    yield made, following


def _only_use(project: Project, source: SourceFile, made: ast.Assign, following: ast.stmt) -> ast.Name | None:
    """Where the next statement alone reads what is assigned: what an nn.Sequential takes, or one that is called."""
    target, function = made.targets[0], source.function_of(made)
    if not isinstance(target, ast.Name) or len(made.targets) > 1 or function is None or function.name == "setup":
        return None
    if len(beside(source, made)) > 1 or not isinstance(following, ast.Assign | ast.Return | ast.Expr):
        return None
    uses = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    read = uses[0] if len(uses) == 1 else None
    above = list(itertools.takewhile(lambda a: a is not following, source.ancestors(read))) if read is not None else []
    if read is None or following not in source.ancestors(read) or any(isinstance(a, _LATER) for a in above):
        return None
    call = source.parents.get(read)
    if not isinstance(call, ast.Call) or not isinstance(read.ctx, ast.Load):
        return None
    if isinstance(made.value, ast.List | ast.Tuple):
        taken = call.args == [read] and not call.keywords and project.qualname(source, call.func) == _SEQUENTIAL
        return read if taken else None
    of_linen = isinstance(made.value, ast.Call) and project.qualname(source, made.value.func) == _SEQUENTIAL
    return read if of_linen and call.func is read else None


__all__ = ["with_sequentials_in_place"]
