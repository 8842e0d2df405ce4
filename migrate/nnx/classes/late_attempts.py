"""What is tried for a class whose sizes only a call on shapes tells (`later_sizes`), once it failed without."""

from __future__ import annotations

from collections.abc import Callable

from ...linen.execution.analyser import Analyser
from ...linen.modules import by_passes
from ...linen.project.classes import ClassModel
from . import attempts, constructor_text, later_sizes, rank_checks


def found(
    model: ClassModel, analyser: Analyser, last: attempts.Attempt, again: Callable[[], attempts.Attempt]
) -> attempts.Attempt:
    """The last attempt, or a better one whose constructor calls the class on shapes; `again`: plans the class anew."""
    text, failure, tried = last
    if text is not None and rank_checks.leaves_features_out(text) and later_sizes.may_wait(analyser, model):
        analyser.later.add(model.qualname)  # what a call on shapes finds is right for every rank
        other = again()
        if other[0] is not None:
            return other
        _forget(model, analyser)
        return again()
    if failure is not None and later_sizes.may_find(analyser, model, failure):
        other = _by_call(model, analyser, again)
        if other[0] is not None:
            return other
        _forget(model, analyser)
        assert other[1] is not None
        told = other[1].reason.startswith(failure.reason)
        return None, other[1] if told else attempts.more_telling(failure, other[1]), other[2]
    return text, failure, tried


def _by_call(model: ClassModel, analyser: Analyser, again: Callable[[], attempts.Attempt]) -> attempts.Attempt:
    name = model.qualname
    analyser.later.add(name)
    text, failure, tried = again()
    if failure is not None and failure.reason == constructor_text.CHANGING[1]:
        analyser.untracked_sizes.add(name)
        text, failure, tried = again()
    of_list = text is not None and later_sizes.takes_a_list(text)
    if of_list or (text is None and by_passes.may_count(model, failure)):
        analyser.by_passes.add(name)
        text, by_pass, tried = again()
        failure = failure or by_pass
    if text is None and of_list:  # an array, then
        analyser.by_passes.discard(name)
        text, failure, tried = again()
    return text, None if text is not None else failure, tried


def _forget(model: ClassModel, analyser: Analyser) -> None:
    for marked in (analyser.by_passes, analyser.untracked_sizes, analyser.later):
        marked.discard(model.qualname)
    analyser.forget_special([model.qualname])


__all__ = ["found"]
