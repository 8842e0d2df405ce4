"""What a rule is: one file in `rules/` with its code, its docs, its examples and, for local rules, its rewrite."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .context import FileContext

Visit = Callable[[ast.AST, "FileContext"], None]


@dataclasses.dataclass(frozen=True)
class Example:
    """Code before and after; unit test, `explain` text and docs page at once.

    `after=None` means that the code is left as it is (and diagnosed). `run` is Python that defines
    `check(before, after)`
    over the two executed namespaces: the tests run both sides with it and compare.
    """

    before: str
    after: str | None
    title: str = ""
    run: str = ""


@dataclasses.dataclass(frozen=True)
class Visitor:
    """What a rule does with nodes of one kind, in files that say one of `words` (None: in all).

    `ends`: the last words of the dotted names that the node, or what it calls, must mean (None: whatever it says).
    """

    kind: type[ast.AST]
    visit: Visit
    words: frozenset[str] | None
    ends: frozenset[str] | None = None


@dataclasses.dataclass
class Rule:
    """A coded rule. `register` adds a visitor for a node type; rules without visitors document a diagnostic or a
    rewrite that the module, training or sharding writers carry out."""

    code: str  # NNX123
    name: str  # kebab-case, reads as the thing found
    summary: str  # one line
    what: str = ""
    why: str = ""
    how_sure: str = ""  # proved, bitwise, close, by construction, diagnostic only ...
    examples: tuple[Example, ...] = ()
    # The rule's visitors find nothing in a file that says none of these words (None: they have to look at every file).
    words: frozenset[str] | None = None
    visitors: list[Visitor] = dataclasses.field(default_factory=list)

    def register(
        self, *kinds: type[ast.AST], words: frozenset[str] | None = None, ends: frozenset[str] | None = None
    ) -> Callable[[Visit], Visit]:
        """Add a visitor of nodes of these kinds. `words`: its own, where it needs others than the rule's; `ends`: see
        `Visitor`, for Name, Attribute and Call only."""

        def add(visit: Visit) -> Visit:
            self.visitors += [Visitor(kind, visit, words or ends or self.words, ends) for kind in kinds]
            return visit

        return add


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule of the package, by code. A file in `rules/` holds one `RULE` (or a tuple `RULES`, for a family)."""
    from . import rules

    found: dict[str, Rule] = {}
    for info in sorted(pkgutil.iter_modules(rules.__path__), key=lambda i: i.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{rules.__name__}.{info.name}")
        members: Iterable[Rule] = getattr(module, "RULES", None) or (module.RULE,)
        for rule in members:
            if rule.code in found:
                raise RuntimeError(f"rule code {rule.code} is used by {found[rule.code].name} and {rule.name}")
            found[rule.code] = rule
    return dict(sorted(found.items()))
