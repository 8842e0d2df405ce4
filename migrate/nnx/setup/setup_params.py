"""What `setup` makes under names: each parameter must be an attribute under its own name, and only the methods read it.

In Linen `setup` runs with every call, so what it computes from a parameter follows the parameter, and the parameter's name
is its key whatever holds it. A constructor runs once: a value computed there would stay what it was at the start, and a
Param held by a local variable, or by an attribute of another name, would be lost to training or have another key.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from typing import Any

from ...linen.modules.self_calls import SetupParam
from ...linen.project.asked_attributes import asked_by_classes, asked_of_arguments
from ...linen.project.classes import Method
from ...linen.values.sites import Module, Site, Unmigratable, Variable
from ...names import is_attribute_name
from ...source import SourceFile
from ...trees import subtree
from . import inner_variables
from .inner_variables import STATIC

_CODE = "NNX180"


def check(run: Any, model: Any, computed: Set[ast.AST] = frozenset()) -> dict[str, str]:
    """Attributes that hold a parameter or variable of another name, and that name: they are renamed.

    `computed`: what a method computes anew for every call, as `setup_values` has planned.

    Raises Unmigratable where a parameter of setup is no attribute, or setup computes with parameters or calls modules.
    """
    named: dict[str, str] = {}
    holders: dict[Site, str] = {}
    made = {id(site.node): site for site in run.sites if site.in_setup and site.kind in ("param", "variable")}
    for name, method in model.methods().items():
        if name == "setup" or any(id(node) in made for node in method.nodes):
            _check_method(run, method, made, named, holders, computed, whole=name == "setup")
    _refuse_draws(run, {site.node for site in run.sites if id(site.node) in made})
    renamed = {attribute: key for attribute, key in named.items() if key != attribute}
    for attribute, key in renamed.items():
        _may_rename(run, model, attribute, key)
    return renamed


def _refuse_draws(run: Any, made: Set[ast.AST]) -> None:
    """What setup draws is drawn for every call; what a variable starts from is drawn once in Linen, too."""
    for site in run.sites:
        if site.kind == "rng" and site.in_setup and not any(node in made for node in site.source.ancestors(site.node)):
            if is_for_first_values(run, site):
                continue
            text = f"setup draws random numbers: `{ast.unparse(site.node)}` would be drawn once, in the constructor"
            raise Unmigratable(_CODE, text, site.node)


def is_for_first_values(run: Any, site: Site) -> bool:
    """`start = normal(self.make_rng("codes"), shape)`, where variables start from that, and nothing else reads it."""
    source, setup = site.source, site.source.function_of(site.node)
    if setup is None or setup.name != "setup" or site.loops:
        return False
    made = {one.node for one in run.sites if one.in_setup and one.kind in ("param", "variable")}
    statements: list[ast.AST] = [source.statement_of(site.node)]
    for statement in statements:  # grows
        targets = [n for t in statement.targets for n in subtree(t)] if isinstance(statement, ast.Assign) else [statement]
        plain = all(isinstance(n, ast.Name | ast.Tuple | ast.expr_context) for n in targets)
        if not plain or source.parents.get(statement) is not setup:
            return False
        names = {n.id for n in targets if isinstance(n, ast.Name)}
        for read in subtree(setup):
            if isinstance(read, ast.Name) and read.id in names and isinstance(read.ctx, ast.Load):
                reader = source.statement_of(read)
                if reader not in statements and not any(around in made for around in source.ancestors(read)):
                    statements.append(reader)
    return True


def _check_method(
    run: Any,
    method: Method,
    made: dict[int, Site],
    renamed: dict[str, str],
    holders: dict[Site, str],
    computed: Set[ast.AST],
    *,
    whole: bool,
) -> None:
    parents = {id(child): node for node in method.nodes for child in ast.iter_child_nodes(node)}
    for node in method.nodes:
        if node in computed:
            continue
        if isinstance(node, ast.Call) and node in run.setup_helpers:
            text = f"setup computes with a parameter: `{ast.unparse(node)}` would be computed once"
            raise Unmigratable(_CODE, text, node)
        site = made.get(id(node))
        if site is not None:
            _held(method, node, site, parents, renamed, holders, computed)
        elif _starts_another(node, parents, made) or _is_start(run, method, node):
            continue
        elif whole and isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            _read(run, node, parents, renamed, holders)
        elif whole and isinstance(node, ast.Call):
            found = run.evaluated.get(node.func)
            if (found is not None and isinstance(found.value, Module)) or inner_variables.called(run, node):
                text = f"setup calls a module: `{ast.unparse(node)}` would be computed once, in the constructor"
                raise Unmigratable(_CODE, text, node)
            own = node.func.attr if isinstance(node.func, ast.Attribute) and _is_self(node.func.value) else ""
            helper = run.model.method(own) if own else None
            if helper is not None and inner_variables.reads(run, helper, set()):
                text = f"setup computes with a parameter or variable: `{ast.unparse(node)}` would be computed once"
                raise Unmigratable(_CODE, text, node)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _held(
    method: Method,
    node: ast.AST,
    site: Site,
    parents: dict[int, ast.AST],
    renamed: dict[str, str],
    holders: dict[Site, str],
    computed: Set[ast.AST],
) -> None:
    """The attribute that a call of `self.param` or `self.variable` is assigned to."""
    target = _target(node, parents)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        _hold(site, target.attr, target, renamed, holders)
        return
    if isinstance(target, ast.Name):
        loads = [n for n in method.nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
        for load in loads:  # it may be one thing or another
            if isinstance(load.ctx, ast.Load) and load not in computed and _may_be(load, target, parents, method):
                _local(load, site, parents, renamed, holders)
        if loads:
            return
    if site.kind == "variable" and isinstance(parents.get(id(node)), _CONTAINERS):
        raise Unmigratable("NNX155", f"the variable `{_key(site)}` is an item that has a name of its own in Linen", node)
    if site.kind == "param":
        text = f"setup makes the parameter `{_key(site)}` without an attribute of the module that holds it"
        raise Unmigratable(_CODE, text, node)


_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _local(
    load: ast.Name, site: Site, parents: dict[int, ast.AST], renamed: dict[str, str], holders: dict[Site, str]
) -> None:
    """A read of a local name that may hold what was made at `site`, whatever else it may hold."""
    held = _target(load, parents)
    if isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name) and held.value.id == "self":
        _hold(site, held.attr, held, renamed, holders)
        return
    parent = parents.get(id(load))
    static = isinstance(parent, ast.Attribute) and parent.attr in STATIC
    if site.kind == "param" and not static and not isinstance(held, ast.Name):
        shown = ast.unparse(parent) if isinstance(parent, ast.expr) else load.id
        raise Unmigratable(_CODE, f"setup computes with a parameter or variable: `{shown}` would be computed once", load)


def _may_be(load: ast.Name, target: ast.Name, parents: dict[int, ast.AST], method: Method) -> bool:
    """May a name still hold what `target` gave it: is it given nothing else on every way between the two?"""

    def place(node: ast.Name) -> tuple[int, int]:
        return node.lineno, node.col_offset

    around = set(map(id, _above(load, parents)))
    for other in method.nodes:
        stored = isinstance(other, ast.Name) and isinstance(other.ctx, ast.Store) and other.id == target.id
        if stored and other is not target and place(target) < place(other) < place(load):  # type: ignore[arg-type]
            statement = next((n for n in _above(other, parents) if isinstance(n, ast.stmt)), None)
            if statement is not None and id(parents.get(id(statement))) in around and not _beside(statement, load, parents):
                return False
    return place(target) < place(load) or any(isinstance(n, ast.For | ast.While) for n in _above(load, parents))


def _beside(statement: ast.stmt, load: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Does a statement stand in a part of one whose other part has `load`: one on each side of an `if`?"""
    block = parents.get(id(statement))
    if not isinstance(block, ast.If | ast.For | ast.While | ast.Try):
        return False
    return all(statement not in part or not _holds(part, load) for part in (block.body, block.orelse))


def _holds(part: list[ast.stmt], node: ast.AST) -> bool:
    return any(inner is node for statement in part for inner in subtree(statement))


def _above(node: ast.AST, parents: dict[int, ast.AST]) -> Iterator[ast.AST]:
    """What a node stands in, from the inside."""
    above = parents.get(id(node))
    while above is not None:
        yield above
        above = parents.get(id(above))


def _target(node: ast.AST, parents: dict[int, ast.AST]) -> ast.AST | None:
    """Where the value of an expression is assigned; conditional expressions and tuples are followed."""
    parent = parents.get(id(node))
    if isinstance(parent, ast.IfExp) and node is not parent.test:
        return _target(parent, parents)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        return parent.targets[0]
    if isinstance(parent, ast.AnnAssign) and parent.value is node:
        return parent.target
    if isinstance(parent, ast.Tuple | ast.List):
        outer = parents.get(id(parent))
        if isinstance(outer, ast.Assign) and outer.value is parent and isinstance(outer.targets[0], ast.Tuple | ast.List):
            targets = outer.targets[0].elts
            if len(targets) == len(parent.elts) and not any(isinstance(t, ast.Starred) for t in targets):
                return targets[parent.elts.index(node)]  # type: ignore[arg-type]
    return None


def _starts_another(node: ast.AST, parents: dict[int, ast.AST], made: dict[int, Site]) -> bool:
    """Is it a variable whose value another one starts from? That is computed once in Linen, too (`variable_starts`)."""
    parent = parents.get(id(node))
    if not (isinstance(parent, ast.Attribute) and parent.attr == "value"):
        return False
    while parent is not None:
        site = made.get(id(parent))
        if site is not None:
            return site.kind == "variable"
        parent = parents.get(id(parent))
    return False


def _is_start(run: Any, method: Method, node: ast.AST) -> bool:
    found = run.evaluated.get(node) if isinstance(node, ast.Attribute) else None
    held = found is not None and isinstance(found.value, SetupParam) and found.value.site is not None
    return held and isinstance(node, ast.Attribute) and starts_another(run, method.source, node)


def starts_another(run: Any, source: SourceFile, node: ast.Attribute) -> bool:
    """Is it the `self.rate` of `self.param("gain", gain_init, self.rate)`? What a variable starts from is computed once."""
    made = {site.node: site for site in run.sites if site.in_setup and site.kind in ("param", "variable")}
    around = next((made[n] for n in source.ancestors(node) if n in made), None)
    return around is not None and not around.lazy


def _hold(site: Site, attribute: str, node: ast.AST, renamed: dict[str, str], holders: dict[Site, str]) -> None:
    if holders.setdefault(site, attribute) != attribute:
        raise Unmigratable(_CODE, f"two attributes hold the parameter `{_key(site)}`", node)
    key = _key(site)
    if key is None:
        reason = f"the attribute `{attribute}` holds a {site.kind} whose name is known only when it is made"
        raise Unmigratable("NNX155", reason, node)
    if renamed.setdefault(attribute, key) != key:
        raise Unmigratable("NNX155", f"`self.{attribute}` holds what Linen stores under several names", node)


def _read(
    run: Any,
    node: ast.Name | ast.Attribute,
    parents: dict[int, ast.AST],
    renamed: dict[str, str],
    holders: dict[Site, str],
) -> None:
    """A parameter or variable read in setup: it may be handed on to an attribute, and its shape may be asked."""
    found = run.evaluated.get(node)
    inner = bool(inner_variables.read(run, node))
    if found is None or not (inner or isinstance(found.value, SetupParam | Variable)):
        return
    parent = parents.get(id(node))
    if isinstance(parent, ast.Attribute) and parent.attr in STATIC and (inner or isinstance(found.value, SetupParam)):
        return
    if isinstance(found.value, Variable) and asks_for_shape(parent, parents.get(id(parent))):
        return
    target = None if inner else _target(node, parents)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        if isinstance(found.value, SetupParam) and found.value.site is not None:
            _hold(found.value.site, target.attr, target, renamed, holders)
        return
    if isinstance(target, ast.Name) and isinstance(found.value, Variable):
        return
    shown = ast.unparse(parent) if isinstance(parent, ast.expr) else ast.unparse(node)
    raise Unmigratable(_CODE, f"setup computes with a parameter or variable: `{shown}` would be computed once", node)


def asks_for_shape(parent: ast.AST | None, outer: ast.AST | None) -> bool:
    """`self.codes.value.shape`, of the attributes around a variable: what it holds is not read."""
    value = isinstance(parent, ast.Attribute) and parent.attr == "value"
    return value and isinstance(outer, ast.Attribute) and outer.attr in STATIC


def _key(site: Site) -> str | None:
    return site.name.constant if site.name is not None else None


def _may_rename(run: Any, model: Any, attribute: str, key: str) -> None:
    """Refuse where the parameter's name is taken, or where another class may ask for the attribute."""
    taken = set(run.fields) | set(model.methods()) | set(run.attributes)
    text = f"the attribute `{attribute}` holds what is called `{key}`"
    if key in taken or not key:
        raise Unmigratable(_CODE, f"{text}, and that name cannot be given to it", model.node)
    if read_elsewhere(run, attribute):
        raise Unmigratable(_CODE, f"{text}, and another class reads `.{attribute}`", model.node)


def said(name: str) -> str:
    """`self.scale`; `getattr(self, 'scale.weight')` where nothing can stand so after a dot."""
    return f"self.{name}" if is_attribute_name(name) else f"getattr(self, {name!r})"


def read_elsewhere(run: Any, attribute: str) -> bool:
    """Does another module class ask a submodule for the attribute, or any code ask what is bound?

    Or does a class ask for it by its name, as `hasattr` does, or of what a function within a method is given for the module?
    """
    return asked_for(run, attribute) or read_of_modules(run, attribute)


def asked_for(run: Any, attribute: str) -> bool:
    """Does a class ask for an attribute by its name, or of what a function within a method is given for the module?"""
    if any(asked_of_arguments(method.node, {attribute}) for method in run.model.methods().values()):
        return True
    return asked_by_classes(run.project, {attribute})


def read_of_modules(run: Any, attribute: str) -> bool:
    """Does another module class read the attribute of a submodule, or any code of what is bound?"""
    own = re.compile(rf"\bself\.\w+(\[[^\]]*\])?\.{re.escape(attribute)}\b")
    bound = re.compile(rf"\.bind\([^)]*\)\.{re.escape(attribute)}\b")
    for info in run.project.linen_classes.values():
        span = info.source.span(info.node)
        if attribute in info.source.words and own.search(info.source.text, span.start, span.end):
            return True
    files = (file for file in run.project.files.values() if attribute in file.words and ".bind(" in file.text)
    return any(bound.search(file.text) for file in files)


__all__ = [
    "asked_for",
    "asks_for_shape",
    "check",
    "is_for_first_values",
    "read_elsewhere",
    "read_of_modules",
    "said",
    "starts_another",
]
