"""The text of one class: tried as it is, then with numbers of dimensions that are told or guessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...linen.evidence.ranks import called_ranks, index_arguments, joins_vectors
from ...linen.execution import side_ranks
from ...linen.execution.analyser import Analyser, internal_error
from ...linen.outside.made_outside import work_unbound
from ...linen.project.classes import ClassModel
from ...linen.values.sites import Unmigratable
from ...plan import Outcome, Plan
from .. import linen_copies
from ..factories.field_kinds import Misfit, OtherSizes
from . import argument_parts, asking, rank_checks, templates
from .class_text import ClassText
from .given_trees import TreeGiven

_AS_IT_IS = None
_AS_TOLD = 0  # the ranks that single sides of conditions tell, for all of them; other numbers are ranks that are guessed


Attempt = tuple[ClassText | None, Unmigratable | None, dict[str, int]]


def attempt(
    model: ClassModel,
    analyser: Analyser,
    plan: Plan,
    inner: Callable[[str], None],
    references: linen_copies.References | None,
) -> Attempt:
    """The text of a class, or why there is none; and the ranks that were guessed on the way."""
    ways = _Ways(model, analyser)
    text: ClassText | None = None
    failure: Unmigratable | None = None
    while ways.take():
        try:
            text = _text(model, analyser, plan, inner, references)
            if ways.is_well(text):
                break
        except (Misfit, OtherSizes, rank_checks.OtherRank, asking.TakenBack, TreeGiven):
            raise
        except Exception as caught:  # one class that cannot be followed takes no other down
            why = caught if isinstance(caught, Unmigratable) else internal_error(caught)
            text, failure = None, failure or why
            if not ways.learn(why):
                break
    return text, None if text is not None else failure, ways.tried


class _Ways:
    """What to try next for a class, and what the last failure tells of that."""

    def __init__(self, model: ClassModel, analyser: Analyser) -> None:
        self.model, self.analyser, self.name = model, analyser, model.qualname
        self.tried: dict[str, int] = {}
        self.way: int | None = _AS_IT_IS
        self._rows = index_arguments(model)
        ranks = (2, 3, 4) if self._rows or joins_vectors(model) else (3, 4, 2)
        self._left: list[int | None] = [_AS_IT_IS, *ranks]
        self._poor: set[int] = set()  # ranks that work but are not what is meant: tried again where no other does better
        self._wanted: list[str] = []
        self._told: dict[str, int] = {}

    def take(self) -> bool:
        """Go the next way, if there is one."""
        if not self._left:
            return False
        self.way = self._left.pop(0)
        if self.way is _AS_IT_IS:
            return True
        if self.way == _AS_TOLD:
            self.tried = dict(self._told)
        elif not self._wanted:
            return False
        else:
            self.tried = {argument: self._rank(argument, self.way) for argument in self._wanted}
        self.analyser.assume(self.name, self.tried)
        return True

    def is_well(self, text: ClassText) -> bool:
        """Is this what is meant, or the best of what there is?"""
        if self.way in (_AS_IT_IS, _AS_TOLD) or self.way in self._poor or not rank_checks.is_poor(text):
            return True
        assert self.way is not None
        self._poor.add(self.way)
        self._left.append(self.way)
        return False

    def learn(self, why: Unmigratable) -> bool:
        """What a failure asks for is tried next; False where nothing would help."""
        first = self.way in (_AS_IT_IS, _AS_TOLD)
        if self.way is _AS_IT_IS and not why.code.startswith("NNX11"):
            self.analyser.follow_shapes(self.name, False)
            return False  # no rank would help; what a wrong guess leads to says nothing
        if self.way == _AS_TOLD:
            self.analyser.forget(self.name, self.tried)
            self.tried = {}
        elif first and not self._told:
            self._told = _told(self.analyser, self.name, why.wanted_ranks)
            if self._told:
                self._left.insert(0, _AS_TOLD)
                self._wanted += why.wanted_ranks
                return True
        if first and self.analyser.follow_shapes(self.name, self.name not in self.analyser.tracking):
            self._left.insert(0, _AS_IT_IS)
        more = [argument for argument in why.wanted_ranks if argument not in self._wanted]
        if not first and not more:  # what picks rows is asked for by a name that a loop has lost
            more = sorted(self._rows - {*self._wanted})
        self._wanted += more
        if not first and more:  # the ranks of some arguments ask for those of others
            self._left.insert(0, self.way)
        return True

    def _rank(self, argument: str, guess: int) -> int:
        told = _told(self.analyser, self.name, self._wanted)
        called = {**called_ranks(self.analyser, self.model), **self.analyser.called.get(self.name, {})}
        known = {**told, **called, **self.analyser.seen.get(self.name, {})}
        tokens = self.analyser.token_arguments(self.name)
        return known.get(argument, 1 if argument in self._rows else guess - 1 if argument in tokens else guess)


def _told(analyser: Analyser, name: str, wanted: Sequence[str]) -> dict[str, int]:
    """The ranks that single sides of conditions tell, of arguments whose ranks would help: they may be meant of all."""
    told = {**side_ranks.hints(analyser.side_ranks.get(name, {})), **analyser.called.get(name, {})}
    known = analyser.ranks.get(name, {})
    return {a: rank for a, rank in told.items() if a not in known and (a in wanted or not wanted)}


def _text(
    model: ClassModel,
    analyser: Analyser,
    plan: Plan,
    inner: Callable[[str], None],
    references: linen_copies.References | None,
) -> ClassText:
    """The class as it is followed now, with what it contains planned before. Raises Unmigratable."""
    name = model.qualname
    run = analyser.execution(name)
    for base in model.bases:
        inner(base.qualname)
    for site in [kind for s in run.sites for kind in (s, *s.alternatives)]:
        if site.kind == "class":
            inner(site.target)
    for target in templates.classes(analyser, name):
        inner(target)
    _check_unbound(analyser, name, plan, inner)
    run = analyser.execution(name)  # anew, where planning what it contains told more of that
    asked = {s.target for s in run.sites if "asked" in s.renders}
    analyser.says_nothing(target for target in asked if target not in plan.classes)  # nor has what stays Linen
    if any(analyser.family(target) & analyser.mute for target in asked):
        analyser.done.pop(name, None)  # a class that it asked for its width cannot say it
        run = analyser.execution(name)
    text = ClassText(run, analyser, plan.classes, references)
    rank_checks.ask(text)
    try:
        rank_checks.refuse_empty(text)
        text.prepare()
        argument_parts.refuse_both(text)
    except Unmigratable as error:
        error.wanted_ranks = error.wanted_ranks or run.wanted_ranks()
        raise
    return text


def _check_unbound(analyser: Analyser, name: str, plan: Plan, inner: Callable[[str], None]) -> None:
    """Refuse a class for which other code makes modules that stay Linen, where these cannot be called by themselves."""
    for target, node in analyser.without_variables.get(name, {}).items():
        inner(target)
        if target not in plan.classes and not work_unbound(analyser.classes, target):
            raise Unmigratable("NNX150", f"it contains {target.rpartition('.')[2]}, which is not native", node)


def more_telling(failure: Unmigratable, beyond: Unmigratable) -> Unmigratable:
    """What to say of a class that failed for a size, and `beyond` it for something else.

    A function that makes its modules would be in the way of any size, and its text may stand in the class: see `inlining`.
    """
    return beyond if failure.code == "NNX110" and beyond.code == "NNX138" else failure


def although_wrapped(first: Unmigratable, failure: Unmigratable, plan: Plan) -> Unmigratable:
    """Why a class stays Linen that contains one which could be wrapped, but for what follows from its result."""
    if failure.reason in first.reason:
        return first
    inner = plan.classes.get(first.inner)
    if inner is not None and inner.outcome is Outcome.NATIVE:  # by now, as it wraps what it contains
        return failure
    found = Unmigratable(first.code, f"{first.reason}; and although it can be wrapped: {failure.reason}", first.node)
    found.inner = first.inner
    return found


__all__ = ["although_wrapped", "attempt", "more_telling"]
