"""Substitution: sizes of a called class in terms of its caller."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from .dims import Atom, Dim
from .sites import Abs, BoundArg, Site, Static
from .values import Array, Int, Lead, NeedsRank, Shape, Tup, Unknown, Value


class Substitution:
    """Sizes of a called class in terms of the caller: fields by the site's arguments, inputs by the call's."""

    def __init__(self, run: Any, site: Site, defaults: Mapping[str, Abs], inputs: Mapping[str, Value]) -> None:
        self.run = run
        self.site = site
        self.defaults = defaults
        self.inputs = inputs

    def __call__(self, dim: Dim) -> Dim | None:
        failed = False

        def change(atom: Atom) -> Dim | None:
            nonlocal failed
            replaced = self._atom(atom)
            if replaced is None:
                failed = True
                return Dim.of(0)
            return replaced

        found = dim.substitute(change)
        return None if failed else found

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

    def _needed(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """The caller's arguments whose ranks would tell those of the class's arguments."""
        given = [self._input(argument) for argument in arguments]
        needed = [v.shape.needs() for v in given if isinstance(v, Array)]
        needed += [v.arguments for v in given if isinstance(v, NeedsRank)]
        return tuple(sorted({name for names in needed for name in names}))

    def _input(self, argument: str) -> Value:
        if argument in self.inputs:
            return self.inputs[argument]
        name, _, rest = argument.partition("[")
        value = self.inputs.get(name)
        if value is not None and rest.rstrip("]").isdigit() and isinstance(value, Tup):
            position = int(rest.rstrip("]"))
            if position < len(value.items):
                return value.items[position]
        if isinstance(value, Array) and value.shape.lead is not None and not value.shape.dims:
            return Array(Shape.argument(f"{value.shape.lead.argument}{argument[len(name) :]}"))
        return Unknown(argument)

    def _field(self, name: str) -> Value | None:
        if name in self.site.bound:
            bound: BoundArg = self.site.bound[name]
            return bound.abs.value
        found = self.defaults.get(name)
        return found.value if found is not None else None

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
        if atom.kind == "lead":
            value = self._input(atom.args[0])
            if not isinstance(value, Array):
                return None
            shape = value.shape.expand(atom.args[1])
            return Shape(shape.dims[: len(shape.dims) - atom.args[1]], shape.lead).size()
        if atom.kind == "local":
            return None
        if atom.kind in ("opaque", "cond"):
            return self._opaque(atom)
        return Dim((((atom,), 1),))

    def _opaque(self, atom: Atom) -> Dim | None:
        if atom.deps:
            return None
        text = self.text(str(atom.args[0]))
        if text is None:
            return None
        said, deps = text
        if atom.kind == "cond":
            return Dim.cond(said, atom.args[1], atom.args[2], deps)
        return _dim_from_text(said, deps)

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
                    if said is None:
                        failed = True
                        return node
                    if isinstance(value, Static):
                        deps.update(value.deps)
                    elif isinstance(value, Int):
                        deps.update(value.dim.dependencies())
                    parsed: ast.AST = ast.parse(said, mode="eval").body
                    return parsed
                self.generic_visit(node)
                return node

        tree = ast.parse(text, mode="eval").body
        changed = Fields().visit(tree)
        return None if failed else (ast.unparse(changed), frozenset(deps))


def _dim_from_text(text: str, deps: frozenset[str]) -> Dim:
    try:
        number = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return Dim.opaque(text, deps)
    return Dim.of(number) if isinstance(number, int) else Dim.opaque(text, deps)
