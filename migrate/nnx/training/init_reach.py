"""Is `init` reached wherever the structure that it gives is used: `if params is None: params = model.init(key, x)`?

And is it called for what it gives? Linen's runs the whole call, whose errors a program may wait for.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...trees import subtree
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from ...source import SourceFile
    from .functional import _Functional

_RAISES = ("raises", "assertRaises")  # of pytest and unittest


def check_wanted(form: Rewrite, call: ast.Call) -> None:
    """Unsupported where a program calls init to see whether it raises: a constructor does not run the call."""
    why = for_errors(form.source(call), call)
    if why:
        raise Unsupported(call, why)


def for_errors(source: SourceFile, call: ast.Call) -> str:
    """How a program calls init to see whether it raises; "" where it wants the variables."""
    inner: ast.AST = call
    for outer in source.ancestors(call):
        if isinstance(outer, ast.Expr) and outer.value is call:
            return "init of which nothing is read"
        caught = isinstance(outer, ast.Try) and outer.handlers and inner in outer.body
        if caught or (isinstance(outer, ast.With) and any(_expects(item.context_expr) for item in outer.items)):
            return "init whose errors are waited for"
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return ""
        inner = outer
    return ""


def _expects(node: ast.expr) -> bool:
    """`pytest.raises(ValueError)`, `self.assertRaisesRegex(...)`"""
    name = node.func if isinstance(node, ast.Call) else node
    said = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
    return said.startswith(_RAISES)


def check(form: _Functional, home: ast.AST, node: ast.AST, scope: ast.AST | None) -> None:
    """Unsupported where init, and with it the structure's name, stands under a condition that a use does not."""
    source = form.source(home)
    around = set(source.ancestors(node))
    inner = home
    for outer in source.ancestors(home):
        if outer is scope:
            return
        if isinstance(outer, ast.If) and inner is not outer.test and "__name__" not in ast.dump(outer.test):
            here, other = (outer.body, outer.orelse) if inner in outer.body else (outer.orelse, outer.body)
            in_both = any(call in subtree(statement) for call in form.init_calls for statement in other)
            if not in_both and not around.intersection(here) and node not in here:
                raise Unsupported(node, "init under a condition")
        inner = outer


__all__ = ["check", "check_wanted", "for_errors"]
