"""Attributes of `setup` whose modules and variables have names of their own: `self.shared = nn.Embed(..., name='table')`.

Linen stores them under the name, so the attribute takes it wherever the class says `self.shared`. Parameters of setup
are the concern of `setup_params`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Parts, Span
from ...linen.execution.execute import Execution
from ...linen.lists.chains import Chain
from ...linen.lists.conditional_items import Sometimes, is_place
from ...linen.project.classes import ClassModel
from ...linen.values.dims import Dim
from ...linen.values.merging import Either, members
from ...linen.values.sites import Module, Repeated, Site, Table, Unmigratable, Variable
from ...linen.values.values import Int, Tup, Value
from ...names import is_attribute_name
from ...source import SourceFile
from ..text.naming import stem_of
from .setup_params import asked_for, read_of_modules

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def renamed(run: Execution) -> dict[str, str]:
    """Attribute → Linen's name, where they differ; raises where one attribute cannot have the name."""
    found: dict[str, str] = {}
    for attribute, held in run.attributes.items():
        _check_items(attribute, held.value)
        if isinstance(held.value, Chain):
            _check_chain(run, attribute, held.value)
        if isinstance(held.value, Repeated) and not isinstance(held.value.element, Module | Either):
            named = [s for s in run.modules_in(held.value) if s.in_setup and s.name is not None]
            if named:
                raise Unmigratable("NNX155", f"an item of `self.{attribute}` has another name in Linen", named[0].node)
        names: dict[str, Site] = {}
        for site, many in _made(held.value):
            if site.in_setup and not site.held:
                names.setdefault(attribute if site.name is None else _name(site, many, attribute), site)
        for name, site in names.items():
            if name != attribute:
                found[attribute] = name
            if len(names) > 1:
                raise Unmigratable("NNX155", f"`self.{attribute}` holds what Linen stores under several names", site.node)
    taken = {*run.fields, *run.model.methods(), *(set(run.attributes) - set(found))}
    for attribute, name in found.items():
        if name in taken or list(found.values()).count(name) > 1:
            raise Unmigratable("NNX155", f"`self.{attribute}` is called {name!r} in Linen, which is taken", run.model.node)
    return found


def asked_as(run: Execution, path: str) -> str:
    """`mix.out_features` of a module of setup, or of one within it, by the names that the attributes have in Linen."""
    *attributes, last = path.split(".")
    said: list[str] = []
    for attribute in attributes:
        said.append(renamed(run).get(attribute, attribute))
        site = next((s for s in run.sites if s.in_setup and s.container == attribute and s.kind == "class"), None)
        inner = run.analyser.done.get(site.target) if site is not None else None
        if inner is None or isinstance(inner, Unmigratable):
            break
        run = inner
    return ".".join([*said, *attributes[len(said) :], last])


def _check_items(attribute: str, value: Value) -> None:
    """Modules in a list or dict display are found by its attribute: names of their own must agree with that."""
    items: list[tuple[object, Value]] = []
    if isinstance(value, Tup):
        items = list(enumerate(value.items))
    elif isinstance(value, Table):
        items = list(value.items.items())
    for key, item in items:
        for site in (member.site for member in members(item)):
            if not site.in_setup or site.name is None:
                continue
            if site.name.constant not in (f"{attribute}_{key}", str(key)):
                raise Unmigratable("NNX155", f"an item of `self.{attribute}` has another name in Linen", site.node)


def _check_chain(run: Execution, attribute: str, chain: Chain) -> None:
    """The same for a list that setup fills bit by bit: a name must be the place, however many items are before it."""
    parts = chain.parts
    for place, part in enumerate(parts):
        item = part.item if isinstance(part, Sometimes) else part
        for site in run.modules_in(item):
            if site.name is None or not site.in_setup or site.held:
                continue
            behind = any(isinstance(p, Repeated) for p in parts[:place])
            number = None if behind else _number(run, attribute, site)
            if isinstance(number, Int) and isinstance(part, Repeated):  # one more in every pass of the loop
                one = len({made.node for made in run.modules_in(part.element)}) == 1  # one kind or another in each pass
                plain = isinstance(part.element, Module | Either) and one and len(site.loops) == 1
                kinds = {node for node, _ in site.choice}
                plain = plain and all(node in kinds for node, _ in site.conditions)
                counter = site.loops[0].index if plain else ""
                number = Int(number.dim - Dim.local(counter)) if counter and counter != "_" else None
            if number is None or not is_place(run, number, parts, place):
                raise Unmigratable("NNX155", f"an item of `self.{attribute}` has another name in Linen", site.node)


def _number(run: Execution, attribute: str, site: Site) -> Value | None:
    """`2` of `name="layer_2"`, `n` of `name=str(n)` and of `name=f"layer_{n}"`."""
    assert site.name is not None
    if site.name.constant is not None:
        digits = site.name.constant.removeprefix(f"{attribute}_")
        return Int(Dim.of(int(digits))) if digits.isdecimal() else None
    node: ast.expr | None = site.name.node
    if isinstance(node, ast.JoinedStr):
        head = node.values[:-1]
        if head and not (len(head) == 1 and isinstance(head[0], ast.Constant) and head[0].value == f"{attribute}_"):
            return None
        node = node.values[-1].value if isinstance(node.values[-1], ast.FormattedValue) else None
    elif isinstance(node, ast.Call) and _number_alone(node) and len(node.args) == 1:
        node = node.args[0]
    else:
        return None
    return run.evaluated[node].value if node in run.evaluated else None


def _made(value: Value) -> Iterator[tuple[Site, bool]]:
    if isinstance(value, Variable):
        yield value.site, False
    for member in members(value):
        yield member.site, False
    if isinstance(value, Repeated):
        for member in members(value.element):
            yield member.site, True


def _name(site: Site, many: bool, attribute: str) -> str:
    assert site.name is not None
    constant = site.name.constant
    if not many and constant is not None:
        if is_attribute_name(constant) or (constant and site.kind in ("layer", "class", "variable")):
            return constant
    elif many and site.name.node is not None:
        stem = stem_of(site.name.node, site) or _stem_by_key(site, site.name.node)
        if stem is not None and is_attribute_name(stem):
            return stem
        if _number_alone(site.name.node):
            return attribute  # the numbers are enough to find them
    raise Unmigratable("NNX155", f"`self.{attribute}` has a name in Linen that an attribute cannot have", site.node)


def _stem_by_key(site: Site, name: ast.expr) -> str | None:
    """`head` of `{k: nn.Dense(n, name=f"head_{k}") for k, n in ...}`: the dict has each under its key."""
    around = site.source.parents.get(site.node)
    if not isinstance(around, ast.DictComp) or around.value is not site.node:
        return None
    if not isinstance(name, ast.JoinedStr) or len(name.values) != 2:
        return None
    head, tail = name.values
    if not isinstance(head, ast.Constant) or not isinstance(tail, ast.FormattedValue):
        return None
    key = tail.value if tail.conversion == -1 and tail.format_spec is None else None
    if not isinstance(key, ast.Name) or not isinstance(around.key, ast.Name) or around.key.id != key.id:
        return None
    return str(head.value)[:-1] if str(head.value).endswith("_") else None


def _number_alone(node: ast.expr) -> bool:
    """`str(i)` and `f"{i}"`."""
    if isinstance(node, ast.JoinedStr):
        return len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"


def edits(run: Execution, names: dict[str, str]) -> Iterator[tuple[Span, Parts]]:
    """The places in the class's own methods that say such an attribute."""
    if not names:
        return
    family = [m for m in run.analyser.classes.lineage(run.model.qualname) if m is not run.model]
    for attribute, name in names.items():
        saying = [m for m in family if any(isinstance(n, ast.Attribute) and n.attr == attribute for n in m.nodes)]
        if any(not _called_alike(run, m, attribute, name) for m in saying) or asked_for(run, attribute):
            reason = f"`self.{attribute}` is called {name!r} in Linen, and is read by other code"
            raise Unmigratable("NNX155", reason, run.model.node)
    source = run.model.source
    for method in run.model.own_methods.values():
        for node in method.nodes:
            if _is_own(node) and node.attr in names:  # type: ignore[attr-defined]
                assert isinstance(node, ast.Attribute)
                yield renaming(source, node, names[node.attr])


def write_properties(writer: ClassWriter) -> None:
    """What other classes read of the module under its own name: `self.decoder.blocks`, which Linen calls `layer`."""
    setup = writer.model.own_methods.get("setup")
    if setup is None:
        return  # a base has them
    source, body = setup.source, setup.node.body
    indent, newline = source.indent_of(setup.node), source.newline
    inner = indent + source.indent_unit
    for attribute, name in sorted(writer.text.renamed.items()):
        if read_of_modules(writer.run, attribute):
            held = f"self.{name}" if is_attribute_name(name) else f"getattr(self, {name!r})"
            text = f"{newline}{indent}@property{newline}{indent}def {attribute}(self):{newline}{inner}return {held}{newline}"
            writer.insert(source.line_span(body[-1]).end, text, source=source, order=9)


def _called_alike(run: Execution, member: ClassModel, attribute: str, name: str) -> bool:
    """Does a class of the same family, in whose text the attribute stands, give it the same name?"""
    try:
        return renamed(run.analyser.execution(member.qualname)).get(attribute) == name
    except Unmigratable:
        return False


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def renaming(source: SourceFile, node: ast.Attribute, name: str) -> tuple[Span, Parts]:
    """What stands in the place of `self.attribute`, or of the statement that sets it."""
    end = source.span(node).end
    if is_attribute_name(name):
        return Span(end - len(node.attr), end), (name,)
    if isinstance(node.ctx, ast.Load):
        return source.span(node), ("getattr(", source.span(node.value), f", {name!r})")
    statement = source.parents.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise Unmigratable("NNX155", f"`self.{node.attr}` is called {name!r} in Linen, which no attribute can be", node)
    return source.span(statement), (f"setattr(self, {name!r}, ", source.span(statement.value), ")")
