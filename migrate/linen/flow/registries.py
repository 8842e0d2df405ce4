"""Tables of module classes that decorators and statements fill, by which a program makes a class of a name.

    _MODELS = {}

    def register(name):
      def wrap(cls):
        _MODELS[name] = cls
        return cls
      return wrap

    @register("small")
    class Small(nn.Module): ...

    model = _MODELS[config.model](config.width)

    _MODELS.update(resnet_configs)  # a table of another file: {"resnet-18": functools.partial(ResNet, depth=18)}

What stands in such a table is told where every use of it is an item, a question for a key, or a list of its keys.
"""

from __future__ import annotations

import ast
import dataclasses

from ...plan import Plan
from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from .flow_values import ANY, ClassValue, Symbol, Table, Value

_COUNTED = {"len", "list", "sorted", "print", "tuple", "set", "str"}  # what takes its keys and nothing else


_FILLING = {"append", "add", "insert", "setdefault", "update", "register", "setattr"}


@dataclasses.dataclass
class _Filled:
    """A dictionary that something is put into, with the classes of which it is made."""

    classes: set[str] = dataclasses.field(default_factory=set)
    puts: int = 0
    functions: set[ast.FunctionDef] = dataclasses.field(default_factory=set)  # outermost ones that put a parameter there
    tables: set[Symbol] = dataclasses.field(default_factory=set)  # others whose items are put there
    other: bool = False  # may hold something else, or go elsewhere

    def take(self, more: _Filled | None) -> None:
        """What one statement puts there; None where it is not told."""
        self.other |= more is None or more.other
        self.classes |= more.classes if more is not None else set()
        self.tables |= more.tables if more is not None else set()


class Registries:
    """The tables of a project, and the classes that a decorator puts where no table is known."""

    def __init__(self, project: Project, plan: Plan) -> None:
        self._project, self._plan = project, plan
        self._filled: dict[Symbol, _Filled] = {}
        for source in project.files.values():
            self._find(source)
        for source in project.files.values() if self._filled else ():
            self._uses(source)
        self._by_function: dict[ast.AST | None, list[_Filled]] = {}
        for filled in self._filled.values():
            for function in filled.functions:
                self._by_function.setdefault(function, []).append(filled)
        for source in project.files.values() if self._by_function else ():
            self._registered(source)
        self._join()
        # A table that also holds other things, or goes elsewhere, is not what its display says.
        self.tables: dict[Symbol, Value] = {
            symbol: ANY if filled.other else Table(ClassValue(frozenset(filled.classes)))
            for symbol, filled in self._filled.items()
            if filled.classes and filled.puts
        }

    # the dictionaries --------------------------------------------------------------------------------------------
    def _find(self, source: SourceFile) -> None:
        for kind in (ast.Assign, ast.AnnAssign):
            for node in source.by_kind.get(kind, ()):
                assert isinstance(node, ast.Assign | ast.AnnAssign)
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                shown = self._display(source, node.value) if len(targets) == 1 else None
                symbol = self._symbol(source, targets[0]) if shown is not None and not shown.other else None
                if symbol is not None and shown is not None:
                    shown.other = symbol in self._filled
                    plain = isinstance(node.value, ast.Dict) and None not in node.value.keys  # which the flow reads
                    shown.puts = int(not plain)
                    self._filled[symbol] = shown

    def _display(self, source: SourceFile, value: ast.expr | None) -> _Filled | None:
        """The classes of `{}`, `dict()`, `{"small": Small, **MORE}`, `{k: Small for k in sizes}`; None of anything else."""
        if isinstance(value, ast.Call):
            plain = isinstance(value.func, ast.Name) and value.func.id == "dict"
            values = [keyword.value for keyword in value.keywords if keyword.arg]
            joined = [*value.args, *(keyword.value for keyword in value.keywords if not keyword.arg)]
        else:
            plain = isinstance(value, ast.Dict | ast.DictComp)
            items = list(zip(value.keys, value.values)) if isinstance(value, ast.Dict) else []
            values = [value.value] if isinstance(value, ast.DictComp) else [item for key, item in items if key is not None]
            joined = [item for key, item in items if key is None]
        shown = _Filled()
        for item in values:
            shown.take(self._item(source, item))
        for table in joined:
            symbol = self._symbol(source, table)
            shown.take(_Filled(tables={symbol}) if symbol is not None else self._display(source, table))
        return shown if plain else None

    def _item(self, source: SourceFile, node: ast.expr) -> _Filled | None:
        """`Small`, `functools.partial(Small, width=8)`, `functools.partial(MODELS["small"], width=8)`; or None."""
        if isinstance(node, ast.Call) and node.args and self._project.qualname(source, node.func) == "functools.partial":
            return self._item(source, node.args[0])
        if isinstance(node, ast.Subscript):
            symbol = self._symbol(source, node.value)
            return _Filled(tables={symbol}) if symbol is not None else None
        name = self._class(source, node)
        return _Filled({name}) if name else None

    def _join(self) -> None:
        """What is put into a table from another one is in both, and where the one goes elsewhere, both do."""
        unknown = _Filled(other=True)
        links = [(to, self._filled.get(symbol, unknown)) for to in self._filled.values() for symbol in to.tables]
        before: list[tuple[bool, int]] | None = None
        while (now := [(filled.other, len(filled.classes)) for filled in self._filled.values()]) != before:
            before = now
            for to, part in links:
                to.other = part.other = to.other or part.other
                to.classes |= part.classes
                part.puts = max(part.puts, 1)

    def _class(self, source: SourceFile, node: ast.AST) -> str | None:
        name = self._project.qualname(source, node) if isinstance(node, ast.Name | ast.Attribute) else None
        return name if name and self._plan.module_class(name) else None

    def _symbol(self, source: SourceFile, node: ast.AST) -> Symbol | None:
        """The dictionary that a name, an attribute of a file or one of `self` may be."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            owner = next((p for p in source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
            return (source.module, owner, f"self.{node.attr}") if owner is not None else None
        if isinstance(node, ast.Name) and source.names.binding_scope(node.id, node) is not None:
            return None
        if isinstance(node, ast.Name) and node.id in source.names.definitions:
            return source.module, None, node.id
        name = self._project.qualname(source, node) if isinstance(node, ast.Name | ast.Attribute) else None
        module, _, last = (name or "").rpartition(".")
        return (module, None, last) if module in self._project.files else None

    def _uses(self, source: SourceFile) -> None:
        names = {symbol[2].removeprefix("self.") for symbol in self._filled}
        if names.isdisjoint(source.words):
            return
        for kind in (ast.Name, ast.Attribute):
            for node in source.by_kind.get(kind, ()):
                said = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
                filled = self._filled.get(self._symbol(source, node) or ("", None, "")) if said in names else None
                if filled is not None:
                    self._use(source, node, filled)

    def _use(self, source: SourceFile, node: ast.AST, filled: _Filled) -> None:
        parent = source.parents[node]
        if isinstance(parent, ast.Assign | ast.AnnAssign) and not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            shown = self._display(source, parent.value)
            filled.other |= shown is None or shown.other
        elif isinstance(parent, ast.Dict | ast.keyword) or (isinstance(parent, ast.Call) and node in parent.args):
            filled.other |= not self._put_elsewhere(source, parent) and not _counts(parent)
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            statement = source.parents[parent]
            if isinstance(parent.ctx, ast.Store) and isinstance(statement, ast.Assign):
                self._put(source, statement.value, filled)
            else:
                filled.other |= not isinstance(parent.ctx, ast.Load)
        elif isinstance(parent, ast.Attribute):
            call = source.parents[parent]
            if isinstance(call, ast.Call) and call.func is parent and parent.attr == "update":
                filled.puts += 1
                filled.take(self._display(source, ast.Call(ast.Name("dict", ast.Load()), call.args, call.keywords)))
                return
            asked = isinstance(call, ast.Call) and call.func is parent and len(call.args) == (parent.attr == "get")
            filled.other |= not (asked and parent.attr in ("get", "keys"))
        else:
            filled.other |= not isinstance(parent, ast.Compare | ast.FormattedValue | ast.alias)

    def _put(self, source: SourceFile, value: ast.expr, filled: _Filled) -> None:
        """`_MODELS[name] = cls`: a class, or the parameter of a function that is called with classes."""
        filled.puts += 1
        function = source.names.binding_scope(value.id, value) if isinstance(value, ast.Name) else None
        if isinstance(function, ast.FunctionDef) and isinstance(value, ast.Name) and value.id in _parameters(function):
            around = [p for p in source.ancestors(function) if isinstance(p, ast.FunctionDef)]
            filled.functions.add(around[-1] if around else function)
        else:
            filled.take(self._item(source, value))

    def _put_elsewhere(self, source: SourceFile, around: ast.AST) -> bool:
        """`{**table}`, `dict(table)`, `MODELS.update(table)`: is the table put into another one that is known?"""
        call = source.parents[around] if isinstance(around, ast.keyword) else around
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update":
            return self._symbol(source, call.func.value) in self._filled
        statement = source.parents[call]
        shown = self._display(source, statement.value) if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or shown is None or shown.other:
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(self._symbol(source, target) in self._filled for target in targets)

    # who fills them ----------------------------------------------------------------------------------------------
    def _registered(self, source: SourceFile) -> None:
        """Classes under decorators that put them into a table, and those that the functions are called with."""
        decorators: set[ast.AST] = set()
        for kind in (ast.ClassDef, ast.FunctionDef):
            for node in source.by_kind.get(kind, ()):
                assert isinstance(node, ast.ClassDef | ast.FunctionDef)
                for decorator in node.decorator_list:
                    called = decorator.func if isinstance(decorator, ast.Call) else decorator
                    decorators.add(called)
                    for filled in self._by_function.get(self._function(source, called), ()):
                        name = self._project.canonical(f"{source.module}.{node.name}" if source.module else node.name)
                        plain = isinstance(node, ast.ClassDef) and self._plan.module_class(name)
                        filled.classes.update([name] if plain else [])
                        filled.other |= not plain
        known = {function.name for function in self._by_function if isinstance(function, ast.FunctionDef)}
        if known.isdisjoint(source.words):
            return
        for call in source.by_kind.get(ast.Call, ()):
            assert isinstance(call, ast.Call)
            word = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            if word not in known or call.func in decorators:
                continue
            for filled in self._by_function.get(self._function(source, call.func), ()):
                outer = source.parents[call]
                given = outer.args if isinstance(outer, ast.Call) and outer.func is call else call.args
                named = {self._class(source, argument) for argument in given}
                filled.classes |= {name for name in named if name}
                filled.other |= named <= {None}

    def unseen(self, source: SourceFile, node: ast.ClassDef) -> bool:
        """Does a decorator put the class where none of the tables is, so that something else may construct it?"""
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            function = self._function(source, called)
            if function is None:
                name = self._project.qualname(source, called) or ast.unparse(called)
                if "regist" in name and not name.startswith(("jax.", "flax.")) and self._project.definition(name) is None:
                    return True
                continue
            home = next(file for file in self._project.files.values() if function in file.parents)
            given = set().union(*(_parameters(f) for f in subtree(function) if isinstance(f, ast.FunctionDef)))
            if any(self._hides(home, inner, given) for inner in subtree(function)):
                return True
        return False

    def _hides(self, source: SourceFile, node: ast.AST, given: set[str]) -> bool:
        """`REGISTRY[kind][name] = cls`, `REGISTRY.append(cls)`"""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in given:
            tables = [target.value for target in node.targets if isinstance(target, ast.Subscript)]
            known = [self.tables.get(self._symbol(source, table) or ("", None, "")) for table in tables]
            return not all(isinstance(value, Table) for value in known)
        if isinstance(node, ast.Call):
            named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            return named in _FILLING and any(isinstance(a, ast.Name) and a.id in given for a in node.args)
        return False

    def _function(self, source: SourceFile, called: ast.expr) -> ast.FunctionDef | None:
        """The function of the project, or the method of an object of a file, that is called."""
        name = self._project.qualname(source, called) if isinstance(called, ast.Name | ast.Attribute) else None
        found = self._project.definition(name) if name else None
        if found is not None and isinstance(found[1], ast.FunctionDef):
            return found[1]
        if not isinstance(called, ast.Attribute):
            return None
        base = self._project.qualname(source, called.value)
        where = self._project.definition(base) if base else None
        made = where[1].value if where is not None and isinstance(where[1], ast.Assign) else None
        cls = self._project.qualname(where[0], made.func) if where is not None and isinstance(made, ast.Call) else base
        owner = self._project.definition(cls) if cls else None
        body = owner[1].body if owner is not None and isinstance(owner[1], ast.ClassDef) else []
        return next((s for s in body if isinstance(s, ast.FunctionDef) and s.name == called.attr), None)


def _counts(call: ast.AST) -> bool:
    """`len(_MODELS)`, `", ".join(_MODELS)`: what takes the keys and nothing else."""
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id in _COUNTED
    return isinstance(call.func, ast.Attribute) and call.func.attr == "join" and isinstance(call.func.value, ast.Constant)


def _parameters(function: ast.FunctionDef) -> set[str]:
    spec = function.args
    return {argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
