"""Which dotted name does an expression mean? Imports, aliases and shadowing, without running anything."""

from __future__ import annotations

import ast
import functools
import keyword
from collections.abc import Callable, Iterable, Iterator

from .trees import FlatTree, subtree

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Public re-exports: the module a name is defined in → the name people use. Longest prefix wins.
_CANONICAL_MODULES = {
    "jax.api": "jax",  # of jax 0.2
    "flax.linen.linear": "flax.linen",
    "flax.linen.activation": "flax.linen",
    "flax.linen.attention": "flax.linen",
    "flax.linen.batch_apply": "flax.linen",
    "flax.linen.combinators": "flax.linen",
    "flax.linen.module": "flax.linen",
    "flax.linen.normalization": "flax.linen",
    "flax.linen.pooling": "flax.linen",
    "flax.linen.recurrent": "flax.linen",
    "flax.linen.spmd": "flax.linen",
    "flax.linen.stochastic": "flax.linen",
    "flax.linen.summary": "flax.linen",
    "flax.linen.transforms": "flax.linen",
    "flax.core.meta": "flax.linen.meta",
    "flax.core.frozen_dict": "flax.core",
    "flax.core.spmd": "flax.linen",
    "jax.nn.initializers": "jax.nn.initializers",
    "flax.linen.initializers": "flax.linen.initializers",
    "jax.experimental.pjit": "jax.experimental.pjit",
    "jax._src.numpy": "jax.numpy",
}
_CANONICAL_NAMES = {
    "flax.linen.meta.Partitioned": "flax.linen.Partitioned",
    "flax.linen.meta.with_partitioning": "flax.linen.with_partitioning",
    "flax.linen.meta.get_partition_spec": "flax.linen.get_partition_spec",
    "flax.linen.meta.get_sharding": "flax.linen.get_sharding",
    "flax.linen.meta.unbox": "flax.linen.unbox",
    "flax.core.AxisMetadata": "flax.linen.meta.AxisMetadata",
    "flax.core.map_axis_meta": "flax.linen.meta.map_axis_meta",
    "flax.core.unbox": "flax.linen.unbox",
    "flax.core.broadcast": "flax.linen.broadcast",
    "flax.core.axes_scan.broadcast": "flax.linen.broadcast",
    "flax.linen.meta.PARTITION_NAME": "flax.linen.PARTITION_NAME",
    "jax.interpreters.pxla.Mesh": "jax.sharding.Mesh",
    "jax.interpreters.pxla.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.experimental.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.experimental.pjit.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.P": "jax.sharding.PartitionSpec",
    "jax.NamedSharding": "jax.sharding.NamedSharding",
    "jax.Mesh": "jax.sharding.Mesh",
    "flax.linen.checkpoint": "flax.linen.remat",
}


def is_attribute_name(name: str) -> bool:
    """Can `name` stand after a dot? `if` and `lambda`, common names of parameters, are identifiers and cannot."""
    return name.isidentifier() and not keyword.iskeyword(name)


def canonical(name: str) -> str:
    """`flax.linen.linear.Dense` → `flax.linen.Dense`, and so on for every public re-export."""
    if name.startswith("flax.experimental.nnx."):  # of flax 0.8
        name = f"flax.nnx.{name.removeprefix('flax.experimental.nnx.')}"
    head, dot, tail = name.rpartition(".")
    if dot and head in _CANONICAL_MODULES:
        name = f"{_CANONICAL_MODULES[head]}.{tail}"
    return _CANONICAL_NAMES.get(name, name)


def value_given(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement at module level gives `name`: of `WIDTH, DEPTH = 4, 2` one item; None where the text does not say."""
    value = getattr(statement, "value", None)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    target = next((target for target in targets if name in bound_names(target)), None)
    while isinstance(target, ast.Tuple | ast.List):
        items = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        if len(items) != len(target.elts) or any(isinstance(part, ast.Starred) for part in [*items, *target.elts]):
            return None
        pairs = zip(target.elts, items)
        target, value = next(((t, v) for t, v in pairs if name in bound_names(t)), (None, None))
    return value


class Names:
    """Import bindings of one module and the names that local scopes hide.

    `qualname(node)` answers the dotted name that a Name or Attribute chain means when it leads back to an import
    or to a definition at module level, else None. Names of this module itself come out as `<module>.<name>`.
    """

    def __init__(
        self,
        tree: ast.Module,
        module: str,
        *,
        is_package: bool = False,
        resolve: Callable[[str], str] | None = None,
        flat: FlatTree | None = None,
    ) -> None:
        """`resolve` maps an absolute dotted name as written to the name that the project knows it by (scripts that
        import their siblings); `flat` is `tree` laid flat, where the caller has it already."""
        self.module = module
        self._tree = tree
        self._package = module if is_package else module.rpartition(".")[0]
        self._resolve = resolve
        # Local name → dotted name, of every import anywhere in the file; where there are several, that of the file's own.
        self.imports: dict[str, str] = {}
        self.file_imports: frozenset[str]  # the names that are imported at module level, or in its branches
        self.alternatives: dict[str, set[str]] = {}  # name → what else conditions of the file import it as
        self._either: set[str] = set()  # names that a condition imports from JAX or from elsewhere
        self._imports_inside: dict[str, dict[ast.AST, str]] = {}  # name → function or class → what it imports
        self.module_imports: dict[str, str]  # those that are bound at module level when the code runs
        self.imported_modules: set[str]  # `a.b.c` of `import a.b.c` at module level
        self.star_imports: list[str] = []
        self.star_names: dict[str, str] = {}  # what stars bring from the project's files; the project fills it in
        self.definitions: dict[str, ast.stmt] = {}  # module-level class, def or single-target assignment
        self._aliases: dict[str, ast.expr] = {}
        self._bound: dict[str, int]  # by how many statements at module level each of these is bound
        self._scopes: dict[ast.AST, ast.AST | None] = {}  # answers of `scope_of`
        self._binding: dict[str, frozenset[ast.AST]] = {}  # answers of `_scopes_that_bind`
        self._flat = flat if flat is not None else FlatTree(tree)
        imports = [*self._flat.by_kind.get(ast.Import, ()), *self._flat.by_kind.get(ast.ImportFrom, ())]
        self._collect_imports(tree, sorted(imports, key=lambda node: node.lineno))  # type: ignore[attr-defined]
        bound = self._bound_by_imports(tree.body)
        self.module_imports = {local: dotted for local, dotted in bound.items() if dotted}
        self.imported_modules = bound.keys() - self.module_imports.keys()
        self._collect_definitions(tree)

    def _collect_imports(self, tree: ast.Module, nodes: Iterable[ast.AST]) -> None:
        inside: list[tuple[ast.AST, str, str]] = []  # what functions and classes import, with the scope
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                bound = dict(self.bindings(node))
                scope = self.scope_of(node)
                if scope is not None:
                    inside += [(scope, local, dotted) for local, dotted in bound.items()]
                    bound = {}
                elif isinstance(self._flat.parents.get(node), ast.ExceptHandler):  # in place of a Flax that there was not
                    bound = {local: dotted for local, dotted in bound.items() if not self._is_of_stack(local)}
                if bound and node not in tree.body:
                    known = {local: self.imports[local] for local in bound if local in self.imports}
                    self._either.update(local for local, was in known.items() if _differ(was, bound[local]))
                    for local, was in known.items():
                        if was != bound[local]:
                            self.alternatives.setdefault(local, {was}).add(bound[local])
                self.imports.update(bound)
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    self.star_imports.append(self._known(self._from_base(node)))
        self.file_imports = frozenset(self.imports)
        for _, local, dotted in inside:
            if local not in self.file_imports:
                self.imports[local] = dotted
        for scope, local, dotted in inside:
            self._imports_inside.setdefault(local, {})[scope] = dotted

    def imported(self, node: ast.Name) -> str | None:
        """The dotted name that a name was imported as where it stands; None where it was not."""
        scope = self.importing_scope(node)
        return self._imports_inside[node.id][scope] if scope is not None else self.imports.get(node.id)

    def imported_inside(self, name: str) -> bool:
        """Does a function or class import something by that name that the file does not have by it?"""
        return any(dotted != self.module_imports.get(name) for dotted in self._imports_inside.get(name, {}).values())

    def importing_scope(self, node: ast.Name) -> ast.AST | None:
        """The function or class around a name that imports it; None where the file does, or nothing."""
        inside = self._imports_inside.get(node.id)
        own = scope = self.scope_of(node) if inside is not None else None
        while scope is not None and inside is not None:
            if scope in inside and (scope is own or not isinstance(scope, ast.ClassDef)):  # a class's are not its methods'
                return scope
            scope = self.scope_of(scope)
        return None

    def _bound_by_imports(self, body: list[ast.stmt]) -> dict[str, str]:
        """What is bound whenever the code runs: not what one branch alone imports (`if __name__ == "__main__":`).

        Submodules, which have no name of their own (`import a.b.c`), are told by their dotted names.
        """
        found: dict[str, str] = {}
        for stmt in body:
            if isinstance(stmt, ast.Import | ast.ImportFrom):
                found.update(self.bindings(stmt))
                if isinstance(stmt, ast.Import):
                    found.update({alias.name: "" for alias in stmt.names if not alias.asname and "." in alias.name})
            elif isinstance(stmt, ast.If):
                other = self._bound_by_imports(stmt.orelse)
                either = other if is_type_checking(stmt.test) else self._bound_by_imports(stmt.body)
                found.update({local: dotted for local, dotted in either.items() if local in other})
            elif isinstance(stmt, ast.Try | ast.With):
                for field in ("body", "orelse", "finalbody"):
                    found.update(self._bound_by_imports(getattr(stmt, field, [])))
                for handler in getattr(stmt, "handlers", []):
                    found.update(self._bound_by_imports(handler.body))
        return found

    def bindings(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
        """(local name, dotted name) of each name that an import statement binds; star imports bind none."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, self._known(alias.name)
                else:
                    top = alias.name.partition(".")[0]
                    yield top, self._known(top)
            return
        base = self._from_base(node)
        for alias in node.names:
            if alias.name != "*":
                yield alias.asname or alias.name, self._known(f"{base}.{alias.name}" if base else alias.name)

    def _known(self, dotted: str) -> str:
        return self._resolve(dotted) if self._resolve is not None else dotted

    def _from_base(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self._package.split(".") if self._package else []
        if node.level > 1:
            package = package[: len(package) - (node.level - 1)]
        return ".".join([*package, *([node.module] if node.module else [])])

    def _collect_definitions(self, tree: ast.Module) -> None:
        counts: dict[str, int] = {}
        for stmt in module_level(tree.body):
            if self._stands_in(stmt):
                continue
            if isinstance(stmt, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self.definitions[stmt.name] = stmt
                counts[stmt.name] = counts.get(stmt.name, 0) + 1
            elif isinstance(stmt, ast.Assign):
                for target in stmt.targets:
                    for name in bound_names(target):
                        counts[name] = counts.get(name, 0) + 1
                        self.definitions[name] = stmt
                if len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
                    self._aliases[stmt.targets[0].id] = stmt.value
            elif isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.value is not None:
                self.definitions[stmt.target.id] = stmt
                self._aliases[stmt.target.id] = stmt.value
                counts[stmt.target.id] = counts.get(stmt.target.id, 0) + 1
        self._bound = counts
        # An alias is followed only where the name is bound once: `Dense = nn.Dense`.
        again = {name for name, count in counts.items() if count > 1} | self.file_imports
        for scope, names in self._globals.items():
            again |= names.intersection(bound_names(scope if scope is not None else tree))
        for statement in module_level(tree.body):
            again.update(name for target in other_targets(statement) for name in bound_names(target))
        for name in again & self._aliases.keys():
            del self._aliases[name]

    def _is_of_stack(self, name: str) -> bool:
        return self.imports.get(name, "").partition(".")[0] in _STACK

    def _stands_in(self, stmt: ast.stmt) -> bool:
        """Does a statement only bind a name where its import failed, or was not wanted: `except ImportError: nn = None`?"""
        if isinstance(stmt, ast.ClassDef | ast.FunctionDef):
            names = {stmt.name}
        elif isinstance(stmt, ast.Assign) and all(isinstance(target, ast.Name) for target in stmt.targets):
            names = {target.id for target in stmt.targets if isinstance(target, ast.Name)}
        else:
            return False
        if not names <= self.file_imports or isinstance(self._flat.parents.get(stmt), ast.Module):
            return False
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None:
            return True
        return isinstance(self._flat.parents.get(stmt), ast.ExceptHandler) and all(map(self._is_of_stack, names))

    # scopes ----------------------------------------------------------------------------------------------------
    def scope_of(self, node: ast.AST) -> ast.AST | None:
        """The innermost function, lambda, class or comprehension around `node`, None at module level.

        Decorators, defaults, annotations, bases and the first iterable of a comprehension belong to the scope around.
        """
        try:
            return self._scopes[node]
        except KeyError:
            pass
        parents = self._flat.parents
        below: ast.AST | None = None
        child, parent = node, parents.get(node)
        while parent is not None:
            if isinstance(parent, _SCOPES):
                if not _evaluated_outside(parent, child, below, node):
                    break
            elif isinstance(parent, _COMPREHENSIONS) and (child is not parent.generators[0] or below is not child.iter):  # type: ignore[attr-defined]
                break
            below, child, parent = child, parent, parents.get(parent)
        self._scopes[node] = parent
        return parent

    @functools.cached_property
    def _binders(self) -> dict[str, list[ast.AST]]:
        """Name → the nodes that bind it, anywhere in the file; imports left out (they are resolved)."""
        found: dict[str, list[ast.AST]] = {}
        by_kind = self._flat.by_kind
        for node in by_kind.get(ast.Name, ()):
            if node.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]
                found.setdefault(node.id, []).append(node)  # type: ignore[attr-defined]
        for node in by_kind.get(ast.arg, ()):
            found.setdefault(node.arg, []).append(node)  # type: ignore[attr-defined]
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
            for node in by_kind.get(kind, ()):
                if node.name:  # type: ignore[attr-defined]
                    found.setdefault(node.name, []).append(node)  # type: ignore[attr-defined]
        return found

    def binders(self, name: str) -> list[ast.AST]:
        """The nodes that bind a name, anywhere in the file; imports left out."""
        return self._binders.get(name, [])

    def bound_by(self, node: ast.AST) -> ast.AST | None:
        """The scope in which a binder binds its name; None for the module."""
        if isinstance(node, ast.arg):
            return self._flat.parents[self._flat.parents[node]]
        scope = self.scope_of(node)
        if not isinstance(node, ast.Name):
            return scope
        parent = self._flat.parents.get(node)
        if isinstance(parent, ast.NamedExpr) and parent.target is node:
            while isinstance(scope, (ast.Lambda, *_COMPREHENSIONS)):
                scope = self.scope_of(scope)
        return None if scope is not None and node.id in self._globals.get(scope, ()) else scope

    @functools.cached_property
    def _globals(self) -> dict[ast.AST | None, set[str]]:
        found: dict[ast.AST | None, set[str]] = {}
        for node in self._flat.by_kind.get(ast.Global, ()):
            found.setdefault(self.scope_of(node), set()).update(node.names)  # type: ignore[attr-defined]
        return found

    def _scopes_that_bind(self, name: str) -> frozenset[ast.AST]:
        known = self._binding.get(name)
        if known is None:
            scopes = {self.bound_by(node) for node in self._binders.get(name, ())}
            known = self._binding[name] = frozenset(scope for scope in scopes if scope is not None)
        return known

    @functools.cached_property
    def _names_of(self) -> dict[ast.AST, frozenset[str]]:
        """Scope → the names that it binds."""
        found: dict[ast.AST, set[str]] = {}
        for name in self._binders:
            for scope in self._scopes_that_bind(name):
                found.setdefault(scope, set()).add(name)
        return {scope: frozenset(names) for scope, names in found.items()}

    @functools.cached_property
    def local_names(self) -> frozenset[str]:
        """Every name that some function, class or comprehension of the file binds."""
        return frozenset().union(*self._names_of.values())

    def binding_scope(self, name: str, node: ast.AST) -> ast.AST | None:
        """The function, lambda, class or comprehension that binds `name` as used at `node`; None: the module."""
        binding = self._scopes_that_bind(name)
        if not binding:
            return None
        scope = self.scope_of(node)
        first = True
        while scope is not None:
            # A class body's names are visible in the class body only, not in its methods.
            if scope in binding and not isinstance(scope, ast.ClassDef):
                return scope
            if scope in binding and first and not self._is_read_before(name, node, scope):
                return scope
            scope = self.scope_of(scope)
            first = False
        return None

    def _is_read_before(self, name: str, node: ast.AST, scope: ast.AST) -> bool:
        """Does a class body read a name above all that binds it, as in `state = state`? That is what it is outside."""
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return False
        read = self._statement_of(node, scope)
        for binder in self._binders.get(name, ()):
            if self.bound_by(binder) is scope:
                bound = self._statement_of(binder, scope)
                plain = isinstance(bound, ast.Assign | ast.AnnAssign | ast.AugAssign)
                if bound.lineno < read.lineno or (bound is read and not plain):
                    return False
        return True

    def _statement_of(self, node: ast.AST, scope: ast.AST) -> ast.stmt:
        """The statement of a class body that a node is part of."""
        while (parent := self._flat.parents[node]) is not scope:
            node = parent
        assert isinstance(node, ast.stmt)
        return node

    def bound_in(self, scope: ast.AST) -> frozenset[str]:
        """The names that a function, lambda, class or comprehension binds."""
        return self._names_of.get(scope, frozenset())

    def is_hidden(self, name: str, node: ast.AST) -> bool:
        """Is `name`, as used at `node`, bound by a scope inside the module?"""
        return self.binding_scope(name, node) is not None

    def given_to_stars(self) -> list[str]:
        """The names that `from this import *` brings: those of a literal `__all__`, or all that are not private."""
        said = self._aliases.get("__all__")
        if isinstance(said, ast.List | ast.Tuple) and all(isinstance(name, ast.Constant) for name in said.elts):
            return [str(name.value) for name in said.elts if isinstance(name, ast.Constant)]
        found = dict.fromkeys([*self.definitions, *self.file_imports, *self.star_names])
        return [name for name in found if not name.startswith("_")]

    @property
    def single_assignments(self) -> dict[str, ast.expr]:
        """Module-level names that are bound once, by an assignment, with their value."""
        return self._aliases

    def raw_qualname(self, node: ast.AST) -> str | None:
        """As `qualname`, by the path that the file itself spells: `jax.interpreters.pxla.PartitionSpec` stays that."""
        return self._raw(node, 0)

    def qualname(self, node: ast.AST) -> str | None:
        """Canonical dotted name of an expression, or None where it is local or computed."""
        found = self._raw(node, 0)
        return canonical(found) if found else None

    def _raw(self, node: ast.AST, depth: int) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self._raw(node.value, depth)
            if base is None and isinstance(node.value, ast.Name) and depth < 8:
                base = self._local_alias(node.value, depth)
            return f"{base}.{node.attr}" if base else None
        if not isinstance(node, ast.Name):
            return None
        if node.id not in self.definitions and node.id not in self.imports:
            starred = self.star_names.get(node.id)
            if starred is None or self.is_hidden(node.id, node):
                return self._local_class(node)
            return starred
        if self.is_hidden(node.id, node):
            return self._local_class(node)
        if node.id in self._imports_inside and (scope := self.importing_scope(node)) is not None:
            return self._imports_inside[node.id][scope]
        if self._is_taken_over(node):
            return self.module_imports.get(node.id) if self._bound[node.id] == 1 else None
        if node.id in self._aliases and depth < 8:
            target = self._raw(self._aliases[node.id], depth + 1)
            if target and target != f"{self.module}.{node.id}":
                return target
        if node.id in self.definitions:
            return f"{self.module}.{node.id}" if self.module else node.id
        if node.id in self._either:
            return f"{self.module}.{node.id}" if self.module else node.id
        return self.imports.get(node.id)

    def _is_taken_over(self, node: ast.Name) -> bool:
        """`class TrainState(TrainState)`: the name still means what it meant before this class takes it."""
        owner = self.definitions.get(node.id)
        if not isinstance(owner, ast.ClassDef) or self.scope_of(node) is not None:
            return False
        parent: ast.AST | None = node
        while parent is not None and parent is not owner:
            parent = self._flat.parents.get(parent)
        return parent is owner

    def _local_alias(self, node: ast.Name, depth: int) -> str | None:
        """What a name of a function stands for that it binds once, to another name: `m = models`, of `m.Encoder`."""
        values = self._local_aliases.get(node.id)
        if values is None or node.id in self.imports or node.id in self._nonlocals:
            return None  # or an import may bind it in the function, or an inner function bind it anew
        scope = self.binding_scope(node.id, node)
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        bound = [binder for binder in self._binders[node.id] if self.bound_by(binder) is scope]
        return self._raw(values[bound[0]], depth + 1) if len(bound) == 1 and bound[0] in values else None

    @functools.cached_property
    def _nonlocals(self) -> frozenset[str]:
        return frozenset(name for node in self._flat.by_kind.get(ast.Nonlocal, ()) for name in node.names)  # type: ignore[attr-defined]

    @functools.cached_property
    def _local_aliases(self) -> dict[str, dict[ast.AST, ast.expr]]:
        """Names within functions, with the names that are assigned to them: `m = models`, `nn = flax.linen`."""
        found: dict[str, dict[ast.AST, ast.expr]] = {}
        for node in self._flat.by_kind.get(ast.Assign, ()):
            assert isinstance(node, ast.Assign)
            target, value = node.targets[0], node.value
            plain = len(node.targets) == 1 and isinstance(target, ast.Name) and isinstance(value, ast.Name | ast.Attribute)
            if plain and self.scope_of(node) is not None:
                found.setdefault(target.id, {})[target] = value  # type: ignore[attr-defined]
        return found

    def _local_class(self, node: ast.Name) -> str | None:
        """The full name of the one class that a function binds to a name; None for any other local name."""
        if node.id not in self._local_class_names:
            return None
        scope = self.binding_scope(node.id, node)
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        bound = [binder for binder in self._binders[node.id] if self.bound_by(binder) is scope]
        return self.nested_name(bound[0]) if len(bound) == 1 and isinstance(bound[0], ast.ClassDef) else None

    @functools.cached_property
    def _local_class_names(self) -> frozenset[str]:
        found = self._flat.by_kind.get(ast.ClassDef, ())
        return frozenset(node.name for node in found if self.scope_of(node) is not None)  # type: ignore[attr-defined]

    def nested_name(self, node: ast.ClassDef) -> str:
        """The full name of a class: those of the classes and functions around it are part of it."""
        parts = [node.name]
        scope = self.scope_of(node)
        while scope is not None:
            if isinstance(scope, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                parts.append(scope.name)
            scope = self.scope_of(scope)
        return ".".join([*([self.module] if self.module else []), *reversed(parts)])


def is_running(test: ast.expr) -> bool:
    """Is it `not TYPE_CHECKING`, which always holds when code runs?"""
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and is_type_checking(test.operand)


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _evaluated_outside(scope: ast.AST, child: ast.AST, below: ast.AST | None, node: ast.AST) -> bool:
    """Does `node`, within `below`, in `child`, in a function, lambda or class, belong to the scope around that?

    Decorators, defaults, annotations and bases do.
    """
    if isinstance(child, ast.arguments):
        return below is not None and not (isinstance(below, ast.arg) and node is below)
    if isinstance(scope, ast.ClassDef):
        return (
            child in scope.decorator_list or child in scope.bases or (isinstance(child, ast.keyword) and node is not child)
        )
    if isinstance(scope, ast.Lambda):
        return False
    return child in scope.decorator_list or child is scope.returns  # type: ignore[attr-defined]


def module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run at import: also those inside module-level if, try, with, for and while."""
    for stmt in body:
        yield stmt
        for field in ("body", "orelse", "finalbody"):
            if isinstance(stmt, ast.If | ast.Try | ast.With | ast.For | ast.While):
                yield from module_level(getattr(stmt, field, []))
        for handler in getattr(stmt, "handlers", []):
            yield from module_level(handler.body)


_STACK = frozenset({"jax", "flax"})  # what a program that is migrated has


def _differ(one: str, other: str) -> bool:
    """Is one of two dotted names JAX's or Flax's, and the other not?"""
    return (one.partition(".")[0] in _STACK) is not (other.partition(".")[0] in _STACK)


def other_targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement binds that gives no value which could be followed: a loop, `with`, `+=`, `del`."""
    if isinstance(statement, ast.For | ast.AugAssign):
        return [statement.target]
    if isinstance(statement, ast.With):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return statement.targets if isinstance(statement, ast.Delete) else []


def bound_names(target: ast.AST) -> Iterator[str]:
    for node in subtree(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
