"""The names under which code outside of modules may have modules, wherever they come from.

    encoders = {"a": lambda n: Encoder(n)}            makers: `encoders`, `encoder_of`
    def encoder_of(name): return encoders[name](8)    holders: `encoder`, as an attribute and as a keyword, and `config`
    config = Config(encoder=encoder_of("a"))

By their names alone, in all files at once: that is more than there can be. It is asked where nothing else tells what a class
is given for a field that it may call, as a native class cannot call a Linen module, nor the `Functional` of one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import children, subtree
from ..flow.function_calls import parameters
from ..project.classes import Field

_PLAIN = frozenset(
    {"int", "float", "bool", "str", "bytes", "complex", "Tuple", "tuple", "Sequence", "List", "list", "Optional", "Union"}
    | {"Iterable", "None", "Dtype", "DType", "dtype", "typing", "Literal"}
)
_COUNTING = frozenset({"len", "int", "float", "str", "bool", "isinstance", "type", "range", "print", "repr", "hash", "id"})
_OF_ARRAYS = ("jax.", "numpy.", "optax.", "flax.linen.", "flax.training.")
# What a module has that is none itself; its fields go by their own names.
_OF_MODULES = frozenset({"init", "apply", "init_with_output", "lazy_init", "tabulate", "bind", "variables"})
_PUTTING = frozenset({"append", "extend", "insert", "update", "setdefault", "register", "add"})
_GETTING = frozenset({"items", "values", "get"})
_MAKER = "()"  # behind the name of what makes a module when it is called


def may_call(classes: Any, qualname: str, name: str) -> bool:
    """Does a class call what it holds in a field, or an item of that, by its text, and is that no number by its annotation?

    What such a call gives is no module that is called in turn: `self.norm()(x)`.
    """
    model = classes.get(qualname)
    family = [*model.mro(), *classes.derived(model)] if model is not None else []
    fields = [f for one in family for f in one.fields() if f.name == name]
    return any(map(_says_more, fields)) and any(_calls(one.source, one.node, name) for one in family)


def _says_more(field: Field) -> bool:
    """Says its annotation more than plain values?"""
    names = {n.id for n in subtree(field.annotation) if isinstance(n, ast.Name)} if field.annotation is not None else set()
    return not names or not names <= _PLAIN


def _calls(source: SourceFile, node: ast.ClassDef, name: str) -> bool:
    """`self.part(x)`, `self.parts[key](x)`, also of names and attributes that these are given in the class."""
    own, names, attributes = subtree(node), set[str](), {name}
    for _ in range(3):
        for part in own:
            if isinstance(part, ast.Assign) and _is_of(part.value, names, attributes):
                for target in part.targets:
                    if isinstance(target, ast.Attribute):
                        attributes.add(target.attr)
                    names |= {n.id for n in subtree(target) if isinstance(n, ast.Name) and n.id != "self"}
            elif isinstance(part, ast.For | ast.comprehension) and any(
                _is_of(n, names, attributes) for n in subtree(part.iter) if isinstance(n, ast.expr)
            ):
                names |= {n.id for n in subtree(part.target) if isinstance(n, ast.Name)}
    calls = (part for part in own if isinstance(part, ast.Call) and _is_of(part.func, names, attributes))
    return any(not _is_called(source, call) for call in calls)


def _is_of(node: ast.expr, names: set[str], attributes: set[str]) -> bool:
    """Is it one of these names or attributes of self, or an item of one?"""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GETTING:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return node.attr in attributes
        else:
            return isinstance(node, ast.Name) and node.id in names


def _is_called(source: SourceFile, call: ast.Call) -> bool:
    """Is what a call gives called in turn, where it stands or by the name that it is given?"""
    parent = source.parents[call]
    if isinstance(parent, ast.Call) and parent.func is call:
        return True
    targets = [t.id for t in parent.targets if isinstance(t, ast.Name)] if isinstance(parent, ast.Assign) else []
    scope = source.function_of(call)
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in targets
        for node in (subtree(scope) if targets and scope is not None else ())
    )


class ModuleHolders:
    """Names that hold modules, and, with `()`, those of what makes one when it is called."""

    def __init__(self, project: Any) -> None:
        self.project = project
        self.names: set[str] = set()
        edges = [edge for source in project.files.values() for edge in self._edges(source)]
        before = -1
        while before != len(self.names):
            before = len(self.names)
            for source, targets, value in edges:
                found = self._of(source, value)
                self.names |= {f"{target}{kind}" for target in targets for kind in found}

    def may_hold(self, source: SourceFile, node: ast.expr) -> bool:
        """May an expression give a module, or something that holds one?"""
        return "" in self._of(source, node)

    def _of(self, source: SourceFile, node: ast.AST) -> set[str]:
        """What an expression may give: "" a module, or what holds one, `()` what makes one."""
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            return {kind for kind in ("", _MAKER) if f"{name}{kind}" in self.names}
        if isinstance(node, ast.Lambda):
            return {_MAKER} if self._of(source, node.body) else set()
        if isinstance(node, ast.Call):
            return self._of_call(source, node)
        if isinstance(node, ast.Compare | ast.Constant | ast.JoinedStr):
            return set()
        found: set[str] = set()
        for part in children(node):
            found |= self._of(source, part)
        return found

    def _of_call(self, source: SourceFile, node: ast.Call) -> set[str]:
        name = self.project.qualname(source, node.func) or ""
        if name in self.project.linen_classes:
            return {""}
        if name.startswith(_OF_ARRAYS) or (isinstance(node.func, ast.Name) and node.func.id in _COUNTING):
            return set()
        if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_MODULES:
            return set()
        found: set[str] = set()
        for part in [*node.args, *node.keywords]:
            if self.project.qualname(source, part) in self.project.linen_classes:  # `map(Encoder, widths)`
                found.add(_MAKER if name == "functools.partial" else "")
            found |= self._of(source, part)
        if _MAKER in found and name != "functools.partial":  # `map(encoder_of, names)`, `field(default_factory=...)`
            found.add("")
        if _MAKER in self._of(source, node.func):
            found.add("")
        if isinstance(node.func, ast.Attribute):  # `encoders.get(name)`, `encoder.clone(width=8)`
            found |= self._of(source, node.func.value)
        key = node.args[1] if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1 else None
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            found |= {kind for kind in ("", _MAKER) if f"{key.value}{kind}" in self.names}
        return found

    def _edges(self, source: SourceFile) -> Iterator[tuple[SourceFile, list[str], ast.AST]]:
        """The names that something is given to, and what."""
        inside = self.project.inside_modules
        for node in subtree(source.tree):
            if node in inside:
                continue
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield source, [name for target in targets for name in _bound(target)], node.value
            elif isinstance(node, ast.For | ast.comprehension):
                yield source, list(_bound(node.target)), node.iter
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                yield source, list(_bound(node.optional_vars)), node.context_expr
            elif isinstance(node, ast.Call):
                yield from self._given(source, node)
            elif isinstance(node, ast.FunctionDef):
                yield from self._of_function(source, node)

    def _given(self, source: SourceFile, call: ast.Call) -> Iterator[tuple[SourceFile, list[str], ast.AST]]:
        """The arguments of a call, by the names of parameters and fields."""
        if self.project.qualname(source, call.func) in self.project.linen_classes:
            return
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield source, [keyword.arg], keyword.value
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PUTTING:
            for argument in [*call.args, *(k.value for k in call.keywords)]:
                yield source, list(_bound(call.func.value)), argument
        if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3:
            name = call.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield source, [name.value], call.args[2]
        taken, rest = self._parameters(source, call)
        for parameter, argument in zip(taken, call.args):
            yield source, [parameter], argument
        for keyword in call.keywords if rest else ():
            if keyword.arg not in taken:
                yield source, [rest], keyword.value

    def _parameters(self, source: SourceFile, call: ast.Call) -> tuple[list[str], str]:
        """Those of the function or class that a call names, and what takes all other keywords."""
        found = self.project.definition(self.project.qualname(source, call.func) or "")
        node = found[1] if found is not None else None
        if isinstance(node, ast.ClassDef):
            made = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
            if made is None:
                fields = [s.target for s in node.body if isinstance(s, ast.AnnAssign)]
                return [target.id for target in fields if isinstance(target, ast.Name)], ""
            node = made
        if node is None and isinstance(call.func, ast.Name):
            scope = source.names.binding_scope(call.func.id, call.func)
            bound = [n for n in source.names.binders(call.func.id) if source.names.bound_by(n) is scope]
            node = bound[0] if len(bound) == 1 else None
        if not isinstance(node, ast.FunctionDef):
            return [], ""
        taken = parameters(node)
        rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
        return taken[1:] if taken[:1] in (["self"], ["cls"]) else taken, rest

    def _of_function(self, source: SourceFile, function: ast.AST) -> Iterator[tuple[SourceFile, list[str], ast.AST]]:
        """What calls of a function give, and what its decorators put it into."""
        assert isinstance(function, ast.FunctionDef)
        plain = [getattr(d, "id", getattr(d, "attr", "")) for d in function.decorator_list]
        made = ast.Lambda(args=function.args, body=ast.Tuple(elts=[], ctx=ast.Load()))
        for node in subtree(function):
            if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value is not None:
                if source.names.scope_of(node) is function:
                    made.body.elts.append(node.value)  # type: ignore[attr-defined]
        yield source, [function.name], made.body if "property" in plain or "cached_property" in plain else made
        for decorator in function.decorator_list:
            found = self.project.definition(self.project.qualname(source, getattr(decorator, "func", decorator)) or "")
            if found is not None and isinstance(found[1], ast.FunctionDef):
                inner = [p for n in subtree(found[1]) if isinstance(n, ast.FunctionDef) for p in parameters(n)]
                yield source, inner, made


def _bound(target: ast.AST) -> Iterator[str]:
    """The names that an assignment fills: `encoders` of `encoders["actor"] = ...`, `encoder` of `self.encoder = ...`."""
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _bound(part)


__all__ = ["ModuleHolders", "may_call"]
