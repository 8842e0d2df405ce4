"""Which collections beside params a program may have in the NNX idiom."""

from __future__ import annotations

import ast

from .rewrite import Rewrite, Unsupported

_KEPT = frozenset({"params", "batch_stats"})


def check(form: Rewrite) -> None:
    """Unsupported where a program may see a collection that the module would keep to itself.

    Every attention layer may have a cache. Linen makes one only where a call says that `cache` is mutable, so a program
    that never says the word has none. Sown values are dropped by calls that do not ask for them.
    """
    site = form.component.sites[0]
    others = form.plan.collections - _KEPT
    if others - {"cache"} or (others and _says(form, "cache")):
        raise Unsupported(site, "collections beside params and batch_stats")
    if form.plan.sown - {"intermediates"}:
        raise Unsupported(site, f"values sown into {', '.join(sorted(form.plan.sown - {'intermediates'}))}")


def _says(form: Rewrite, name: str) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == name for node in form.flow.source_of)
