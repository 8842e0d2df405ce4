"""A syntax tree laid flat: its nodes, who is whose parent, and the nodes of each kind."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=ast.AST)


def parse_text(text: str) -> ast.Module:
    """`ast.parse` without the warnings that the user's own code may cause (invalid escapes and the like)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def check_program(text: str, original: str) -> None:
    """Raises SyntaxError where a changed text is no program, also where only compiling it tells (two arguments of one name),
    unless the original was none. Notebooks may `await` at their top.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<rewritten>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError:
            try:
                compile(original, "<original>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            except (SyntaxError, ValueError):
                return
            raise


# What the fields of a node hold that is no node, and contexts, of which all nodes share one.
_LEAVES = frozenset(
    {str, int, type(None), float, bytes, complex, bool, type(...), tuple, frozenset, dict, ast.Load, ast.Store, ast.Del}
)  # fmt: skip


def subtree(node: ast.AST) -> Sequence[ast.AST]:
    """A node and all below it in the order of `ast.walk`, some three times faster; no `Load`, `Store` or `Del`.

    Those of classes and functions, for which many ask and which nobody changes, are found once.
    """
    if not isinstance(node, ast.ClassDef | ast.FunctionDef):
        return _subtree(node)
    known: tuple[ast.AST, ...] | None = node.__dict__.get(_KNOWN)
    if known is None:
        known = node.__dict__[_KNOWN] = tuple(_subtree(node))  # a tuple, which is no field of a node: see `_LEAVES`
    return known


def of_kind(node: ast.ClassDef | ast.FunctionDef, kind: type[Kind]) -> Sequence[Kind]:
    """The nodes of one class among those of `subtree`, in that order; found once as they are."""
    table: dict[type[ast.AST], list[Any]] | None = node.__dict__.get(_BY_KIND)
    if table is None:
        table = node.__dict__[_BY_KIND] = {}  # as the tuple above, no field of a node
        for found in subtree(node):
            table.setdefault(found.__class__, []).append(found)
    return table.get(kind, ())


def forget(node: ast.AST) -> None:
    """Find anew what is below a class or function: nodes there have been put in the place of others."""
    node.__dict__.pop(_KNOWN, None)
    node.__dict__.pop(_BY_KIND, None)


_KNOWN = "nodes of the subtree"
_BY_KIND = "nodes of the subtree by their kind"


def _subtree(node: ast.AST) -> list[ast.AST]:
    nodes = [node]
    append = nodes.append
    for found in nodes:  # grows while it is walked
        for value in found.__dict__.values():
            kind = value.__class__
            if kind in _LEAVES:
                continue
            if kind is list:
                for item in value:
                    if item.__class__ not in _LEAVES:
                        append(item)
            else:
                append(value)
    return nodes


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, as `ast.iter_child_nodes` has them, without `Load`, `Store` and `Del`."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        kind = value.__class__
        if kind is list:
            found += [item for item in value if item.__class__ not in _LEAVES]
        elif kind not in _LEAVES:
            found.append(value)
    return found


def sides(node: ast.expr) -> Iterator[ast.expr]:
    """What a value may be: either side of `self.down if i > 0 else self.same`, any part of `given or made`."""
    if isinstance(node, ast.IfExp):
        yield from sides(node.body)
        yield from sides(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from sides(part)
    else:
        yield node


def same_tree(one: ast.AST, other: ast.AST) -> bool:
    """Are two trees the same program, wherever their nodes stand? What comparing `ast.dump` says, several times faster."""
    waiting: list[tuple[Any, Any]] = [(one, other)]
    for mine, its in waiting:  # grows while it is walked
        if mine.__class__ is not its.__class__:
            return False
        for name in mine._fields:
            a, b = getattr(mine, name, None), getattr(its, name, None)
            if a is b:  # contexts, names and what is not there are mostly one object
                continue
            if a.__class__ is not list:
                a, b = (a,), (b,)
            elif b.__class__ is not list or len(a) != len(b):
                return False
            for x, y in zip(a, b, strict=True):
                if isinstance(x, ast.AST):
                    waiting.append((x, y))
                elif x is not y and (x.__class__ is not y.__class__ or repr(x) != repr(y)):  # 0.0 and -0.0, 1 and True
                    return False
    return True


def said(node: ast.AST) -> str:
    """`ast.unparse`, quickly for what is mostly asked about: names, attributes, whole numbers and their like."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int | None):  # bool is an int
        return repr(node.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return f"{said(node.value)}.{node.attr}"
    return ast.unparse(node)


class FlatTree:
    """The nodes of a tree in the order of `ast.walk`, some three times faster; no `Load`, `Store` or `Del`."""

    def __init__(self, tree: ast.AST) -> None:
        self.nodes: list[ast.AST] = [tree]
        self.parents: dict[ast.AST, ast.AST] = {}
        append, parents = self.nodes.append, self.parents
        for node in self.nodes:  # grows while it is walked
            for value in node.__dict__.values():
                kind = value.__class__
                if kind in _LEAVES:
                    continue
                if kind is list:
                    for item in value:
                        if item.__class__ not in _LEAVES:
                            append(item)
                            parents[item] = node
                else:
                    append(value)
                    parents[value] = node

    @functools.cached_property
    def by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        """`nodes` by their class, each list in their order: most questions concern one kind only."""
        table: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.nodes:
            kind = node.__class__
            if kind in table:
                table[kind].append(node)
            else:
                table[kind] = [node]
        return table
