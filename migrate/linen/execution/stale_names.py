"""Names that are bound again: what was made of the old values keeps them, under names of its own in the constructor.

    for pair in self.pairs:                for pair in pairs:
        width = pair[1]                        width = pair[1]
        pair = pair[0]                         pair = pair[0]
        x = nn.Dense(pair + width)(x)          self.Dense.append(nnx.Linear(features, pair + width, rngs=rngs))
                                               features = pair + width

The constructor has the text of `setup` as it is, where nothing is put away under a name of its own: what a name that
stands there says is known by that name, and what is said by no other one is not known any more.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import operator
from collections.abc import Callable, Collection
from typing import Any

from ..lists.conditional_items import told
from ..modules.choices import FactoryChoice
from ..values.arguments import stored_names
from ..values.dims import Dim
from ..values.environment import Env
from ..values.late_makes import names_in
from ..values.merging import dependencies_of, map_dims
from ..values.sites import Abs, BoundArg, Factory, Site, Static, Table, Track
from ..values.values import Int, Tup, Unknown, Value
from .taken_names import is_taken

Change = Callable[[Value], Value]


def keep_stale(run: Any, names: set[str], env: Env) -> None:
    """Sizes that mention a name about to change are saved under a name of their own."""
    renewed = _renewing(run, names)
    for place in _around(env):
        for name, bound in list(place.names.items()):
            if (name not in names or place is not env) and _mentions(bound.value, names):
                own = type(bound.value) is Static and place.is_local(name) and not is_taken(place, name)
                _rename(run, place, name, Static(name, frozenset({name})) if own else renewed(bound.value))
            if not bound.static and (name not in names or place is not env):
                _rename(run, place, name, _unsaid(place.names[name].value, names))
    _of_sites(run, names, renewed)
    for site in run.sites:
        for key, held in site.bound.items() if site.call is None else ():
            if held.localized is None and _unsaid(held.abs.value, names) is not held.abs.value:
                site.bound[key] = dataclasses.replace(held, abs=Abs(Unknown(f"`{min(names)}` has changed")))


def _unsaid(value: Value, names: Collection[str]) -> Value:
    """Factories that the constructor says by what they hold, which it cannot when names of it have changed."""
    if isinstance(value, FactoryChoice):
        then, orelse = _unsaid(value.then, names), _unsaid(value.orelse, names)
        same = then is value.then and orelse is value.orelse
        return value if same else dataclasses.replace(value, then=then, orelse=orelse)
    if isinstance(value, Factory):
        held = [*value.args.values(), *value.positional]
        if not any(h.localized is not None and h.localized.needs & set(names) for h in held):
            return value

        def unsaid(held: BoundArg) -> BoundArg:
            stale = held.localized is not None and held.localized.needs & set(names)
            return dataclasses.replace(held, localized=None) if stale else held

        args = {name: unsaid(h) for name, h in value.args.items()}
        return dataclasses.replace(value, args=args, positional=tuple(map(unsaid, value.positional)))
    return _items(value, lambda item: _unsaid(item, names))


def beside(values: list[Value]) -> list[Value]:
    """Factories that functions give, beside one another: `[norm_of(1.0), norm_of(2.0)]`.

    A name of such a function that holds another value for each is the last one's in the constructor.
    """
    known: dict[tuple[str, ast.expr | None], list[Value]] = {}
    for held in itertools.chain.from_iterable(map(_held, values)):
        for name in held.localized.needs if held.localized is not None else ():
            known.setdefault((name, held.node), []).append(held.abs.value)
    mixed = {name for (name, _), found in known.items() if any(value != found[0] for value in found)}
    return [_unsaid(value, mixed) for value in values] if mixed else values


def _held(value: Value) -> list[BoundArg]:
    """What the factories in a value hold."""
    if isinstance(value, FactoryChoice):
        return [*_held(value.then), *_held(value.orelse)]
    if isinstance(value, Factory):
        return [*value.args.values(), *value.positional]
    inner = value.items if type(value) is Tup else value.items.values() if type(value) is Table else ()
    return [held for item in inner for held in _held(item)]


def _renewing(run: Any, names: set[str]) -> Change:
    """Gives values what they were made of before the names changed, under names of their own."""
    affected: dict[Dim, Dim] = {}

    def saved(dim: Dim) -> Dim:
        if not (dim.dependencies() & names):
            return dim
        if dim not in affected:
            tracker = run.tracker("features")
            run.block.steps.append(Track(tracker, dim))
            affected[dim] = Dim.local(tracker)
        return affected[dim]

    def renewed(value: Value) -> Value:
        if type(value) is Static and value.deps & names:
            dim = saved(Dim.opaque(value.text, value.deps))
            return Static(dim.text(), dim.dependencies(), value.sequence)
        return value if isinstance(value, Static) else _within(map_dims(value, saved), renewed)

    return renewed


def lose_in_setup(run: Any, names: set[str], env: Env) -> None:
    """The same in `setup`, before it binds names again."""
    if run.repeating or env.method is None or env.caller is not None:  # what loops change, the constructor's loops change
        return

    def lost(value: Value) -> Value:
        if isinstance(value, Static | Int) and dependencies_of(value) & names:
            decided = told(run, value if isinstance(value, Int) else Int(run.dim_of(value)))
            if not dependencies_of(decided) & names:
                return decided
            return Unknown(f"`{min(dependencies_of(value) & names)}` has changed")
        return _within(value, lost)

    for name, bound in list(env.names.items()):
        if name not in names and _mentions(bound.value, names):
            own = type(bound.value) in (Static, Int)
            listed = item_by_item(name, bound.value) if type(bound.value) is Tup else None
            _rename(run, env, name, Static(name, frozenset({name})) if own else listed or lost(bound.value))
    for name, held in list(run.attributes.items()):
        if isinstance(held.value, Static | Int) and _mentions(held.value, names):
            run.attributes[name] = dataclasses.replace(held, value=lost(held.value))
    _of_sites(run, names, lost)


def before_loop(run: Any, node: ast.AST, names: set[str], env: Env) -> Env:
    """What the names around a loop hold before it, whose own names may be among them."""
    bound = {name for name in names if env.get(name) is not None}
    if bound and isinstance(node, ast.For):
        (lose_in_setup if run.in_setup else keep_stale)(run, bound, env)
    changing = {name for name in stored_names(node) - names if env.is_local(name)}
    if changing and isinstance(node, ast.For) and not run.in_setup:  # in a pass it were too late to save what was before
        _of_sites(run, changing, _renewing(run, changing), uncalled=True)
    return env.copy()


def item_by_item(name: str, value: Tup) -> Tup:
    """`pair = (b, pair[0])`: from here on its items are what the new name holds."""

    def item(place: int, held: Value) -> Value:
        text, deps = f"{name}[{place}]", frozenset({name})
        if not dependencies_of(held):
            return held
        if isinstance(held, Int):
            return Int(Dim.opaque(text, deps))
        return Static(text, deps) if isinstance(held, Static) else Unknown(text)

    return dataclasses.replace(value, items=tuple(item(i, held) for i, held in enumerate(value.items)))


def _around(env: Env) -> list[Env]:
    """A function's names and those of the functions around it and of who calls it: the constructor has all of them."""
    found, waiting = [env], [env.parent, env.caller]
    while waiting:
        outer = waiting.pop()
        if outer is not None and all(outer is not e for e in found):
            found.append(outer)
            waiting += [outer.parent, outer.caller]
    return found


def _rename(run: Any, place: Env, name: str, value: Value) -> None:
    old = place.names[name]
    if value is old.value:
        return
    new = dataclasses.replace(old, value=value)
    place.names[name] = new
    run.renamed[id(new)] = (new, old)
    said = place.words.get(name)
    if said is not None and said[2] is old:
        place.words[name] = (said[0], said[1], new)


def _mentions(value: Value, names: Collection[str]) -> bool:
    return not _names_of(value).isdisjoint(names)


def _names_of(value: Value) -> frozenset[str]:
    """The local names that a value is made of, and the arguments of partials."""
    if isinstance(value, FactoryChoice):
        return _names_of(value.then) | _names_of(value.orelse)
    if isinstance(value, Factory):
        return frozenset().union(*[_names_of(held.abs.value) for held in (*value.args.values(), *value.positional)])
    return dependencies_of(value)


def _within(value: Value, change: Change) -> Value:
    """What a value holds, changed: items, and the arguments of partials."""
    if isinstance(value, FactoryChoice):
        return dataclasses.replace(value, then=change(value.then), orelse=change(value.orelse))
    if isinstance(value, Factory) and (value.args or value.positional):
        args = {name: _argument(held, change) for name, held in value.args.items()}
        return dataclasses.replace(value, args=args, positional=tuple(_argument(held, change) for held in value.positional))
    return _items(value, change)


def _items(value: Value, change: Change) -> Value:
    if type(value) is Tup:
        items = tuple(change(item) for item in value.items)
        return value if all(a is b for a, b in zip(items, value.items)) else dataclasses.replace(value, items=items)
    if type(value) is Table:
        entries = {key: change(item) for key, item in value.items.items()}
        same = all(entries[key] is item for key, item in value.items.items())
        return value if same else dataclasses.replace(value, items=entries)
    return value


def _argument(held: BoundArg, change: Change) -> BoundArg:
    """What an argument is; how the constructor says it stays: it does so before the name changes."""
    value = change(held.abs.value)
    return held if value is held.abs.value else dataclasses.replace(held, abs=dataclasses.replace(held.abs, value=value))


def _of_sites(run: Any, names: set[str], change: Change, uncalled: bool = False) -> None:
    """The modules that were made, which may be called later. `uncalled`: only those that have not been called."""
    for site in run.sites:
        if _names_of_site(run, site).isdisjoint(names) or (uncalled and site.call is not None):
            continue
        parent = site.source.parents.get(site.node)
        if isinstance(parent, ast.Call) and parent.func is site.node:  # `nn.Dense(n)(x)`
            continue
        changed = names - {name for loop in site.loops for name in names_in(loop.target) | stored_names(loop.node)}
        for key, held in list(site.bound.items()) if changed else ():
            if held.localized is not None and _mentions(held.abs.value, changed):
                site.bound[key] = _argument(held, change)


def _names_of_site(run: Any, site: Site) -> frozenset[str]:
    """The local names that a module's arguments are made of; worked out again only where an argument is another."""
    given = list(site.bound.values())
    known: list[BoundArg]
    names: frozenset[str]
    known, names = run.names_of_sites.get(site, ([], frozenset()))
    if len(known) != len(given) or not all(map(operator.is_, known, given)):
        names = frozenset().union(*[_names_of(held.abs.value) for held in given if held.localized is not None])
        run.names_of_sites[site] = given, names
    return names


__all__ = ["before_loop", "beside", "item_by_item", "keep_stale", "lose_in_setup"]
