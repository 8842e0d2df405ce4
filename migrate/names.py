"""Which dotted name does an expression mean? Imports, aliases and shadowing, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

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

    def __init__(self, tree: ast.Module, module: str, *, is_package: bool = False) -> None:
        self.module = module
        self._package = module if is_package else module.rpartition(".")[0]
        self.imports: dict[str, str] = {}  # local name → dotted name
        self.star_imports: list[str] = []
        self.definitions: dict[str, ast.stmt] = {}  # module-level class, def or single-target assignment
        self._aliases: dict[str, ast.expr] = {}
        self._hidden: dict[ast.AST, frozenset[str]] = {}
        self._scope_of: dict[ast.AST, ast.AST | None] = {}
        self._collect_imports(tree)
        self._collect_definitions(tree)
        self._collect_scopes(tree, None)

    def _collect_imports(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        self.imports[alias.asname] = alias.name
                    else:
                        top = alias.name.partition(".")[0]
                        self.imports[top] = top
            elif isinstance(node, ast.ImportFrom):
                base = self._from_base(node)
                for alias in node.names:
                    if alias.name == "*":
                        self.star_imports.append(base)
                    else:
                        self.imports[alias.asname or alias.name] = f"{base}.{alias.name}" if base else alias.name

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

    def _collect_scopes(self, node: ast.AST, scope: ast.AST | None) -> None:
        for child in ast.iter_child_nodes(node):
            self._scope_of[child] = scope
            if isinstance(child, _SCOPES):
                self._hidden[child] = frozenset(_local_bindings(child))
                # Decorators, defaults and bases are evaluated outside.
                outside: list[ast.AST] = list(getattr(child, "decorator_list", []))
                if isinstance(child, ast.ClassDef):
                    outside += [*child.bases, *[k.value for k in child.keywords]]
                else:
                    outside += [d for d in [*child.args.defaults, *child.args.kw_defaults] if d is not None]
                skip = set(map(id, outside))
                for item in outside:
                    self._scope_of[item] = scope
                    self._collect_scopes(item, scope)
                self._collect_inner(child, child, skip)
            elif isinstance(child, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                self._hidden[child] = frozenset(
                    name for generator in child.generators for name in _bound_names(generator.target)
                )
                self._scope_parent(child, scope)
                self._collect_inner(child, child, set())
            else:
                self._collect_scopes(child, scope)

    def _scope_parent(self, child: ast.AST, scope: ast.AST | None) -> None:
        self._scope_of[child] = scope

    def _collect_inner(self, node: ast.AST, scope: ast.AST, skip: set[int]) -> None:
        for child in ast.iter_child_nodes(node):
            if id(child) in skip:
                continue
            holder = ast.Module(body=[], type_ignores=[])
            holder.body = [child]  # type: ignore[list-item]
            self._collect_scopes(holder, scope)

    def scope_of(self, node: ast.AST) -> ast.AST | None:
        """The innermost function, lambda, class or comprehension around `node`, None at module level."""
        return self._scope_of.get(node)

    def is_hidden(self, name: str, node: ast.AST) -> bool:
        """Is `name`, as used at `node`, bound by a scope inside the module?"""
        scope = self._scope_of.get(node)
        first = True
        while scope is not None:
            # A class body's names are visible in the class body only, not in its methods.
            if name in self._hidden.get(scope, ()) and (first or not isinstance(scope, ast.ClassDef)):
                return True
            scope = self._scope_of.get(scope)
            first = False
        return False

    def qualname(self, node: ast.AST) -> str | None:
        """Canonical dotted name of an expression, or None where it is local or computed."""
        found = self._raw(node, 0)
        return canonical(found) if found else None

    def _raw(self, node: ast.AST, depth: int) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self._raw(node.value, depth)
            return f"{base}.{node.attr}" if base else None
        if not isinstance(node, ast.Name) or self.is_hidden(node.id, node):
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
