"""Names of the file that a constructor would say where an argument or variable of its own has the name.

    WIDTH = 4

    class Net(nn.Module):               def __init__(self, WIDTH: int = 2, ...):
        WIDTH: int = 2                      nnx.Linear(in_features, WIDTH)   # which of the two?
        ... nn.Dense(WIDTH)(x)

In Linen's methods the field is `self.WIDTH` and the name alone is the file's.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from ...edits import Span
from ...linen.values.sites import Localized, LocalizedPart, Unmigratable
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from .class_text import ClassText

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_BUILTINS = frozenset(dir(builtins))
_SIZES = ("_features", "_shape", "_example", "_dtype")  # how arguments are called that the migration adds
_WRITTEN = frozenset({"math", "jax", "jnp", "functools", "itertools"})  # packages that constructors need


def names(source: SourceFile, own: Collection[str]) -> frozenset[str]:
    """Which of the constructor's own names mean something of a file or of Python, too."""
    known = source.names
    return frozenset(
        name
        for name in own
        if name in _BUILTINS or name in known.imports or any(known.bound_by(b) is None for b in known.binders(name))
    )


def _may_be_added(source: SourceFile) -> frozenset[str]:
    """Names of a file that a constructor may have for sizes; which it has is known when all is written."""
    return frozenset(name for name in source.words if name == "rngs" or name.startswith("in_") or name.endswith(_SIZES))


def note(text: ClassText, localized: Localized) -> None:
    """Names of an expression that the constructor says, where one of its own might have the place."""
    module = localized.source.module
    if module not in text.hidden:
        text.hidden[module] = names(localized.source, text.run.fields.keys() | text.bound | _may_be_added(localized.source))
    hidden = text.hidden[module]
    if hidden and not hidden.isdisjoint(_WORD.findall(localized.source.text[localized.span.start : localized.span.end])):
        kept = [span for span, _ in localized.replaced]
        for node in _within(localized.source, localized.span, hidden):
            if not any(span.contains(localized.source.span(node)) for span in kept):
                text.of_files.append((localized.source, node))
    for part in (p for _, parts in localized.replaced for p in parts):
        if isinstance(part, LocalizedPart):
            note(text, part.localized)


def refuse(text: ClassText) -> None:
    """NNX151 for one that has, among these, in `setup`, and in what the migration writes (`len(in_shape)`)."""
    fields = text.run.fields.keys()
    setup = text.run.model.method("setup")
    own = {"rngs", *(added.name for added, _, _ in text.added())} if text.of_files or setup is not None else set()
    for source, node in text.of_files:
        if node.id in fields or node.id in text.emitted or node.id in own:
            _refuse(source, node)
    hidden = names(setup.source, fields | own) if setup is not None else frozenset()
    if setup is not None and hidden:
        for inner in subtree(setup.node):
            if isinstance(inner, ast.Name) and inner.id in hidden:
                _refuse(setup.source, inner)
    needed = fields & (_BUILTINS | _WRITTEN)
    said = "\n".join(_strings(text.lines)) if needed else ""
    for name in needed:
        if re.search(rf"(?<![\w.]){name}{'[.]' if name in _WRITTEN else '[(]'}", said):
            raise Unmigratable("NNX151", f"a field is called `{name}`, which its constructor would need", text.model.node)


def _within(source: SourceFile, span: Span, hidden: Collection[str]) -> Iterator[ast.Name]:
    for node in source.by_kind.get(ast.Name, ()):
        if isinstance(node, ast.Name) and node.id in hidden and span.contains(source.span(node)):
            yield node


def _refuse(source: SourceFile, node: ast.Name) -> None:
    if not isinstance(node.ctx, ast.Load) or source.names.is_hidden(node.id, node):
        return
    around: ast.AST = node
    while isinstance(source.parents.get(around), ast.Attribute):
        around = source.parents[around]
    imported = node.id not in source.names.definitions
    if imported and (source.names.qualname(around) or "").startswith("flax."):  # it becomes NNX's
        return
    reason = f"`{node.id}` is an argument or variable of its constructor, and something of the file that it would say there"
    raise Unmigratable("NNX151", reason, node)


def _strings(parts: Any) -> Iterator[str]:
    if isinstance(parts, str):
        yield parts
    elif isinstance(parts, tuple | list):
        for part in parts:
            yield from _strings(part)


__all__ = ["note", "refuse"]
