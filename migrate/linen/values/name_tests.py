"""Conditions that compare one thing with constants: `self.norm == "batch"`, `self.norm in ("layer", "group")`.

Several of them on the same thing cannot hold in any combination: what it is decides them all.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence

_LETTERS = frozenset({"lower", "upper", "strip"})
_OTHER = object()  # any value that no condition names


@dataclasses.dataclass(frozen=True)
class Test:
    """`subject` is one of `values`; or, where not `among`, none of them."""

    subject: str
    values: frozenset[object]
    among: bool

    def holds(self, value: object) -> bool:
        return (value in self.values) is self.among


@functools.lru_cache(maxsize=4096)
def parsed(text: str) -> Test | None:
    """The condition, where it compares an attribute or name, or `kind.lower()`, with constants."""
    node = ast.parse(text, mode="eval").body
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and _is_subject(node.left)):
        return None
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(operator, ast.Eq | ast.NotEq):
        given = [right]
    elif isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        given = list(right.elts)
    else:
        return None
    if not all(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in given):
        return None  # numbers and truth values are equal to one another in more ways
    values = frozenset(n.value for n in given if isinstance(n, ast.Constant))
    return Test(ast.unparse(node.left), values, isinstance(operator, ast.Eq | ast.In))


def _is_subject(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LETTERS:
        return not node.args and not node.keywords and _is_subject(node.func.value)
    return isinstance(node, ast.Attribute | ast.Name)


def decided(text: str, known: Sequence[tuple[str, bool]]) -> bool | None:
    """Whether a condition holds where others do or do not; None where they do not tell."""
    test = parsed(text)
    if test is None:
        return next((holds for other, holds in known if other == text), None)
    facts = [(other, holds) for t, holds in known if (other := parsed(t)) is not None and other.subject == test.subject]
    named = test.values.union(*[other.values for other, _ in facts])
    answers = {test.holds(v) for v in (*named, _OTHER) if all(other.holds(v) is holds for other, holds in facts)}
    return answers.pop() if len(answers) == 1 else None


def ways(tests: Sequence[str]) -> Iterator[dict[str, bool]]:
    """Every combination in which the conditions may hold."""
    known = {text: parsed(text) for text in tests}
    subjects: dict[str, set[object]] = {}
    for test in known.values():
        if test is not None:
            subjects.setdefault(test.subject, set()).update(test.values)
    free = [text for text, test in known.items() if test is None]
    choices = [[*sorted(map(str, values)), _OTHER] for values in subjects.values()]
    for values in itertools.product(*choices):
        of = dict(zip(subjects, values))
        said = {text: test.holds(of[test.subject]) for text, test in known.items() if test is not None}
        for holds in itertools.product((True, False), repeat=len(free)):
            yield {**said, **dict(zip(free, holds))}


__all__ = ["decided", "ways"]
