"""One attribute of `setup` under two names in Linen, of which a field decides: two attributes.

    if self.length == 1:                                 if self.length == 1:
        self.mix = nn.Dense(8)                               self.mix = nn.Dense(8)
    else:                                                else:
        self.mix = Conv(8, name="conv")                      self.conv = Conv(8, name="conv")
    ...                                                  ...
    return self.mix(x)                                   return (self.mix if self.length == 1 else self.conv)(x)
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..names import is_attribute_name
from ..source import SourceFile
from ..trees import subtree
from .callees import is_class, read_elsewhere

_QUESTIONS = (
    ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.Attribute, ast.Name, ast.cmpop, ast.boolop, ast.unaryop,
    ast.expr_context,
)  # fmt: skip


def with_own_attributes(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """The file with such an attribute as two; None where there is none."""
    fields = {s.target.id for s in model.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    for branch in setup.body:
        if not isinstance(branch, ast.If) or not asks_fields(branch.test, fields):
            continue
        sides = [_made(project, source, part) for part in (branch.body, branch.orelse)]
        for attribute in sides[0].keys() & sides[1].keys():
            text = _apart(project, source, model, branch, attribute, (sides[0][attribute], sides[1][attribute]))
            if text is not None:
                return text
    return None


def asks_fields(test: ast.expr, fields: set[str]) -> bool:
    """Is a condition the same whenever it is asked: one of fields and constants alone?"""
    if not all(isinstance(node, _QUESTIONS) for node in subtree(test)):
        return False
    asked = [node for node in subtree(test) if isinstance(node, ast.Attribute)]
    plain = all(isinstance(n.value, ast.Name) and n.value.id == "self" and n.attr in fields for n in asked)
    names = [node for node in subtree(test) if isinstance(node, ast.Name)]
    return plain and len(names) == len(asked)


def _made(project: Project, source: SourceFile, part: list[ast.stmt]) -> dict[str, tuple[ast.Attribute, str]]:
    """The attributes that one side of a condition gives a module, with the place and Linen's name of it."""
    found: dict[str, tuple[ast.Attribute, str]] = {}
    for statement in part:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Attribute) or not _of_self(target):
            continue
        if not isinstance(call, ast.Call) or not is_class(project, source, call.func):
            continue
        if any(k.arg is None for k in call.keywords):
            continue
        said = [k.value for k in call.keywords if k.arg == "name"]
        name = said[0].value if said and isinstance(said[0], ast.Constant) else target.attr
        if not said or isinstance(said[0], ast.Constant):
            found[target.attr] = (target, name) if isinstance(name, str) else (target, "")
    return found


def _apart(
    project: Project,
    source: SourceFile,
    model: ast.ClassDef,
    branch: ast.If,
    attribute: str,
    sides: tuple[tuple[ast.Attribute, str], tuple[ast.Attribute, str]],
) -> str | None:
    (first, one), (second, other) = sides
    if one == other or not is_attribute_name(one) or not is_attribute_name(other):
        return None
    mentions = [n for n in subtree(model) if isinstance(n, ast.Attribute) and _of_self(n) and n.attr == attribute]
    stored = [n for n in mentions if not isinstance(n.ctx, ast.Load)]
    if {id(n) for n in stored} != {id(first), id(second)} or _is_taken(model, {one, other} - {attribute}):
        return None
    reads = [n for n in mentions if isinstance(n.ctx, ast.Load)]
    if any(n.lineno <= (branch.end_lineno or 0) and branch in source.ancestors(n) for n in reads):
        return None
    if read_elsewhere(project, source, model, {attribute}):
        return None
    edits = EditSet(source.text)
    for target, name in sides:
        edits.replace(source.span(target), f"self.{name}")
    said = source.text_of(branch.test)
    for read in reads:
        edits.replace(source.span(read), f"(self.{one} if {said} else self.{other})")
    return edits.render()


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_taken(model: ast.ClassDef, names: set[str]) -> bool:
    """Is one of the names something else's in the class?"""
    for node in subtree(model):
        own = node.attr if isinstance(node, ast.Attribute) and _of_self(node) else ""
        made = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) and node is not model else ""
        field = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
        if names & {own, made, field}:
            return True
    return False


__all__ = ["with_own_attributes"]
