"""What `setup` computes from its parameters: a method of the native class computes it anew for every call, as Linen does.

    def setup(self):                                    def __init__(self, ..., *, rngs):
        self.rate = self.param("rate", ...)                 self.rate = nnx.Param(...)
        self.decay = jnp.exp(-self.rate)
                                                        def _computed(self):
    def __call__(self, x):                                  computed = types.SimpleNamespace()
        return self.decay * x                               computed.decay = jnp.exp(-self.rate[...])
                                                            return computed

                                                        def __call__(self, x):
                                                            computed = self._computed()
                                                            return computed.decay * x

Statements that read a parameter, and those that read what these assign, move there with the conditions around them; what
they need of the rest of `setup` is said in both places. A parameter made within an expression, or held by a local name
alone, becomes an attribute under its own name.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ...linen.modules.self_calls import SetupParam
from ...linen.project.classes import ClassModel, Method
from ...linen.values import mutation
from ...linen.values.sites import Module, Site, Unmigratable, Variable
from ...names import is_attribute_name
from ...trees import subtree
from . import first_values, inner_variables
from .changed_names import ChangedNames
from .inner_variables import STATIC
from .setup_params import asks_for_shape

_PLAIN = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.FunctionDef


@dataclasses.dataclass(eq=False)
class Computed:
    """Which statements of a setup go to the method."""

    method: str  # its name
    attributes: set[str] = dataclasses.field(default_factory=set)  # what it computes
    names: set[str] = dataclasses.field(default_factory=set)  # local names of setup that follow the parameters
    moved: set[ast.stmt] = dataclasses.field(default_factory=set)
    both: dict[ast.stmt, list[Site]] = dataclasses.field(default_factory=dict)  # they make parameters and compute with them
    copied: set[ast.stmt] = dataclasses.field(default_factory=set)  # they stay, and the method needs them as well
    properties: set[str] = dataclasses.field(default_factory=set)  # attributes that other classes read
    attributes_of_names: dict[str, str] = dataclasses.field(default_factory=dict)  # local names of modules → where they are
    held: dict[int, str] = dataclasses.field(default_factory=dict)  # call that makes a parameter → attribute it gets
    kept: set[ast.stmt] = dataclasses.field(default_factory=set)  # those that the constructor needs too, see `first_values`
    starts: set[ast.AST] = dataclasses.field(default_factory=set)  # what parameters and variables are made of

    def nodes(self) -> set[ast.AST]:
        """Everything that the method computes, or that is computed where variables are made."""
        computed = {node for statement in (*self.moved, *self.both, *self.kept) for node in subtree(statement)}
        return computed | self.starts

    def for_first_values(self) -> set[ast.AST]:
        """What is computed for the first values of parameters and variables alone: nothing keeps it."""
        alone = {node for statement in self.kept - self.moved - self.both.keys() for node in subtree(statement)}
        return alone | self.starts

    def is_like(self, other: Computed) -> bool:
        """Is it what another class computes by the same `setup`?"""
        mine, others = ((c.method, c.attributes, c.moved, {*c.both}, c.copied, c.kept, c.held) for c in (self, other))
        return mine == others

    def is_gone(self, statement: ast.stmt) -> bool:
        """Has the constructor nothing of it?"""
        return statement in self.moved and statement not in self.kept


class Reader:
    """Reads a setup: which statements follow parameters, until nothing more does."""

    def __init__(self, run: Any, model: ClassModel, setup: Method, refusal: Unmigratable) -> None:
        self.run, self.model, self.setup, self.refusal = run, model, setup, refusal
        self.made: dict[int, Site] = {
            id(s.node): s for s in run.sites if s.in_setup and s.kind in ("param", "variable", "layer", "class")
        }
        taken = {*run.fields, *model.methods(), *run.attributes}
        name = "_computed"
        while name in taken:
            name += "_"
        self.found = Computed(name)
        self.changed = ChangedNames(run, setup)
        self.parents = {child: n for n in setup.nodes for child in ast.iter_child_nodes(n)}

    def read(self) -> Computed:
        found = self.found
        if any(isinstance(n, ast.Name) and n.id == "computed" for n in self.setup.nodes):
            raise self.refusal  # it is what the method calls its own
        while True:
            before = len(found.names), len(found.attributes)
            found.moved.clear()
            found.both.clear()
            self._block(self.setup.node.body)
            if (len(found.names), len(found.attributes)) == before:
                break
        self._name_parameters()
        self._find_attributes()
        first_values.keep(self)
        self._copy_needed()
        self._move_what_nothing_else_needs()
        self._check_attributes()
        self._check_methods()
        return found

    # which statements move -------------------------------------------------------------------------------------
    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        makes = [self.made[id(n)] for n in subtree(node) if id(n) in self.made]
        if isinstance(node, ast.If):
            if self._follows(node.test):
                raise self.refusal
            self._block(node.body)
            self._block(node.orelse)
            inner = (*node.body, *node.orelse)
            if not makes and inner and all(s in self.found.moved or isinstance(s, ast.Raise | ast.Pass) for s in inner):
                if any(s in self.found.moved for s in inner):
                    self.found.moved -= {*inner}
                    self.found.moved.add(node)
            return
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._assignment(node, makes)
            return
        follows = any(self._follows(e) for e in ast.iter_child_nodes(node) if not isinstance(e, ast.expr_context))
        if not follows:
            return
        if makes or not isinstance(node, ast.For | ast.FunctionDef):
            raise self.refusal
        self.found.moved.add(node)
        if isinstance(node, ast.FunctionDef):
            self.found.names.add(node.name)
        else:
            for target in subtree(node):
                if isinstance(target, ast.Name | ast.Attribute) and isinstance(target.ctx, ast.Store):
                    self._assigned(target)

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, makes: list[Site]) -> None:
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        params = [s for s in makes if s.kind == "param"]
        if params and len(params) != len(makes):
            raise self.refusal
        starts = any(self._follows(a) for s in makes if s.kind in ("param", "variable") for a in self.arguments(s))
        if starts and any(s.loops for s in makes):
            raise self.refusal
        if (params or starts) and self._is_held(node, targets):
            if any(self._is_assigned_again(t, node) for t in targets):
                raise self.refusal  # `self.w = self.w * 2`: one name for the parameter and for what follows it
            return
        if params:
            if any(s.loops or isinstance(p, ast.Lambda | ast.IfExp | ast.BoolOp | _COMPREHENSIONS)
                   for s in params for p in self.above(s.node, node)):  # fmt: skip
                raise self.refusal
            self.found.both[node] = params
        elif not self._follows(node.value) and not any(self._is_assigned(t) for t in targets):
            return
        elif node.value in self.run.setup_helpers:
            self.found.both[node] = []  # see `setup_helpers`
        elif not makes:
            self.found.moved.add(node)
        else:
            raise self.refusal
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                self._assigned(part)

    def _assigned(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.found.names.add(target.id)
        elif is_self_attribute(target):
            self.found.attributes.add(target.attr)  # type: ignore[attr-defined]
        else:
            raise self.refusal

    def _is_assigned(self, target: ast.expr) -> bool:
        """Does the method compute, elsewhere, what is assigned here?"""
        for part in subtree(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in self.found.names:
                return True
            if is_self_attribute(part) and part.attr in self.found.attributes:  # type: ignore[attr-defined]
                return True
        return False

    def _is_assigned_again(self, target: ast.expr, node: ast.stmt) -> bool:
        """Does a statement assign to an attribute what follows from what it holds?"""
        names = {part.attr for part in subtree(target) if isinstance(part, ast.Attribute) and is_self_attribute(part)}
        for other in self.setup.nodes:
            if other is node or not isinstance(other, ast.Assign | ast.AnnAssign | ast.AugAssign) or other.value is None:
                continue
            to = [p for p in subtree(other) if isinstance(p, ast.Attribute) and isinstance(p.ctx, ast.Store)]
            again = names & {part.attr for part in to if is_self_attribute(part)}
            makes = any(id(n) in self.made for n in subtree(other))
            if again and (isinstance(other, ast.AugAssign) or (not makes and self._follows(other.value))):
                return True
        return False

    def _is_held(self, node: ast.stmt, targets: list[ast.expr]) -> bool:
        """`self.w = self.param("w", ...)`, `self.a, self.b = ...`, `... if use else None`: an attribute holds it."""
        value = node.value  # type: ignore[attr-defined]
        pairs = [(targets[0], value)]
        if isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple) and len(targets[0].elts) == len(value.elts):
            pairs = list(zip(targets[0].elts, value.elts))
        for target, given in pairs:
            sides = [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]
            plain = all(id(s) in self.made or isinstance(s, ast.Constant) for s in sides)
            if not is_self_attribute(target) or not plain or len(targets) > 1:
                return False
        return True

    def arguments(self, site: Site) -> list[ast.expr]:
        return [*site.node.args, *[k.value for k in site.node.keywords]]

    def above(self, node: ast.AST, top: ast.AST) -> Iterator[ast.AST]:
        while node is not top:
            yield node
            node = self.parents[node]

    def _follows(self, node: ast.AST) -> bool:
        """Does an expression or statement read a parameter, or what follows one?"""
        if isinstance(node, ast.Attribute) and node.attr in STATIC and self._is_parameter(node.value):
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.found.names:
            return True
        if isinstance(node, ast.Call):
            if node in self.run.setup_helpers:
                return True
            called = self.run.evaluated.get(node.func)
            is_call = (called is not None and isinstance(called.value, Module)) or inner_variables.called(self.run, node)
            if is_call and id(node) not in self.made:
                raise self.refusal  # a module would be called by the method
        if is_self_attribute(node) and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            name = node.attr  # type: ignore[attr-defined]
            method = self.model.method(name)
            if name in self.found.attributes or (method is not None and self._reads(method)):
                return True
        if isinstance(node, ast.expr) and self._is_parameter(node):
            return True
        found = self.run.evaluated.get(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if found is not None and isinstance(found.value, Variable):
            parent = self.parents.get(node)
            static = parent is not None and asks_for_shape(parent, self.parents.get(parent))
            if not static and not (isinstance(parent, ast.Assign) and parent.value is node):
                raise self.refusal
        return any(self._follows(child) for child in ast.iter_child_nodes(node))

    def _is_parameter(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return False
        found = self.run.evaluated.get(node)
        return (found is not None and isinstance(found.value, SetupParam)) or bool(inner_variables.read(self.run, node))

    def _reads(self, method: Method) -> bool:
        """Does a method read parameters, or what follows them?"""
        return inner_variables.reads(self.run, method, set(), frozenset(self.found.attributes))

    # what that asks for ----------------------------------------------------------------------------------------
    def _name_parameters(self) -> None:
        """Parameters made within expressions become attributes of their own names."""
        found = self.found
        held = {n for n, v in self.run.attributes.items() if self._holds_own(n, v.value)}
        taken = {*self.run.fields, *self.model.methods(), *(set(self.run.attributes) - found.attributes - held)}
        for sites in found.both.values():
            for site in sites:
                key = site.name.constant if site.name is not None else None
                if key is None or not is_attribute_name(key) or key in taken:
                    raise self.refusal
                found.held[id(site.node)] = key
                site.container = key

    def _holds_own(self, attribute: str, value: object) -> bool:
        """Does an attribute hold a parameter of its own name? On another branch that is made here."""
        site = value.site if isinstance(value, SetupParam) else None
        return site is not None and site.name is not None and site.name.constant == attribute

    def _find_attributes(self) -> None:
        """Local names of modules that an attribute holds from then on: `self.layers = layers`."""
        computed = self.found.nodes()
        for node in self.setup.node.body:
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if not isinstance(node, ast.Assign) or target is None or not isinstance(node.value, ast.Name):
                continue
            name, held = node.value.id, self.run.evaluated.get(node.value)
            named = [n for n in self.setup.nodes if isinstance(n, ast.Name) and n.id == name and n not in computed]
            stores = [n for n in self.setup.nodes if is_self_attribute(n) and isinstance(n.ctx, ast.Store)]  # type: ignore[attr-defined]
            alone = is_self_attribute(target) and [n.attr for n in stores].count(target.attr) == 1  # type: ignore[attr-defined]
            if alone and held is not None and any(self.run.modules_in(held.value)):
                if all(n.lineno <= node.lineno for n in named):
                    self.found.attributes_of_names[name] = target.attr  # type: ignore[attr-defined]

    def _copy_needed(self) -> None:
        """The statements that stay and assign what those that move read."""
        found = self.found
        while True:
            wanted = {n for s in (*found.moved, *found.both, *found.copied) for n in self.names_read(s)}
            wanted |= {
                n.id
                for s in (*found.moved, *found.both, *found.copied)
                for p in self.above(s, self.setup.node)
                if isinstance(p, ast.If)
                for n in subtree(p.test)
                if isinstance(n, ast.Name)
            }
            wanted |= self._other_names(wanted)
            before = len(found.copied)
            for node in self.setup.nodes:
                if not isinstance(node, ast.stmt) or node in found.moved or node in found.both or node is self.setup.node:
                    continue
                if any(p in found.moved or p in found.copied for p in self.above(node, self.setup.node)):
                    continue
                if isinstance(node, ast.If) or not (self.changed.by(node) & wanted):
                    continue
                if not isinstance(node, _PLAIN | ast.For | ast.Expr) or any(id(n) in self.made for n in subtree(node)):
                    raise self.refusal
                found.copied.add(node)
            if len(found.copied) == before:
                return

    def _other_names(self, wanted: set[str]) -> set[str]:
        """The names under which what has these names is changed: `grown = sizes`, `grown.append(3)`."""
        changed, others = mutation.changed_anywhere(self.setup.node), set[str]()
        for node in self.setup.nodes if changed else ():
            if isinstance(node, ast.Assign):
                named = {n.id for n in (*node.targets, node.value) if isinstance(n, ast.Name)}
                others |= named & changed if named & wanted else set()
        return others

    def _move_what_nothing_else_needs(self) -> None:
        """Of the statements that the method needs as well, those that the rest of setup does not need."""
        found = self.found
        for statement in sorted(found.copied, key=lambda s: -s.lineno):
            block = self.parents[statement]
            if block is not self.setup.node or not isinstance(statement, ast.Assign | ast.AnnAssign | ast.FunctionDef):
                continue  # under a condition it may be one of several
            bound = {n.id for n in subtree(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            bound |= {statement.name} if isinstance(statement, ast.FunctionDef) else set()
            only = all(isinstance(n, ast.Name) for n in self._targets(statement))
            if only and not self._needed_by_rest(bound, statement):
                found.copied.discard(statement)
                found.moved.add(statement)

    def _targets(self, statement: ast.stmt) -> list[ast.expr]:
        if isinstance(statement, ast.Assign):
            return [p for t in statement.targets for p in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
        return [statement.target] if isinstance(statement, ast.AnnAssign) else []

    def _needed_by_rest(self, bound: set[str], own: ast.stmt) -> bool:
        moved = {n for s in self.found.moved if self.found.is_gone(s) for n in subtree(s)} | set(subtree(own))
        for statement in self.found.both:  # of these only what makes the parameter stays
            if statement in self.found.kept or getattr(statement, "value", None) in self.run.setup_helpers:
                continue  # it may need all that the function is given
            made = {n for n in subtree(statement) if id(n) in self.found.held for n in subtree(n)}
            moved |= set(subtree(statement)) - made
        return any(isinstance(n, ast.Name) and n.id in bound and n not in moved for n in self.setup.nodes)

    def names_read(self, node: ast.AST) -> Iterator[str]:
        """The names that code reads, what makes a parameter left out."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in self.found.attributes_of_names:
            yield node.id
        if id(node) not in self.found.held:
            for child in ast.iter_child_nodes(node):
                yield from self.names_read(child)

    def is_computed(self, node: ast.AST) -> bool:
        """Is it an attribute that every call computes?"""
        return is_self_attribute(node) and node.attr in self.found.attributes  # type: ignore[attr-defined]

    def _check_attributes(self) -> None:
        """What the method reads of the module is what `setup` leaves there, which must be what was there."""
        for statement in (*self.found.moved, *self.found.both, *self.found.copied):
            for node in subtree(statement):
                if is_self_attribute(node) and not self.is_computed(node) and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                    if any(self._is_given_behind(n, node, statement) for n in self.setup.nodes):
                        raise self.refusal

    def _is_given_behind(self, other: ast.AST, node: ast.AST, statement: ast.stmt) -> bool:
        """Is the attribute `node` given something behind the statement that reads it: `self.n = 3`?"""
        if not is_self_attribute(other) or other.lineno <= (statement.end_lineno or statement.lineno):  # type: ignore[attr-defined]
            return False
        method = self.model.method(other.attr)  # type: ignore[attr-defined]
        if method is not None:  # `self.build()`
            return any(self._is_store(n, node) for n in method.nodes)
        return self._is_store(other, node)

    @staticmethod
    def _is_store(other: ast.AST, node: ast.AST) -> bool:
        stored = is_self_attribute(other) and not isinstance(other.ctx, ast.Load)  # type: ignore[attr-defined]
        return stored and other.attr == node.attr  # type: ignore[attr-defined]

    def _check_methods(self) -> None:
        """What the method calls of the module may not ask for what the method computes."""
        for statement in (*self.found.moved, *self.found.both, *self.found.copied, *self.found.kept, *self.found.starts):
            for node in subtree(statement):
                method = self.model.method(node.attr) if is_self_attribute(node) else None  # type: ignore[attr-defined]
                if method is not None and any(
                    is_self_attribute(n) and n.attr in self.found.attributes  # type: ignore[attr-defined]
                    for n in method.nodes
                ):
                    raise self.refusal


_COMPREHENSIONS = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp


def is_self_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


__all__ = ["Computed", "Reader", "is_self_attribute"]
