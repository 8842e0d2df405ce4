"""Methods that make modules for `setup`: `self.layers = self.make_layers()`.

The constructor's own names mean nothing in another method, so it is handed them: sizes, fields and `rngs`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Overlay, Part
from ...linen.project.classes import Method
from ...linen.values.arguments import stored_names
from ...linen.values.sites import Unmigratable
from ...trees import subtree
from ..text.text_parts import added_arguments
from .carried import loop_of
from .setup_params import read_elsewhere

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_NAME = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?!\w|\s*=[^=])")
_ASSIGNED = re.compile(r"^\s*(\w+) = ", re.M)


def write(writer: ClassWriter) -> None:
    """The parameters of such methods, and the arguments of their calls."""
    run, source = writer.run, writer.source
    setup = writer.model.own_methods.get("setup")
    for method in _makers(writer):
        span = source.span(method.node)
        inside = [e for e in writer.edits if e.source is source and span.start <= e.span.start < span.end]
        texts = [text for edit in inside for text in _texts(edit.parts)]
        assigned = {name for text in texts for name in _ASSIGNED.findall(text)}
        sizes = {writer.text.size_name(argument) for argument in writer.text.used}
        known = sizes | run.fields.keys() | run.trackers | {"rngs"}
        said = {name for text in texts for name in _NAME.findall(text)}
        needed = said & known
        names = sorted(needed - assigned, key=lambda name: (name == "rngs", name))
        own = {n.id for n in method.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        arguments = method.node.args
        own |= {a.arg for a in subtree(arguments) if isinstance(a, ast.arg)}
        calls = [n for m in writer.model.methods().values() for n in m.nodes if _calls(n, method.name)]
        alone = len(calls) == 1 and setup is not None and calls[0] in setup.nodes and not method.decorators
        alone = alone and not writer.model.bases and not any(writer.text.analyser.classes.derived(writer.model))
        plain = not (arguments.kwonlyargs or arguments.vararg or arguments.kwarg) and not own & set(names)
        if alone and setup is not None:  # what setup says of its own numbers, and what it does not know yet
            plain &= not said & (stored_names(setup.node) - writer.run.trackers)
            plain &= not (needed - assigned) & set(_set_behind(writer, calls[0]))
        if not (alone and plain) or read_elsewhere(run, method.name) or _is_named(writer, method.name, calls):
            raise Unmigratable("NNX135", f"`{method.name}` makes submodules for `setup`", method.node)
        if not names:
            continue
        call = calls[0]
        assert isinstance(call, ast.Call)
        behind = source.span(arguments.args[-1] if not arguments.defaults else arguments.defaults[-1]).end
        if not arguments.defaults and arguments.args[-1].annotation is not None:
            behind = source.span(arguments.args[-1].annotation).end
        writer.insert(behind, f", *, {', '.join(names)}")
        for at, more in added_arguments(source, call, [(f"{name}={name}",) for name in names]):
            writer.insert(at, *more, order=1)


def _set_behind(writer: ClassWriter, call: ast.AST) -> Iterator[str]:
    """The sizes of a list of setup that are known behind a call only."""
    here = writer.source.statement_of(call).lineno
    for site, carried in writer.run.carried.items():
        loop = loop_of(site)
        if loop is None or site.anchor()[0] is not writer.source or (loop.end_lineno or 0) >= here:
            yield from (tracker for tracker, _, _ in carried)


def _makers(writer: ClassWriter) -> Iterator[Method]:
    """The class's own methods besides setup in whose text setup's modules are made."""
    nodes = {site.anchor()[1] for site in writer.run.sites if site.in_setup and site.anchor()[0] is writer.source}
    for method in writer.model.own_methods.values():
        if method.name != "setup" and any(node in nodes for node in method.nodes):
            yield method


def _texts(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Overlay):
            for edit in part.edits:
                yield from _texts(tuple(edit.parts))


def _calls(node: ast.AST, name: str) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == name and ast.unparse(func.value) == "self"


def _is_named(writer: ClassWriter, name: str, calls: list[ast.AST]) -> bool:
    """Is the method taken for something else than called: `functools.partial(self.make, 3)`?"""
    called = {call.func for call in calls if isinstance(call, ast.Call)}
    methods = writer.model.methods().values()
    return any(isinstance(n, ast.Attribute) and n.attr == name and n not in called for m in methods for n in m.nodes)


__all__ = ["write"]
