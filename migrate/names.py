"""Which dotted name does an expression mean? Imports, aliases and shadowing, without running anything."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Public re-exports: the module a name is defined in → the name people use. Longest prefix wins.
_CANONICAL_MODULES = {
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


def canonical(name: str) -> str:
    """`flax.linen.linear.Dense` → `flax.linen.Dense`, and so on for every public re-export."""
    head, dot, tail = name.rpartition(".")
    if dot and head in _CANONICAL_MODULES:
        name = f"{_CANONICAL_MODULES[head]}.{tail}"
    return _CANONICAL_NAMES.get(name, name)


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
        nodes: Iterable[ast.AST] | None = None,
    ) -> None:
        """`resolve` maps an absolute dotted name as written to the name that the project knows it by (scripts that
        import their siblings); `nodes` are all nodes of `tree`, where the caller has them already."""
        self.module = module
        self._tree = tree
        self._package = module if is_package else module.rpartition(".")[0]
        self._resolve = resolve
        self.imports: dict[str, str] = {}  # local name → dotted name, of every import anywhere in the file
        self.module_imports: dict[str, str] = {}  # those that are bound at module level when the code runs
        self.imported_modules: set[str] = set()  # `a.b.c` of `import a.b.c` at module level
        self.star_imports: list[str] = []
        self.definitions: dict[str, ast.stmt] = {}  # module-level class, def or single-target assignment
        self._aliases: dict[str, ast.expr] = {}
        self._hidden: dict[ast.AST, frozenset[str]] = {}
        self._collect_imports(nodes if nodes is not None else ast.walk(tree))
        self._collect_module_imports(tree.body)
        self._collect_definitions(tree)

    def _collect_imports(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.update(self.bindings(node))
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    self.star_imports.append(self._known(self._from_base(node)))

    def _collect_module_imports(self, body: list[ast.stmt]) -> None:
        for stmt in body:
            if isinstance(stmt, ast.Import | ast.ImportFrom):
                self.module_imports.update(self.bindings(stmt))
                if isinstance(stmt, ast.Import):
                    self.imported_modules.update(alias.name for alias in stmt.names if not alias.asname)
            elif isinstance(stmt, ast.If) and _is_type_checking(stmt.test):
                self._collect_module_imports(stmt.orelse)
            elif isinstance(stmt, ast.If | ast.Try | ast.With | ast.For | ast.While):
                for field in ("body", "orelse", "finalbody"):
                    self._collect_module_imports(getattr(stmt, field, []))
                for handler in getattr(stmt, "handlers", []):
                    self._collect_module_imports(handler.body)

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
        for stmt in _module_level(tree.body):
            if isinstance(stmt, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self.definitions[stmt.name] = stmt
                counts[stmt.name] = counts.get(stmt.name, 0) + 1
            elif isinstance(stmt, ast.Assign):
                for target in stmt.targets:
                    for name in _bound_names(target):
                        counts[name] = counts.get(name, 0) + 1
                        self.definitions[name] = stmt
                if len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
                    self._aliases[stmt.targets[0].id] = stmt.value
            elif isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.value is not None:
                self.definitions[stmt.target.id] = stmt
                self._aliases[stmt.target.id] = stmt.value
                counts[stmt.target.id] = counts.get(stmt.target.id, 0) + 1
        # An alias is followed only where the name is bound once: `Dense = nn.Dense`.
        for name, count in counts.items():
            if count > 1:
                self._aliases.pop(name, None)

    @functools.cached_property
    def _scope_of(self) -> dict[ast.AST, ast.AST | None]:
        """The scope of every node; built when first asked for."""
        scope_of: dict[ast.AST, ast.AST | None] = {}
        stack: list[tuple[ast.AST, ast.AST | None]] = [(self._tree, None)]
        while stack:
            node, scope = stack.pop()
            for value in node.__dict__.values():
                children: Iterable[object]
                if value.__class__ is list:
                    children = value
                elif isinstance(value, ast.AST):
                    children = (value,)
                else:
                    continue
                for child in children:
                    if not isinstance(child, ast.AST) or child in scope_of or isinstance(child, ast.expr_context):
                        continue
                    scope_of[child] = scope
                    inner = scope
                    if isinstance(child, _SCOPES):
                        for outside in _evaluated_outside(child):
                            scope_of[outside] = scope
                            stack.append((outside, scope))
                        inner = child
                    elif isinstance(child, _COMPREHENSIONS):
                        first = child.generators[0].iter  # evaluated before the comprehension's scope exists
                        scope_of[first] = scope
                        stack.append((first, scope))
                        inner = child
                    stack.append((child, inner))
        return scope_of

    def _hidden_by(self, scope: ast.AST) -> frozenset[str]:
        """The names that one scope binds."""
        found = self._hidden.get(scope)
        if found is None:
            if isinstance(scope, _COMPREHENSIONS):
                found = frozenset(name for part in scope.generators for name in _bound_names(part.target))
            else:
                found = frozenset(_local_bindings(scope))
            self._hidden[scope] = found
        return found

    @functools.cached_property
    def local_names(self) -> frozenset[str]:
        """Every name that some function, class or comprehension of the file binds."""
        scopes = [node for node in self._scope_of if isinstance(node, (*_SCOPES, *_COMPREHENSIONS))]
        return frozenset().union(*map(self._hidden_by, scopes))

    def scope_of(self, node: ast.AST) -> ast.AST | None:
        """The innermost function, lambda, class or comprehension around `node`, None at module level."""
        return self._scope_of.get(node)

    def binding_scope(self, name: str, node: ast.AST) -> ast.AST | None:
        """The function, lambda, class or comprehension that binds `name` as used at `node`; None: the module."""
        scope = self._scope_of.get(node)
        first = True
        while scope is not None:
            if name in self._hidden_by(scope) and (first or not isinstance(scope, ast.ClassDef)):
                return scope
            scope = self._scope_of.get(scope)
            first = False
        return None

    def bound_in(self, scope: ast.AST) -> frozenset[str]:
        """The names that a function, lambda, class or comprehension binds."""
        return self._hidden_by(scope)

    def is_hidden(self, name: str, node: ast.AST) -> bool:
        """Is `name`, as used at `node`, bound by a scope inside the module?"""
        scope = self._scope_of.get(node)
        first = True
        while scope is not None:
            # A class body's names are visible in the class body only, not in its methods.
            if name in self._hidden_by(scope) and (first or not isinstance(scope, ast.ClassDef)):
                return True
            scope = self._scope_of.get(scope)
            first = False
        return False

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
            return f"{base}.{node.attr}" if base else None
        if not isinstance(node, ast.Name):
            return None
        if node.id not in self.definitions and node.id not in self.imports:
            return None
        if self.is_hidden(node.id, node):
            return None
        if node.id in self._aliases and depth < 8:
            target = self._raw(self._aliases[node.id], depth + 1)
            if target and target != f"{self.module}.{node.id}":
                return target
        if node.id in self.definitions:
            return f"{self.module}.{node.id}" if self.module else node.id
        if node.id in self.imports:
            return self.imports[node.id]
        return None


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _evaluated_outside(scope: ast.AST) -> Iterator[ast.AST]:
    """Parts of a function, lambda or class that belong to the scope around it: decorators, defaults, annotations,
    bases."""
    yield from getattr(scope, "decorator_list", ())
    if isinstance(scope, ast.ClassDef):
        yield from scope.bases
        for keyword in scope.keywords:
            yield keyword.value
        return
    arguments: ast.arguments = scope.args  # type: ignore[attr-defined]
    yield from arguments.defaults
    yield from (default for default in arguments.kw_defaults if default is not None)
    extra = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]:
        if arg.annotation is not None:
            yield arg.annotation
    returns = getattr(scope, "returns", None)
    if returns is not None:
        yield returns


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run at import: also those inside module-level if, try, with, for and while."""
    for stmt in body:
        yield stmt
        for field in ("body", "orelse", "finalbody"):
            if isinstance(stmt, ast.If | ast.Try | ast.With | ast.For | ast.While):
                yield from _module_level(getattr(stmt, field, []))
        for handler in getattr(stmt, "handlers", []):
            yield from _module_level(handler.body)


def _bound_names(target: ast.AST) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id


def _local_bindings(scope: ast.AST) -> Iterator[str]:
    """Names that a function, lambda or class binds in its own scope, imports left out (they are resolved)."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = scope.args
        for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            yield arg.arg
        for extra in (arguments.vararg, arguments.kwarg):
            if extra:
                yield extra.arg
    if isinstance(scope, ast.Lambda):
        return
    declared_global: set[str] = set()
    found: set[str] = set()
    stack: list[ast.AST] = list(scope.body)  # type: ignore[attr-defined]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Global):
            declared_global.update(node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            stack.extend(node.decorator_list)
            continue
        elif isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, ast.MatchAs | ast.MatchStar) and node.name
        ):
            found.add(node.name)
        stack.extend(ast.iter_child_nodes(node))
    yield from found - declared_global
