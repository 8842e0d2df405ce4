"""Lists and dicts of modules that setup makes: NNX refuses plain containers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..linen.merging import Either
from ..linen.sites import Module, Table
from ..linen.values import Tup
from ..source import SourceFile
from .branches import exclusive

if TYPE_CHECKING:
    from .class_write import ClassWriter


def write(writer: ClassWriter, node: ast.Assign, source: SourceFile) -> None:
    """`self.layers = [...]` of modules needs nnx.List: NNX refuses plain containers."""
    target = node.targets[0]
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"):
        return
    if isinstance(node.value, ast.Constant) and node.value.value is None and _holds_module(writer, target.attr, node):
        writer.put(node.value, f"{writer.namer.name('flax.nnx.data')}(None)", source=source)
        return
    found = writer.run.evaluated.get(node.value)
    if found is None or isinstance(found.value, Module | Either) or next(writer.run.modules_in(found.value), None) is None:
        return
    if isinstance(node.value, ast.ListComp) and any(
        writer.run.carried.get(site) for site in writer.run.modules_in(found.value)
    ):
        return
    for operand in [o for b in ast.walk(node.value) if isinstance(b, ast.BinOp) for o in (b.left, b.right)]:
        held = writer.run.evaluated.get(operand)
        if (
            isinstance(operand, ast.Attribute)
            and held is not None
            and next(writer.run.modules_in(held.value), None) is not None
        ):
            writer.put(operand, "tuple(", source.span(operand), ")", source=source)
    for container in [node.value, *_inner_containers(writer, node.value), *_appended(writer, node.value, source)]:
        kind = "Dict" if isinstance(container, ast.Dict | ast.DictComp) else "List"
        span = source.span(container)
        writer.put(span, f"{writer.namer.name(f'flax.nnx.{kind}')}(", span, ")", source=source)


def _appended(writer: ClassWriter, name: ast.expr, source: SourceFile) -> Iterator[ast.expr]:
    """Lists and tuples of modules that are appended to a list of this name."""
    if not isinstance(name, ast.Name):
        return
    for call in source.by_kind.get(ast.Call, ()):
        found = writer.run.evaluated.get(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None
        if found is None or not isinstance(found.value, Tup | Table) or not isinstance(call, ast.Call):
            continue
        grows = isinstance(call.func, ast.Attribute) and call.func.attr == "append"
        if grows and ast.unparse(call.func.value) == name.id and any(writer.run.modules_in(found.value)):  # type: ignore[attr-defined]
            yield call.args[0]


def _inner_containers(writer: ClassWriter, outer: ast.expr) -> Iterator[ast.expr]:
    """Lists and dicts of modules within another, which NNX refuses as well; not those given to a layer."""
    for child in ast.iter_child_nodes(outer):
        if not isinstance(child, ast.expr) or isinstance(child, ast.Call | ast.Lambda):
            continue
        found = writer.run.evaluated.get(child)
        operand = isinstance(outer, ast.BinOp)  # lists that are added are plain lists: their sum is the nnx.List
        if (
            isinstance(child, ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp)
            and found is not None
            and not operand
        ):
            if next(writer.run.modules_in(found.value), None) is not None:
                yield child
        yield from _inner_containers(writer, child)


def _holds_module(writer: ClassWriter, attribute: str, none: ast.Assign) -> bool:
    """Is a module assigned to the attribute in setup besides None? NNX must be told, where it is None first."""
    setup = writer.model.method("setup")
    for node in ast.walk(setup.node) if setup is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets):
            found = writer.run.evaluated.get(node.value)
            if found is not None and next(writer.run.modules_in(found.value), None) is not None:
                assert setup is not None
                if not exclusive(none, node, setup.node):
                    return True
    return False
