"""Fields that are read in other ways than as `self.field`: they stay attributes, as Linen has them.

A module that is handed on whole (`scaled(self, x)`, a decorator of one of its methods, `vars(self)`) may be asked for any
of them, and `hasattr` answers without an error where one is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import of_kind, subtree
from ..classes.inheritance import plain_bases

if TYPE_CHECKING:
    from ...linen.project.classes import ClassModel
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

_ASKING = frozenset({"getattr", "hasattr", "attrgetter"})
_ASKS_NO_FIELD = frozenset({"super", "isinstance", "type", "id", "share_scope"})
_WHOLE = frozenset({"__dict__", "__getattribute__", "__getattr__", "__dataclass_fields__", "__repr__", "__str__"})
# Decorators of methods that read nothing of the module, or whose functions are followed.
_READING_NOTHING = (
    "flax.", "jax.", "property", "staticmethod", "classmethod", "functools.", "typing.", "abc.", "contextlib.", "warnings.",
    "typing_extensions.", "jaxtyping.", "beartype.",
)  # fmt: skip


def asked_by_name(source: SourceFile) -> Iterator[str]:
    """The attributes of anything that a file asks for by a string: `getattr(m, "scale")`, `case Block(scale=s)`."""
    for node in source.by_kind.get(ast.Call, ()):
        assert isinstance(node, ast.Call)
        if _last(node.func) in _ASKING:
            for part in node.args:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield from part.value.split(".")
    for pattern in source.by_kind.get(ast.MatchClass, ()):
        assert isinstance(pattern, ast.MatchClass)
        yield from pattern.kwd_attrs


def handed_on(model: ClassModel) -> bool:
    """May code that is not the class's own read fields of it?"""
    methods = [m for owner in model.mro() for m in owner.own_methods.values()]
    return any(not d.startswith(_READING_NOTHING) for m in methods for d in m.decorators) or any(
        _gives_whole(method.source, method.node) for method in methods
    )


def under_other_names(writer: ClassWriter) -> dict[str, str]:
    """Field → the attribute that keeps it, where something is made under the field's own name: Linen allows both.

    Only the class's own `self.field` is followed: where more reads a field, the two are refused (`constructor_write`).
    """
    made = {
        place.attribute
        for site, place in writer.text.names.places.items()
        if place.kind == "attribute" and not (site.held or site.in_setup)
    }
    others = [*writer.model.mro(), *writer.text.analyser.classes.derived(writer.model)]
    elsewhere = {n.attr for c in others if c is not writer.model for n in of_kind(c.node, ast.Attribute)}
    of_mixins = read_by_plain_bases(writer.text, made & writer.run.fields.keys())
    found: dict[str, str] = {}
    for name in sorted(made & writer.run.fields.keys()):
        if name in writer.loaded or name in elsewhere | of_mixins or handed_on(writer.model):
            continue
        other = f"{name}_field"
        while other in made | writer.run.fields.keys() | writer.model.methods().keys() | writer.run.attributes.keys():
            other += "_"
        found[name] = other
    return found


def read_by_plain_bases(text: ClassText, names: set[str]) -> set[str]:
    """Which of the fields `names` are read by classes that are no modules, where the class or one that derives from it
    derives from them: mixins. One of another package may read all, and so may what one gives the module to.
    """
    found: set[str] = set()
    for base in plain_bases(text, [*text.analyser.classes.derived(text.model), *text.model.mro()]):
        if base is None or _gives_whole(*base) or any(map(_by_computed_name, of_kind(base[1], ast.Call))):
            return names
        found |= {n.attr for n in subtree(base[1]) if isinstance(n, ast.Attribute)}
    return found & names


def _by_computed_name(node: ast.Call) -> bool:
    """`getattr(self, name)`"""
    asks = isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr") and len(node.args) > 1
    return asks and not isinstance(node.args[1], ast.Constant)


def _gives_whole(source: SourceFile, code: ast.FunctionDef | ast.ClassDef) -> bool:
    """Does a method, or one of a class, give the module itself to something, or ask it for all that it has?"""
    parents = source.parents
    if any(node.attr in _WHOLE and _is_self(node.value) for node in of_kind(code, ast.Attribute)):
        return True
    for node in of_kind(code, ast.Name):
        around = parents.get(node)
        if node.id in ("eval", "exec") and isinstance(around, ast.Call) and around.func is node:
            return True
        if not _is_self(node) or not isinstance(node.ctx, ast.Load):
            continue
        if isinstance(around, ast.Attribute):
            continue
        if isinstance(around, ast.Call) and _last(around.func) in _ASKS_NO_FIELD:
            continue
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in ("getattr", "hasattr"):
            continue  # by a constant name: see `asked_by_name`; others are refused
        return True
    return False


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


__all__ = ["asked_by_name", "handed_on", "read_by_plain_bases", "under_other_names"]
