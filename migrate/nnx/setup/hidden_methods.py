"""Methods that make a submodule of their own name: `def head(self, x): return nn.Dense(4, name="head")(x)`.

Linen keeps the two apart; in NNX the attribute would hide the method. The submodule keeps the name that checkpoints
know, and the method gets another one, where nothing but the class and its family can say it: in Linen it can be called
only while the compact method runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...edits import Parts, Span
from ...linen.execution.execute import Execution
from ...linen.project.classes import Classes, ClassModel, Method
from ...source import SourceFile
from ...trees import of_kind
from ..fields.kept_fields import handed_on

_BASES = frozenset({"flax.linen.Module", "abc.ABC", "typing.Generic", "typing.Protocol"})
_ALWAYS = (ast.Call, ast.keyword, ast.Attribute, ast.BinOp, ast.Return, ast.Assign, ast.AnnAssign, ast.Expr)


def renamed(run: Execution) -> dict[str, str]:
    """Method → the name that it gets, the same in every class of the family."""
    methods = run.model.methods()
    found = {m.name for m in methods.values() if _makes_its_name(m)}
    if not found:
        return {}
    family = _family(run.analyser.classes, run.model)
    names: dict[str, str] = {}
    for name in sorted(found):
        if _may_rename(run, family, name):
            names[name] = _free(family, f"apply_{name}")
    return names


def edits(run: Execution) -> Iterator[tuple[Span, Parts]]:
    """The definitions of such methods in the class, and the places that call them."""
    names = renamed(run)
    source = run.model.source
    for method in run.model.own_methods.values():
        if method.name in names:
            start = source.span(method.node).start
            head = re.compile(r"def\s+").match(source.text, start)
            assert head is not None
            yield Span(head.end(), head.end() + len(method.name)), (names[method.name],)
        for node in of_kind(method.node, ast.Attribute) if names else ():
            if node.attr in names and _called_by_self(source, node):
                end = source.span(node).end
                yield Span(end - len(node.attr), end), (names[node.attr],)


def _family(classes: Classes, model: ClassModel) -> list[ClassModel]:
    """All that are related to a class, siblings too: one of them may say the method that another one has."""
    found = [model]
    for member in found:
        found += [m for m in dict.fromkeys(classes.lineage(member.qualname)) if m not in found]
    return found


def _makes_its_name(method: Method) -> bool:
    """Does every call of a method that is not compact make the submodule? Then Linen fails wherever else it is called."""
    if method.decorators or method.name.startswith("__"):
        return False
    named = [n for n in method.nodes if isinstance(n, ast.Call) and any(_says(k, method.name) for k in n.keywords)]
    if len(named) != 1:
        return False
    around = list(method.source.ancestors(named[0]))
    around = around[: around.index(method.node)]
    early = [n for n in method.nodes if isinstance(n, ast.Return | ast.Yield) and n.lineno < named[0].lineno]
    return all(isinstance(n, _ALWAYS) for n in around) and all(n in around for n in early)


def _says(keyword: ast.keyword, name: str) -> bool:
    return keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and keyword.value.value == name


def _may_rename(run: Execution, family: list[ClassModel], name: str) -> bool:
    """Does nothing but calls of `self.<name>` in the family say the method?"""
    if any(set(m.foreign_bases) - _BASES or handed_on(m) for m in family):
        return False
    if any(name in m.own_methods and not _makes_its_name(m.own_methods[name]) for m in family):
        return False
    own = {node for member in family for node in member.nodes}
    for source in run.project.files.values():
        for node in source.by_kind.get(ast.Attribute, ()):
            assert isinstance(node, ast.Attribute)
            if node.attr == name and not (_called_by_self(source, node) if node in own else _is_self(node.value)):
                return False
        for node in source.by_kind.get(ast.Constant, ()):
            assert isinstance(node, ast.Constant)
            if node.value == name and not _is_key(source, node):
                return False
        for node in source.by_kind.get(ast.keyword, ()):  # `methods=dict(head=...)` of a lifting
            around = source.parents.get(node)
            if node.arg == name and isinstance(around, ast.Call) and isinstance(around.func, ast.Name):  # type: ignore[attr-defined]
                if around.func.id == "dict":
                    return False
    return True


def _called_by_self(source: SourceFile, node: ast.Attribute) -> bool:
    parent = source.parents.get(node)
    return _is_self(node.value) and isinstance(parent, ast.Call) and parent.func is node


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_key(source: SourceFile, node: ast.Constant) -> bool:
    """Is the string a module's name, or looked up in a tree of variables?"""
    parent = source.parents.get(node)
    return parent.arg == "name" if isinstance(parent, ast.keyword) else isinstance(parent, ast.Subscript)


def _free(family: list[ClassModel], name: str) -> str:
    """A name that nothing in the family has."""
    taken = {n.attr for m in family for n in m.nodes if isinstance(n, ast.Attribute)}
    taken |= {n.value for m in family for n in m.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    for member in family:
        taken |= {f.name for f in member.fields()} | member.methods().keys() | member.class_attributes.keys()
    while name in taken:
        name += "_"
    return name


__all__ = ["edits", "renamed"]
