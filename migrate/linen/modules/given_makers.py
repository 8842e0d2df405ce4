"""Functions that make and call modules of whoever calls them, given to modules as fields: `Block(mix=attention)`.

    def attention(x):                          class Block(nn.Module):
        return nn.Dense(8)(x)                      mix: Callable
                                                   @nn.compact
    Block(mix=attention).init(key, x)              def __call__(self, x): return self.mix(x)

The layers belong to whichever module calls the function. A class that calls what such a field holds would have to make
them without knowing which function that is, and the function could not take them as keywords.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator

from ...catalog import layers
from ...catalog.functions import function
from ...source import SourceFile
from ...trees import subtree
from ..project.index import ClassInfo, Project
from ..values.called_functions import function_of
from .given_functions import ruled_out

Maker = tuple[SourceFile, ast.FunctionDef | ast.Lambda, ast.AST]  # what it is, and where it is given
_DEPTH = 6  # names for names, functions in functions

_known: weakref.WeakKeyDictionary[Project, GivenMakers] = weakref.WeakKeyDictionary()


class GivenMakers:
    """`given`: class → field → the functions that it is given or has by default. `functions`: of those, the ones that a
    class calls without saying which they are."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.given: dict[str, dict[str, list[Maker]]] = {}
        self.functions: set[ast.AST] = set()
        self._calls: dict[ast.AST, bool] = {}
        for info in project.linen_classes.values():
            self._read_defaults(info)
        for source in project.files.values() if project.linen_classes else ():
            self._read_constructions(source)
        for qualname, fields in self.given.items():
            for field, makers in fields.items():
                self.functions |= {maker[1] for maker in makers if self.unsaid(qualname, field, maker) is not None}

    def unsaid(self, qualname: str, field: str, maker: Maker, depth: int = _DEPTH) -> ast.AST | None:
        """Where the class reads the field otherwise than to compare it, to call it where it is surely another function, or
        to hand it to a class that does no more.
        """
        name = f"{maker[0].module}.{maker[1].name}" if isinstance(maker[1], ast.FunctionDef) else ""
        for info in self._family(qualname):
            source = info.source
            for node in source.saying(field):
                of_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
                if not of_self or info.node not in source.ancestors(node) or not isinstance(node.ctx, ast.Load):
                    continue
                parent = source.parents.get(node)
                if isinstance(parent, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.If | ast.IfExp):
                    continue
                out = ruled_out(self.project, source, parent, f"self.{field}") if isinstance(parent, ast.Call) else {}
                handed = self._handed(source, node)
                said = handed is not None and depth > 0 and self.unsaid(*handed, maker, depth - 1) is None
                if name not in out and not said:
                    return node
        return None

    def _handed(self, source: SourceFile, node: ast.expr) -> tuple[str, str] | None:
        """The class and the field that a construction gives what is read."""
        parent = source.parents.get(node)
        call = source.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        qualname = self.project.qualname(source, call.func) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or qualname not in self.project.linen_classes:
            return None
        given = [*zip(self._fields(qualname), call.args, strict=False), *[(k.arg or "", k.value) for k in call.keywords]]
        return next(((qualname, place) for place, value in given if value is node), None)

    def _family(self, qualname: str) -> Iterator[ClassInfo]:
        """A class and its bases."""
        info = self.project.linen_classes.get(qualname)
        if info is not None:
            yield info
            for base in info.bases:
                yield from self._family(base)

    def _read_defaults(self, info: ClassInfo) -> None:
        for statement in info.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
                for qualname in (info.qualname, *self._derived(info.qualname, statement.target.id)):
                    self._give(qualname, statement.target.id, info.source, statement.value)

    def _read_constructions(self, source: SourceFile) -> None:
        project = self.project
        names = {name.rpartition(".")[2] for name in project.linen_classes}
        aliases = {local for local, dotted in source.names.imports.items() if dotted.rpartition(".")[2] in names}
        for node in source.saying(*names, *aliases):
            call = source.parents.get(node)
            if not isinstance(call, ast.Call) or not (call.args or call.keywords):
                continue
            at = 1 if call.func is not node and call.args[:1] == [node] and ast.unparse(call.func).endswith("partial") else 0
            qualname = project.qualname(source, node) or ""
            if (call.func is not node and not at) or qualname not in project.linen_classes:
                continue
            places = self._fields(qualname)
            for place, value in zip(places, call.args[at:], strict=False):
                self._give(qualname, place, source, value)
            for keyword in call.keywords:
                self._give(qualname, keyword.arg or "", source, keyword.value)

    def _fields(self, qualname: str) -> list[str]:
        """The fields of a class in the order of its arguments, those of bases first."""
        found = [name for info in reversed([*self._family(qualname)]) for name in _own_fields(info)]
        return list(dict.fromkeys(found))

    def _give(self, qualname: str, field: str, source: SourceFile, value: ast.expr) -> None:
        makers = [(*found, value) for found in self._makers(source, value, _DEPTH)]
        if makers:
            self.given.setdefault(qualname, {}).setdefault(field, []).extend(makers)

    def _derived(self, qualname: str, field: str) -> Iterator[str]:
        """The classes that have a field of a class with its default."""
        for name, info in self.project.linen_classes.items():
            if qualname in info.bases and field not in _own_fields(info):
                yield name
                yield from self._derived(name, field)

    def _makers(
        self, source: SourceFile, value: ast.expr, depth: int
    ) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
        """The functions that a value is, or holds, and that call what they make."""
        if depth == 0:
            return
        if isinstance(value, ast.Lambda):
            if self._calls_what_it_makes(source, value):
                yield source, value
        elif isinstance(value, ast.Tuple | ast.List):
            for item in value.elts:
                yield from self._makers(source, item, depth - 1)
        elif isinstance(value, ast.Dict):
            for item in value.values:
                yield from self._makers(source, item, depth - 1)
        elif isinstance(value, ast.IfExp):
            yield from self._makers(source, value.body, depth - 1)
            yield from self._makers(source, value.orelse, depth - 1)
        elif isinstance(value, ast.Subscript):
            yield from self._makers(source, value.value, depth - 1)
        elif isinstance(value, ast.Call):
            if self.project.qualname(source, value.func) == "functools.partial":
                yield from self._makers(source, value.args[0], depth - 1) if value.args else ()
            else:
                yield from self._returned(source, value.func, depth - 1)
        elif isinstance(value, ast.Name | ast.Attribute):
            yield from self._named(source, value, depth - 1)

    def _named(
        self, source: SourceFile, value: ast.Name | ast.Attribute, depth: int
    ) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
        for home, binder in self._bound(source, value):
            if isinstance(binder, ast.FunctionDef):
                if self._calls_what_it_makes(home, binder):
                    yield home, binder
            elif isinstance(held := getattr(binder, "value", None), ast.expr):
                yield from self._makers(home, held, depth)

    def _bound(self, source: SourceFile, value: ast.expr) -> Iterator[tuple[SourceFile, ast.AST]]:
        """The functions and assignments that a name may stand for."""
        scope = source.names.binding_scope(value.id, value) if isinstance(value, ast.Name) else None
        if isinstance(value, ast.Name) and scope is not None:
            for binder in source.names.binders(value.id):
                if source.names.bound_by(binder) is scope:
                    yield source, _statement(source, binder)
            return
        found = self.project.definition(self.project.qualname(source, value) or "")
        if found is None and isinstance(value, ast.Name):
            binders = [b for b in source.names.binders(value.id) if source.names.bound_by(b) is None]
            yield from ((source, _statement(source, binder)) for binder in binders)
        elif found is not None:
            yield found

    def _returned(
        self, source: SourceFile, func: ast.expr, depth: int
    ) -> Iterator[tuple[SourceFile, ast.FunctionDef | ast.Lambda]]:
        """What a function of the project gives back: functions within it, most of all."""
        for home, outer in self._bound(source, func):
            for node in subtree(outer) if isinstance(outer, ast.FunctionDef) else ():
                if isinstance(node, ast.Return) and node.value is not None and home.function_of(node) is outer:
                    yield from self._makers(home, node.value, depth)

    def _calls_what_it_makes(self, source: SourceFile, maker: ast.FunctionDef | ast.Lambda) -> bool:
        """Does a function call a layer or module that it, or another that it calls, makes: `nn.Dense(8)(x)`?"""
        if maker not in self._calls:
            self._calls[maker] = False  # until it is known: it may call itself
            self._calls[maker] = any(self._is_called(source, n) for n in subtree(maker) if isinstance(n, ast.Call))
        return self._calls[maker]

    def _is_called(self, source: SourceFile, call: ast.Call) -> bool:
        name = self.project.qualname(source, call.func) or ""
        layer = layers.lookup(name) is not None and function(name) is None
        if layer or name in self.project.linen_classes:
            outer = source.parents.get(call)
            if isinstance(outer, ast.Call) and outer.func is call:
                return True  # `nn.Dense(8)(x)`
            held = outer.targets[0] if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None
            around = source.function_of(call)
            if isinstance(held, ast.Name) and around is not None:
                return any(isinstance(n, ast.Call) and ast.unparse(n.func) == held.id for n in subtree(around))
            return False
        inner = function_of(self.project, source, call.func)
        return inner is not None and self._calls_what_it_makes(*inner)


def _statement(source: SourceFile, binder: ast.AST) -> ast.AST:
    """The assignment that binds a name; anything else that does, as it is."""
    return source.statement_of(binder) if isinstance(binder, ast.Name) else binder


def _own_fields(info: ClassInfo) -> list[str]:
    annotated = [s for s in info.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    return [s.target.id for s in annotated if "ClassVar" not in ast.unparse(s.annotation)]  # type: ignore[union-attr]


def find(project: Project) -> GivenMakers:
    """What the fields of the project's modules are given of such functions."""
    if project not in _known:
        _known[project] = GivenMakers(project)
    return _known[project]


__all__ = ["GivenMakers", "find"]
