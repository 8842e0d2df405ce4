"""Classes that a function derives from the module class which it is given.

    def greedy(network):
        class Greedy(network):
            def act(self, obs):
                return self(obs).argmax(-1)

        return Greedy

Such a class is made as the one that it derives from is: with the same sizes, by the same constructor. It may add methods
that call others; what else a module has (fields, attributes, what `self` offers in Linen) could be another in NNX.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree
from .flow_values import ANY, ClassValue, Nothing, Value

if TYPE_CHECKING:
    from .flow import Flow

_OF_MODULES = {"setup", "nowrap", "apply", "init", "bind", "clone", "param", "variable", "make_rng", "sow", "perturb"}


def given_base(source: SourceFile, node: ast.AST) -> ast.Name | None:
    """The parameter of the function around a class that the class derives from, and from nothing else."""
    if not isinstance(node, ast.ClassDef) or len(node.bases) != 1 or node.keywords or node.decorator_list:
        return None
    base, function = node.bases[0], source.parents.get(node)
    if not isinstance(base, ast.Name) or not isinstance(function, ast.FunctionDef):
        return None
    arguments = function.args
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    bound = [n for n in source.nodes if isinstance(n, ast.Name) and n.id == base.id and not isinstance(n.ctx, ast.Load)]
    if base.id not in names or any(function in source.ancestors(store) for store in bound):
        return None
    return base


def bind(flow: Flow, source: SourceFile, node: ast.ClassDef) -> None:
    """A class that only adds methods to the module class which its function is given stands for that class itself, to
    which its sizes belong."""
    base = given_base(source, node)
    if base is None:
        return
    value: Value = flow.value(base)
    if not isinstance(value, ClassValue):
        value = value if isinstance(value, Nothing) else ANY
    elif not adds_methods_alone(flow, source, node, value):
        value = ANY
    flow.join((source.module, source.names.binding_scope(node.name, node), node.name), value)


def adds_methods_alone(flow: Flow, source: SourceFile, node: ast.ClassDef, value: ClassValue) -> bool:
    """Has a class only methods that call `self`, or a method of it or of its base, and that say nothing of Linen?"""
    bodies = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    added = {s.name for s in bodies if isinstance(s, ast.FunctionDef) and not s.decorator_list}
    of_base = [_methods(flow, qualname) for qualname in value.qualnames]
    known = added | set[str].intersection(*of_base)
    if len(added) != len(bodies) or any(added & methods or name.startswith("__") for methods in of_base for name in added):
        return False
    if added & _OF_MODULES:
        return False
    for method in bodies:
        assert isinstance(method, ast.FunctionDef)
        first = next((a.arg for a in [*method.args.posonlyargs, *method.args.args]), None)
        for inner in subtree(method):
            if isinstance(inner, ast.Name) and inner.id == first and not _is_called(source, inner, known):
                return False
            if (flow.project.qualname(source, inner) or "").startswith("flax."):
                return False
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super":
                return False
    return True


def _methods(flow: Flow, qualname: str) -> set[str]:
    """The methods of a module class, and of those that it derives from in the project."""
    node = flow.project.linen_classes[qualname].node
    classes = [node, *(base for _, base in flow.class_facts.lineage(node))]
    return {s.name for c in classes for s in c.body if isinstance(s, ast.FunctionDef) and not s.decorator_list}


def _is_called(source: SourceFile, name: ast.Name, methods: set[str]) -> bool:
    """`self(x)` and `self.encode(x)`, of a method."""
    parent = source.parents[name]
    if isinstance(parent, ast.Attribute) and parent.attr in methods:
        name, parent = parent, source.parents[parent]  # type: ignore[assignment]
    return isinstance(parent, ast.Call) and parent.func is name
