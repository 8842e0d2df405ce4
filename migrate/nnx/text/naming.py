"""Attribute names on the NNX object: Linen's names, numbered ones as a list under their stem.

Auto names (`Dense_0`) are counted along the constructor's skeleton as Linen counts them at run time. Where modules of
one class are made in a loop, all of that class live in one `nnx.List` under the class's name, in order of creation, so
that the key `Dense/3` answers to Linen's `Dense_3`.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping

from ...edits import Part, Parts
from ...linen.execution.execute import Execution
from ...linen.modules.by_passes import IN_TURN
from ...linen.modules.compact_calls import group_of, made_again
from ...linen.modules.made_later import NAMED
from ...linen.project.classes import Method
from ...linen.values import name_tests
from ...linen.values.mutation import changed_anywhere
from ...linen.values.sites import Block, Branch, Counted, For, Make, Site, Skipped, Unmigratable, steps_of
from ...names import is_attribute_name
from ...trees import subtree
from ..factories.helper_numbers import can_iterate
from ..setup import hidden_methods
from . import decorated_names, handed_iterators, out_of_loops, shared_names
from .counts_of_sides import Count, behind, exclude, number_alike, one_more, within
from .made_together import made_together
from .made_where import fresh_counter, fresh_name, is_handed, method_of, outermost, own_name_of
from .text_parts import Namer

_LATER = "later_modules"  # what the constructor calls those whose names the call knows, until it has called it
_MOST_WAYS = 256  # in which conditions may choose between factories
_LIFTED_PREFIX = {
    "remat": "Checkpoint", "scan": "Scan", "vmap": "Vmap", "jit": "Jit",
    "remat_scan": "Remat_scan", "map_variables": "Map_variables",
}  # fmt: skip
# Linen classes that share a counterpart in NNX, from whose name theirs does not follow.
_RENAMED = frozenset(
    f"flax.linen.{name}" for name in ("MultiHeadAttention", "MultiHeadDotProductAttention", "SelfAttention")
)


@dataclasses.dataclass
class Place:
    """Where a site's object lives.

    attribute   text after `self.` (attribute kind), or the list's name (list kind)
    kind        attribute | list | dynamic
    index       index expression in the method, for lists; "" means that an iterator hands them out
    dynamic     expression of the name, for setattr and getattr
    counter     (for node, new name): the loop header must count under this name
    """

    kind: str
    attribute: str
    index: str = ""
    dynamic: ast.expr | None = None
    iterator: str = ""
    maker: int | None = None  # which of several makes what the call asks for: the next of a list, or one by its name
    named_by: str = ""  # attribute that holds the class part of the name, where a factory's field decides it
    only_at: int | None = None  # which place of the call it is, where the constructor may have made that of another

    @property
    def next(self) -> str:
        """The next item of a list that an iterator hands out."""
        return f"next({self.iterator})" if self.maker is None else f"{self.iterator}({self.maker})"

    def container(self, namer: Namer) -> str:
        """What the constructor puts such modules in."""
        if self.maker is None:
            return namer.name("flax.nnx.List")
        return namer.parity("InTurn" if self.kind == "list" else "ByName")

    def handed_out(self, namer: Namer) -> str:
        """What hands out, in one call, the modules of a loop whose passes the call knows."""
        return f"{namer.parity('in_turn')}({self.object})" if self.kind == "list" else f"{namer.parity('by_name')}(self)"

    def looked_up(self, holder: str, name: Part) -> Parts:
        """What has a computed name, as the class's methods say it."""
        if self.maker is None:
            return (f"getattr({holder}, ", name, ")")
        return (f"{self.iterator}(", name, f", {self.maker})")

    @property
    def object(self) -> str:
        """The object (or the list) as the class's methods say it."""
        return f"getattr(self, {self._name})" if self.named_by else f"self.{self.attribute}"

    def held_by(self, holder: str) -> str:
        """The same, where `holder` stands for the module: a parameter of a lifted function."""
        if holder == "self":
            return self.object
        if self.named_by:
            raise Unmigratable("NNX163", "a lifted function makes modules of several kinds")
        return f"{holder}.{self.attribute}"

    def assigned(self, expression: Parts) -> Parts:
        """The statement of the constructor that puts `expression` there."""
        if self.named_by:
            return (f"setattr(self, {self._name}, ", *expression, ")")
        return (f"self.{self.attribute} = ", *expression)

    @property
    def _name(self) -> str:
        """The attribute's name as an expression."""
        return f'f"{{self.{self.named_by}}}_{self.attribute}"' if self.attribute else f"self.{self.named_by}"


@dataclasses.dataclass
class Names:
    """The places of all sites of one class, and what the methods need for them."""

    places: dict[Site, Place] = dataclasses.field(default_factory=dict)
    lists: list[Place] = dataclasses.field(default_factory=list)  # of an nnx.List each, created empty first
    counters: dict[ast.For, str] = dataclasses.field(default_factory=dict)  # loop → name that counts it
    iterators: dict[str, tuple[ast.stmt, str]] = dataclasses.field(default_factory=dict)  # list → before, name
    named_by: dict[str, Site] = dataclasses.field(default_factory=dict)  # attribute with a class's name → whose
    again: dict[Site, Site] = dataclasses.field(default_factory=dict)  # what is made once more → what it is
    handed: dict[str, tuple[Method, ...]] = dataclasses.field(default_factory=dict)  # iterator → methods that take it


def class_label(run: Execution, site: Site) -> str:
    """The name that Linen numbers: the class's own, behind its lifted transforms.

    Where a factory's field decides the class, and with it the name, `*field` stands for it.
    """
    labels = kind_labels(site)
    if len(labels) > 1:
        assert site.factory is not None
        return f"*{site.factory.chosen_by or chooser(site)}"
    return decorated_names.prefix(run, site, _LIFTED_PREFIX) + labels.pop()


def chooser(site: Site) -> str:
    """The local name that holds one of several factories; "" if it is not a name."""
    return site.node.func.id if isinstance(site.node.func, ast.Name) else ""


def kind_labels(site: Site) -> set[str]:
    """The names that Linen may number the site's module by."""
    return {lifted_prefix(kind) + _class_of(kind).rpartition(".")[2] for kind in (site, *site.alternatives)}


def _class_of(site: Site) -> str:
    return (site.factory.variant if site.factory is not None else "") or site.target


def lifted_prefix(site: Site) -> str:
    """What lifted transforms put before the name of a class."""
    return "".join(lifted.label or _LIFTED_PREFIX[lifted.kind] for lifted in site.lifted)


def _named_by(run: Execution, label: str, sites: list[Site], names: Names) -> str:
    """The attribute that holds the class part of the name, "" where that is a constant."""
    if not label.startswith("*"):
        return ""
    name = f"{label[1:]}_name"
    while name in run.fields or name in run.model.methods():
        name += "_"
    if len({lifted_prefix(kind) for site in sites for kind in (site, *site.alternatives)}) > 1 or label == "*":
        raise Unmigratable("NNX163", "modules of several kinds, some of them lifted, have no common name", sites[0].node)
    if any(kind.target in _RENAMED for site in sites for kind in (site, *site.alternatives)):
        raise Unmigratable("NNX163", "modules of several kinds have no common name", sites[0].node)
    names.named_by[name] = min(sites, key=lambda s: s.origin)
    return name


def assign(run: Execution, entry: str, names: Names) -> None:
    """Name the sites of one entry method's skeleton."""
    block = run.blocks[entry]
    again = made_again(run, entry)
    names.again.update(again)
    auto = _auto_names(run, block)
    _check_again(auto, again)
    _check_kinds(auto, {step.label for step in steps_of(block) if isinstance(step, Skipped)})
    modules = [s for s in run.sites if s.method == entry and s.kind in ("layer", "class") and s not in again]
    made = collections.Counter(s.place_key() for s in modules)
    for label, every in auto.items():
        members = [(site, number) for site, number in every if site not in again]
        named_by = _named_by(run, label, [s for s, _ in members], names)
        if any(IN_TURN in site.renders for site, _ in members):
            _in_turn(run, label, [s for s, _ in every], names, block)
            continue
        listed = any(site.loops or number is None or made[site.place_key()] > 1 for site, number in members)
        if listed or number_alike(members):
            if any(isinstance(step, Skipped) and step.label == label for step in steps_of(block)):
                reason = f"{label} modules, of which one is made for its carry only, cannot be numbered"
                raise Unmigratable("NNX153", reason, members[0][0].node)
            _as_list(run, label, [s for s, _ in members], names, named_by)
            continue
        for site, number in members:
            attribute = f"{label}_{number}" if not named_by else str(number)
            names.places[site] = Place("attribute", attribute, named_by=named_by)
    explicit: dict[str, list[Site]] = {}
    for site in run.sites:
        if site.method != entry or site.in_setup or site.kind == "rng" or site.lazy or site in names.places:
            continue
        if site in again:
            continue
        spec = site.name
        if spec is None:
            reason = f"what `{ast.unparse(site.node)}` makes cannot be numbered: several calls of a function make it"
            raise Unmigratable("NNX153", reason, site.node)
        if IN_TURN in site.renders:
            _by_name(run, site, names)
            continue
        if NAMED in site.renders:
            names.places[site] = Place("dynamic", "", dynamic=spec.node or ast.Constant(spec.constant))
            continue
        if spec.constant is not None:
            if not is_attribute_name(spec.constant) or (made[site.place_key()] > 1 and spec.node is not None):
                names.places[site] = Place("dynamic", "", dynamic=spec.node or ast.Constant(spec.constant))
                continue
            if site.loops and site.kind != "param" and not _of_one_pass(site):
                raise Unmigratable("NNX154", f"the name {spec.constant!r} is used in a loop", site.node)
            names.places[site] = Place("attribute", own_name_of(run, site, spec.constant))
            continue
        assert spec.node is not None
        stem = stem_of(spec.node, site)
        if stem is not None and site.kind not in ("param", "variable"):
            explicit.setdefault(stem, []).append(site)
        else:
            if spec.localized is None:
                raise Unmigratable("NNX155", f"the name `{ast.unparse(spec.node)}` is known only when called", site.node)
            names.places[site] = Place("dynamic", "", dynamic=spec.node)
    for stem, sites in explicit.items():
        if len(sites) == 1 and is_attribute_name(stem) and stem not in run.fields and _counts(sites[0]):
            names.lists.append(Place("list", stem))
            names.places[sites[0]] = Place("list", stem, sites[0].loops[-1].index)
        else:
            for site in sites:
                assert site.name is not None
                names.places[site] = Place("dynamic", "", dynamic=site.name.node)
    for site, first in again.items():
        names.places[site] = names.places[first]
    _check(run, entry, names)
    for site, number in shared_names.marks(run, names.places, names.again).items():
        names.places[site] = dataclasses.replace(names.places[site], only_at=number)


def _check_again(auto: Mapping[str, list[tuple[Site, int | None]]], again: Mapping[Site, Site]) -> None:
    """Two calls of one compact method give what they make the same names, or it is not the same."""
    numbers = {site: number for members in auto.values() for site, number in members}
    for site, first in again.items():
        if numbers.get(site) != numbers.get(first) or (site.name is None and numbers.get(site) is None):
            raise several_of(site)


def several_of(site: Site) -> Unmigratable:
    """One place of the code stands for modules that are not the same."""
    return Unmigratable("NNX159", f"`{ast.unparse(site.node)}` makes several modules from one place", site.node)


def _counts(site: Site) -> bool:
    return len(site.loops) == 1 and not site.conditions and bool(site.loops[0].index)


def _of_one_pass(site: Site) -> bool:
    """Is a module made under `if i == 0:` alone, with i counting a loop's passes?"""
    loop = site.loops[0]
    if len(site.loops) != 1 or not loop.index:
        return False
    within = set(subtree(loop.node))
    for node, _ in site.conditions:
        if isinstance(node, ast.If) and node in within and _asks_for_one(node.test, loop.index):
            return any(site.node in subtree(statement) for statement in node.body)
    return False


def _asks_for_one(test: ast.expr, counter: str) -> bool:
    """`i == 0`, `i == len(self.dims) - 1`: a pass's number against what all passes have in common."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_for_one(value, counter) for value in test.values)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) != 1:
        return False
    of_fields = {n.id for n in subtree(test.comparators[0]) if isinstance(n, ast.Name)} <= {"self", "len"}
    return isinstance(test.left, ast.Name) and test.left.id == counter and of_fields


def stem_of(node: ast.expr, site: Site) -> str | None:
    """`f"layer_{i}"` with i counting from 0 → `layer`; anything else has no stem."""
    if not (isinstance(node, ast.JoinedStr) and len(node.values) == 2):
        return None
    head, tail = node.values
    if not (isinstance(head, ast.Constant) and isinstance(head.value, str) and head.value.endswith("_")):
        return None
    if not (isinstance(tail, ast.FormattedValue) and isinstance(tail.value, ast.Name) and tail.conversion == -1):
        return None
    if tail.format_spec is not None or not site.loops or site.loops[-1].index != tail.value.id:
        return None
    return head.value[:-1]


def _auto_names(run: Execution, block: Block) -> dict[str, list[tuple[Site, int | None]]]:
    """The automatic names by label: sites and their numbers, for all ways in which factories may be chosen."""
    tests = list(dict.fromkeys(_choices_in(block)))
    numbers: dict[Site, set[int | None]] = {}
    labels: dict[Site, str] = {}
    ways = list(itertools.islice(name_tests.ways(tests), _MOST_WAYS + 1))
    if len(ways) > _MOST_WAYS:
        raise Unmigratable("NNX132", "too many conditions choose between kinds of modules")
    for holds in ways:
        auto: dict[str, list[tuple[Site, int | None]]] = {}
        _number(run, block, {}, auto, holds)
        for label, members in auto.items():
            for site, number in members:
                labels[site] = label
                numbers.setdefault(site, set()).add(number)
    found: dict[str, list[tuple[Site, int | None]]] = {}
    for site in sorted(numbers, key=lambda s: s.origin):
        number = next(iter(numbers[site])) if len(numbers[site]) == 1 else None
        found.setdefault(labels[site], []).append((site, number))
    return found


def _choices_in(block: Block) -> Iterator[str]:
    for step in block.steps:
        if isinstance(step, For):
            yield from _choices_in(step.body)
        elif isinstance(step, Branch):
            if step.choice:
                yield step.choice
            yield from _choices_in(step.then)
            yield from _choices_in(step.orelse)


_Label = tuple[int, str]  # a group of `compact_calls`, and the name of a class


def _number(run: Execution, block: Block, counts: dict[_Label, Count], auto: dict, holds: Mapping[str, bool]) -> None:
    """Walk the skeleton as Linen's run would, counting auto names; None: it depends on a condition."""
    for step in block.steps:
        if isinstance(step, Skipped):
            number = counts.get((step.group, step.label), 0)
            counts[step.group, step.label] = None if step.often else one_more(number)
        elif isinstance(step, Make | Counted):
            site = step.site
            if isinstance(step, Make) and site.renders.get("counted"):
                continue  # Linen made it further up
            if site.name is not None or site.kind not in ("layer", "class") or site.in_setup:
                continue
            label, group = class_label(run, site), group_of(site)
            number = counts.get((group, label), 0)
            if isinstance(step, Counted):
                behind_loop = any(other.loops for other, _ in auto.get(label, ()))
                site.renders["number"] = number if isinstance(number, int) and not behind_loop else None
            auto.setdefault(label, []).append((site, number if isinstance(number, int) else None))
            counts[group, label] = one_more(number)
        elif isinstance(step, For):
            _number(run, step.body, counts, auto, holds)
        elif isinstance(step, Branch) and step.choice:
            _number(run, step.then if holds[step.choice] else step.orelse, counts, auto, holds)
        elif isinstance(step, Branch):
            then, orelse = ({key: within(n, step, side) for key, n in counts.items()} for side in (True, False))
            _number(run, step.then, then, auto, holds)
            _number(run, step.orelse, orelse, auto, holds)
            for key in {*then, *orelse}:
                a, b = then.get(key, 0), orelse.get(key, 0)
                if a != b and _is_stateless(key[1]):
                    a = b = max(n if isinstance(n, int) else 0 for n in (a, b))
                counts[key] = behind(step, a, b)


def _is_stateless(label: str) -> bool:
    return label == "Dropout"


def _check_kinds(auto: dict[str, list[tuple[Site, int | None]]], skipped: Iterable[str]) -> None:
    """Linen counts per class, so a class that two names may stand for cannot be counted."""
    seen: dict[str, str] = dict(zip(skipped, skipped))
    for key, members in auto.items():
        for label in set().union(*[kind_labels(site) for site, _ in members]):
            if seen.setdefault(label, key) != key:
                node = members[0][0].node
                raise Unmigratable("NNX163", f"{label} modules are made here and there, by factories of several kinds", node)


def _as_list(run: Execution, label: str, sites: list[Site], names: Names, named_by: str) -> None:
    _place_late(label, sites)
    if label in run.fields:
        raise Unmigratable("NNX156", f"a field and a list of modules are both called {label}", sites[0].node)
    held = Place("list", label if not named_by else "", named_by=named_by)
    names.lists.append(held)
    looped = [s for s in sites if s.loops]
    if _around_given(run, sites, looped, names, held):
        return
    simple = (
        bool(looped)
        and all(len(s.loops) == 1 and isinstance(s.loops[0].node, ast.For) for s in looped)
        and all(s.loops[0].node in s.anchor()[0].ancestors(s.anchor()[1]) for s in looped)
        and len({id(s.loops[0].node) for s in looped}) == 1
        and len({(s.conditions, _sides(s)) for s in sites}) == 1
        and all(_unchanged(looped[0], condition) for condition, _ in looped[0].conditions)
    )
    if simple:
        loop = looped[0].loops[0]
        node = loop.node
        assert isinstance(node, ast.For)
        before = [s for s in sites if not s.loops and s.origin < looped[0].origin]
        after = [s for s in sites if not s.loops and s.origin > looped[-1].origin]
        counter = loop.index
        if not counter or counter == "_":
            counter = names.counters.get(node) or fresh_counter(run, node)
            names.counters[node] = counter
        for position, site in enumerate(before):
            names.places[site] = dataclasses.replace(held, index=str(position))
        for position, site in enumerate(looped):
            index = counter if len(looped) == 1 else f"{len(looped)} * {counter}"
            offset = len(before) + position
            names.places[site] = dataclasses.replace(held, index=f"{index} + {offset}" if offset else index)
        for position, site in enumerate(after):
            names.places[site] = dataclasses.replace(held, index=str(position - len(after)))
        return
    if any(s.through for s in sites) and not can_iterate(run, sites):
        reason = f"{label} modules that a helper function makes cannot be numbered here"
        raise Unmigratable("NNX135", reason, sites[0].anchor()[1])
    counted = sites if sites[-1].loops else sites[:-1]  # whether there is the last changes no other's number
    on_call = any(calltime for s in counted for _, calltime in s.conditions)
    if on_call and not _interchangeable(run, sites) and not made_together(run, sites):
        which = f"whether a {label} in a loop is made" if looped else f"how many {label} modules are made before this one"
        raise Unmigratable("NNX157", f"{which} depends on how the module is called", sites[-1].node)
    if len({s.anchor()[0].path for s in sites}) > 1:
        raise Unmigratable("NNX158", f"{label} modules are made in loops that cannot be numbered", sites[0].node)
    holders = {method_of(s) for s in sites}
    entry = run.model.method(sites[0].method)
    elsewhere = len(holders) > 1 or entry is None or holders != {entry.node}
    if elsewhere and _is_stateless(label) and not sites[0].loops and not named_by:  # one of them serves for all
        names.lists.remove(held)
        for site in sites:
            names.places[site] = Place("attribute", f"{label}_0")
        names.again.update(dict.fromkeys(sites[1:], sites[0]))
        return
    takers = handed_iterators.takers(run, entry, sites) if elsewhere and not named_by else ()
    if len(holders) > 1 and not takers:
        raise Unmigratable("NNX153", f"{label} modules made in several methods cannot be numbered", sites[0].node)
    if elsewhere and not takers:
        raise Unmigratable("NNX153", f"{label} modules made in a helper method cannot be numbered", sites[0].node)
    handed = [s for s in sites if is_handed(run, s)]
    if len(handed) == len(sites):  # the constructor gives them away, and the method takes none
        names.places.update(dict.fromkeys(sites, held))
        return
    if handed:
        reason = f"{label} modules, of which one is given to another module where it is made, cannot be numbered here"
        raise Unmigratable("NNX153", reason, handed[0].node)
    iterator = fresh_name(run, label.lstrip("*").removesuffix("_cls").lower())
    if takers:
        assert entry is not None
        names.handed[iterator] = takers
        first = handed_iterators.first_statement(entry)
    else:
        first = outermost(run, sites)
    for site in sites:
        names.places[site] = dataclasses.replace(held, iterator=iterator)
    names.iterators[held.object] = (first, iterator)


def _around_given(run: Execution, sites: list[Site], looped: list[Site], names: Names, held: Place) -> bool:
    """Are all modules of a list that loops make given to others there, and the rest called by themselves before or after?

    The method asks for the first and the last one.
    """
    rest = [s for s in sites if not s.loops]
    if not looped or not rest or any(s.conditions or s.through for s in rest):
        return False
    if not all(is_handed(run, s) for s in looped) or any(is_handed(run, s) for s in rest):
        return False
    before = [s for s in rest if s.origin < looped[0].origin]
    after = [s for s in rest if s.origin > looped[-1].origin]
    if len(before) + len(after) < len(rest):
        return False
    names.places.update(dict.fromkeys(looped, held))
    for position, site in enumerate(before):
        names.places[site] = dataclasses.replace(held, index=str(position))
    for position, site in enumerate(after):
        names.places[site] = dataclasses.replace(held, index=str(position - len(after)))
    return True


def _in_turn(run: Execution, label: str, sites: list[Site], names: Names, block: Block) -> None:
    """Modules of one class of which the call on shapes makes as many as there are passes."""
    failure = Unmigratable("NNX123", f"{label} modules are made in a loop whose passes only the call knows", sites[0].node)
    entry = run.model.method(sites[0].method)
    plain = all(not (s.through or s.alternatives or s.choice or s.renders.get("counted")) for s in sites)
    if not plain or entry is None or {method_of(s) for s in sites} != {entry.node} or names.again.keys() & set(sites):
        raise failure
    if label in run.fields or any(is_handed(run, s) for s in sites) or not out_of_loops.take(block, sites):
        raise failure
    iterator = fresh_name(run, label.lower())
    for number, site in enumerate(sites):
        site.renders[IN_TURN] = number
        names.places[site] = Place("list", label, iterator=iterator, maker=number)
    names.lists.append(names.places[sites[0]])
    names.iterators[names.places[sites[0]].object] = (outermost(run, sites), iterator)


def _by_name(run: Execution, site: Site, names: Names) -> None:
    """One place of the call makes a module for each pass, under names that only this knows."""
    entry = run.model.method(site.method)
    taken = site.loops or site.alternatives or _LATER in run.fields
    if taken or entry is None or method_of(site) is not entry.node or is_handed(run, site):
        raise Unmigratable("NNX123", "named modules are made in a loop whose passes only the call knows", site.node)
    assert site.name is not None
    others = [held for held in names.places.values() if held.attribute == _LATER]
    if others:
        names.places[site] = dataclasses.replace(others[0], dynamic=site.name.node, maker=len(others))
        return
    names.places[site] = place = Place("dynamic", _LATER, "", site.name.node, fresh_name(run, "module"), maker=0)
    names.lists.append(place)
    names.iterators[place.object] = (outermost(run, [site]), place.iterator)


def _interchangeable(run: Execution, sites: list[Site]) -> bool:
    """Is any module of the list as good as another: they have no variables, and all are made alike?

    The constructor then makes one for every pass of the loop, and a call takes as many of them as it needs.
    """
    (site, *others) = sites
    if others or site.lifted or site.scopes or site.alternatives or site.name is not None:
        return False
    if site.foreign:
        return False
    if site.kind == "class":
        inner = run.analyser.execution(site.target).sites
        if not inner or any(s.kind != "rng" for s in inner):
            return False
    elif site.target != "flax.linen.Dropout":
        return False
    names = [n for loop in site.loops for n in subtree(loop.node) if isinstance(n, ast.Name)]
    changed = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return not any(b.localized is not None and b.localized.needs & changed for b in site.bound.values())


def _place_late(label: str, sites: list[Site]) -> None:
    """Those that the constructor makes late are put where Linen's order has them, which must be known."""
    late = [s for s in sites if s.renders.get("counted")]
    unknown = next((s for s in late if s.renders.get("number") is None), None)
    if unknown is not None:
        raise Unmigratable("NNX158", f"{label} modules are made in loops and called in another order", unknown.node)
    for site in late:
        number = site.renders["number"]
        # Of those that come before it, some may be put there after it.
        missing = [s for s in late if s.renders["counted"] > site.renders["counted"] and s.renders["number"] < number]
        site.renders["place"] = number - len(missing)


def _sides(site: Site) -> tuple[bool | None, ...]:
    """On which sides of its conditions a site is made."""
    sides = site.renders.get("sides", {})
    return tuple(sides.get(node) for node, _ in site.conditions)


def _unchanged(site: Site, condition: ast.AST) -> bool:
    """Does a condition hold in all iterations of the site's loop, or in none?"""
    test = getattr(condition, "test", condition)
    loop = site.loops[0].node
    changed = {n.id for n in subtree(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    changed |= changed_anywhere(loop)
    return not any(isinstance(n, ast.Name) and n.id in changed for n in subtree(test))


def _named_by_conditions(site: Site) -> bool:
    """Has it a name of its own, under conditions that the constructor knows? Linen has no name twice in one call."""
    conditional = bool(site.conditions) and not any(calltime for _, calltime in site.conditions)
    return conditional and site.name is not None and site.name.constant is not None and not site.loops


def _check(run: Execution, entry: str, names: Names) -> None:
    """Two things under one attribute are two things: only branches that exclude each other may share a name."""
    taken: dict[str, Site] = {}
    for site, place in names.places.items():
        if place.kind != "attribute" or site in names.again:
            continue
        other = taken.get(place.object)
        if other is not None and other.place_key()[:-1] != site.place_key()[:-1]:
            exclusive = any(a is b for a, ac in site.conditions for b, bc in other.conditions if not ac and not bc)
            exclusive |= site.method == other.method and exclude(site, other)
            if not exclusive and not (_named_by_conditions(site) and _named_by_conditions(other)):
                raise Unmigratable("NNX152", f"two modules are called {place.attribute}", site.node)
        if other is not None and other.place_key() == site.place_key() and other.method == site.method:
            raise several_of(site)
        taken[place.object] = site
    methods = run.model.methods().keys() - hidden_methods.renamed(run).keys()
    lists = {place.object for place in names.places.values() if place.kind == "list"}
    for site, place in names.places.items():
        if place.kind == "attribute" and place.object in lists:
            raise Unmigratable("NNX152", f"a module and a list of modules are both called {place.attribute}", site.node)
        if place.attribute in methods:
            raise Unmigratable("NNX156", f"a submodule and a method are both called {place.attribute}", site.node)
