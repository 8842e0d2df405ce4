"""Which definitions are copied for the classes that stay Linen, and which classes stay Linen with them after all."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Set

from ...catalog.shardings import MOVES
from ...linen.flow.function_calls import FunctionCalls
from ...linen.modules import local_classes
from ...linen.outside import whole_layers
from ...linen.project.classes import Classes, ClassModel
from ...linen.project.index import Project
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import subtree
from . import lifted_outside, taken_from_tables
from .behind import behind
from .file_names import copy_module, copy_name, is_copy_module
from .recipe import Kitchen, Recipe, Uncopyable
from .references import Reference, References, When
from .within import imported_within

_SHARDING = {*MOVES, "flax.linen.with_partitioning", "flax.linen.with_logical_partitioning"}


def of_earlier_runs(classes: Classes, references: References) -> dict[str, Unmigratable]:
    """The copies that an earlier run made, and the classes that it made them for: these stay what they are, or the second
    run would wrap what the first had reason to keep."""
    found: dict[str, Unmigratable] = {}
    copies = {model.qualname for model in classes if is_copy_module(model.source)}
    for model in classes if copies else ():
        if model.qualname in copies:
            found[model.qualname] = Unmigratable("NNX178", "it is a Linen copy that an earlier run made")
            continue
        used = _first_of(references, model, copies)
        if used is not None:
            why = f"it uses `{ast.unparse(used.node)}`, a Linen copy that an earlier run made for it"
            why += "; with the original in its place it is migrated again"
            found[model.qualname] = Unmigratable("NNX178", why, used.node)
    left = [m for m in classes if m.qualname not in found and m.source.marked(m.source.line_span(m.node).start, "NNX1")]
    more = bool(found)
    while more:
        more = False
        for model in left:
            uses = None if model.qualname in found else _first_of(references, model, found.keys() - copies)
            if uses is not None:
                more = True
                why = f"an earlier run left it, and it uses `{ast.unparse(uses.node)}`, which stays what that run left"
                found[model.qualname] = Unmigratable("NNX178", why, uses.node)
    return found


def _first_of(references: References, model: ClassModel, names: Set[str]) -> Reference | None:
    return next((r for r in references.within(model.source, model.node) if r.key in names), None)


@dataclasses.dataclass
class Copies:
    """The plan of all copies. Keys are the canonical names of the originals."""

    needed: dict[str, str] = dataclasses.field(default_factory=dict)  # key → class that stays Linen and needs it, or
    lifting: dict[str, str] = dataclasses.field(default_factory=dict)  # a function that lifts it → its transform
    layers: set[str] = dataclasses.field(default_factory=set)  # or a layer that is a whole model
    redirects: list[tuple[SourceFile, Reference]] = dataclasses.field(default_factory=list)
    recipes: dict[str, Recipe] = dataclasses.field(default_factory=dict)  # module → its module of copies

    def nodes(self, project: Project) -> dict[ast.AST, str]:
        """Reference → qualified name of the copy that it will mean."""
        return {reference.node: copy_name(project, reference.key) for _, reference in self.redirects}


def settle(
    classes: Classes,
    reasons: MutableMapping[str, Unmigratable],
    edited: Iterable[str],
    references: References,
    holds: Callable[[SourceFile, ast.expr], bool],
    bridge: bool,
) -> Copies:
    """Add to `reasons` the classes that stay Linen because others do; the copies that spare all the rest.

    `edited`: keys of helpers that the module writer rewrites for native classes. `holds`: may an expression outside of
    modules hold a module? `bridge=False`: no copies, so that a class
    family is native together or not at all, and what a Linen class uses stays Linen.
    """
    tables = taken_from_tables.Tables(classes, references)
    hopeless: set[str] = set()  # helpers that cannot be copied and lead to no native class: they stay as they are
    while True:
        before = len(reasons)
        _used_by_copies(classes, reasons, references)
        _below_linen_bases(classes, reasons)
        for model, other in list(local_classes.below_linen(classes, reasons)):
            said = f"{other}, which stays Linen, is used in the function that defines it, where no Linen copy can be kept"
            reasons[model.qualname] = Unmigratable("NNX177", said)
        for name, table, user in tables.taken(reasons):
            said = f"{user}, which stays Linen, may take it from `{table}`, into which it is put"
            reasons[name] = Unmigratable("NNX177", said)
        demand = _Demand(classes, reasons, frozenset(edited), hopeless, references, holds)
        demand.collect()
        failed: dict[str, str] = {}
        kitchen = None
        if bridge:
            kitchen = Kitchen(classes, references, demand.copies.needed, demand.users, demand.uses())
            kitchen.cook()
            failed = kitchen.failed
        else:
            failed = dict.fromkeys(demand.copies.needed, "--no-bridge")
        for key, why in failed.items():
            demand.give_up(key, why if bridge else "")
        if len(reasons) == before and failed:
            hopeless |= failed.keys()
        elif len(reasons) == before:
            if kitchen is not None:
                demand.copies.recipes = kitchen.recipes
            return demand.copies


def _used_by_copies(classes: Classes, reasons: MutableMapping[str, Unmigratable], references: References) -> None:
    """What the copies of an earlier run use stays Linen as it did there: no copy of it could be kept."""
    project = classes.project
    waiting: list[tuple[SourceFile, ast.AST]] = [(s, s.tree) for s in project.files.values() if is_copy_module(s)]
    seen: set[str] = set()
    while waiting:
        source, root = waiting.pop()
        for reference in references.within(source, root):
            key = reference.key
            later = isinstance(root, ast.ClassDef) and reference.when is not When.IMPORT
            found = project.definition(key) if key not in seen and not later else None
            if found is None or reference.when is When.ANNOTATION or is_copy_module(found[0]):
                continue
            seen.add(key)
            if classes.get(key) is None:
                waiting.append(found)
            elif key not in reasons:
                reasons[key] = Unmigratable("NNX177", "a Linen copy that an earlier run made uses it")


def _below_linen_bases(classes: Classes, reasons: MutableMapping[str, Unmigratable]) -> None:
    """An NNX class cannot inherit from a Linen one."""
    changed = True
    while changed:
        changed = False
        for model in classes:
            for base in model.mro():
                if base.qualname in reasons and model.qualname not in reasons:
                    reason = f"its base {base.name} is not native: {reasons[base.qualname].reason}"
                    reasons[model.qualname] = Unmigratable("NNX176", reason)
                    changed = True


class _Demand:
    """What the classes that stay Linen ask for."""

    def __init__(
        self,
        classes: Classes,
        reasons: MutableMapping[str, Unmigratable],
        edited: frozenset[str],
        hopeless: Set[str],
        references: References,
        holds: Callable[[SourceFile, ast.expr], bool],
    ) -> None:
        self.classes = classes
        self.project = classes.project
        self.reasons = reasons
        self.edited = edited
        self.hopeless = hopeless
        self.holds = holds
        self._asked: set[tuple[ast.AST, str]] = set()
        self.references = references
        self.copies = Copies()
        self.users: dict[str, set[str]] = {}  # module → modules that import copies of its definitions as they are imported
        self._tainted: dict[str, bool] = {}
        self._by_copies: set[str] = set()  # keys that copies use, too

    def collect(self) -> None:
        for model in self.classes:
            if model.qualname in self.reasons and not is_copy_module(model.source):
                for reference in self.references.within(model.source, model.node):
                    self._ask(model.source, reference, model.qualname)
        functions = FunctionCalls(self.project)
        for source, call, outer in whole_layers.layers(functions):
            self.copies.layers.add(outer)
            self._ask_given(functions, source, [*call.args, *[k.value for k in call.keywords]], outer)
        for source, arguments, outer in _outside_arguments(self.classes, self.reasons):
            self._ask_given(functions, source, arguments, outer)
        for found in lifted_outside.find(self.project, functions):
            self.copies.lifting[found.function] = found.transform
            for reference in self.references.within(found.source, found.argument):
                self._ask(found.source, reference, found.function)

    def _ask_given(self, functions: FunctionCalls, source: SourceFile, arguments: list[ast.expr], outer: str) -> None:
        """What code outside of modules gives to `outer`."""
        for argument in arguments:
            for where, value in [(source, argument), *behind(functions, source, argument, self.holds)]:
                for reference in self.references.within(where, value):
                    self._ask(where, reference, outer)

    def _ask(self, source: SourceFile, reference: Reference, outer: str) -> None:
        if (reference.node, reference.key) not in self._asked and self._needs_copy(reference):
            self._asked.add((reference.node, reference.key))
            self.copies.redirects.append((source, reference))
            module = reference.key.rpartition(".")[0]
            if imported_within(source, self.project.files[module], reference.node) is None:
                self.users.setdefault(module, set()).add(source.module)
            self._need(reference.key, outer)

    def _need(self, key: str, outer: str) -> None:
        if key in self.copies.needed:
            return
        self.copies.needed[key] = outer
        module = key.rpartition(".")[0]
        for reference in self.references.of(key):
            if self._needs_copy(reference):
                self._by_copies.add(reference.key)
                inner = reference.key.rpartition(".")[0]
                source = self.project.files[module]
                if inner != module and imported_within(source, self.project.files[inner], reference.node) is None:
                    self.users.setdefault(inner, set()).add(copy_module(self.project, module))
                self._need(reference.key, outer)

    def uses(self) -> Mapping[str, list[tuple[SourceFile, Reference]] | None]:
        """Where what stays Linen refers to each key; None where a copy does."""
        found: dict[str, list[tuple[SourceFile, Reference]] | None] = {}
        for source, reference in self.copies.redirects:
            known = found.setdefault(reference.key, [])
            assert known is not None
            known.append((source, reference))
        return {**found, **dict.fromkeys(self._by_copies)}

    def _needs_copy(self, reference: Reference) -> bool:
        """Is it a class that becomes native, or a helper that comes to mean something else? Annotations mean nothing."""
        key = reference.key
        return bool(key) and reference.when is not When.ANNOTATION and (self._is_native(key) or self._is_tainted(key))

    def _is_native(self, key: str) -> bool:
        return self.classes.get(key) is not None and key not in self.reasons

    def _is_tainted(self, key: str) -> bool:
        """Is `key` a function, constant or other class that leads to native classes, or that is rewritten for them?"""
        if key in self.project.linen_classes or key in self.hopeless:
            return False
        if key not in self._tainted:
            source = self.project.files[key.rpartition(".")[0]] if key else None
            if source is None or is_copy_module(source):
                return False
            self._tainted[key] = key in self.edited or self._is_sharding(key)  # for now: there may be a circle
            self._tainted[key] |= any(self._needs_copy(r) for r in self._leads(key))
        return self._tainted[key]

    def _leads(self, key: str) -> Iterator[Reference]:
        """The references by which using a helper may come to a module: of a class, its attributes and bases."""
        found = self.project.definition(key)
        whole = found is not None and not isinstance(found[1], ast.ClassDef)
        return (r for r in self.references.of(key) if r.key != key and (whole or r.when is When.IMPORT))

    def _is_sharding(self, key: str) -> bool:
        """Does the helper use Linen's partitioning, which the sharding rules turn into NNX's outside of Linen classes?"""
        found = self.project.definition(key)
        if found is None or isinstance(found[1], ast.ClassDef):
            return False
        if not any(word in found[0].text for word in ("partitioning", "logical", "spmd")):
            return False
        nodes = (n for n in subtree(found[1]) if isinstance(n, ast.Name | ast.Attribute))
        return any(self.project.qualname(found[0], n) in _SHARDING for n in nodes)

    # what cannot be copied -----------------------------------------------------------------------------------------
    def give_up(self, key: str, why: str) -> None:
        """Keep the classes Linen that the copy of `key` was for."""
        outer = self.copies.needed[key]
        name = outer.rpartition(".")[2]
        lifting = self.copies.lifting.get(outer)
        reason = f"{lifting} is applied to it outside of a module"
        if outer in self.copies.layers:
            reason = "it is a whole model outside of modules"
        elif lifting is None:
            reason = self.reasons[outer].reason
        for inner in self._nativebehind(key, set()):
            family = self.classes.get(outer)
            derived = family is not None and any(b.qualname == inner for b in family.mro())
            code = "NNX176" if derived else "NNX177"
            said = f"{name}, which stays Linen, {'derives from' if derived else 'uses'} it: {reason}"
            if lifting is not None:
                code, said = "NNX130", f"{reason} (by {name})"
            if why:
                said = f"{said}; no Linen copy can be kept for that: {why}"
            self.reasons.setdefault(inner, Unmigratable(code, said))

    def _nativebehind(self, key: str, seen: set[str]) -> Iterator[str]:
        if key in seen:
            return
        seen.add(key)
        if self._is_native(key):
            yield key
        elif self._is_tainted(key):
            for reference in self._leads(key):
                if reference.key:
                    yield from self._nativebehind(reference.key, seen)


def _outside_arguments(
    classes: Classes, reasons: MutableMapping[str, Unmigratable]
) -> Iterator[tuple[SourceFile, list[ast.expr], str]]:
    """Arguments that code outside of modules gives to classes that stay Linen: `partial(ResNet, block=Block)`."""
    project = classes.project
    inside = project.inside_modules
    for source in project.files.values():
        if is_copy_module(source):
            continue
        for node in source.by_kind.get(ast.Call, ()):
            if not isinstance(node, ast.Call) or node in inside:
                continue
            arguments = [*node.args, *(k.value for k in node.keywords)]
            called = project.qualname(source, node.func)
            if called == "functools.partial" and node.args:
                called = project.qualname(source, node.args[0])
                arguments = arguments[1:]
            if called in reasons and classes.get(called) is not None:
                yield source, arguments, str(called)


__all__ = ["ClassModel", "Copies", "Uncopyable", "settle"]
