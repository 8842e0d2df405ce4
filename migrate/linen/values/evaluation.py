"""What every part of the evaluation of expressions shares: the dispatch, and how a value reads in a constructor."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..execution import asked_values
from ..lists.chains import Chain, Cycle
from ..lists.conditional_items import AllOf, Sometimes
from .closures import AskedDtype
from .dims import Dim
from .drawn_names import DrawnNames
from .environment import Env
from .merging import Either, OptionalModule, members, without
from .other_files import marked, of_functions_around
from .presence import Step
from .sites import (
    Abs,
    Block,
    Factory,
    For,
    Function,
    Localized,
    Module,
    ModuleField,
    NumberList,
    Repeated,
    SelfModule,
    Site,
    Static,
    Table,
    Variable,
)
from .values import Array, Const, Int, Led, Pieces, Shape, Star, Tup, Unknown, Value


class Evaluation:
    """The foundation of an `Execution`; see there for the attributes' meaning."""

    model: Any
    analyser: Any
    project: Any
    asked: dict[ast.expr, str]
    grown_from_one: set[str]
    columns: set[str]  # arguments of which `x[:, None]` meets something unknown, which no number of dimensions would tell
    one_or: dict[str, frozenset[Dim]]
    ranks: dict[str, int]
    fields: Mapping[str, Any]
    call_fields: frozenset[str]
    attributes: dict[str, Abs]
    sites: list[Site]
    block: Block
    mark: tuple[Block, int]
    loops: list[For]
    in_setup: bool
    evaluated: dict[ast.AST, Abs]
    first_draws: dict[ast.AST, str]
    drawn: DrawnNames
    item_names: set[str]
    starting: bool  # is what a variable starts from being said?
    asking: set[str] | None = None  # arrays of which the constructor may ask whether they are given
    asked_dtype: AskedDtype | None  # of the initializer that is being said
    apart: int  # how many functions are being followed none of whose code is in the constructor
    path: list[Step]  # the conditions under which the current statement is executed
    sized: list[tuple[Localized, bool]]  # and those on sizes and fields alone that are not among them, with the side
    facts: list[Step]
    open_conditions: int = 0  # how many around the current statement the constructor cannot answer as they stand

    # given by Execution and by the other parts
    def _snapshot(self) -> Any:
        raise NotImplementedError

    def _rollback(self, snapshot: Any) -> None:
        raise NotImplementedError

    def field_value(self, name: str) -> Abs:
        raise NotImplementedError

    def run_function(self, node: ast.FunctionDef | ast.Lambda, env: Any) -> Abs:
        raise NotImplementedError

    def localize(self, node: ast.expr, env: Any) -> Localized | None:
        raise NotImplementedError

    def loop(self, node: Any, target: ast.expr, iterator: ast.expr, env: Any, body: Any) -> Any:
        raise NotImplementedError

    def merge_values(self, values: list[Abs]) -> Abs:
        raise NotImplementedError

    def merge_tracked(self, a: Abs, b: Abs, then: Block, orelse: Block, sides: tuple[Step, Step] | None) -> Abs | None:
        raise NotImplementedError

    def condition(self, node: ast.expr, test: Abs, env: Any) -> tuple[Localized | None, str, None]:
        raise NotImplementedError

    @contextlib.contextmanager
    def under(self, sides: tuple[Step, Step] | None, holds: bool, sized: Localized | None = None) -> Iterator[None]:
        """What is executed inside stands on one side of a condition.

        `sized`: the condition as the constructor says it, which it can ask of sizes wherever it needs no name before it.
        """
        before = self.open_conditions
        self.open_conditions += sized is None
        try:
            if sides is not None:
                self.path.append(sides[0] if holds else sides[1])
                try:
                    yield
                finally:
                    self.path.pop()
            elif sized is not None and not (sized.needs or sized.flags):
                self.sized.append((sized, holds))
                try:
                    yield
                finally:
                    self.sized.pop()
            else:
                yield
        finally:
            self.open_conditions = before

    @contextlib.contextmanager
    def knowing(self, test: Value) -> Iterator[None]:
        """What is executed inside stands where a condition holds."""
        before = self.facts
        self.facts = [*before, *test.steps] if isinstance(test, AllOf) else before
        try:
            yield
        finally:
            self.facts = before

    # evaluation ------------------------------------------------------------------------------------------------
    def constant(self, node: ast.expr, source: SourceFile) -> Abs:
        """An expression at module level: defaults, class attributes, global constants."""
        return self.evaluate(node, Env({}, source))

    def evaluate(self, node: ast.expr, env: Any) -> Abs:
        """The abstract value of an expression; what is made on the way is recorded."""
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        found: Abs = handler(node, env) if handler is not None else self._eval_other(node, env)
        if node in self.asked:
            found = asked_values.asked(self, node, found)
        self.evaluated[node] = found
        return found

    def _eval_other(self, node: ast.expr, env: Any) -> Abs:
        static, flags = True, frozenset[str]()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                value = self.evaluate(child, env)
                static, flags = static and value.static, flags | value.flags
        return self._static_text(node, static, flags, env)

    def _static_text(self, node: ast.expr, static: bool, flags: frozenset[str], env: Any) -> Abs:
        if not static:
            return Abs(Unknown(self.project.said(node)), False, flags)
        text, deps = self.self_text(node, env)
        return Abs(Static(text, deps), True, flags)

    def self_text(self, node: ast.expr, env: Any, in_fields: bool = False) -> tuple[str, frozenset[str]]:
        """Source with fields as `self.f` and other local names replaced by what they are.

        `in_fields`: so are names that the constructor has too, for what fields hold: `config = self.config`.
        """
        if not any(isinstance(n, ast.Name) and n.id != "self" and env.get(n.id) is not None for n in subtree(node)):
            return self.said_globals(node, env), frozenset()
        names = _LocalNames(self, env, in_fields)
        copied = ast.parse(self.said_globals(node, env), mode="eval").body
        return ast.unparse(names.visit(copied)), frozenset(names.deps)

    def said_globals(self, node: ast.expr, env: Any) -> str:
        """As it stands, but for names of a file other than the class's own, which say where they are defined."""
        text: str = self.project.said(node)
        own: SourceFile = self.model.source
        if env.source is own and not of_functions_around(env.source, node, self.model.node):
            return text
        tree = ast.parse(text, mode="eval").body
        known = env.get
        where, here = (env.source, node), (own, self.model.node)
        return ast.unparse(marked(self.project, where, here, tree, lambda n: n == "self" or known(n) is not None))

    def text_of_value(self, value: Value) -> str | None:
        """Text in terms of fields, for values that have one."""
        if isinstance(value, Static):
            return value.text
        if isinstance(value, Int):
            text = value.dim.text()
            return None if "\0" in text else text  # what depends on whether an argument is given has no text
        if isinstance(value, Const):
            return repr(value.value) if value.value is not Ellipsis else "..."
        if isinstance(value, Tup):
            items = [self.text_of_value(i) for i in value.items]
            if any(i is None for i in items):
                return None
            field = (items[0] or "").removesuffix("[0]") if items else ""
            if re.fullmatch(r"self\.\w+", field) and items == [f"{field}[{n}]" for n in range(len(items))]:
                return field  # the whole of it, also where it is given longer than its default
            inner = ", ".join(i for i in items if i is not None)
            return f"[{inner}]" if value.kind == "list" else f"({inner},)" if len(items) == 1 else f"({inner})"
        if isinstance(value, Factory) and value.field:
            return f"self.{value.field}"
        if isinstance(value, Module) and value.site.held and not value.element:
            return f"self.{value.site.held}"
        return None

    def plain(self, value: Value) -> Value:
        """As the shape functions take it: static integers of unknown value become symbolic sizes."""
        if isinstance(value, NumberList):
            return Array(Shape((value.count,)))
        if isinstance(value, Static):
            return Unknown(f"the items of `{value.text}`") if value.sequence else Int(self.dim_of(value))
        if isinstance(value, Led):
            return value.array
        if isinstance(value, Tup):
            return Tup(tuple(self.plain(i) for i in value.items), value.kind)
        if isinstance(value, Repeated) and isinstance(value.element, Array):
            return _pieces(value, value.element)
        if isinstance(value, Star):
            return Star(self.plain(value.value))
        if isinstance(value, Variable):
            return value.site.shape or Unknown("variable")
        return value

    @staticmethod
    def dim_of(value: Static) -> Dim:
        head, _, name = value.text.partition("self.")
        if not head and name.isidentifier():
            return Dim.field(name)
        return Dim.opaque(value.text, value.deps)

    @staticmethod
    def truth(value: Value) -> bool | None:
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, Int) and value.dim.value is not None:
            return bool(value.dim.value)
        if isinstance(value, Tup):
            return bool(value.items)
        if isinstance(value, Module | Function):
            return None if isinstance(value, OptionalModule) or (isinstance(value, Module) and value.site.held) else True
        return None

    def holds_module(self, value: Value) -> bool:
        return next(self.modules_in(value), None) is not None or (
            isinstance(value, Tup) and any(isinstance(i, ModuleField) for i in value.items)
        )

    def modules_in(self, value: Value) -> Iterator[Site]:
        if isinstance(value, Module | Either):
            yield from (m.site for m in members(value))
        elif isinstance(value, Sometimes):
            yield from self.modules_in(value.item)
        elif isinstance(value, Tup):
            for item in value.items:
                yield from self.modules_in(item)
        elif isinstance(value, Repeated):
            yield from self.modules_in(value.element)
        elif isinstance(value, Chain | Cycle):
            for item in value.parts if isinstance(value, Chain) else value.items:
                yield from self.modules_in(item)
        elif isinstance(value, Table):
            for item in value.items.values():
                yield from self.modules_in(item)


def _pieces(value: Repeated, element: Array) -> Pieces:
    """A list of arrays as the shape functions take it: what differs from one to the next is not known of all."""
    target = value.loop.node.target if value.loop is not None else None
    names = {n.id for n in subtree(target) if isinstance(n, ast.Name)} if target is not None else set()
    whole = not value.part
    return Pieces(without(element, names), value.count if whole else None, value.widths if whole else None)


class _LocalNames(ast.NodeTransformer):
    """Puts what local names hold in their place; `deps`: those that stay, and what the values depend on."""

    def __init__(self, run: Evaluation, env: Any, in_fields: bool = False) -> None:
        self.run = run
        self.env = env
        self.in_fields = in_fields
        self.deps: set[str] = set()

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        value: ast.AST = self.visit(node.value)
        return value  # what the name holds stands wherever the name is read

    def visit_Name(self, name: ast.Name) -> ast.AST:
        bound = self.env.get(name.id)
        if bound is None or name.id == "self":
            return name
        if isinstance(bound.value, SelfModule):
            return ast.copy_location(ast.Name("self", name.ctx), name)
        if self.env.is_local(name.id) and not (self.in_fields and self._is_of_field(bound.value)):
            self.deps.add(name.id)
            return name
        text = self.run.text_of_value(bound.value)
        if text is None:
            self.deps.add(name.id)
            return name
        if isinstance(bound.value, Static | Int):
            value = bound.value
            self.deps |= value.deps if isinstance(value, Static) else value.dim.dependencies()
        return ast.parse(text, mode="eval").body

    def _is_of_field(self, value: Value) -> bool:
        """Is it what a field holds, or an attribute of that: `self.config.model`?"""
        text = value.text if isinstance(value, Static) and not value.deps else ""
        return re.fullmatch(r"self(\.\w+)+", text) is not None and text.split(".")[1] in self.run.fields
