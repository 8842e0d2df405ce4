"""Random numbers drawn and values sown in functions that go to JAX's own transforms: `jax.checkpoint(lambda x: drop(x))`.

Linen counts draws in Python, also while such a function is traced. In NNX the count is a Variable, as what is sown is, and
none may be changed from within a trace that began after it was made: the call raises TraceContextError.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.lifted import traced_makers
from ...linen.project.classes import Method
from ...linen.values.sites import Site, Unmigratable
from ...linen.values.values import Const
from ...source import SourceFile
from ...trees import subtree
from ..text.made_where import home_of
from ..text.text_parts import short
from . import drawn, sown

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_Function = ast.FunctionDef | ast.Lambda

# What calls the function that it is given in the trace that is under way.
_PLAIN = ("jax.tree", "jax.named_call", "jax.named_scope", "jax.profiler", "jax.debug", "jax.core", "jax.nn.initializers")
_PARTIAL = "functools.partial"
_SILENT = {"deterministic": True, "train": False, "training": False}


def refuse(text: ClassText) -> None:
    """Refuse a class that draws or sows within a function that JAX traces by itself."""
    traced = _Traced(text)
    if not traced.functions:
        return
    for site in text.run.sites:
        if site.kind == "rng" and traced.holds(site.source, site.node):
            _refuse(site.node, "draws a random key")
        if traced_makers.TRACED in site.renders and _updates(text, site):
            _refuse(site.node, "may change variables")
        if site.kind in ("layer", "class") and _draws(text, site):
            for node, _, env in site.calls:
                if traced.holds(env.source, node) and not _is_silent(site, node):
                    _refuse(node, "may draw random numbers or sow values")
    for node in text.run.sows:
        if traced.holds(home_of(text.run, node), node):
            _refuse(node, "sows a value")


def _refuse(node: ast.Call, what: str) -> None:
    raise Unmigratable("NNX134", f"`{short(node)}` {what} in a function that is given to a transform of JAX's", node)


def _draws(text: ClassText, site: Site) -> bool:
    """May a call of the module draw, or sow?"""
    if drawn.streams_of(site) or drawn.names_unknown([site], text.plans) or sown.of_layer(site):
        return True
    if site.traits is not None:
        return bool(site.traits.streams)
    plans = [text.plans[kind.target] for kind in (site, *site.alternatives) if kind.target in text.plans]
    return any(plan.rng_streams or plan.sown for plan in plans)


def _updates(text: ClassText, site: Site) -> bool:
    """Has a module of the project variables besides its parameters?"""
    plans = [text.plans[kind.target] for kind in (site, *site.alternatives) if kind.target in text.plans]
    return any(plan.collections - {"params"} for plan in plans)


def _is_silent(site: Site, node: ast.Call) -> bool:
    """Does the call say that nothing is drawn, or bring the key?"""
    bound = site.bound.get("deterministic")
    said = bound is not None and bound.abs.value == Const(True)
    for keyword in node.keywords:
        if keyword.arg in ("rng", "dropout_rng"):
            return True
        if keyword.arg in _SILENT and isinstance(keyword.value, ast.Constant):
            said = keyword.value.value is _SILENT[keyword.arg]
    return said


class _Traced:
    """The functions of a class, methods among them, that a transform of JAX's is given, or that such a function calls."""

    def __init__(self, text: ClassText) -> None:
        self.project = text.run.project
        self.methods = text.model.methods()
        self.functions: set[_Function] = set()
        for method in self.methods.values():
            for source, function in self._own(method):
                if function not in self.functions and self._is_given(source, method, function):
                    self._add(method, function)

    def holds(self, source: SourceFile, node: ast.AST) -> bool:
        """Does a node stand in one of them?"""
        around: ast.AST | None = node
        while around is not None and not isinstance(around, ast.ClassDef | ast.Module):
            if around in self.functions:
                return True
            around = source.parents.get(around)
        return False

    def _own(self, method: Method) -> Iterator[tuple[SourceFile, _Function]]:
        for node in method.nodes:
            if isinstance(node, _Function):
                yield method.source, node

    def _add(self, method: Method, function: _Function) -> None:
        """A function, and those that it calls."""
        if function in self.functions:
            return
        self.functions.add(function)
        local = {f.name: f for _, f in self._own(method) if isinstance(f, ast.FunctionDef)}
        for node in subtree(function):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id in local:
                self._add(method, local[node.func.id])
            called = self.methods.get(_of_self(node.func))
            if called is not None:
                self._add(called, called.node)

    def _is_given(self, source: SourceFile, method: Method, function: _Function) -> bool:
        if function is method.node:
            users = [(m, node) for m in self.methods.values() for node in m.asked.get(method.name, ())]
            given = any(self._goes_to_transform(user.source, user, node, set()) for user, node in users)
            return given or self._is_decorated(source, method.node)
        if isinstance(function, ast.Lambda):
            return self._goes_to_transform(source, method, function, set())
        return self._is_decorated(source, function) or self._is_named(source, method, function.name, set())

    def _is_decorated(self, source: SourceFile, function: ast.FunctionDef) -> bool:
        return any(self._is_transform(source, decorator) for decorator in function.decorator_list)

    def _is_named(self, source: SourceFile, method: Method, name: str, seen: set[str]) -> bool:
        """Does what a name of a method holds go to a transform?"""
        if name in seen:
            return False
        seen.add(name)
        uses = (n for n in method.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
        return any(self._goes_to_transform(source, method, use, seen) for use in uses)

    def _goes_to_transform(self, source: SourceFile, method: Method, node: ast.AST, seen: set[str]) -> bool:
        """Is this expression handed to a transform, as it is, in a list or bound by a partial, or under another name?"""
        parent = source.parents.get(node)
        if isinstance(parent, ast.List | ast.Tuple | ast.keyword | ast.Starred | ast.IfExp):
            return self._goes_to_transform(source, method, parent, seen)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return self._is_named(source, method, parent.targets[0].id, seen)
        if not isinstance(parent, ast.Call) or parent.func is node:
            return False
        if self.project.qualname(source, parent.func) == _PARTIAL:
            return self._goes_to_transform(source, method, parent, seen)
        return self._is_transform(source, parent.func)

    def _is_transform(self, source: SourceFile, node: ast.expr) -> bool:
        """`jax.vmap`, `jax.checkpoint(policy=...)`, `partial(jax.checkpoint, ...)`."""
        name = self.project.qualname(source, node.func if isinstance(node, ast.Call) else node) or ""
        if name == _PARTIAL and isinstance(node, ast.Call) and node.args:
            name = self.project.qualname(source, node.args[0]) or ""
        return name.startswith("jax.") and not name.startswith(_PLAIN)


def _of_self(node: ast.AST) -> str:
    """The attribute that is asked of `self`, "" for anything else."""
    named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if named else ""  # type: ignore[attr-defined]


__all__ = ["refuse"]
