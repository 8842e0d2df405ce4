"""Dicts of modules that setup makes: NNX sorts their keys, which are strings.

A model that was split and merged, as `nnx.jit` does, has the items of an `nnx.Dict` in the order of the alphabet; Linen has
them in the order in which they were made. Where that may differ, the constructor keeps the keys in their order beside the
dict. Numbers as keys become strings, by which Linen names such modules, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.execution.string_keys import items_said
from ...linen.project.classes import Method
from ...linen.values.sites import Repeated, Site, Table, Unmigratable
from ...linen.values.values import Int, Value

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_VIEWS = ("items", "values", "keys")
_WALKING = (ast.Call, ast.For, ast.comprehension)
_IN_ORDER = ("list", "tuple", "enumerate", "zip", "iter", "reversed", "map", "filter")
_ANY_ORDER = ("len", "sorted", "set", "isinstance", "frozenset", "bool")


def write(writer: ClassWriter) -> None:
    """The kept orders and what asks for them, and the keys that are numbers."""
    setup = writer.model.own_methods.get("setup")
    for name, found in sorted(writer.run.attributes.items()):
        if not _is_dict(writer, found.value):
            continue
        uses = [(method, n) for method in writer.model.own_methods.values() for n in _uses(method, name)]
        made = [n for n in setup.nodes if isinstance(n, ast.Assign) and _sets(n, name)] if setup is not None else []
        if setup is not None and _has_numbers(writer, made, found.value):
            _numbers_as_strings(writer, setup, name, made, uses)
        ordered = [pair for pair in uses if _asks_for_order(*pair)] if not _is_sorted(found.value) else []
        if not ordered:
            continue
        keys, held = f"{name}_keys", writer.text.renamed.get(name, name)
        if not made or setup is None or keys in {*writer.run.fields, *writer.run.attributes, *writer.model.methods()}:
            raise _order(f"self.{name}", ordered[0][1])
        for statement in made:
            source = setup.source
            line = f"{source.indent_of(statement)}self.{keys} = tuple(self.{held}){source.newline}"
            writer.insert(source.line_span(statement).end, line)
        for method, node in ordered:
            _rewrite(writer, method, node, held, keys)
    for method in writer.model.own_methods.values():
        if method.name != "setup":
            _check_aliases(writer, method)


def _order(name: str, node: ast.AST) -> Unmigratable:
    return Unmigratable("NNX121", f"the items of `{name}` are asked for in their order, which NNX does not keep", node)


def _is_dict(writer: ClassWriter, value: Value) -> bool:
    """Is it a dict of modules that setup made?"""
    sites: Iterator[Site] = writer.run.modules_in(value)
    dict_of = isinstance(value, Table) or (isinstance(value, Repeated) and value.kind == "dict")
    return dict_of and any(site.in_setup for site in sites)


def _is_sorted(value: Value) -> bool:
    """Are the keys known, in the order of the alphabet?"""
    return isinstance(value, Table) and [*value.items] == sorted(value.items, key=str)


def _check_aliases(writer: ClassWriter, method: Method) -> None:
    """A dict under another name, or inside of another container, keeps no order of its own."""
    for node in method.nodes:
        if not isinstance(node, _WALKING):
            continue
        base: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            base = node.func.value
        elif isinstance(node, ast.For | ast.comprehension):
            base = node.iter
        found = writer.run.evaluated.get(base) if base is not None else None
        own = isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) and base.value.id == "self"
        if base is None or found is None or own or not _is_dict(writer, found.value) or _is_sorted(found.value):
            continue
        raise _order(ast.unparse(base), node if isinstance(node, ast.Call) else base)


# numbers as keys -----------------------------------------------------------------------------------------------
def _has_numbers(writer: ClassWriter, made: list[ast.Assign], value: Value) -> bool:
    """Are keys of the dict no strings?"""
    if isinstance(value, Table):
        return not all(isinstance(key, str) for key in value.items)
    return any(isinstance(n.value, ast.DictComp) and _is_number(writer, n.value) for n in made)


def _is_number(writer: ClassWriter, node: ast.DictComp) -> bool:
    """Is the key of a comprehension a number: one that it counts, or an item of a field of such?"""
    known = writer.run.evaluated.get(node.key)
    if known is not None and isinstance(known.value, Int):
        return True
    over = node.generators[0].iter
    target = node.generators[0].target
    if not (isinstance(node.key, ast.Name) and isinstance(target, ast.Name) and target.id == node.key.id):
        return False
    field = (
        writer.run.fields.get(over.attr) if isinstance(over, ast.Attribute) and ast.unparse(over.value) == "self" else None
    )
    if field is None:
        return False
    said = "" if field.annotation is None else items_said(field.annotation) or ast.unparse(field.annotation)
    annotated = re.search(r"\bint\b", said) is not None
    items = field.default.elts if isinstance(field.default, ast.Tuple | ast.List) else []
    return annotated or any(isinstance(i, ast.Constant) and not isinstance(i.value, str) for i in items)


def _numbers_as_strings(
    writer: ClassWriter, setup: Method, name: str, made: list[ast.Assign], uses: list[tuple[Method, ast.Attribute]]
) -> None:
    """`{d: Dense(d) for d in degrees}` and `self.heads[d]` with `str(d)` as the key."""
    refused = Unmigratable("NNX121", f"keys of `{name}` are no strings", made[0] if made else None)
    if len(made) != 1:
        raise refused
    held = made[0].value
    keys = [held.key] if isinstance(held, ast.DictComp) else held.keys if isinstance(held, ast.Dict) else []
    if not keys:
        raise refused
    for key in keys:
        if key is None or (isinstance(key, ast.Constant) and isinstance(key.value, bool | float)):
            raise refused
        _as_string(writer, setup, key)
    for method, node in uses:
        parent = method.source.parents[node]
        if isinstance(parent, ast.Subscript) and parent.value is node:
            _as_string(writer, method, parent.slice)
            continue
        view = method.source.parents[parent] if isinstance(parent, ast.Attribute) and parent.attr == "values" else None
        if not isinstance(view, ast.Call) and not _is_called(method, node, ("len",)):
            raise refused


def _as_string(writer: ClassWriter, method: Method, key: ast.expr) -> None:
    """A key as the string that Linen names the module by."""
    if isinstance(key, ast.Constant):
        writer.put(key, repr(str(key.value)), source=method.source)
    elif not isinstance(key, ast.JoinedStr):
        writer.put(key, "str(", method.source.span(key), ")", source=method.source)


def _uses(method: Method, name: str) -> Iterator[ast.Attribute]:
    for node in method.nodes:
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                yield node


def _sets(node: ast.Assign, name: str) -> bool:
    return any(isinstance(t, ast.Attribute) and t.attr == name and ast.unparse(t.value) == "self" for t in node.targets)


def _asks_for_order(method: Method, node: ast.Attribute) -> bool:
    """Does a use of the dict depend on the order of its items?"""
    parent = method.source.parents[node]
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return False
    if isinstance(parent, ast.Compare) or (isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)):
        return False  # another name for it, whose uses are looked at by themselves
    if isinstance(parent, ast.Attribute):
        call = method.source.parents[parent]
        if parent.attr not in _VIEWS or not isinstance(call, ast.Call) or call.func is not parent:
            return parent.attr not in ("get",)
        return not _is_called(method, call, _ANY_ORDER) or parent.attr != "keys"
    return not _is_called(method, node, _ANY_ORDER)


def _is_called(method: Method, node: ast.expr, names: tuple[str, ...]) -> bool:
    """Is it given to one of the functions of these names?"""
    parent = method.source.parents[node]
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in names
        and node in parent.args
    )


def _rewrite(writer: ClassWriter, method: Method, node: ast.Attribute, name: str, keys: str) -> None:
    source = method.source
    parent = source.parents[node]
    if isinstance(parent, ast.Attribute) and parent.attr in _VIEWS:
        call = source.parents[parent]
        assert isinstance(call, ast.Call)
        key = "key"
        while key in {n.id for n in method.nodes if isinstance(n, ast.Name)}:
            key += "_"
        item = {"items": f"({key}, self.{name}[{key}])", "values": f"self.{name}[{key}]"}.get(parent.attr)
        text = f"[{item} for {key} in self.{keys}]" if item is not None else f"self.{keys}"
        writer.put(call, text, source=source)
        return
    loop = isinstance(parent, ast.For | ast.comprehension) and parent.iter is node
    if not loop and not _is_called(method, node, _IN_ORDER):
        raise _order(f"self.{name}", node)
    writer.put(node, f"self.{keys}", source=source)


__all__ = ["write"]
