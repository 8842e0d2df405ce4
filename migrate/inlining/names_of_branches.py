"""One attribute of `setup` under several names in Linen, of which fields decide: several attributes.

    if self.length == 1:                                 if self.length == 1:
        self.mix = nn.Dense(8)                               self.mix = nn.Dense(8)
    else:                                                else:
        self.mix = Conv(8, name="conv")                      self.conv = Conv(8, name="conv")
    ...                                                  ...
    return self.mix(x)                                   return (self.mix if self.length == 1 else self.conv)(x)

Likewise `self.mix = nn.Dense(8) if self.length == 1 else Conv(8, name="conv")`, and such conditions within others.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ..edits import EditSet
from ..linen.project.index import Project
from ..names import is_attribute_name
from ..source import SourceFile
from ..trees import subtree
from .callees import is_class, read_elsewhere
from .partials import is_partial
from .strings import has_long_string

_QUESTIONS = (
    ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.Attribute, ast.Name, ast.cmpop, ast.boolop, ast.unaryop,
    ast.expr_context,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Held:
    """What the attribute is given on one way through `setup`, and Linen's name of it: None for one that is computed."""

    name: str | None
    value: ast.expr | None = None
    statement: ast.Assign | None = None  # None where the attribute is not set


@dataclasses.dataclass(frozen=True)
class _Choice:
    """A question of fields, with what the attribute is given where the answer is yes, and where it is no."""

    test: ast.expr
    yes: _Choice | _Held
    no: _Choice | _Held


def with_own_attributes(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """The file with such an attribute as several; None where there is none."""
    fields = {s.target.id for s in model.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    for statement in setup.body:
        for attribute in dict.fromkeys(n.attr for n in _set_in(statement)):
            tree = _tree([statement], attribute, fields)
            if not isinstance(tree, _Choice):
                continue
            text = _apart(project, source, model, statement, attribute, tree) or _all_named(project, source, attribute, tree)
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


def _set_in(statement: ast.stmt) -> Iterator[ast.Attribute]:
    """The attributes that a statement sets."""
    for node in subtree(statement):
        if isinstance(node, ast.Attribute) and _of_self(node) and not isinstance(node.ctx, ast.Load):
            yield node


def _tree(block: list[ast.stmt], attribute: str, fields: set[str]) -> _Choice | _Held | None:
    """What statements give an attribute; None for what is not followed."""
    setting = [s for s in block if any(n.attr == attribute for n in _set_in(s))]
    if not setting:
        return _Held(attribute)
    (statement, *others) = setting
    if isinstance(statement, ast.If) and not others:
        return _choice(
            statement.test, _tree(statement.body, attribute, fields), _tree(statement.orelse, attribute, fields), fields
        )
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and not others:
        held = isinstance(statement.targets[0], ast.Attribute)
        return _given(statement, statement.value, attribute, fields) if held else None
    return None


def _choice(test: ast.expr, yes: _Choice | _Held | None, no: _Choice | _Held | None, fields: set[str]) -> _Choice | None:
    return None if yes is None or no is None or not asks_fields(test, fields) else _Choice(test, yes, no)


def _given(statement: ast.Assign, value: ast.expr, attribute: str, fields: set[str]) -> _Choice | _Held | None:
    """The same of a value that is assigned to it."""
    if isinstance(value, ast.IfExp):
        yes, no = [_given(statement, side, attribute, fields) for side in (value.body, value.orelse)]
        return _choice(value.test, yes, no, fields)
    if not isinstance(value, ast.Call):
        return _Held(attribute, value, statement)
    if any(k.arg is None for k in value.keywords):
        return None
    said = [k.value for k in value.keywords if k.arg == "name"]
    constant = said[0].value if said and isinstance(said[0], ast.Constant) else None
    return _Held((constant if isinstance(constant, str) else None) if said else attribute, value, statement)


def _leaves(tree: _Choice | _Held) -> Iterator[_Held]:
    if isinstance(tree, _Held):
        yield tree
    else:
        yield from _leaves(tree.yes)
        yield from _leaves(tree.no)


def _apart(
    project: Project, source: SourceFile, model: ast.ClassDef, statement: ast.stmt, attribute: str, tree: _Choice
) -> str | None:
    """The file with an attribute for each name, where all are known."""
    leaves = list(_leaves(tree))
    if not all(_makes_module(project, source, leaf.value) for leaf in leaves):
        return None
    names = {leaf.name for leaf in leaves if leaf.name is not None and is_attribute_name(leaf.name)}
    if len(names) < 2 or any(leaf.name not in names for leaf in leaves) or _is_taken(model, names - {attribute}):
        return None
    mentions = [n for n in subtree(model) if isinstance(n, ast.Attribute) and _of_self(n) and n.attr == attribute]
    reads = [n for n in mentions if isinstance(n.ctx, ast.Load)]
    setting = {leaf.statement for leaf in leaves if leaf.statement is not None}
    if len(mentions) != len(reads) + len(setting) or any(statement in source.ancestors(n) for n in reads):
        return None
    if read_elsewhere(project, source, model, {attribute}):
        return None
    edits = EditSet(source.text)
    for assigned in setting:
        lines = _lines(source, assigned, [leaf for leaf in leaves if leaf.statement is assigned])
        if lines is None:
            return None
        edits.replace(source.span(assigned), lines)
    for read in reads:
        said = _said(source, tree)
        edits.replace(source.span(read), said if said.startswith("(") else f"({said})")
    return edits.render()


def _lines(source: SourceFile, assigned: ast.Assign, leaves: list[_Held]) -> str | None:
    """The statement that sets the attribute under its name, or an `if` for the names that a value decides about."""
    if len({leaf.name for leaf in leaves}) == 1:
        return f"self.{leaves[0].name} = {source.text_of(assigned.value)}"
    span = source.span(assigned)
    alone = not source.text[source.line_start(span.start) : span.start].strip()
    behind = source.text[span.end : source.line_end(span.end)].strip()
    if not alone or (behind and not behind.startswith("#")) or any(has_long_string(source, n) for n in subtree(assigned)):
        return None
    return _asked(source, assigned.value, iter(leaves), source.indent_of(assigned))


def _asked(source: SourceFile, value: ast.expr, leaves: Iterator[_Held], indent: str) -> str:
    """The statements that set an attribute of each name; their first line stands where the indentation is."""
    if not isinstance(value, ast.IfExp):
        return f"self.{next(leaves).name} = {_in_parentheses(source, value)}"
    deeper, newline = indent + source.indent_unit, source.newline
    yes = _asked(source, value.body, leaves, deeper)
    no = _asked(source, value.orelse, leaves, deeper)
    test = _in_parentheses(source, value.test)
    return f"if {test}:{newline}{deeper}{yes}{newline}{indent}else:{newline}{deeper}{no}"


def _in_parentheses(source: SourceFile, node: ast.expr) -> str:
    """An expression that may go on in further lines."""
    text = source.text_of(node)
    return f"({text})" if "\n" in text and not isinstance(node, ast.Call) else text


def _said(source: SourceFile, tree: _Choice | _Held) -> str:
    """The attribute that is there, as an expression."""
    if isinstance(tree, _Held):
        return f"self.{tree.name}"
    yes, no = _said(source, tree.yes), _said(source, tree.no)
    return yes if yes == no else f"({yes} if {source.text_of(tree.test)} else {no})"


def _makes_module(project: Project, source: SourceFile, made: ast.expr | None) -> bool:
    """Is it the construction of a module, by its class or by a partial of that, which binds no name?"""
    if not isinstance(made, ast.Call):
        return False
    func = made.func
    scope = source.names.binding_scope(func.id, func) if isinstance(func, ast.Name) else None
    if scope is None or not isinstance(func, ast.Name):
        return is_class(project, source, func)
    bound = [source.parents.get(n) for n in source.names.binders(func.id) if source.names.bound_by(n) is scope]
    values = [b.value for b in bound if isinstance(b, ast.Assign) and len(b.targets) == 1]
    return len(values) == len(bound) and all(_is_partial_of_class(project, source, value) for value in values)


def _is_partial_of_class(project: Project, source: SourceFile, value: ast.expr) -> bool:
    whole = is_partial(value, project, source) and isinstance(value, ast.Call) and is_class(project, source, value.args[0])
    return whole and isinstance(value, ast.Call) and all(k.arg != "name" for k in value.keywords)


def _all_named(project: Project, source: SourceFile, attribute: str, tree: _Choice) -> str | None:
    """The file with the attribute's name said of what has that in `setup` alone, beside one whose name is computed."""
    leaves = list(_leaves(tree))
    if all(leaf.name is not None for leaf in leaves):
        return None
    edits = EditSet(source.text)
    for leaf in leaves:
        call = leaf.value
        if leaf.name != attribute or not isinstance(call, ast.Call) or any(k.arg == "name" for k in call.keywords):
            continue
        text = source.text_of(call)
        if not _makes_module(project, source, call) or "#" in text:
            return None
        before = text[:-1].rstrip()
        comma = "" if before.endswith(("(", ",")) else ", "
        edits.insert(source.span(call).end - 1, f'{comma}name="{attribute}"')
    return edits.render() if edits else None


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
