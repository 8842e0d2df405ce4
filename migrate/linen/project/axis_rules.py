"""Logical axis rules: where a project states them, and what names resolve to under Linen's and under NNX's reading.

Linen walks the rules in order and gives each mesh axis to one dimension only; names without a rule stay unsharded.
NNX looks names up in a dict: the last duplicate wins, a mesh axis may be taken twice, unknown names are kept as mesh
axes. (flax 0.12.8, `flax/linen/spmd.py` against `flax/core/spmd.py`.)
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...trees import subtree

if TYPE_CHECKING:
    from ...source import SourceFile
    from .index import Project

MeshAxes = str | tuple[str, ...] | None
Rules = tuple[tuple[str, MeshAxes], ...]
Names = tuple[str | None, ...]
Spec = tuple[MeshAxes, ...]

# Callables that put rules in force: canonical name → position of the rules argument (its keyword is `rules`).
RULE_SETTERS = {
    "flax.linen.logical_axis_rules": 0,
    "flax.linen.set_logical_axis_rules": 0,
    "flax.linen.partitioning.axis_rules": 0,
    "flax.linen.partitioning.set_axis_rules": 0,
    "flax.nnx.logical_axis_rules": 0,
}
# Callables that take rules for one use.
RULE_TAKERS = {
    "flax.linen.with_logical_constraint": 2,
    "flax.linen.with_logical_partitioning": 3,
    "flax.linen.LogicallyPartitioned": 3,
    "flax.linen.logical_to_mesh": 1,
    "flax.linen.logical_to_mesh_axes": 1,
    "flax.linen.logical_to_mesh_sharding": 2,
    "flax.linen.partitioning.logical_to_mesh": 1,
    "flax.linen.partitioning.logical_to_mesh_axes": 1,
}
# Callables over whole trees of specs: a project that uses them sees logical names, so names must stay logical.
SPEC_READERS = frozenset(
    {
        "flax.linen.get_partition_spec",
        "flax.linen.get_sharding",
        "flax.linen.logical_to_mesh",
        "flax.linen.logical_to_mesh_axes",
        "flax.linen.logical_to_mesh_sharding",
        "flax.linen.partitioning.logical_to_mesh",
        "flax.linen.partitioning.logical_to_mesh_axes",
        "flax.linen.partitioning.get_axis_names",
        "flax.linen.LogicallyPartitioned",
    }
)
_MISSING = object()


@dataclasses.dataclass(frozen=True)
class FoundRules:
    """What is known of a project's rules. `rules` is None where they are not one literal; `reason` then says why."""

    rules: Rules | None
    reason: str = ""


def resolve(names: Names, rules: Rules) -> Spec:
    """Linen's resolution. Raises ValueError where one name stands on two dimensions, as Linen does."""
    doubled = sorted({name for name in names if name is not None and names.count(name) > 1})
    if doubled:
        raise ValueError(f"the names {doubled} stand on more than one dimension of {names}: Linen refuses such an array")
    unassigned = object()
    result: list[object] = [unassigned if name is not None else None for name in names]
    taken: set[str] = set()
    for name, axes in rules:
        if name not in names:
            continue
        position = names.index(name)
        wanted = _axes(axes)
        if result[position] is unassigned and not wanted & taken:
            result[position] = axes
            taken |= wanted
    return tuple(None if item is unassigned else item for item in result)  # type: ignore[misc]


def resolve_nnx(names: Names, rules: Rules) -> Spec:
    """What NNX makes of the same names and rules; the result may name axes twice, which JAX then refuses."""
    table: dict[str | None, MeshAxes] = dict(rules)
    return tuple(table.get(name, name) for name in names)


def agree(names: Names, rules: Rules) -> bool:
    """Would plain NNX resolve these names as Linen does?"""
    try:
        return resolve(names, rules) == resolve_nnx(names, rules)
    except ValueError:
        return False


def mesh_axes(rules: Rules) -> frozenset[str]:
    """Every mesh axis that the rules mention."""
    return frozenset(axis for _, axes in rules for axis in _axes(axes))


def _axes(axes: MeshAxes) -> set[str]:
    if axes is None:
        return set()
    return {axes} if isinstance(axes, str) else set(axes)


def literal(project: Project | None, source: SourceFile, node: ast.AST, depth: int = 0) -> object:
    """The value of a literal, following names that are bound once, across files; `_MISSING` where it is none."""
    if depth > 12:
        return _MISSING
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        items = [literal(project, source, item, depth + 1) for item in node.elts]
        return _MISSING if any(item is _MISSING for item in items) else tuple(items)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (literal(project, source, side, depth + 1) for side in (node.left, node.right))
        return left + right if isinstance(left, tuple) and isinstance(right, tuple) else _MISSING
    if isinstance(node, ast.Call) and not node.keywords:
        called = _qualname(project, source, node.func)
        if called == "jax.sharding.PartitionSpec":
            return literal(project, source, ast.Tuple(node.args, ast.Load()), depth + 1)
        if isinstance(node.func, ast.Name) and node.func.id in ("tuple", "list") and len(node.args) == 1:
            return literal(project, source, node.args[0], depth + 1)
        return _MISSING
    if isinstance(node, ast.Name | ast.Attribute):
        found = _definition(project, source, node)
        if found is not None:
            return literal(project, found[0], found[1], depth + 1)
    return _MISSING


def _qualname(project: Project | None, source: SourceFile, node: ast.AST) -> str | None:
    return project.qualname(source, node) if project is not None else source.names.qualname(node)


def _definition(project: Project | None, source: SourceFile, node: ast.AST) -> tuple[SourceFile, ast.expr] | None:
    """The one value that a module-level name is bound to."""
    if isinstance(node, ast.Name) and source.names.is_hidden(node.id, node):
        return _local_definition(source, node)
    if isinstance(node, ast.Name) and node.id in source.names.single_assignments:
        return source, source.names.single_assignments[node.id]
    name = _qualname(project, source, node)
    if name is None or project is None:
        return None
    module, _, attribute = name.rpartition(".")
    other = project.files.get(module)
    if other is None or attribute not in other.names.single_assignments:
        return None
    return other, other.names.single_assignments[attribute]


def _local_definition(source: SourceFile, node: ast.Name) -> tuple[SourceFile, ast.expr] | None:
    """The one assignment to a local name inside the function that holds `node`."""
    for scope in source.ancestors(node):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        stores = [n for n in subtree(scope) if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)]
        parameters = [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]
        if node.id in parameters:
            return None
        if len(stores) == 1:
            statement = source.parents.get(stores[0])
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is stores[0]:
                return source, statement.value
            return None
    return None


def as_rules(value: object) -> Rules | None:
    """A literal as rules, or None where it is not a sequence of (name, axis, axes or None) pairs."""
    if not isinstance(value, tuple) or not value:
        return None
    for pair in value:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            return None
        axes = pair[1]
        if not (
            axes is None or isinstance(axes, str) or (isinstance(axes, tuple) and all(isinstance(a, str) for a in axes))
        ):
            return None
    return value


def as_names(value: object) -> Names | None:
    """A literal as the names of an array's dimensions."""
    if isinstance(value, tuple) and all(item is None or isinstance(item, str) for item in value):
        return value
    return None


def literal_rules(project: Project | None, source: SourceFile, node: ast.AST) -> Rules | None:
    return as_rules(literal(project, source, node))


def literal_names(project: Project | None, source: SourceFile, node: ast.AST) -> Names | None:
    return as_names(literal(project, source, node))


def find_rules(project: Project) -> FoundRules:
    """The one set of rules of a project, where every place that states rules states the same literal."""
    cached = _CACHE.get(id(project))
    if cached is None or cached[0] is not project:
        cached = (project, _find(project))
        _CACHE.clear()
        _CACHE[id(project)] = cached
    return cached[1]


_CACHE: dict[int, tuple[Project, FoundRules]] = {}


def _find(project: Project) -> FoundRules:
    stated: set[Rules] = set()
    for source in project.files.values():
        for node in source.nodes:
            if not isinstance(node, ast.Call):
                continue
            called = project.qualname(source, node.func)
            if called in SPEC_READERS:
                return FoundRules(None, f"{called.rpartition('.')[2]} reads the logical names")
            position = RULE_SETTERS.get(called or "", RULE_TAKERS.get(called or ""))
            if position is None:
                continue
            given = argument(node, position, "rules")
            if given is None or (isinstance(given, ast.Constant) and given.value is None):
                continue
            rules = literal_rules(project, source, given)
            if rules is None:
                return FoundRules(None, f"{source.path}:{node.lineno} takes rules that are not a literal")
            stated.add(rules)
    if not stated:
        stated = _constants(project)
    if len(stated) > 1:
        return FoundRules(None, f"the project states {len(stated)} different sets of rules")
    if not stated:
        return FoundRules(None, "the project states no rules")
    rules = stated.pop()
    names = _stack_names(project)
    if None in names:
        return FoundRules(None, "the name of a stacked axis is not a literal")
    stacked = sorted(name for name in names if name is not None and resolve((name,), rules) != (None,))
    if stacked:
        return FoundRules(None, f"the stacked axis {stacked[0]!r} takes a mesh axis")
    # The resolved names meet the context's rules again in NNX: a rule for a mesh axis' own name would rename them.
    renamed = [name for name, axes in rules if name in mesh_axes(rules) and axes != name]
    if renamed:
        return FoundRules(None, f"{renamed[0]!r} is both a logical name and a mesh axis")
    return FoundRules(rules)


def _stack_names(project: Project) -> set[str | None]:
    """Names that `metadata_params={nn.PARTITION_NAME: ...}` gives to stacked axes; None for one that is not a literal."""
    found: set[str | None] = set()
    for source in project.files.values():
        if "PARTITION_NAME" not in source.text and "partition_name" not in source.text:
            continue
        for node in source.nodes:
            for key, value in zip(node.keys, node.values) if isinstance(node, ast.Dict) else ():
                said = project.qualname(source, key) if key is not None else None
                if said == "flax.linen.PARTITION_NAME" or (isinstance(key, ast.Constant) and key.value == "partition_name"):
                    if not isinstance(value, ast.Constant):
                        found.add(None)
                    elif isinstance(value.value, str):
                        found.add(value.value)
    return found


def stacked_axis(project: Project, name: object) -> str:
    """What follows `nnx.PARTITION_NAME:` in the metadata of a transform that stacks modules under an axis name.

    Variables keep their logical names, so it is the name itself; where they are resolved statically the stacked axis is
    unsharded, else the rules would not have been taken (`find_rules`).
    """
    if name is None or not project.uses_logical_names:
        return repr(name)
    return "None" if find_rules(project).rules is not None else repr(name)


def _constants(project: Project) -> set[Rules]:
    """Module-level literals whose name says that they are rules, for projects that put them in force elsewhere."""
    found = set()
    for source in project.files.values():
        for name, value in source.names.single_assignments.items():
            if "rules" in name.lower() and (rules := literal_rules(project, source, value)):
                found.add(rules)
    return found


def argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """An argument by position or keyword; None where it is absent or hidden behind `*args`."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    if position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return call.args[position]
    return None


def resolve_names(project: Project, names: ast.AST, source: SourceFile | None = None) -> Spec | None:
    """The mesh axes of literal logical names under the project's rules, or None where either is not known statically.

    `source` is the file that `names` stands in; without it only a self-contained literal is understood.
    """
    rules = find_rules(project).rules
    if rules is None:
        return None
    where = source or next(iter(project.files.values()))
    if source is None and not isinstance(names, ast.Tuple | ast.List):
        return None
    found = literal_names(project, where, names)
    if found is None:
        return None
    try:
        return resolve(found, rules)
    except ValueError:
        return None
