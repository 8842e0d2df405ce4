"""Programs that call `init` to see whether it raises, or warns: Linen's runs the whole call, and a constructor none.

`with pytest.raises(ValueError): model.init(key, x)`, `self.assertRaises(ValueError, model.init, key, x)`, `try` with
handlers, and functions that do so for others. What cannot be told apart is taken to wait.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...trees import of_kind, subtree

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ...source import SourceFile

# What pytest, unittest, absl, NumPy and the like call what waits for errors and warnings, by how the names begin.
_WAITING = (
    *("raises", "Raises", "assertRaises", "assert_raises", "suppress", "warns", "assertWarns", "assert_warns"),
    *("assertLogs", "assertNoLogs", "deprecated_call", "catch_warnings", "redirect_std"),
)
_MARKS = frozenset({"xfail", "expectedFailure"})
_INTERRUPTS = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit"})
_RUNNING = frozenset({"jit", "eval_shape"})
_MAX_DEPTH = 4  # functions that call functions

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Try: tuple[type[ast.AST], ...] = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))


def for_errors(project: Project, source: SourceFile, node: ast.AST) -> str:
    """How a program uses init, called or handed over, to see whether it raises; "" where it wants the variables."""
    return _Search(project).why(source, node, ())


def waits(project: Project, source: SourceFile, outer: ast.AST, inner: ast.AST) -> bool:
    """Does a statement or a call, or the decorator of a function, see the errors of what stands in it?"""
    return _Search(project)._waits(source, outer, inner, ())


class _Search:
    def __init__(self, project: Project) -> None:
        self.project = project

    def why(self, source: SourceFile, node: ast.AST, functions: tuple[ast.AST, ...]) -> str:
        """`functions`: what was followed from init to `node`, which calls or names the last of them."""
        if not functions and _is_dropped(source, node):
            return "init of which nothing is read"
        inner, handed = node, bool(functions) or not isinstance(node, ast.Call)
        for outer in source.ancestors(node):
            if self._waits(source, outer, inner, functions):
                return "init whose errors are waited for"
            if isinstance(outer, Function):
                return self._of_uses(source, outer, functions)
            if isinstance(outer, ast.Assign) and handed and not _is_result(outer.value, node):
                return self._of_uses(source, outer, functions)
            handed = handed or isinstance(outer, ast.Lambda)
            inner = outer
        return ""

    def _waits(self, source: SourceFile, outer: ast.AST, inner: ast.AST, functions: Sequence[ast.AST]) -> bool:
        if isinstance(outer, _Try):
            caught = inner in outer.body and any(_catches(handler.type) for handler in outer.handlers)  # type: ignore[attr-defined]
            return caught and not any(map(_is_program, functions))
        if isinstance(outer, ast.With | ast.AsyncWith):
            calls = [n for n in subtree(outer) if isinstance(n, ast.Call) and n.args]
            entered = [call.args[0] for call in calls if _word(call.func) == "enter_context"]
            said = [*(item.context_expr for item in outer.items), *entered]
            return any(self._expects(source, node) for node in said)
        if isinstance(outer, Function):
            return any(_word(_function(decorator)) in _MARKS for decorator in outer.decorator_list)
        return isinstance(outer, ast.Call) and inner is not outer.func and self._is_waiting(source, outer)

    def _expects(self, source: SourceFile, node: ast.expr) -> bool:
        """`pytest.raises(ValueError)`, a variable that may be it, or a context manager of the project that waits."""
        if isinstance(node, ast.Call):
            return self._is_waiting(source, node) or self._is_own(source, node.func)
        around = next((n for n in source.ancestors(node) if isinstance(n, Function)), source.tree)
        named = isinstance(node, ast.Name) and (_is_given(around, node.id) or not isinstance(around, Function))
        within = of_kind(around, ast.Call) if isinstance(around, ast.FunctionDef) else subtree(around)
        return named and any(isinstance(n, ast.Call) and self._is_waiting(source, n) for n in within)

    def _is_waiting(self, source: SourceFile, call: ast.Call) -> bool:
        name = self.project.qualname(source, call.func) or ""
        if not (_word(call.func).startswith(_WAITING) or name.rpartition(".")[2].startswith(_WAITING)):
            return False
        suppressing = "suppress" in (_word(call.func), name.rpartition(".")[2])
        return not suppressing or any(_catches(argument) for argument in call.args)

    def _is_own(self, source: SourceFile, function: ast.expr) -> bool:
        """A generator that yields where it waits, or a class whose `__exit__` may say that all is well."""
        found = self.project.definition(self.project.qualname(source, function) or "")
        if found is None:
            return False
        within = subtree(found[1])
        if isinstance(found[1], ast.ClassDef):
            exits = [n for n in within if isinstance(n, ast.FunctionDef) and n.name == "__exit__"]
            said = [n.value for exit in exits for n in of_kind(exit, ast.Return) if n.value is not None]
            return any(not (isinstance(value, ast.Constant) and not value.value) for value in said)
        yields = [node for node in within if isinstance(node, ast.Yield)]
        return any(self.why(found[0], node, (found[1],)) for node in yields if isinstance(found[1], Function))

    def _of_uses(self, source: SourceFile, home: ast.AST, functions: tuple[ast.AST, ...]) -> str:
        """Of what calls a function, or what a variable holds, and of what they are given to."""
        if len(functions) == _MAX_DEPTH or home in functions:
            return ""
        own = set(subtree(home))
        for other, use in self._uses(source, home):
            why = self.why(other, use, (*functions, home)) if use not in own else ""
            if why:
                return why
        return ""

    def _uses(self, source: SourceFile, home: ast.AST) -> Iterator[tuple[SourceFile, ast.AST]]:
        names = [home.name] if isinstance(home, Function) else [_word(t) for t in getattr(home, "targets", ())]
        in_class = isinstance(source.parents.get(home), ast.ClassDef)
        for name in names:
            for node in source.saying(name):
                by_name = isinstance(node, ast.Name) or _is_of_self(node)
                if isinstance(node.ctx, ast.Load) and (by_name or (in_class and source.names.qualname(node) is None)):
                    yield source, _called(source, node)
            if source.parents.get(home) is not source.tree:
                continue
            full = f"{source.module}.{name}"
            for other in self.project.files_saying(name):
                locally = [local for local, imported in other.names.imports.items() if imported == full]
                for node in other.saying(name, *locally) if other is not source else ():
                    if self.project.qualname(other, node) == full:
                        yield other, _called(other, node)


def _is_result(value: ast.AST, node: ast.AST) -> bool:
    """Is what a name is given the result of a call of the function, not something that calls it later?"""
    return isinstance(node, ast.Call) and value is node


def _called(source: SourceFile, node: ast.AST) -> ast.AST:
    parent = source.parents.get(node)
    return parent if isinstance(parent, ast.Call) and parent.func is node else node


def _is_of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_given(function: ast.AST, name: str) -> bool:
    """Is a name a parameter, or assigned in the function?"""
    nodes = subtree(function)
    given = any(isinstance(n, ast.arg) and n.arg == name for n in nodes)
    return given or any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes)


def _is_program(home: ast.AST) -> bool:
    """A function that goes on with the variables: `try: main()` sees the errors of what comes after, too."""
    nodes = subtree(home) if isinstance(home, Function) else ()
    return any(isinstance(n, ast.For | ast.While) or (isinstance(n, ast.Attribute) and n.attr == "apply") for n in nodes)


def _is_dropped(source: SourceFile, node: ast.AST) -> bool:
    """`model.init(key, x)`, `_ = model.init(key, x)`, `jax.eval_shape(model.init, key, x)` as statements, or a name for
    it that the function does not say again."""
    inner, outer = node, source.parents.get(node)
    while isinstance(outer, ast.Subscript) or (
        isinstance(outer, ast.Call) and (inner is outer.func or _word(outer.func) in _RUNNING)
    ):
        inner, outer = outer, source.parents.get(outer)
    if not any(isinstance(n, ast.Call) for n in (node, inner)):
        return False
    if isinstance(outer, ast.Assign) and all(isinstance(target, ast.Name) for target in outer.targets):
        names = {_word(target) for target in outer.targets}
        return all(not name.strip("_") for name in names) or not _is_read(source.function_of(node), names)
    return isinstance(outer, ast.Expr)


def _is_read(function: ast.FunctionDef | None, names: set[str]) -> bool:
    """Are names of a function read in it, or seen outside? `self.params` is one, too, where that is followed as a name."""
    if function is None or not all(name.isidentifier() for name in names):
        return True
    outside = any(isinstance(n, ast.Global | ast.Nonlocal) and not names.isdisjoint(n.names) for n in subtree(function))
    return outside or any(n.id in names and isinstance(n.ctx, ast.Load) for n in of_kind(function, ast.Name))


def _catches(node: ast.expr | None) -> bool:
    """Does a handler of this class, or classes, see more than interrupts?"""
    named: Iterable[ast.expr | None] = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(one is None or _word(one) not in _INTERRUPTS for one in named)


def _function(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _word(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


__all__ = ["for_errors", "waits"]
