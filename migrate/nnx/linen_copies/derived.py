"""Classes that are no Linen classes and name some: `class Model(Base): module_class = Net`.

What stays Linen and asks `Model.module_class` must get the Linen copy of `Net`. A class derived from `Model` that says so in
its stead does for what reads its attributes, but not for `is`, `isinstance` and the like.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence

from ...source import SourceFile
from ...trees import subtree
from .references import Reference

#: Key → its uses by classes that stay Linen; None where a copy uses it.
Uses = Mapping[str, Sequence[tuple[SourceFile, Reference]] | None]


def may_stand_in(uses: Uses, key: str) -> bool:
    """Is the class only asked for its attributes, wherever what stays Linen uses it?"""
    found = uses.get(key)
    return bool(found) and all(_is_only_read(source, reference.node) for source, reference in found or ())


def _is_only_read(source: SourceFile, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return isinstance(parent.ctx, ast.Load)
    if not isinstance(parent, ast.Call):
        return False
    # What a table holds, else this class: `MODELS.get(kind, Model).module_class`
    asked = isinstance(parent.func, ast.Attribute) and parent.func.attr == "get" and not parent.keywords
    default = len(parent.args) == 2 and parent.args[1] is node
    return asked and default and _is_only_read(source, parent)


def values_of(node: ast.ClassDef, wanted: Collection[ast.expr]) -> list[ast.expr]:
    """The values of class attributes that are among `wanted`; nothing where others of them stand anywhere else in the
    class, which the derived class would inherit."""
    inside = set(subtree(node))
    values = [s.value for s in node.body if isinstance(s, ast.Assign | ast.AnnAssign) and _name_of(s) and s.value in wanted]
    found = [value for value in values if value is not None]
    return found if {w for w in wanted if w in inside} == set(found) else []


def _name_of(statement: ast.Assign | ast.AnnAssign) -> str:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def text(source: SourceFile, made: Mapping[ast.ClassDef, Mapping[ast.expr, str]], imported: Callable[[str], str]) -> str:
    """A module's `__getattr__` that makes the derived classes when they are first asked for: the file of the originals may
    import this module. `made`: how each class says its values; `imported`: the statement that imports an original."""
    out = [
        "def __getattr__(name):",
        f'    """Classes derived from those of {source.path.name}, made when they are first used."""',
    ]
    for node in sorted(made, key=lambda n: n.lineno):
        out += [f'    if name == "{node.name}":', f"        {imported(node.name)}", ""]
        out.append(f"        class Derived({node.name}):")
        for statement in node.body:
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            if isinstance(statement, ast.Assign | ast.AnnAssign) and value is not None and value in made[node]:
                out.append(f"            {_name_of(statement)} = {made[node][value]}")
        out += [
            "",
            "        Derived.__name__ = Derived.__qualname__ = name",
            "        return globals().setdefault(name, Derived)",
        ]
    return "\n".join([*out, "    raise AttributeError(name)", ""])


__all__ = ["Uses", "may_stand_in", "text", "values_of"]
