"""Modules that the constructor makes later than the method does: where their input sizes are known.

A compact method may make `head = nn.Dense(2)` first and call it last, behind the loop that gives its input size. The
constructor makes it where it is called. That is the same to Linen as long as no module which it counts with the other
is made between the two, and to the constructor as long as no name is given another meaning there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .merging import dependencies_of
from .sites import (
    Block,
    Branch,
    CallRecord,
    Counted,
    For,
    Local,
    Localized,
    LocalizedPart,
    Make,
    Site,
    SitePart,
    SizeStep,
    Track,
    Unmigratable,
    steps_of,
)


def called_late(run: Any, site: Site, record: CallRecord) -> None:
    """The first call of a module: where its sizes came to be known after it was made, it is made now."""
    block = site.renders.get("block")
    if site.in_setup or block is None or not alone(site):
        return
    made = next((i for i, s in enumerate(block.steps) if isinstance(s, Make) and s.site is site), None)
    if made is None:
        return
    if block is not run.block:
        _branch_called_late(run, block, record)
    target = len(block.steps)
    if block is not run.block:  # in a branch or loop that stands in the block
        target = next((i for i, s in enumerate(block.steps) if _holds(s, run.block)), -1)
    if target <= made:
        return
    given = [*record.args, *record.keywords.values()]
    needed = frozenset().union(*[dependencies_of(v) for v in given])
    between = block.steps[made + 1 : target]
    if not needed & defined_in(between) or (target < len(block.steps) and needed & defined_in([block.steps[target]])):
        return
    if movable([block.steps[made]], between, counted=True):
        if not movable([block.steps[made]], between):
            block.steps.insert(made, Counted(site))  # Linen gives it its number here
            site.renders["counted"] = 1 + sum("counted" in other.renders for other in run.sites)
            made, target = made + 1, target + 1
        move(run, block, made, target)
    elif changed := sorted(needed & defined_in(between) & _given_before(block.steps[:made])):
        reason = f"sizes of a module are said by `{changed[0]}`, which changes before the module is called"
        raise Unmigratable("NNX114", reason, site.node)


def _branch_called_late(run: Any, block: Block, record: CallRecord) -> None:
    """`norm = nn.LayerNorm() if self.normed else Identity()`, called behind a loop: either is made there."""
    steps = run.block.steps
    made = next((i for i, s in enumerate(steps) if isinstance(s, Branch) and block in (s.then, s.orelse)), None)
    if made is None or steps[made].test is None or steps[made].choice or steps[made].raises is not None:
        return
    inside = [*steps[made].then.steps, *steps[made].orelse.steps]
    if not all(isinstance(s, Make) and alone(s.site) and s.site.call is None for s in inside):
        return
    given = [*record.args, *record.keywords.values()]
    needed = frozenset().union(*[dependencies_of(v) for v in given])
    between = steps[made + 1 :]
    if needed & defined_in(between) and movable([steps[made]], between):
        move(run, run.block, made, len(steps))


def _given_before(steps: Sequence[Any]) -> frozenset[str]:
    """The names of the method that have a value."""
    return frozenset(name for step in _inside(steps) if isinstance(step, Local) for name in step.names)


def move(run: Any, block: Block, index: int, target: int) -> None:
    """Put a step of a skeleton before another one further on; the marks of statements stay where they were."""
    block.steps.insert(target, block.steps[index])
    taken_out(run, block, index)


def taken_out(run: Any, block: Block, index: int) -> None:
    """Remove a step of a skeleton."""
    del block.steps[index]

    def shifted(mark: tuple[Block, int]) -> tuple[Block, int]:
        return (mark[0], mark[1] - 1) if mark[0] is block and mark[1] > index else mark

    run.mark = shifted(run.mark)
    run.marks = [shifted(mark) for mark in run.marks]


def movable(steps: Sequence[Any], between: Sequence[Any], counted: bool = False) -> bool:
    """May these steps of a skeleton stand behind those that follow them? `counted`: whatever number Linen gives them."""
    moved = [s.site for s in _inside(steps) if isinstance(s, Make)]
    passed = [s.site for s in _inside(between) if isinstance(s, Make)]
    if not counted and any(counted_together(a, b) for a in moved for b in passed):
        return False
    binds, reads = defined_in(steps), needed_by(steps)
    if (reads | binds) & defined_in(between) or binds & needed_by(between):
        return False
    return not {s for step in between for s in _mentioned(step)} & set(moved)


def defined_in(steps: Sequence[Any]) -> frozenset[str]:
    """The names that steps give a meaning."""
    found: set[str] = set()
    for step in _inside(steps):
        if isinstance(step, Local):
            found |= step.names
        elif isinstance(step, Track):
            found.add(step.name)
        elif isinstance(step, SizeStep):
            found |= {step.variable, step.tracker}
        elif isinstance(step, For):
            found |= names_in(step.target)
    return frozenset(found - {"", "_"})


def needed_by(steps: Sequence[Any]) -> frozenset[str]:
    """The names that steps read, of what is known before the modules are called."""
    found: set[str] = set()
    for step in _inside(steps):
        for localized in _localized(step):
            found |= localized.needs
        if isinstance(step, Track):
            found |= step.dim.dependencies()
        elif isinstance(step, SizeStep):
            found |= {step.text, step.tracker, *[n for d in step.dims if d is not None for n in d.dependencies()]}
        elif isinstance(step, Make) and step.site.call is not None:
            given = [*step.site.call.args, *step.site.call.keywords.values()]
            found |= frozenset().union(*[dependencies_of(v) for v in given])
    return frozenset(found)


def names_in(target: str) -> set[str]:
    """The names of a loop's target."""
    return {name.strip("()[]* ") for name in target.split(",")}


def _inside(steps: Sequence[Any]) -> Iterator[Any]:
    yield from steps_of(Block(list(steps)))


def _holds(step: Any, block: Block) -> bool:
    inner = [getattr(step, name, None) for name in ("body", "then", "orelse")]
    return any(b is block or any(_holds(s, block) for s in b.steps) for b in inner if isinstance(b, Block))


def alone(site: Site, *, handed_on: bool = False) -> bool:
    """Is it a plain construction, that nothing but its own call refers to, so that it may stand elsewhere?

    `handed_on`: another module may be handed it, which stands there, too.
    """
    plain = site.kind in ("layer", "class") and not site.alternatives and not site.choice and not site.through
    return plain and (handed_on or not site.passed) and not (site.adopted or site.held or site.container)


def counted_together(a: Site, b: Site) -> bool:
    """Does Linen count the two with one another, or might it?"""
    if a.name is not None or b.name is not None:
        return a.name is not None and b.name is not None and a.name.constant == b.name.constant
    mine, others = _labels(a), _labels(b)
    return any(x.endswith(y) or y.endswith(x) for x in mine for y in others)


def _labels(site: Site) -> set[str]:
    kinds = (site, *site.alternatives)
    return {name.rpartition(".")[2] for s in kinds for name in (s.target, getattr(s.factory, "variant", "")) if name}


def _localized(step: Any) -> Iterator[Localized]:
    if isinstance(step, Local):
        yield step.localized
    elif isinstance(step, For):
        yield step.iterator
        yield from step.conditions
    elif isinstance(step, Branch) and step.test is not None:
        yield step.test
    elif isinstance(step, SizeStep) and step.where is not None:
        yield step.where
    elif isinstance(step, Make):
        for site in (step.site, *step.site.alternatives):
            said = [b.localized for b in site.bound.values()]
            if site.factory is not None:
                said += [b.localized for b in [*site.factory.args.values(), *site.factory.positional]]
            said += [site.renders.get("func"), site.renders.get("**"), *site.init_said]
            if site.name is not None:
                said.append(site.name.localized)
            yield from (one for one in said if one is not None)


def _mentioned(step: Any) -> Iterator[Site]:
    """The modules that a step refers to."""
    for inner in _inside([step]):
        if isinstance(inner, Track) and inner.site is not None:
            yield inner.site
        for localized in _localized(inner):
            yield from _sites_of(localized)


def _sites_of(localized: Localized) -> Iterator[Site]:
    for _, parts in localized.replaced:
        for part in parts:
            if isinstance(part, SitePart):
                yield part.site
            elif isinstance(part, LocalizedPart):
                yield from _sites_of(part.localized)


__all__ = ["alone", "called_late", "counted_together", "defined_in", "movable", "move", "names_in", "needed_by", "taken_out"]
