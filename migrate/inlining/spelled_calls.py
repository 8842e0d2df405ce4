"""A `__call__` that hands all that it is given on to another method says what that takes.

    def __call__(self, *args, **kwargs):              def __call__(self, obs, action, train=False):
        return self.forward(*args, **kwargs)              return self.forward(obs, action, train)
"""

from __future__ import annotations

import ast

from ..edits import EditSet, Span
from ..linen.project.forwarded_calls import forwarded
from ..linen.project.index import Project
from ..source import SourceFile


def with_spelled_call(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with the class's call so; None where it is no such, or what it takes cannot stand there."""
    found = forwarded(project, source, model)
    if found is None:
        return None
    call, handed, method = found
    taken = method.args
    names = [a.arg for a in taken.args[1:]]
    defaults = [None] * (len(taken.args) - len(taken.defaults)) + list(taken.defaults)
    said = [call.args.args[0].arg, *[_parameter(source, a, d) for a, d in zip(taken.args[1:], defaults[1:], strict=True)]]
    given = list(names)
    if call.args.kwarg is not None and taken.kwonlyargs:
        pairs = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
        said += ["*", *[_parameter(source, a, d) for a, d in pairs]]
        given += [f"{a.arg}={a.arg}" for a in taken.kwonlyargs]
    edits = EditSet(source.text)
    assert call.args.vararg is not None
    last = call.args.kwarg or call.args.vararg
    edits.replace(Span(source.span(call.args.args[0]).start, source.span(last).end), ", ".join(said))
    first, final = handed.args[0], handed.keywords[-1].value if handed.keywords else handed.args[-1]
    edits.replace(Span(source.span(first).start, source.span(final).end), ", ".join(given))
    return edits.render()


def _parameter(source: SourceFile, argument: ast.arg, default: ast.expr | None) -> str:
    said = source.text_of(argument)
    if default is None:
        return said
    return f"{said} = {source.text_of(default)}" if argument.annotation is not None else f"{said}={source.text_of(default)}"


__all__ = ["with_spelled_call"]
