"""What stands for a function's own names where its text stands in its caller's."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Collection

from ..edits import Edit, EditSet, Span
from ..source import SourceFile
from ..trees import subtree
from .callees import Callee, NotInlined


@dataclasses.dataclass(frozen=True)
class Given:
    """One parameter's argument: the expression, and the file that it stands in."""

    node: ast.expr
    source: SourceFile
    default: bool = False

    @property
    def text(self) -> str:
        return self.source.text_of(self.node)


@dataclasses.dataclass
class Bindings:
    """How the text of a function reads for one call."""

    function: Callee
    words: dict[str, str] = dataclasses.field(default_factory=dict)  # its own name → what is said instead
    constants: dict[str, ast.expr] = dataclasses.field(default_factory=dict)  # parameters that are given a constant
    assigned: list[tuple[str, Given]] = dataclasses.field(default_factory=list)  # names that are given a value first
    rest: dict[str, list[str]] = dataclasses.field(default_factory=dict)  # `args` and `kwargs` → what is in them

    def text(self, node: ast.AST) -> str:
        """The text of a part of the function as the caller says it."""
        source = self.function.source
        edits = EditSet(source.text)
        return edits.render(source.span(node), [e for e in self._edits() if source.span(node).contains(e.span)])

    def _edits(self) -> list[Edit]:
        source, found = self.function.source, []
        for node in self.function.nodes:
            if isinstance(node, ast.Name) and self.function.is_own(node) and node.id not in self.rest:
                said = self.words.get(node.id, node.id)
                if said != node.id:
                    if source.text_of(node) != node.id:
                        raise NotInlined("a name of its stands where it cannot be said anew")
                    parts = f"({said})" if _needs_brackets(said, source, node) else said
                    found.append(Edit(source.span(node), (parts,)))
            elif isinstance(node, ast.Call):
                found += self._handed_on(node)
        return found

    def _handed_on(self, call: ast.Call) -> list[Edit]:
        """`*args` and `**kwargs` of a call in its text."""
        source = self.function.source
        items: list[tuple[Span, str]] = []
        for item in [*call.args, *call.keywords]:
            value = item.value if isinstance(item, ast.Starred | ast.keyword) else None
            star = isinstance(item, ast.Starred) or (isinstance(item, ast.keyword) and item.arg is None)
            said = value.id if star and isinstance(value, ast.Name) and self.function.is_own(value) else ""
            items.append((source.span(item), said))
        items.sort()
        edits = []
        kept = [i for i, (_, said) in enumerate(items) if not said or self.rest.get(said)]
        for i, (span, said) in enumerate(items):
            if said not in self.rest:
                continue
            if self.rest[said]:
                edits.append(Edit(span, (", ".join(self.rest[said]),)))
            elif i and any(k < i for k in kept):
                edits.append(Edit(Span(items[i - 1][0].end, span.end), ()))
            else:
                edits.append(Edit(Span(span.start, items[i + 1][0].start if i + 1 < len(items) else span.end), ()))
        return edits


def _needs_brackets(said: str, source: SourceFile, name: ast.Name) -> bool:
    """Would an argument mean something else in place of the name?"""
    tree = ast.parse(said, mode="eval").body
    if isinstance(
        tree, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List | ast.Dict | ast.ListComp | ast.DictComp
    ):
        return False
    if isinstance(tree, ast.Tuple) and said.startswith("("):
        return False
    parent = source.parents[name]
    if isinstance(tree, ast.Constant) and not (isinstance(parent, ast.Attribute) and isinstance(tree.value, int | float)):
        return False
    return not isinstance(parent, ast.Assign | ast.Return | ast.keyword | ast.Call) or isinstance(tree, ast.Tuple)


def given_by(function: Callee, call: ast.Call, source: SourceFile) -> tuple[dict[str, Given], dict[str, list[ast.AST]]]:
    """Each parameter's argument in the order of evaluation, and what is left for `*args` and `**kwargs`."""
    spec = function.node.args
    positional = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    if function.kind == "method":
        positional = positional[1:]
    only = [a.arg for a in spec.kwonlyargs]
    named = {k.arg for k in call.keywords if k.arg is not None} | {*positional[: len(call.args)]}
    whole = spec.kwarg is not None and named >= {*positional, *only}  # a mapping holds nothing but what is handed on
    if any(isinstance(a, ast.Starred) for a in call.args) or (not whole and any(k.arg is None for k in call.keywords)):
        raise NotInlined("it is given *args or **kwargs")
    rest: dict[str, list[ast.AST]] = {a.arg: [] for a in (spec.vararg, spec.kwarg) if a is not None}
    found = {name: Given(node, source) for name, node in zip(positional, call.args)}
    more = call.args[len(positional) :]
    if more:
        if spec.vararg is None:
            raise NotInlined("it is given too many arguments")
        rest[spec.vararg.arg] += more
    for keyword in call.keywords:
        if keyword.arg is None:
            assert spec.kwarg is not None
            rest[spec.kwarg.arg].append(keyword)
            continue
        if keyword.arg in found:
            raise NotInlined("it is given an argument twice")
        if keyword.arg in (*positional, *only):
            found[keyword.arg] = Given(keyword.value, source)
        elif spec.kwarg is not None:
            rest[spec.kwarg.arg].append(keyword)
        else:
            raise NotInlined("it is given an unknown argument")
    defaults = dict(zip(positional[::-1], spec.defaults[::-1]))
    defaults |= {name: node for name, node in zip(only, spec.kw_defaults) if node is not None}
    for name in (*positional, *only):
        if name not in found:
            if name not in defaults:
                raise NotInlined("it is not given all arguments")
            found[name] = Given(defaults[name], function.source, default=True)
    return found, rest


def is_simple(node: ast.expr) -> bool:
    """May it be said in several places: a name, an attribute of one, a constant, a tuple of these?"""
    if isinstance(node, ast.Tuple):
        return all(is_simple(item) for item in node.elts)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


_PURE = (
    ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Tuple,
    ast.Subscript, ast.Slice, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop,
)  # fmt: skip


def is_pure(node: ast.expr) -> bool:
    """Does it give the same wherever in a statement it is evaluated, and do nothing else?"""
    return all(isinstance(n, _PURE) for n in subtree(node))


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or what is like it and nothing else's."""
    if name not in taken:
        return name
    return next(found for i in itertools.count(2) if (found := f"{name}_{i}") not in taken)


def names_in(method: ast.FunctionDef) -> set[str]:
    """Every name that a method says or binds."""
    nodes = list(subtree(method))
    found = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}
    return found | {n.name for n in nodes if isinstance(n, ast.FunctionDef)}


__all__ = ["Bindings", "Given", "free_name", "given_by", "is_pure", "is_simple", "names_in"]
