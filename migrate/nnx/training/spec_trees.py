"""Spec trees of programs whose params become an nnx.State: those that go by Linen's names keep dictionaries.

`jax.tree.map` goes over a spec tree whatever holds the specs; `specs['Dense_0']['kernel']`, `flatten_dict` and paths do not.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from ...catalog.tree_functions import TREE_MAPS
from ...linen.flow.flow_values import Function, Symbol
from ...linen.flow.flow_versions import bare
from ...linen.flow.spec_makers import makes_specs
from ...source import SourceFile
from . import leaf_order
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

MAKERS = ("flax.linen.get_partition_spec", "flax.linen.get_sharding")
# What makes specs of specs, what only asks for them, and what goes over trees of one structure, the first of which it gives.
_ON = ("flax.linen.logical_to_mesh", "flax.linen.unbox")
_ENDS = {
    *("jax.jit", "jax.experimental.pjit.pjit", "jax.device_put", "jax.lax.with_sharding_constraint", "functools.partial"),
    *("jax.experimental.shard_map.shard_map", "jax.shard_map", "flax.linen.with_sharding_constraint"),
}
_STATE = ("params", "opt_state", "replace", "step", "apply_gradients")
_COLLECTIONS = ("params", "batch_stats", "cache")
_WEIGHTS = ("kernel", "bias", "scale", "embedding")
_SPECS = ("PartitionSpec", "NamedSharding", "MeshPspecSharding", "P", "PS")
_SHOWN = ("print", "type", "id", "len")


def check(form: Rewrite) -> None:
    """Unsupported where the specs of the component's variables go to something that is not a whole tree's."""
    for node in _by_hand(form):
        raise Unsupported(node, "specs that are written down in dictionaries, as Linen's params are")
    calls = [*form.flow.uses.calls(MAKERS), *filter(lambda c: makes_specs(form.flow, c), form.flow.uses.calls(TREE_MAPS))]
    makers = [call for call in calls if any(_tracked(form, given) for given in call.args)]
    if makers:
        _Specs(form).check(makers)


def _tracked(form: Rewrite, node: ast.expr) -> bool:
    return form.component.holds(form.flow.value(node))


def attributes(form: Rewrite) -> set[str]:
    """The attributes that hold one module or variable each, whichever class of the program's it is."""
    written = (getattr(plan.writer, "names", None) for plan in form.flow.plan.classes.values())
    places = [place for names in written if names is not None for place in names.places.values()]
    lists = {place.object for place in places if place.kind != "attribute"}
    single = {place.object for place in places if place.kind == "attribute"}
    return {said.removeprefix("self.") for said in single if said.rpartition("_")[0] not in lists}


def _by_hand(form: Rewrite) -> Iterator[ast.Dict]:
    """Dictionaries of specs by the names of parameters, in the program's files and those that these import."""
    files = form.flow.project.files
    sources = {form.source(node) for node, _ in form.tracked()}
    for source in list(sources):
        imported = source.names.imports.values()
        sources |= {files[m] for name in imported for m in (name, name.rpartition(".")[0]) if m in files}
    for source in sorted(sources, key=lambda s: s.module):
        for node in source.by_kind.get(ast.Dict, ()):
            if isinstance(node, ast.Dict) and _names_weights(node):
                calls = (inner for inner in _leaves(node) if isinstance(inner, ast.Call))
                if any((form.flow.name(call.func) or "").rpartition(".")[2] in _SPECS for call in calls):
                    yield node


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(node, ast.Dict):
        yield node
        return
    for value in node.values:
        yield from _leaves(value)


def _names_weights(node: ast.Dict) -> bool:
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    return not keys.isdisjoint((*_COLLECTIONS, *_WEIGHTS))


class _Specs:
    def __init__(self, form: Rewrite) -> None:
        self.form = form
        self.names: set[Symbol] = set()
        self.attributes: set[str] = set()

    def check(self, makers: list[ast.Call]) -> None:
        """Follow the specs from name to name until nothing new is found."""
        for call in makers:
            self._use(call)
        while True:
            before = len(self.names) + len(self.attributes)
            for node in list(self._named()):
                self._use(node)
            if len(self.names) + len(self.attributes) == before:
                return

    def _named(self) -> Iterator[ast.expr]:
        for source in self.form.flow.project.files.values():
            said = set(map(bare, self.names))
            for node in source.by_kind.get(ast.Name, ()):
                if isinstance(node, ast.Name) and node.id in said and isinstance(node.ctx, ast.Load):
                    if self.form.flow.symbol(source, node) in self.names:
                        yield node
            for node in source.by_kind.get(ast.Attribute, ()):
                if isinstance(node, ast.Attribute) and node.attr in self.attributes and isinstance(node.ctx, ast.Load):
                    yield node

    def _use(self, node: ast.expr) -> None:
        """Note where a tree of specs goes."""
        source = self._source(node)
        child: ast.AST = node
        for parent in source.ancestors(node):
            if isinstance(parent, ast.Call) and child is not parent.func:
                if self._call(parent, child, node):
                    return
            elif isinstance(parent, ast.Attribute):
                if parent.attr not in _STATE:
                    self._refuse(node)
            elif isinstance(parent, ast.Subscript) and child is parent.value and self._is_attribute(parent.slice):
                return
            elif isinstance(parent, ast.Assign | ast.AnnAssign):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                for target in targets:
                    self._store(source, target)
                return
            elif isinstance(parent, ast.Return):
                self._returned(source, node)
                return
            elif isinstance(parent, ast.Expr):
                return
            elif not isinstance(parent, ast.Tuple | ast.List | ast.keyword | ast.IfExp | ast.Starred | ast.Call):
                self._refuse(node)
            child = parent

    def _is_attribute(self, key: ast.expr) -> bool:
        """Is a name of Linen's surely that of an attribute in NNX? Those of a list's items are not."""
        name = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(name, str) or name in _COLLECTIONS:
            return False
        if name in attributes(self.form):
            return True
        texts = [info.source.text_of(info.node) for info in self.form.flow.project.linen_classes.values()]
        return not name[-1:].isdigit() or not any(re.search(r"\bfor\b|= *[\[(]", text) for text in texts)

    def _call(self, call: ast.Call, child: ast.AST, node: ast.AST) -> bool:
        """Do the specs end in a call, or go on by names? Else its result is such a tree, too."""
        name = self.form.flow.name(call.func) or ""
        value = self.form.flow.value(call.func)
        if name == "functools.partial" and child is not call.args[0]:
            bound = self.form.flow.value(call.args[0])
            value = dataclasses.replace(bound, bound=bound.bound - 1) if isinstance(bound, Function) else value
        if isinstance(value, Function):
            return self._given(call, child, value)
        if name in _ENDS or (isinstance(call.func, ast.Name) and call.func.id in _SHOWN):
            return True
        if name in leaf_order.LEAVES:
            return leaf_order.orderless(self.form, call) or self._refuse(node)
        if name in TREE_MAPS:
            return child not in call.args[:2]
        copied = isinstance(call.func, ast.Attribute) and call.func.attr == "replace" and not name
        if not copied and not name.startswith(_ON):
            self._refuse(node)
        return False

    def _refuse(self, node: ast.AST) -> NoReturn:
        raise Unsupported(node, "specs that are taken by their names")

    def _source(self, node: ast.AST) -> SourceFile:
        return self.form.source(node)

    def _store(self, source: SourceFile, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.names.add(self.form.flow.symbol(source, target))
        elif isinstance(target, ast.Attribute):
            self.attributes.add(target.attr)
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._store(source, element)

    def _given(self, call: ast.Call, child: ast.AST, function: Function) -> bool:
        """A function of the project has the specs under the name of its parameter."""
        for target in function.nodes:
            arguments = target.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
            if isinstance(child, ast.keyword):
                held = str(child.arg)
            else:
                place = call.args.index(child) + function.bound  # type: ignore[arg-type]
                if place >= len(names):
                    return False
                held = names[place]
            self.names.add((self._source(target).module, target, held))
        return True

    def _returned(self, source: SourceFile, node: ast.AST) -> None:
        """The results of a function that returns specs: what its calls are assigned to."""
        function = source.function_of(node)
        above = [node, *source.ancestors(node)]
        above = above[: next(i for i, parent in enumerate(above) if isinstance(parent, ast.Return))]
        pairs = itertools.pairwise(above)
        place = next((p.elts.index(c) for c, p in pairs if isinstance(p, ast.Tuple)), None)  # type: ignore[arg-type]
        for call in self.form.flow.callers.get(function, {}) if function is not None else ():
            holder = self._source(call).parents.get(call)
            target = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
            if place is None:
                self._use(call)
            elif isinstance(target, ast.Tuple) and place < len(target.elts):
                self._store(self._source(call), target.elts[place])
            else:
                self._refuse(call)


def is_boxed(form: _Functional, node: ast.Subscript) -> bool:
    """Is it an item of params that holds boxes, which are opened or go through whole trees?"""
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return form.annotated and isinstance(node.ctx, ast.Load) and key in attributes(form)


def write_opened(form: Rewrite, attribute: ast.Attribute) -> None:
    """`params["W"].value` and `params["W"].unbox()`, of a box: `params["W"].get_value()`."""
    source = form.source(attribute)
    tail = form.parent(attribute) if attribute.attr == "unbox" else attribute
    span = source.span(tail)
    form.replace_span(attribute, type(span)(source.span(attribute.value).end, span.end), ".get_value()")
