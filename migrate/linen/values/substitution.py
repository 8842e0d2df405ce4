"""Substitution: sizes of a called class in terms of its caller."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..modules import default_modules
from .bundles import Bundle, Changed, argument_of, with_parts
from .dims import Atom, Dim
from .kind_results import asked_inside
from .mapped_axes import drop_axis, part_of_argument
from .merging import Either, dependencies_of, members
from .other_files import all_named, marked
from .presence import GIVEN, Step, asked, substituted
from .sites import Abs, BoundArg, Module, Repeated, Site, Static, Table
from .values import Array, Const, Int, Lead, NeedsRank, Shape, Tup, Unknown, Value

_FIELD = re.compile(r"self\.([A-Za-z_]\w*)")
_NAME = re.compile(r"[^.\[]*")


def _part_of(value: Value | None, path: str) -> Value | None:
    """What tuples, dicts, records and whole arguments have at `['state'][0].keys`; None where there is no such part."""
    node: ast.expr = ast.parse(f"_{path}", mode="eval").body
    steps: list[ast.Attribute | ast.Subscript] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        steps.insert(0, node)
        node = node.value
    for number, step in enumerate(steps):
        if isinstance(value, Array):
            return part_of_argument(value, ast.unparse(steps[-1])[len(ast.unparse(steps[number].value)) :])
        value = _next_part(value, step)
    return value


def _next_part(value: Value | None, step: ast.Attribute | ast.Subscript) -> Value | None:
    if isinstance(step, ast.Attribute):
        if isinstance(value, Changed):
            return value.attribute(step.attr)
        return dict(value.names).get(step.attr) if isinstance(value, Bundle) else None
    key = step.slice.value if isinstance(step.slice, ast.Constant) else None
    if isinstance(value, Tup):
        return value.items[key] if isinstance(key, int) and key < len(value.items) else None
    return value.items.get(key) if isinstance(value, Table) and key not in value.maybe else None


class Substitution:
    """Sizes of a called class in terms of the caller: fields by the site's arguments, inputs by the call's."""

    def __init__(self, run: Any, site: Site, defaults: Mapping[str, Abs], inputs: Mapping[str, Value]) -> None:
        self.run = run
        self.site = site
        self.defaults = defaults
        self.inputs = inputs
        self._known: dict[tuple[Dim, tuple[Atom, ...]], Dim | None] = {}

    def __call__(self, dim: Dim) -> Dim | None:
        key = (dim, dim.order)  # equal sizes may be written in another order
        if key not in self._known:
            self._known[key] = self._substituted(dim)
        return self._known[key]

    def _substituted(self, dim: Dim) -> Dim | None:
        failed = False

        def change(atom: Atom) -> Dim | None:
            nonlocal failed
            replaced = self._atom(atom)
            if replaced is None:
                failed = True
                return Dim.of(0)
            return replaced

        found = (dim.substitute(self._taken) if dim.asks else dim).substitute(change)
        return None if failed else found

    def _taken(self, atom: Atom) -> Dim | None:
        """Of two sizes the one that the site decides for: what the other is does not matter, and may not be known."""
        certain = self._certain(str(atom.args[0])) if atom.kind == "cond" and asked(str(atom.args[0])) is None else None
        if certain is None:
            return None
        taken: Dim = atom.args[1] if certain else atom.args[2]
        return taken

    def lead(self, lead: Lead) -> Shape:
        if not lead.known:
            return Shape.unknown(*self._needed(lead.needs))
        value = self._input(lead.argument)
        if not isinstance(value, Array) or lead.head or lead.skipped:
            return Shape.unknown(*self._needed((lead.argument,)))
        shape = value.shape.expand(lead.dropped)
        if len(shape.dims) < lead.dropped:
            return Shape.unknown()
        return Shape(shape.dims[: len(shape.dims) - lead.dropped], shape.lead)

    def needing(self, value: NeedsRank) -> Unknown:
        """What is not known for want of the ranks of the class's arguments, for want of those of the caller's."""
        names = self._needed(value.arguments)
        return NeedsRank(value.why, names) if names else Unknown(value.why)

    def changed(self, record: Bundle) -> Value:
        """A changed argument of the class, of what the caller gives for it; the sizes in it are the caller's already."""
        assert isinstance(record, Changed)
        found = with_parts(self._input(record.argument), dict(record.names))
        return Bundle((), record.names) if found is None else found

    def _needed(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """The caller's arguments whose ranks would tell those of the class's arguments."""
        given = [self._input(argument) for argument in arguments]
        needed = [v.shape.needs() for v in given if isinstance(v, Array)]
        needed += [v.arguments for v in given if isinstance(v, NeedsRank)]
        return tuple(sorted({name for names in needed for name in names}))

    def _input(self, argument: str) -> Value:
        if argument in self.inputs:
            return self.inputs[argument]
        name = _NAME.match(argument)[0]  # type: ignore[index]
        value, rest = self.inputs.get(name), argument[len(name) :]
        root = argument_of(value) if rest and value is not None else ""
        if root and root.partition("[")[0].partition(".")[0] in self.run.changed_arguments:
            return Unknown(argument)
        part = _part_of(value, rest)
        if part is not None:
            return part
        if isinstance(value, Array) and rest[1:-1].isdigit():
            if len(value.shape.dims) > 1 or value.shape.lead is not None:
                return drop_axis(value, 0)  # a row of an array
        return Unknown(argument)

    def _field(self, name: str) -> Value | None:
        if name in self.site.bound:
            bound: BoundArg = self.site.bound[name]
            return bound.abs.value
        found = self.defaults[name].value if name in self.defaults else None
        if isinstance(found, Static) and not self._is_named(ast.parse(found.text, mode="eval").body):
            return None
        return found

    def _is_named(self, tree: ast.expr) -> bool:
        """Does every name of a file that the text says mean the same in this class's constructor?"""
        hidden = self.run.fields.keys() | self.run.model.bound_names
        return all_named(self.run.project, self.run.model.source, tree, hidden)

    def _argument_of(self, node: ast.Attribute) -> Value | None:
        """`self.embed.features`, `self.fns[0].fn.dim`: what the module that is passed there was constructed with."""
        passed = self._passed(node.value)
        if not isinstance(passed, Module | Either):
            return None
        found = {argument_value(self.run, m.site, node.attr) for m in members(passed)}
        return found.pop() if len(found) == 1 else Unknown("it differs between what is passed")

    def _passed(self, node: ast.expr) -> Value | None:
        """What is passed as a field, as an item of one, or to what is."""
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            return self._field(node.attr) if own else self._argument_of(node)
        place = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Subscript) and isinstance(place, ast.Constant) and isinstance(place.value, int):
            items = self._passed(node.value)
            return items.items[place.value] if isinstance(items, Tup) and place.value < len(items.items) else None
        return None

    def _atom(self, atom: Atom) -> Dim | None:
        if atom.kind == "field":
            value = self._field(atom.args[0])
            if isinstance(value, Int):
                return value.dim
            if isinstance(value, Static):
                found: Dim = self.run.dim_of(value)
                return found
            return None
        if atom.kind == "input":
            value = self._input(atom.args[0])
            return value.shape.dim(atom.args[1]) if isinstance(value, Array) else None
        if atom.kind == "rank":
            value = self._input(atom.args[0])
            return value.shape.ndim() if isinstance(value, Array) else None
        if atom.kind == "byrank":
            return _by_rank(self._input(atom.args[0]), *atom.args[1:])
        if atom.kind == "lead":
            value = self._input(atom.args[0])
            if not isinstance(value, Array):
                return None
            return _middle_size(value.shape, atom.args[1], atom.args[2] if len(atom.args) > 2 else 0)
        if atom.kind == "local":
            return None
        if atom.kind == "item":
            return self._of_item(*atom.args)
        if atom.kind in ("opaque", "cond"):
            return self._opaque(atom)
        return Dim((((atom,), 1),))

    def _of_item(self, field: str, index: int, name: str) -> Dim | None:
        """What one item of a list of modules that is passed as `field` was constructed with."""
        given = self._field(field)
        item = given.items[index] if isinstance(given, Tup) else given.element if isinstance(given, Repeated) else None
        if not isinstance(item, Module):
            return None
        found = argument_value(self.run, item.site, name)
        if isinstance(found, Static):
            dim: Dim = self.run.dim_of(found)
            return dim
        return found.dim if isinstance(found, Int) else None

    def _opaque(self, atom: Atom) -> Dim | None:
        question = asked(str(atom.args[0]))
        if question is not None:
            given = substituted(self._input(question[0]), frozenset(self.run.optional_arguments))
            if isinstance(given, str):
                return Dim.cond(given, atom.args[1], atom.args[2])
            if isinstance(given, Step):
                then, other = (1, 2) if given.holds else (2, 1)
                return Dim.cond(given.text, atom.args[then], atom.args[other], given.deps)
            return None if given is None else atom.args[1] if given else atom.args[2]
        if atom.deps:
            return None
        inner = asked_inside(self.site, self.defaults, str(atom.args[0])) if atom.kind == "opaque" else None
        if inner is not None:
            return inner
        if atom.kind == "opaque":
            read = ast.parse(str(atom.args[0]), mode="eval").body
            item = self._item_of_field(read)
            if item is not None:
                return item
            passed = self._argument_of(read) if isinstance(read, ast.Attribute) else None
            if isinstance(passed, Int):
                return passed.dim
            if isinstance(passed, Static):
                said_of: Dim = self.run.dim_of(passed)
                return said_of
            if passed is not None:
                return None
        if atom.kind == "cond":
            if atom.args[1] == atom.args[2]:  # here the same either way: `Encoder(embed=self.embed if shared else None)`
                same: Dim = atom.args[1]
                return same
        text = self.text(str(atom.args[0]))
        if text is None:
            return None
        said, deps = text
        if atom.kind == "cond" and said in ("True", "False"):
            taken: Dim = atom.args[1] if said == "True" else atom.args[2]
            return taken
        if atom.kind == "cond":
            return Dim.cond(said, atom.args[1], atom.args[2], deps)
        return _dim_from_text(said, deps)

    def _item_of_field(self, read: ast.expr) -> Dim | None:
        """`self.features[0]`, where the site writes the tuple out and its items are made of the call's sizes."""
        if not isinstance(read, ast.Subscript) or not isinstance(read.value, ast.Attribute):
            return None
        holder, place = read.value, ast.unparse(read.slice)
        if not (isinstance(holder.value, ast.Name) and holder.value.id == "self") or not place.lstrip("-").isdigit():
            return None
        given = self._field(holder.attr)
        if not isinstance(given, Tup) or not -len(given.items) <= int(place) < len(given.items) or not _made_of_call(given):
            return None
        found = given.items[int(place)]
        return found.dim if isinstance(found, Int) else None

    def _certain(self, text: str) -> bool | None:
        """`self.width is None`, `self.width`, `not self.width`, where it is known what the site gives."""
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._certain(ast.unparse(node.operand))
            return None if inner is None else not inner
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            held = self._field(node.attr)
            if isinstance(held, Const):
                return bool(held.value)
            return bool(held.dim.value) if isinstance(held, Int) and held.dim.value is not None else None
        if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot)):
            return None
        holder, none = node.left, node.comparators[0]
        if not (isinstance(none, ast.Constant) and none.value is None and isinstance(holder, ast.Attribute)):
            return None
        if not (isinstance(holder.value, ast.Name) and holder.value.id == "self"):
            return None
        value = self._field(holder.attr)
        if not isinstance(value, Const | Int):
            return None
        is_none = isinstance(value, Const) and value.value is None
        return is_none == isinstance(node.ops[0], ast.Is)

    def text(self, text: str) -> tuple[str, frozenset[str]] | None:
        """Source in terms of the class's fields → in terms of the caller."""
        outer = self
        deps: set[str] = set()
        failed = False

        class Fields(ast.NodeTransformer):
            def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
                nonlocal failed
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    value = outer._field(node.attr)
                    said = outer.run.text_of_value(value) if value is not None else None
                    if said is None or _made_of_call(value):
                        failed = True
                        return node
                    if isinstance(value, Static):
                        deps.update(value.deps)
                    elif isinstance(value, Int):
                        deps.update(value.dim.dependencies())
                    parsed: ast.AST = ast.parse(said, mode="eval").body
                    return parsed
                if isinstance(node.value, ast.Name) and node.value.id == GIVEN:
                    given = substituted(outer._input(node.attr), frozenset(outer.run.optional_arguments))
                    question = asked(given) if isinstance(given, str) else None
                    failed |= question is None and not isinstance(given, bool)
                    return ast.Attribute(node.value, question[0], node.ctx) if question else ast.Constant(given is True)
                kept = outer._argument_of(node)
                if kept is not None:
                    said = outer.run.text_of_value(kept)
                    if said is None or _made_of_call(kept):
                        failed = True
                        return node
                    deps.update(dependencies_of(kept))
                    read: ast.AST = ast.parse(said, mode="eval").body
                    return read
                self.generic_visit(node)
                return node

            def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
                self.generic_visit(node)
                if f"{GIVEN}." not in text:
                    return node
                decides = isinstance(node.op, ast.Or)  # what is known of one part may be the answer, or is left out
                said = [v.value if isinstance(v, ast.Constant) else None for v in node.values]
                node.values = [v for v, known in zip(node.values, said) if known is not (not decides)]
                if decides in said or not node.values:
                    return ast.Constant(decides in said if decides else not node.values)
                return node.values[0] if len(node.values) == 1 else node

            def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
                self.generic_visit(node)
                found = items_of_display(node.value, node.slice)
                return node if found is None else found

            def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
                self.generic_visit(node)
                inner = [e.value.elts if _is_starred_display(e) else [e] for e in node.elts]  # type: ignore[attr-defined]
                node.elts = [element for elements in inner for element in elements]
                return node

        tree = ast.parse(text, mode="eval").body
        called, own = self.run.analyser.classes.get(self.site.target), self.run.model
        if called is not None:
            if called.source is not own.source or called.is_nested:
                where, here = (called.source, called.node), (own.source, own.node)
                tree = marked(self.run.project, where, here, tree, lambda name: name == "self")
            if not self._is_named(tree):
                return None
        changed = Fields().visit(tree)
        return None if failed else (ast.unparse(changed), frozenset(deps))


def items_of_display(items: ast.expr, place: ast.expr) -> ast.expr | None:
    """`b` of `(a, b, c)[1]`, `(b, c)` of `(a, b, c)[1:]`; None where that is not known."""
    if not isinstance(items, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in items.elts):
        return None
    parts = [place.lower, place.upper, place.step] if isinstance(place, ast.Slice) else [place]
    try:
        numbers = [None if part is None else ast.literal_eval(part) for part in parts]
    except ValueError:
        return None
    if not all(number is None or type(number) is int for number in numbers) or numbers[2:] == [0]:
        return None
    if isinstance(place, ast.Slice):
        return ast.Tuple(items.elts[slice(*numbers)], ast.Load()) if isinstance(items, ast.Tuple) else None
    index = numbers[0]
    return items.elts[index] if index is not None and -len(items.elts) <= index < len(items.elts) else None


def _is_starred_display(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List)


def argument_value(run: Any, site: Site, name: str) -> Value:
    """A constructor argument of a module; the default where it was left out."""
    if name in site.bound:
        bound: BoundArg = site.bound[name]
        return bound.abs.value
    model = run.analyser.classes.get(site.target)
    field = next((f for f in model.fields() if f.name == name), None) if model is not None else None
    if field is not None and field.default is not None:
        return default_modules.value_of(run, field).value
    return Unknown(f"`{name}` of a module that is passed")


def _made_of_call(value: Value | None) -> bool:
    """Does a value hold sizes of the call's arguments?"""
    if isinstance(value, Tup):
        return any(_made_of_call(item) for item in value.items)
    return isinstance(value, Int) and _from_call(value.dim)


def _from_call(dim: Dim) -> bool:
    """Is the size made of the call's arguments, whose text means nothing elsewhere?"""
    return any(atom.kind in ("input", "rank", "byrank", "lead") for atom in dim.atoms())


def _by_rank(value: Value, rank: int, then: Dim, other: Dim) -> Dim | None:
    """Which of two sizes it is where an argument is given `value`, whose rank may be unknown, too."""
    if not isinstance(value, Array):
        return None
    found = value.shape.ndim()
    if found is None or found.value is not None:
        return None if found is None else then if found.value == rank else other
    lead = value.shape.lead
    assert lead is not None
    more = (found - Dim.atom("rank", lead.argument)).value
    return None if more is None else Dim.by_rank(lead.argument, rank - more, then, other)


def _middle_size(shape: Shape, dropped: int, skipped: int) -> Dim | None:
    """The product of all dimensions of a shape but the last `dropped` and the first `skipped`."""
    shape = shape.expand(dropped)
    if len(shape.dims) < dropped:
        return None
    dims, lead = shape.dims[: len(shape.dims) - dropped], shape.lead
    if lead is None or not skipped:
        return Shape(dims[skipped:], lead).size() if lead is not None or len(dims) >= skipped else None
    if not lead.known:
        return None
    head = lead.head[skipped:]
    further = max(0, skipped - len(lead.head))
    if further and dims:
        return None  # whether a dimension after the leading ones is among the first depends on the rank
    return Shape(dims, dataclasses.replace(lead, head=head, skipped=lead.skipped + further)).size()


def _dim_from_text(text: str, deps: frozenset[str]) -> Dim:
    field = _FIELD.fullmatch(text)
    if field is not None:
        return Dim.field(field[1])
    try:
        number = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return Dim.opaque(text, deps)
    return Dim.of(number) if isinstance(number, int) else Dim.opaque(text, deps)
