"""Conditions that the migration settled: the body of `if not self.is_initializing():` stands alone.

    initializing = self.is_initializing()
    if not initializing:                     →      ra_mean[...] = mean
      ra_mean.value = mean

In NNX a module has its variables before it is called, so that what Linen asked while it initialized has one answer. Only
lines that the migration wrote are looked at, and every step is checked: the new text must be the tree without the condition.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from ...source import SourceFile, lines_of
from ...trees import parse_text, same_tree, subtree

_ROUNDS = 20
_SETTLED = re.compile(r"\s*(if .*\bnot False|\w+ = False\s*$)")


def simplified(source: SourceFile, text: str) -> str:
    """The new text of a file without conditions that always hold; as it is where it has none."""
    old = set(source.text.splitlines())
    if not any(_SETTLED.match(line) for line in text.splitlines() if line not in old):
        return text
    for _ in range(_ROUNDS):
        step = _step(text, old)
        if step is None:
            break
        text = step
    return text


def _step(text: str, old: set[str]) -> str | None:
    """The text with one condition less, or one name of an answer less."""
    tree = parse_text(text)
    lines = lines_of(text)
    for holder in subtree(tree):
        for field in ("body", "orelse", "finalbody"):
            block: Any = getattr(holder, field, None)
            for place, node in enumerate(block if isinstance(block, list) else ()):
                if not isinstance(node, ast.If | ast.Assign) or lines[node.lineno - 1].rstrip("\r\n") in old:
                    continue
                if isinstance(node, ast.Assign):
                    new = _without_name(holder, lines, node)
                elif isinstance(node.test, ast.BoolOp):
                    new = _shorter(lines, node.test)
                else:
                    new = _unwrapped(lines, node)
                if new is None:
                    continue
                _do(holder, block, place, node)
                return new if _is(new, tree) else None
    return None


def _do(holder: ast.AST, block: Any, place: int, node: ast.If | ast.Assign) -> None:
    """The step in the tree."""
    if isinstance(node, ast.Assign):
        del block[place]
        _Answered(node.targets[0].id).visit(holder)  # type: ignore[attr-defined]
    elif isinstance(node.test, ast.BoolOp):
        node.test.values.pop()
        if len(node.test.values) == 1:
            node.test = node.test.values[0]
    else:
        block[place : place + 1] = node.body


def _is(text: str, tree: ast.Module) -> bool:
    try:
        return same_tree(parse_text(text), tree)
    except SyntaxError:
        return False


class _Answered(ast.NodeTransformer):
    """False in the place of a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(False) if node.id == self.name else node


def _without_name(holder: ast.AST, lines: list[str], node: ast.Assign) -> str | None:
    """`initializing = False`, of a name that the function asks in `if not initializing:` alone: it asks for the answer."""
    target = node.targets[0]
    if not isinstance(holder, ast.FunctionDef) or len(node.targets) > 1 or not isinstance(target, ast.Name):
        return None
    if not isinstance(node.value, ast.Constant) or node.value.value is not False or len(holder.body) < 2:
        return None
    uses = [n for n in subtree(holder) if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    tests = [part for n in subtree(holder) if isinstance(n, ast.If) for part in _parts(n.test)]
    asked = [part.operand for part in tests if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not)]
    if node.lineno != node.end_lineno or any(use not in asked for use in uses):
        return None
    inner = (n for n in subtree(holder) if n is not holder)
    if any(isinstance(n, ast.Global | ast.Nonlocal | ast.FunctionDef | ast.Lambda | ast.ClassDef) for n in inner):
        return None
    changed = list(lines)
    for use in uses:
        line = changed[use.lineno - 1].encode()
        changed[use.lineno - 1] = (line[: use.col_offset] + b"False" + line[use.end_col_offset :]).decode()
    del changed[node.lineno - 1]
    return "".join(changed)


def _parts(test: ast.expr) -> list[ast.expr]:
    """The last of `a and b`, or the whole condition."""
    return [test.values[-1]] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _holds(test: ast.expr) -> bool:
    """Is it `not False`?"""
    negated = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    return isinstance(negated, ast.Constant) and negated.value is False


def _shorter(lines: list[str], test: ast.BoolOp) -> str | None:
    """`if self.axis_name is not None and not False:` without its last part."""
    before, last = test.values[-2], test.values[-1]
    if not isinstance(test.op, ast.And) or not _holds(last) or not before.end_lineno == last.lineno == last.end_lineno:
        return None
    line = lines[last.lineno - 1].encode()
    cut = line[: before.end_col_offset] + line[last.end_col_offset :]
    return "".join([*lines[: last.lineno - 1], cut.decode(), *lines[last.lineno :]])


def _unwrapped(lines: list[str], node: ast.If) -> str | None:
    """The text with the body of `if not False:` in the place of the statement, one step less deep."""
    header, first = lines[node.lineno - 1], node.body[0]
    if not _holds(node.test) or node.orelse or first.lineno == node.lineno or header.strip() != "if not False:":
        return None
    strings = [n for n in subtree(node) if isinstance(n, ast.Constant | ast.JoinedStr)]
    if any(n.lineno != n.end_lineno for n in strings):
        return None
    step = lines[first.lineno - 1][node.col_offset : first.col_offset]
    lead = header[: node.col_offset]
    end = node.end_lineno or node.lineno
    deep = lead + step
    body = [lead + line[len(deep) :] if line.startswith(deep) else line for line in lines[node.lineno : end]]
    return "".join([*lines[: node.lineno - 1], *body, *lines[end:]])


__all__ = ["simplified"]
