"""Classes that cannot become native, whatever their constructor would look like: what they use has no NNX form."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...catalog import layers
from ...catalog.functions import function as function_name
from ...linen.execution import class_methods
from ...linen.execution.type_tests import asked_classes
from ...linen.modules import applied_models
from ...linen.modules.made_by_text import makes_modules, method_of
from ...linen.modules.self_calls import SELF_CALLS
from ...linen.outside import model_makers
from ...linen.project.classes import PLAIN_DECORATORS, Field, Method
from ...linen.project.layer_fields import WHOLE
from ...linen.project.plain_dataclasses import gives_fields
from ...linen.values.called_functions import function_of
from ...linen.values.mutation import changed_anywhere
from ...linen.values.sites import Factory, Site, Unmigratable
from ...source import SourceFile
from ...trees import of_kind, said, subtree
from ..calls import cells
from ..classes import names_in_messages, own_names, templates
from ..classes.inheritance import plain_bases, refuse_overriding_mixins
from ..setup import made_once
from ..text.text_parts import short
from . import (
    abstract_methods,
    called_by_name,
    class_bodies,
    code_as_text,
    default_modules,
    late_closures,
    lost_functions,
    made_boxes,
    protocols,
    tables_of_makers,
)
from .class_decorators import lifts

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


# What every Linen module has, and is looked at elsewhere.
_OF_LINEN = ("scope", "path", "parent", "variables", "name", "_state", "_parent_ref", "_id")  # attributes of nn.Module
_MODULE = {*SELF_CALLS, *_OF_LINEN}

_CONTAINER = re.compile(r"\b(Sequence|List|list|Tuple|tuple|Dict|dict|Mapping|Iterable)\[.*\bModule\b", re.S)
_CONTAINERS = frozenset({"Sequence", "List", "list", "Tuple", "tuple", "Dict", "dict", "Mapping", "Iterable"})
_NO_MODULES = frozenset({"Type", "type", "Callable", "Literal"})  # what a class makes is made by the class that holds it


def _refuse_early_returns(text: ClassText) -> None:
    """What compact methods make stands behind the text of setup in the constructor."""
    setup = text.model.own_methods.get("setup")
    behind = any(lines for entry, lines in zip(text.run.blocks, text.lines, strict=True) if entry != "setup")
    if setup is None or not behind:
        return
    scope_of = text.model.source.names.scope_of
    for node in [n for n in of_kind(setup.node, ast.Return) if scope_of(n) is setup.node]:  # not of functions in it
        raise Unmigratable("NNX180", "setup returns early, and another method makes modules or variables, too", node)


def nothing_left(text: ClassText) -> None:
    """Whatever makes a layer or variable in the class's own methods must have been followed, or it would stay Linen."""
    run = text.run
    carries = [*run.initial_carries, *[asked.cell.node for asked in run.initial_carries.values() if asked.cell is not None]]
    known = [*[s.node for s in run.sites], *run.first_draws, *run.constants, *run.sows, *run.variable_reads, *carries]
    known += [node for statement in run.uncalled for node in subtree(statement)]
    known += [n.body for n, found in run.evaluated.items() if isinstance(n, ast.Lambda) and isinstance(found.value, Factory)]
    followed = {id(node) for node in known}
    _refuse_early_returns(text)
    for site in run.sites:
        made_once.refuse(site)
        named = _named_within(site) if not site.in_setup else None
        if named is not None:
            raise Unmigratable("NNX134", f"`{short(named)}` names a value among a layer's arguments, which move", named)
    _refuse_named_and_changed(text)
    lost_functions.refuse(text)
    called_by_name.refuse(text)
    abstract_methods.refuse(text)
    code_as_text.refuse(text)
    applying = applied_models.methods(text.model)
    project = run.project
    _refuse_applied(text, applying)
    for method in text.model.own_methods.values():
        of_models = method.node in model_makers.find(project)
        for node in of_kind(method.node, ast.Call):
            if id(node) in followed:
                continue
            func = node.func
            name = text.run.project.qualname(text.source, func) or ""
            plain = function_name(name) is not None  # `nn.BatchApply(self.__call__)`, of which each call makes another
            makes = (layers.lookup(name) is not None and not plain) or (name in project.linen_classes and not of_models)
            of_class = tables_of_makers.of_class(project, text.source, func)
            if of_class is not None:  # `Config.norm(8)`
                name = project.qualname(*of_class) or ""
                makes = layers.lookup(name) is not None or name in project.linen_classes
            if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
                makes = func.attr in SELF_CALLS and text.model.method(func.attr) is None
                makes = makes and not (method.name in applying and func.attr in applied_models.APPLIES)
            elif isinstance(func, ast.Attribute) and func.attr in ("param", "variable") and node.args:
                makes = isinstance(node.args[0], ast.Constant)  # of a module under another name, as `mdl.param("w", …)`
            if makes:
                raise Unmigratable("NNX134", f"`{short(node)}` stands where the code is not followed", node)
        for read in method.nodes:
            if isinstance(read, ast.Name | ast.Attribute) and isinstance(read.ctx, ast.Load):
                name = text.run.project.qualname(text.source, read)
                if not name or not _is_of_project(text, name):
                    continue
                held = [*tables_of_makers.functions(project, text.source, read)]
                held += tables_of_makers.functions_of_class(project, text.source, read)
                for home, maker in held:
                    if maker in run.executed or not tables_of_makers.is_called(text.source, read):
                        continue
                    if makes_modules(project, home, maker, set()):
                        what = f"`{short(read)}` holds functions that make modules, and which of them is called is not known"
                        raise Unmigratable("NNX138", what, read)
                found = function_of(project, text.source, read)
                own = _class_method(text, read) if found is None else None
                of_plain = method_of(project, name) if found is None and own is None else None
                found = found or own or (of_plain[:2] if of_plain is not None else None)
                if found is None or found[1] in run.executed or (of_models and own is None and of_plain is None):
                    continue
                owner = of_plain[2] if of_plain is not None else ""
                if called_by_name.is_handed(text, read, name):
                    continue
                counted = _is_called_within(text, method)
                if makes_modules(project, *found, set(), of_class=own is not None, owner=owner, counted=counted):
                    raise Unmigratable("NNX135", f"`{short(read)}` makes submodules where it is not followed", read)


def _refuse_named_and_changed(text: ClassText) -> None:
    """`for w in (sizes := list(given)): ... sizes.append(3)`: what the constructor says of it would be as at first."""
    for method in text.model.own_methods.values():
        for named in of_kind(method.node, ast.NamedExpr):
            if named.target.id in changed_anywhere(method.node):
                what = f"`{short(named)}` names within an expression what changes in place"
                raise Unmigratable("NNX134", what, named)


def _is_called_within(text: ClassText, method: Method) -> bool:
    """May a call of a module come to a method? Not where no method of its family says it."""
    family = {*text.model.mro(), *text.analyser.classes.derived(text.model)}
    methods = [m for model in family for m in model.own_methods.values() if m.node is not method.node]
    said = any(isinstance(n, ast.Attribute) and n.attr == method.name for m in methods for n in m.nodes)
    return said or method.name in ("__call__", "setup")


def _is_of_project(text: ClassText, name: str) -> bool:
    """Does a dotted name mean something at the top of a module of the project, or in a class of it?"""
    owner = name.rpartition(".")[0]
    project = text.run.project
    return any(project.definition(n) is not None for n in (name, owner)) or text.analyser.classes.get(owner) is not None


def _refuse_applied(text: ClassText, applying: frozenset[str]) -> None:
    """Methods that apply the class itself stay as they are, for the `Functional` that the program has."""
    for name in sorted(applying):
        found = applied_models.use_within(text.analyser.classes, text.model, {name})
        if found is not None:
            what = f"`{name}` applies the model itself, and {found[0]}"
            raise Unmigratable("NNX149", what, found[1])


def _named_within(site: Site) -> ast.NamedExpr | None:
    """`nn.Dense((width := 4))`, of which other code reads the name."""
    if ast.NamedExpr not in site.source.by_kind:
        return None
    inside = list(subtree(site.node))
    for named in (n for n in inside if isinstance(n, ast.NamedExpr)):
        function = site.source.function_of(site.node)
        around = subtree(function) if function is not None else ()
        others = (n for n in around if isinstance(n, ast.Name) and n.id == named.target.id and isinstance(n.ctx, ast.Load))
        if any(n not in inside for n in others):
            return named
    return None


def _class_method(text: ClassText, node: ast.expr) -> tuple[SourceFile, ast.FunctionDef] | None:
    """The method of a module class of the project that `Encoder.from_config` means."""
    owner, _, name = (text.run.project.qualname(text.source, node) or "").rpartition(".")
    method = found.method(name) if (found := text.analyser.classes.get(owner)) is not None else None
    made = method is not None and {"classmethod", "staticmethod"} & set(method.decorators)
    return (method.source, method.node) if method is not None and made else None


def _refuse_metaclass(text: ClassText) -> None:
    """NNX's modules have a metaclass, derived from `abc.ABCMeta`: a class with another one, as protocols have, fails."""
    project = text.run.project
    todo = [(text.model.source, text.model.node)]
    seen: set[ast.AST] = set()
    gone = protocols.left_out(text)
    while todo:
        source, node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and project.qualname(source, keyword.value) != "abc.ABCMeta":
                what = f"`{node.name}` has the metaclass `{ast.unparse(keyword.value)}`, and NNX's modules have another"
                raise Unmigratable("NNX160", what, text.model.node)
        for base in node.bases:
            name = project.qualname(source, base.value if isinstance(base, ast.Subscript) else base)
            if base in gone or name in project.linen_classes:  # these leave out their own
                continue
            if name in protocols.PROTOCOLS:
                what = f"`{node.name}` is a protocol" if node is not text.model.node else "it is a protocol"
                raise Unmigratable("NNX160", f"{what}, whose metaclass NNX's modules cannot have", text.model.node)
            definition = project.definition(name) if name is not None else None
            if definition is not None and isinstance(definition[1], ast.ClassDef):
                todo.append((definition[0], definition[1]))


def _refuse_mixins(text: ClassText) -> None:
    """Methods of classes that are no modules keep their text: what they make would be Linen's, in an NNX module."""
    here = {*text.run.fields, *text.run.attributes, *text.model.methods()}
    for source, node in filter(None, plain_bases(text, text.model.mro())):
        if gives_fields(text.run.project, source, node):
            raise Unmigratable("NNX160", f"{node.name}, which is no module, gives it fields", text.model.node)
        for function in (n for n in node.body if isinstance(n, ast.FunctionDef)):
            asked = [n for n in subtree(function) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"]
            own = any(n.attr in _MODULE and n.attr not in here for n in asked)
            if own or makes_modules(text.run.project, source, function, set()):
                what = f"`{function.name}` of {node.name}, which is no module, makes submodules, or asks what Linen has"
                raise Unmigratable("NNX135", what, text.model.node)


def refuse(text: ClassText) -> None:
    made = text.run.project.made_by_configurations.get(text.model.qualname)
    if made is not None and text.run.project.configurations_obstacle:
        why = text.run.project.configurations_obstacle
        raise Unmigratable(
            "NNX182", f"{made.place} makes it, which knows neither its sizes nor rngs: {why}", text.model.node
        )
    class_methods.refuse(text.analyser, text.model.qualname, text.model.node)
    for problem in text.run.problems:
        raise problem
    fields = text.run.fields
    for name in ("rngs", "cls"):  # `cls` is a parameter of the metaclass, which hands all keywords on
        if name in fields:
            raise Unmigratable("NNX151", f"a field is called `{name}`, which NNX needs for itself", fields[name].node)
    for base in text.model.foreign_bases:
        if base.startswith("flax.linen.") and base not in ("flax.linen.Module", cells.BASE):
            if text.model.layer_fields:
                _refuse_layer(text, base)
                continue
            raise Unmigratable("NNX160", f"it inherits from {base}", text.model.node)
    class_bodies.refuse(text)
    default_modules.refuse(text)
    late_closures.refuse(text)
    made_boxes.refuse(text)
    _refuse_metaclass(text)
    _refuse_mixins(text)
    refuse_overriding_mixins(text)
    for method in text.model.own_methods.values():
        if "flax.linen.compact_name_scope" in method.decorators:
            raise Unmigratable("NNX162", "`nn.compact_name_scope` is used", method.node)
        for decorator, known in zip(method.node.decorator_list, method.decorators):
            if known not in PLAIN_DECORATORS and decorator not in text.run.decorators and _mentions_linen(text, decorator):
                raise Unmigratable("NNX130", f"the method {method.name} is lifted by a decorator", method.node)
    for decorator in text.model.node.decorator_list:
        if _mentions_linen(text, decorator) or lifts(text.run.project, text.source, decorator):
            raise Unmigratable("NNX130", "the class is lifted by a decorator", text.model.node)
    outside = text.analyser.given_outside.refused.get(text.model.qualname)
    chained = text.model.qualname in text.analyser.outside_chains
    handed = text.analyser.given_outside.handed.get(text.model.qualname, frozenset())
    if outside is not None and not chained and not handed:
        raise Unmigratable("NNX127", f"a module is passed to it outside of modules ({outside})", text.model.node)
    templates.check(text)
    given = text.analyser.given.get(text.model.qualname, {})
    for name, field in fields.items():
        if name not in given and name not in handed and not chained and _holds_modules(text, field):
            reason = f"the field {name} holds modules that nothing in the project gives it"
            raise Unmigratable("NNX138", reason, field.node)
    conflict = text.analyser.conflicts.get(text.model.qualname)
    if conflict:
        raise Unmigratable("NNX163", conflict)
    own_names.refuse_handed(text)
    messages = {node for method in text.model.own_methods.values() for node, _ in names_in_messages.found(text.run, method)}
    inner = {n for cls in class_bodies.inner(text.model.node) for n in of_kind(cls, ast.Attribute)}
    for node in of_kind(text.model.node, ast.Attribute):
        if (
            node not in inner  # whose `self` is another
            and node.attr in _OF_LINEN
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and node.attr not in fields
            and node.attr not in text.run.attributes
            and node not in text.run.followed
            and node not in messages
        ):
            raise Unmigratable("NNX164", f"`self.{node.attr}` is used", node)


def _refuse_layer(text: ClassText, base: str) -> None:
    """A class that replaces all that a layer computes is an nnx.Module of its own: nobody may ask for the layer's rest."""
    model, name = text.model, base.rpartition(".")[2]
    for word in WHOLE[base] - set(model.methods()):
        if any(_asks_for(source, word) for source in text.run.project.files.values()):
            raise Unmigratable("NNX160", f"it inherits `{word}` from {base}", model.node)
    if base == "flax.linen.Embed" and "setup" not in model.methods():
        reason = f"it inherits the `setup` of {base}: Linen makes a table that it does not read"
        raise Unmigratable("NNX160", reason, model.node)
    for source, asked in asked_classes(text.run.project).get(base, ()):
        raise Unmigratable("NNX160", f"it is a {name} to `{ast.unparse(asked)}` in {source.path.name}", asked)
    known = {*text.run.fields, *text.run.attributes, *model.methods(), *_MODULE}
    for owner in model.mro():
        known |= owner.class_attributes.keys()
    for method in model.methods().values():
        for node in method.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                if node.attr not in known and isinstance(node.ctx, ast.Load):
                    raise Unmigratable("NNX160", f"it takes `self.{node.attr}` from {base}", node)


def _asks_for(source: SourceFile, word: str) -> bool:
    """Does a file read an attribute, or say its name in a string (`method='attend'`)?"""
    if word not in source.words:
        return False
    strings = (n.value for n in source.by_kind.get(ast.Constant, ()) if isinstance(n, ast.Constant))
    read = any(isinstance(n, ast.Attribute) and n.attr == word for n in source.by_kind.get(ast.Attribute, ()))
    return read or word in strings


def _mentions_linen(text: ClassText, node: ast.expr) -> bool:
    names = (n for n in subtree(node) if isinstance(n, ast.Name | ast.Attribute))
    return any((text.run.project.qualname(text.source, n) or "").startswith("flax.linen") for n in names)


def _holds_modules(text: ClassText, field: Field) -> bool:
    """`Sequence[nn.Module]`, `dict[str, Encoder]` and the like, also under quotes."""
    if field.annotation is None:
        return False
    if _CONTAINER.search(said(field.annotation)) is not None:
        return True
    return any(
        any(_is_module(text, field, part) for part in _within(node.slice))
        for node in _within(field.annotation)
        if isinstance(node, ast.Subscript) and _last(node.value) in _CONTAINERS
    )


def _within(annotation: ast.expr) -> Iterator[ast.expr]:
    """The parts of an annotation, but for those of classes and functions (`type[Encoder]`)."""
    yield annotation
    if not (isinstance(annotation, ast.Subscript) and _last(annotation.value) in _NO_MODULES):
        for child in ast.iter_child_nodes(annotation):
            if isinstance(child, ast.expr):
                yield from _within(child)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_module(text: ClassText, field: Field, node: ast.expr) -> bool:
    project = text.run.project
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f"{field.source.module}.{node.value}" in project.linen_classes
    named = project.qualname(field.source, node) if isinstance(node, ast.Name | ast.Attribute) else None
    return named in project.linen_classes
