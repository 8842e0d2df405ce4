"""Recurrent cells of the user's own: `initialize_carry(rng, input_shape)` is NNX's `initialize_carry(input_shape, rngs)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ... import shared_lines
from ...edits import Part, Parts, Span
from ...linen.project.classes import ClassModel, Method
from ...linen.values.sites import Site, Unmigratable
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

BASE = "flax.linen.RNNCellBase"
_NAME = "initialize_carry"


def is_cell(model: ClassModel | None) -> bool:
    """Does a class inherit from Linen's RNNCellBase?"""
    return model is not None and any(BASE in m.foreign_bases for m in model.mro())


def is_carry_call(writer: ClassWriter, site: Site, method: str) -> bool:
    """Is this `cell.initialize_carry(...)` of a cell of the project?"""
    return method == _NAME and is_cell(writer.text.analyser.classes.get(site.target))


def carry_call(source: SourceFile, node: ast.Call) -> Parts:
    """The call with its arguments in NNX's order."""
    unpacked = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    if unpacked or len(node.args) not in (0, 2):
        raise Unmigratable("NNX203", f"`{_NAME}` of a cell is called in a way that cannot be followed", node)
    if not node.args:
        return (source.span(node),)
    rng, shape = node.args
    rest: list[Part] = []
    for keyword in node.keywords:
        rest += [f", {keyword.arg}=", source.span(keyword.value)]
    return (source.span(node.func), "(", source.span(shape), ", ", source.span(rng), *rest, ")")


def method_edits(writer: ClassWriter) -> Iterator[tuple[Span, Parts]]:
    """The arguments of a cell's own `initialize_carry` in NNX's order; other cells than those of vectors are refused."""
    if not is_cell(writer.model):
        return
    axes = writer.model.method("num_feature_axes")
    last = axes.node.body[-1] if axes is not None else None
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and last.value.value == 1):
        raise Unmigratable("NNX160", "a cell whose `num_feature_axes` is not 1 inherits from RNNCellBase", writer.model.node)
    method = writer.model.own_methods.get(_NAME)
    if method is not None:
        source = method.source
        rng, shape = _arguments(method)
        first, last_one = source.span(rng), source.span(shape)
        between = source.text[first.end : last_one.start]
        default = "=None" if rng.annotation is None else " = None"
        swapped = f"{source.text_of(shape)}{between}{source.text_of(rng)}{default}"
        yield Span(first.start, last_one.end), (swapped,)


def key_lines(writer: ClassWriter) -> Iterator[tuple[Span, Parts]]:
    """Where a cell draws its initial carry: NNX hands it rngs instead of a key."""
    method = writer.model.own_methods.get(_NAME) if is_cell(writer.model) else None
    if method is None:
        return
    source, key, body = method.source, _arguments(method)[0].arg, method.node.body
    if not any(isinstance(n, ast.Name) and n.id == key for s in body for n in subtree(s)):
        return
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    statement = body[1] if documented else body[0]
    at = source.span(statement)
    line = f"{key} = {writer.namer.parity('carry_key')}({key}){source.newline}{source.indent_of(statement)}"
    yield Span(at.start, at.start), (line,)


def initial_carries(writer: ClassWriter) -> None:
    """Cells that are made only to be asked for their carry: the carry is made without them."""
    statements: set[ast.stmt] = set()
    for call, asked in writer.run.initial_carries.items():
        source, cell = asked.source, asked.cell
        if source is not writer.source:
            raise Unmigratable("NNX135", f"{source.path.name} makes the first carry of its caller's cells", call)
        features = source.span(asked.features)
        if cell is None:
            zeros: list[Part] = [f"{writer.namer.name('jax.numpy.zeros')}((", *_batch(source, asked.shape), features, "))"]
        else:
            dtype: list[Part] = [", ", source.span(cell.dtype)] if cell.dtype is not None else []
            parity = writer.namer.parity("initial_carry")
            zeros = [f"{parity}(", source.span(asked.shape), ", ", features, *dtype, ")"]
        both: Parts = ("(", *zeros, ", ", *zeros, ")") if asked.arrays == 2 else tuple(zeros)
        writer.put(call, *both, source=source)
        if cell is not None and cell.statement is not None:
            statements.add(cell.statement)
    for span in shared_lines.removals(writer.source, statements):
        writer.remove(writer.source, span)


def _batch(source: SourceFile, shape: ast.expr) -> list[Part]:
    """The dimensions of a batch, as the first items of a tuple."""
    if isinstance(shape, ast.Tuple):
        return [part for size in shape.elts for part in (source.span(size), ", ")]
    return ["*", source.span(shape), ", "]


def _arguments(method: Method) -> tuple[ast.arg, ast.arg]:
    spec = method.node.args
    plain = not (spec.posonlyargs or spec.vararg or spec.kwarg or spec.kwonlyargs or spec.defaults)
    if "staticmethod" in method.decorators or "classmethod" in method.decorators or not plain or len(spec.args) != 3:
        reason = f"a cell whose `{_NAME}` takes other arguments inherits from RNNCellBase"
        raise Unmigratable("NNX160", reason, method.node)
    return spec.args[1], spec.args[2]


__all__ = ["BASE", "carry_call", "initial_carries", "is_carry_call", "is_cell", "key_lines", "method_edits"]
