"""Tuples, dicts, subscripts and comprehensions: what they hold, and the modules in them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Set
from typing import Any

from ..lists import chains
from ..lists.item_filters import passes
from ..lists.loop_names import flattened
from ..lists.size_lists import SizeList, indexed
from ..modules import factory_tables, given_carries, variable_reads
from ..modules.lost_factories import one_of
from ..modules.unknown_callees import made_by_unknown
from ..shapes import shapes
from ..shapes.shape_args import is_number
from ..values import bundles
from ..values.arguments import child_env
from ..values.dims import Dim
from ..values.evaluation import Evaluation
from ..values.mapped_axes import StepOfArgument, part_of_argument
from ..values.merging import Choice, any_of
from ..values.sites import (
    Abs,
    Factory,
    For,
    Function,
    ModuleField,
    NumberList,
    Repeated,
    Site,
    SomeItems,
    Static,
    Table,
    Unmigratable,
    Variable,
)
from ..values.unpacking import entry, merged
from ..values.values import (
    Array,
    Const,
    Global,
    Int,
    NeedsRank,
    Shape,
    ShapeOf,
    Slice,
    SomeNumber,
    Star,
    Tup,
    Unknown,
    Value,
)
from . import changed_arguments, iteration, picked_columns, stale_names, string_keys

_KEYS = {"flax.linen.PARTITION_NAME": Const("partition_name")}  # constants of Flax that dicts have as keys


class Containers(Evaluation):
    """The part of an `Execution` that evaluates containers."""

    picked_from: set[Site]  # modules of lists and dicts of which items are taken

    def _eval_Tuple(self, node: ast.Tuple | ast.List, env: Any) -> Abs:
        items: list[Value] = []
        static, flags = True, frozenset[str]()
        for element in node.elts:
            found = self.evaluate(element, env)
            static, flags = static and found.static, flags | found.flags
            if isinstance(element, ast.Starred):
                if isinstance(found.value, Tup):
                    items.extend(found.value.items)
                else:
                    items.append(Star(found.value))
            else:
                items.append(found.value)
        kind = "tuple" if isinstance(node, ast.Tuple) else "list"
        if static and any(isinstance(i, Star) and isinstance(i.value, Static) for i in items):
            return self._static_text(node, static, flags, env)
        if any(isinstance(i, Star) for i in items) and kind == "list":
            parts = [p for i in items for p in (chains.parts_of(i.value) or (i,) if isinstance(i, Star) else (i,))]
            if not any(isinstance(p, Star) for p in parts) and any(self.modules_in(Tup(tuple(parts)))):
                return Abs(chains.joined(tuple(parts)), static, flags)
        if any(isinstance(i, Star) for i in items):
            return Abs(shapes.build(items, kind), static, flags)
        return Abs(Tup(tuple(items if static else stale_names.beside(items)), kind), static, flags)

    _eval_List = _eval_Tuple

    def _eval_Dict(self, node: ast.Dict, env: Any) -> Abs:
        tables: list[Table] = []
        static, flags, known = True, frozenset[str](), True
        for key, value in zip(node.keys, node.values):
            found = self.evaluate(value, env)
            static, flags = static and found.static, flags | found.flags
            label = self.evaluate(key, env).value if key is not None else None
            label = _KEYS.get(label.name, label) if isinstance(label, Global) else label
            own = entry(self, value, found, env)
            if isinstance(label, Const):
                tables.append(Table({label.value: found.value}, {label.value: own}))
            elif isinstance(label, Int) and label.dim.value is not None:
                tables.append(Table({label.dim.value: found.value}, {label.dim.value: own}))
            elif key is None and isinstance(found.value, Table):
                tables.append(found.value)
            else:
                known = False
        if known:
            if not static:
                held = stale_names.beside([Tup(tuple(table.items.values())) for table in tables])
                pairs = zip(tables, [v.items if isinstance(v, Tup) else () for v in held])
                tables = [dataclasses.replace(t, items=dict(zip(t.items, items))) for t, items in pairs]
            return Abs(merged(tables), static, flags)
        return self._static_text(node, static, flags, env)

    def _eval_Subscript(self, node: ast.Subscript, env: Any) -> Abs:
        read = variable_reads.subscript(self, node, env)
        if read is not None:
            return read
        base = self.evaluate(node.value, env)
        key = self._index(node.slice, env)
        flags = base.flags | key.flags
        static = base.static and key.static
        value = base.value
        if isinstance(value, Factory | ModuleField):  # `Encoder[int]` is the class; one of the modules of a field
            return base
        if isinstance(value, bundles.Bundle):
            return Abs(bundles.index(value, key.value), False, flags)
        if isinstance(value, chains.Chain | Tup | Table):
            self.picked_from.update(self.modules_in(value))
        if isinstance(value, chains.Chain):
            return Abs(chains.item(self, value, key.value), static, flags)
        if isinstance(value, Repeated):
            if isinstance(key.value, Slice):
                kept = chains.without_last(self, value, env) if chains.is_all_but_one(key.value) else None
                return Abs(kept or value.sliced(key.value), static, flags)
            some = value.in_some_passes
            return Abs(Unknown("an item of a list") if some else value.element, static and not some, flags)
        if isinstance(value, Table):
            if isinstance(key.value, Const) and key.value.value in value.items:
                return Abs(value.items[key.value.value], static, flags)
            if isinstance(key.value, Int) and key.value.dim.value in value.items:
                return Abs(value.items[key.value.dim.value], static, flags)
            kinds = list(value.items.values())
            chosen = factory_tables.looked_up(self, value, node, key, env) or one_of(kinds)
            if chosen is not None:
                return Abs(chosen, static, flags)
            if any(self.holds_module(v) for v in kinds):
                return Abs(Unknown("an entry of a table under a computed key"), static, flags)
            if kinds and all(isinstance(v, Function | Global | Static | Choice) for v in kinds):
                return Abs(Choice(self.project.said(node), tuple(kinds)), static, flags)
            common = any_of(kinds)
            if common is not None:
                return Abs(common, False, flags)
            return Abs(Unknown(self.project.said(node)), static, flags)
        if isinstance(value, SomeItems):
            name = key.value.value if isinstance(key.value, Const) else None
            item = value.items.get(name) if isinstance(name, str) else None
            return Abs(item if item is not None else Unknown(self.project.said(node)), False, flags)
        if isinstance(value, Static):
            if static:
                return self._static_text(node, True, flags, env)
            numbered = _with_numbers(value, key.value) if base.static and not flags else None
            return Abs(numbered, True) if numbered is not None else Abs(Unknown(self.project.said(node)), False, flags)
        if isinstance(value, SizeList):
            return Abs(indexed(self, value, node, env), False, flags)
        if isinstance(value, Variable):
            return Abs(value.site.shape or Unknown("variable"), False, flags)
        if isinstance(value, StepOfArgument) and isinstance(key.value, Int) and (key.value.dim.value or 0) >= 0:
            if key.value.dim.value is not None:
                return Abs(self._step_item(value, key.value.dim.value), False, flags)
        if isinstance(value, Array) and isinstance(key.value, Const) and isinstance(key.value.value, str):
            part = part_of_argument(value, f"[{key.value.value!r}]")
            if part is not None and changed_arguments.is_part_known(self, part):
                return Abs(part, False, flags)
        if isinstance(value, Array) and string_keys.is_key(self, node.value, node.slice, env):
            return Abs(Unknown("a part of a dict, whose key a loop says"), False, flags)
        if isinstance(value, Tup) and any(self.holds_module(i) for i in value.items):
            if isinstance(key.value, Int) and key.value.dim.value is not None:
                position = key.value.dim.value
                if -len(value.items) <= position < len(value.items):
                    return Abs(value.items[position], static, flags)
            if isinstance(key.value, Slice):
                found = shapes.index(Tup(tuple(Int(Dim.of(i)) for i in range(len(value.items)))), key.value)
                if isinstance(found, Tup):
                    picked = [value.items[i.dim.value] for i in found.items if isinstance(i, Int)]  # type: ignore[index]
                    return Abs(Tup(tuple(picked), value.kind), static, flags)
            return Abs(Unknown("an element of a list of modules"), static, flags)
        picks = picked_columns.as_index(self, value, key.value) if isinstance(value, Array) else key.value
        found = shapes.index(value, self.plain(picks))
        if isinstance(found, Unknown):
            chosen = one_of([value])
            if chosen is not None:
                return Abs(chosen, static, flags)
            if static:
                return self._static_text(node, True, flags, env)
            no_rank_tells = isinstance(value, ShapeOf) and not value.shape.needs() and isinstance(key.value, Int)
            if no_rank_tells and self.localize(node, env) is None:
                return Abs(SomeNumber(found.why), False, flags)
        return Abs(found, static, key.flags if _is_known_size(value, found) else flags)

    def _eval_Slice(self, node: ast.Slice, env: Any) -> Abs:
        return self._index(node, env)

    def _index(self, node: ast.expr, env: Any) -> Abs:
        if isinstance(node, ast.Slice):
            parts = [self.evaluate(p, env) if p is not None else None for p in (node.lower, node.upper, node.step)]
            value = Slice(*[self.plain(p.value) if p is not None else None for p in parts])
            found = [p for p in parts if p is not None]
            result = Abs(value, all(p.static for p in found), frozenset().union(*[p.flags for p in found]))
        elif isinstance(node, ast.Tuple):
            items = [self._index(e, env) for e in node.elts]
            result = Abs(
                Tup(tuple(i.value for i in items)),
                all(i.static for i in items),
                frozenset().union(*[i.flags for i in items]),
            )
        else:
            return self.evaluate(node, env)
        self.evaluated[node] = result
        return result

    def _eval_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, env: Any) -> Abs:
        iteration.refuse_optional(self, node, env)
        listed = iteration.one_by_one(self, node, env)
        results: list[Abs] = []
        steps: list[For] = []
        mark = len(self.sites)
        inner = child_env(env)
        if len(node.generators) == 1:
            iterated = self.evaluate(node.generators[0].iter, env)
            kept = bundles.filtered(node, iterated.value)
            if kept is not None:
                return Abs(kept, False, iterated.flags)

        each = flattened(node)  # what a pass adds

        def item(scope: Any) -> None:
            found = self.evaluate(node.elt, scope)
            sides = chains.either_in_pass(self, node, scope)
            results.append(found if sides is None else Abs(sides, False, found.flags))

        def first(scope: Any) -> None:
            if each is not None:
                found = self.evaluate(each, scope)
                if isinstance(found.value, Tup) and self.holds_module(found.value):
                    results.append(Abs(chains.Cycle(found.value.items), False, found.flags))
                    return
            steps.extend(passes(self, node.generators[1:], scope, item))

        steps.extend(passes(self, node.generators[:1], inner, first))
        result = results[-1] if results else Abs(Unknown("empty"))
        static = all(self.evaluated[g.iter].static for g in node.generators if g.iter in self.evaluated)
        followed = self.holds_module(result.value) or isinstance(result.value, Array)
        if listed is not None and len(self.sites) == mark and isinstance(result.value, Array):
            return Abs(listed.value, static and listed.static, result.flags)  # arrays, each with its own sizes
        if len(self.sites) > mark or followed or made_by_unknown(self, result.value, env) is not None:
            if len(self.sites) > mark and isinstance(node, ast.GeneratorExp):
                if not _is_run_at_once(env.source.parents.get(node), node):
                    raise Unmigratable("NNX123", "a generator makes submodules when it is asked for them", node)
            if len(results) > 1 and self.trial == 0 and iteration.was_unrolled(self, node, env):
                items = tuple(r.value for r in results)
                return Abs(Tup(items, "list"), False, result.flags)
            said = static and result.static and len(self.sites) == mark  # numbers that the constructor has too
            count, widths = iteration.count_of(self, node), iteration.widths_of(self, node, result.value)
            made = Repeated(result.value, steps[-1] if steps else None, "list", count=count, widths=widths)
            return Abs(made, said, result.flags)
        several = one_of([result.value])
        if several is not None:
            return Abs(Repeated(several, None, "list"), False, result.flags)
        if listed is not None:
            return Abs(listed.value, static and listed.static, result.flags)
        if static and result.static:
            text, deps = self.self_text(node, env)
            count = iteration.length_of(self, node)
            if count is not None and _is_number(self, node.elt, _counted(node.generators[0])):
                return Abs(NumberList(text, deps, True, count), True, result.flags)
            return Abs(Static(text, deps, sequence=not isinstance(node, ast.GeneratorExp)), True, result.flags)
        return Abs(Unknown("comprehension"), False, result.flags)

    trial: int = 0

    _eval_GeneratorExp = _eval_ListComp
    _eval_SetComp = _eval_ListComp

    def _eval_DictComp(self, node: ast.DictComp, env: Any) -> Abs:
        results: list[Abs] = []
        mark = len(self.sites)

        def item(scope: Any) -> None:
            self.evaluate(node.key, scope)
            results.append(self.evaluate(node.value, scope))

        steps = passes(self, node.generators, child_env(env), item)
        step = steps[-1] if steps else None
        result = results[-1] if results else Abs(Unknown("empty"))
        if len(self.sites) > mark or made_by_unknown(self, result.value, env) is not None:
            return Abs(Repeated(result.value, step, "dict"), False)
        several = one_of([result.value])
        if several is not None:
            return Abs(Repeated(several, None, "dict"), False)
        static = all(self.evaluated[g.iter].static for g in node.generators if g.iter in self.evaluated) and result.static
        return self._static_text(node, static, frozenset(), env)

    def unpack(self, value: Abs, count: int, star: int | None) -> list[Abs]:
        """The items that an assignment to `count` targets gives, of which the one at `star` takes all that is left."""
        why = value.value if isinstance(value.value, NeedsRank) else Unknown("unpacked")
        unknown = [Abs(why, False, value.flags)] * count
        if star is not None:
            held = value.value
            sizes = isinstance(held, ShapeOf)
            sizes |= isinstance(held, Tup) and all(type(i) in (Int, Unknown, Array) for i in held.items)
            parts = shapes.unpack_star(held, star, count - star - 1) if sizes else None
            if parts is None:
                before = self.unpack(value, star, None) if isinstance(held, Array) and self._whole_argument(held) else []
                return [*before, *unknown[len(before) :]]
            return [Abs(item, False, value.flags) for item in (*parts[0], parts[1], *parts[2])]
        inner = value.value
        if isinstance(inner, bundles.Bundle):
            return [Abs(inner.item(i), False, value.flags) for i in range(count)]
        if isinstance(inner, Tup) and len(inner.items) == count:
            kept = [frozenset() if _is_known_size(inner, item) else value.flags for item in inner.items]
            said = [value.static or (type(item) is Static and not value.flags) for item in inner.items]
            return [Abs(item, static, flags) for item, static, flags in zip(inner.items, said, kept, strict=True)]
        if isinstance(inner, Static):
            return [Abs(Static(f"{inner.stem}[{i}]", inner.deps), value.static, value.flags) for i in range(count)]
        if isinstance(inner, Repeated):
            return [Abs(inner.element, False, value.flags)] * count
        if isinstance(inner, StepOfArgument):
            return [Abs(self._step_item(inner, i), False, value.flags) for i in range(count)]
        if isinstance(inner, Array):
            whole = self._whole_argument(inner)
            if whole:
                named = [f"{whole}[{i}]" for i in range(count)]
                arrays = [given_carries.of_argument(self, name, Array(self._item_shape(name))) for name in named]
                return [Abs(array, False, value.flags) for array in arrays]
        items = iteration.unpack_shape(self, inner, count)
        if items is None:
            return unknown
        return [Abs(i, False, frozenset() if _is_known_size(inner, i) else value.flags) for i in items]

    def _step_item(self, value: StepOfArgument, place: int) -> Value:
        return value.item(Array(self._item_shape(f"{value.argument}[{place}]")))

    def _whole_argument(self, value: Array) -> str:
        """The argument that an array is, where that may be a tuple; also where both it and its items were given ranks."""
        name = value.shape.of_argument(self.ranks)
        return name if value.shape.lead is not None or f"{name}[0]" in self.ranks else ""

    def _item_shape(self, name: str) -> Shape:
        return Shape.ranked(name, self.ranks[name]) if name in self.ranks else Shape.argument(name)

    def elements(self, node: ast.expr, iterated: Abs, env: Any) -> Abs:
        """The abstract element of what a loop runs over, for its target."""
        return iteration.elements(self, node, iterated, env)


def _with_numbers(value: Static, key: Value) -> Static | None:
    """`self.axes[-len(features):]` where that is known to be `self.axes[-2:]`, by items that are no text themselves."""
    ends = (key.start, key.stop, key.step) if isinstance(key, Slice) else ()
    said = [None if end in (None, Const(None)) else end.dim.value if isinstance(end, Int) else "" for end in ends]
    if not said or "" in said or any(end is None and given not in (None, Const(None)) for end, given in zip(said, ends)):
        return None
    parts = ["" if end is None else str(end) for end in said]
    return Static(f"{value.stem}[{':'.join(parts if parts[2] else parts[:2])}]", value.deps, True)


def _is_run_at_once(parent: ast.AST | None, generator: ast.expr) -> bool:
    """Is a generator handed to a function (`tuple(...)`), or unpacked (`k, v = (...)`)?"""
    if isinstance(parent, ast.Assign):
        return parent.value is generator and all(isinstance(t, ast.Tuple | ast.List) for t in parent.targets)
    return isinstance(parent, ast.Call)


def _is_known_size(shape: Value, item: Value) -> bool:
    """A size of a shape that is known whatever flags had a part in the array: both sides of what they choose have it."""
    return isinstance(shape, ShapeOf | Tup) and isinstance(item, Int)


def _is_number(run: Evaluation, node: ast.expr, counted: Set[str]) -> bool:
    """Is it certainly a number: `2.0 ** i`, where i is of a range, or a name or field that is known to be one?"""
    if isinstance(node, ast.BinOp):
        return _is_number(run, node.left, counted) and _is_number(run, node.right, counted)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("float", "int")
    if isinstance(node, ast.UnaryOp):
        return _is_number(run, node.operand, counted)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    known = run.evaluated.get(node)
    return (isinstance(node, ast.Name) and node.id in counted) or (known is not None and is_number(known.value))


def _counted(generator: ast.comprehension) -> Set[str]:
    """The names of a loop over a range, which are numbers."""
    over, target = generator.iter, generator.target
    is_range = isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"
    return {target.id} if is_range and isinstance(target, ast.Name) else set()
