"""What the constructor makes for the functions that make parameters for `setup`: see `linen.modules.setup_helpers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...edits import Part
from ..classes import constructor_text

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def write(writer: ClassWriter) -> None:
    """The parameters stand in place of the statement that calls the function: there setup's own names mean the same."""
    setup = writer.model.own_methods.get("setup")
    for call, block in writer.run.setup_helpers.items():
        assert setup is not None
        source = setup.source
        statement = source.statement_of(call)
        indent, unit = source.indent_of(statement), source.indent_unit
        parts: list[Part] = []
        for depth, line in constructor_text.block_lines(writer.text, block):
            deeper = indent + unit * depth
            parts += [source.newline + deeper if parts else "", *writer.laid_out(line, deeper)]
        writer.put(statement, *parts, source=source)


__all__ = ["write"]
