"""Assignments that only fed constructors: they go from the methods when the constructor has taken them over."""

from __future__ import annotations

import ast
import collections
import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ... import shared_lines
from ...edits import Span
from ...linen.execution.aliases import with_others
from ...linen.project.classes import Method
from ...linen.values.arguments import stored_names
from ...linen.values.sites import Local
from ...trees import of_kind, subtree
from ..factories import choices
from ..text.text_parts import MethodEdit

if TYPE_CHECKING:
    from .class_write import ClassWriter


def drop(writer: ClassWriter) -> None:
    """Assignments that only fed constructors are removed from the methods."""
    copied = {
        step.statement: Assigned(step.statement, step.names, step.changes)
        for block in writer.run.blocks.values()
        for step in _locals(block)
        if step.source is writer.source
    }
    methods = [m for m in writer.model.own_methods.values() if m.name != "setup"]
    statements = {s.statement: s for m in methods for s in _without_effect(writer, m)} | copied
    gone = [span for source, span in writer.moved if source is writer.source]
    edits = [e for e in writer.edits if e.source is writer.source]
    kept_inside = [p for e in edits for p in e.parts if isinstance(p, Span)]
    going: dict[ast.stmt, MethodEdit] = {}
    for method in methods:
        inside = set(method.nodes)
        own = [s for s in statements if s in inside]
        said = _in_new_text(writer, method, frozenset().union(*(statements[s].names for s in own)))
        while own:
            own_reads = {  # a statement that changes a list reads it, which alone keeps neither
                n
                for s in own
                if statements[s].changes and _going(writer, s) is not None
                if not any(  # `n = sizes.pop()`, of which the call needs `n`, or another name of the list
                    isinstance(n.ctx, ast.Load)
                    and n.id in stored_names(s) | (with_others([method.node], statements[s].names) - statements[s].names)
                    and not is_gone(writer, writer.source.span(n), gone, kept_inside)
                    for n in of_kind(method.node, ast.Name)
                )
                for n in subtree(s)
                if isinstance(n, ast.Name) and n.id in statements[s].names
            }
            loads = {
                n.id
                for n in of_kind(method.node, ast.Name)
                if not isinstance(n.ctx, ast.Store)  # `del width` needs it, too
                and n not in own_reads
                and not is_gone(writer, writer.source.span(n), gone, kept_inside)
            } | {  # `width *= 2` that has to stay reads its name, too
                n.target.id
                for n in of_kind(method.node, ast.AugAssign)
                if isinstance(n.target, ast.Name)
                and (n not in own or _going(writer, n) is None)
                and not is_gone(writer, writer.source.span(n), gone, kept_inside)
            }
            loads |= said
            found = next(
                (
                    s
                    for s in own
                    if not (statements[s].names & loads)
                    and _was_moved(writer, method, statements[s], gone)
                    and _going(writer, s) is not None
                ),
                None,
            )
            if found is None:
                break
            own.remove(found)
            whole = _going(writer, found) or found
            going[whole] = MethodEdit(writer.source, writer.source.full_span(whole), ())
            gone.append(going[whole].span)
            writer.edits.append(going[whole])  # until all are known
    writer.edits = [e for e in writer.edits if not any(e is one for one in going.values())]
    writer.edits += [MethodEdit(writer.source, span, ()) for span in shared_lines.removals(writer.source, going)]


def _in_new_text(writer: ClassWriter, method: Method, names: frozenset[str]) -> set[str]:
    """Names of the method's that its new text says: `(self.LayerNorm_0 if kind == "layer" else self.RMSNorm_0)(x)`."""
    own = writer.source.span(method.node)
    said = [
        part
        for edit in writer.edits
        if edit.source is writer.source and own.contains(edit.span) and edit.span.start > own.start
        for part in edit.parts
        if isinstance(part, str)
    ]
    text = "\n".join(said)
    return {name for name in names if name in text and re.search(rf"(?<![.\w\"'])\b{name}\b(?!\s*=[^=])(?![\"'])", text)}


@dataclasses.dataclass(frozen=True, eq=False)
class Assigned:
    """An assignment that may go: `changes` where it changes what its name holds, in place."""

    statement: ast.stmt
    names: frozenset[str]
    changes: bool = False


_PLAIN_CALLS = frozenset({"int", "float", "bool", "len", "max", "min", "abs", "tuple", "list", "round", "math", "np"})


def _without_effect(writer: ClassWriter, method: Method) -> Iterator[Assigned]:
    """`shape = (1, x.shape[1], self.width)`: what computes from names alone and does nothing else, names bound once.

    So does `bias = self.RelativeBias_0`, what the construction of a module has become.
    """
    stored = collections.Counter(n.id for n in of_kind(method.node, ast.Name) if isinstance(n.ctx, ast.Store))
    for node in of_kind(method.node, ast.Assign):
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if stored[name] == 1 and (all(_is_plain(n) for n in subtree(node.value)) or _is_reference(writer, node.value)):
            yield Assigned(node, frozenset({name}))


_REFERENCE = re.compile(r"self(\.\w+)+")


def _is_reference(writer: ClassWriter, value: ast.expr) -> bool:
    span = writer.source.span(value)
    said = [e.parts for e in writer.edits if e.source is writer.source and e.span == span and not e.insert]
    texts = [part for part in said[0] if isinstance(part, str)] if len(said) == 1 else []
    return bool(texts) and len(texts) == len(said[0]) and _REFERENCE.fullmatch("".join(texts)) is not None


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        root = node.func.value if isinstance(node.func, ast.Attribute) else node.func  # math.prod, not np.random.normal
        return isinstance(root, ast.Name) and root.id in _PLAIN_CALLS
    return not isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr)


def is_gone(writer: ClassWriter, span: Span, gone: list[Span], kept: list[Span]) -> bool:
    inside = [g for g in gone if g.contains(span)]
    if not inside:
        return False
    # Text that an edit keeps (a flag moved to the call) is still there.
    return not any(k.contains(span) and any(g.contains(k) for g in inside) and k not in gone for k in kept)


def _was_moved(writer: ClassWriter, method: Method, step: Assigned, gone: list[Span]) -> bool:
    """Was the name read by what has moved to the constructor? What was unused before is not ours to remove."""
    if isinstance(writer.run.evaluated.get(getattr(step.statement, "value", step.statement)), type(None)):
        return False
    return any(
        isinstance(n, ast.Name)
        and n.id in step.names
        and isinstance(n.ctx, ast.Load)
        and any(g.contains(writer.source.span(n)) for g in gone)
        for n in method.nodes
    )


def _locals(block: object) -> Iterator[Local]:
    for step in block.steps:  # type: ignore[attr-defined]
        if isinstance(step, Local):
            yield step
        for name in ("body", "then", "orelse"):
            inner = getattr(step, name, None)
            if inner is not None:
                yield from _locals(inner)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _going(writer: ClassWriter, statement: ast.stmt) -> ast.stmt | None:
    """What goes with a statement: the `if` around it where nothing else is left there; None where it has to stay."""
    parent = writer.source.parents.get(statement)
    block = next((b for b in _blocks(parent) if statement in b), None) if parent is not None else None
    if block is None:
        return None
    if any(s is not statement and not choices.is_removed(writer, writer.source, s) for s in block):
        return statement
    plain = isinstance(parent, ast.If) and block is parent.body and all(_is_plain(n) for n in subtree(parent.test))
    return _going(writer, parent) if plain and isinstance(parent, ast.If) and not parent.orelse else None
