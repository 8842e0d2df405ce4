"""Files whose text was changed."""

from __future__ import annotations

import ast

from ..source import SourceFile
from .callees import NotInlined


def reparsed(source: SourceFile, text: str) -> SourceFile:
    """The file with another text."""
    try:
        return SourceFile.parse(
            source.path, source.module, text, is_package=source.is_package, resolve=source.resolve, prefix=source.prefix
        )
    except SyntaxError as error:
        raise NotInlined("its text cannot stand there") from error


def class_of(source: SourceFile, name: str) -> ast.ClassDef:
    found = source.names.definitions.get(name)
    if not isinstance(found, ast.ClassDef):
        raise NotInlined("the class is not one of its module")
    return found


__all__ = ["class_of", "reparsed"]
