"""Subclasses of a Linen layer whose own `__init__` says some of its fields: they are defaults of the class.

    class Dense(nn.Dense):                                class Dense(nn.Dense):
      def __init__(self, *args, **kwargs):                  kernel_init: Any = variance_scaling(1 / 3, "fan_in", "uniform")
        scale = 1 / 3
        init = variance_scaling(scale, "fan_in", "uniform")
        kwargs.update({"kernel_init": init})
        super().__init__(*args, **kwargs)

What `__init__` says, whatever it is given, is a default only where nothing gives the class another value.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from ..catalog import layers
from ..edits import EditSet
from ..linen.modules.layer_classes import is_made_outside
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree

_DISPLAYS = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp  # no dataclass takes them as defaults


def with_fields_of_init(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with fields in place of such an `__init__`; None where it is none."""
    layer = layers.lookup(project.qualname(source, model.bases[0]) or "") if len(model.bases) == 1 else None
    own = [s for s in model.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    init = own[0] if len(own) == 1 else None
    if layer is None or not isinstance(init, ast.FunctionDef) or init.name != "__init__" or model.decorator_list:
        return None
    said = _Init(source, init).said() if _takes_all(init) and not source.shares_line(init) else None
    names = [p.name for p in layer.parameters]
    if not said or not said.keys() <= set(names) or any(isinstance(value, _DISPLAYS) for value in said.values()):
        return None
    if not all(_is_known_before(source, model, value) for value in said.values()):
        return None
    qualname = f"{source.module}.{model.name}"
    if any(_may_give(names, said.keys(), place) for place in _uses(project, qualname)):
        return None
    indent = source.indent_of(init)
    kind = next((local for local, dotted in source.names.module_imports.items() if dotted == "typing.Any"), "object")
    text = f"\n{indent}".join(f"{name}: {kind} = {ast.unparse(value)}" for name, value in said.items())
    edits = EditSet(source.text)
    if is_made_outside(project, qualname):  # it is called as Linen calls it there: a module that has the layer
        text += f"\n\n{indent}def __call__(self, inputs):\n{indent}{source.indent_unit}return super().__call__(inputs)"
    edits.replace(source.span(init), text)
    return edits.render()


def _takes_all(init: ast.FunctionDef) -> bool:
    given = init.args
    alone = len(given.args) == 1 and not (given.posonlyargs or given.kwonlyargs or init.decorator_list)
    return alone and given.vararg is not None and given.kwarg is not None


class _Init:
    """What an `__init__` that takes `*args, **kwargs` says of its class's fields."""

    def __init__(self, source: SourceFile, init: ast.FunctionDef) -> None:
        assert init.args.vararg is not None and init.args.kwarg is not None
        self.init, self.source = init, source
        self.args, self.kwargs = init.args.vararg.arg, init.args.kwarg.arg
        self.local: dict[str, ast.expr] = {}
        self.fields: dict[str, ast.expr] = {}

    def said(self) -> dict[str, ast.expr] | None:
        """Field → its value in names of the module; None where it does more than that."""
        *statements, last = self.init.body
        for statement in statements:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if not self._follow(statement):
                return None
        if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call) or not self._hands_on(last.value):
            return None
        for keyword in last.value.keywords:
            if keyword.arg is not None and not self._say(keyword.arg, keyword.value):
                return None
        return self.fields

    def _follow(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id not in (*self.local, self.args, self.kwargs, "self"):
                value = self._in_names_of_module(statement.value)
                if value is not None:
                    self.local[target.id] = value
                return value is not None
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == self.kwargs:
                return isinstance(target.slice, ast.Constant) and self._say(target.slice.value, statement.value)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != f"{self.kwargs}.update" or len(call.args) > 1:
            return False
        pairs: list[tuple[object, ast.expr]] = [(k.arg, k.value) for k in call.keywords]
        for given in call.args:
            if not isinstance(given, ast.Dict):
                return False
            pairs += [(k.value if isinstance(k, ast.Constant) else None, v) for k, v in zip(given.keys, given.values)]
        return all(self._say(name, value) for name, value in pairs)

    def _say(self, name: object, value: ast.expr) -> bool:
        said = self._in_names_of_module(value)
        if not isinstance(name, str) or said is None:
            return False
        self.fields[name] = said
        return True

    def _in_names_of_module(self, node: ast.expr) -> ast.expr | None:
        """An expression with the values of the local names that it reads; None where it reads what `__init__` is given."""
        copied = ast.parse(f"({self.source.text_of(node)})", mode="eval").body
        if any(
            isinstance(n, ast.NamedExpr | ast.Lambda | ast.comprehension | ast.Await | ast.Yield) for n in subtree(copied)
        ):
            return None
        if any(isinstance(n, ast.Name) and n.id in (self.args, self.kwargs, "self", "super") for n in subtree(copied)):
            return None
        done: ast.expr = _Put(self.local).visit(copied)
        return done

    def _hands_on(self, call: ast.Call) -> bool:
        """`super().__init__(*args, **kwargs)`"""
        if ast.unparse(call.func) != "super().__init__" or len(call.args) != 1:
            return False
        starred = [k.value for k in call.keywords if k.arg is None]
        return ast.unparse(call.args[0]) == f"*{self.args}" and [ast.unparse(v) for v in starred] == [self.kwargs]


class _Put(ast.NodeTransformer):
    def __init__(self, local: dict[str, ast.expr]) -> None:
        self.local = local

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.local.get(node.id, node)


def _is_known_before(source: SourceFile, model: ast.ClassDef, value: ast.expr) -> bool:
    """Does an expression read only what stands above the class?"""
    for name in {n.id for n in subtree(value) if isinstance(n, ast.Name)}:
        held = source.names.definitions.get(name) or source.names.single_assignments.get(name)
        if held is not None and held.lineno < model.lineno:
            continue
        if held is not None or (name not in source.names.imports and not hasattr(builtins, name)):
            return False
    return True


def _uses(project: Project, qualname: str) -> Iterator[tuple[SourceFile, ast.expr]]:
    """Where a class is named, but for imports."""
    for source in project.files.values():
        aliases = [local for local, dotted in source.names.imports.items() if dotted == qualname]
        for node in source.saying(qualname.rpartition(".")[2], *aliases):
            if project.qualname(source, node) == qualname:
                yield source, node


def _may_give(parameters: list[str], fields: Iterable[str], place: tuple[SourceFile, ast.expr]) -> bool:
    """May one of these fields be given another value where the class is named?"""
    source, node = place
    call = source.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return True  # a partial of it, or a field that holds it
    given = {k.arg for k in call.keywords} | set(parameters[: len(call.args)])
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    return starred or None in given or not given.isdisjoint(fields)


__all__ = ["with_fields_of_init"]
