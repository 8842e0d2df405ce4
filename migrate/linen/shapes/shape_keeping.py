"""Functions that are not known by name where they are called, and still keep the shape of what they are given."""

from __future__ import annotations

import ast
import re
from typing import Any

from ...source import SourceFile
from ..values.apart import run_apart
from ..values.arguments import function_env, parameters_of
from ..values.merging import Choice
from ..values.other_files import OF
from ..values.sites import Abs, Function, Static, Unmigratable
from ..values.values import Array, Const, Global, Value
from . import shapes

_OF_ACTIVATIONS = frozenset({"flax.linen", "flax.linen.activation", "jax.nn"})


def keeps_shape(run: Any, function: Value, argument: Array, env: Any) -> bool:
    """Does an activation or another function held in a field give an array of its argument's shape?

    So does a function of one array in a field that names an activation, one that is elementwise by the field's default,
    and an entry of a table of elementwise functions, whichever it is.
    """
    if isinstance(function, Choice):
        return all(keeps_shape(run, option, argument, env) for option in function.options)
    if isinstance(function, Global):
        return shapes.call(function.name, [argument], {}) == argument
    if not isinstance(function, Static):
        return False
    if names_activation(function.text):
        return True
    field = run.fields.get(function.text.removeprefix("self."))
    if field is not None and field.default is not None:
        default = run.constant(field.default, field.source).value
        return isinstance(default, Global) and shapes.call(default.name, [argument], {}) == argument
    return _table_keeps(run, function, argument, env) or _looked_up_keeps(run, function, argument)


def names_activation(text: str) -> bool:
    """Is this the name of an activation, or of a helper that looks one up? `interact` and `factorize` are none."""
    words = re.split(r"[^a-z]+", text.rpartition(".")[2].lower())
    return any(word == "act" or word.startswith(("activ", "actf", "nonlin")) for word in words)


def _table_keeps(run: Any, function: Static, argument: Array, env: Any) -> bool:
    """`FUNCTIONS[self.kind]` or `FUNCTIONS.get(self.kind)`, of a dict of elementwise functions that the project shows."""
    node = ast.parse(function.text, mode="eval").body
    asked = node.func if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
    if isinstance(asked, ast.Attribute) and asked.attr == "get":
        held = asked.value
    elif isinstance(node, ast.Subscript):
        held = node.value
    else:
        return False
    name = _qualname(run, held, env.source) if isinstance(held, ast.Name | ast.Attribute) else None
    found = run.project.definition(name) if name else None
    if found is None:
        return False
    source, statement = found
    entries = _entries(getattr(statement, "value", None), source)
    return bool(entries) and all(_entry_keeps(run, entry, source, argument) for entry in entries)


def _looked_up_keeps(run: Any, function: Static, argument: Array) -> bool:
    """`getattr(nn, name.lower())`: a function of Flax or `jax.nn` that is looked up by a text is an activation."""
    node = ast.parse(function.text, mode="eval").body
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "getattr" or len(node.args) != 2 or node.keywords:
        return False
    held, name = node.args
    other = ast.unparse(held).removeprefix(f"{OF}.")  # the name of another file, which says where it is defined
    own = _qualname(run, held, run.model.source) if isinstance(held, ast.Name | ast.Attribute) else None
    library = other if other in _OF_ACTIVATIONS else own
    if library not in _OF_ACTIVATIONS:
        return False
    said = _constant(run, name)
    return said is None or bool(shapes.call(f"{library.removesuffix('.activation')}.{said}", [argument], {}) == argument)


def _constant(run: Any, name: ast.expr) -> str | None:
    """The text that a name is, or a field by default: `self.kind.lower()`."""
    if isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "lower":
        said = _constant(run, name.func.value)
        return said.lower() if said is not None else None
    if isinstance(name, ast.Constant):
        return str(name.value)
    field = run.fields.get(ast.unparse(name).removeprefix("self."))
    default = run.constant(field.default, field.source).value if field is not None and field.default is not None else None
    return default.value if isinstance(default, Const) and isinstance(default.value, str) else None


def _entries(table: ast.expr | None, source: SourceFile) -> list[ast.expr]:
    """What a table holds that is written out, `{"relu": nn.relu}` or `dict(relu=nn.relu)`; nothing where not all is seen."""
    if isinstance(table, ast.Dict):
        return table.values if None not in table.keys else []
    if not isinstance(table, ast.Call) or not isinstance(table.func, ast.Name) or table.func.id != "dict" or table.args:
        return []
    hidden = "dict" in source.names.imports or "dict" in source.names.definitions
    return [k.value for k in table.keywords] if not hidden and all(k.arg for k in table.keywords) else []


def _qualname(run: Any, node: ast.expr, source: SourceFile) -> str | None:
    """What a name in a text means in the file that it came from; it has no place there, so it is looked up bare."""
    head, _, rest = ast.unparse(node).partition(".")
    target = source.names.imports.get(head) or (f"{source.module}.{head}" if head in source.names.definitions else None)
    if target is None:
        return None
    found: str = run.project.canonical(f"{target}.{rest}" if rest else target)
    return found


def _entry_keeps(run: Any, entry: ast.expr, source: SourceFile, argument: Array) -> bool:
    """Is an entry of a table elementwise: a function, a partial of one, a lambda of one array?"""
    if isinstance(entry, ast.Call) and run.project.qualname(source, entry.func) == "functools.partial" and entry.args:
        name = run.project.qualname(source, entry.args[0]) or ""
        options = {k.arg: run.constant(k.value, source).value for k in entry.keywords if k.arg}
        return len(entry.args) == 1 and shapes.call(name, [argument], options) == argument
    value = run.constant(entry, source).value
    if isinstance(value, Global):
        return bool(shapes.call(value.name, [argument], {}) == argument)
    if isinstance(value, Function) and value.method is None:
        names = parameters_of(value.node)
        if len(names) == 1:
            given, before = function_env(run, value, {names[0]: Abs(argument)}), len(run.sites)
            kept = run_apart(run, value.node, given).value == argument
            if len(run.sites) > before:
                what = f"a table holds `{ast.unparse(entry)}`, which makes modules, and which of its functions is called"
                raise Unmigratable("NNX138", f"{what} is not known", entry)
            return kept
    return False
