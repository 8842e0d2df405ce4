"""Functions that `setup` keeps under an attribute and that call the class's modules: methods.

    def setup(self):                                     def setup(self):
        self.proj = nn.Dense(8)                              self.proj = nn.Dense(8)
        self.encode = lambda x: self.proj(jnp.sin(x))
                                                         def encode(self, x):
                                                             return self.proj(jnp.sin(x))

Also one of two, of which fields decide: the method asks for them. An NNX module that kept the function itself would go on
calling the modules of the object that it was made for, whatever parameters a copy has.
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .callees import is_class, read_elsewhere
from .names_of_branches import asks_fields


def with_methods(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """The file with one such attribute as a method; None where there is none."""
    fields = {s.target.id for s in model.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    methods = {s.name for s in model.body if isinstance(s, ast.FunctionDef)}
    for statement in setup.body:
        found = _kept(statement, fields)
        if found is None:
            continue
        attribute, test, functions = found
        if attribute in fields | methods or not all(_is_plain(source, f) for f in functions):
            continue
        calls = [n for function in functions for n in subtree(function) if isinstance(n, ast.Call)]
        if any(is_class(project, source, call.func) for call in calls):
            continue  # no method but a compact one makes modules
        if len({ast.unparse(function.args) for function in functions}) > 1 or not any(map(_calls_own, functions)):
            continue
        if not _is_only_called(source, model, attribute, len(functions)):
            continue
        if read_elsewhere(project, source, model, {attribute}):
            continue
        return _written(source, setup, statement, attribute, test, functions)
    return None


def _kept(statement: ast.stmt, fields: set[str]) -> tuple[str, ast.expr | None, list[ast.Lambda]] | None:
    """The attribute, the condition and the functions of `self.f = lambda x: ...`, or of an `if` with one on either side."""
    if isinstance(statement, ast.If) and len(statement.body) == len(statement.orelse) == 1:
        sides = [_assigned(side) for side in (statement.body[0], statement.orelse[0])]
        one, other = sides
        if one is None or other is None or one[0] != other[0] or not asks_fields(statement.test, fields):
            return None
        functions = [side for _, side in (one, other) if isinstance(side, ast.Lambda)]
        return (one[0], statement.test, functions) if len(functions) == 2 else None
    held = _assigned(statement)
    if held is None:
        return None
    attribute, value = held
    if isinstance(value, ast.IfExp) and asks_fields(value.test, fields):
        functions = [side for side in (value.body, value.orelse) if isinstance(side, ast.Lambda)]
        return (attribute, value.test, functions) if len(functions) == 2 else None
    return (attribute, None, [value]) if isinstance(value, ast.Lambda) else None


def _assigned(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute) or not _is_self(target.value):
        return None
    return target.attr, statement.value


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_plain(source: SourceFile, function: ast.Lambda) -> bool:
    """Does a function take its arguments by their places, and read nothing that `setup` alone has?"""
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
        return False
    own = {argument.arg for argument in given.args}
    if "self" in own or any(isinstance(n, ast.NamedExpr | ast.Yield | ast.Await) for n in subtree(function)):
        return False
    names = [n for n in subtree(function.body) if isinstance(n, ast.Name) and n.id not in own | {"self"}]
    setup = source.function_of(function)
    return not any(source.names.binding_scope(n.id, n) is setup for n in names)


def _calls_own(function: ast.Lambda) -> bool:
    """Does it call something of the class?"""
    calls = [n.func for n in subtree(function.body) if isinstance(n, ast.Call)]
    return any(isinstance(f, ast.Attribute) and _is_self(f.value) for f in calls)


def _is_only_called(source: SourceFile, model: ast.ClassDef, attribute: str, stores: int) -> bool:
    """Do methods other than `setup` do nothing with the attribute but to call it?"""
    uses = [n for n in subtree(model) if isinstance(n, ast.Attribute) and n.attr == attribute and _is_self(n.value)]
    loads = [n for n in uses if isinstance(n.ctx, ast.Load)]
    called = all(isinstance(call := source.parents[n], ast.Call) and call.func is n for n in loads)
    outside = [getattr(source.function_of(n), "name", "") for n in loads]
    asked = any(isinstance(n, ast.Constant) and n.value == attribute for n in subtree(model))
    once = len(uses) - len(loads) in (1, stores)
    return bool(loads) and called and once and "setup" not in outside and not asked


def _written(
    source: SourceFile,
    setup: ast.FunctionDef,
    statement: ast.stmt,
    attribute: str,
    test: ast.expr | None,
    functions: list[ast.Lambda],
) -> str:
    indent, unit, newline = source.indent_of(setup), source.indent_unit, source.newline
    arguments = ", ".join(["self", *(argument.arg for argument in functions[0].args.args)])
    said = [source.text_of(function.body) for function in functions]
    said = [f"({text})" if "\n" in text or "\r" in text else text for text in said]
    lines = [f"def {attribute}({arguments}):"]
    if test is not None:
        lines += [f"{unit}if {source.text_of(test)}:", f"{unit * 2}return {said[0]}"]
    lines.append(f"{unit}return {said[-1]}")
    edits = EditSet(source.text)
    if len(setup.body) > 1:
        edits.replace(source.line_span(statement))
    else:
        edits.replace(source.span(statement), "pass")
    end = source.line_span(setup).end
    edits.insert(end, newline + "".join(f"{indent}{line}{newline}" for line in lines))
    return edits.render()


__all__ = ["with_methods"]
