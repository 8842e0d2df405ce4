"""What a field is taken for that nothing in the project gives: `norm = self.norm or nn.LayerNorm` makes it a factory.

A field whose default is None says nothing of what it holds. Where the project gives it no factory, that which stands in
for it shows what is meant: one that makes modules which are constructed and called alike.
"""

from __future__ import annotations

import ast
from typing import Any

from ..values.sites import Abs, BoundArg, Factory, Static
from ..values.values import Value


def note(run: Any, test: ast.expr, then: Value, orelse: Value, env: Any) -> None:
    """Remember the factory that stands in for a field, where the condition is that the field is None."""
    for held, other, given in ((then, orelse, True), (orelse, then, False)):
        if (
            not (isinstance(held, Static) and isinstance(other, Factory))
            or other.field
            or other.alternatives
            or other.calltime
        ):
            continue
        field = held.text.removeprefix("self.")
        if held.text == field or not _is_none(run.fields.get(field)):
            continue
        asked, needs = run.self_text(test, env)
        name = f"self.{field}"
        wanted = {name, f"{name} is not None"} if given else {f"not {name}", f"{name} is None"}
        if not needs and asked in wanted:
            run.analyser.fallbacks.setdefault((run.model.qualname, field), other)


def learn(analyser: Any) -> bool:
    """Take the fields that nothing gives for what stands in for them; True where that is news."""
    before = analyser.kinds.version
    for (qualname, field), factory in sorted(analyser.fallbacks.items(), key=lambda item: item[0]):
        model = analyser.classes.get(qualname)
        if model is not None and not analyser.kinds.of(model, field):
            analyser.learns(qualname, {field: BoundArg(None, Abs(factory), None)})
    return bool(analyser.kinds.version != before)


def _is_none(field: Any) -> bool:
    return field is not None and isinstance(field.default, ast.Constant) and field.default.value is None
