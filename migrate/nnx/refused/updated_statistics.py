"""Modules whose batch statistics one pass updates and then reads: `norm(x, False) + norm(y, True)`, `net(x, train=True)`
beside `net(y, train=False)`.

Linen takes the derivative through the averages that the first call made; `nnx.BatchNorm` stops it there.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from ...linen.values.sites import Site, Unmigratable
from ...linen.values.values import Const
from ..lifted.lifted import used_by
from ..text.branches import exclusive

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def refuse(text: ClassText) -> None:
    for site in text.run.sites:
        holds = site.traits if site.traits is not None else used_by(text, site)
        if len(site.calls) < 2 or "batch_stats" not in holds.collections:
            continue
        for (one, method, first), (other, beside, second) in itertools.combinations(site.calls, 2):
            if method != beside or first.source is not second.source:
                continue
            function = first.source.function_of(one)
            unlike = _unlike(_flags(text, site, one), _flags(text, site, other))
            if unlike and (function is None or not exclusive(one, other, function)):
                reason = f"batch statistics of one module are updated and read in one pass, by calls of unlike `{unlike}`"
                raise Unmigratable("NNX183", reason, other)


def _unlike(one: dict[str, str], other: dict[str, str]) -> str:
    return next((name for name in sorted({*one, *other}) if one.get(name) != other.get(name)), "")


def _flags(text: ClassText, site: Site, node: ast.Call) -> dict[str, str]:
    """What a call says of flags: those of its arguments that are True or False, or a `not`, by their names."""
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    order = [p.arg for p in method.positional] if method is not None else ["x", "use_running_average"]
    given = [*zip(order, node.args), *((k.arg, k.value) for k in node.keywords if k.arg)]
    return {name: ast.unparse(value) for name, value in given if _is_flag(text, value)}


def _is_flag(text: ClassText, value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return True
    found = text.run.evaluated.get(value)
    return found is not None and isinstance(found.value, Const) and isinstance(found.value.value, bool)
