"""The loops of comprehensions, and their filters: `[nn.Dense(s)(x) for s in sizes if s > 3]` makes modules conditionally."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..values.merging import question
from ..values.sites import Block, Branch, For


def passes(run: Any, generators: Sequence[ast.comprehension], env: Any, follow: Callable[[Any], None]) -> list[For]:
    """Run the loops around an item, and `follow` what is made of it; the loops that make something, the outermost last."""
    if not generators:
        follow(env)
        return []
    generator = generators[0]
    steps: list[For] = []

    def body(scope: Any) -> None:
        _under_filters(run, generator.ifs, scope, lambda: steps.extend(passes(run, generators[1:], scope, follow)))

    step = run.loop(generator, generator.target, generator.iter, env, body)
    return [*steps, step] if step is not None else steps


def _under_filters(run: Any, tests: Sequence[ast.expr], env: Any, follow: Callable[[], None]) -> None:
    """Follow what a comprehension does with an item that its filters let through."""
    if not tests:
        follow()
        return
    asked = question(run.evaluate(tests[0], env))
    outer, place, mark = run.block, run.mark, len(run.sites)
    kept = Block()
    run.block, run.mark = kept, (kept, 0)
    _under_filters(run, tests[1:], env, follow)
    run.block, run.mark = outer, place
    if len(run.sites) == mark or run.in_setup or run.truth(asked.value):
        outer.steps.extend(kept.steps)  # in setup the comprehension's own text stays
        return
    localized, text, _ = run.condition(tests[0], asked, env)
    outer.steps.append(Branch(localized, kept, Block(), env.source, text))
    for site in run.sites[mark:]:
        site.conditions = (*site.conditions, (tests[0], localized is None and not text))
