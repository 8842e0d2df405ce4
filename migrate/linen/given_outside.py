"""Modules that code outside of modules hands to a module's constructor: `AutoEncoder(Encoder(8), Decoder(3))`.

In Linen such a module is a description that its new owner makes parameters for: a template. In NNX it would have to be made
before its owner, with its sizes and random streams, which such code does not hold. Where every module that a class is handed
is written as a call, there or under a name (of a function, or of a script) that is used for nothing else, it becomes a
factory that the owner calls; a class that is handed others (lists of them, what a function returns) stays Linen.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..source import SourceFile
from ..trees import subtree

# Layers that may be handed over, with the size that their counterpart in NNX asks for.
TEMPLATE_LAYERS = {
    **dict.fromkeys(("flax.linen.Dense", "flax.linen.Conv", "flax.linen.ConvTranspose"), "in_features"),
    **dict.fromkeys((f"flax.linen.{n}Norm" for n in ("Layer", "RMS", "Batch", "Group")), "num_features"),
    "flax.linen.Dropout": "",
}
_REPEATING = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_GROWING = ("append", "extend", "insert")


@dataclasses.dataclass(frozen=True)
class Template:
    """A module that is handed over outside of modules: the call that makes it, in its file."""

    source: SourceFile
    call: ast.Call


@dataclasses.dataclass(frozen=True)
class GivenOutside:
    """What classes are given outside of modules."""

    refused: Mapping[str, str]  # class → where it is given a module that is no template
    templates: Mapping[str, Mapping[str, tuple[Template, ...]]]  # class → field → what it is given, for all other classes


def given_outside(project: Any, fields: Callable[[str], Sequence[str]]) -> GivenOutside:
    """`fields`: those of a class, in the order in which its constructor takes them."""
    found: dict[str, str] = {}
    templates: dict[str, dict[str, list[Template]]] = {}
    others: list[tuple[str, str, str]] = []  # class, field and place of what may be a module, or may not
    names = {qualname.rpartition(".")[2] for qualname in project.linen_classes}
    for source in project.files.values():
        if names.isdisjoint(source.words) and not any(f"{name}(" in source.text for name in names):
            continue
        of_file: set[str] | None = None
        for scope in _scopes(project, source):
            held = _holders(project, source, scope)
            if of_file is None:  # the names of the file come first, and functions may hand them over
                of_file = held
            held = held | {n for n in of_file if scope and source.names.binding_scope(n, scope[0]) is None}
            for call in _calls(scope):
                target = project.qualname(source, call.func)
                if target == "functools.partial" and call.args:
                    target = project.qualname(source, call.args[0])
                    if target in project.linen_classes:
                        order = fields(target)[: len(call.args) - 1]
                        others += [(target, n, f"{source.path.name}:{call.lineno}") for n in _given(call, order)]
                    continue
                if target not in project.linen_classes:
                    continue
                order = fields(target)
                pairs = [*zip(order, call.args), *((str(k.arg), k.value) for k in call.keywords)]
                given = [(name, node) for name, node in pairs if _makes_module(project, source, node, held)]
                handed = [(name, _template(project, source, node)) for name, node in given]
                rest = any(_makes_module(project, source, a, held) for a in call.args[len(order) :])
                calls = {template.call for _, template in handed if template is not None}
                if rest or len(calls) < len(handed):  # one that is no template, or one that is handed over twice
                    found.setdefault(target, f"{source.path.name}:{call.lineno}")
                for name, template in handed:
                    if template is not None:
                        templates.setdefault(target, {}).setdefault(name, []).append(template)
                plain = {n for n, v in pairs if isinstance(v, ast.Constant)} | {n for n, _ in handed}
                place = f"{source.path.name}:{call.lineno}"
                others += [(target, name, place) for name in _given(call, order[: len(call.args)]) if name not in plain]
    for target, name, place in others:
        if name in templates.get(target, {}) or (name == "" and target in templates):
            found.setdefault(target, place)
    return GivenOutside(found, {t: {n: tuple(g) for n, g in by.items()} for t, by in templates.items() if t not in found})


def _given(call: ast.Call, order: Sequence[str]) -> list[str]:
    """The fields that a call gives, "" for any."""
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    return [*order, *(k.arg or "" for k in call.keywords), *([""] if starred else [])]


def _template(project: Any, source: SourceFile, node: ast.expr) -> Template | None:
    """The call that makes a module, if the module is handed over and nothing else."""
    if isinstance(node, ast.Name):
        return _named_template(project, source, node)
    if isinstance(node, ast.Call) and _is_template(project, source, node):
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        named = any(k.arg in ("name", "parent") for k in node.keywords)
        return None if starred or named else Template(source, node)
    return None


def _is_template(project: Any, source: SourceFile, call: ast.Call) -> bool:
    """Does a call make a module of the project's, or a layer that takes nothing but sizes, flags and functions?"""
    name = project.qualname(source, call.func) or ""
    return name in project.linen_classes or name in TEMPLATE_LAYERS


def _named_template(project: Any, source: SourceFile, node: ast.Name) -> Template | None:
    """`encoder = Encoder(8)`, a name of a function or of a script that is only ever an argument of constructors."""
    scope = next((p for p in source.ancestors(node) if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    uses = [n for n in subtree(scope or source.tree) if isinstance(n, ast.Name) and n.id == node.id]
    if scope is None:
        if _taken_elsewhere(project, source, node.id):
            return None
        uses = [use for use in uses if source.names.binding_scope(use.id, use) is None]
    elif node.id in {a.arg for a in subtree(scope) if isinstance(a, ast.arg)}:
        return None
    made: ast.expr | None = None
    takers: list[ast.Call] = []
    for use in uses:
        parent = source.parents[use]
        if isinstance(use.ctx, ast.Load):
            call = source.parents[parent] if isinstance(parent, ast.keyword) else parent
            given = isinstance(call, ast.Call) and call.func is not use
            if not given or project.qualname(source, call.func) not in project.linen_classes:  # type: ignore[attr-defined]
                return None
            assert isinstance(call, ast.Call)
            takers.append(call)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and made is None:
            made = parent.value
        else:
            return None
    around = [p for taker in takers for p in source.ancestors(taker)]
    again = any(isinstance(p, _REPEATING) for p in around)
    if scope is None:
        if again or len(takers) > 1 or any(isinstance(p, _DEFINITIONS) for p in around):
            return None
    elif (len(takers) > 1 or again) and not all(_stays_alone(project, source, scope, taker) for taker in takers):
        return None  # Linen shares the module between those that are parts of one
    return _template(project, source, made) if isinstance(made, ast.Call) else None


def _taken_elsewhere(project: Any, source: SourceFile, name: str) -> bool:
    """May other files ask for a name of a file, or the file itself by a string (`__all__`, `globals()`)?"""
    if any(isinstance(n, ast.Constant) and n.value == name for n in source.by_kind.get(ast.Constant, ())):
        return True
    for other in project.files.values():
        if other is source or name not in other.words:
            continue
        taken = {*other.names.imports.values(), *other.names.star_imports}
        if any(f"{source.module}.{name}.".startswith(f"{dotted}.") for dotted in taken):
            return True
    return False


def _stays_alone(project: Any, source: SourceFile, scope: ast.AST, call: ast.Call) -> bool:
    """Is the module that a call makes no part of another, as far as its function shows?"""
    parent = source.parents[call]
    if isinstance(parent, ast.Attribute | ast.Return | ast.Expr):
        return True
    if not (isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)):
        return False
    for node in subtree(scope):
        if not isinstance(node, ast.Name) or node.id != parent.targets[0].id or isinstance(node.ctx, ast.Store):
            continue
        above = source.parents[node]
        taker = source.parents[above] if isinstance(above, ast.keyword) else above
        if isinstance(above, ast.Attribute) or (isinstance(taker, ast.Call) and taker.func is node):
            continue
        if not isinstance(taker, ast.Call) or project.qualname(source, taker.func) in project.linen_classes:
            return False
    return True


def _scopes(project: Any, source: SourceFile) -> Iterator[list[ast.stmt]]:
    """The bodies of the module and of its functions and plain classes, those of Linen modules left out."""
    yield [s for s in source.tree.body if not isinstance(s, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
    queue: list[ast.AST] = [source.tree]
    while queue:
        for node in ast.iter_child_nodes(queue.pop()):
            if isinstance(node, ast.ClassDef):
                bases = [project.qualname(source, b) for b in node.bases]
                if any(b == "flax.linen.Module" or b in project.linen_classes for b in bases):
                    continue
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.body
            queue.append(node)


def _calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    for statement in body:
        for node in subtree(statement):
            if isinstance(node, ast.Call):
                yield node


def _holders(project: Any, source: SourceFile, body: list[ast.stmt]) -> set[str]:
    """Local names that hold modules, or lists of them."""
    held: set[str] = set()
    for _ in range(3):
        before = len(held)
        for statement in body:
            for node in subtree(statement):
                if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    if _makes_module(project, source, node.value, held):
                        held |= {t.id for t in targets if isinstance(t, ast.Name)}
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
                    if isinstance(node.func.value, ast.Name) and any(
                        _makes_module(project, source, a, held) for a in node.args
                    ):
                        held.add(node.func.value.id)
        if len(held) == before:
            break
    return held


def _makes_module(project: Any, source: SourceFile, node: ast.expr, held: set[str]) -> bool:
    """Is this a module, or a display of some?"""
    if isinstance(node, ast.Name):
        return node.id in held
    if isinstance(node, ast.Call):
        name = project.qualname(source, node.func) or ""
        return name in project.linen_classes or (name.startswith("flax.linen.") and name.rpartition(".")[2][:1].isupper())
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return any(_makes_module(project, source, e, held) for e in node.elts)
    if isinstance(node, ast.Dict):
        return any(_makes_module(project, source, e, held) for e in node.values)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _makes_module(project, source, node.elt, held)
    if isinstance(node, ast.BinOp):
        return _makes_module(project, source, node.left, held) or _makes_module(project, source, node.right, held)
    if isinstance(node, ast.IfExp):
        return _makes_module(project, source, node.body, held) or _makes_module(project, source, node.orelse, held)
    if isinstance(node, ast.Starred):
        return _makes_module(project, source, node.value, held)
    return False


__all__ = ["TEMPLATE_LAYERS", "GivenOutside", "Template", "given_outside"]
