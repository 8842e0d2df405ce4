"""Strings that go on in further lines, whose text would change with the indentation of these."""

from __future__ import annotations

import ast
import io
import tokenize

from ..source import SourceFile

_STARTS = tuple(getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name))


def has_long_string(source: SourceFile, node: ast.AST) -> bool:
    """Is it a string with such a line? One that is put together of several, a line each, has none."""
    if not isinstance(node, ast.Constant | ast.JoinedStr) or node.lineno == node.end_lineno:
        return False
    if isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes):
        return False
    tokens = tokenize.generate_tokens(io.StringIO(f"({source.text_of(node)})").readline)
    try:
        return any(t.type in _STARTS or (t.type == tokenize.STRING and t.start[0] != t.end[0]) for t in tokens)
    except (tokenize.TokenError, SyntaxError):  # a part of one
        return True


def is_documentation(source: SourceFile, node: ast.AST) -> bool:
    """Is it the text that a function begins with, which says the same at any indentation?"""
    statement = source.parents.get(node)
    function = source.parents.get(statement) if isinstance(statement, ast.Expr) else None
    return isinstance(function, ast.FunctionDef) and function.body[0] is statement


__all__ = ["has_long_string", "is_documentation"]
