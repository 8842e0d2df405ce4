"""What `setup` computes from its parameters: a method of the native class computes it anew for every call, as Linen does.

    def setup(self):                                    def __init__(self, ..., *, rngs):
        self.rate = self.param("rate", ...)                 self.rate = nnx.Param(...)
        self.decay = jnp.exp(-self.rate)
                                                        def _computed(self):
    def __call__(self, x):                                  computed = types.SimpleNamespace()
        return self.decay * x                               computed.decay = jnp.exp(-self.rate[...])
                                                            return computed

                                                        def __call__(self, x):
                                                            computed = self._computed()
                                                            return computed.decay * x

Statements that read a parameter, and those that read what these assign, move there with the conditions around them; what
they need of the rest of `setup` is said in both places. A parameter made within an expression, or held by a local name
alone, becomes an attribute under its own name.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ... import shared_lines
from ...edits import Edit, Overlay, Part, Span
from ...linen.modules.self_calls import SetupParam
from ...linen.project.classes import ClassModel, Method
from ...linen.values.sites import Module, Site, Unmigratable, Variable
from ...names import is_attribute_name
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import with_comments
from . import inner_variables
from .inner_variables import STATIC
from .setup_params import read_elsewhere, said

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_CODE = "NNX180"
_PLAIN = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.FunctionDef


@dataclasses.dataclass(eq=False)
class Computed:
    """Which statements of a setup go to the method."""

    method: str  # its name
    attributes: set[str] = dataclasses.field(default_factory=set)  # what it computes
    names: set[str] = dataclasses.field(default_factory=set)  # local names of setup that follow the parameters
    moved: set[ast.stmt] = dataclasses.field(default_factory=set)
    both: dict[ast.stmt, list[Site]] = dataclasses.field(default_factory=dict)  # they make parameters and compute with them
    copied: set[ast.stmt] = dataclasses.field(default_factory=set)  # they stay, and the method needs them as well
    held: dict[int, str] = dataclasses.field(default_factory=dict)  # call that makes a parameter → attribute it gets

    def nodes(self) -> set[ast.AST]:
        """Everything that the method computes."""
        return {node for statement in (*self.moved, *self.both) for node in subtree(statement)}


def plan(run: Any, model: ClassModel, refusal: Unmigratable) -> Computed:
    """What the method of a class must compute. Raises `refusal`, or why it cannot be done."""
    setup = model.own_methods.get("setup")
    family = run.analyser.classes.derived(model)
    if setup is None or family or any(base.method("setup") is not None for base in model.bases):
        raise refusal
    found = _Reader(run, model, setup, refusal).read()
    if not found.moved and not found.both:
        raise refusal
    for attribute in found.attributes:
        if read_elsewhere(run, attribute):
            raise Unmigratable(_CODE, f"{refusal.reason}, and another class reads `.{attribute}`", refusal.node)
    for method in [m for owner in model.mro() for m in owner.own_methods.values()]:
        if method is setup:
            continue
        reads = [n for n in method.nodes if _is_self_attribute(n) and n.attr in found.attributes]  # type: ignore[attr-defined]
        if any(not isinstance(n.ctx, ast.Load) for n in reads) or (reads and (method.compact or method.owner is not model)):  # type: ignore[attr-defined]
            raise refusal
    return found


class _Reader:
    """Reads a setup: which statements follow parameters, until nothing more does."""

    def __init__(self, run: Any, model: ClassModel, setup: Method, refusal: Unmigratable) -> None:
        self.run, self.model, self.setup, self.refusal = run, model, setup, refusal
        self.made: dict[int, Site] = {
            id(s.node): s for s in run.sites if s.in_setup and s.kind in ("param", "variable", "layer", "class")
        }
        taken = {*run.fields, *model.methods(), *run.attributes}
        name = "_computed"
        while name in taken:
            name += "_"
        self.found = Computed(name)
        self.parents = {child: n for n in setup.nodes for child in ast.iter_child_nodes(n)}

    def read(self) -> Computed:
        found = self.found
        while True:
            before = len(found.names), len(found.attributes)
            found.moved.clear()
            found.both.clear()
            self._block(self.setup.node.body)
            if (len(found.names), len(found.attributes)) == before:
                break
        self._name_parameters()
        self._copy_needed()
        self._move_what_nothing_else_needs()
        self._check_methods()
        return found

    # which statements move -------------------------------------------------------------------------------------
    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        makes = [self.made[id(n)] for n in subtree(node) if id(n) in self.made]
        if isinstance(node, ast.If):
            if self._follows(node.test):
                raise self.refusal
            self._block(node.body)
            self._block(node.orelse)
            inner = (*node.body, *node.orelse)
            if not makes and inner and all(s in self.found.moved or isinstance(s, ast.Raise | ast.Pass) for s in inner):
                if any(s in self.found.moved for s in inner):
                    self.found.moved -= {*inner}
                    self.found.moved.add(node)
            return
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._assignment(node, makes)
            return
        follows = any(self._follows(e) for e in ast.iter_child_nodes(node) if not isinstance(e, ast.expr_context))
        if not follows:
            return
        if makes or not isinstance(node, ast.For | ast.FunctionDef):
            raise self.refusal
        self.found.moved.add(node)
        if isinstance(node, ast.FunctionDef):
            self.found.names.add(node.name)
        else:
            for target in subtree(node):
                if isinstance(target, ast.Name | ast.Attribute) and isinstance(target.ctx, ast.Store):
                    self._assigned(target)

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, makes: list[Site]) -> None:
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        params = [s for s in makes if s.kind == "param"]
        if params and (len(params) != len(makes) or any(self._follows(a) for s in makes for a in self._arguments(s))):
            raise self.refusal
        if params and self._is_held(node, targets):
            if any(self._is_assigned_again(t, node) for t in targets):
                raise self.refusal  # `self.w = self.w * 2`: one name for the parameter and for what follows it
            return
        if params:
            if any(s.loops or isinstance(p, ast.Lambda | ast.IfExp | ast.BoolOp | _COMPREHENSIONS)
                   for s in params for p in self._above(s.node, node)):  # fmt: skip
                raise self.refusal
            self.found.both[node] = params
        elif not self._follows(node.value) and not any(self._is_assigned(t) for t in targets):
            return
        elif node.value in self.run.setup_helpers:
            self.found.both[node] = []  # see `setup_helpers`
        elif not makes:
            self.found.moved.add(node)
        else:
            raise self.refusal
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                self._assigned(part)

    def _assigned(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.found.names.add(target.id)
        elif _is_self_attribute(target):
            self.found.attributes.add(target.attr)  # type: ignore[attr-defined]
        else:
            raise self.refusal

    def _is_assigned(self, target: ast.expr) -> bool:
        """Does the method compute, elsewhere, what is assigned here?"""
        for part in subtree(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in self.found.names:
                return True
            if _is_self_attribute(part) and part.attr in self.found.attributes:  # type: ignore[attr-defined]
                return True
        return False

    def _is_assigned_again(self, target: ast.expr, node: ast.stmt) -> bool:
        """Does a statement assign to an attribute what follows from what it holds?"""
        names = {part.attr for part in subtree(target) if isinstance(part, ast.Attribute) and _is_self_attribute(part)}
        for other in self.setup.nodes:
            if other is node or not isinstance(other, ast.Assign | ast.AnnAssign | ast.AugAssign) or other.value is None:
                continue
            to = [p for p in subtree(other) if isinstance(p, ast.Attribute) and isinstance(p.ctx, ast.Store)]
            again = names & {part.attr for part in to if _is_self_attribute(part)}
            makes = any(id(n) in self.made for n in subtree(other))
            if again and (isinstance(other, ast.AugAssign) or (not makes and self._follows(other.value))):
                return True
        return False

    def _is_held(self, node: ast.stmt, targets: list[ast.expr]) -> bool:
        """`self.w = self.param("w", ...)`, `self.a, self.b = ...`, `... if use else None`: an attribute holds it."""
        value = node.value  # type: ignore[attr-defined]
        pairs = [(targets[0], value)]
        if isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple) and len(targets[0].elts) == len(value.elts):
            pairs = list(zip(targets[0].elts, value.elts))
        for target, given in pairs:
            sides = [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]
            plain = all(id(s) in self.made or isinstance(s, ast.Constant) for s in sides)
            if not _is_self_attribute(target) or not plain or len(targets) > 1:
                return False
        return True

    def _arguments(self, site: Site) -> list[ast.expr]:
        return [*site.node.args, *[k.value for k in site.node.keywords]]

    def _above(self, node: ast.AST, top: ast.AST) -> Iterator[ast.AST]:
        while node is not top:
            yield node
            node = self.parents[node]

    def _follows(self, node: ast.AST) -> bool:
        """Does an expression or statement read a parameter, or what follows one?"""
        if isinstance(node, ast.Attribute) and node.attr in STATIC and self._is_parameter(node.value):
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.found.names:
            return True
        if isinstance(node, ast.Call):
            if node in self.run.setup_helpers:
                return True
            called = self.run.evaluated.get(node.func)
            is_call = (called is not None and isinstance(called.value, Module)) or inner_variables.called(self.run, node)
            if is_call and id(node) not in self.made:
                raise self.refusal  # a module would be called by the method
        if _is_self_attribute(node) and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            name = node.attr  # type: ignore[attr-defined]
            method = self.model.method(name)
            if name in self.found.attributes or (method is not None and self._reads(method)):
                return True
        if isinstance(node, ast.expr) and self._is_parameter(node):
            return True
        found = self.run.evaluated.get(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if found is not None and isinstance(found.value, Variable):
            parent = self.parents.get(node)
            if not (isinstance(parent, ast.Assign) and parent.value is node):
                raise self.refusal
        return any(self._follows(child) for child in ast.iter_child_nodes(node))

    def _is_parameter(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return False
        found = self.run.evaluated.get(node)
        return (found is not None and isinstance(found.value, SetupParam)) or bool(inner_variables.read(self.run, node))

    def _reads(self, method: Method) -> bool:
        """Does a method read parameters, or what follows them?"""
        return inner_variables.reads(self.run, method, set(), frozenset(self.found.attributes))

    # what that asks for ----------------------------------------------------------------------------------------
    def _name_parameters(self) -> None:
        """Parameters made within expressions become attributes of their own names."""
        found = self.found
        held = {n for n, v in self.run.attributes.items() if self._holds_own(n, v.value)}
        taken = {*self.run.fields, *self.model.methods(), *(set(self.run.attributes) - found.attributes - held)}
        for sites in found.both.values():
            for site in sites:
                key = site.name.constant if site.name is not None else None
                if key is None or not is_attribute_name(key) or key in taken:
                    raise self.refusal
                found.held[id(site.node)] = key
                site.container = key

    def _holds_own(self, attribute: str, value: object) -> bool:
        """Does an attribute hold a parameter of its own name? On another branch that is made here."""
        site = value.site if isinstance(value, SetupParam) else None
        return site is not None and site.name is not None and site.name.constant == attribute

    def _copy_needed(self) -> None:
        """The statements that stay and assign what those that move read."""
        found = self.found
        while True:
            wanted = {n for s in (*found.moved, *found.both, *found.copied) for n in self._names_read(s)}
            wanted |= {
                n.id
                for s in (*found.moved, *found.both, *found.copied)
                for p in self._above(s, self.setup.node)
                if isinstance(p, ast.If)
                for n in subtree(p.test)
                if isinstance(n, ast.Name)
            }
            before = len(found.copied)
            for node in self.setup.nodes:
                if not isinstance(node, ast.stmt) or node in found.moved or node in found.both or node is self.setup.node:
                    continue
                if any(p in found.moved for p in self._above(node, self.setup.node)):
                    continue
                stored = {n.id for n in subtree(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                if isinstance(node, ast.FunctionDef):
                    stored = {node.name}
                elif isinstance(node, ast.If):
                    continue
                if not stored & wanted:
                    continue
                if not isinstance(node, _PLAIN) or any(id(n) in self.made for n in subtree(node)):
                    raise self.refusal
                found.copied.add(node)
            if len(found.copied) == before:
                return

    def _move_what_nothing_else_needs(self) -> None:
        """Of the statements that the method needs as well, those that the rest of setup does not need."""
        found = self.found
        for statement in sorted(found.copied, key=lambda s: -s.lineno):
            block = self.parents[statement]
            if block is not self.setup.node or isinstance(statement, ast.AugAssign):
                continue  # under a condition it may be one of several
            bound = {n.id for n in subtree(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            bound |= {statement.name} if isinstance(statement, ast.FunctionDef) else set()
            only = all(isinstance(n, ast.Name) for n in self._targets(statement))
            if only and not self._needed_by_rest(bound, statement):
                found.copied.discard(statement)
                found.moved.add(statement)

    def _targets(self, statement: ast.stmt) -> list[ast.expr]:
        if isinstance(statement, ast.Assign):
            return [p for t in statement.targets for p in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
        return [statement.target] if isinstance(statement, ast.AnnAssign) else []

    def _needed_by_rest(self, bound: set[str], own: ast.stmt) -> bool:
        moved = {n for s in self.found.moved for n in subtree(s)} | set(subtree(own))
        for statement in self.found.both:  # of these only what makes the parameter stays
            if getattr(statement, "value", None) in self.run.setup_helpers:
                continue  # it may need all that the function is given
            made = {n for n in subtree(statement) if id(n) in self.found.held for n in subtree(n)}
            moved |= set(subtree(statement)) - made
        return any(isinstance(n, ast.Name) and n.id in bound and n not in moved for n in self.setup.nodes)

    def _names_read(self, node: ast.AST) -> Iterator[str]:
        """The names that code reads, what makes a parameter left out."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if id(node) not in self.found.held:
            for child in ast.iter_child_nodes(node):
                yield from self._names_read(child)

    def _check_methods(self) -> None:
        """What the method calls of the module may not ask for what the method computes."""
        for statement in (*self.found.moved, *self.found.both, *self.found.copied):
            for node in subtree(statement):
                method = self.model.method(node.attr) if _is_self_attribute(node) else None  # type: ignore[attr-defined]
                if method is not None and any(
                    _is_self_attribute(n) and n.attr in self.found.attributes  # type: ignore[attr-defined]
                    for n in method.nodes
                ):
                    raise self.refusal


_COMPREHENSIONS = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp


def _is_self_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


# writing ----------------------------------------------------------------------------------------------------------
def write(writer: ClassWriter, found: Computed) -> None:
    """The constructor without what moves, the method that computes it, and the reads of it."""
    setup = writer.model.own_methods["setup"]
    source = setup.source
    for statement, sites in found.both.items():
        if not sites:
            continue
        indent = source.newline + source.indent_of(statement)
        parts: list[Part] = []
        for site in sites:
            parts += [indent if parts else "", f"self.{found.held[id(site.node)]} = ", source.span(site.node)]
        writer.put(statement, *parts, source=source)
    _Text(writer, found, setup).write()
    if not found.attributes:
        return
    for method in writer.model.own_methods.values():
        if method is not setup:
            _reads(writer, found, method)


def _reads(writer: ClassWriter, found: Computed, method: Method) -> None:
    reads = [n for n in method.nodes if _is_self_attribute(n) and n.attr in found.attributes]  # type: ignore[attr-defined]
    if not reads:
        return
    source, body = method.source, method.node.body
    local = "computed"
    used = {n.id for n in method.nodes if isinstance(n, ast.Name)} | {a.arg for a in method.parameters}
    while local in used:
        local += "_"
    for node in reads:
        writer.put(node, f"{local}.{node.attr}", source=source)  # type: ignore[attr-defined]
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    writer.put_before(source, body[1 if documented else 0], [(f"{local} = self.{found.method}()",)])


class _Text:
    """The text of the method."""

    def __init__(self, writer: ClassWriter, found: Computed, setup: Method) -> None:
        self.writer, self.found, self.setup = writer, found, setup
        self.source: SourceFile = setup.source
        self.parts: list[Part] = []

    def write(self) -> None:
        writer, source, newline = self.writer, self.source, self.source.newline
        body = self.setup.node.body
        indent, inner = source.indent_of(self.setup.node), source.indent_of(body[-1])
        self._block(body)
        namespace = writer.namer.name("types.SimpleNamespace")
        head: list[Part] = [
            newline, f"{indent}def {self.found.method}(self):{newline}",
            f'{inner}"""What follows from the parameters, as they are now."""{newline}',
            f"{inner}computed = {namespace}(){newline}",
        ]  # fmt: skip
        if self.found.attributes:
            writer.insert(
                source.line_span(body[-1]).end,
                *head,
                *self.parts,
                f"{inner}return computed{newline}",
                source=source,
                order=9,
            )
        self._take_away(body[self._take_first_away(body) :])

    def _is_said(self, statement: ast.stmt) -> bool:
        found = self.found
        return any(s in found.moved or s in found.both or s in found.copied for s in subtree(statement))  # type: ignore[operator]

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self._is_said(statement):
                continue
            if isinstance(statement, ast.If) and statement not in self.found.moved:
                self._if(statement, "if")
                continue
            start = self._with_comments(statement) if statement in self.found.moved else self.source.span(statement).start
            end = self.source.line_span(statement).end
            if len(shared_lines.beside(self.source, statement)) > 1:
                start, end = self.source.span(statement).start, self.source.span(statement).end
            stop = end - len(self.source.newline) if self.source.text[:end].endswith(self.source.newline) else end
            lead = "" if start < self.source.span(statement).start else self.source.indent_of(statement)
            edits = tuple(self._edits(statement))
            pieces = [Span(start, stop)]
            if statement in self.found.both:  # as a whole it says something else in the constructor
                value = self.source.span(statement.value).start  # type: ignore[attr-defined]
                pieces = [Span(start, value), Span(value, stop)]
            self.parts += [lead, *[Overlay(p, tuple(e for e in edits if p.contains(e.span))) for p in pieces]]
            self.parts.append(self.source.newline)
            self.writer.asked |= {n.attr for n in subtree(statement) if isinstance(n, ast.Attribute)}

    def _if(self, node: ast.If, word: str) -> None:
        source, newline = self.source, self.source.newline
        indent = source.indent_of(node)
        self.writer.asked |= {n.attr for n in subtree(node.test) if isinstance(n, ast.Attribute)}
        self.parts += [f"{indent}{word} ", source.span(node.test), f":{newline}"]
        if any(self._is_said(s) for s in node.body):
            self._block(node.body)
        else:
            self.parts += [f"{source.indent_of(node.body[0])}pass{newline}"]
        if not any(self._is_said(s) for s in node.orelse):
            return
        first = node.orelse[0]
        if len(node.orelse) == 1 and isinstance(first, ast.If) and first not in self.found.moved:
            chained = source.text[source.span(first).start :].startswith("elif")
            if chained:
                self._if(first, "elif")
                return
        self.parts += [f"{indent}else:{newline}"]
        self._block(node.orelse)

    def _edits(self, statement: ast.stmt) -> Iterator[Edit]:
        """The statement as the method says it."""
        source = self.source
        for node in subtree(statement):
            key = self.found.held.get(id(node))
            inner = inner_variables.read(self.writer.run, node)
            if key is not None:
                yield Edit(source.span(node), (f"self.{key}[...]",))
            elif inner:
                assert isinstance(node, ast.Attribute)
                yield Edit(source.span(node), (source.span(node.value), f".{inner}"))
            elif _is_self_attribute(node):
                name = node.attr  # type: ignore[attr-defined]
                held = self.writer.run.evaluated.get(node)
                if name in self.found.attributes:
                    yield Edit(source.span(node), (f"computed.{name}",))
                elif held is not None and isinstance(held.value, SetupParam):
                    opened = held.value.site.opened if held.value.site is not None else "[...]"
                    yield Edit(source.span(node), (f"{said(self.writer.text.setup_params.get(name, name))}{opened}",))

    def _with_comments(self, statement: ast.stmt) -> int:
        """Where the comment lines right above a statement begin, or the statement."""
        first = with_comments(self.source, statement)
        return first if first < self.source.line_span(statement).start else self.source.span(statement).start

    def _take_away(self, statements: Sequence[ast.stmt]) -> None:
        """The lines that are gone from the constructor."""
        shared = [s for s in statements if s in self.found.moved and len(shared_lines.beside(self.source, s)) > 1]
        for span in shared_lines.removals(self.source, shared):
            self.writer.remove(self.source, span)
        for statement in statements:
            if statement in shared:
                continue
            if isinstance(statement, ast.If) and statement not in self.found.moved:
                for block in (statement.body, statement.orelse):
                    if block and all(s in self.found.moved for s in block):
                        self.writer.put(block[0], "pass", source=self.source, in_place=True)
                        self._take_away(block[1:])
                    else:
                        self._take_away(block)
            elif statement in self.found.moved:
                start = min(self._with_comments(statement), self.source.line_span(statement).start)
                while (above := self.source.text.rfind("\n", 0, start - 1) + 1) and not self.source.text[
                    above:start
                ].strip():
                    start = above
                self.writer.remove(self.source, Span(start, self.source.line_span(statement).end))

    def _take_first_away(self, body: Sequence[ast.stmt]) -> int:
        """The first statements, before which the constructor's head ends; how many of the body are done."""
        is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        first = last = 1 if is_text else 0
        while last < len(body) and body[last] in self.found.moved:
            last += 1
        if last == first:
            return 0
        start, end = self.source.span(body[first]).start, self.source.line_span(body[last - 1]).end
        if last < len(body) and body[last] in shared_lines.beside(self.source, body[last - 1]):
            end = self.source.full_span(body[last]).start
        if last == len(body):
            self.writer.put(Span(start, end), f"pass{self.source.newline}", source=self.source)
            return last
        rest = self.source.text[end:]
        self.writer.remove(self.source, Span(start, end + len(rest) - len(rest.lstrip())))
        return last


__all__ = ["Computed", "plan", "write"]
