"""Attributes of `setup` whose modules and variables have names of their own: `self.shared = nn.Embed(..., name='table')`.

Linen stores them under the name, so the attribute takes it wherever the class says `self.shared`. An item of a list or
dict, which no attribute of its own holds, says its name itself: `linen_parity.named(f"blocks.{i}", Block(...))`. Parameters
of setup are the concern of `setup_params`.
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
from ..text.text_parts import InitLines
from .setup_params import asked_for, read_of_modules

if TYPE_CHECKING:
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

_OWN = "own name"  # of an item that says it


def renamed(run: Execution) -> dict[str, str]:
    """Attribute → Linen's name, where they differ; raises where one attribute cannot have the name."""
    found: dict[str, str] = {}
    for attribute, held in run.attributes.items():
        themselves = _naming_themselves(run, attribute, held.value)
        names: dict[str, Site] = {}
        for site, many in _made(held.value):
            if site.in_setup and not site.held:
                own = site.name is not None and not (many and site in themselves)
                names.setdefault(_name(site, many, attribute) if own else attribute, site)
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


def _naming_themselves(run: Execution, attribute: str, value: Value) -> frozenset[Site]:
    """The modules in a list or dict whose names are not those that Linen gives by its attribute: they say them.

    Raises Unmigratable for one whose name cannot be said where it is made.
    """
    found = [*_items(attribute, value)]
    if isinstance(value, Chain):
        found += _places(run, attribute, value)
    if isinstance(value, Repeated):
        if isinstance(value.element, Module | Either):
            made = [site for site, many in _made(value) if many and site.in_setup and not site.held]
            found += [s for s in made if s.name is not None and not _is_numbered(s)]
        else:
            found += [s for s in run.modules_in(value) if s.in_setup and s.name is not None]
    for site in found:
        plain = site.kind in ("layer", "class") and not (site.choice or site.alternatives or site.through)
        name = site.name
        digits = name is not None and name.node is not None and _number_alone(name.node)  # no name but that of a place
        said = name is not None and (name.localized is not None or (name.constant or "").strip("0123456789")) and not digits
        if not plain or not said or (site.factory is not None and site.factory.field):
            raise Unmigratable("NNX155", f"an item of `self.{attribute}` has another name in Linen", site.node)
        site.renders[_OWN] = True
    return frozenset(found)


def said_by_itself(text: ClassText, site: Site, lines: InitLines) -> InitLines:
    """The construction of a module in a list or dict, which says what Linen calls it where its place does not."""
    if not site.renders.get(_OWN):
        return lines
    assert site.name is not None
    name: Parts = text.said(site.name.localized) if site.name.localized is not None else (repr(site.name.constant),)
    return InitLines(lines.before, (text.namer.parity("named"), "(", *name, ", ", *lines.expression, ")"))


def _items(attribute: str, value: Value) -> Iterator[Site]:
    """Modules in a list or dict display are found by its attribute: names of their own must agree with that."""
    items: list[tuple[object, Value]] = []
    if isinstance(value, Tup):
        items = list(enumerate(value.items))
    elif isinstance(value, Table):
        items = list(value.items.items())
    for key, item in items:
        for site in (member.site for member in members(item)):
            name = site.name if site.in_setup else None
            if name is not None and name.constant not in (f"{attribute}_{key}", str(key)):
                yield site


def _places(run: Execution, attribute: str, chain: Chain) -> Iterator[Site]:
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
                yield site


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
    elif isinstance(node, ast.Call) and _number_alone(node):
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
        return _stem(site) or attribute  # numbers alone are enough to find them
    raise Unmigratable("NNX155", f"`self.{attribute}` has a name in Linen that an attribute cannot have", site.node)


def _stem(site: Site) -> str:
    """`block` of `name=f"block_{i}"`, where the items of a list are counted by it."""
    assert site.name is not None and site.name.node is not None
    stem = stem_of(site.name.node, site) or _stem_by_key(site, site.name.node)
    return stem if stem is not None and is_attribute_name(stem) else ""


def _is_numbered(site: Site) -> bool:
    """Do the places of the items say their names?"""
    node = site.name.node if site.name is not None else None
    counter = site.loops[-1].index if site.loops else ""
    return node is not None and (bool(_stem(site)) or _number_alone(node, counter))


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


def _number_alone(node: ast.expr, counter: str | None = None) -> bool:
    """`str(i)` and `f"{i}"`; of the counter of a loop alone, where that is given."""
    said: ast.expr | None = None
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue):
        said = node.values[0].value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
        said = node.args[0]
    return said is not None and (counter is None or (isinstance(said, ast.Name) and said.id == counter))


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
