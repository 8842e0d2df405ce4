"""Iteration: what a loop or comprehension binds, and unrolling over a known handful of modules."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...trees import subtree
from ..lists.list_items import pass_names
from ..lists.size_lists import SizeItem
from ..lists.size_lists import item as size_item
from ..lists.skip_lists import taken_by
from ..modules.lost_factories import one_of
from ..shapes import shapes
from ..shapes.shape_index import array_index
from ..values.arguments import child_env, stored_names
from ..values.dims import Dim
from ..values.presence import whole_argument
from ..values.sites import Abs, Block, Module, ModuleField, Repeated, Static, Table, Unmigratable
from ..values.values import Array, Const, Global, Int, Pieces, Shape, SomeNumber, Tup, Unknown, Value

COUNT = Static("\0int")  # a loop variable that is an integer


def elements(run: Any, node: ast.expr, iterated: Abs, env: Any) -> Abs:
    """The element that a loop over `node` binds, as a shape of names: filled in by `name_elements`."""
    value = _element(run, node, iterated.value, env)
    return Abs(value, iterated.static, iterated.flags)


def _element(run: Any, node: ast.expr, value: Value, env: Any) -> Value:
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) and env.get(node.func.id) is None else ""
        args = [a for a in node.args if not isinstance(a, ast.Starred)]
        inner = [run.evaluated[a].value if a in run.evaluated else Unknown("") for a in args]
        if called == "range":
            return Static("\0int")
        if called == "enumerate" and args:
            return Tup((Static("\0int"), _element(run, args[0], inner[0], env)))
        if called == "zip":
            return Tup(tuple(_taken(run, a, env) or _element(run, a, v, env) for a, v in zip(args, inner)))
        if called in ("reversed", "list", "tuple", "sorted", "iter") and args:
            return _element(run, args[0], inner[0], env)
    return element_of(value)


def _taken(run: Any, node: ast.expr, env: Any) -> Value | None:
    """An item of the column `reversed(skips)` of a zip, where the list is filled along the other column's mirror."""
    found = taken_by(run, node, env)
    return size_item(run, *found) if found is not None else None


def element_of(value: Value) -> Value:
    """What a loop over a value binds, whatever it is called."""
    if isinstance(value, ModuleField):
        return value
    if isinstance(value, Repeated) and value.in_some_passes:
        return Unknown("an item of a list")
    if isinstance(value, Repeated | Pieces):
        return value.element
    if isinstance(value, Static | Global):
        return Static("\0")
    if isinstance(value, Tup):
        several = one_of([value])
        if several is not None:
            return several
        if value.items and all(isinstance(i, Int | Static) for i in value.items):
            return Static("\0int")
        if value.items and all(isinstance(i, Tup) for i in value.items):
            first = value.items[0]
            assert isinstance(first, Tup)
            if all(isinstance(i, Tup) and len(i.items) == len(first.items) for i in value.items):
                return Tup(tuple(Static("\0") for _ in first.items))
        if value.items and all(i == value.items[0] for i in value.items):
            return value.items[0]
        return Static("\0")
    if isinstance(value, Array):
        if value.shape.lead is not None and not value.shape.dims and value.shape.lead.known:
            return Array(array_index(value.shape, [Int(Dim.of(0))]))
        if value.shape.lead is None and value.shape.dims:
            return Array(Shape(value.shape.dims[1:]))
        return Array(Shape.unknown())
    return Unknown("element")


def name_elements(run: Any, target: ast.expr, element: Abs, inner: Any) -> None:
    """Bind a loop target: integers and opaque elements become the local names themselves."""
    value = element.value
    if isinstance(value, SizeItem) and isinstance(target, ast.Name):
        # The constructor's loop runs over the sizes themselves.
        run.item_names.add(target.id)
        if value.width is None:
            run.width_names.add(target.id)
        width = Dim.local(target.id) if value.width is None else value.width
        run.bind(target, Abs(size_item(run, value.variable, width), False, element.flags), inner)
        return
    if isinstance(target, ast.Tuple | ast.List):
        if isinstance(value, Tup) and len(value.items) == len(target.elts):
            for one, item in zip(target.elts, value.items):
                name_elements(run, one, Abs(item, element.static, element.flags), inner)
            return
        if isinstance(value, Static):
            for one in target.elts:
                name_elements(run, one, element, inner)
            return
    if isinstance(target, ast.Name) and isinstance(value, Static) and value.text.startswith("\0"):
        name = target.id
        if not element.static:
            unknown = SomeNumber("loop variable") if value == COUNT else Unknown("loop variable")
            run.bind(target, Abs(unknown, False, element.flags), inner)
        elif value.text == "\0int":
            run.bind(target, Abs(Int(Dim.local(name)), True, element.flags), inner)
        else:
            run.bind(target, Abs(Static(name, frozenset({name})), True, element.flags), inner)
        return
    if isinstance(value, Static) and value.text.startswith("\0"):
        element = Abs(Unknown("loop variable"), False, element.flags)
    elif isinstance(value, Tup):
        name = target.id if isinstance(target, ast.Name) and element.static else ""
        element = dataclasses.replace(element, value=_items_said(value, name, frozenset({name})))
    run.bind(target, element, inner)


def _items_said(value: Value, text: str, deps: frozenset[str]) -> Value:
    """The items of a tuple that a loop binds under one name: `pair[0]`, `pair[1]`; unknown without a text."""
    if isinstance(value, Tup):
        items = [_items_said(item, text and f"{text}[{i}]", deps) for i, item in enumerate(value.items)]
        return dataclasses.replace(value, items=tuple(items))
    if not isinstance(value, Static) or not value.text.startswith("\0"):
        return value
    if not text:
        return Unknown("loop variable")
    return Int(Dim.opaque(text, deps)) if value == COUNT else Static(text, deps)


def unrolled(run: Any, node: ast.expr, iterated: Abs, env: Any) -> list[Abs] | None:
    """The elements one by one, where a loop runs over a known handful of modules, or fills a list by known numbers."""

    def items(expression: ast.expr, value: Value) -> list[Value] | None:
        if isinstance(value, Tup):
            return list(value.items)
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
            parts = [items(a, run.evaluated[a].value) for a in expression.args if a in run.evaluated]
            if expression.func.id == "enumerate" and parts and parts[0] is not None:
                return [Tup((Int(Dim.of(i)), v)) for i, v in enumerate(parts[0])]
            if expression.func.id == "zip" and parts and any(p is not None for p in parts):
                count = min(len(p) for p in parts if p is not None)
                columns = [p if p is not None else [Unknown("element")] * count for p in parts]
                return [Tup(tuple(c[i] for c in columns)) for i in range(count)]
            if expression.func.id == "reversed" and parts and parts[0] is not None:
                return parts[0][::-1]
            if expression.func.id in ("list", "tuple") and parts:
                return parts[0]
        if isinstance(value, Table) and isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
            return None
        return None

    found = items(node, iterated.value)
    places = _places(run, node, env)
    if places:
        return [Abs(Int(Dim.of(i)), True, iterated.flags) for i in places]
    if found is not None and not iterated.static and _only_fills(node, env):
        if len(found) == 1 or (len(found) <= MAX_UNROLLED and all(_is_numbers(v) for v in found)):
            return [Abs(v, False, iterated.flags) for v in found]
    if found is None or not (any(_has_module(run, v) for v in found) or _names_modules(run, node, env)):
        return None
    return [Abs(v, False, iterated.flags) for v in found]


def _places(run: Any, node: ast.expr, env: Any) -> list[int]:
    """The numbers of a loop over a known range that pick modules of a list that is written out: `self.blocks[i](x)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
        return []
    values = [run.evaluated[a].value for a in node.args if a in run.evaluated]
    numbers = [v.dim.value for v in values if isinstance(v, Int) and v.dim.value is not None]
    loop = env.source.parents.get(node)
    if len(numbers) != len(node.args) or not 0 < len(numbers) < 4 or 0 in numbers[2:] or env.get("range") is not None:
        return []
    if not isinstance(loop, ast.For | ast.comprehension) or not isinstance(loop.target, ast.Name):
        return []
    places = range(*numbers)
    for part in subtree(loop if isinstance(loop, ast.For) else env.source.parents[loop]):
        if not (isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute | ast.Name)):
            continue
        if any(isinstance(n, ast.Name) and n.id == loop.target.id for n in subtree(part.slice)):
            held = run.evaluate(part.value, env).value
            if type(held) is Tup and held.items and all(_has_module(run, item) for item in held.items):
                return list(places) if len(places) <= MAX_UNROLLED else []
    return []


def _only_fills(node: ast.expr, env: Any) -> bool:
    """Does a loop do nothing but to set and append items: `for axis in axes: sizes.append(x.shape[axis])`?"""
    loop = env.source.parents.get(node)
    if not isinstance(loop, ast.For) or loop.orelse:
        return False
    for statement in loop.body:
        if isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
            if len(statement.targets) > 1 or not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)):
                return False
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            called, args = statement.value.func, statement.value.args
            append = isinstance(called, ast.Attribute) and called.attr == "append" and isinstance(called.value, ast.Name)
            if not append or len(args) != 1 or statement.value.keywords:
                return False
            value = args[0]
        else:
            return False
        if any(isinstance(part, ast.Call | ast.NamedExpr | ast.Lambda) for part in subtree(value)):
            return False
    return True


def _is_numbers(value: Value) -> bool:
    """Is it a known number, or are these?"""
    if isinstance(value, Tup):
        return all(_is_numbers(item) for item in value.items)
    return isinstance(value, Int) and value.dim.value is not None


def _names_modules(run: Any, node: ast.expr, env: Any) -> bool:
    """Does a loop over written names look modules up by them: `for key in ("image", "text"): ... self.encoders[key](x)`?"""
    items = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    named = [any(isinstance(part, ast.Constant) for part in getattr(item, "elts", [item])) for item in items]
    loop = env.source.parents.get(node)
    if not named or not all(named) or not isinstance(loop, ast.For | ast.comprehension):
        return False
    whole, names = loop if isinstance(loop, ast.For) else env.source.parents[loop], stored_names(loop.target)
    for part in subtree(whole):
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name) and part.slice.id in names:
            held = run.evaluate(part.value, env).value if isinstance(part.value, ast.Attribute | ast.Name) else None
            if isinstance(held, Table) and run.holds_module(held):
                return True
    return False


def _has_module(run: Any, value: Value) -> bool:
    if isinstance(value, Tup):
        return any(_has_module(run, i) for i in value.items)
    return isinstance(value, Module | ModuleField) or bool(run.holds_module(value))


MAX_UNROLLED = 16


def refuse_optional(run: Any, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, env: Any) -> None:
    """Refuse `[v for v in (x, y) if v is not None]` of a `y` that a call may leave out: how many there are is not known."""
    loop = node.generators[0]
    if not isinstance(loop.iter, ast.List | ast.Tuple) or ast.unparse(node.elt) != ast.unparse(loop.target):
        return
    if f"{ast.unparse(loop.target)} is not None" not in map(ast.unparse, loop.ifs):
        return
    held = [env.get(item.id) for item in loop.iter.elts if isinstance(item, ast.Name)]
    if any(one is not None and whole_argument(one.value) in run.optional_arguments for one in held):
        raise Unmigratable("NNX110", f"`{ast.unparse(node)}` leaves out what a call does not give", node)


def one_by_one(run: Any, node: Any, env: Any) -> Abs | None:
    """A comprehension over a few known numbers, element by element: a list of the numbers or arrays that each gives.

    A filter must be certain for each: `tuple(n for i, n in enumerate(x.shape) if i in (1, 2))`.
    """
    generator = node.generators[0]
    if len(node.generators) != 1 or isinstance(node, ast.SetComp):
        return None
    snapshot = run._snapshot()
    before = len(run.sites)
    run.block = Block()
    run.trial += 1
    try:
        iterated = run.evaluate(generator.iter, env)
        items = _counted(run, generator.iter, iterated.value, env)
        if items is None or not 0 < len(items) <= MAX_UNROLLED:
            return None
        found: list[Abs] = []
        for item in items:
            if not isinstance(item, Int | Const | Tup | Array):
                return None
            inner = child_env(env)
            run.bind(generator.target, Abs(item, iterated.static, iterated.flags), inner)
            kept = [run.truth(run.evaluate(test, inner).value) for test in generator.ifs]
            if None in kept:
                return None
            if all(kept):
                found.append(run.evaluate(node.elt, inner))
    except Unmigratable:
        return None
    finally:
        made = len(run.sites) > before
        run.trial -= 1
        run._rollback(snapshot)
    calls = [n for n in subtree(node.elt) if isinstance(n, ast.Call)]
    computes = all(n.func in run.evaluated and isinstance(run.evaluated[n.func].value, Global) for n in calls)
    if made or not all(isinstance(f.value, Int | Const | Tup) or (computes and isinstance(f.value, Array)) for f in found):
        return None
    results = tuple(f.value for f in found)
    return Abs(Tup(results, "list"), all(f.static for f in found), frozenset().union(*[f.flags for f in found]))


def _counted(run: Any, node: ast.expr, value: Value, env: Any) -> tuple[Value, ...] | None:
    """The items of a tuple of known length, of `enumerate` of one and of `range(3)`."""
    if isinstance(value, Tup):
        return value.items
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if not isinstance(node, ast.Call) or env.get(called) is not None or len(node.args) != 1 or node.keywords:
        return None
    inner = run.evaluated[node.args[0]].value if node.args[0] in run.evaluated else None
    if called == "enumerate" and isinstance(inner, Tup):
        return tuple(Tup((Int(Dim.of(i)), item)) for i, item in enumerate(inner.items))
    if called == "range" and isinstance(inner, Int) and inner.dim.value is not None and 0 < inner.dim.value <= MAX_UNROLLED:
        return tuple(Int(Dim.of(i)) for i in range(inner.dim.value))
    return None


def was_unrolled(run: Any, node: Any, env: Any) -> bool:
    """Did a comprehension run over a known handful of modules, one by one?"""
    generator = node.generators[0]
    iterated = run.evaluated.get(generator.iter)
    return iterated is not None and unrolled(run, generator.iter, iterated, env) is not None


def length_of(run: Any, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Dim | None:
    """How many items `[... for i in range(n)]` has, where the range says it."""
    plain = isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs
    return _in_range(run, node.generators[0].iter) if plain else None


def _in_range(run: Any, over: ast.expr) -> Dim | None:
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"):
        return None
    found = [run.plain(run.evaluated[a].value) if a in run.evaluated else None for a in over.args]
    bounds: list[Dim] = [value.dim for value in found if isinstance(value, Int)]
    if over.keywords or not 1 <= len(found) <= 2 or len(bounds) < len(found):
        return None
    return bounds[-1] - bounds[0] if len(bounds) == 2 else bounds[0]


def count_of(run: Any, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Dim | None:
    """How many items a comprehension has, also over what the constructor has: `[... for k in self.kernel_sizes]`."""
    plain = isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs
    return count_along(run, node.generators[0].iter) if plain else None


def count_along(run: Any, iterator: ast.expr) -> Dim | None:
    """How many passes a loop over this has."""
    over = run.evaluated.get(iterator)
    value = over.value if over is not None else None
    if isinstance(value, Repeated):
        return value.count if not value.part else None
    if isinstance(value, Static) and value.sequence:
        return Dim.opaque(f"len({value.text})", value.deps)
    inner = _same_items(run, iterator)
    return count_along(run, inner) if inner is not iterator else _in_range(run, iterator)


def _same_items(run: Any, iterator: ast.expr) -> ast.expr:
    """`self.heads` of `enumerate(self.heads)`: what is gone through as often."""
    if not isinstance(iterator, ast.Call) or len(iterator.args) != 1 or iterator.func not in run.evaluated:
        return iterator
    called = run.evaluated[iterator.func].value
    builtin = isinstance(called, Static) and called.text in ("enumerate", "reversed", "list", "tuple") and not called.deps
    return iterator.args[0] if builtin else iterator


def widths_of(run: Any, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, element: Value) -> Dim | None:
    """The widths of the arrays of `[nn.Dense(s)(x) for s in self.sizes]` together.

    Also of `[layer(x) for layer in self.layers]`, where the loop that made the layers says the sizes.
    """
    whole = len(node.generators) == 1 and not node.generators[0].ifs and isinstance(node, ast.ListComp)
    last = element.shape.dim(-1) if isinstance(element, Array) else None
    return widths_along(run, node.generators[0], last) if whole and last is not None else None


def widths_along(run: Any, loop: ast.comprehension | ast.For, last: Dim) -> Dim | None:
    """The sum of a size over all passes of a loop."""
    iterator = _same_items(run, loop.iter)
    over = run.evaluated[iterator].value if iterator in run.evaluated else None
    if isinstance(over, Repeated) and over.part:
        return None
    count = count_along(run, iterator)
    made = over.loop.node if isinstance(over, Repeated) and over.loop is not None else loop
    differing = {target: _total(run, made, target) for target in last.dependencies() & stored_names(made.target)}
    if len(differing) > 1 or last.dependencies() & (pass_names(run) | stored_names(loop.target)) - set(differing):
        return None  # it differs by what another loop binds
    for name, total in differing.items():
        return _summed(last, name, total, count) if total is not None else None
    return last * count if count is not None else None


def _total(run: Any, loop: Any, name: str) -> Dim | None:
    """The sum of what a loop binds to a name: `sum(self.sizes)`."""
    over = run.evaluated[loop.iter].value if loop.iter in run.evaluated else None
    if isinstance(over, Static) and isinstance(loop.target, ast.Name):
        return Dim.opaque(f"sum({over.text})", over.deps)
    called = loop.iter.func.id if isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Name) else ""
    if called == "enumerate" and isinstance(loop.target, ast.Tuple):
        each, inner = loop.target.elts[-1], _same_items(run, loop.iter)
        items = run.evaluated[inner].value if inner is not loop.iter and inner in run.evaluated else None
        named = isinstance(each, ast.Name) and each.id == name
        return Dim.opaque(f"sum({items.text})", items.deps) if named and isinstance(items, Static) else None
    places = [i for i, part in enumerate(getattr(loop.target, "elts", ())) if isinstance(part, ast.Name) and part.id == name]
    if called != "zip" or loop.iter.keywords or len(places) != 1:
        return None
    parts = [run.evaluated[part].value if part in run.evaluated else None for part in loop.iter.args]
    said = [part.text for part in parts if isinstance(part, Static)]
    if len(said) < len(parts) or len(parts) != len(loop.target.elts):
        return None
    deps = frozenset().union(*(part.deps for part in parts if isinstance(part, Static)))
    return Dim.opaque(f"sum({name} for {ast.unparse(loop.target).strip('()')} in zip({', '.join(said)}))", deps)


def _summed(size: Dim, name: str, total: Dim, count: Dim | None) -> Dim | None:
    """The sum of `count` sizes that grow evenly with a number, given the sum of the numbers."""

    def at(number: Dim) -> Dim:
        return size.substitute(lambda atom: number if atom.kind in ("local", "opaque") and atom.args == (name,) else None)

    one, other = Dim.local("one of them"), Dim.local("another")
    even = at(one + other) - at(one) - at(other) + at(Dim.of(0)) == Dim.of(0)
    first = at(Dim.of(0))
    if not even or name in (at(total) + first).dependencies() or (count is None and first != Dim.of(0)):
        return None
    return at(total) + first * (count - Dim.of(1)) if count is not None else at(total)


def unpack_shape(run: Any, value: Value, count: int) -> list[Value] | None:
    """The items of a value that is unpacked into `count` names; None if they are not known."""
    found = shapes.unpack(value, count)
    return list(found) if found is not None else None
