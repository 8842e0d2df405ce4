"""Lists of those of some arrays that are given, said as statements.

parts = [v for v in (x, y) if v is not None]          parts = [x]
                                                      if y is not None:
                                                          parts.append(y)
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import beside
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name


def with_optional_items(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such list of a class less; None where there is none."""
    for method in model.body:
        for node in subtree(method) if isinstance(method, ast.FunctionDef) else ():
            items = _optional_items(node)
            if not items or not isinstance(node, ast.ListComp) or not isinstance(method, ast.FunctionDef):
                continue
            text = _stated(source, model, method, node, items)
            if text is not None:
                return text
    return None


def _optional_items(node: ast.AST) -> list[ast.Name]:
    """The names of which such a list has those that are not None; none for anything else."""
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1 or not isinstance(node.elt, ast.Name):
        return []
    loop = node.generators[0]
    if not isinstance(loop.target, ast.Name) or node.elt.id != loop.target.id or len(loop.ifs) != 1:
        return []
    if ast.unparse(loop.ifs[0]) != f"{loop.target.id} is not None" or not isinstance(loop.iter, ast.List | ast.Tuple):
        return []
    names = [item for item in loop.iter.elts if isinstance(item, ast.Name)]
    return names if len(names) == len(loop.iter.elts) else []


def _stated(
    source: SourceFile, model: ast.ClassDef, method: ast.FunctionDef, node: ast.ListComp, items: list[ast.Name]
) -> str | None:
    statement = source.statement_of(node)
    plain = isinstance(statement, ast.Assign | ast.Return | ast.Expr) and len(beside(source, statement)) == 1
    if not plain or source.function_of(node) is not method:
        return None
    inside = [a for a in source.ancestors(node) if isinstance(a, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.IfExp)]
    if inside or any(isinstance(a, ast.BoolOp) for a in source.ancestors(node)):
        return None  # it may not be asked for, or more than once
    whole = isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1
    target = statement.targets[0] if whole and isinstance(statement, ast.Assign) else None
    own = isinstance(target, ast.Name) and target.id not in {item.id for item in items}
    name = target.id if own and isinstance(target, ast.Name) else free_name("given", {n.id for n in _names(model)})
    given = {a.arg for a in method.args.args[: len(method.args.args) - len(method.args.defaults)]}
    stored = {n.id for n in _names(method) if not isinstance(n.ctx, ast.Load)}
    sure = [item.id in given - stored for item in items]
    first = next((n for n, known in enumerate(sure) if not known), len(items))
    indent, unit = source.indent_of(statement), source.indent_unit
    lines = [f"{name} = [{', '.join(item.id for item in items[:first])}]"]
    for item, known in list(zip(items, sure))[first:]:
        added = f"{name}.append({item.id})"
        lines += [added] if known else [f"if {item.id} is not None:", unit + added]
    edits, text = EditSet(source.text), f"\n{indent}".join(lines)
    if own:
        edits.replace(source.span(statement), text)
    else:
        edits.insert(source.span(statement).start, f"{text}\n{indent}")
        edits.replace(source.span(node), name)
    return edits.render()


def _names(node: ast.AST) -> list[ast.Name]:
    return [n for n in subtree(node) if isinstance(n, ast.Name)]


__all__ = ["with_optional_items"]
