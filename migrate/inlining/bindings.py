"""What stands for a function's own names where its text stands in its caller's."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Collection, Iterator

from ..edits import Edit, EditSet, Span
from ..source import SourceFile
from ..trees import subtree
from .callees import Callee, NotInlined
from .pure import is_pure
from .strings import has_long_string


@dataclasses.dataclass(frozen=True)
class Given:
    """One parameter's argument: the expression, and the file that it stands in."""

    node: ast.expr
    source: SourceFile
    default: bool = False
    said: str = ""  # where it is more than the expression: the tuple that begins with it

    @property
    def text(self) -> str:
        return self.said or self.source.text_of(self.node)


@dataclasses.dataclass
class Bindings:
    """How the text of a function reads for one call."""

    function: Callee
    words: dict[str, str] = dataclasses.field(default_factory=dict)  # its own name → what is said instead
    constants: dict[str, ast.expr] = dataclasses.field(default_factory=dict)  # parameters that are given a constant
    assigned: list[tuple[str, Given]] = dataclasses.field(default_factory=list)  # names that are given a value first
    rest: dict[str, list[str]] = dataclasses.field(default_factory=dict)  # `args` and `kwargs` → what is in them
    inner: dict[ast.FunctionDef, str] = dataclasses.field(default_factory=dict)  # its own functions → their names there

    def text(self, node: ast.AST) -> str:
        """The text of a part of the function as the caller says it."""
        return self._rendered(self.function.source.full_span(node))

    def settled(self, test: ast.expr) -> bool | None:
        """What a condition is by the arguments that are constants; None where it asks for more."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            side = self.settled(test.operand)
            return None if side is None else not side
        if isinstance(test, ast.BoolOp):
            sides = [self.settled(value) for value in test.values]
            decides = isinstance(test.op, ast.Or)
            if decides in sides and all(side is not None or is_pure(v) for v, side in zip(test.values, sides)):
                return decides
            return None if None in sides or decides in sides else not decides
        names = [n for n in subtree(test) if isinstance(n, ast.Name)]
        allowed = ast.Name | ast.Constant | ast.Compare | ast.cmpop
        if not names or not all(isinstance(n, allowed) for n in subtree(test)):
            return None
        if not all(n.id in self.constants and self.function.is_own(n) for n in names):
            return None
        values = {n.id: self.constants[n.id].value for n in names}  # type: ignore[attr-defined]
        try:
            return bool(eval(compile(ast.Expression(test), "condition", "eval"), {"__builtins__": {}}, values))
        except TypeError:
            return None

    def number(self, node: ast.expr) -> int | None:
        """A whole number that the arguments that are constants say: `blocks`, `depth - 1`."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            left, right = self.number(node.left), self.number(node.right)
            if left is None or right is None:
                return None
            return left + right if isinstance(node.op, ast.Add) else left - right
        if isinstance(node, ast.Name) and self.function.is_own(node):
            node = self.constants.get(node.id, node)
        return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None

    def _rendered(self, span: Span) -> str:
        return self._render(span, self._edits())

    def _render(self, span: Span, edits: list[Edit]) -> str:
        inside = [edit for edit in edits if span.contains(edit.span)]
        return EditSet(self.function.source.text).render(span, inside)

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
            elif isinstance(node, ast.FunctionDef) and node in self.inner:
                start = source.text.index(node.name, source.text.index("def", source.span(node).start) + len("def"))
                found.append(Edit(Span(start, start + len(node.name)), (self.inner[node],)))
        for node in reversed(self.function.nodes):  # what is inside comes first
            if isinstance(node, ast.If | ast.IfExp | ast.While):
                found += self._folded(node, found)
            elif isinstance(node, ast.Compare) and (side := self.settled(node)) is not None:
                found.append(Edit(source.span(node), (str(side),)))
        return found

    def _folded(self, node: ast.If | ast.IfExp | ast.While, inner: list[Edit]) -> Iterator[Edit]:
        """A condition without what the arguments settle, or the side that they choose."""
        source, side = self.function.source, self.settled(node.test)
        span = source.span(node)
        if side is None and isinstance(node.test, ast.BoolOp):
            kept = [value for value in node.test.values if self.settled(value) is None]
            # A value ahead of one that decides is evaluated for nothing, and may fail.
            if len(kept) < len(node.test.values) and not any(self._decides(node.test.op, v) for v in node.test.values):
                word = " or " if isinstance(node.test.op, ast.Or) else " and "
                parts = [part for value in kept for part in (word, source.span(value))][1:]
                yield Edit(source.span(node.test), tuple(parts))
        elif isinstance(node, ast.IfExp) and side is not None:
            chosen = source.span(node.body if side else node.orelse)
            brackets = _needs_brackets(source.text[chosen.start : chosen.end], source, node)
            yield Edit(span, ("(", chosen, ")") if brackets else (chosen,))
        elif isinstance(node, ast.If) and side is not None and source.text.startswith("if", span.start):
            block = node.body if side else node.orelse
            if not block:
                yield self._dropped(node)
            elif not source.text.startswith("elif", source.span(block[0]).start) and not self._is_fixed(block):
                whole = Span(source.span(block[0]).start, source.span(block[-1]).end)
                yield Edit(span, (moved(self._render(whole, inner), source.indent_of(block[0]), source.indent_of(node)),))

    def _dropped(self, statement: ast.If) -> Edit:
        """A statement that does nothing: no line, or `pass` where nothing else may stand in its block."""
        source, span = self.function.source, self.function.source.span(statement)
        parent = source.parents[statement]
        block = next(b for b in (getattr(parent, name, []) for name in ("body", "orelse", "finalbody")) if statement in b)
        alone = all(isinstance(other, ast.If) for other in block)
        if alone or source.text[span.end : source.line_end(span.end)].strip():
            return Edit(span, ("pass",))
        return Edit(Span(source.text.rindex("\n", 0, span.start), span.end), ())

    def _decides(self, op: ast.boolop, value: ast.expr) -> bool:
        return self.settled(value) is isinstance(op, ast.Or)

    def _is_fixed(self, block: list[ast.stmt]) -> bool:
        """Do the lines of a block mean something else, or lose a comment, where they move?"""
        source = self.function.source
        nodes = (n for s in block for n in subtree(s))
        above = source.lines[block[0].lineno - 2].strip() if block[0].lineno > 1 else ""
        return above.startswith("#") or any(has_long_string(source, n) for n in nodes)

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


def _needs_brackets(said: str, source: SourceFile, name: ast.expr) -> bool:
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
    given = [Given(a, source) for a in call.args]
    for bound in reversed(function.bound):
        given[:0] = [Given(a, bound.source, bound.of_file) for a in bound.call.args[1:]]
    if function.kind == "method":
        positional = positional[1:]
    elif function.kind in ("of an object", "class method") and isinstance(function.said, ast.Attribute):
        given.insert(0, Given(function.said.value, *_stands(function, source)))  # as its `self`, or its `cls`
    only = [a.arg for a in spec.kwonlyargs]
    keywords = [(k, Given(k.value, source)) for k in call.keywords]
    for bound in reversed(function.bound):
        later = {k.arg for k, _ in keywords}
        keywords[:0] = [(k, Given(k.value, bound.source, bound.of_file)) for k in bound.call.keywords if k.arg not in later]
    named = {k.arg for k, _ in keywords if k.arg is not None} | {*positional[: len(given)]}
    whole = spec.kwarg is not None and named >= {*positional, *only}  # a mapping holds nothing but what is handed on
    if any(isinstance(a, ast.Starred) for a in call.args) or (not whole and any(k.arg is None for k in call.keywords)):
        raise NotInlined("it is given *args or **kwargs")
    rest: dict[str, list[ast.AST]] = {a.arg: [] for a in (spec.vararg, spec.kwarg) if a is not None}
    found = dict(zip(positional, given))
    more = given[len(positional) :]
    if more:
        if spec.vararg is None:
            raise NotInlined("it is given too many arguments")
        rest[spec.vararg.arg] += [_handed_on(one, one.node, source) for one in more]
    for keyword, one in keywords:
        if keyword.arg is None:
            assert spec.kwarg is not None
            rest[spec.kwarg.arg].append(keyword)
            continue
        if keyword.arg in found:
            raise NotInlined("it is given an argument twice")
        if keyword.arg in (*positional, *only):
            found[keyword.arg] = one
        elif spec.kwarg is not None:
            rest[spec.kwarg.arg].append(_handed_on(one, keyword, source))
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


def _stands(function: Callee, source: SourceFile) -> tuple[SourceFile, bool]:
    """Where what names the function stands: in the caller's text, or in a partial at the top of a file."""
    bound = function.bound[0] if function.bound else None
    return (bound.source, bound.of_file) if bound is not None else (source, False)


def _handed_on(one: Given, node: ast.AST, source: SourceFile) -> ast.AST:
    """What is left for `*args` or `**kwargs`, as the caller's text has it."""
    if one.default or one.source is not source:
        raise NotInlined("a partial in a file gives it *args or **kwargs")
    return node


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or what is like it and nothing else's."""
    if name not in taken:
        return name
    return next(found for i in itertools.count(2) if (found := f"{name}_{i}") not in taken)


def moved(text: str, old: str, new: str) -> str:
    """The lines behind the first, indented anew."""
    first, *more = text.split("\n")
    return "\n".join([first, *[new + line.removeprefix(old) if line.strip() else line for line in more]])


def names_in(method: ast.FunctionDef) -> set[str]:
    """Every name that a method says or binds."""
    nodes = list(subtree(method))
    found = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}
    return found | {n.name for n in nodes if isinstance(n, ast.FunctionDef)}


__all__ = ["Bindings", "Given", "free_name", "given_by", "moved", "names_in"]
