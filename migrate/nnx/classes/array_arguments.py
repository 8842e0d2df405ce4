"""Which arguments of a call are certainly one array: the code says so, or does with them what one does with arrays only."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ...linen.values.sites import Site
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ...linen.project.classes import Method

_SAID = re.compile(r"\b(\w*Array|ndarray|Tensor|[fib](8|16|32|64)|Float|Int|Integer|Bool|Shaped)\b")
_NOT = re.compile(r"\b(dict|list|tuple|mapping|sequence|iterable|any|callable|none|optional)\b", re.IGNORECASE)
_OF_ARRAYS = frozenset(
    {
        *("shape", "ndim", "dtype", "size", "T", "mT", "at", "real", "imag", "astype", "reshape", "transpose", "sum"),
        *("mean", "max", "min", "var", "std", "flatten", "ravel", "squeeze", "swapaxes", "repeat", "clip", "argmax"),
        *("argmin", "prod", "cumsum", "dot", "round", "all", "any", "take", "argsort", "sort", "trace", "diagonal"),
    }
)


_NO_PARTS = frozenset(
    {"view", "copy", "conj", "item", "tolist", "nbytes", "itemsize", "sharding", "devices", "aval", "value"}
)
_OF_SIZES = frozenset(
    {"reshape", "zeros", "ones", "full", "empty", "broadcast_to", "resize", "arange", "eye", "linspace", "tile", "repeat"}
)
_GOES_THROUGH = frozenset({"enumerate", "zip", "reversed", "sorted", "iter"})
_OF_LIBRARIES = ("jax.", "numpy.", "flax.", "einops.")


def is_array(run: Execution, method: Method, name: str) -> bool:
    """Is an argument of a method one array wherever the program runs?"""
    return _Reading(run).shown(method.source, method.node, name) is True


def is_handed_on(run: Execution, method: Method, name: str) -> bool:
    """Is an argument of a method given to something else than functions of arrays, or put into something?"""
    for node in method.nodes:
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            parent = method.source.parents.get(node)
            call = method.source.parents.get(parent) if isinstance(parent, ast.keyword) else parent
            if isinstance(call, ast.Call) and node is not call.func:
                if not (run.project.qualname(method.source, call.func) or "").startswith(_OF_LIBRARIES):
                    return True
            elif isinstance(parent, ast.Dict | ast.Tuple | ast.List | ast.Assign | ast.Starred | ast.IfExp | ast.Return):
                return True
    return False


def of_arrays(attribute: str) -> bool:
    """Has an array an attribute of this name?"""
    return attribute in _OF_ARRAYS or attribute in _NO_PARTS


def has_number(method: Method, name: str, index: int) -> bool:
    """Is an item of an argument a size, for all that is done with it: `h, w = size`, then `x.reshape(b, h, w, c)`?"""
    names: set[str] = set()
    loads: list[ast.AST] = []
    for node in method.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            for target in node.targets:
                items = target.elts if isinstance(target, ast.Tuple | ast.List) else []
                if index < len(items) and not any(isinstance(item, ast.Starred) for item in items):
                    names |= {item.id for item in items[index : index + 1] if isinstance(item, ast.Name)}
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            loads += [node] if isinstance(node.slice, ast.Constant) and node.slice.value == index else []
    loads += [n for n in method.nodes if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)]
    return any(_is_size(method.source, node) for node in loads)


def _is_size(source: SourceFile, node: ast.AST) -> bool:
    """Is it among the sizes that a function of shapes is given?"""
    parent = source.parents.get(node)
    within = False
    while isinstance(parent, ast.BinOp | ast.Tuple | ast.List | ast.UnaryOp | ast.keyword):
        within = within or isinstance(parent, ast.Tuple | ast.List | ast.keyword)
        node, parent = parent, source.parents.get(parent)
    if not isinstance(parent, ast.Call) or node is parent.func:
        return False
    if isinstance(parent.func, ast.Name):
        return parent.func.id == "range"
    called = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
    alone = called in ("arange", "eye", "reshape") or node not in parent.args[:1]
    return called in _OF_SIZES and (within or alone)


def is_taken_apart(method: Method, name: str) -> bool:
    """Does a method read from an argument what no array has: `graph.nodes`, `batch["image"]`?"""
    for node in method.nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            index = node.slice if isinstance(node, ast.Subscript) else None
            word = isinstance(index, ast.Constant) and isinstance(index.value, str)
            if word or (isinstance(node, ast.Attribute) and not of_arrays(node.attr)):
                return True
    return False


class _Reading:
    """What is done with an argument, here and where it is handed on to."""

    def __init__(self, run: Execution) -> None:
        self.run = run
        self.seen: set[tuple[ast.AST, str]] = set()
        self.sites: dict[ast.Call, Site] = {call: site for site in run.sites for call, _, _ in site.calls}

    def shown(self, source: SourceFile, function: ast.FunctionDef, name: str) -> bool | None:
        """True: it is an array; False: it is something else; None: nothing is done that would tell."""
        if (function, name) in self.seen:
            return None
        self.seen.add((function, name))
        args = function.args
        parameter = next((p for p in [*args.posonlyargs, *args.args, *args.kwonlyargs] if p.arg == name), None)
        said = ast.unparse(parameter.annotation) if parameter is not None and parameter.annotation is not None else ""
        if name in _may_be_none(args):
            said = re.sub(r"\bOptional\[(.*)\]|\s*\|\s*None\b", r"\1", said)
        if parameter is None or _NOT.search(said) or "|" in said:
            return False
        found: bool | None = True if _SAID.search(said) else None
        for node in subtree(function):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                use = self.use(source, node)
                if use is False:
                    return False
                found = found or use
        return found

    def use(self, source: SourceFile, node: ast.Name) -> bool | None:
        """The same of one place where it is read."""
        parent = source.parents.get(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr in _OF_ARRAYS
        if isinstance(parent, ast.Subscript) and parent.value is node:
            index = parent.slice
            if isinstance(index, ast.Constant) and isinstance(index.value, str):
                return False
            return True if isinstance(index, ast.Tuple) else None  # of a list, too, a slice is taken
        if isinstance(parent, ast.Starred | ast.For | ast.comprehension | ast.YieldFrom):
            return False
        if isinstance(parent, ast.Assign) and any(isinstance(t, ast.Tuple | ast.List) for t in parent.targets):
            return False
        if isinstance(parent, ast.keyword):
            call = source.parents.get(parent)
            return self.handed(source, call, parent.arg) if isinstance(call, ast.Call) else None
        if isinstance(parent, ast.Call) and node in parent.args:
            if isinstance(parent.func, ast.Name) and parent.func.id in _GOES_THROUGH:
                return False
            return self.handed(source, parent, parent.args.index(node))
        return None

    def handed(self, source: SourceFile, call: ast.Call, place: int | str | None) -> bool | None:
        """The same of what it is handed to."""
        site = self.sites.get(call)
        if site is not None and site.kind == "layer":
            return True
        if site is not None:
            model = self.run.analyser.classes.get(site.target)
            return self.within(model.method("__call__") if model is not None else None, place)
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "self":
            return self.within(self.run.model.method(call.func.attr), place)
        above = next((method for node, method in self.run.super_calls if node is call), None)
        if above is not None:
            return self.within(above, place)
        name = self.run.project.qualname(source, call.func) or ""
        found = self.run.project.definition(name) if name else None
        if found is None or not isinstance(found[1], ast.FunctionDef):
            return None
        named = [p.arg for p in [*found[1].args.posonlyargs, *found[1].args.args]]
        return self.shown(found[0], found[1], _at(named, place))

    def within(self, method: Method | None, place: int | str | None) -> bool | None:
        if method is None:
            return None
        return self.shown(method.source, method.node, _at([p.arg for p in method.positional], place))


def _may_be_none(args: ast.arguments) -> set[str]:
    """The arguments whose default is None."""
    plain = [*args.posonlyargs, *args.args]
    pairs = [*zip(plain[len(plain) - len(args.defaults) :], args.defaults), *zip(args.kwonlyargs, args.kw_defaults)]
    return {p.arg for p, default in pairs if isinstance(default, ast.Constant) and default.value is None}


def _at(names: list[str], place: int | str | None) -> str:
    return place if isinstance(place, str) else names[place] if place is not None and place < len(names) else ""


__all__ = ["has_number", "is_array", "is_handed_on", "is_taken_apart", "of_arrays"]
