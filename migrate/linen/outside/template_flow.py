"""Where a module that code outside of modules hands over was made, and where else it goes.

    def make(width, head=None):           def create(encoder, policy=False):
        encoder = Encoder(width)              return Policy(encoder) if policy else Critic(encoder)
        encoder = Wrapper(encoder)
        return Model(encoder, head)       model = create(make_encoder(8))

A value is followed through names, both sides of conditions, and functions that are only ever called. Whatever else is done
with it, or may be, is said by `Lost`: such a module cannot become a factory. One that several modules may hold at a time is
lost, too, since Linen shares it between those that are parts of one.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..flow.function_calls import FunctionCalls, arguments, parameter, parameters
from ..project.reaching import reaching

_MAX_DEPTH = 8
_REPEATING = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Binder = ast.Assign | ast.AnnAssign


class Lost(Exception):
    """A value is not followed; says why."""


@dataclasses.dataclass(frozen=True)
class Template:
    """A module that is handed over outside of modules: the call that makes it, in its file."""

    source: SourceFile
    call: ast.Call


@dataclasses.dataclass(frozen=True)
class Taker:
    """A place that a value goes to: the call of a class that is given it, or the `return` that hands it on."""

    source: SourceFile
    node: ast.Call | ast.Return
    target: str = ""
    via: tuple[tuple[SourceFile, ast.AST], ...] = ()  # the calls of functions that hand it on


class TemplateFlow:
    """`makes`: is a call a module that may become a factory?"""

    def __init__(self, project: Any, makes: Callable[[SourceFile, ast.Call], bool]) -> None:
        self.project = project
        self.makes = makes
        self.functions = FunctionCalls(project)
        self._origins: dict[ast.expr, tuple[set[Template], bool] | Lost] = {}
        self._takers: dict[ast.Call, list[Taker] | Lost] = {}

    def origins(self, source: SourceFile, node: ast.expr) -> tuple[set[Template], bool]:
        """The modules that an expression may be, and whether it may be None; raises Lost where it may be anything else."""
        known = self._origins.get(node)
        if known is None:
            self._origins[node] = Lost("it comes back to itself")  # for now
            try:
                known = self._find_origins(source, node)
            except Lost as error:
                known = error
            self._origins[node] = known
        if isinstance(known, Lost):
            raise known
        return known

    def _find_origins(self, source: SourceFile, node: ast.expr) -> tuple[set[Template], bool]:
        if isinstance(node, ast.Constant) and node.value is None:
            return set(), True
        if isinstance(node, ast.IfExp):
            return _union(self.origins(source, branch) for branch in (node.body, node.orelse))
        if isinstance(node, ast.Name):
            return self._named(source, node)
        if isinstance(node, ast.Call):
            if self.makes(source, node):
                return {Template(source, node)}, False
            found = self.functions.called(source, node)
            if found is not None:
                return self._returned(*found)
        raise Lost(f"`{ast.unparse(node)[:40]}` is not followed")

    def takers(self, template: Template) -> list[Taker]:
        """The calls of classes that a module goes to; raises Lost where it goes anywhere else."""
        known = self._takers.get(template.call)
        if known is None:
            found: list[Taker] = []
            try:
                self._born(template.source, template.call, found, 0)
                known = found
            except Lost as error:
                known = error
            self._takers[template.call] = known
        if isinstance(known, Lost):
            raise known
        return known

    def _born(self, source: SourceFile, node: ast.Call, found: list[Taker], depth: int) -> None:
        """Add the takers of what a call gives, each time another module."""
        takers = self._goes(source, node, depth)
        if not _alone(self.project, source, node, takers):
            raise Lost("several modules may be given it")
        for taker in takers:
            if isinstance(taker.node, ast.Call):
                found.append(taker)
                continue
            function = taker.source.names.scope_of(taker.node)
            for where, call in self._calls(taker.source, function):
                self._born(where, call, found, depth + 1)

    def _goes(self, source: SourceFile, node: ast.expr, depth: int) -> list[Taker]:
        """The places that one value of an expression goes to."""
        if depth > _MAX_DEPTH:
            raise Lost("it goes far away")
        parent = source.parents[node]
        if isinstance(parent, ast.keyword) and parent.arg is not None:
            return self._given(source, source.parents[parent], parent, depth)
        if isinstance(parent, ast.Call) and node in parent.args:
            return self._given(source, parent, node, depth)
        if isinstance(parent, ast.IfExp) and node is not parent.test:
            return self._goes(source, parent, depth + 1)
        if isinstance(parent, ast.Compare) and all(isinstance(o, ast.Is | ast.IsNot) for o in parent.ops):
            return []
        if isinstance(parent, ast.Return):
            return [Taker(source, parent)]
        target: ast.expr | None = None
        if isinstance(parent, _Binder) and parent.value is node:
            target = parent.targets[0] if isinstance(parent, ast.Assign) else parent.target
        if isinstance(target, ast.Name):
            scope = source.names.bound_by(target)
            uses, binders = self._uses(source, target.id, scope)
            seen = [u for u in uses if parent in reaching(source, u, scope or source.tree, binders)[0]]
            return [taker for use in seen for taker in self._goes(source, use, depth + 1)]
        raise Lost(f"`{ast.unparse(parent)[:40]}` takes it")

    def _given(self, source: SourceFile, call: ast.AST, argument: ast.AST, depth: int) -> list[Taker]:
        assert isinstance(call, ast.Call)
        target = self.project.qualname(source, call.func) or ""
        if target in self.project.linen_classes:
            return [Taker(source, call, target)]
        found = self.functions.called(source, call)
        name = parameter(found[1], call, argument) if found is not None else None
        if found is None or name is None:
            raise Lost(f"`{ast.unparse(call.func)[:40]}` is given it")
        home, function = found
        self._calls(home, function)
        uses, binders = self._uses(home, name, function)
        seen = [u for u in uses if reaching(home, u, function, binders)[1]]
        takers = [taker for use in seen for taker in self._goes(home, use, depth + 1)]
        return [dataclasses.replace(taker, via=((source, call), *taker.via)) for taker in takers]

    def _named(self, source: SourceFile, node: ast.Name) -> tuple[set[Template], bool]:
        scope = source.names.binding_scope(node.id, node)
        if scope is not source.names.scope_of(node):
            raise Lost(f"`{node.id}` is a name of the code around")
        _, binders = self._uses(source, node.id, scope)
        seen, outside = reaching(source, node, scope or source.tree, binders)
        values = [b.value for b in seen if b.value is not None]
        found = [self.origins(source, value) for value in values]
        if outside and isinstance(scope, ast.FunctionDef) and node.id in parameters(scope):
            given = _union(self._passed(source, scope, node.id, *place) for place in self._calls(source, scope))
            found.append((given[0], given[1] and not _is_replaced(source, node, scope)))
        if not found:
            raise Lost(f"`{node.id}` is not followed")
        return _union(found)

    def _passed(
        self, home: SourceFile, function: ast.FunctionDef, name: str, source: SourceFile, call: ast.Call
    ) -> tuple[set[Template], bool]:
        """What a call gives to a parameter of a function."""
        for argument in arguments(call):
            if parameter(function, call, argument) == name:
                value = argument.value if isinstance(argument, ast.keyword) else argument
                return self.origins(source, value)
        default = _default(function, name)
        if not isinstance(default, ast.Constant):
            raise Lost(f"`{name}` has a default")
        return self.origins(home, default)

    def _returned(self, source: SourceFile, function: ast.FunctionDef) -> tuple[set[Template], bool]:
        self._calls(source, function)
        returns = [s for s in subtree(function) if isinstance(s, ast.Return) and source.names.scope_of(s) is function]
        if any(s.value is None for s in returns) or not returns:
            raise Lost(f"`{function.name}` may return nothing")
        found = _union(self.origins(source, s.value) for s in returns if s.value is not None)
        return found[0], found[1] or not _ends(function.body)

    def _uses(self, source: SourceFile, name: str, scope: ast.AST | None) -> tuple[list[ast.Name], list[_Binder]]:
        """The uses of a name of a function (None: of the script), and its assignments."""
        names = source.names
        if isinstance(scope, ast.ClassDef):
            raise Lost(f"`{name}` is a name of a class")
        if scope is None and self._taken_elsewhere(source, name):
            raise Lost(f"`{name}` may be asked for elsewhere")
        if any(name in n.names for kind in (ast.Global, ast.Nonlocal) for n in source.by_kind.get(kind, ())):  # type: ignore[attr-defined]
            raise Lost(f"`{name}` is changed elsewhere")
        binders: list[_Binder] = []
        for node in names.binders(name):
            if names.bound_by(node) is not scope:
                continue
            parent = source.parents[node]
            if isinstance(node, ast.arg) or (isinstance(parent, ast.AnnAssign) and parent.value is None):
                continue
            whole = isinstance(parent, ast.AnnAssign) or (isinstance(parent, ast.Assign) and len(parent.targets) == 1)
            if not isinstance(node, ast.Name) or not whole or not isinstance(parent, _Binder):
                raise Lost(f"`{name}` is bound by `{ast.unparse(parent)[:40]}`")
            binders.append(parent)
        uses: list[ast.Name] = []
        for node in subtree(scope or source.tree):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                if names.binding_scope(name, node) is not scope:
                    continue
                if names.scope_of(node) is not scope:
                    raise Lost(f"`{name}` is used in a function or loop of its own")
                uses.append(node)
        return uses, binders

    def _calls(self, source: SourceFile, function: ast.AST | None) -> list[tuple[SourceFile, ast.Call]]:
        """Every call of a function; raises Lost where it is no plain one, or may be called otherwise."""
        found = self.functions.calls(source, function) if isinstance(function, ast.FunctionDef) else None
        if not found:
            raise Lost(f"the calls of `{getattr(function, 'name', 'lambda')}` are not all known")
        return found

    def _taken_elsewhere(self, source: SourceFile, name: str) -> bool:
        """May other files ask for a name of a file, or the file itself by a string (`__all__`, `globals()`)?"""
        if any(isinstance(n, ast.Constant) and n.value == name for n in source.by_kind.get(ast.Constant, ())):
            return True
        for other in self.project.files.values():
            if other is source or name not in other.words:
                continue
            taken = {*other.names.imports.values(), *other.names.star_imports}
            if any(f"{source.module}.{name}.".startswith(f"{dotted}.") for dotted in taken):
                return True
        return False


def _alone(project: Any, source: SourceFile, born: ast.Call, takers: list[Taker]) -> bool:
    """Is what a call gives held by one module at a time, as far as its function shows?"""
    if len({(t.node, t.via) for t in takers}) < len(takers):
        return False
    around = set(source.ancestors(born))
    places = [place for t in takers for place in ((t.source, t.node), *t.via)]
    again = any(isinstance(p, _REPEATING) and p not in around for where, node in places for p in where.ancestors(node))
    once = not again and not _in_loop(source, born, takers)
    if once and all(_excluded(a, b) for i, a in enumerate(takers) for b in takers[:i]):
        return True
    scope = source.names.scope_of(born)
    if scope is None or any(t.via or t.source.names.scope_of(t.node) is not scope for t in takers):
        return False
    return all(isinstance(t.node, ast.Call) and _stays_alone(project, source, scope, t.node) for t in takers)


def _in_loop(source: SourceFile, born: ast.Call, takers: list[Taker]) -> bool:
    """Is a module made in a loop and taken there under a name, which may hold that of the step before?"""
    around = list(source.ancestors(born))
    return any(isinstance(p, _REPEATING) for p in around) and any(
        (t.via[0][1] if t.via else t.node) not in around for t in takers
    )


def _excluded(one: Taker, other: Taker) -> bool:
    """Do two takers stand in the two ways of one condition of a function?"""
    source = one.source
    if one.via != other.via or source.names.scope_of(one.node) is not other.source.names.scope_of(other.node):
        return False
    above = {node: child for child, node in _steps(source, other.node)}
    for child, node in _steps(source, one.node):
        if node in above and isinstance(node, ast.If):
            return (child in node.body) != (above[node] in node.body) and node.test not in (child, above[node])
        if node in above:
            return isinstance(node, ast.IfExp) and node.test not in (child, above[node]) and child is not above[node]
    return False


def _steps(source: SourceFile, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for parent in source.ancestors(node):
        yield node, parent
        node = parent


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


def _is_replaced(source: SourceFile, use: ast.Name, scope: ast.FunctionDef) -> bool:
    """Does a function give a parameter that is None another value before a use: `if encoder is None: encoder = ...`?"""
    around = {use, *source.ancestors(use)}
    for parent in around - set(source.ancestors(scope)):
        block = getattr(parent, "body", None)
        for statement in block if isinstance(block, list) and around.intersection(block) else ():
            if statement in around:
                break
            if isinstance(statement, ast.If) and ast.unparse(statement.test) == f"{use.id} is None":
                last = statement.body[-1]
                if isinstance(last, ast.Raise | ast.Return) or (
                    isinstance(last, ast.Assign) and ast.unparse(last.targets[0]) == use.id
                ):
                    return True
    return False


def _default(function: ast.FunctionDef, name: str) -> ast.expr | None:
    spec = function.args
    places = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    given = dict(zip(reversed(places), reversed(spec.defaults)))
    given.update({a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None})
    return given.get(name)


def _ends(body: list[ast.stmt]) -> bool:
    """Does a function never come past these statements?"""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return | ast.Raise) or (isinstance(last, ast.With) and _ends(last.body))


def _union(found: Any) -> tuple[set[Template], bool]:
    templates: set[Template] = set()
    nothing = False
    for some, none in found:
        templates |= some
        nothing |= none
    return templates, nothing


__all__ = ["Lost", "Taker", "Template", "TemplateFlow"]
