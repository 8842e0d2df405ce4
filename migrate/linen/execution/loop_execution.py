"""Symbolic execution of loops: sizes that change from one iteration to the next become tracked names."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ...trees import subtree
from ..lists import (
    agreeing,
    all_but_last,
    along_setup,
    chains,
    last_pass,
    list_items,
    list_loops,
    next_sizes,
    none_in_passes,
    size_lists,
    skip_lists,
    walks,
)
from ..lists.grown_widths import note_unlooped
from ..lists.left_over import leave_behind
from ..lists.loop_counters import body_of, counter_of
from ..lists.loop_names import hidden_by
from ..lists.unsized_items import is_unsized
from ..modules import by_passes
from ..modules.made_later import made_before
from ..project.classes import Method
from ..shapes.shape_args import is_number
from ..shapes.shape_loops import fills_lists, shape_iterator
from ..values.arguments import stored_names
from ..values.dims import Atom, Dim
from ..values.environment import Env
from ..values.kind_results import rolled_back
from ..values.merging import (
    dependencies_of,
    dim_at,
    grown,
    last_of_both,
    last_only,
    local_dim,
    merge,
    same_lead,
    with_dim,
    without,
)
from ..values.mutation import leave_to_the_call
from ..values.presence import NoneAtFirst
from ..values.sites import Abs, Block, For, Local, Localized, Repeated, Site, Static, Track, Unmigratable, steps_of
from ..values.values import OPAQUE, Array, Const, Int, Shape, Tup, Unknown, Value, size_stem
from .expressions import Expressions
from .iteration import name_elements, unrolled
from .stale_names import before_loop


class LoopExecution(Expressions):
    """The loops of an `Execution`; see there for the attributes' meaning."""

    all_names: frozenset[str]
    trackers: set[str]
    grown_from_one: set[str]  # those that are 1 before their loop
    trial: int
    repeating: int = 0  # how many loops that are not taken apart are being followed
    running_loops: list[ast.AST]  # loops that are being followed, outermost first
    loop_depths: list[int]  # how many conditions stand around each of them
    passes: list[last_pass.Pass]
    last_called: set[str]  # see `all_but_last`
    loose: set[str]
    closed: dict[str, Dim]
    all_carried: dict[Site, list[tuple[str, Dim, Dim]]]
    along: dict[str, For | None]
    agreements: dict[str, agreeing.Agreement]
    unlooped: list[tuple[Block, str, Dim | None]]  # what loops that the constructor lacks add to widths of lists
    joined_loops: dict[For, For]
    super_calls: list[tuple[ast.Call, Method]]

    # given by Execution
    def bind(self, target: ast.expr, value: Abs, env: Env) -> None:
        raise NotImplementedError

    # loops -----------------------------------------------------------------------------------------------------
    def loop(
        self,
        node: ast.For | ast.comprehension,
        target: ast.expr,
        iterator: ast.expr,
        env: Env,
        body: Callable[[Env], None],
        over: Abs | None = None,
    ) -> For | None:
        """Execute a loop body for any iteration: sizes that change from one to the next become tracked names.

        `over`: the loop runs over these items alone, a part of what its text says (see `chains`).
        """
        iterated = over if over is not None else self.evaluate(iterator, env)
        chain = chains.listed(self, iterator, iterated) if over is None else None
        if chain is not None:
            chains.run_through(self, node, target, iterator, env, body, *chain)
            return None
        one_by_one = unrolled(self, iterator, iterated, env) if over is None else None
        if one_by_one is not None:
            for element in one_by_one:
                self.bind(target, element, env)
                body(env)
            return None
        elements = self.elements(iterator, iterated, env) if over is None else Abs(Unknown("an item of a list"))
        localized = self.localize(iterator, env) if iterated.static else None
        own_words = self.in_setup and env.in_method() and over is None and not self.holds_module(iterated.value)
        if localized is None and own_words:
            localized = Localized(env.source.span(iterator), env.source, (), frozenset())  # setup's own words stay
        sized = size_lists.loop_iterator(self, iterator, env) if localized is None and over is None else None
        if sized is not None:
            localized, elements = sized[0], Abs(sized[1], True, iterated.flags)
        elif localized is None and over is None and fills_lists(node, env):
            localized = shape_iterator(self, iterator, iterated, env)
        names = {n.id for n in subtree(target) if isinstance(n, ast.Name)}
        said = names  # those that the constructor's loop binds

        def enter(inner: Env) -> None:
            name_elements(self, target, elements, inner)
            for name in names:
                if localized is not None and name in said:
                    inner.local.add(name)
                else:
                    inner.local.discard(name)

        # Trial runs find what changes along the loop; nothing of them is kept.
        start = before_loop(self, node, names, env)
        self.repeating += 1
        self.running_loops.append(node)
        self.loop_depths.append(len(self.path))
        phis: dict[tuple[str, int], str | None] = {}
        rank_lost: set[str] = set()
        outer_loose, self.loose = self.loose, set(self.loose)
        makes = False
        counter = self.counter(target, iterator, env)
        one = last_pass.of_loop(node, counter, iterator, is_last=False)
        for _ in range(6):
            trial_env = self._loop_start(start, phis, rank_lost, env)
            entry, made = self._try(trial_env, enter, body, one)
            makes |= made
            if not self._new_phis(start, entry, trial_env, phis, rank_lost, names):
                break
        last_env: Env | None = None
        if one is not None and one.asked:
            last_env = self._loop_start(start, phis, rank_lost, env)
            makes |= self._try(last_env, enter, body, dataclasses.replace(one, is_last=True))[1]
        again = None
        if makes and localized is None and not self.in_setup and over is None:
            again = along_setup.loop_of(self, node, iterator, counter, env)
        if again is not None:
            localized, said = again.iterator, {again.counter}
        elif localized is None and over is None and makes:
            localized = shape_iterator(self, iterator, iterated, env)
        inner = self._loop_start(start, phis, rank_lost, env)
        before = []
        for (name, _), tracker in phis.items():
            if tracker is None:
                continue
            bound = start.names[name]
            before.append(Track(tracker, self._phi_dim(bound.value, phis, name, tracker)))
        step: For | None = None
        carries = makes or any(tracker is not None for tracker in phis.values())
        lists = None
        if sized is None:
            lists = list_loops.followed(self, node, target, iterator, env, localized, not carries, over)
        outer, place = self.block, self.mark
        block = lists.step.body if lists is not None else Block()
        step = For(
            node,
            ast.unparse(target) if again is None else again.target,
            localized or Localized(None, env.source, (), frozenset()),
            block,
            env.source,
            counter,
            hidden=hidden_by(self, node, env),
            again=again.made if again is not None else None,
        )
        if lists is not None:
            step = lists.step
            names |= lists.names
            self.joined_loops |= dict.fromkeys(lists.made, step)
        kept = localized is not None or lists is not None  # has the constructor a loop for it?
        if lists is not None:
            lists.put(outer, before)
        else:
            outer.steps += [*before, step] if kept else before
        if kept:
            self.loops.append(step)
        mark = len(self.sites)
        self.block, self.mark = block, (block, len(block.steps))
        try:
            enter(inner)
            body(inner)
        finally:
            self.block, self.mark = outer, place
            self.repeating -= 1
            self.running_loops.pop()
            self.loop_depths.pop()
            if kept:
                self.loops.pop()
        skip_lists.note(self, node, block, env)
        if not kept:
            note_unlooped(self, node, block, outer)
        if lists is not None:
            lists.check(before)
        if not kept and any(map(made_before, self.sites[mark:])):
            by_passes.note(self, node, iterator, self.sites[mark:], (block, outer))
        following: list[Track] = []
        spent: set[str] = set()  # what the last pass leaves in these is not their size
        for (name, index), tracker in phis.items():
            now = inner.get(name)
            dim = dim_at(now.value, index) if now is not None else None
            if tracker is None:
                continue
            if dim is None and last_env is not None:  # of the passes that are not the last it is known
                carried = trial_env.get(name)
                dim = dim_at(carried.value, index) if carried is not None else None
                spent.add(tracker)
            if dim is None:
                rank_lost.add(name)
            elif dim != Dim.local(tracker):
                following.append(Track(tracker, dim))
            if dim is not None:
                other = lists.made[0].node if lists is not None and localized is None else None
                runs = (target, iterator) if other is None else (other.target, other.iter)
                followed = {t for t in phis.values() if t is not None}
                last = self._last_value(dim, node, *runs, self.evaluated[runs[1]], followed)
                if last is not None and tracker not in spent:
                    self.closed[tracker] = last
        left = next_sizes.left_behind(self, start, inner, following, before, outer.steps if kept else [], step)
        block.steps += next_sizes.in_order(following, self.tracker, iterator)
        block.steps += lists.tail if lists is not None else ()
        if last_env is not None:
            last_pass.leave(inner, last_env, phis)
        short = self._carry_sizes(target, iterator, start, inner, phis, over, step)
        forgotten = self._forgotten(phis, block) if not kept and not self.trial else {}
        forgotten |= dict.fromkeys(spent)
        jumped = any(isinstance(n, ast.Break | ast.Continue) for n in subtree(node))
        self._leave_loop(env, inner, phis, rank_lost, names, forgotten, jumped, left)
        all_but_last.leave(self, env, short)
        leave_behind(self, node, env, inner)
        # What the loop assigns is not in the constructor. What one that makes nothing leaves in a name that had a value
        # before may not be either, but that value is.
        dropped: frozenset[str] = frozenset()
        if not kept:
            dropped = frozenset().union(*[s.names for s in steps_of(block) if isinstance(s, Local)])
        if isinstance(node, ast.For) and not makes:
            dropped |= stored_names(target) & start.local
        for name in dropped & env.local:
            env.names[name] = Abs(OPAQUE)
        env.local -= dropped
        self.loose = outer_loose
        return step if localized is not None else None

    def _try(
        self, inner: Env, enter: Callable[[Env], None], body: Callable[[Env], None], one: last_pass.Pass | None
    ) -> tuple[Env, bool]:
        """Follow a pass of a loop, and forget all but what it leaves in `inner`.

        Returns what held at its start, and whether it makes modules or variables.
        """
        snapshot = self._snapshot()
        self.block = Block()
        place, self.mark = self.mark, (self.block, 0)
        self.trial += 1
        try:
            enter(inner)
            entry = inner.copy()
            with last_pass.following(self, one):
                body(inner)
        finally:
            self.trial -= 1
            self.mark = place
            makes = any(map(made_before, self.sites[snapshot[0] :]))
            self._rollback(snapshot)
        return entry, makes

    def _carry_sizes(
        self,
        target: ast.expr,
        iterator: ast.expr,
        start: Env,
        inner: Env,
        phis: Mapping[tuple[str, int], str | None],
        over: Abs | None,
        step: For,
    ) -> dict[str, frozenset[Site]]:
        """A loop over a list made in setup: the sizes that its elements see follow the loop that made them.

        Returns the names of the sizes that all but the last item see, with the modules that see them.
        """
        followed: dict[str, frozenset[Site]] = {}
        if not phis or self.trial:
            return followed
        ordered = over is not None and not (isinstance(over.value, Repeated) and over.value.turned)
        through = over.value.loop if over is not None and isinstance(over.value, Repeated) else None
        made = {s for s in self.sites if s.loops and s.call is not None}
        for site in made:
            if not site.in_setup:
                around = {self.joined_loops.get(loop, loop) for loop in site.loops}
                if around.isdisjoint((step, *self.loops)) and walks.picks(site, target):
                    self._agree_all(site, start, inner, phis)
                continue
            assert site.call is not None
            item = site.item_of(through)
            short = not ordered and not self.running_loops and all_but_last.is_all_but_last(self, item, iterator)
            used = frozenset().union(*[dependencies_of(v) for v in [*site.call.args, *site.call.keywords.values()]])
            inside = [size for t, *size in self.all_carried.get(site, ()) if t in used]  # of a loop of this one
            used = used.union(*[dim.dependencies() for size in inside for dim in size])
            for (name, index), tracker in phis.items():
                if tracker is None or tracker not in used:
                    continue
                first, after = dim_at(start.names[name].value, index), inner.get(name)
                following = dim_at(after.value, index) if after is not None else None
                own = list_items.part_with(item, iterator)
                whole = over is not None and isinstance(over.value, Repeated) and not over.value.part
                sliced = not whole and any(isinstance(n, ast.Slice) for n in subtree(own))
                reason = ""
                if (sliced and not short) or (not ordered and not list_items.in_order(self, item, own)):
                    reason = "a list whose sizes change is not called in its order"
                elif not ordered and not walks.runs_along(self, item, target, iterator, short):
                    reason = "the loop that calls a list whose sizes change is not a loop over the list"
                if reason:
                    agreed = walks.picks(item, target) and agreeing.agree(self, site, tracker, first, following)
                    if not (agreed or is_unsized(self, site, reason)):
                        raise Unmigratable("NNX114", reason, site.node)
                    continue
                if first is not None and following is not None:
                    self.all_carried.setdefault(site, [])
                    known = self.all_carried.setdefault(item, [])
                    if all(t != tracker for t, _, _ in known):
                        known.append((tracker, first, following))
                        self.along[tracker] = through or list_items.made_along(self, step.node, own)
                        if short:
                            followed[tracker] = followed.get(tracker, frozenset()) | {site}
        return followed

    def _agree_all(self, site: Site, start: Env, inner: Env, phis: Mapping[tuple[str, int], str | None]) -> None:
        """Modules of a compact method's list that a loop picks, so that the list could not be made in that loop."""
        for (name, index), tracker in phis.items():
            after = inner.get(name)
            if tracker is not None and after is not None:
                agreeing.agree(self, site, tracker, dim_at(start.names[name].value, index), dim_at(after.value, index))

    def _forgotten(self, phis: Mapping[tuple[str, int], str | None], block: Block) -> dict[str, Dim | None]:
        """Tracked sizes of a loop that the constructor does not have → what is known of them after it.

        Those of a list that setup's own text makes are not among them: its loop follows them.
        """
        setup = self.model.method("setup")
        own = [s for s in self.all_carried if setup is not None and s.maker is setup.node]
        followed = {tracker for site in own for tracker, _, _ in self.all_carried[site]}
        changed = {step.name for step in block.steps if isinstance(step, Track)} - followed
        return {tracker: self.closed.get(tracker) for tracker in phis.values() if tracker is not None and tracker in changed}

    def _last_value(
        self, dim: Dim, node: ast.AST, target: ast.expr, iterator: ast.expr, iterated: Abs, trackers: set[str]
    ) -> Dim | None:
        """A tracked size after the loop, where the last iteration alone decides it."""
        names = dim.dependencies()
        if not names:
            return dim
        if chains.is_enumerated(iterator) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            assert isinstance(iterator, ast.Call)  # of the items alone: the number of the last one is not asked for
            target, iterator = target.elts[1], iterator.args[0]
            iterated = self.evaluated[iterator]
        listed = iterated.value
        if isinstance(listed, Repeated) and listed.loop is not None and listed.in_order and not listed.part:
            setup, made = self.model.method("setup"), listed.loop
            if setup is not None and made.source.function_of(made.node) is not setup.node:  # whose loop follows the sizes
                target, iterator = made.node.target, made.node.iter  # as the last item was made
                iterated = self.evaluated.get(iterator, iterated)
        if names & trackers or not isinstance(target, ast.Name) or names != {target.id}:
            return None
        name = target.id
        if isinstance(node, ast.For) and any(name in stored_names(part) for part in node.body):
            return None  # the loop gives it another meaning
        if isinstance(iterated.value, Tup) and iterated.value.items:
            item = iterated.value.items[-1]
            if isinstance(item, Int) and item.dim.value is not None:
                last = item.dim
            elif isinstance(iterator, ast.Attribute) and ast.unparse(iterator) == f"self.{iterator.attr}":
                last = Dim.opaque(f"{ast.unparse(iterator)}[-1]")  # as long as its default, but it may be given longer
            else:
                return None
        elif isinstance(iterated.value, Static) and isinstance(iterator, ast.Attribute | ast.Subscript | ast.Name):
            if iterated.value.deps:
                return None
            last = Dim.opaque(f"{iterated.value.stem}[-1]")
        elif isinstance(iterator, ast.Call) and ast.unparse(iterator.func) == "range" and len(iterator.args) == 1:
            count = self.evaluated[iterator.args[0]].value
            found = self.plain(count)
            if not isinstance(found, Int) or found.dim.dependencies():
                return None
            last = found.dim - 1
        else:
            return None

        def is_item(atom: Atom) -> bool:  # of a list of sizes, or of something that nothing says about
            return atom.kind == "local" or (atom.kind == "opaque" and atom.args == (name,))

        if any(atom.kind in ("opaque", "cond") and atom.deps and not is_item(atom) for atom in dim.atoms()):
            return None

        def change(atom: Atom) -> Dim | None:
            return last if is_item(atom) else None

        return dim.substitute(change)

    def _loop_start(self, start: Env, phis: Mapping[tuple[str, int], str | None], lost: set[str], env: Env) -> Env:
        inner = start.copy()
        for name in self.loose:
            bound = inner.names.get(name)
            last = last_only(bound.value.shape) if bound is not None and isinstance(bound.value, Array) else None
            if bound is not None and last is not None and name not in lost:
                inner.names[name] = dataclasses.replace(bound, value=none_in_passes.kept(bound.value, Array(last)))
        for name in lost:
            bound = inner.names[name]
            counts = bound.static and isinstance(bound.value, Int)
            is_none = bound.value == Const(None) or isinstance(bound.value, NoneAtFirst)
            unknown = NoneAtFirst("None in the first pass of a loop") if is_none else OPAQUE
            inner.names[name] = Abs(Int(Dim.local(name)) if counts else unknown, bound.static, bound.flags)
        for (name, index), tracker in phis.items():
            inner.names[name] = none_in_passes.sized(inner.names[name], index, local_dim(tracker))
        return inner

    def _new_phis(
        self,
        start: Env,
        entry: Env,
        after: Env,
        phis: dict[tuple[str, int], str | None],
        lost: set[str],
        targets: set[str],
    ) -> bool:
        found = not self.in_setup and leave_to_the_call(start, after, targets)
        for name in start.names:
            before, now = entry.names.get(name), after.names.get(name)
            if name in targets or name in lost or before is None or now is None or before.value == now.value:
                continue
            a, b = before.value, now.value
            if self.holds_module(b) or grown(a, b) is not None:
                continue
            if isinstance(b, size_lists.SizeList) and size_lists.variable_of(a) == b.variable:
                start.names[name] = dataclasses.replace(start.names[name], value=b)
                found = True
                continue
            if isinstance(a, Tup) and isinstance(b, Tup) and a.items == b.items and a.kind == b.kind:
                start.names[name] = dataclasses.replace(start.names[name], value=merge(a, b))
                found = True
                continue
            if is_number(a) and isinstance(b, Array) and not isinstance(a, Array):  # `total = 0`, to which arrays are added
                bound = targets | {t for t in phis.values() if t is not None}
                start.names[name] = Abs(without(b, bound), False, start.names[name].flags)
                start.local.discard(name)
                found = True
                continue
            if isinstance(a, Array) and isinstance(b, Array):
                found |= none_in_passes.opened(start, name, before, now, self.running_loops[-1])
                count = max(len(a.shape.dims), len(b.shape.dims))
                left: Shape | None = a.shape.expand(count)
                right: Shape | None = b.shape.expand(count)
                assert left is not None and right is not None
                if len(left.dims) != len(right.dims) or left.lead != right.lead:
                    left, right = last_of_both(a.shape, b.shape)
                    if left is not None and right is not None and name not in self.loose:
                        self.loose.add(name)
                        found = True
                if left is not None and right is not None and same_lead(left, right):
                    for index, (x, y) in enumerate(zip(left.dims, right.dims)):
                        key = (name, index - len(left.dims))
                        if x != y and key not in phis:
                            if y is None or x is None:
                                phis[key] = None
                            else:
                                made = self.tracker(size_stem(index - len(left.dims), left))
                                phis[key] = made
                                self.grown_from_one = self.grown_from_one - {made} | ({made} if x.value == 1 else set())
                            found = True
                        elif y is None and phis.get(key) is not None:
                            phis[key] = None
                            found = True
                    continue
            if next_sizes.changes_number(start.names[name], b) and not self.in_setup:
                if (name, 0) not in phis:
                    phis[name, 0] = self.tracker(name)  # `resolution = x.shape[1]`, halved in every pass
                    found = True
                continue
            lost.add(name)
            found = True
        for key in [k for k in phis if k[0] in lost]:
            del phis[key]
        return found

    def _phi_dim(self, value: Value, phis: Any, name: str, tracker: str) -> Dim:
        for (n, index), t in phis.items():
            if n == name and t == tracker:
                dim = dim_at(value, index)
                if dim is not None:
                    return dim
        raise Unmigratable("NNX110", f"the size of `{name}` before the loop is not known")

    def _leave_loop(
        self,
        env: Env,
        inner: Env,
        phis: Mapping[tuple[str, int], str | None],
        lost: set[str],
        targets: set[str],
        forgotten: Mapping[str, Dim | None],
        jumped: bool,
        left: Mapping[str, Value],
    ) -> None:
        """`jumped`: the loop has a `break` or `continue`, so that its last iteration may not run to the end.

        `left`: what the last pass leaves in names of the loop's own, in sizes that the passes change.
        """
        changing = targets | {t for t in phis.values() if t is not None}
        passes = list_items.pass_names(self)  # sizes of the items of a list, which hold in this loop only
        for name, now in inner.names.items():
            old = env.names.get(name)
            keys = [(k, t) for k, t in phis.items() if k[0] == name]
            if old is None and name in left:
                env.names[name] = Abs(OPAQUE if jumped else left[name], False, now.flags)
                continue
            if old is None:
                # Made in the loop: what depends on the loop's own names is gone after it.
                gone = dependencies_of(now.value) & (targets | set(inner.names) | passes)
                last = self._left_behind(name, now, inner, targets) if gone and not jumped else None
                env.names[name] = now if not gone else last or Abs(OPAQUE, False, now.flags)
                continue
            if keys:
                value = now.value if isinstance(now.value, Array) else old.value
                for (_, index), tracker in keys:
                    value = with_dim(value, index, forgotten.get(tracker or "", local_dim(tracker)))
                env.names[name] = Abs(value, False, old.flags | now.flags)
            elif name in lost:
                if now.static and name in inner.local:
                    # What calls say of the module's results cannot name setup's own variables.
                    settled = self.in_setup and isinstance(now.value, Int) and not now.value.dim.dependencies()
                    settled = settled and not jumped
                    env.names[name] = now if settled else Abs(Int(Dim.local(name)), True, now.flags)
                else:
                    env.names[name] = Abs(OPAQUE, False, old.flags | now.flags)
            elif isinstance(now.value, size_lists.SizeList) or next_sizes.grew(old.value, now.value, changing):
                env.names[name] = Abs(now.value, False, old.flags | now.flags)
            elif now.value != old.value:
                known = list_items.without(now.value, passes)
                if is_number(old.value) and isinstance(known, Array):  # `total = 0`, to which arrays were added
                    env.names[name] = Abs(without(known, changing), False, old.flags | now.flags)
                    continue
                env.names[name] = now if self.holds_module(now.value) else Abs(merge(old.value, known))
        env.local = {n for n in env.local if n in inner.local} | (inner.local & set(env.names))

    def _left_behind(self, name: str, now: Abs, inner: Env, targets: set[str]) -> Abs | None:
        """A size that the last iteration of a loop has left under a name of the loop's own: the constructor has it, too."""
        size = isinstance(self.plain(now.value), Int)
        if not size or not now.static or name not in inner.local or name in targets or self.in_setup:
            return None
        return Abs(Int(Dim.local(name)), True, now.flags)

    def _snapshot(self) -> Any:
        calls_of = {s: (s.call, len(s.calls), dict(s.renders), dict(s.bound)) for s in self.sites}
        names = (set(self.trackers), dict(self.closed), self.repeating, len(self.unlooped))
        return (len(self.sites), self.block, dict(self.attributes), calls_of, list(self.super_calls), names)

    def _rollback(self, snapshot: Any) -> None:
        count, self.block, self.attributes, calls_of, self.super_calls, names = snapshot
        self.trackers, self.closed, self.repeating = set(names[0]), dict(names[1]), names[2]
        del self.unlooped[names[3] :]
        del self.sites[count:]
        for site, (call, length, renders, bound) in calls_of.items():
            rolled_back(site, renders)
            site.call, site.renders, site.bound = call, renders, bound
            del site.calls[length:]

    def counter(self, target: ast.expr, iterator: ast.expr, env: Env) -> str:
        """The loop name that counts 0, 1, 2, ...: of `range(n)`, `enumerate(xs)` and `zip(range(n), xs)`."""
        if not isinstance(iterator, ast.Call) or self.project.qualname(env.source, iterator.func) is not None:
            return ""
        loop = env.source.parents.get(target)
        body = body_of(loop) if loop is not None else ()
        zipped = isinstance(target, ast.Tuple) and ast.unparse(iterator.func) == "zip"
        parts = [*zip(target.elts, iterator.args)] if zipped and isinstance(target, ast.Tuple) else [(target, iterator)]
        return next((name for part in parts if (name := counter_of(*part, body))), "")

    def tracker(self, stem: str) -> str:
        """A fresh name for a size that the constructor follows."""
        taken = set(self.fields) | self.trackers | self.all_names
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        self.trackers.add(name)
        return name
