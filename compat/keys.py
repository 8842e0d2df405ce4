"""Linen key paths ↔ NNX paths, and the search for what belongs to what.

Names are kept by the migration, so that most keys are equal. What differs is mechanical: entries of lists and dicts
(`Block_0` ↔ `('Block', 0)`), Python keywords (`if` ↔ `if_`), boxes (a trailing `value`), the place of a collection
in the saved tree, cells whose layers NNX packs, and, on request, stacked against unrolled layers.

Two keys are the same if their *forms* are: components joined by `_`, keywords without trailing underscore.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import keyword
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .errors import MismatchError
from .formats.base import Checkpoint, Key, Leaf
from .layouts import Restack, concat, stack, take
from .target import OPTIONAL, Path, Slot, linen_key

Rename = Mapping[str, str] | Callable[[str], str | None]

_PARAM_ROOTS = ("params", "target", "model", "module")
# Subtrees that repeat the parameters' keys without being the parameters.
_SHADOWS = frozenset(
    (
        "opt_state",
        "mu",
        "nu",
        "ema",
        "ema_params",
        "params_ema",
        "param_states",
        "trace",
        "acc_grads",
        "optimizer_state",
    )
)
_OPTIMIZER_FIELDS = ("opt_state", "step", "optimizer", "state")
_PACKED = {
    "dense_i": (("ii", "if", "ig", "io"), ("ir", "iz", "in"), ("i",)),
    "dense_h": (("hi", "hf", "hg", "ho"), ("hr", "hz", "hn"), ("h",)),
}
# What flax.optim and t5x called the slots of optax.
_OLD_SLOTS: dict[str, tuple[str, ...]] = {
    "mu": ("grad_ema",),
    "nu": ("grad_sq_ema",),
    "trace": ("momentum",),
    "sum_of_squares": ("G",),
    "v": ("v",),
    "v_row": ("v_row",),
    "v_col": ("v_col",),
}
_MAX_MOUNT = 8


def form(key: Iterable[Any]) -> str:
    """The normal form under which a Linen key and an NNX path are equal."""
    return "_".join(p[:-1] if p.endswith("_") and keyword.iskeyword(p[:-1]) else p for p in map(str, key))


def bare_numbers(path: Path) -> list[Key]:
    """Linen's keys where the entries of lists are named by their numbers alone (`name=str(i)`).

    With several lists on the way, each may be named so or not.
    """
    lists = [i for i in range(1, len(path)) if isinstance(path[i], int) and isinstance(path[i - 1], str)]
    found: list[Key] = []
    for count in range(1, min(len(lists), 4) + 1):
        for chosen in itertools.combinations(lists, count):
            parts: list[str] = []
            for position, part in enumerate(path):
                if parts and isinstance(part, int):
                    parts[-1] = str(part) if position in chosen else f"{parts[-1]}_{part}"
                else:
                    parts.append(str(part))
            found.append(tuple(parts))
    return found


def unbox_key(key: Key) -> Key:
    """The key without the `value` that a box, or an `nnx.State`, adds."""
    return key[:-1] if len(key) > 1 and key[-1] in ("value", "raw_value") else key


@dataclasses.dataclass
class Plan:
    """What goes where.

    Attributes:
        sources: by slot path: the leaf to read, or a virtual one made of several.
        missing: slots without a source that need one.
        fresh: slots that Linen checkpoints never hold (rng streams), to be taken from `create()`.
        extra: checkpoint keys that belong to the parts in use and have no slot.
        unplaced: rng keys of the TrainState for which the target has no place.
        ignored: keys of parts that the target does not ask for.
        problems: ambiguities and clashes, as readable lines.
    """

    sources: dict[Path, Leaf] = dataclasses.field(default_factory=dict)
    missing: list[Slot] = dataclasses.field(default_factory=list)
    fresh: list[Slot] = dataclasses.field(default_factory=list)
    extra: list[Key] = dataclasses.field(default_factory=list)
    unplaced: list[Key] = dataclasses.field(default_factory=list)
    ignored: list[Key] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)
    mounts: dict[str, Key] = dataclasses.field(default_factory=dict)


class Renamer:
    """The user's `rename=`: a dict of names, paths or regular expressions, or a function; source name → target name.

    Names and paths without regex characters match whole components; a function gets the slash-separated key below its
    collection and returns the new one, or None to leave it.
    """

    def __init__(self, rename: Rename | None) -> None:
        self.function = rename if callable(rename) else None
        self.patterns: list[tuple[re.Pattern[str], str]] = []
        if isinstance(rename, Mapping):
            for old, new in rename.items():
                if not isinstance(old, str) or not isinstance(new, str):
                    raise MismatchError("rename= is not valid:", [f"{old!r}: {new!r}: each must be a string"])
                literal = not re.search(r"[\\^$*+?{}\[\]|()]", old)
                pattern = rf"(?<![^/]){re.escape(old)}(?![^/])" if literal else old
                try:
                    self.patterns.append((re.compile(pattern), new.replace("\\", "\\\\") if literal else new))
                except re.error as error:
                    raise MismatchError("rename= is not valid:", [f"{old!r} is no regular expression: {error}"]) from None

    def __bool__(self) -> bool:
        return bool(self.function or self.patterns)

    def __call__(self, key: Key) -> Key:
        text = "/".join(key)
        if self.function is not None:
            new = self.function(text)
            return key if new is None else tuple(new.split("/"))
        for pattern, replacement in self.patterns:
            if pattern.search(text):
                return tuple(pattern.sub(replacement, text).split("/"))
        return key


class _Index:
    """Checkpoint keys by prefix and by the form of the rest."""

    def __init__(self, keys: Sequence[Key], renamer: Renamer) -> None:
        self.by_prefix: dict[Key, dict[str, list[Key]]] = defaultdict(lambda: defaultdict(list))
        self.by_form: dict[str, set[Key]] = defaultdict(set)
        self.renamed = bool(renamer)
        self.keys = frozenset(keys)
        params = _param_suffixes(keys) if renamer else set()
        for key in keys:
            bare = unbox_key(key)
            named = bare != key and not renamer  # it may be a parameter that is itself called `value`
            alone = named and bare[-1] == "params"  # the only one: below any other name it is a box's
            for i in range(min(len(bare) + alone, _MAX_MOUNT)):
                rest = bare[i:]
                texts = [form(_renamed(rest, renamer, params) if renamer else rest)] if rest else []
                if named:
                    texts.append(form(key[i:]))
                for text in texts:
                    self.by_prefix[bare[:i]][text].append(key)
                    self.by_form[text].add(bare[:i])


def _param_suffixes(keys: Sequence[Key]) -> set[Key]:
    """Keys of parameters below their collection; the optimizer's slots repeat them."""
    found = set()
    for key in map(unbox_key, keys):
        if not set(key) & _SHADOWS:
            cut = max((i + 1 for i, part in enumerate(key) if part in ("params", "target")), default=0)
            found.add(key[cut:])
    return found


def _renamed(rest: Key, renamer: Renamer, params: set[Key]) -> Key:
    """`rest` with the parameter's name in it replaced."""
    for j in range(len(rest)):
        if rest[j:] in params:
            return (*rest[:j], *renamer(rest[j:]))
    return renamer(rest)


def match(
    found: Sequence[Slot],
    checkpoint: Checkpoint,
    *,
    rename: Rename | None = None,
    restack: Sequence[Restack] = (),
    ignore: Sequence[str] = (),
    strict: bool = True,
) -> Plan:
    """Finds the source of every slot.

    Raises:
        MismatchError: with `strict`, when a key on either side is left over; always, when two keys come to one.
    """
    keys = [k for k in checkpoint.leaves if not any(re.search(p, "/".join(k)) for p in ignore)]
    matcher = _Matcher(checkpoint, keys, Renamer(rename), restack)
    plan = matcher.run(found)
    if plan.problems or (strict and (plan.missing or plan.extra)):
        raise mismatch(plan, checkpoint)
    return plan


def fitting(
    wanted: Sequence[Slot], rename: Rename | None, restack: Sequence[Restack], ignore: Sequence[str]
) -> Callable[[Checkpoint], bool]:
    """Tells whether a checkpoint, or an item of one, has a source for every slot."""

    def fits(candidate: Checkpoint) -> bool:
        try:
            return not match(wanted, candidate, rename=rename, restack=restack, ignore=ignore, strict=False).missing
        except MismatchError:
            return False

    return fits


def mismatch(plan: Plan, checkpoint: Checkpoint) -> MismatchError:
    """One error for all keys, each with its nearest candidates on the other side."""
    available = ["/".join(unbox_key(k)) for k in (plan.extra or checkpoint.leaves)]
    wanted = ["/".join(_expected(s)) for s in plan.missing]
    lines = list(plan.problems)
    for slot, name in zip(plan.missing, wanted):
        lines.append(f"missing: {slot.name} {slot.shape} (expected key {name}){_nearest(name, available)}")
    for key in plan.extra:
        leaf = checkpoint.leaves[key]
        lines.append(f"extra: {'/'.join(key)} {leaf.shape} has no place in the target{_nearest('/'.join(key), wanted)}")
    return MismatchError(
        f"{checkpoint.path}: {len(plan.missing)} missing and {len(plan.extra)} extra keys. Map names with rename=, "
        f"leave keys "
        "out with ignore=, or pass strict=False to take the missing values from create():",
        lines,
        missing=[s.name for s in plan.missing],
        extra=["/".join(k) for k in plan.extra],
    )


def _expected(slot: Slot) -> Key:
    if slot.group == "optimizer":
        head = slot.linen[: len(slot.linen) - len(slot.linen_param)]
        return (*map(str, head), *_linen_name(slot, slot.linen_param))
    name = _linen_name(slot, slot.linen)
    return name if slot.group in ("field", "tree") else (slot.group, *name)


def _linen_name(slot: Slot, path: Path) -> Key:
    return (*linen_key(path[: len(path) - len(slot.inner)]), *slot.inner)


def _nearest(name: str, options: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, options, n=3, cutoff=0.5) if len(options) <= 5000 else []
    return f"; nearest: {', '.join(close)}" if close else ""


class _Matcher:
    def __init__(self, checkpoint: Checkpoint, keys: Sequence[Key], renamer: Renamer, restack: Sequence[Restack]) -> None:
        self.leaves = checkpoint.leaves
        self.keys = keys
        self.index = _Index(keys, renamer)
        self.restack = restack
        self.plan = Plan()
        slots = {key[-1] for key in keys if "param_states" in key}
        # What RMSProp called `v` is optax's `nu`; Adafactor's `v` is the mean of something else.
        self.old_slots = _OLD_SLOTS if "v_row" in slots else {**_OLD_SLOTS, "nu": (*_OLD_SLOTS["nu"], "v")}
        self.used: dict[Key, Slot] = {}
        self.taken: set[tuple[str, Key]] = set()
        self.numbers: dict[Path, Key] = {}

    def run(self, found: Sequence[Slot]) -> Plan:
        groups: dict[tuple[Path, str], list[Slot]] = defaultdict(list)
        for slot in found:
            if slot.group == "empty":
                continue
            groups[slot.owner if slot.group != "field" else slot.path, slot.group].append(slot)
        owners = {owner for (owner, group) in groups if group == "params"}
        order = sorted(
            groups, key=lambda g: ("params", "batch_stats").index(g[1]) if g[1] in ("params", "batch_stats") else 2
        )
        roots: dict[Path, Key] = {}
        for owner, group in order:
            members = groups[owner, group]
            hint = str(owner[-1]) if owner and len(owners) > 1 else None
            if group == "field":
                self.fields(members, roots)
                continue
            related = [roots[owner]] if owner in roots else [] if group == "params" and hint else list(roots.values())
            mount = self.mount(group, members, related, hint)
            if mount is None:
                self.without(group, members, roots)
                continue
            if group in ("params", "tree"):
                roots[owner] = _root(mount) if group == "params" else mount
            self.plan.mounts.setdefault(group, mount)
            self.taken.add((group, mount))
            self.numbers |= self.numbered(members, mount) if group == "optimizer" else {}
            for slot in members:
                self.place(slot, mount)
        self.leftovers(roots, any(s.group == "optimizer" or s.linen[:1] == ("opt_state",) for s in found))
        return self.plan

    # -- where a group stands in the saved tree ------------------------------------------------------------------

    def mount(self, group: str, members: Sequence[Slot], related: Sequence[Key], hint: str | None) -> Key | None:
        counts: Counter[Key] = Counter()
        for slot in members:
            counts.update({prefix for text in self.forms(slot) for prefix in self.index.by_form.get(text, ())})
        if not counts and group == "params":  # every parameter is made of several, or is part of one
            counts.update(prefix for prefix in self.index.by_prefix if self.virtual(members, prefix))
        best: list[tuple[Any, Key]] = []
        for prefix, count in counts.items():
            shadows = (p for p in prefix if p in _SHADOWS and p != group)  # a collection may be called `ema` itself
            if group != "optimizer" and any(not _alike(hint, p) for p in shadows):
                continue
            last = prefix[-1] if prefix else ""
            if group == "params":
                named = last in _PARAM_ROOTS and (last == "params" or prefix[-2:-1] != ("params",))
            else:
                named = last == group
            near = any(prefix[: len(r)] == r for r in related)
            hinted = max((_alike(hint, part) for part in prefix), default=0)
            fresh = (group, prefix) not in self.taken
            best.append(((count, hinted, fresh, named, near, -len(prefix)), prefix))
        if not best:
            return None
        best.sort(key=lambda b: b[0], reverse=True)
        top = [prefix for rank, prefix in best if rank == best[0][0]]
        if len(top) > 1 and group not in OPTIONAL:
            names = ", ".join("/".join(p) or "(top)" for p in top)
            self.plan.problems.append(f"{group}: found in several places ({names}); choose one with item=")
        return top[0]

    def virtual(self, members: Sequence[Slot], prefix: Key) -> bool:
        table = self.index.by_prefix[prefix]
        return any(self.derive(slot, prefix, table) is not None for slot in members[:64])

    def forms(self, slot: Slot) -> list[str]:
        """The forms that a slot may have below its mount: Linen's, and that of NNX where it is shared."""
        found = self.forms_of(slot, slot.linen, slot.linen_param)
        if slot.linen != slot.local:
            found += [f for f in self.forms_of(slot, slot.local, slot.local_param) if f not in found]
        if slot.inner:  # in a saved nnx.State the Variable's own `value` stands before what it holds
            found.append(form((*slot.local[: len(slot.local) - len(slot.inner)], "value", *slot.inner)))
        return found

    def forms_of(self, slot: Slot, path: Path, param: Path) -> list[str]:
        if slot.group != "optimizer":
            return [form(path), *map(form, bare_numbers(path))]
        head = path[: len(path) - len(param)]
        found = [form(path)]
        if param:
            for name in (param, *bare_numbers(param)):
                if name != param:
                    found.append(form((*head, *name)))
                found.append(form((*head, "params", *name)))  # TrainState.params held {'params': ...}
                for old in self.old_slots.get(str(head[-1]), ()):
                    found.append(form(("optimizer", "state", "param_states", *name, old)))
                    found.append(form(("state", "param_states", *name, old)))
                    found.append(form((*head[:-1], "stats", *name, old)))  # optax.adafactor before 0.1
        if head and head[0] == "opt_state":  # t5x around optax: its states by number
            for name in (param, *bare_numbers(param)) if param else ((),):
                found.append(form(("optimizer", "state", "param_states", *head[1:], *name)))
                found.append(form(("state", "param_states", *head[1:], *name)))
        if not param and head[-1] in ("step", "count"):
            found += [form(("optimizer", "state", "step")), form(("state", "step"))]
        if "hyperparams_states" in map(str, head) and head[-1] == "count":
            at = list(map(str, head)).index("hyperparams_states")
            found.append(form((*head[:at], "count")))  # older optax kept one count for all schedules
        return found

    # -- one slot ------------------------------------------------------------------------------------------------

    def place(self, slot: Slot, mount: Key) -> None:
        table = self.index.by_prefix[mount]
        for text in self.forms(slot):
            keys = table.get(text)
            if not keys:
                continue
            key = keys[0] if len(keys) == 1 else self.exact(slot, mount, keys)
            if key is None:
                names = ", ".join("/".join(k) for k in keys)
                self.plan.problems.append(f"{slot.name}: two keys map to one: {names}")
                return
            self.take(slot, key)
            return
        if slot.path in self.numbers:
            self.take(slot, self.numbers[slot.path])
            return
        derived = self.derive(slot, mount, table)
        if derived is not None:
            leaf, sources = derived
            self.plan.sources[slot.path] = leaf
            for key in sources:
                self.used.setdefault(key, slot)
            return
        self.lost(slot)

    def numbered(self, members: Sequence[Slot], mount: Key) -> dict[Path, Key]:
        """Slots of `optax.masked` before 0.1: a list, without names, of what the mask lets through, in jax's order."""
        heads: dict[Path, list[Slot]] = defaultdict(list)
        for slot in members:
            if slot.linen_param:
                heads[slot.linen[: len(slot.linen) - len(slot.linen_param)]].append(slot)
        table, found = self.index.by_prefix[mount], dict[Path, Key]()
        for head, slots in heads.items():
            lists = [table.get(form((*head, str(i))), []) for i in range(len(slots) + 1)]
            if all(len(keys) == 1 for keys in lists[:-1]) and not lists[-1]:
                slots.sort(key=lambda slot: _linen_name(slot, slot.linen_param))
                found |= {slot.path: keys[0] for slot, keys in zip(slots, lists)}
        return found

    def exact(self, slot: Slot, mount: Key, keys: Sequence[Key]) -> Key | None:
        """Of keys with one form (`enc/out_w`, `enc_out/w`) the one that is spelt as the slot is."""
        if self.index.renamed:
            return None
        below = 0 if slot.group in ("optimizer", "field", "tree") else 1
        for path in (tuple(map(str, slot.local)), _expected(slot)[below:]):
            found = [key for key in keys if path in (unbox_key(key)[len(mount) :], key[len(mount) :])]
            if len(found) == 1:
                return found[0]
        return None

    def take(self, slot: Slot, key: Key) -> None:
        other = self.used.get(key)
        shared = slot.group == "optimizer" and not slot.linen_param  # counts may come from one shared count
        if other is not None and not shared:
            self.plan.problems.append(f"{'/'.join(key)}: belongs to both {other.name} and {slot.name}")
            return
        self.used[key] = slot
        self.plan.sources[slot.path] = self.leaves[key]

    def lost(self, slot: Slot) -> None:
        (self.plan.fresh if slot.group in OPTIONAL else self.plan.missing).append(slot)

    def derive(self, slot: Slot, mount: Key, table: Mapping[str, list[Key]]) -> tuple[Leaf, list[Key]] | None:
        """A slot made of several leaves, or of a part of one."""

        def lookup(path: Sequence[Any]) -> Key | None:
            head = slot.linen[: len(slot.linen) - len(slot.linen_param)] if slot.group == "optimizer" else ()
            for key in (path, (*head, "params", *path[len(head) :])) if head else (path,):
                keys = table.get(form(key))
                if keys and len(keys) == 1:
                    return keys[0]
            return None

        if len(slot.linen) >= 2 and slot.linen[-2] in _PACKED:
            base, packed, name = slot.linen[:-2], slot.linen[-2], slot.linen[-1]
            for gates in _PACKED[str(packed)]:
                keys = [lookup((*base, gate, name)) for gate in gates]
                if all(k is not None for k in keys):
                    sources = [k for k in keys if k is not None]
                    parts = [self.leaves[k] for k in sources]
                    return (parts[0] if len(parts) == 1 else concat(parts, -1)), sources
        for rule in self.restack:
            axis = rule.axis
            for start in range(len(slot.linen)):
                hit = rule.find(slot.linen, start)
                if hit is None:
                    continue
                end, number = hit
                if rule.stacks:
                    count = slot.shape[axis] if -len(slot.shape) <= axis < len(slot.shape) else 0
                    many = [lookup((*slot.linen[:start], *rule.source_path(i), *slot.linen[end:])) for i in range(count)]
                    if many and all(k is not None for k in many):
                        sources = [k for k in many if k is not None]
                        return stack([self.leaves[k] for k in sources], axis), sources
                else:
                    one = lookup((*slot.linen[:start], *rule.source_path(None), *slot.linen[end:]))
                    if one is not None and number is not None:
                        leaf = self.leaves[one]
                        if leaf.shape and number < leaf.shape[axis]:
                            return take(leaf, axis, number), [one]
        return None

    # -- parts without a mount, and what is left -----------------------------------------------------------------

    def without(self, group: str, members: Sequence[Slot], roots: Mapping[Path, Key]) -> None:
        """A collection that the checkpoint does not have: single fields of the TrainState may still answer by name."""
        for slot in members:
            if group in OPTIONAL or not self.field(slot, roots):
                self.lost(slot)

    def fields(self, members: Sequence[Slot], roots: Mapping[Path, Key]) -> None:
        for slot in members:
            if not self.field(slot, roots):
                self.lost(slot)

    def field(self, slot: Slot, roots: Mapping[Path, Key]) -> bool:
        below = tuple(map(str, slot.linen)) if slot.group == "field" else (str(slot.linen[-1]),)
        for root in [*roots.values(), ()]:
            spelt = [(*root, *below), (*root, *below, "value")]
            alike = self.index.by_prefix[root].get(form(below), ()) if root in self.index.by_prefix else ()
            for key in (*spelt, *(alike if len(alike) == 1 else ())):
                if key in self.index.keys and key not in self.used:
                    self.take(slot, key)
                    return True
        return False

    def leftovers(self, roots: Mapping[Path, Key], optimizer: bool) -> None:
        """Sorts unused keys into extra, unplaced and ignored."""
        mounts = list(self.plan.mounts.values())
        for key in self.keys:
            if key in self.used:
                continue
            root = next((r for r in roots.values() if key[: len(r)] == r), None)
            if root is None:  # beside the part in use; without one, nothing was recognised
                (self.plan.ignored if roots or self.plan.mounts else self.plan.extra).append(key)
                continue
            head = key[len(root)] if len(key) > len(root) else ""
            placed = any(m != root and key[: len(m)] == m for m in mounts)
            bare = any(m == root for g, m in self.plan.mounts.items() if g not in ("optimizer", "tree"))
            leaf = self.leaves[key]
            if leaf.aside or ("param_states" in key and leaf.shape in ((), (1,))):
                self.plan.ignored.append(key)  # t5x keeps a placeholder where a slot is not in use
            elif head in _OPTIMIZER_FIELDS and not (optimizer or placed or bare):
                self.plan.ignored.append(key)
            elif _is_rng(leaf, head) and not placed:
                self.plan.unplaced.append(key)
            else:
                self.plan.extra.append(key)


_GENERIC = frozenset(("params", "state", "states", "opt", "optimizer", "optim", "model", "models", "train", "module", "net"))


def _alike(hint: str | None, part: str) -> int:
    """How well a part of a key answers to the name of one of several models: `gen` to `gen` 2, to `generator_state` 1."""
    if hint is None:
        return 0
    if hint == part:
        return 2
    mine, theirs = (set(re.split(r"[_\W]+", text.lower())) - _GENERIC - {""} for text in (hint, part))
    return int(any(min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a)) for a in mine for b in theirs))


def _root(mount: Key) -> Key:
    """The TrainState (or variables) that holds a `params` mount, or a mount within its parameters: to take only some of
    the parameters has to be asked for (`item=`).
    """
    if "params" in mount:
        mount = mount[: len(mount) - mount[::-1].index("params")]
    while mount and mount[-1] in ("params", "target"):
        mount = mount[:-1]
    return mount


def _is_rng(leaf: Leaf, head: str) -> bool:
    named = re.search(r"(^|_)(rngs?|keys?|prng|seed)($|_)", head) is not None
    return leaf.key_impl is not None or (named and leaf.dtype == "uint32" and leaf.shape[-1:] in ((2,), (4,)))
