"""`self.layers: list = [...]` in a `setup`, as the assignment that it is.

Python evaluates no annotation of an attribute in a function: the statement is `self.layers = [...]`. It is known as that
everywhere, with the annotation as one more node below it, so that names in it are still found. The text stays what it is.
"""

from __future__ import annotations

import ast
import re

_ANNOTATED = re.compile(r"^[ \t]+self\.\w+[ \t]*:[^=]", re.MULTILINE)


def as_assignments(tree: ast.Module, text: str) -> ast.Module:
    """The tree of a file, changed in place where it says such a thing."""
    if "def setup(" not in text or _ANNOTATED.search(text) is None:
        return tree
    for found in ast.walk(tree):
        for method in found.body if isinstance(found, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "setup":
                for node in ast.walk(method):
                    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute) and node.value is not None:
                        _change(node)
    return tree


def _change(node: ast.AST) -> None:
    """The same node, in its place, of another class: what holds it need not be asked."""
    target = node.__dict__.pop("target")
    del node.__dict__["simple"]
    node.__class__ = ast.Assign
    node.__dict__.update(targets=[target], type_comment=None)


__all__ = ["as_assignments"]
