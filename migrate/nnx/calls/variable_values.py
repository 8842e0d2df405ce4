"""`state.value` of a Linen variable, read or assigned.

Linen puts what it is given in the place of what was there, whatever its shape and dtype. So does `set_value`; `v[...] = x`
casts and broadcasts `x` to what is there, and is written only where both are the same.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ... import shared_lines
from ...edits import Parts, Span
from ...linen.execution.operators import OPERATORS
from ...linen.values.sites import Site, Unmigratable
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

# Functions of jax.lax whose result is of the shape and dtype of their first argument.
_UPDATES = frozenset({"dynamic_update_slice", "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"})


def write(writer: ClassWriter, node: ast.Attribute, site: Site, source: SourceFile) -> None:
    """Write the edits for one `state.value`."""
    statement = source.parents.get(node)
    if isinstance(node.ctx, ast.Load):
        writer.put(node, source.span(node.value), site.opened, source=source)
    elif isinstance(statement, ast.AugAssign) and statement.target is node:
        _add(writer, node, statement, site, source)
    elif isinstance(statement, ast.Assign) and statement.targets == [node]:
        _assign(writer, node, statement, site, source)
    else:
        _among_others(writer, node, source)


def _add(writer: ClassWriter, node: ast.Attribute, statement: ast.AugAssign, site: Site, source: SourceFile) -> None:
    """`count.value += 1`"""
    if not site.several and _is_count(statement.value) and isinstance(statement.op, ast.Add | ast.Sub):
        writer.put(node, source.span(node.value), site.opened, source=source)
        return
    start, end = _said(source, node, statement)
    of, operator = source.span(node.value), OPERATORS[type(statement.op).__name__]
    bracketed = _is_bracketed(source.text[start:end])
    alone = bracketed or isinstance(statement.value, ast.Name | ast.Call | ast.Constant | ast.Attribute)
    opened: Parts = (of, ".set_value(", of, f"{site.opened} {operator} {'(' * (not alone)}")
    writer.put(Span(source.span(node).start, start), *opened, source=source)
    writer.insert(end, ")" * (2 - alone), source=source)


def _assign(writer: ClassWriter, node: ast.Attribute, statement: ast.Assign, site: Site, source: SourceFile) -> None:
    """`count.value = x`"""
    if not site.several and _is_alike(node, statement.value):
        writer.put(node, source.span(node.value), site.opened, source=source)
        return
    start, end = _said(source, node, statement)
    said = source.text[start:end]
    bracketed = _is_bracketed(said) and not isinstance(statement.value, ast.Tuple | ast.GeneratorExp)
    bare = isinstance(statement.value, ast.Tuple) and not _is_one_argument(said)
    brackets = 0 if bracketed else 1 + bare
    writer.put(Span(source.span(node).start, start), source.span(node.value), f".set_value{'(' * brackets}", source=source)
    writer.insert(end, ")" * brackets, source=source)


def _among_others(writer: ClassWriter, node: ast.Attribute, source: SourceFile) -> None:
    """`y, count.value = f(x)`: what it gets has a name first."""
    statement = source.statement_of(node)
    function = source.function_of(node)
    alone = not source.shares_line(statement) and shared_lines.beside(source, statement)[0] is statement
    if not isinstance(statement, ast.Assign) or not alone or function is None:
        reason = f"`{ast.unparse(node)}` is assigned among others, or changed in place"
        raise Unmigratable("NNX166", reason, node)
    taken = {n.id for n in subtree(function) if isinstance(n, ast.Name)} | {
        n.arg for n in subtree(function) if isinstance(n, ast.arg)
    }
    name = f"{_last(node.value)}_value"
    while name in taken:
        name += "_"
    writer.put(node, name, source=source)
    line = source.line_span(statement)
    newline = "" if source.text[: line.end].endswith("\n") else source.newline
    said: Parts = (newline, source.indent_of(statement), source.span(node.value), f".set_value({name})", source.newline)
    writer.insert(line.end, *said, source=source)


def _said(source: SourceFile, node: ast.Attribute, statement: ast.Assign | ast.AugAssign) -> tuple[int, int]:
    """Where the text of what is assigned begins and ends."""
    end = source.span(statement).end
    start = source.text.index("=", source.span(node).end) + 1
    return start + len(source.text[start:end]) - len(source.text[start:end].lstrip(" ")), end


def _is_count(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_alike(target: ast.Attribute, value: ast.expr) -> bool:
    """Is what is assigned of the shape and dtype of what the variable holds, whatever that is?"""
    own = ast.unparse(target)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub):
        pair = [value.left] if isinstance(value.op, ast.Sub) else [value.left, value.right]
        return any(ast.unparse(n) == own for n in pair) and (_is_count(value.left) or _is_count(value.right))
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    if value.func.attr in _UPDATES:
        return bool(value.args) and ast.unparse(value.args[0]) == own
    item = value.func.value  # `state.value.at[0].set(x)`
    at = item.value if isinstance(item, ast.Subscript) else None
    return isinstance(at, ast.Attribute) and at.attr == "at" and ast.unparse(at.value) == own


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else "new"


def _is_bracketed(text: str) -> bool:
    """Do brackets stand around all of an expression?"""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    try:
        whole, call = ast.parse(text, mode="eval").body, ast.parse(f"f({text[1:-1]}\n)", mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or len(call.args) != 1 or call.keywords:
        return False
    return ast.dump(call.args[0]) == ast.dump(whole)


def _is_one_argument(text: str) -> bool:
    """Is a tuple in parentheses of its own: `(h, c)`, and neither `h, c` nor `h,`?"""
    call = ast.parse(f"f({text}\n)", mode="eval").body
    return isinstance(call, ast.Call) and len(call.args) == 1 and isinstance(call.args[0], ast.Tuple)


__all__ = ["write"]
