"""Copies of what gin configures: the original alone is registered, and its copy is given what is bound for that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...linen.project.index import Project
from ...source import SourceFile
from ...trees import subtree

HELPER = "bound_by_gin"
#: local name of what the text below imports
IMPORTED = ("functools", "gin", "inspect")
_CONFIGURABLE = frozenset({"gin.configurable", "gin.config.configurable", "gin.tf.configurable"})
_TEXT = '''
def {helper}(original):
    """Give what stands below the values that gin binds for `original`, which alone is registered."""

    def decorate(copied):
        made = copied.__init__ if isinstance(copied, type) else copied

        @{functools}.wraps(made)
        def with_bindings(*args, **kwargs):
            kwargs = {{name: value for name, value in kwargs.items() if value is not {gin}.REQUIRED}}
            signature = {inspect}.signature(made)
            given = {{*signature.bind_partial(*args, **kwargs).arguments, *kwargs}}
            bound = {{name: value for name, value in {gin}.get_bindings(original).items() if name not in given}}
            for name, parameter in signature.parameters.items():
                if parameter.default is {gin}.REQUIRED and name not in given | bound.keys():
                    raise RuntimeError(f"gin binds no {{name}} for {{original}}, which requires it")
            return made(*args, **kwargs, **bound)

        if made is copied:
            return with_bindings
        copied.__init__ = with_bindings
        return copied

    return decorate
'''


def decorators(project: Project, source: SourceFile, node: ast.AST) -> list[ast.expr]:
    """The decorators of a definition by which gin configures it, where its copy can be given the same values."""
    found = [d for d in getattr(node, "decorator_list", ()) if _known(project, source, d) in _CONFIGURABLE]
    readable = len(found) < 2 and all(_name(d, node) for d in found) and not _requires_within(project, source, node)
    return found if readable else []


def _known(project: Project, source: SourceFile, decorator: ast.expr) -> str:
    return project.qualname(source, decorator.func if isinstance(decorator, ast.Call) else decorator) or ""


def _requires_within(project: Project, source: SourceFile, node: ast.AST) -> bool:
    """Says it `gin.REQUIRED` elsewhere than as a default? It is not followed where that is handed on."""
    defaults = [node.args] if isinstance(node, ast.FunctionDef) else getattr(node, "body", [])
    for part in subtree(node):
        if isinstance(part, ast.Name | ast.Attribute) and _is_required(project, source, part):
            above = source.parents.get(part)
            if not isinstance(above, ast.AnnAssign | ast.arguments) or above not in defaults:
                return True
    return False


def _is_required(project: Project, source: SourceFile, node: ast.expr) -> bool:
    return (project.qualname(source, node) or "").rpartition(".")[2] == "REQUIRED"


def _name(decorator: ast.expr, node: Any) -> str:
    """What gin calls it, as an expression of the module of copies; "" where the decorator computes that."""
    name, module = node.name, ""
    if isinstance(decorator, ast.Call):
        given = {k.arg: k.value for k in decorator.keywords} | dict(zip(("name_or_fn", "module"), decorator.args))
        said = {part: given[part] for part in ("name_or_fn", "module") if part in given}
        texts = {part: v.value for part, v in said.items() if isinstance(v, ast.Constant) and isinstance(v.value, str)}
        if None in given or len(decorator.args) > 2 or texts.keys() != said.keys():
            return ""
        name, module = texts.get("name_or_fn", name), texts.get("module", "")
        if not name.isidentifier():
            return ""
    return f'"{module}.{name}"' if module else f'__name__.removesuffix("_linen") + ".{name}"'


def said(decorator: ast.expr, node: ast.AST, helper: str) -> str:
    """What stands in the place of such a decorator."""
    return f"{helper}({_name(decorator, node)})"


def names_within(project: Project, source: SourceFile, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that go with these decorators."""
    for decorator in decorators(project, source, node):
        yield from subtree(decorator)


def text(helper: str, names: dict[str, str]) -> str:
    """The function that the copies' decorators call; `names`: what `IMPORTED` is called there."""
    return _TEXT.format(helper=helper, **names)


__all__ = ["HELPER", "IMPORTED", "decorators", "names_within", "said", "text"]
