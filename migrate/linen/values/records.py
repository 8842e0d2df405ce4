"""Classes of the project that only have fields, as learners keep their states together: what they hold is a tree.

class Learner(NamedTuple):            @flax.struct.dataclass
    actor: TrainState                 class Learner:
    critic: TrainState                    actor: TrainState
"""

from __future__ import annotations

import ast
import dataclasses

from ...source import SourceFile
from ..project.index import Project

_STRUCT = "flax.struct.dataclass"
_TREE = "flax.struct.PyTreeNode"
_TUPLES = {"typing.NamedTuple", "typing_extensions.NamedTuple"}


@dataclasses.dataclass(frozen=True)
class RecordClass:
    """A class with fields alone, in their order."""

    qualname: str
    fields: tuple[str, ...]
    is_tuple: bool


def find(project: Project) -> dict[str, RecordClass]:
    """By qualified name. A class with code of its own, other bases or fields that are no parts of the tree is none."""
    found: dict[str, RecordClass] = {}
    derived: set[str] = set()
    for source in project.files.values():
        for node in source.by_kind.get(ast.ClassDef, ()):
            assert isinstance(node, ast.ClassDef)
            derived |= {project.qualname(source, base) or "" for base in node.bases}
            if source.parents.get(node) is not source.tree or not _is_record(project, source, node):
                continue
            fields = tuple(s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name))
            qualname = f"{source.module}.{node.name}" if source.module else node.name
            found[qualname] = RecordClass(qualname, fields, bool(node.bases) and not _is_tree(project, source, node))
    return {name: record for name, record in found.items() if name not in derived}


def _is_record(project: Project, source: SourceFile, node: ast.ClassDef) -> bool:
    named = len(node.bases) == 1 and project.qualname(source, node.bases[0]) in _TUPLES and not node.decorator_list
    decorators = [project.qualname(source, decorator) for decorator in node.decorator_list]
    struct = not node.bases and len(decorators) == 1 and decorators[0] == _STRUCT
    if node.keywords or not (named or struct or (_is_tree(project, source, node) and not decorators)):
        return False
    return all(_only_says(project, source, statement) for statement in node.body)


def _is_tree(project: Project, source: SourceFile, node: ast.ClassDef) -> bool:
    return len(node.bases) == 1 and project.qualname(source, node.bases[0]) == _TREE


def _only_says(project: Project, source: SourceFile, statement: ast.stmt) -> bool:
    """A field of the tree, or a docstring."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
        return isinstance(statement, ast.Pass)
    value = statement.value
    if isinstance(value, ast.Call):
        plain = (project.qualname(source, value.func) or "") in {"flax.struct.field", "dataclasses.field"}
        return plain and not any(keyword.arg == "pytree_node" for keyword in value.keywords)
    return True
