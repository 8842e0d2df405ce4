"""Fields and properties that a plain dataclass gives modules, said by the modules themselves.

    @dataclass                                    class Block(nn.Module):
    class Sizes:                                      dim: int = 8
        dim: int = 8
                                                      @property
        @property                                     def hidden(self): return 4 * self.dim
        def hidden(self): return 4 * self.dim
                                                      ...
    class Block(Sizes, nn.Module): ...

In Linen the module is a dataclass with these fields first; what NNX's modules derive from gives them no constructor.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..edits import EditSet, Span
from ..linen.project.index import Project
from ..linen.project.plain_dataclasses import gives_fields
from ..source import SourceFile
from ..trees import subtree

_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")


def with_own_fields(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with what one such base gives a class in the class; None where there is none, or it may not stand there."""
    for base in model.bases:
        given = source.names.definitions.get(base.id) if isinstance(base, ast.Name) else None
        if not isinstance(given, ast.ClassDef) or f"{source.module}.{given.name}" in project.linen_classes:
            continue
        if gives_fields(project, source, given) and _may_move(project, source, given, model):
            return _written(project, source, given, model, base)
    return None


def _may_move(project: Project, source: SourceFile, given: ast.ClassDef, model: ast.ClassDef) -> bool:
    if given.bases or given.keywords or len(given.decorator_list) != 1 or isinstance(given.decorator_list[0], ast.Call):
        return False
    if given.col_offset or model.col_offset or set(_names(given)) & set(_names(model)):
        return False
    said = {n for whole in _all_fields(project, source, given) for n in subtree(whole)}
    return all(_is_plain(s) for s in _body(given)) and only_derived_from(project, source, given, said)


def _is_plain(statement: ast.stmt) -> bool:
    """A field, a property or a method that means the same in another class."""
    if isinstance(statement, ast.AnnAssign):
        annotation = ast.unparse(statement.annotation)
        return isinstance(statement.target, ast.Name) and not any(word in annotation for word in _SPECIAL)
    if not isinstance(statement, ast.FunctionDef) or statement.name.startswith("__"):
        return False
    decorators = {ast.unparse(d) for d in statement.decorator_list}
    named = {n.id for n in subtree(statement) if isinstance(n, ast.Name)}
    return decorators <= {"property", "staticmethod"} and not named & {"super", "__class__"}


def _body(given: ast.ClassDef) -> list[ast.stmt]:
    """The statements of a class without its docstring."""
    first = given.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return given.body[1:] if documented else given.body


def _names(node: ast.ClassDef) -> list[str]:
    found: list[str] = []
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        found += [t.id for t in targets if isinstance(t, ast.Name)]
        found += [statement.name] if isinstance(statement, ast.FunctionDef) else []
    return found


def only_derived_from(project: Project, source: SourceFile, given: ast.ClassDef, said: Collection[ast.AST] = ()) -> bool:
    """Does all code that names the class derive from it, but for the nodes `said`?"""
    qualname = f"{source.module}.{given.name}"
    for other in [source, *[s for module, s in project.files.items() if module != source.module]]:
        if given.name not in other.words:
            continue
        for node in (n for kind in (ast.Name, ast.Attribute) for n in other.by_kind.get(kind, ())):
            word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if word != given.name or node in said or project.qualname(other, node) != qualname:
                continue
            parent = other.parents[node]
            if not (isinstance(parent, ast.ClassDef) and node in parent.bases):
                return False
    return True


def _all_fields(project: Project, source: SourceFile, given: ast.ClassDef) -> list[ast.DictComp]:
    """Each `{f.name: getattr(self, f.name) for f in fields(Sizes)}` of a file."""
    found: list[ast.DictComp] = []
    for node in (n for n in source.by_kind.get(ast.DictComp, ()) if isinstance(n, ast.DictComp)):
        (first, *more), over = node.generators, node.generators[0].iter
        name = f"{ast.unparse(first.target)}.name"
        if more or first.ifs or (ast.unparse(node.key), ast.unparse(node.value)) != (name, f"getattr(self, {name})"):
            continue
        if isinstance(over, ast.Call) and [ast.unparse(a) for a in (*over.args, *over.keywords)] == [given.name]:
            if project.qualname(source, over.func) == "dataclasses.fields":
                found.append(node)
    return found


def _written(project: Project, source: SourceFile, given: ast.ClassDef, model: ast.ClassDef, base: ast.expr) -> str | None:
    statements = _body(given)
    fields = [s.target.id for s in statements if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    shown = "{" + ", ".join(f'"{name}": self.{name}' for name in fields) + "}"
    moved, edits = EditSet(source.text), EditSet(source.text)
    for node in _all_fields(project, source, given):
        around = source.ancestors(node)
        if given in around:
            moved.replace(source.span(node), shown)
        elif model in around:
            edits.replace(source.span(node), shown)
    first = statements[0]
    text = moved.render(Span(_start(source, first), source.line_span(statements[-1]).end)).rstrip() + source.newline * 2
    others = [source.text_of(b) for b in model.bases if b is not base]
    edits.replace(Span(source.span(model.bases[0]).start, source.span(model.bases[-1]).end), ", ".join(others))
    own = _body(model)
    if not own or source.indent_of(own[0]) != source.indent_of(first) or source.shares_line(own[0]):
        return None
    edits.insert(_start(source, own[0]), text)
    return edits.render()


def _start(source: SourceFile, statement: ast.stmt) -> int:
    """Where the lines of a statement begin, its decorators' among them."""
    return min(source.line_span(n).start for n in (statement, *getattr(statement, "decorator_list", ())))


__all__ = ["only_derived_from", "with_own_fields"]
