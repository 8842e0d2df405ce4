"""Classes that go where their constructor may be called unseen: `MODELS = {"small": Small, "wide": lambda: Wide(64)}`.

Such code knows nothing of sizes and `rngs`. It is given a `linen_parity.FunctionalClass` in the place of the class, of
which a call makes a `Functional`; for everything else it is the class. Only `is` can tell the two apart: a class that a
program compares by it is left and marked.
"""

from __future__ import annotations

import ast

from ...context import FileContext
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import ClassValue
from ...plan import ClassPlan, call_names
from . import adapter
from .components import names_in


def write(context: FileContext, node: ast.expr, plan: ClassPlan, compared: frozenset[str]) -> bool:
    """Write a stand-in for the class; False where there is none. `compared`: see `by_identity`."""
    if plan.qualname in compared or not names_in(plan.added_arguments) <= call_names(plan):
        return False
    parents = context.source.parents
    if isinstance(parents[node], ast.Tuple) and isinstance(call := parents[parents[node]], ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "type":  # a base of `type("Own", (Base,), {})`
            return False
    said = adapter.options((plan,), context)
    itself = context.qualname(node) == plan.qualname  # another name may be that of a `functools.partial`
    maker = context.parity("FunctionalClass" if itself else "functional_class")
    context.insert(context.span(node).start, f"{maker}(", code="NNX603", order=-1)
    context.insert(context.span(node).end, f"{said and f', {said}'})", code="NNX603")
    name = plan.qualname.rpartition(".")[2]
    context.report(
        node,
        "NNX603",
        f"{name} goes where its constructor may be called unseen: what such a call makes is a `Functional`",
        help="A `FunctionalClass` stands for it there, which gives it its sizes. With `rngs` it makes the module itself.",
    )
    return True


def by_identity(flow: Flow) -> frozenset[str]:
    """The classes that something is compared with by `is`, in modules or outside of them."""
    found: set[str] = set()
    for source in flow.project.files.values():
        for node in source.by_kind.get(ast.Compare, ()):
            assert isinstance(node, ast.Compare)
            if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
                sides = [side for side in (node.left, *node.comparators) if isinstance(side, ast.Name | ast.Attribute)]
                for side in sides:
                    value = flow.value(side)
                    found |= value.qualnames if isinstance(value, ClassValue) else set()
                    found.add(flow.project.qualname(source, side) or "")
    return frozenset(found)


__all__ = ["by_identity", "write"]
