"""Functions that make modules and that a class is given, which calls them by their own names: `if self.fn is f: ...`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.modules import given_makers
from ...linen.modules.made_by_text import makes_modules
from ...linen.values.called_functions import function_of
from ...linen.values.sites import Function, Unmigratable
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def is_handed(text: ClassText, read: ast.expr, name: str) -> bool:
    """Is what is read, the function `name`, an argument of a class that asks whether a field holds it?

    Its layers are then that class's own; where the class only calls what the field holds they are not.
    """
    source = text.source
    parent = source.parents.get(read)
    call = source.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is read or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    model = text.analyser.classes.get(text.run.project.qualname(source, call.func) or "")
    if model is None:
        return False
    if isinstance(parent, ast.keyword):
        field = parent.arg
    else:
        places = [f.name for f in model.fields()]
        field = places[call.args.index(read)] if call.args.index(read) < len(places) else None
    asked = [n for n in model.nodes if isinstance(n, ast.Compare) and ast.unparse(n.left) == f"self.{field}"]
    return any(
        isinstance(n.ops[0], ast.Is) and text.run.project.qualname(model.source, n.comparators[0]) == name for n in asked
    )


def refuse(text: ClassText) -> None:
    """Refuse a class that does more with a field which holds such a function than to ask what it is and to call it."""
    run = text.run
    for field in text.model.fields():
        reads = [n for m in text.model.own_methods.values() for n in m.fields_read.get(field.name, ())]
        given = run.analyser.functions.of(text.model.qualname, field.name) if reads else ()
        found = [(f.source, f.node) for f in given if isinstance(f, Function)]
        if reads and isinstance(field.default, ast.Name | ast.Attribute):
            default = function_of(run.project, field.source, field.default)
            found += [default] if default is not None else []
        for source, function in found:
            if isinstance(function, ast.Lambda) or not makes_modules(run.project, source, function, set()):
                continue
            name = f"{source.module}.{function.name}"
            for read in reads:
                if not (_is_asked(text, read) or is_handed(text, read, name)):
                    what = f"`{short(read)}` makes submodules where it is not followed"
                    raise Unmigratable("NNX135", what, read)
    makers = given_makers.find(run.project)
    for name, handed in makers.given.get(text.model.qualname, {}).items():
        for maker in handed:
            call = makers.unsaid(text.model.qualname, name, maker)
            if call is not None:
                what = f"`{short(maker[2])}`, which its field `{name}` is given, makes modules for whoever calls it"
                raise Unmigratable("NNX135", what, call)


def _is_asked(text: ClassText, read: ast.expr) -> bool:
    """Is it called, compared, or a condition?"""
    parent = text.source.parents.get(read)
    called = isinstance(parent, ast.Call) and parent.func is read
    return called or isinstance(parent, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.If | ast.IfExp)


__all__ = ["is_handed", "refuse"]
