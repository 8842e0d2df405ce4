"""Items of lists that `setup` makes in a loop: the constructor gives each the sizes of its own place in the list.

That is right where the call goes through the list as setup made it. An item that is picked by a number sees what it is
given there, which must be what all items see; a size that changes from item to item must be this very loop's.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...trees import subtree
from ..values.arguments import stored_names
from ..values.dims import Atom, Dim
from ..values.merging import dependencies_of, map_dims
from ..values.sites import CallRecord, For, Local, Repeated, Site, Static, Unmigratable, steps_of
from ..values.values import Array, Int, Tup, Unknown, Value
from .left_out import is_last, left_out
from .left_out import passes as passes_of
from .loop_counters import body_of, counter_of
from .loop_names import changes_in, may_bind
from .unsized_items import is_unsized

_SIZELESS = "flax.linen.Dropout"


def check_call(run: Any, site: Site, node: ast.Call, record: CallRecord, env: Any) -> None:
    """Refuse a call of an item whose place in the list does not say the sizes that it is given."""
    if run.in_setup or not _is_outside(run, site):
        _check_single(run, site, record)
        return
    _note_passes(run, site, node, env)
    runs = {name: text for loop in site.loops for name, text in _of_pass(site, loop).items()}
    given = [v for v in (*record.args, *record.keywords.values()) if isinstance(v, Array)]
    changing = frozenset().union(*[dependencies_of(v) for v in given])
    picked = _is_picked(run, site, node, env)
    if run.trial and not site.in_setup:
        return  # the loops may yet be joined: see `list_loops`
    left = _left(run, site) & frozenset().union(*[dependencies_of(v) for v in (*record.args, *record.keywords.values())])
    if left:
        reason = f"sizes of a list of modules are said by `{min(left)}`, which the loop that makes the list changes"
        raise Unmigratable("NNX114", reason, node)
    for name in changing & pass_names(run):
        runs |= _under_its_name(run, site, name)
        if picked or name not in runs or run.list_scopes.get(name, runs[name]) != runs[name]:
            reason = "a list whose sizes change is not called in its order"
            if is_unsized(run, site, reason):
                return
            raise Unmigratable("NNX114", reason, site.node)
        if site.in_setup and any(_changes_before(site, loop, name) for loop in site.loops):
            reason = f"setup changes `{name}`, in which sizes of its modules are said"
            raise Unmigratable("NNX114", reason, site.node)
    if site.in_setup and any(picked or not _says_alike(run, site, name) for name in changing & _open_names(run)):
        reason = "a size of setup depends on the pass of a loop of the call"
        if is_unsized(run, site, reason):
            return
        raise Unmigratable("NNX114", reason, site.node)
    run.list_scopes.update(runs)
    if run.trial or site.target == _SIZELESS or not (site.in_setup or site in run.item_widths or not site.calls):
        return  # a compact method's that were called where they were made have their sizes
    widths = tuple(v.shape.dim(-1) for v in given)
    asked = 1 if site.kind == "layer" else len(widths)  # a layer has the width of what it is given first
    before = run.item_widths.setdefault(site, [])
    for other, other_picked in before:
        differ = any(a != b for a, b in zip(widths[:asked], other))  # what is not known may be another one
        if differ and (picked or other_picked):
            reason = "items of a list are picked, and are given inputs of several sizes"
            if not is_unsized(run, site, reason):
                raise Unmigratable("NNX114", reason, site.node)
    before.append((widths, picked))


def _changes_before(site: Site, loop: For, name: str) -> bool:
    """Does a pass of a loop give a name another meaning before it makes a module?"""
    body = loop.node.body if isinstance(loop.node, ast.For) else []
    named = [n for part in body for n in subtree(part) if isinstance(n, ast.Name) and n.id == name]
    return any(isinstance(n.ctx, ast.Store) and n.lineno < site.node.lineno for n in named)


def _takes_sizes(run: Any, site: Site) -> bool:
    """Is the module given numbers at its call that are sizes of what it makes?"""
    model = run.analyser.classes.get(site.target)
    owners = {m.owner.qualname for m in model.methods().values()} if model is not None else set()
    return not owners.isdisjoint(run.analyser.size_arguments)


def _check_single(run: Any, site: Site, record: CallRecord) -> None:
    """Refuse a module of setup that a loop of the call gives the sizes of a pass: setup has no such pass."""
    if run.in_setup or not site.in_setup or site.loops or site.target == _SIZELESS:
        return
    given = [*record.args, *record.keywords.values()]
    if not _takes_sizes(run, site):
        given = [value for value in given if not isinstance(value, Int)]  # which pass it is: `self.experts(x, i)`
    used = frozenset().union(*[dependencies_of(v) for v in given])
    reason = "a size of setup depends on the pass of a loop of the call"
    if used & _open_names(run) and not is_unsized(run, site, reason):
        raise Unmigratable("NNX114", reason, site.node)


def _open_names(run: Any) -> frozenset[str]:
    """What the loops bind that are being followed."""
    return frozenset(name for loop in run.loops for name in what_runs(loop))


def _says_alike(run: Any, site: Site, name: str) -> bool:
    """Has a name of the call's loop, in the loop of setup that makes a list, the same meaning for each of its items?"""
    loop = next(loop for loop in reversed(run.loops) if name in what_runs(loop))
    if len(site.loops) != 1:
        return False
    made = site.loops[0]
    bodies = [part for one in (loop.node, made.node) if isinstance(one, ast.For) for part in one.body]
    if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for b in bodies for n in subtree(b)):
        return False
    if what_runs(made).get(name) == what_runs(loop)[name]:
        return True
    both = [counter_of(one.node.target, one.node.iter, body_of(one.node)) for one in (loop, made)]
    return both == [name, name] and _passes(run, loop.node.iter) == _passes(run, made.node.iter)


_JUMPS = (ast.Continue, ast.Break)


@dataclasses.dataclass(frozen=True)
class Passes:
    """The passes of the loop of a call in which it calls an item: those where `test` holds, which asks for `counter`."""

    test: ast.expr
    counter: str
    below: Dim | None = None  # or those of a loop that ends before the list does: where the counter is less than this


def _note_passes(run: Any, site: Site, node: ast.Call, env: Any) -> None:
    """Where a loop calls some items of a list only, the others are None: Linen makes no variables for them.

    Raises Unmigratable where the constructor cannot ask which.
    """
    found = _called_in_some(run, site, node, env)
    known = site.renders.get("passes")
    if known == "all" or found is None:
        site.renders["passes"] = "all"
        return
    alike = known is None or (ast.dump(known.test) == ast.dump(found.test) and known.below == found.below)
    if not alike or not _is_said_in_setup(run, site, node, found):
        reason = "items of a list are called in some passes of a loop only, and Linen makes no variables for the others"
        raise Unmigratable("NNX157", reason, node)
    site.renders["passes"] = found


def _is_said_in_setup(run: Any, site: Site, node: ast.Call, passes: Passes) -> bool:
    """Means the condition the same where setup makes the list: of fields, of lists that it has made, and of the counter?"""
    setup = run.model.method("setup")
    if setup is None or not site.in_own_words(setup.source) or len(site.loops) > 1:
        return False
    target, over = site.loops[-1].node.target, site.loops[-1].node.iter
    bound = {n.id for n in subtree(target) if isinstance(n, ast.Name)}
    counted = isinstance(over, ast.Call) and ast.unparse(over.func) == "range" and len(over.args) == 1
    if passes.counter in bound and not (counted and bound == {passes.counter}):
        return False
    if passes.counter not in bound and not may_bind(site.source, site.loops[-1].node, passes.counter):
        return False
    for part in subtree(passes.test):
        if isinstance(part, ast.Name) and part.id not in (passes.counter, "self", "len"):
            return False
        if isinstance(part, ast.Attribute) and part.attr not in run.fields:
            stores = [n for n in setup.nodes if isinstance(n, ast.Attribute) and n.attr == part.attr]
            if not any(isinstance(n.ctx, ast.Store) and n.lineno < site.node.lineno for n in stores):
                return False
    return True


def _called_in_some(run: Any, site: Site, node: ast.Call, env: Any) -> Passes | None:
    """Does a loop go through as many passes as the list has items, and call one only where its counter is this or that?"""
    tests: list[tuple[ast.expr, bool]] = []
    below: ast.AST = node
    for parent in env.source.ancestors(node):
        if isinstance(parent, ast.If | ast.IfExp) and below is not parent.test:
            said = ast.unparse(node.func)
            sides = [parent.body, parent.orelse] if isinstance(parent, ast.IfExp) else [*parent.body, *parent.orelse]
            other = [n for side in sides for n in subtree(side) if isinstance(n, ast.Call) and n is not node]  # type: ignore[arg-type]
            if not any(ast.unparse(call.func) == said for call in other):
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                tests.append((parent.test, below in body))
        if isinstance(parent, ast.For):
            counting = counter_of(parent.target, parent.iter, ())
            jumps = [n for n in subtree(parent) if isinstance(n, ast.If) and any(isinstance(s, _JUMPS) for s in n.body)]
            tests += [(jump.test, False) for jump in jumps if jump.lineno < node.lineno]
            asking = [(t, h) for t, h in tests if any(isinstance(n, ast.Name) and n.id == counting for n in subtree(t))]
            index = ast.unparse(node.func.slice) if isinstance(node.func, ast.Subscript) else ""
            own = isinstance(node.func, ast.Name) and _binds(parent.target, node.func.id)
            left = left_out(run, site, parent.iter) if index and index == counting else None
            if left:
                unsaid = asking or any(index in stored_names(s) for s in parent.body)
                return Passes(ast.Name("_" if unsaid else index), index, passes_of(run, parent.iter))
            if not asking or not (own or (index == counting and _passes(run, parent.iter) == _passes_of(run, site))):
                return None
            test, holds = asking[0]
            alone = len(asking) == len(tests) == 1 and holds and _from_first(parent.iter)
            return Passes(test if alone else ast.Name("_"), counting)
        if isinstance(parent, ast.FunctionDef | ast.Lambda):
            return None
        below = parent
    return None


def _from_first(iterator: ast.expr) -> bool:
    """Are the items of a loop counted from the first of their list: not of `reversed(self.layers)`, `self.layers[1:]`?"""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name):
        counted = iterator.func.id in ("enumerate", "zip") and not iterator.keywords
        counted = counted and (iterator.func.id == "zip" or len(iterator.args) == 1)
        return iterator.func.id == "range" or (counted and all(_from_first(part) for part in iterator.args))
    return isinstance(iterator, ast.Name | ast.Attribute)


def _passes(run: Any, iterator: ast.expr) -> str:
    """What has as many items as a loop has passes: `self.widths` of a list that was made over them."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and len(iterator.args) == 1:
        inner = iterator.args[0]
        length = isinstance(inner, ast.Call) and ast.unparse(inner.func) == "len" and len(inner.args) == 1
        if iterator.func.id in ("enumerate", "list", "tuple") or (iterator.func.id == "range" and length):
            return _passes(run, inner.args[0] if length and isinstance(inner, ast.Call) else inner)
    going = run.evaluated[iterator].value if iterator in run.evaluated else None
    if isinstance(going, Repeated) and going.loop is not None and not going.part:
        return _passes(run, going.loop.node.iter)
    return ast.unparse(iterator)


def _passes_of(run: Any, site: Site) -> str:
    return _passes(run, site.loops[-1].node.iter) if len(site.loops) == 1 else ""


def _under_its_name(run: Any, site: Site, name: str) -> dict[str, str]:
    """A name that another list's loop has for the pass, where the site's own has none for it:
    `[nn.Conv(f, (3, 3)) for f in self.widths]` beside `[nn.BatchNorm() for _ in self.widths]`.
    """
    loop = site.loops[-1] if site.loops else None
    unnamed = loop is not None and site.in_setup and ast.unparse(loop.node.target) == "_"
    if loop is None or not unnamed or site.renders.get("pass_name", name) != name:
        return {}
    if not may_bind(site.source, loop.node, name):
        return {}  # setup means something else by it
    texts = {text for other in run.sites for held in other.loops for n, text in what_runs(held).items() if n == name}
    said = ast.unparse(loop.node.iter)
    if len(texts) > 1 or said not in {form for text in texts for form in (text, f"range(len({text}))")}:
        return {}
    site.renders["pass_name"] = name  # the writer gives it to the loop
    if said not in texts:
        site.renders["pass_over"] = min(texts)
    return {name: texts.pop()}


def _is_outside(run: Any, site: Site) -> bool:
    """Is a module that a loop makes called outside of that loop?"""
    return bool(site.loops) and not any(run.joined_loops.get(site.loops[-1], site.loops[-1]) is loop for loop in run.loops)


def pass_names(run: Any) -> frozenset[str]:
    """The names that say, for the items of a list, in which pass of a loop they were made; not those of open loops."""
    items = [site for site in run.sites if _is_outside(run, site)]
    open_names = {name for loop in run.loops for name in what_runs(loop)}
    return frozenset(name for site in items for loop in site.loops for name in _of_pass(site, loop)) - open_names


def _of_pass(site: Site, loop: For) -> dict[str, str]:
    """Each name that says in which pass an item was made: those that the loop binds, and in setup those that it changes."""
    changed = stored_names(loop.node) - what_runs(loop).keys() if site.in_setup else ()
    return {**what_runs(loop), **dict.fromkeys(changed, f"line {loop.node.iter.lineno}")}


def given_back(run: Any, site: Site, node: ast.Call, result: Value, env: Any) -> Value:
    """What a call of an item gives: the sizes of an item that is picked are those of its place in the list, if known."""
    if run.in_setup or not _is_outside(run, site):
        return result
    result = without(result, _left(run, site))
    if not _is_picked(run, site, node, env):
        return result
    names = {name for loop in site.loops for name in what_runs(loop)}
    lost = False

    def change(dim: Dim) -> Dim:
        nonlocal lost
        if not dim.dependencies() & names:
            return dim
        said = _at_place(run, site, node, dim)
        lost |= said is None
        return said if said is not None else dim

    found = map_dims(result, change)
    return without(found, frozenset(names)) if lost else found


def _left(run: Any, site: Site) -> frozenset[str]:
    """Names to which the loops that made an item give values of their own: behind these they hold others, `ch *= 2`."""
    if run.trial or site.in_setup:
        return frozenset()  # the loops may yet be joined: see `list_loops`; setup's own follow the sizes
    loops = [loop for loop in site.loops if run.joined_loops.get(loop, loop) not in run.loops]
    return frozenset().union(*[s.names for loop in loops for s in steps_of(loop.body) if isinstance(s, Local)])


def without(value: Value, names: frozenset[str]) -> Value:
    """A value without the sizes that depend on some names."""
    if isinstance(value, Array):
        dims = tuple(None if d is not None and d.dependencies() & names else d for d in value.shape.dims)
        return dataclasses.replace(value, shape=dataclasses.replace(value.shape, dims=dims))
    if isinstance(value, Tup):
        return dataclasses.replace(value, items=tuple(without(item, names) for item in value.items))
    return Unknown("the sizes of one pass of a loop") if dependencies_of(value) & names else value


def _at_place(run: Any, site: Site, node: ast.Call, dim: Dim) -> Dim | None:
    """The size for the item of a constant index, of a list made along a sequence of the module's fields."""
    place = node.func.slice if isinstance(node.func, ast.Subscript) else None
    index = run.evaluated[place].value if place is not None and place in run.evaluated else None
    loop = site.loops[0]
    target, iterator = loop.node.target, loop.node.iter
    number = index.dim.value if isinstance(index, Int) else None
    if number is None and place is not None and not isinstance(place, ast.Slice) and is_last(run, site, place):
        number = -1
    if len(site.loops) > 1 or not isinstance(target, ast.Name) or number is None:
        return None
    over = run.evaluated[iterator].value if iterator in run.evaluated else None
    plain = isinstance(iterator, ast.Attribute) and isinstance(iterator.value, ast.Name) and iterator.value.id == "self"
    if not (plain and isinstance(over, Static | Tup) and ast.unparse(iterator).removeprefix("self.") in run.fields):
        return None
    item = Dim.opaque(f"{ast.unparse(iterator)}[{number}]")

    def change(atom: Atom) -> Dim | None:
        own = atom.kind == "local" or (atom.kind == "opaque" and atom.args == (target.id,))
        return item if own and atom.dependencies() == {target.id} else None

    said = dim.substitute(change)
    return None if said.dependencies() & {target.id} else said


def _is_picked(run: Any, site: Site, node: ast.Call, env: Any) -> bool:
    """Is the item taken out of its list, and not reached by going through it from its beginning?"""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    counting: set[str] = set()
    looped = False
    for parent in env.source.ancestors(node):
        if isinstance(parent, ast.For):
            looped = True
            if _binds(parent.target, name) and not in_order(run, site, _column(parent.target, parent.iter, name)):
                return True
            counting.add(counter_of(parent.target, parent.iter, parent.body))
        elif isinstance(parent, ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp):
            looped = True
            for generator in parent.generators:
                over = _column(generator.target, generator.iter, name)
                if _binds(generator.target, name) and not in_order(run, site, over):
                    return True
                counting.add(counter_of(generator.target, generator.iter, ()))
        elif isinstance(parent, ast.FunctionDef):
            break
    if isinstance(node.func, ast.Subscript):
        return not (isinstance(node.func.slice, ast.Name) and node.func.slice.id in counting)
    return not looped


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in subtree(target))


def _column(target: ast.expr, iterator: ast.expr, name: str) -> ast.expr:
    """`self.layers` for the name `layer` of `for layer, skip in zip(self.layers, reversed(skips))`."""
    plain = isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and isinstance(target, ast.Tuple)
    if not plain or not isinstance(iterator, ast.Call) or not isinstance(target, ast.Tuple):
        return iterator
    called, args, items = ast.unparse(iterator.func), iterator.args, target.elts
    if called == "enumerate" and len(items) == 2 and args:
        args, items = args[:1], items[1:]
    elif called != "zip" or len(args) != len(items):
        return iterator
    found = [(item, part) for item, part in zip(items, args) if _binds(item, name)]
    return _column(*found[0], name) if len(found) == 1 else iterator


def part_with(site: Site, iterator: ast.expr) -> ast.expr:
    """`self.layers` of `zip(self.layers, skips[::-1])`: what a loop goes through of the list that holds a module."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and iterator.func.id in ("zip", "enumerate"):
        for part in iterator.args:
            if site.container and any(isinstance(n, ast.Attribute) and n.attr == site.container for n in subtree(part)):
                return part_with(site, part)
    return iterator


def in_order(run: Any, site: Site, iterator: ast.expr) -> bool:
    """Does a loop go through the list of a module in the order in which it was made, from its beginning?"""
    for node in subtree(iterator):
        if isinstance(node, ast.Slice) and (node.lower is not None or node.step is not None):
            return False
        if isinstance(node, ast.Name) and node.id in ("sorted", "product", "permutations"):
            return False
    items = iterator
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and iterator.func.id == "enumerate":
        items = iterator.args[0] if iterator.args else iterator
    going = run.evaluated[items].value if items in run.evaluated else None
    if isinstance(going, Repeated):
        return going.in_order
    parts = [run.evaluated[node].value for node in subtree(iterator) if node in run.evaluated]
    held = run.attributes.get(site.container)
    turned = any(isinstance(v, Repeated) and not v.in_order for v in [*parts, *([held.value] if held is not None else [])])
    return not turned and all(getattr(n, "id", "") != "reversed" for n in subtree(iterator))


def made_along(run: Any, loop: ast.AST, items: ast.expr) -> For | None:
    """The loop of setup that made the list which a loop goes through, item by item; None where that is not plain."""
    called = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    if isinstance(items, ast.Call) and called == "enumerate" and len(items.args) == 1:
        items = items.args[0]
    held = items.args[0] if isinstance(items, ast.Call) and called == "range" and len(items.args) == 1 else None
    if isinstance(held, ast.Call) and ast.unparse(held.func) == "len" and isinstance(loop, ast.For):
        items, text = held.args[0], ast.unparse(held.args[0])
        body = [n for part in loop.body for n in subtree(part)]
        picked = {n.value: n.slice for n in body if isinstance(n, ast.Subscript)}
        named = [n for n in body if isinstance(n, ast.Attribute | ast.Name) and ast.unparse(n) == text]
        index = loop.target.id if isinstance(loop.target, ast.Name) else ""
        again = any(isinstance(n, ast.Name) and n.id == index and not isinstance(n.ctx, ast.Load) for n in body)
        if again or any(n not in picked or ast.unparse(picked[n]) != index for n in named):
            return None
    going = run.evaluated[items].value if items in run.evaluated else None
    plain = isinstance(going, Repeated) and going.in_order and not going.part
    return going.loop if plain and isinstance(going, Repeated) and isinstance(going.loop, For) else None


def as_many(made: ast.expr, iterator: ast.expr) -> bool:
    """`range(len(self.widths))` has a pass for each item of a list that was made over `self.widths`."""
    counted = isinstance(iterator, ast.Call) and ast.unparse(iterator.func) == "range" and len(iterator.args) == 1
    length = iterator.args[0] if counted and isinstance(iterator, ast.Call) else None
    if not isinstance(length, ast.Call) or ast.unparse(length.func) != "len" or len(length.args) != 1:
        return False
    held = isinstance(length.args[0], ast.Attribute) and ast.unparse(length.args[0].value) == "self"
    return held and _all_of(made) == ast.unparse(length.args[0])


def _all_of(iterator: ast.expr) -> str:
    """What a loop goes through all of, in whatever order: `self.widths` of `reversed(self.widths)`, `self.widths[::-1]`."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and len(iterator.args) == 1:
        if iterator.func.id in ("reversed", "list", "tuple", "enumerate") and not iterator.keywords:
            return _all_of(iterator.args[0])
    turned = isinstance(iterator, ast.Subscript) and ast.unparse(iterator.slice) == "::-1"
    return _all_of(iterator.value) if turned and isinstance(iterator, ast.Subscript) else ast.unparse(iterator)


def what_runs(loop: For) -> dict[str, str]:
    """Each name that a loop binds, with what it runs over."""
    found: dict[str, str] = {}
    changes = any(changes_in(loop.source, n.id, loop.node) for n in subtree(loop.node.iter) if isinstance(n, ast.Name))
    where = f" in line {loop.node.iter.lineno}" if changes else ""  # the same words mean something else elsewhere

    def bind(target: ast.expr, iterator: ast.expr) -> None:
        if isinstance(target, ast.Name):
            found[target.id] = f"{ast.unparse(iterator)}{where}"
            return
        called = iterator.func.id if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) else ""
        items = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if called == "enumerate" and len(items) == 2 and isinstance(iterator, ast.Call) and len(iterator.args) == 1:
            bind(items[1], iterator.args[0])
            items = items[:1]
        elif called == "zip" and isinstance(iterator, ast.Call) and len(iterator.args) == len(items):
            for item, part in zip(items, iterator.args):
                bind(item, part)
            return
        for place, item in enumerate(items):
            for name in subtree(item):
                if isinstance(name, ast.Name):
                    found[name.id] = f"{place} of {ast.unparse(iterator)}{where}"

    bind(loop.node.target, loop.node.iter)
    return found if loop.again is None else found | what_runs(loop.again)


__all__ = ["Passes", "check_call", "given_back", "made_along", "pass_names", "what_runs", "without"]
