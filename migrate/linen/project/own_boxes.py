"""Boxes of the program's own around parameters: subclasses of Linen's `AxisMetadata`.

Linen's layers take such a box from an initializer, open it wherever they read the parameter, and leave it in trees of
variables. A `Functional` gives these trees the same boxes, where opening one gives just the value in it; else modules stay
Linen.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref

from ...source import SourceFile
from .index import Project
from .programs import reached_from

_BASE = "flax.linen.meta.AxisMetadata"
_OTHERS = frozenset({"flax.linen.Partitioned", "flax.linen.LogicallyPartitioned"})
_WORDS = frozenset({"AxisMetadata", "Partitioned", "LogicallyPartitioned"})
_STRUCTS = frozenset({"flax.struct.PyTreeNode", "flax.struct.dataclass"})
_STACKING = frozenset(
    {
        *(f"flax.linen.{name}" for name in ("scan", "vmap", "remat_scan", "map_variables", "add_metadata_axis")),
        *(f"flax.linen.partitioning.{name}" for name in ("scan_with_axes", "vmap_with_axes")),
    }
)
_KEYS = ("key", "rng", "prng", "k", "rng_key", "prng_key", "_")


@dataclasses.dataclass(frozen=True)
class OwnBoxes:
    """`names`: the classes; `reason`: why modules cannot go without Linen's way with them, None where they can.

    `reach`: the modules of the files that may have such a box in their hands.
    """

    names: frozenset[str] = frozenset()
    reason: str | None = None
    reach: frozenset[str] = frozenset()


_found: weakref.WeakKeyDictionary[Project, OwnBoxes] = weakref.WeakKeyDictionary()


def own_boxes(project: Project) -> OwnBoxes:
    """What the project has of them."""
    if project not in _found:
        _found[project] = _find(project)
    return _found[project]


def _find(project: Project) -> OwnBoxes:
    known: dict[str, tuple[SourceFile, ast.ClassDef, list[str]]] = {}
    words = set(_WORDS)
    while True:
        before = len(known)
        for source in project.files.values():
            if words.isdisjoint(source.words):
                continue
            for node in source.by_kind.get(ast.ClassDef, ()):
                assert isinstance(node, ast.ClassDef)
                bases = [project.qualname(source, _plain(base)) or "" for base in node.bases]
                if any(base == _BASE or base in _OTHERS or base in known for base in bases):
                    known[source.names.nested_name(node)] = source, node, bases
                    words.add(node.name)
        if len(known) == before:
            break
    if not known:
        return OwnBoxes()
    names = frozenset(known)
    reach = reached_from(project, _say(project, known))
    for name, (source, node, bases) in known.items():
        why = _unlike(project, source, node, bases) or _made_elsewhere(project, name, node.name)
        if why is not None:
            return OwnBoxes(names, f"a box of the program's own, `{node.name}`, {why}", reach)
    return OwnBoxes(names, None, reach)


def _say(project: Project, known: dict[str, tuple[SourceFile, ast.ClassDef, list[str]]]) -> set[str]:
    """The modules of the files that define or import one of the classes, or may mean one by another name of it."""
    words = {node.name for _, node, _ in known.values()}
    words |= {alias.rpartition(".")[2] for alias in project.aliases if project.canonical(alias) in known}
    defining = {source.module for source, _, _ in known.values()}
    return defining | {module for module, source in project.files.items() if not words.isdisjoint(source.words)}


def _plain(base: ast.expr) -> ast.expr:
    """`AxisMetadata` of `AxisMetadata[A]`."""
    return base.value if isinstance(base, ast.Subscript) else base


def _unlike(project: Project, source: SourceFile, node: ast.ClassDef, bases: list[str]) -> str | None:
    """What a Functional could not hand out or take back."""
    if not set(bases) <= {_BASE, "flax.struct.PyTreeNode", "typing.Generic"}:
        return "derives from more than AxisMetadata"
    said = [project.qualname(source, d.func if isinstance(d, ast.Call) else d) or "" for d in node.decorator_list]
    if _STRUCTS.isdisjoint([*bases, *said]) or not _STRUCTS.issuperset(said):
        return "is no flax.struct dataclass"
    leaves = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and _leaf(s)]
    if len(leaves) != 1:
        return "holds other than one array"
    methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    opened = _returned(methods.get("unbox"))
    if opened is None or ast.unparse(opened) != f"self.{leaves[0]}":
        return f"opens to something else than `self.{leaves[0]}`"
    if all(_is_self(_returned(methods.get(name))) for name in ("add_axis", "remove_axis")):
        return None
    if any(_stacks(project, other) for other in project.files.values()):
        return "changes with the axis of a scan or vmap"
    return None


def _leaf(statement: ast.AnnAssign) -> bool:
    """Is the field's value a part of the tree?"""
    value = statement.value
    said = [k.value for k in value.keywords if k.arg == "pytree_node"] if isinstance(value, ast.Call) else []
    return not (said and isinstance(said[0], ast.Constant) and said[0].value is False)


def _returned(method: ast.FunctionDef | None) -> ast.expr | None:
    """What a method returns that does nothing else."""
    if method is None or method.decorator_list:
        return None
    rest = [s for s in method.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return rest[0].value if len(rest) == 1 and isinstance(rest[0], ast.Return) else None


def _is_self(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Name) and value.id == "self"


def _stacks(project: Project, source: SourceFile) -> bool:
    return any(
        isinstance(node, ast.Name | ast.Attribute) and project.qualname(source, node) in _STACKING
        for kind in (ast.Name, ast.Attribute)
        for node in source.by_kind.get(kind, ())
    )


def _made_elsewhere(project: Project, name: str, word: str) -> str | None:
    """Where else than in what an initializer returns is a box made, or asked for where no tree is?"""
    for source in project.files.values():
        if word not in source.words and name not in project.aliases.values():
            continue
        for node in (n for kind in (ast.Name, ast.Attribute) for n in source.by_kind.get(kind, ())):
            assert isinstance(node, ast.Name | ast.Attribute)
            if isinstance(node.ctx, ast.Load) and project.qualname(source, node) == name:
                if not _is_known_use(project, source, node) or "flax" not in source.words:
                    return f"has a use that is not followed (line {node.lineno} of {source.path.name})"
    return None


def _is_known_use(project: Project, source: SourceFile, node: ast.expr) -> bool:
    """Is the class called for what an initializer returns, asked for outside of modules and initializers, or a type?"""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, source.parents.get(parent)
    if isinstance(parent, ast.arg | ast.FunctionDef | ast.AnnAssign):
        return not isinstance(parent, ast.AnnAssign) or parent.annotation is node
    if not isinstance(parent, ast.Call):
        return isinstance(parent, ast.ClassDef)
    if parent.func is node:
        return _returned_by_initializer(project, source, parent)
    asks = isinstance(parent.func, ast.Name) and parent.func.id == "isinstance" and parent.args[1:] == [node]
    return asks and initializer_around(source, node) is None and node not in project.inside_modules


def initializer_around(source: SourceFile, node: ast.AST) -> ast.AST | None:
    """A function of a key and a shape in which `node` stands."""
    for parent in source.ancestors(node):
        if isinstance(parent, ast.FunctionDef | ast.Lambda) and _takes_key(parent, alone=False):
            return parent
    return None


def _takes_key(function: ast.FunctionDef | ast.Lambda, *, alone: bool) -> bool:
    """Is the first parameter a key? `alone`: it may be the only one."""
    names = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
    return names[:1] != [] and names[0] in _KEYS and (alone or len(names) > 1 or function.args.vararg is not None)


def _returned_by_initializer(project: Project, source: SourceFile, node: ast.AST) -> bool:
    """Is this what a function of a key and a shape returns, or one of a key in a module?"""
    if not isinstance(source.parents.get(node), ast.Return | ast.Lambda):
        return False
    functions = (p for p in source.ancestors(node) if isinstance(p, ast.FunctionDef | ast.Lambda))
    function = next(functions, None)
    return function is not None and _takes_key(function, alone=node in project.inside_modules)


__all__ = ["OwnBoxes", "initializer_around", "own_boxes"]
