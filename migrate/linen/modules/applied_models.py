"""Methods that apply or initialize their own module, as code outside of modules does: `self.apply(params, x)`.

Such a method is called on a model that holds no variables: by the program, or by another such method. There the model
becomes a `linen_parity.Functional`, which has `init` and `apply`, and to which the methods of its class are bound; the
method keeps its text.
"""

from __future__ import annotations

import ast
from collections.abc import Set

from ...trees import of_kind
from ..project.classes import Classes, ClassModel, Method

# What a `Functional` does as a Linen module that holds no variables.
APPLIES = frozenset({"apply", "init", "lazy_init", "init_with_output", "tabulate"})


def methods(model: ClassModel) -> frozenset[str]:
    """The methods of a class, its bases' too, that apply it, by themselves or by others of them."""
    table, fields = model.methods(), {f.name for f in model.fields()}
    asked = {name: _asked(method) for name, method in table.items()}
    wanted = set(APPLIES - table.keys() - fields)
    found: set[str] = set()
    while more := {name for name, words in asked.items() if name not in found and not words.isdisjoint(wanted)}:
        found |= more
        wanted |= more
    return frozenset(found)


def use_within(classes: Classes, model: ClassModel, own: Set[str]) -> tuple[str, ast.AST] | None:
    """Where one of these methods is called, or may be, on a module that holds its variables: what is said, and the place."""
    for source in classes.project.files.values():
        if source.words.isdisjoint(own):
            continue
        for keyword in source.by_kind.get(ast.keyword, ()):
            if isinstance(keyword, ast.keyword) and keyword.arg == "method" and _name_of(keyword.value) in own:
                return f"`{ast.unparse(keyword)}` calls it on a module that has its variables", keyword.value
    for other in classes:
        if other.source.words.isdisjoint(own):
            continue
        for method in other.own_methods.values():
            for node in of_kind(method.node, ast.Attribute):
                if node.attr not in own or _of_other(model, other, node):
                    continue
                if not (_of_self(node) and method.name in methods(other)):
                    return f"`{ast.unparse(node)}` in {other.name} may call it on a module that has its variables", node
    return None


def _of_other(model: ClassModel, other: ClassModel, node: ast.Attribute) -> bool:
    """Is it an attribute of `self` of a class that has nothing to do with the one asked about?"""
    return _of_self(node) and model not in other.mro() and other not in model.mro()


def _asked(method: Method) -> frozenset[str]:
    return frozenset(node.attr for node in of_kind(method.node, ast.Attribute) if _of_self(node))


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else ""


__all__ = ["APPLIES", "methods", "use_within"]
